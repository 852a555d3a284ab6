//! Connections followed for days: what they spent their time on, as totals that only grow.
//!
//! ```text
//! packet ─► Table ─► connections in memory ── closed, or longest idle ─► forgotten
//!   │                        └─ settled time, recoveries ─► Totals ◄──────┘
//!   └─ round trips, zero windows ───────────────────────────► Totals
//! ```
//!
//! The causes of an open connection may still change, as a capture goes on. Its seconds enter the totals once
//! they are older than [`SETTLED_AFTER`], or when it has closed, each exactly once: totals are never taken back.
//!
//! Not modelled: shares of a queue among connections whose lives add up to more than four days (the youngest
//! are compared).

use crate::account::{NO_LOSS, Wait};
use crate::causes::{Judged, Sharing, judge};
use crate::flow::Connection;
use crate::flow::table::{LINGER, Table};
use crate::{Address, Cause, Seen};
use ackord_units::{Span, Time};
use ackord_wire::Flags;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

#[cfg(test)]
mod tests;
mod totals;

pub use totals::{ROUND_TRIP_BOUNDS_US, Retransmitted, RoundTrips, Totals, Way, ZeroWindows};

/// Seconds of an open connection are settled when they are older than this.
pub const SETTLED_AFTER: Span = Span::from_secs(60);
/// An open connection is judged again when so much more of it has settled.
const STEP: Span = Span::from_secs(30);
/// A connection that has closed is judged this much later: its last packets may still come.
const CLOSING: Span = Span::from_secs(1);
/// Lives of connections that are compared for shares of a queue, all together. Comparing takes memory for each
/// tenth of a second.
const COMPARED: Span = Span::from_secs(400_000);
/// One part in so many is forgotten at once where there are too many connections.
const AT_ONCE: usize = 16;

/// The part of a connection that is in the totals.
#[derive(Clone, Debug)]
struct Tracked {
    /// Its seconds up to this time.
    settled: Time,
    closed: bool,
    /// Since when each side's window is zero.
    shut_since: [Option<Time>; 2],
    /// Retransmissions of each loss.
    losses: Vec<Retransmitted>,
}

/// Follows connections in bounded memory.
pub struct Follower {
    table: Table,
    tracked: Vec<Tracked>,
    totals: Totals,
    /// Connections in memory at most.
    most: usize,
    /// Addresses of this host.
    local: BTreeSet<[u8; 16]>,
}

impl Follower {
    /// Creates a follower that keeps at most `most` connections in memory, those included that have just closed.
    pub fn new(most: usize) -> Follower {
        Follower {
            table: Table::default(),
            tracked: Vec::new(),
            totals: Totals::default(),
            most: most.max(1),
            local: BTreeSet::new(),
        }
    }

    /// Sets the addresses of this host.
    pub fn set_local(&mut self, addresses: impl IntoIterator<Item = IpAddr>) {
        let mapped = |address| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        self.local = addresses.into_iter().map(mapped).collect();
    }

    /// Returns the totals so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Takes a packet in.
    pub fn take(&mut self, seen: &Seen) {
        let place = self.table.place(seen);
        if place == self.tracked.len() {
            self.begin(seen);
        }
        let connection = &mut self.table.connections()[place];
        let side = usize::from(seen.src != connection.ends[0]);
        let round_trips = connection.halves[1 - side].jitters.1;
        connection.packet(seen);
        let acknowledged = &connection.halves[1 - side];
        // Without the way behind the capture point a round trip is not from end to end.
        if acknowledged.jitters.1 != round_trips && acknowledged.to.samples > 0 {
            self.totals.round_trips.record(connection.rtt[1 - side]);
        }
        self.window(seen, place, side);
        if self.tracked.len() > self.most {
            self.settle(seen.at);
        }
    }

    fn begin(&mut self, seen: &Seen) {
        let began = self.table.connections().last().map_or(seen.at, |connection| connection.began);
        self.tracked.push(Tracked {
            settled: began,
            closed: false,
            shut_since: [None; 2],
            losses: Vec::new(),
        });
        self.totals.opened += 1;
        self.totals.open += 1;
    }

