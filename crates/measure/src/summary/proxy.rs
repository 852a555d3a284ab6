//! What the middle boxes did: their own counters, as the driver passes them on, and how soon they
//! noticed outages, from events.

use crate::{Spread, SpreadSummary};
use ackord_events::{ProxyAct, ProxyLife};
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

/// A middle box.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProxySummary {
    /// Its name in the scenario.
    pub name: String,
    /// Which box it is, with what sets it apart.
    pub kind: String,
    /// How often it died.
    pub deaths: u64,
    /// What it counted since it began, or began anew.
    #[serde(flatten)]
    pub counters: ProxyCounters,
    /// Outages that were met while it was there.
    pub outages: u64,
    /// How many of them it noticed while they lasted.
    pub outages_noticed: u64,
    /// From an outage's beginning to the hold that followed; the first of any connection.
    pub detection: Option<SpreadSummary>,
}

/// Collects it.
#[derive(Clone, Debug)]
pub(super) struct ProxyFold {
    counters: ProxyCounters,
    deaths: u64,
    life: ProxyLife,
    outage: Option<Outage>,
    outages: u64,
    noticed: u64,
    detection: Spread,
}

#[derive(Clone, Copy, Debug)]
struct Outage {
    began: Time,
    ends: Time,
    noticed: Noticed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noticed {
    Yes,
    No,
}

impl ProxyFold {
    pub(super) fn new() -> ProxyFold {
        ProxyFold {
            counters: ProxyCounters::default(),
            deaths: 0,
            life: ProxyLife::Restarted,
            outage: None,
            outages: 0,
            noticed: 0,
            detection: Spread::coarse(),
        }
    }

    pub(super) fn count(&mut self, counters: ProxyCounters) {
        self.counters = counters;
    }

    pub(super) fn turned(&mut self, life: ProxyLife) {
        self.life = life;
        self.deaths += u64::from(life == ProxyLife::Died);
    }

    /// An outage was met. Those that overlap, as those of two directions, are one.
    pub(super) fn met(&mut self, began: Time, ends: Time) {
        if self.life == ProxyLife::Died {
            return;
        }
        match &mut self.outage {
            Some(outage) if began < outage.ends => outage.ends = outage.ends.max(ends),
            _ => {
                self.outages += 1;
                self.outage = Some(Outage { began, ends, noticed: Noticed::No });
            }
        }
    }

    pub(super) fn acted(&mut self, at: Time, act: ProxyAct) {
        if act != ProxyAct::HoldBegan {
            return;
        }
        if let Some(outage) = &mut self.outage
            && outage.noticed == Noticed::No
            && (outage.began..outage.ends).contains(&at)
        {
            outage.noticed = Noticed::Yes;
            self.noticed += 1;
            self.detection.add(at.saturating_since(outage.began));
        }
    }

    pub(super) fn summary(&self, name: &str, kind: &str) -> ProxySummary {
        ProxySummary {
            name: name.to_owned(),
            kind: kind.to_owned(),
            deaths: self.deaths,
            counters: self.counters,
            outages: self.outages,
            outages_noticed: self.noticed,
            detection: self.detection.summary(),
        }
    }
}

impl ProxyCounters {
    /// The share of holds that were mistakes, in percent; nothing without a hold.
    pub fn false_holds_percent(&self) -> Option<f64> {
        (self.holds > 0).then(|| 100.0 * self.false_holds as f64 / self.holds as f64)
    }
}
