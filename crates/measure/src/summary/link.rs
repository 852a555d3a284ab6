//! The counters of one direction of a link and its queue.

use super::mean::StepMean;
use super::{Drops, FlowDelay, LinkSummary, MediumUse, QueueSummary};
use crate::{LinkLabel, Spread};
use ackord_events::{AccessOutcome, DropReason};
use ackord_units::{Bytes, Rate, Span, Time};
use ackord_wire::FlowId;

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
    /// The same by flow, where flows are told apart; boxed, for most flows take few links.
    by_flow: Vec<Option<Box<Spread>>>,
    length_packets: StepMean,
    length_bytes: StepMean,
    medium: Option<MediumFold>,
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
            enqueued_packets: 0,
            enqueued_bytes: 0,
            sent_packets: 0,
            sent_bytes: 0,
            last_sent: None,
            drops: Drops::default(),
            dropped_bytes: 0,
            delay: Spread::fine(),
            by_flow: vec![None; flows],
            // A queue is empty from the start of the run, not from its first packet.
            length_packets: StepMean::starting(Time::ZERO, 0),
            length_bytes: StepMean::starting(Time::ZERO, 0),
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
        self.enqueued_packets += 1;
        self.enqueued_bytes += bytes.get();
        self.length_packets.set(at, u64::from(packets));
        self.length_bytes.set(at, queued.get());
    }

    #[inline]
    pub(super) fn waited(&mut self, flow: FlowId, waited: Span) {
        self.delay.add(waited);
        if let Some(of_flow) = self.by_flow.get_mut(flow.0 as usize) {
            of_flow.get_or_insert_with(|| Box::new(Spread::coarse())).add(waited);
        }
    }

    #[inline]
    pub(super) fn dequeued(&mut self, at: Time, bytes: Bytes, packets: u32, queued: Bytes) {
        self.sent_packets += 1;
        self.sent_bytes += bytes.get();
        self.last_sent = Some((at, bytes));
        self.length_packets.set(at, u64::from(packets));
        self.length_bytes.set(at, queued.get());
    }

    /// A packet entered the empty queue and left it at once.
    pub(super) fn passed(&mut self, at: Time, flow: FlowId, bytes: Bytes) {
        self.enqueued_packets += 1;
        self.enqueued_bytes += bytes.get();
        self.length_packets.peak(at, 1);
        self.length_bytes.peak(at, bytes.get());
        self.waited(flow, Span::ZERO);
        self.sent_packets += 1;
        self.sent_bytes += bytes.get();
        self.last_sent = Some((at, bytes));
    }

    pub(super) fn dropped(&mut self, bytes: Bytes, reason: DropReason) {
        self.drops.add(reason);
        self.dropped_bytes += bytes.get();
    }

    pub(super) fn queue(&self, label: &LinkLabel, flows: &[&str], ended_at: Time) -> QueueSummary {
        let by_flow = flows.iter().zip(&self.by_flow).filter_map(|(flow, delay)| {
            let delay = delay.as_ref()?.summary()?;
            Some(FlowDelay { flow: (*flow).to_owned(), delay })
        });
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
            flows: by_flow.collect(),
        }
    }

    pub(super) fn link(&self, label: &LinkLabel, ended_at: Time) -> LinkSummary {
        LinkSummary {
            name: label.name.clone(),
            rate_bit_s: label.rate.as_bits_per_sec(),
            utilisation: match self.medium {
                None => self.utilisation(label.rate, ended_at),
                Some(fold) => fold.share(ended_at),
            },
            bytes: self.sent_bytes,
            packets: self.sent_packets,
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
        Some(((self.sent_bytes as f64 * 8.0 - unsent) / capacity).clamp(0.0, 1.0))
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