    /// Follows the window that a packet advertises.
    fn window(&mut self, seen: &Seen, place: usize, side: usize) {
        let of_window = seen.flags.contains(Flags::ACK)
            && !seen.flags.contains(Flags::SYN)
            && !seen.flags.contains(Flags::RST);
        let shut = &mut self.tracked[place].shut_since[side];
        match (*shut, seen.window) {
            _ if !of_window => {}
            (None, 0) => {
                *shut = Some(seen.at);
                let way = self.way(seen.src, seen.dst);
                self.totals.zero_windows.entry(way).or_default().count += 1;
            }
            (Some(since), 1..) => {
                *shut = None;
                let way = self.way(seen.src, seen.dst);
                self.totals.add_zero_window(way, seen.at.saturating_since(since));
            }
            _ => {}
        }
    }

    fn way(&self, src: Address, dst: Address) -> Way {
        match (self.local.contains(&src.ip), self.local.contains(&dst.ip)) {
            (true, _) => Way::Sent,
            (false, true) => Way::Received,
            (false, false) => Way::Forwarded,
        }
    }

    /// Adds to the totals what has settled by `now`, and forgets connections that have closed, and those idle
    /// longest where there are too many.
    pub fn settle(&mut self, now: Time) {
        let leaving = self.leaving(now);
        let closing = |one: &Connection| one.is_over() && one.last + CLOSING <= now;
        let connections = self.table.connections();
        for (connection, leaves) in connections.iter_mut().zip(&leaving) {
            if *leaves || closing(connection) {
                connection.finish();
            }
        }
        let sharing = Sharing::of(&connections[youngest(connections)..]);
        for (place, leaves) in leaving.iter().copied().enumerate() {
            let connection = &self.table.connections()[place];
            let tracked = &self.tracked[place];
            let (limit, due) = if leaves || closing(connection) {
                let losses = leaves && tracked.misses(connection);
                (connection.last, losses || connection.last > tracked.settled)
            } else {
                let horizon = now.saturating_since(Time::ZERO).saturating_sub(SETTLED_AFTER);
                let limit = (Time::ZERO + horizon).min(connection.account.settled());
                (limit, limit >= tracked.settled + STEP)
            };
            if due {
                let judged = judge(connection, &sharing).judged;
                self.add_settled(place, &judged, limit);
            }
        }
        self.forget(&leaving);
    }

    /// Returns for each connection whether it is to be forgotten now.
    fn leaving(&mut self, now: Time) -> Vec<bool> {
        let places = 0..self.tracked.len();
        let current: Vec<bool> = places.map(|place| self.table.is_current(place)).collect();
        let connections = &*self.table.connections();
        let mut leaving: Vec<bool> = connections
            .iter()
            .zip(current)
            .map(|(one, current)| {
                !current || (one.is_over() && now.saturating_since(one.last) > LINGER)
            })
            .collect();
        let mut staying: Vec<usize> = (0..leaving.len()).filter(|place| !leaving[*place]).collect();
        if staying.len() > self.most {
            let excess = staying.len() - self.most + self.most / AT_ONCE;
            staying.sort_by_key(|place| (!connections[*place].is_over(), connections[*place].last));
            staying.iter().take(excess).for_each(|place| leaving[*place] = true);
        }
        leaving
    }

