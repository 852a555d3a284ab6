//! What the middleboxes did: their own counters, as the driver passes them on, and how soon they
//! noticed outages, from events.

use crate::metric::Sheet::*;
use crate::metric::{KB, MS, PACKETS, PLAIN, SEGMENTS, summary};
use crate::{ProxyLabel, Spread, SpreadSummary};
use ackord_events::ProxyAct;
use ackord_units::Time;
use serde::Serialize;

/// Counters that a box keeps itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProxyCounters {
    /// Packets it saw, both ways.
    pub seen: u64,
    /// Data segments it sent: again, or of its own connection where it splits one.
    pub data_sent: u64,
    /// Acknowledgments it sent by itself.
    pub acks_sent: u64,
    /// Packets sent to find out whether the link is back.
    pub probes: u64,
    /// Packets that ended in it for good.
    pub absorbed: u64,
    /// Packets that went on with other contents.
    pub rewritten: u64,
    /// The most connections it kept something of at once.
    pub peak_flows: u64,
    /// Connections it let pass untouched for want of room.
    pub flows_refused: u64,
    /// The most data it kept at once.
    pub peak_cached_bytes: u64,
    /// Data it gave up to make room.
    pub evicted_bytes: u64,
    /// Data that passed uncached for want of room.
    pub uncached_bytes: u64,
    /// How often it took a link for faded, over all connections.
    pub holds: u64,
    /// Of those, how often an acknowledgment showed that nothing had been lost.
    pub false_holds: u64,
    /// How long the holds lasted, together.
    pub held_s: f64,
}

summary! {
    /// A middlebox.
    pub struct ProxySummary, metrics PROXY_METRICS {
        /// Its name in the scenario.
        name: String;
        /// Which box it is, with what sets it apart.
        kind: String;
        /// How often it failed.
        deaths: u64 => PLAIN, [];
        /// What it counted since it began, or began anew.
        #[serde(flatten)]
        counters: ProxyCounters;
        /// Outages that were met while it was there.
        outages: u64 => PLAIN, [];
        /// How many of them it noticed while they lasted.
        outages_noticed: u64 => PLAIN, [];
        /// From an outage's beginning to the hold that followed; the first of any connection.
        detection: Option<SpreadSummary>;
    }
    derived {
        /// Packets it saw, both ways.
        seen = |proxy| Some(proxy.counters.seen) => PACKETS, [Boxes.named(0, "saw")];
        /// Data segments it sent, retransmitted or of its own connection.
        data_sent = |proxy| Some(proxy.counters.data_sent) => SEGMENTS, [
            Compared.at(0), BoxesSideBySide.named(0, "sent data"),
        ];
        /// The same with its probes.
        data_sent_with_probes = |proxy| Some(proxy.counters.data_sent + proxy.counters.probes) =>
            SEGMENTS, [Boxes.named(1, "sent data")];
        /// Acknowledgments it sent by itself.
        acks_sent = |proxy| Some(proxy.counters.acks_sent) => PLAIN, [
            Boxes.named(2, "ACKs"), Compared.at(1), BoxesSideBySide.named(1, "ACKs"),
        ];
        /// Packets that ended in it for good.
        absorbed = |proxy| Some(proxy.counters.absorbed) => PACKETS, [
            Boxes.at(3), Compared.at(2), BoxesSideBySide.at(2),
        ];
        /// The most data it kept at once.
        peak_cached_bytes = |proxy| Some(proxy.counters.peak_cached_bytes) => KB, [
            Boxes.named(4, "cached most"), Compared.at(3), BoxesSideBySide.named(3, "cached most"),
        ];
        /// Data it gave up to make room.
        evicted_bytes = |proxy| Some(proxy.counters.evicted_bytes) => KB, [Boxes.named(5, "evicted")];
        /// How often it took a link for faded, over all connections.
        holds = |proxy| Some(proxy.counters.holds) => PLAIN, [
            Boxes.at(6), Compared.at(4), BoxesSideBySide.at(4),
        ];
        /// Of those, how often an acknowledgment showed that nothing had been lost.
        false_holds = |proxy| Some(proxy.counters.false_holds) => PLAIN, [
            Boxes.named(7, "false"), Compared.at(5), BoxesSideBySide.named(5, "false"),
        ];
        /// Mean time from an outage's beginning to the hold.
        detection_mean_ms = |proxy| Some(proxy.detection?.mean_ms) => MS, [
            Boxes.named(8, "noticed after"), Compared.named(6, "mean_detection_ms"),
            BoxesSideBySide.named(6, "noticed after"),
        ];
    }
}

/// Collects it.
#[derive(Clone, Debug)]
pub(super) struct ProxyFold {
    /// What it comes to so far, but for the time of detection.
    sum: ProxySummary,
    is_down: bool,
    outage: Option<Outage>,
    detection: Spread,
}

#[derive(Clone, Copy, Debug)]
struct Outage {
    began: Time,
    ends: Time,
    noticed: bool,
}

impl ProxyFold {
    pub(super) fn new(label: &ProxyLabel) -> ProxyFold {
        let ProxyLabel { name, kind } = label.clone();
        ProxyFold {
            sum: ProxySummary { name, kind, ..ProxySummary::default() },
            is_down: false,
            outage: None,
            detection: Spread::coarse(),
        }
    }

    pub(super) fn count(&mut self, counters: ProxyCounters) {
        self.sum.counters = counters;
    }

    pub(super) fn failed(&mut self) {
        self.is_down = true;
        self.sum.deaths += 1;
    }

    pub(super) fn restarted(&mut self) {
        self.is_down = false;
    }

    /// An outage was met. Those that overlap, as those of two directions, are one.
    pub(super) fn met(&mut self, began: Time, ends: Time) {
        if self.is_down {
            return;
        }
        match &mut self.outage {
            Some(outage) if began < outage.ends => outage.ends = outage.ends.max(ends),
            _ => {
                self.sum.outages += 1;
                self.outage = Some(Outage { began, ends, noticed: false });
            }
        }
    }

    pub(super) fn acted(&mut self, at: Time, act: ProxyAct) {
        if act != ProxyAct::HoldBegan {
            return;
        }
        if let Some(outage) = &mut self.outage
            && !outage.noticed
            && (outage.began..outage.ends).contains(&at)
        {
            outage.noticed = true;
            self.sum.outages_noticed += 1;
            self.detection.add(at.saturating_since(outage.began));
        }
    }

    pub(super) fn summary(&self) -> ProxySummary {
        ProxySummary { detection: self.detection.summary(), ..self.sum.clone() }
    }
}

impl ProxyCounters {
    /// The share of holds that were mistakes, in percent; nothing without a hold.
    pub fn false_holds_percent(&self) -> Option<f64> {
        (self.holds > 0).then(|| 100.0 * self.false_holds as f64 / self.holds as f64)
    }
}
