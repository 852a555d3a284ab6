//! What a link and its queue add up to, and their metrics.

use crate::SpreadSummary;
use crate::metric::Sheet::*;
use crate::metric::{BYTES, EACH, MBIT_S, MS, PACKETS, PERCENT, PLAIN, S, SHARE, summary};
use ackord_events::DropReason;
use serde::ser::{Serialize, SerializeMap, Serializer};

summary! {
    /// The queue of one direction of a link.
    pub struct QueueSummary, metrics QUEUE_METRICS {
        /// The link's name.
        link: String;
        /// The queue's name.
        queue: String;
        /// Packets that joined it.
        enqueued_packets: u64 => PACKETS, [QueuesCsv.at(0)];
        /// IP bytes that joined it.
        enqueued_bytes: u64 => BYTES, [QueuesCsv.at(1)];
        /// Packets that left it to be transmitted.
        dequeued_packets: u64 => PACKETS, [QueuesCsv.at(2)];
        /// Packets still in it when the run ended.
        queued_packets_at_end: u64 => PACKETS, [QueuesCsv.at(3)];
        /// Packets that died at this queue or link, by reason.
        drops: Drops;
        /// Their sum.
        dropped_packets: u64 => PACKETS, [
            QueuesCsv.at(4), Links.named(2, "dropped"), Compared.at(3), LinksSideBySide.named(3, "dropped"),
        ];
        /// Their IP bytes.
        dropped_bytes: u64 => BYTES, [];
        /// Mean wait of the packets that left; exact.
        mean_delay_ms: Option<f64> => MS, [
            QueuesCsv.at(5), Links.named(3, "delay mean"), Compared.at(1),
            LinksSideBySide.named(1, "delay mean"),
        ];
        /// Median wait, within 0.1 %.
        p50_delay_ms: Option<f64> => MS, [QueuesCsv.at(6)];
        /// 99th percentile of the wait, within 0.1 %.
        p99_delay_ms: Option<f64> => MS, [
            QueuesCsv.at(7), Links.named(4, "p99"), Compared.at(2), LinksSideBySide.named(2, "delay p99"),
        ];
        /// Longest wait; exact.
        max_delay_ms: Option<f64> => MS, [QueuesCsv.at(8)];
        /// Length averaged over the whole run.
        mean_length_packets: f64 => PACKETS, [QueuesCsv.at(9), Links.named(5, "queue mean")];
        /// Greatest length.
        max_length_packets: u64 => PACKETS, [QueuesCsv.at(10), Links.named(6, "max")];
        /// Length averaged over the whole run.
        mean_length_bytes: f64 => BYTES, [QueuesCsv.at(11)];
        /// Greatest length.
        max_length_bytes: u64 => BYTES, [QueuesCsv.at(12)];
        /// The same wait flow by flow, of those that queued here; left out where the run has but one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        flows: Vec<FlowDelay>;
    }
    derived {}
}

/// How long one flow's packets waited in a queue.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowDelay {
    /// The flow's name.
    pub flow: String,
    /// Their wait; quantiles within 1 %.
    #[serde(flatten)]
    pub delay: SpreadSummary,
}

summary! {
    /// One direction of a link.
    pub struct LinkSummary, metrics LINK_METRICS {
        /// Its name.
        name: String;
        /// Nominal rate.
        rate_bit_s: u64 => MBIT_S, [LinksCsv.at(0)];
        /// IP bytes put on the wire over what the rate allows, 0 to 1; on a shared medium its airtime
        /// over the run. Null without a rate.
        utilisation: Option<f64> => SHARE, [
            LinksCsv.at(1), Links.named(0, "used"), Media.named(0, "airtime"), Compared.at(0),
            LinksSideBySide.named(0, "used"),
        ];
        /// IP bytes whose transmission began.
        bytes: u64 => BYTES, [LinksCsv.at(2)];
        /// Packets whose transmission began.
        packets: u64 => PACKETS, [LinksCsv.at(3), Links.named(1, "sent")];
        /// How it used the medium it shares; null where it shares none, or has not used it.
        medium: Option<MediumUse>;
    }
    derived {
        /// How long its transmissions took on a shared medium.
        airtime_s = |link| Some(link.medium?.airtime_s) => S, [LinksCsv.at(4)];
        /// How often it transmitted on a shared medium.
        transmissions = |link| Some(link.medium?.transmissions) => PLAIN, [LinksCsv.at(5), Media.at(1)];
        /// Frames in those transmissions.
        frames = |link| Some(link.medium?.frames) => PLAIN, [LinksCsv.at(6)];
        /// Frames in a transmission.
        frames_each = |link| link.medium?.each(|used| used.frames) => EACH, [
            Media.named(2, "frames each"),
        ];
        /// Transmissions of which every frame was damaged.
        damaged_transmissions = |link| Some(link.medium?.damaged) => PLAIN, [LinksCsv.at(7)];
        /// The same in percent.
        damaged_percent = |link| Some(link.medium?.each(|used| used.damaged)? * 100.0) => PERCENT, [
            Media.named(3, "damaged"),
        ];
        /// Transmissions that met another.
        collided_transmissions = |link| Some(link.medium?.collided) => PLAIN, [LinksCsv.at(8)];
        /// The same in percent.
        collided_percent = |link| Some(link.medium?.each(|used| used.collided)? * 100.0) => PERCENT, [
            Media.named(4, "collided"),
        ];
    }
}

/// How a link used the medium it shares with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct MediumUse {
    /// How long its transmissions took, link acknowledgments (or the waits for them) included.
    pub airtime_s: f64,
    /// How often it transmitted.
    pub transmissions: u64,
    /// Frames in those transmissions, every attempt of each.
    pub frames: u64,
    /// Transmissions of which every frame was damaged.
    pub damaged: u64,
    /// Transmissions that met another.
    pub collided: u64,
}

impl MediumUse {
    /// How much of what is counted falls to a transmission; nothing without one.
    fn each(&self, count: fn(&MediumUse) -> u64) -> Option<f64> {
        (self.transmissions > 0).then(|| count(self) as f64 / self.transmissions as f64)
    }
}

/// Counts of dead packets by reason, in the order of [`DropReason::ALL`]; every reason is listed but a
/// policer's, where nothing was policed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Counts one more.
    pub(super) fn add(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// How many died for this reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// How many died.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Whether a reason is listed: one that is younger than the first files only where it occurs, so that
    /// the others stay as they are.
    pub fn lists(&self, reason: DropReason) -> bool {
        reason != DropReason::Policed || self.of(reason) > 0
    }

    /// Every reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().map(|reason| (reason, self.of(reason)))
    }
}

impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (reason, count) in self.iter().filter(|(reason, _)| self.lists(*reason)) {
            map.serialize_entry(reason.name(), &count)?;
        }
        map.end()
    }
}