    /// Adds a connection's time up to `limit`, and its retransmissions up to then.
    fn add_settled(&mut self, place: usize, judged: &[Judged], limit: Time) {
        let tracked = &mut self.tracked[place];
        let mut recoveries: BTreeMap<u32, (Span, Cause)> = BTreeMap::new();
        for Judged { stretch, cause, .. } in judged {
            let span = stretch.to.min(limit).saturating_since(stretch.from.max(tracked.settled));
            if span > Span::ZERO {
                // Folded stretches share their time.
                let whole = stretch.to.saturating_since(stretch.from).as_secs_f64();
                let own = stretch.span().as_secs_f64() / whole;
                *self.totals.seconds.entry(*cause).or_default() += own * span.as_secs_f64();
            }
            if stretch.wait == Wait::Recovery && stretch.loss != NO_LOSS {
                let longest = recoveries.entry(stretch.loss).or_insert((Span::ZERO, *cause));
                if stretch.span() > longest.0 {
                    *longest = (stretch.span(), *cause);
                }
            }
        }
        tracked.settled = tracked.settled.max(limit);
        let connection = &self.table.connections()[place];
        let losses = connection.losses.len().max(tracked.losses.len());
        tracked.losses.resize(losses, Retransmitted::default());
        let ends = connection.ends;
        let mut more: Vec<(Cause, u8, Retransmitted)> = Vec::new();
        for (index, loss) in (0..).zip(&connection.losses).filter(|(_, loss)| loss.at <= limit) {
            let before = &mut tracked.losses[index as usize];
            let all = Retransmitted { segments: u64::from(loss.retransmitted), bytes: loss.bytes };
            let counted = Retransmitted {
                segments: all.segments.saturating_sub(before.segments),
                bytes: all.bytes.saturating_sub(before.bytes),
            };
            *before = all;
            let cause = recoveries.get(&index).map_or(Cause::Unknown, |(_, cause)| *cause);
            more.push((cause, loss.side, counted));
        }
        for (cause, side, counted) in more {
            let side = usize::from(side);
            let way = self.way(ends[side], ends[1 - side]);
            self.totals.add_retransmitted(cause, way, counted);
        }
    }

    /// Forgets connections, and counts those that have closed.
    fn forget(&mut self, leaving: &[bool]) {
        let places = 0..leaving.len();
        let current: Vec<bool> = places.map(|place| self.table.is_current(place)).collect();
        for (place, leaves) in leaving.iter().copied().enumerate() {
            let connection = &self.table.connections()[place];
            let (over, ends, last) = (connection.is_over(), connection.ends, connection.last);
            let tracked = &mut self.tracked[place];
            let closes = (over || !current[place]) && !tracked.closed;
            let forgets = leaves && !closes && !tracked.closed;
            tracked.closed |= closes;
            self.totals.closed += u64::from(closes);
            self.totals.forgotten += u64::from(forgets);
            self.totals.open -= u64::from(closes || forgets);
            if leaves {
                for side in [0, 1] {
                    if let Some(since) = self.tracked[place].shut_since[side].take() {
                        let way = self.way(ends[side], ends[1 - side]);
                        self.totals.add_zero_window(way, last.saturating_since(since));
                    }
                }
            }
        }
        if leaving.contains(&true) {
            self.table.retain(|place| !leaving[place]);
            let mut stays = leaving.iter().map(|leaves| !leaves);
            self.tracked.retain(|_| stays.next().unwrap_or(true));
        }
    }

    /// Returns the totals with all time up to the last packets.
    pub fn finish(mut self, now: Time) -> Totals {
        let forgotten = self.totals.forgotten;
        self.most = 0;
        self.settle(now);
        let open = self.totals.forgotten - forgotten;
        Totals { open, forgotten, ..self.totals }
    }
}

impl Tracked {
    /// Returns true if retransmissions are missing in the totals.
    fn misses(&self, connection: &Connection) -> bool {
        let counted = |number: usize| self.losses.get(number).copied().unwrap_or_default();
        connection.losses.iter().enumerate().any(|(number, loss)| {
            let counted = counted(number);
            counted.segments < u64::from(loss.retransmitted) || counted.bytes < loss.bytes
        })
    }
}

/// Returns the place of the first of the youngest connections whose lives add up to what can be compared.
/// Connections are in the order of their first packets.
fn youngest(connections: &[Connection]) -> usize {
    let mut lives = Span::ZERO;
    let longer = connections.iter().rposition(|one| {
        lives += one.last.saturating_since(one.began);
        lives > COMPARED
    });
    longer.map_or(0, |place| place + 1)
}
