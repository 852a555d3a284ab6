//! What leaves by an interface, and who hears it.

use super::{Trial, pause};
use crate::hosts::traffic::Stream;
use crate::hosts::world::{MOBILE, World, is_possible};
use ackord_gateway::watch::Status;
use ackord_gateway::{GoingOut, Interface, Ring, Wanted, Way};
use ackord_testing::{assert_timely, timely};
use ackord_wire::decode;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_ring_that_does_not_hear_what_goes_out_hears_what_comes_in_and_hears_all_again() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let (tell, told) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel();
    let router = world.spawn("r", move || {
        let mut ring = Ring::open("wan", Interface::Wan, Wanted::Headers).expect("it opens");
        while let Ok(going_out) = told.recv() {
            pause(50);
            let (mut came, mut went) = (0, 0);
            ring.read(|_, sighting| {
                let is_ipv4 = sighting.frame[12..14] == [0x08, 0x00];
                let ways = if sighting.way == Way::In { &mut came } else { &mut went };
                *ways += u32::from(is_ipv4);
            });
            ring.hear(going_out).expect("Linux 4.20 at least");
            answer.send((came, went)).expect("awaited");
        }
    });
    let mut counted = Vec::new();
    let changes = [GoingOut::Unheard, GoingOut::Unheard, GoingOut::Heard, GoingOut::Heard];
    for going_out in changes {
        tell.send(going_out).expect("it listens");
        counted.push(answered.recv().expect("it reads"));
        world.on("m", "ping -q -c 7 -i 0.01 10.1.0.1");
    }
    tell.send(GoingOut::Heard).expect("it listens");
    counted.push(answered.recv().expect("it reads"));
    drop(tell);
    router.join().expect("nothing failed there");
    assert_eq!(counted, [(0, 0), (7, 0), (7, 0), (7, 7), (7, 7)]);
}

#[test]
fn another_way_to_the_fixed_host_is_learnt_while_a_connection_goes_on() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure("remedy = \"m-tcp\"\ncontrol = \"0 %\"");
    let mut gateway = trial.start();
    let stream = Stream::start(&trial.world, MOBILE, 5_401, 5_000_000);
    trial.until("seen", |status| status.flows.treated > 0 && status.bytes_to_mobile > 100_000);
    // What it heard at first was before this.
    pause(1_000);
    let new = [0x02, 0, 0, 0, 0, 0x07];
    trial.world.on("s", "ip link set w0 address 02:00:00:00:00:07");
    trial.world.on("r", "ip neigh replace 10.1.0.1 lladdr 02:00:00:00:00:07 dev wan");
    pause(1_500);
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let (ready, is_ready) = std::sync::mpsc::channel();
    // Windows of zero are the gateway's.
    let holds = trial.world.spawn("s", move || {
        let mut ring = Ring::open("w0", Interface::Wan, Wanted::HeadersIn).expect("it opens");
        let mut to: BTreeMap<[u8; 6], u32> = BTreeMap::new();
        ready.send(()).expect("awaited");
        while !is_over.load(Ordering::Relaxed) {
            pause(10);
            ring.read(|_, sighting| {
                let Ok(decoded) = decode(&sighting.frame[14..]) else { return };
                if decoded.segment.window == 0 {
                    let address = sighting.frame[..6].try_into().expect("six");
                    *to.entry(address).or_default() += 1;
                }
            });
        }
        to
    });
    is_ready.recv().expect("it listens");
    trial.outage(900);
    trial.until("held", |status| status.injected_to_fixed > 0);
    let (bytes, are_right, _) = stream.finish();
    over.store(true, Ordering::Relaxed);
    let to = holds.join().expect("it reads");
    assert_eq!(to.keys().collect::<Vec<_>>(), [&new], "{to:?}");
    assert_eq!((bytes, are_right), (5_000_000, true));
    gateway.tell("stop");
    assert_eq!(trial.world.left_behind(), "");
}

#[test]
fn who_begins_when_little_passed_gets_all_of_his_remedy() {
    if !is_possible() {
        return;
    }
    timely(begins_when_little_passed);
}

fn begins_when_little_passed() {
    let trial = Trial::new(20);
    trial.configure("remedy = \"proxy-tcp\"\ncontrol = \"0 %\"");
    let mut gateway = trial.start();
    let is_one_by_one = |status: &Status| {
        status.rings.len() == 2 && status.rings.iter().all(|ring| ring.one_by_one)
    };
    trial.until("asked one by one", is_one_by_one);
    let stream = Stream::start(&trial.world, MOBILE, 5_402, 5_000_000);
    let status = trial.until("in blocks", |status| !is_one_by_one(status));
    // The first packets were seen: what is kept of it is whole from the beginning on.
    assert_eq!(status.flows.treated, 1, "{status:#?}");
    trial.outage(900);
    trial.until("retransmitted", |status| status.injected_to_mobile > 0);
    let (bytes, are_right, _) = stream.finish();
    assert_eq!((bytes, are_right), (5_000_000, true));
    pause(2_000);
    let status = trial.status();
    let lost: u64 = status.rings.iter().map(|ring| ring.lost).sum();
    assert_timely!(lost == 0, "{lost} packets were lost");
    assert!(status.bytes_to_mobile >= 5_000_000, "{status:#?}");
    gateway.tell("stop");
    assert_eq!(trial.world.left_behind(), "");
}
