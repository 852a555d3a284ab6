//! Totals per subscriber: the connections of one address behind a LAN interface, ended ones included.
//!
//! Live connections are summed when a status is made, once a second, so that no packet costs more. Only what ended is
//! stored, for at most as many subscribers as there may be connections.
//!
//! Not modelled: a host with several addresses (temporary ones of IPv6, RFC 8981) is one subscriber for each.

use crate::{Connection, Progress};
use ackord_units::{Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Traffic of one subscriber since the gateway first observed it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubscriberTotals {
    /// Connections, ended ones included.
    pub connections: u64,
    /// TCP payload towards it, bytes.
    pub bytes_to_mobile: u64,
    /// TCP payload from it, bytes.
    pub bytes_from_mobile: u64,
    /// Segments injected, in both directions.
    pub injected_segments: u64,
    /// Time in which data towards it was unacknowledged, summed over its connections.
    pub active: Span,
    /// Part of `active` in stalls: waits for an acknowledgment of half a second or more.
    pub stalled: Span,
    /// Sum of the round trips between the gateway and it.
    pub rtt_sum: Span,
    /// Number of these round trips.
    pub rtts: u64,
}

impl SubscriberTotals {
    /// Returns the totals of `connection` until `now`, without the progress that was begun anew before.
    pub fn of(connection: &Connection, now: Time) -> SubscriberTotals {
        let counted = connection.counters;
        SubscriberTotals {
            connections: 1,
            bytes_to_mobile: counted.bytes_to_mobile,
            bytes_from_mobile: counted.bytes_from_mobile,
            injected_segments: counted.injected_to_mobile + counted.injected_to_fixed,
            ..SubscriberTotals::of_progress(connection, now)
        }
    }

    fn of_progress(connection: &Connection, now: Time) -> SubscriberTotals {
        let Progress { active, stalled, rtt_sum, rtts, .. } = connection.to_mobile.until(now);
        let rtts = u64::from(rtts);
        SubscriberTotals { active, stalled, rtt_sum, rtts, ..SubscriberTotals::default() }
    }

    /// Adds `more`.
    pub fn add(&mut self, more: &SubscriberTotals) {
        self.connections += more.connections;
        self.bytes_to_mobile += more.bytes_to_mobile;
        self.bytes_from_mobile += more.bytes_from_mobile;
        self.injected_segments += more.injected_segments;
        self.active += more.active;
        self.stalled += more.stalled;
        self.rtt_sum += more.rtt_sum;
        self.rtts += more.rtts;
    }

    /// Returns what was added since `before`. A subscriber that was forgotten and returned has less than before; it
    /// starts from zero.
    #[must_use]
    pub fn since(&self, before: &SubscriberTotals) -> SubscriberTotals {
        SubscriberTotals {
            connections: self.connections.saturating_sub(before.connections),
            bytes_to_mobile: self.bytes_to_mobile.saturating_sub(before.bytes_to_mobile),
            bytes_from_mobile: self.bytes_from_mobile.saturating_sub(before.bytes_from_mobile),
            injected_segments: self.injected_segments.saturating_sub(before.injected_segments),
            active: self.active.saturating_sub(before.active),
            stalled: self.stalled.saturating_sub(before.stalled),
            rtt_sum: self.rtt_sum.saturating_sub(before.rtt_sum),
            rtts: self.rtts.saturating_sub(before.rtts),
        }
    }
}

/// Ended connections, and progress begun anew, by subscriber.
#[derive(Clone, Debug, Default)]
pub struct Subscribers {
    ended: BTreeMap<IpAddr, (SubscriberTotals, Time)>,
    most: usize,
}

impl Subscribers {
    /// Returns an empty set that stores at most `most` subscribers.
    pub fn new(most: usize) -> Subscribers {
        Subscribers { ended: BTreeMap::new(), most: most.max(1) }
    }

    /// Changes how many subscribers are stored.
    pub fn set_most(&mut self, most: usize) {
        self.most = most.max(1);
        self.make_room();
    }

    /// Adds the totals of a connection that ended at `now`.
    pub fn ended(&mut self, connection: &Connection, now: Time) {
        self.add(connection, &SubscriberTotals::of(connection, now), now);
    }

    /// Adds the progress of a connection whose progress is begun anew at `now`.
    pub fn begun_anew(&mut self, connection: &Connection, now: Time) {
        self.add(connection, &SubscriberTotals::of_progress(connection, now), now);
    }

    fn add(&mut self, connection: &Connection, more: &SubscriberTotals, now: Time) {
        let (totals, last_at) = self.ended.entry(connection.key.mobile.ip()).or_default();
        totals.add(more);
        *last_at = now;
        self.make_room();
    }

    /// Forgets the half of the subscribers that has been without an ended connection longest, if there are too many.
    fn make_room(&mut self) {
        if self.ended.len() <= self.most {
            return;
        }
        let mut times: Vec<Time> = self.ended.values().map(|(_, last_at)| *last_at).collect();
        let (_, median, _) = times.select_nth_unstable(self.most / 2);
        let median = *median;
        let mut excess = self.ended.len() - self.most / 2;
        self.ended.retain(|_, (_, last_at)| {
            let is_forgotten = excess > 0 && *last_at <= median;
            excess -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    /// Returns the totals of each subscriber until `now`: of `live` connections and of ended ones.
    pub fn totals<'a>(
        &self,
        live: impl Iterator<Item = &'a Connection>,
        now: Time,
    ) -> BTreeMap<IpAddr, SubscriberTotals> {
        let ended = self.ended.iter().map(|(address, (totals, _))| (*address, *totals));
        let mut all: BTreeMap<IpAddr, SubscriberTotals> = ended.collect();
        for connection in live {
            let address = connection.key.mobile.ip();
            all.entry(address).or_default().add(&SubscriberTotals::of(connection, now));
        }
        all
    }
}

#[cfg(test)]
mod tests;
