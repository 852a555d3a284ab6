//! Window probes and keep-alives as other stacks send them.

use super::captures::{Captures, Run};
use super::record::{Key, Made, Record};
use ackord_wire::{Flags, Side};
use std::collections::BTreeMap;

/// What both ends have sent so far, from the capture at one of them.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    next: [u32; 2],
    windows: [u16; 2],
    stamps: [(u32, u32); 2],
    last: u64,
    established: bool,
}

impl Ends {
    fn take(&mut self, record: &Record, side: Side) {
        let me = usize::from(side == Side::Server);
        let end = record.end_seq();
        if record.flags().contains(Flags::SYN) || end.wrapping_sub(self.next[me]) as i32 > 0 {
            self.next[me] = end;
        }
        self.windows[me] = record.window();
        self.stamps[me] = record.timestamps().unwrap_or_default();
        self.last = record.at;
        self.established |= record.payload_len() > 0;
    }
}

/// Turns probes of a zero window with no new byte into probes with one new byte, which the receiver
/// does not take.
pub(super) fn probe_with_new_byte(captures: &mut Captures, run: &Run) {
    let side = run.sends;
    let (me, peer) = (usize::from(side == Side::Server), usize::from(side == Side::Client));
    let mut probes: BTreeMap<Key, u32> = BTreeMap::new();
    let mut ends = Ends::default();
    for record in &captures.of_host(side).records {
        let Some(from) = run.side_of(record) else { continue };
        let next = ends.next[me];
        let old = record.is_pure_ack() && record.seq() == next.wrapping_sub(1);
        if from == side && old && ends.windows[peer] == 0 && ends.established {
            probes.insert(record.key.clone(), next);
        }
        ends.take(record, from);
    }
    captures.by_key(&probes, |record, next| record.add_byte(*next));
}

/// Keep-alives of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlives {
    /// End that sends them.
    pub by_server: bool,
    /// Bytes of garbage in each: 0 or 1.
    pub bytes: u16,
    /// Time between them while nothing else is sent, ms.
    pub every_ms: u64,
}

/// Time in which a host answers, ns.
const ANSWERS: u64 = 20_000;

/// Adds keep-alives, and their answers, to the idle phases of the connection.
pub(super) fn keep_alive(captures: &mut Captures, run: &Run, keep: KeepAlives) {
    let side = if keep.by_server { Side::Server } else { Side::Client };
    let every = keep.every_ms * 1_000_000;
    let mut ends = Ends::default();
    let mut sent: Vec<(u64, Ends)> = Vec::new();
    for record in &captures.of_host(side).records {
        let Some(from) = run.side_of(record) else { continue };
        if ends.established {
            let until = record.at.saturating_sub(2 * run.rtt);
            let mut at = ends.last + every;
            while at < until {
                sent.push((at, ends));
                at += every;
            }
        }
        ends.take(record, from);
    }
    let interfaces = interfaces(captures, run);
    for (at, ends) in sent {
        let [probe, answer] = exchange(run, keep, side, (at, &ends));
        for (place, capture) in captures.0.iter_mut().enumerate() {
            // Propagation takes a quarter of the round trip from place to place.
            let hops = if side == Side::Server { place } else { 2 - place } as u64;
            let there = at + hops * run.rtt / 4;
            let back = at + run.rtt + ANSWERS - hops * run.rtt / 4;
            let interface = |from: Side| interfaces[place][usize::from(from == Side::Server)];
            capture.records.push(Record::build(there, interface(side), &probe));
            capture.records.push(Record::build(back, interface(side.other()), &answer));
        }
    }
    captures.0.iter_mut().for_each(super::captures::Capture::sort);
}

/// Returns a keep-alive and its answer.
fn exchange(run: &Run, keep: KeepAlives, side: Side, (at, ends): (u64, &Ends)) -> [Made; 2] {
    let me = usize::from(side == Side::Server);
    let peer = 1 - me;
    let v4 = |end| match end {
        std::net::SocketAddr::V4(end) => end,
        std::net::SocketAddr::V6(_) => unreachable!("runs are of IPv4"),
    };
    let both = [v4(run.ends.0), v4(run.ends.1)];
    let passed = (at.saturating_sub(ends.last) / 1_000_000) as u32;
    let value = ends.stamps[me].0.wrapping_add(passed);
    let answered = ends.stamps[peer].0.wrapping_add(passed + (run.rtt / 2_000_000) as u32);
    let probe = Made {
        src: both[me],
        dst: both[peer],
        seq: ends.next[me].wrapping_sub(1),
        ack: ends.next[peer],
        window: ends.windows[me],
        timestamps: (value, ends.stamps[peer].0),
        payload: keep.bytes,
    };
    let answer = Made {
        src: both[peer],
        dst: both[me],
        seq: ends.next[peer],
        ack: ends.next[me],
        window: ends.windows[peer],
        timestamps: (answered, value),
        payload: 0,
    };
    [probe, answer]
}

/// Returns by place and end the interface on which the end's packets are captured.
fn interfaces(captures: &Captures, run: &Run) -> [[usize; 2]; 3] {
    [0, 1, 2].map(|place: usize| {
        [Side::Client, Side::Server].map(|side| {
            let mut records = captures.0[place].records.iter();
            records.find(|it| run.side_of(it) == Some(side)).map_or(0, |it| it.interface)
        })
    })
}
