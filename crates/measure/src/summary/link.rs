//! The counters of one direction of a link and its queue.

use super::delays::FlowDelays;
use super::length::QueueLength;
use super::{Drops, FlowDelay, LinkSummary, MediumUse, QueueSummary};
use crate::{LinkLabel, Spread};
use ackord_events::{AccessOutcome, DropReason, Passed, Waited};
use ackord_units::{Bytes, Rate, Span, Time, count};
use ackord_wire::FlowId;

#[derive(Clone, Debug)]
pub(super) struct LinkFold {
    /// Those that found the link free; among neither of the next two.
    passed: Load,
    entered: Load,
    left: Load,
    last_sent: Option<(Time, Bytes)>,
    length: QueueLength,
    /// Of those that did not find the link free.
    delay: Spread,
    /// Of all, where flows are told apart.
    by_flow: FlowDelays,
    drops: Drops,
    dropped_bytes: u64,
    medium: Option<MediumFold>,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    packets: u64,
    bytes: u64,
}

impl Load {
    #[inline]
    fn add(&mut self, bytes: Bytes) {
        count(&mut self.packets);
        self.bytes += bytes.get();
    }

    fn and(self, other: Load) -> Load {
        Load { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// What a link did on its medium.
#[derive(Clone, Copy, Debug, Default)]
struct MediumFold {
    counts: MediumUse,
    airtime: Span,
    /// End of the last transmission.
    until: Time,
}

impl LinkFold {
    /// For a run that tells so many flows apart.
    pub(super) fn new(flows: usize) -> LinkFold {
        LinkFold {
            passed: Load::default(),
            entered: Load::default(),
            left: Load::default(),
            last_sent: None,
            length: QueueLength::default(),
            delay: Spread::fine(),
            by_flow: FlowDelays::new(flows),
            drops: Drops::default(),
            dropped_bytes: 0,
            medium: None,
        }
    }

    pub(super) fn took_medium(&mut self, at: Time, airtime: Span, load: (u32, AccessOutcome)) {
        let (frames, outcome) = load;
        let fold = self.medium.get_or_insert_default();
        fold.airtime += airtime;
        fold.until = at + airtime;
        fold.counts.transmissions += 1;
        fold.counts.frames += u64::from(frames);
        fold.counts.damaged += u64::from(outcome == AccessOutcome::Damaged);
        fold.counts.collided += u64::from(outcome == AccessOutcome::Collided);
    }

    #[inline]
    pub(super) fn enqueued(&mut self, at: Time, bytes: Bytes, packets: u32, queued: Bytes) {
        self.entered.add(bytes);
        self.length.set(at, packets, queued);
    }

    #[inline]
    pub(super) fn waited(&mut self, flow: FlowId, waited: Span) {
        self.delay.add(waited);
        self.by_flow.waited(flow, waited);
    }

    #[inline]
    pub(super) fn dequeued(&mut self, at: Time, bytes: Bytes, packets: u32, queued: Bytes) {
        self.left.add(bytes);
        self.last_sent = Some((at, bytes));
        self.length.set(at, packets, queued);
    }

    /// A packet entered the empty queue and left it at once.
    #[inline]
    pub(super) fn passed(&mut self, at: Time, flow: FlowId, bytes: Bytes) {
        self.passed.add(bytes);
        self.last_sent = Some((at, bytes));
        self.length.peak(at, bytes);
        self.by_flow.passed(flow);
    }

    /// The same of several packets, one after the other.
    #[inline]
    pub(super) fn all_passed(&mut self, mut passed: impl DoubleEndedIterator<Item = Passed>) {
        let Some(last) = passed.next_back() else { return };
        let (mut others, mut most) = (Load::default(), Bytes::ZERO);
        for packet in passed {
            others.add(packet.bytes);
            most = most.max(packet.bytes);
            self.by_flow.passed(packet.flow);
        }
        self.passed = self.passed.and(others);
        self.length.peak(last.at, most);
        self.passed(last.at, last.flow, last.bytes);
    }

    /// Packets entered the queue, waited, and left it, one after the other.
    #[inline]
    pub(super) fn all_waited(&mut self, waited: impl Iterator<Item = Waited>) {
        let mut all = Load::default();
        for packet in waited {
            let waited = self.length.stood(&packet);
            all.add(packet.bytes);
            self.waited(packet.flow, waited);
            self.last_sent = Some((packet.until, packet.bytes));
        }
        self.entered = self.entered.and(all);
        self.left = self.left.and(all);
    }

    /// A packet entered the queue, and waits still.
    pub(super) fn waiting(&mut self, packet: Waited) {
        self.entered.add(packet.bytes);
        self.length.stood(&packet);
        self.length.grow(packet.until, packet.bytes);
    }

    pub(super) fn dropped(&mut self, bytes: Bytes, reason: DropReason) {
        self.drops.add(reason);
        self.dropped_bytes += bytes.get();
    }

    pub(super) fn queue(&self, label: &LinkLabel, flows: &[&str], ended_at: Time) -> QueueSummary {
        let by_flow = self.by_flow.summaries().filter_map(|(flow, delay)| {
            Some(FlowDelay { flow: (*flows.get(flow)?).to_owned(), delay })
        });
        let delay = self.delay.summary_with_zeros(self.passed.packets);
        let entered = self.entered.and(self.passed);
        QueueSummary {
            link: label.name.clone(),
            queue: label.queue.clone(),
            enqueued_packets: entered.packets,
            enqueued_bytes: entered.bytes,
            dequeued_packets: self.left.and(self.passed).packets,
            queued_packets_at_end: self.length.packets(),
            drops: self.drops,
            dropped_packets: self.drops.total(),
            dropped_bytes: self.dropped_bytes,
            mean_delay_ms: delay.map(|delay| delay.mean_ms),
            p50_delay_ms: delay.map(|delay| delay.p50_ms),
            p99_delay_ms: delay.map(|delay| delay.p99_ms),
            max_delay_ms: delay.map(|delay| delay.max_ms),
            mean_length_packets: self.length.mean_packets(ended_at),
            max_length_packets: self.length.most_packets(),
            mean_length_bytes: self.length.mean_bytes(ended_at),
            max_length_bytes: self.length.most_bytes(),
            flows: by_flow.collect(),
        }
    }

    pub(super) fn link(&self, label: &LinkLabel, ended_at: Time) -> LinkSummary {
        let sent = self.left.and(self.passed);
        LinkSummary {
            name: label.name.clone(),
            rate_bit_s: label.rate.as_bits_per_sec(),
            utilisation: match self.medium {
                None => self.utilisation(label.rate, ended_at),
                Some(fold) => fold.share(ended_at),
            },
            bytes: sent.bytes,
            packets: sent.packets,
            medium: self.medium.map(|fold| fold.summary(ended_at)),
        }
    }

    /// Bits put on the wire by `ended_at` over what the rate allows; the packet under way then
    /// counts as far as it has got, so that a busy link shows 1 and never more.
    fn utilisation(&self, rate: Rate, ended_at: Time) -> Option<f64> {
        let capacity = rate.as_bits_per_sec() as f64 * ended_at.as_secs_f64();
        if capacity == 0.0 {
            return None;
        }
        let unsent = self.last_sent.map_or(0.0, |(at, bytes)| {
            let on_wire = rate.time_for(bytes);
            let by_end = ended_at.saturating_since(at).min(on_wire);
            let share_left = 1.0 - by_end.as_secs_f64() / on_wire.as_secs_f64();
            bytes.bits() as f64 * share_left
        });
        let sent = self.left.and(self.passed);
        Some(((sent.bytes as f64 * 8.0 - unsent) / capacity).clamp(0.0, 1.0))
    }
}

impl MediumFold {
    /// Airtime by `ended_at`; what lies beyond it does not count.
    fn airtime_by(&self, ended_at: Time) -> Span {
        self.airtime.saturating_sub(self.until.saturating_since(ended_at))
    }

    fn share(&self, ended_at: Time) -> Option<f64> {
        let lasted = ended_at.as_secs_f64();
        (lasted > 0.0).then(|| self.airtime_by(ended_at).as_secs_f64() / lasted)
    }

    fn summary(&self, ended_at: Time) -> MediumUse {
        MediumUse { airtime_s: self.airtime_by(ended_at).as_secs_f64(), ..self.counts }
    }
}
