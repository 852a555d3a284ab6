//! Captures taken otherwise: on all interfaces of the router, in one direction, from the middle, cut short.

use super::super::run::Place;
use super::captures::{Capture, Captures, Link, Run};
use super::record::{Key, Record};
use ackord_wire::Side;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// How a router's two interfaces are captured in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyInterface {
    /// As one pseudo-interface with cooked headers (SLL2).
    Cooked,
    /// As two Ethernet interfaces.
    Ethernet,
}

/// Directions that a capture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Only packets of the end that sends the data.
    Data,
    /// Only those of the other end.
    Acks,
}

/// A router passes a packet from one interface to an idle other one in this time, ns.
const PASSES: u64 = 8_000;

/// Captures both interfaces of the router: each packet when it arrives, and again when it leaves the
/// queue, with one hop less. Packets that the queue dropped are there once.
pub(super) fn any_interface(captures: &mut Captures, run: &Run, format: AnyInterface) {
    let sent: BTreeMap<Key, u64> = {
        let arrivals = captures.of_host(Side::Client).records.iter();
        let arrivals = arrivals.filter(|it| it.src() != client(run));
        arrivals.map(|it| (it.key.clone(), dequeued(it, run))).collect()
    };
    let router = captures.at(Place::Router);
    let mut both = Vec::with_capacity(2 * router.records.len());
    for mut record in router.records.drain(..) {
        let to_client = record.src() != client(run);
        // Interface 0 leads to the server, 1 to the client; bit 1 marks packets that leave.
        let (arrives, leaves) = if to_client { (0, 3) } else { (1, 2) };
        let left = match to_client {
            true => sent.get(&record.key).map(|at| (*at).max(record.at + PASSES)),
            false => Some(record.at + PASSES),
        };
        record.interface = arrives;
        let copy = left.map(|at| {
            let mut copy = Record { at, interface: leaves, ..record.clone() };
            copy.forward();
            copy
        });
        both.push(record);
        both.extend(copy);
    }
    router.records = both;
    router.sort();
    router.link = match format {
        AnyInterface::Cooked => Link::Cooked,
        AnyInterface::Ethernet => Link::Ethernet,
    };
}

/// Returns when a packet that arrived at the client had left the router's queue, ns.
fn dequeued(arrived: &Record, run: &Run) -> u64 {
    let transmission = u64::from(arrived.original_len) * 8_000_000_000 / run.rate.max(1);
    arrived.at.saturating_sub(run.rtt / 4 + transmission)
}

fn client(run: &Run) -> std::net::SocketAddrV4 {
    match run.ends.0 {
        std::net::SocketAddr::V4(end) => end,
        std::net::SocketAddr::V6(_) => unreachable!("runs are of IPv4"),
    }
}

/// Keeps the packets of one direction only.
pub(super) fn one_way(captures: &mut Captures, run: &Run, direction: Direction) {
    let kept = match direction {
        Direction::Data => run.sends,
        Direction::Acks => run.sends.other(),
    };
    let keep = |record: &Record| run.side_of(record).is_none_or(|side| side == kept);
    captures.0.iter_mut().for_each(|capture| capture.records.retain(keep));
}

/// Drops all packets before a time of the run, ns.
pub(super) fn from_the_middle(captures: &mut Captures, at: u64) {
    captures.0.iter_mut().for_each(|capture| capture.records.retain(|record| record.at >= at));
}

/// Keeps so many bytes of each packet.
pub(super) fn cut(captures: &mut Captures, bytes: NonZeroU32) {
    let cut = |capture: &mut Capture| capture.snap_len = Some(bytes);
    captures.0.iter_mut().for_each(cut);
}
