//! A queue in a router's path: what goes through it, and what becomes of it when its process is stopped,
//! killed, or its interface goes.

mod child;
mod faults;
mod following;
mod suppress;

use crate::hosts::traffic::{Datagrams, Stream, overtaken};
use crate::hosts::world::{MOBILE, MOBILE_V6, World, is_possible};
use ackord_gateway::{Interface, Ring, Wanted};
use ackord_testing::{assert_timely, timely};
use ackord_wire::{Endpoints, IpFields, Payload, encode_udp};
use std::time::{Duration, Instant};

/// How a program may be attached.
const WAYS: [&str; 2] = ["tcx", "clsact"];

fn state() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn all_kinds_of_packets_go_through_and_arrive_as_they_were() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        let (world, state) = (World::new(), state());
        let words = format!("lan drop-tail:1000 500 {way} {}", state.path().display());
        let mut gateway = world.gateway(&words);
        for (address, port) in [(MOBILE, 5_001), (MOBILE_V6, 5_002)] {
            let (bytes, are_right, _) = Stream::start(&world, address, port, 20_000_000).finish();
            assert_eq!((bytes, are_right), (20_000_000, true), "{way} {address}");
        }
        // Fragments, small ones, IPv6 without what neighbours know of each other.
        world.on("m", "ip neigh flush dev l0");
        world.on("r", "ip neigh flush dev lan");
        for ping in ["ping -c 3 -i 0.01 -W 2 -s 4000", "ping -c 3 -i 0.01 -W 2 -s 0"] {
            for address in [MOBILE, MOBILE_V6] {
                world.on("s", &format!("{ping} {address}"));
            }
        }
        let packets = gateway.number("in");
        assert!(packets > 100, "{packets}");
        assert!(gateway.number("control") > 0, "ARP and neighbour discovery");
        assert!(gateway.number("cut_up") > 0, "64 kB take 1.05 ms at 500 Mbit/s");
        assert_eq!(gateway.number("dropped"), 0);
        assert!(gateway.tell("stop").starts_with("stopped"));
        gateway.wait();
        assert_eq!(world.left_behind(), "");
        world.on("s", &format!("ping -c 1 -W 2 {MOBILE}"));
    }
}

/// A frame between two Ethernet addresses, with what stands behind them.
fn frame(rest: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(rest);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// Frames that a bridge forwards whatever they are.
fn frames() -> Vec<Vec<u8>> {
    let ends = |src: &str, dst: &str| Endpoints {
        src: src.parse().expect("one"),
        dst: dst.parse().expect("one"),
    };
    let (v4, v6) = (ends("10.9.0.1:7", "10.9.0.2:8"), ends("[fd09::1]:7", "[fd09::2]:8"));
    let mut frames = Vec::new();
    for tags in [&[][..], &[0x81, 0, 0x60, 7], &[0x88, 0xa8, 0, 3, 0x81, 0, 0, 7]] {
        for (ends, kind) in [(v4, [0x08, 0x00]), (v6, [0x86, 0xdd])] {
            for len in [0, 1, 1_300] {
                let mut datagram = [tags, &kind[..]].concat();
                encode_udp(ends, IpFields::default(), Payload::Zeros(len), &mut datagram)
                    .expect("it fits");
                frames.push(frame(&datagram));
            }
            // Neither sound IP nor anything else.
            frames.push(frame(&[tags, &kind[..], &[0x45, 0xff, 0, 1]].concat()));
        }
        // ARP, a type that nobody knows, a type that is a length.
        for rest in [&[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1][..], &[0x88, 0xb5, 9], &[0, 40, 1]] {
            frames.push(frame(&[tags, rest].concat()));
        }
    }
    frames
}

#[test]
fn what_a_bridge_forwards_comes_out_as_it_went_in() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        let (world, state) = (World::new(), state());
        if !world.say("r", "ip link add br0 type bridge").0 {
            return ackord_testing::skipped("the kernel makes no bridges");
        }
        // Netfilter would look into what the bridge forwards.
        for of in ["iptables", "ip6tables"] {
            world.say("r", &format!("sysctl -qw net.bridge.bridge-nf-call-{of}=0"));
        }
        for words in ["wan master br0", "lan master br0", "br0 up"] {
            world.on("r", &format!("ip link set {words}"));
        }
        let words = format!("lan drop-tail:1000 1000 {way} {}", state.path().display());
        let mut gateway = world.gateway(&words);
        let (ready, is_ready) = std::sync::mpsc::channel();
        let receiver = world.spawn("m", move || {
            let mut ring =
                Ring::open("l0", Interface::Lan(0), Wanted::Everything).expect("it opens");
            ready.send(()).expect("awaited");
            let mut seen = Vec::new();
            let began = Instant::now();
            while seen.len() < frames().len() && began.elapsed() < Duration::from_secs(5) {
                ring.read(|_, sighting| {
                    let mut frame = sighting.frame.to_vec();
                    if let Some(tag) = sighting.vlan {
                        let bytes = [tag.protocol.to_be_bytes(), tag.control.to_be_bytes()];
                        frame.splice(12..12, bytes.concat());
                    }
                    if frame[..12] == self::frame(&[])[..12] {
                        seen.push(frame);
                    }
                });
                std::thread::sleep(Duration::from_millis(2));
            }
            seen
        });
        is_ready.recv().expect("it opens");
        // A new port of a bridge listens for a while unless told otherwise.
        world.on("r", "bridge link set dev wan state 3");
        world.on("r", "bridge link set dev lan state 3");
        let sender = world.spawn("s", || {
            let ring = Ring::open("w0", Interface::Lan(0), Wanted::Everything).expect("it opens");
            for frame in frames() {
                ring.send(&frame).expect("it is up");
            }
        });
        sender.join().expect("it sends");
        let (mut seen, mut sent) = (receiver.join().expect("it sees"), frames());
        assert!(gateway.number("in") >= sent.len() as u64, "through the queue");
        seen.sort();
        sent.sort();
        let differ = seen.iter().zip(&sent).find(|(seen, sent)| seen != sent);
        assert!(differ.is_none() && seen.len() == sent.len(), "{way}: {} {differ:?}", seen.len());
        gateway.tell("stop");
    }
}

