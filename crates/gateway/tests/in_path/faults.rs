//! Whatever happens to the process or its interface, the kernel forwards again within 50 ms, and nothing
//! stays.

use super::{WAYS, state};
use crate::hosts::traffic::{Datagrams, Stream, until_it_goes_on};
use crate::hosts::world::{Gateway, MOBILE, World, is_possible};
use ackord_testing::{assert_timely, timely};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// Within which packets pass again.
const WITHIN: Duration = Duration::from_millis(50);

/// Waits until a gateway says so.
fn until(gateway: &mut Gateway, what: &str) -> String {
    for _ in 0..1_000 {
        let stats = gateway.tell("stats");
        if stats.contains(what) {
            return stats;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not {what}: {}", gateway.tell("stats"))
}

#[test]
fn after_a_kill_packets_pass_at_once_and_what_is_left_is_undone_at_the_next_start() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        timely(|| {
            let (world, state) = (World::new(), state());
            let words = format!("lan drop-tail 20 {way} {}", state.path().display());
            let datagrams = Datagrams::start(&world);
            let mut gateway = world.gateway(&words);
            let stream = Stream::start(&world, MOBILE, 5_010, 3_000_000);
            std::thread::sleep(Duration::from_millis(300));
            assert!(gateway.number("in") > 50, "the stream goes through it");
            let killed_at = Instant::now();
            gateway.signal(Signal::SIGKILL);
            gateway.wait();
            std::thread::sleep(Duration::from_millis(200));
            // No connection ends, no byte is lost or changed.
            let (bytes, are_right, _) = stream.finish();
            assert_eq!((bytes, are_right), (3_000_000, true), "{way}");
            let (arrivals, _) = datagrams.finish();
            let again = until_it_goes_on(&arrivals, killed_at).expect("they pass again");
            assert_timely!(again < WITHIN, "{way}: {again:?} after the kill");
            println!("{way}: packets pass {again:?} after SIGKILL");
            let left = world.left_behind();
            assert_eq!(left.contains("clsact"), way == "clsact", "{left}");
            assert!(!left.contains("tap") && !left.contains("ackord"), "{left}");
            let mut gateway = world.gateway(&words);
            gateway.tell("stop");
            gateway.wait();
            assert_eq!(world.left_behind(), "");
            assert!(std::fs::read_dir(state.path()).expect("there").next().is_none(), "no journal");
        });
    }
}

#[test]
fn while_it_is_stopped_the_kernel_forwards_and_it_goes_on_afterwards() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        timely(|| {
            let (world, state) = (World::new(), state());
            let words = format!("lan drop-tail 20 {way} {}", state.path().display());
            let datagrams = Datagrams::start(&world);
            let mut gateway = world.gateway(&words);
            let stream = Stream::start(&world, MOBILE, 5_011, 4_000_000);
            std::thread::sleep(Duration::from_millis(300));
            let stopped_at = Instant::now();
            gateway.signal(Signal::SIGSTOP);
            std::thread::sleep(Duration::from_millis(1_000));
            gateway.signal(Signal::SIGCONT);
            let before = gateway.number("in");
            std::thread::sleep(Duration::from_millis(200));
            assert!(gateway.number("in") > before, "packets go through it again");
            let (bytes, are_right, _) = stream.finish();
            assert_eq!((bytes, are_right), (4_000_000, true), "{way}");
            let (arrivals, _) = datagrams.finish();
            let again = until_it_goes_on(&arrivals, stopped_at).expect("they pass again");
            assert_timely!(again < WITHIN, "{way}: {again:?} after the stop");
            println!("{way}: packets pass {again:?} after SIGSTOP");
            gateway.tell("stop");
            gateway.wait();
            assert_eq!(world.left_behind(), "");
        });
    }
}

