//! Duplicate ACKs are removed at an interface, while somebody is alive, and packet sockets see them all.

use super::{WAYS, state};
use crate::hosts::world::{World, is_possible};
use ackord_gateway::{
    AttachBy, Attached, Covered, Interface, Journal, Key, LinkKind, Ring, Suppressor, Wanted, Way,
};
use ackord_units::{Seq, Span};
use ackord_wire::{Endpoints, Flags, IpFields, Options, Payload, Segment, encode};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

fn key(ip: u8) -> Key {
    let (mobile, fixed) = match ip {
        4 => ("10.2.0.1:50000", "10.1.0.1:443"),
        _ => ("[fd02::1]:50000", "[fd01::1]:443"),
    };
    let end = |text: &str| text.parse::<SocketAddr>().expect("an address");
    Key { mobile: end(mobile), fixed: end(fixed) }
}

/// An ACK from the mobile host, behind these tags.
fn ack(ip: u8, number: u32, tags: &[u8]) -> Vec<u8> {
    let segment = Segment {
        seq: Seq(1),
        ack: Seq(number),
        flags: Flags::ACK,
        window: 500,
        payload_len: 0,
        options: Options::default(),
    };
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1]);
    frame.extend(tags);
    frame.extend(if ip == 4 { [8, 0] } else { [0x86, 0xdd] });
    let ends = Endpoints { src: key(ip).mobile, dst: key(ip).fixed };
    encode(ends, IpFields::default(), &segment, Payload::Zeros(0), &mut frame).expect("sound");
    frame
}

/// What the router sees of so many frames.
fn seen(ring: &mut Ring, frames: usize) -> usize {
    let began = Instant::now();
    let mut count = 0;
    while count < frames && began.elapsed() < Duration::from_secs(5) {
        ring.read(|_, sighting| {
            let is_ours = sighting.frame.get(6..12) == Some(&[2, 0, 0, 0, 0, 1]);
            count += usize::from(is_ours && sighting.way == Way::In);
        });
        std::thread::sleep(Duration::from_millis(1));
    }
    count
}

/// Sends acknowledgments from the mobile host and removes those that are covered: how many, and how many these are.
fn removed_by(way: &str, directory: &Path, send: &Sender<Vec<u8>>) -> (u64, u64) {
    let (journal, _) = Journal::open(directory).expect("a directory");
    let index = nix::net::if_::if_nametoindex("lan").expect("it is there");
    let by = if way == "tcx" { AttachBy::Tcx } else { AttachBy::Clsact };
    let place = (index, LinkKind::Ethernet);
    let suppressor = Suppressor::open(place, 1_000, by, &Arc::new(journal)).expect("it opens");
    assert_eq!(suppressor.attached() == Attached::Tcx, way == "tcx");
    let mut ring = Ring::open("lan", Interface::Lan(0), Wanted::Everything).expect("it opens");
    let alive_until = Instant::now() + Duration::from_secs(20);
    let mut expected = 0;
    // A tag beside the frame, and one more in it.
    for tags in [&[][..], &[0x81, 0, 0, 7], &[0x88, 0xa8, 0, 3, 0x81, 0, 0, 7]] {
        for ip in [4, 6] {
            let lasting = Span::from_secs(60);
            let covered = Covered { from: Seq(100), to: Seq(200), lasting };
            suppressor.cover(key(ip), covered).expect("room");
            suppressor.beat();
            for number in [100, 100, 100, 150, 150, 200, 200] {
                send.send(ack(ip, number, tags)).expect("it listens");
                // Whatever else this machine does: alive at each of them.
                suppressor.beat();
                assert_eq!(seen(&mut ring, 1), 1, "{way} {tags:?} {ip} {number}");
                assert!(Instant::now() < alive_until);
            }
            expected += 3;
            suppressor.uncover(key(ip)).expect("known");
            suppressor.uncover(key(ip)).expect("no error");
        }
    }
    let removed = suppressor.removed();
    // Without a sign of life everything passes.
    let lasting = Span::from_secs(60);
    suppressor.cover(key(4), Covered { from: Seq(100), to: Seq(200), lasting }).expect("room");
    suppressor.pause();
    for _ in 0..3 {
        send.send(ack(4, 100, &[])).expect("it listens");
        assert_eq!(seen(&mut ring, 1), 1);
    }
    assert_eq!(suppressor.removed(), removed);
    (removed, expected)
}

#[test]
fn they_are_removed_after_packet_sockets_have_seen_them() {
    if !is_possible() {
        return;
    }
    for way in WAYS {
        let (world, state) = (World::new(), state());
        let (send, to_send) = std::sync::mpsc::channel::<Vec<u8>>();
        let mobile = world.spawn("m", move || {
            let ring = Ring::open("l0", Interface::Lan(0), Wanted::Everything).expect("it opens");
            for frame in to_send {
                ring.send(&frame).expect("it is up");
            }
        });
        let directory = state.path().to_owned();
        let router = world.spawn("r", move || removed_by(way, &directory, &send));
        let (removed, expected) = router.join().expect("nothing failed there");
        mobile.join().expect("it ends with what it is given");
        // A beat that came too late lets one pass, and never removes one too many.
        assert!(removed <= expected && removed > 0, "{way}: {removed} of {expected}");
        println!("{way}: {removed} of {expected} removed");
        assert_eq!(world.left_behind(), "");
    }
}