#[test]
fn a_rate_is_kept_and_order_too_through_a_change_and_an_end() {
    if !is_possible() {
        return;
    }
    timely(|| {
        let (world, state) = (World::new(), state());
        let words = format!("lan drop-tail:1000 20 tcx {}", state.path().display());
        let datagrams = Datagrams::start(&world);
        let mut gateway = world.gateway(&words);
        let (bytes, are_right, took) = Stream::start(&world, MOBILE, 5_004, 5_000_000).finish();
        assert_eq!((bytes, are_right), (5_000_000, true));
        // 5 MB of payload at 20 Mbit/s; nothing can make it faster. The queue is empty at first.
        assert!(took > Duration::from_millis(1_950), "{took:?}");
        let stream = Stream::start(&world, MOBILE, 5_005, 20_000_000);
        for queue in ["fq-codel 30", "selective-drop 40", "codel 400", "drop-tail:1000 400"] {
            std::thread::sleep(Duration::from_millis(200));
            assert_eq!(gateway.tell(&format!("change {queue}")), "changed");
        }
        let (bytes, are_right, _) = stream.finish();
        assert_eq!((bytes, are_right), (20_000_000, true));
        assert!(gateway.number("reverse") > 0, "selective drop was shown ACKs");
        let stopped = gateway.tell("stop");
        std::thread::sleep(Duration::from_millis(50));
        let (arrivals, _) = datagrams.finish();
        assert_timely!(stopped == "stopped lapses=0", "{stopped}");
        // Steering begins and ends in the middle of it.
        assert_eq!(overtaken(&arrivals), 0);
    });
}

/// The median of the round trips of two hundred pings.
fn round_trip(world: &World) -> Duration {
    let said = world.on("s", &format!("ping -c 200 -i 0.002 {MOBILE}"));
    let times = said.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next());
    let mut millis: Vec<f64> = times.filter_map(|time| time.parse().ok()).collect();
    millis.sort_by(f64::total_cmp);
    Duration::from_secs_f64(millis[millis.len() / 2] / 1e3)
}

#[test]
fn an_empty_queue_adds_little() {
    if !is_possible() {
        return;
    }
    timely(|| {
        let (world, state) = (World::new(), state());
        let without = round_trip(&world);
        let words = format!("lan drop-tail 1000 tcx {}", state.path().display());
        let mut gateway = world.gateway(&words);
        let with = round_trip(&world);
        assert!(gateway.number("in") >= 200, "through the queue");
        let inside = Duration::from_nanos(gateway.number("p50_ns"));
        println!("median round trip {without:?} without, {with:?} with, {inside:?} inside");
        let most = Duration::from_micros(100);
        assert_timely!(with < without + most && inside < most, "{without:?}, {with:?}, {inside:?}");
        gateway.tell("stop");
    });
}