#[test]
fn it_comes_back_with_its_interface() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        let (world, state) = (World::new(), state());
        let words = format!("lan drop-tail 20 {way} {}", state.path().display());
        let mut gateway = world.gateway(&words);
        world.on("s", &format!("ping -c 2 -i 0.01 -W 2 {MOBILE}"));
        // Down and up.
        world.on("r", "ip link set lan down");
        until(&mut gateway, "state=Waiting(\"the interface");
        world.on("r", "ip link set lan up");
        until(&mut gateway, "state=Steering");
        let before = gateway.number("in");
        world.on("r", "ip -6 addr replace fd02::2/64 dev lan nodad");
        world.on("s", &format!("ping -c 2 -i 0.01 -W 2 {MOBILE}"));
        assert!(gateway.number("in") > before);
        // Gone, and another one of its name.
        world.on("r", "ip link del lan");
        until(&mut gateway, "state=Waiting(\"the interface");
        assert_eq!(world.left_behind(), "", "{way}");
        world.make_lan();
        until(&mut gateway, "state=Steering");
        let before = gateway.number("in");
        world.on("s", &format!("ping -c 2 -i 0.01 -W 2 {MOBILE}"));
        assert!(gateway.number("in") > before);
        // The TAP device taken away: another one takes its place.
        let tap = |world: &World| {
            let links = world.on("r", "ip -o link");
            let line = links.lines().find(|line| line.contains("ackord")).map(str::to_owned);
            line.and_then(|line| line.split(": ").nth(1).map(str::to_owned))
        };
        let first = tap(&world).expect("it is there");
        world.on("r", &format!("ip link del {first}"));
        until(&mut gateway, "state=Waiting");
        until(&mut gateway, "state=Steering");
        let before = gateway.number("in");
        world.on("s", &format!("ping -c 2 -i 0.01 -W 2 {MOBILE}"));
        assert!(gateway.number("in") > before && tap(&world).is_some());
        // An own queue that drops nearly everything is told, and no reason to give up.
        if world.say("r", "tc qdisc add dev lan root tbf rate 100kbit burst 2k limit 2k").0 {
            world.say("s", &format!("ping -c 20 -i 0.001 -W 1 -s 1400 {MOBILE}"));
            assert!(gateway.number("interface-queue") > 0);
            assert!(gateway.tell("stats").contains("state=Steering"));
            world.on("r", "tc qdisc del dev lan root");
        }
        gateway.tell("stop");
        gateway.wait();
        assert_eq!(world.left_behind(), "", "{way}");
    }
}

#[test]
fn what_others_have_at_the_interface_stays_theirs() {
    if !is_possible() {
        return;
    }
    let (world, state) = (World::new(), state());
    world.on("r", "tc qdisc add dev lan clsact");
    let other = "tc filter add dev lan egress pref 48000 protocol ip u32 match u32 0 0 classid 1:1";
    world.on("r", other);
    let words = format!("lan drop-tail 20 clsact {}", state.path().display());
    let mut gateway = world.gateway(&words);
    world.on("s", &format!("ping -c 2 -i 0.01 -W 2 {MOBILE}"));
    gateway.signal(Signal::SIGKILL);
    gateway.wait();
    // Somebody else's program in the place of ours is not ours.
    let mut gateway = world.gateway(&words);
    gateway.tell("stop");
    gateway.wait();
    let filters = world.on("r", "tc filter show dev lan egress");
    assert!(filters.contains("pref 48000 u32") && !filters.contains("bpf"), "{filters}");
    assert!(world.left_behind().contains("clsact"));
}

#[test]
fn two_streams_share_behind_selective_drop() {
    if !is_possible() {
        return;
    }
    let (world, state) = (World::new(), state());
    let words = format!("lan selective-drop 20 tcx {}", state.path().display());
    let mut gateway = world.gateway(&words);
    let streams = [5_020, 5_021].map(|port| Stream::start(&world, MOBILE, port, 5_000_000));
    let finished = streams.map(Stream::finish);
    for (bytes, are_right, took) in finished {
        assert_eq!((bytes, are_right), (5_000_000, true));
        println!("5 MB in {took:?}");
    }
    let dropped = gateway.tell("stats");
    println!("{dropped}");
    // Neither had the link to itself: it takes 4 s for both, and 2 s for one.
    let first = finished.iter().map(|(_, _, took)| *took).min().expect("two");
    assert!(first > Duration::from_millis(2_500), "{first:?}");
    gateway.tell("stop");
}
