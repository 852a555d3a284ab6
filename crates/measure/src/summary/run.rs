//! What a run added up to, in the form and order of the JSON output.
//!
//! Times ending in `_s` are seconds, delays are milliseconds, `_bit_s` is bit/s. A quantity nobody
//! could measure (a delay without a packet) is null, not zero.

use super::{DatagramSummary, OutageRecovery, ProxySummary, RecoveryTimes, TransferSummary};
use crate::{ProfileLabel, SpreadSummary, stats};
use ackord_events::DropReason;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// What makes a run repeatable.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RunIdentity {
    /// Hash of the scenario in canonical form.
    pub scenario_hash: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunSummary {
    /// Hash of the scenario in canonical form.
    pub scenario_hash: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// Where the run ended.
    pub duration_s: f64,
    /// How the flows shared.
    pub fairness: FairnessSummary,
    /// One per connection, in the scenario's order.
    pub flows: Vec<FlowSummary>,
    /// Packets for which no link was found at all.
    pub unroutable_packets: u64,
    /// One per direction of a link.
    pub queues: Vec<QueueSummary>,
    /// One per direction of a link.
    pub links: Vec<LinkSummary>,
    /// One per middle box; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxySummary>,
}

/// How the connections that delivered any data shared, judged by goodput. (Datagrams take what
/// they take: they are not asked to share.)
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FairnessSummary {
    /// How many connections delivered data.
    pub flows: u32,
    /// Jain's index; null without such a flow.
    pub jain_index: Option<f64>,
    /// Smallest goodput over largest, in percent; null without such a flow.
    pub min_max_percent: Option<f64>,
}

/// One flow, seen from the end that sends.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowSummary {
    /// Its name in the scenario.
    pub name: String,
    /// Family to mechanism.
    pub mechanisms: BTreeMap<String, String>,
    /// The profiles its ends began with, and what differs; left out where they are not TCP's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileLabel>,
    /// Payload delivered in order to the receiving application.
    pub bytes_delivered: u64,
    /// Delivered payload over the time from the flow's start to its completion, or to the end of
    /// the run where it did not complete.
    pub goodput_bit_s: f64,
    /// Segments sent that take sequence space (data, SYN, FIN, retransmissions, window probes).
    pub segments_sent: u64,
    /// Of these, the retransmissions.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Pure acknowledgments sent by the receiving end.
    pub acks_sent: u64,
    /// From the flow's start to the delivery of its last byte; null where it has no end or did not
    /// reach it.
    pub completion_s: Option<f64>,
    /// When it started.
    pub started_s: f64,
    /// How much it had to send; null for no end.
    pub size_bytes: Option<u64>,
    /// Payload sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Octets the sender declared lost, rightly or not.
    pub bytes_declared_lost: u64,
    /// Packets from the sending end that died on the path, for whatever reason.
    pub packets_dropped: u64,
    /// Times it entered fast recovery.
    pub fast_recoveries: u64,
    /// Reductions of cwnd that the sender itself found wrong and undid. (Whether the others were
    /// spurious, no event says.)
    pub undone_reductions: u64,
    /// Retransmissions that the receiver had already, by its DSACK reports (RFC 2883); zero where
    /// SACK is off.
    pub spurious_retransmissions: u64,
    /// cwnd averaged over time, from its first value to completion or the end of the run.
    pub cwnd_mean_bytes: Option<f64>,
    /// Largest cwnd in that time.
    pub cwnd_max_bytes: Option<u64>,
    /// Round-trip times the sender measured; quantiles within 1 %.
    pub rtt: Option<SpreadSummary>,
    /// Values the receiver's ATO took, each change counted once; null where it never changed.
    pub ack_timeout: Option<SpreadSummary>,
    /// Its transfers or exchanges; null where the workload has none.
    pub transfers: Option<TransferSummary>,
    /// The longest time without new data at the receiver, from the first data to the flow's
    /// completion or the end of the run.
    pub longest_stall_s: Option<f64>,
    /// Where the flow is no connection; what is said of segments, acknowledgments, windows and
    /// round trips is then zero or null.
    pub datagrams: Option<DatagramSummary>,
    /// The most that was acknowledged to the sender before the receiver's application could have
    /// it: zero where acknowledgments come from the receiver.
    pub acknowledged_early_peak_bytes: u64,
    /// Acknowledged to the sender and not delivered when the run ended: with nobody left to send
    /// it, lost for ever.
    pub acknowledged_undelivered_bytes: u64,
    /// How it came back after each outage that the path met, in order.
    pub outages: Vec<OutageRecovery>,
}

/// The queue of one direction of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QueueSummary {
    /// The link's name.
    pub link: String,
    /// The queue's name.
    pub queue: String,
    /// Packets that joined it.
    pub enqueued_packets: u64,
    /// IP bytes that joined it.
    pub enqueued_bytes: u64,
    /// Packets that left it to be transmitted.
    pub dequeued_packets: u64,
    /// Packets still in it when the run ended.
    pub queued_packets_at_end: u64,
    /// Packets that died at this queue or link, by reason.
    pub drops: Drops,
    /// Their sum.
    pub dropped_packets: u64,
    /// Their IP bytes.
    pub dropped_bytes: u64,
    /// Mean wait of the packets that left; exact.
    pub mean_delay_ms: Option<f64>,
    /// Median wait, within 0.1 %.
    pub p50_delay_ms: Option<f64>,
    /// 99th percentile of the wait, within 0.1 %.
    pub p99_delay_ms: Option<f64>,
    /// Longest wait; exact.
    pub max_delay_ms: Option<f64>,
    /// Length averaged over the whole run.
    pub mean_length_packets: f64,
    /// Greatest length.
    pub max_length_packets: u64,
    /// Length averaged over the whole run.
    pub mean_length_bytes: f64,
    /// Greatest length.
    pub max_length_bytes: u64,
    /// The same wait flow by flow, of those that queued here; left out where the run has but one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowDelay>,
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

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSummary {
    /// Its name.
    pub name: String,
    /// Nominal rate.
    pub rate_bit_s: u64,
    /// IP bytes put on the wire over what the rate allows, 0 to 1; on a shared medium its airtime
    /// over the run. Null without a rate.
    pub utilisation: Option<f64>,
    /// IP bytes whose transmission began.
    pub bytes: u64,
    /// Packets whose transmission began.
    pub packets: u64,
    /// How it used the medium it shares; null where it shares none, or has not used it.
    pub medium: Option<MediumUse>,
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

impl FlowSummary {
    /// How it came back after outages, together; nothing if the path met none.
    pub fn recovery_times(&self) -> Option<RecoveryTimes> {
        RecoveryTimes::of(&self.outages)
    }

    /// Retransmissions as a share of the segments sent, in percent; nothing if none were sent.
    pub fn retransmitted_percent(&self) -> Option<f64> {
        let share = self.retransmitted_segments as f64 / self.segments_sent as f64;
        (self.segments_sent > 0).then_some(100.0 * share)
    }
}

impl FairnessSummary {
    /// The fairness among those of `flows` that delivered data.
    pub fn of(flows: &[FlowSummary]) -> FairnessSummary {
        let goodputs: Vec<_> = flows
            .iter()
            .filter(|flow| flow.bytes_delivered > 0 && flow.datagrams.is_none())
            .map(|flow| flow.goodput_bit_s)
            .collect();
        FairnessSummary {
            flows: u32::try_from(goodputs.len()).unwrap_or(u32::MAX),
            jain_index: stats::jain_index(&goodputs),
            min_max_percent: stats::min_max_percent(&goodputs),
        }
    }
}
