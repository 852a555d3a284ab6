//! The counters of one direction of a link and its queue.

use super::mean::StepMean;
use super::run::{Drops, LinkSummary, QueueSummary};
use crate::{LinkLabel, Spread};
use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Span, Time};

#[derive(Clone, Debug)]
pub(super) struct LinkFold {
    enqueued_packets: u64,
    enqueued_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    last_sent: Option<(Time, Bytes)>,
    drops: Drops,
    dropped_bytes: u64,
    delay: Spread,
    length_packets: StepMean,
    length_bytes: StepMean,
}

impl LinkFold {
    pub(super) fn new() -> LinkFold {
        LinkFold {
            enqueued_packets: 0,
            enqueued_bytes: 0,
            sent_packets: 0,
            sent_bytes: 0,
            last_sent: None,
            drops: Drops::default(),
            dropped_bytes: 0,
            delay: Spread::fine(),
            // A queue is empty from the start of the run, not from its first packet.
            length_packets: StepMean::starting(Time::ZERO, 0),
            length_bytes: StepMean::starting(Time::ZERO, 0),
        }
    }

    #[inline]
    pub(super) fn enqueued(&mut self, at: Time, bytes: Bytes, packets: u32, queued: Bytes) {
        self.enqueued_packets += 1;
        self.enqueued_bytes += bytes.get();
        self.length_packets.set(at, u64::from(packets));
        self.length_bytes.set(at, queued.get());
    }

    #[inline]
    pub(super) fn waited(&mut self, waited: Span) {
        self.delay.add(waited);
    }

    #[inline]
    pub(super) fn dequeued(&mut self, at: Time, bytes: Bytes, packets: u32, queued: Bytes) {
        self.sent_packets += 1;
        self.sent_bytes += bytes.get();
        self.last_sent = Some((at, bytes));
        self.length_packets.set(at, u64::from(packets));
        self.length_bytes.set(at, queued.get());
    }

    pub(super) fn dropped(&mut self, bytes: Bytes, reason: DropReason) {
        self.drops.add(reason);
        self.dropped_bytes += bytes.get();
    }

    pub(super) fn queue(&self, label: &LinkLabel, ended_at: Time) -> QueueSummary {
        let delay = self.delay.summary();
        QueueSummary {
            link: label.name.clone(),
            queue: label.queue.clone(),
            enqueued_packets: self.enqueued_packets,
            enqueued_bytes: self.enqueued_bytes,
            dequeued_packets: self.sent_packets,
            queued_packets_at_end: self.length_packets.value(),
            drops: self.drops,
            dropped_packets: self.drops.total(),
            dropped_bytes: self.dropped_bytes,
            mean_delay_ms: delay.map(|delay| delay.mean_ms),
            p50_delay_ms: delay.map(|delay| delay.p50_ms),
            p99_delay_ms: delay.map(|delay| delay.p99_ms),
            max_delay_ms: delay.map(|delay| delay.max_ms),
            mean_length_packets: self.length_packets.until(ended_at).unwrap_or(0.0),
            max_length_packets: self.length_packets.most(),
            mean_length_bytes: self.length_bytes.until(ended_at).unwrap_or(0.0),
            max_length_bytes: self.length_bytes.most(),
        }
    }

    pub(super) fn link(&self, label: &LinkLabel, ended_at: Time) -> LinkSummary {
        LinkSummary {
            name: label.name.clone(),
            rate_bit_s: label.rate.as_bits_per_sec(),
            utilisation: self.utilisation(label.rate, ended_at),
            bytes: self.sent_bytes,
            packets: self.sent_packets,
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
        Some(((self.sent_bytes as f64 * 8.0 - unsent) / capacity).clamp(0.0, 1.0))
    }
}
