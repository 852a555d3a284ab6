//! The same packets by blocks and by a queue, at the loopback interface of a network of this thread's own.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "real packets take real time, sockets, and threads of their own"
)]

use super::*;
use ackord_testing::skipped;
use nix::sched::{CloneFlags, unshare};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What is told of a packet: the way, bytes of the frame, of a segment, and what it begins with.
type Told = (bool, usize, u32, ackord_wire::TcpChecksum, Vec<u8>);

fn heard(ring: &mut Ring) -> Vec<Told> {
    let mut told = Vec::new();
    let mut was = 0;
    while ring.read(|nanos, one| {
        assert!(nanos >= was, "{nanos} after {was}");
        was = nanos;
        let is_out = one.way == crate::Way::Out;
        told.push((is_out, one.frame.len(), one.segment_size, one.checksum, one.frame.to_vec()));
    }) > 0
    {}
    told
}

fn a_large_transfer() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let mut sender = TcpStream::connect(address)?;
    let (mut receiver, _) = listener.accept()?;
    let reads =
        std::thread::spawn(move || std::io::copy(&mut receiver, &mut std::io::sink()).map(drop));
    std::io::Write::write_all(&mut sender, &vec![7; 300_000])?;
    drop(sender);
    reads.join().expect("it reads")
}

#[test]
fn a_queue_tells_of_packets_what_blocks_tell() {
    let thread = std::thread::spawn(|| {
        if let Err(why) = unshare(CloneFlags::CLONE_NEWNET) {
            return skipped(format!("no network of its own: {why}"));
        }
        let up = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status();
        if !up.is_ok_and(|status| status.success()) {
            return skipped("no ip command");
        }
        let index = if_nametoindex("lo").expect("every network has one");
        let lan = Interface::Lan(0);
        for wanted in [Wanted::Everything, Wanted::DataOutHeadersIn, Wanted::Headers] {
            let of = |holding| {
                let ring = Ring::prepare(lan, LinkKind::Ethernet, wanted, holding).expect("root");
                ring.bind(index).expect("it is up");
                ring
            };
            let mut rings = [Holding::Blocks, Holding::Queue].map(of);
            a_large_transfer().expect("it is up");
            // A block is handed over after a millisecond.
            std::thread::sleep(Duration::from_millis(20));
            let [by_blocks, by_queue] = [0, 1].map(|at| heard(&mut rings[at]));
            assert!(by_blocks.len() > 20 && by_blocks == by_queue, "{wanted:?}");
            assert!(
                by_blocks.iter().any(|(_, len, segment, ..)| *len > 20_000 && *segment > 0)
                    || wanted == Wanted::Headers
            );
            let [counted, also] = [0, 1].map(|at| rings[at].stats().expect("counters"));
            assert_eq!((counted, counted.lost), (also, 0));
            assert_eq!(counted.packets, by_blocks.len() as u64);
            assert_eq!(rings[0].bytes_out(), rings[1].bytes_out());
            // Who is silenced hears nothing more.
            rings[1].silence().expect("a filter");
            a_large_transfer().expect("it is up");
            assert_eq!(heard(&mut rings[1]), []);
        }
    });
    thread.join().expect("no panic");
}
