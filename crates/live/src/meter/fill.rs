//! The driver's half of the meter: folds events of links into intervals, and hands them over.
//!
//! An event is counted in the interval of the instant it bears. A FIFO link may tell late of a
//! packet that left its queue, so the latest second of intervals stays open and is handed over
//! again. The lock is only taken in [`MeterFill::tick`].

use super::capacity::Capacity;
use super::{DirectionSample, MeterFeed, number_of, start_of};
use crate::lateness::Lateness;
use ackord_events::{DropReason, Event, LinkId, Sink};
use ackord_units::{Bytes, Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Intervals that late events may still change.
const OPEN: usize = 10;
/// A run that has stood still for longer than this begins its intervals anew, at most so many are
/// made up.
const MOST_AT_ONCE: u64 = 600;

/// Takes the events of the links; the driver tells it when an interval is over.
#[derive(Debug)]
pub struct MeterFill {
    feed: Arc<MeterFeed>,
    capacities: Vec<Capacity>,
    ways: Vec<Standing>,
    /// Number of the interval that `open` begins with.
    first: u64,
    open: VecDeque<Vec<DirectionSample>>,
}

/// Where one direction of a link stands.
#[derive(Clone, Debug, Default)]
struct Standing {
    /// The queue after the latest event.
    queue_packets: u64,
    queue_bytes: Bytes,
    /// What has come to the link so far, as far as it has been counted.
    offered_packets: u64,
    offered_bytes: u64,
    /// What has left the queue, either way.
    left_packets: u64,
    left_bytes: u64,
    /// Lost on the medium, but not yet taken off what was delivered.
    lost_packets: u64,
    lost_bytes: u64,
    /// How long the packet that left last had waited.
    waited: Span,
    /// When it left; when the queue ceased to be empty, if that was later.
    head_since: Time,
}

impl MeterFill {
    pub(super) fn new(feed: Arc<MeterFeed>) -> MeterFill {
        let ways = feed.capacities.len();
        let mut fill = MeterFill {
            capacities: feed.capacities.clone(),
            ways: vec![Standing::default(); ways],
            first: 0,
            open: VecDeque::new(),
            feed,
        };
        fill.begin_interval();
        fill
    }

    /// When [`MeterFill::tick`] is due: the end of the interval that events fill now.
    pub fn due(&self) -> Time {
        start_of(self.first + self.open.len() as u64)
    }

    /// It is `now`, and everything up to `now` has been told (a driver lets the path settle before
    /// it ticks): hands over every interval that is complete.
    pub fn tick(&mut self, now: Time, lateness: Option<Lateness>) {
        let current = number_of(now);
        let next = self.first + self.open.len() as u64;
        if current > next + MOST_AT_ONCE {
            // A machine that slept: nobody misses the intervals it slept through.
            self.open.clear();
            self.first = current;
            self.begin_interval();
        }
        while self.first + (self.open.len() as u64) <= current {
            self.close_interval();
            self.begin_interval();
        }
        let complete = self.open.len() - 1;
        self.feed.publish(self.first, self.open.iter().take(complete), lateness);
        while self.open.len() > OPEN {
            self.open.pop_front();
            self.first += 1;
        }
    }

    /// Writes down how long the heads of queues have waited by the end of the current interval.
    fn close_interval(&mut self) {
        let ends_at = start_of(self.first + self.open.len() as u64);
        let Some(current) = self.open.back_mut() else { return };
        for (sample, way) in current.iter_mut().zip(&self.ways) {
            sample.queueing_delay = way.head_waits(ends_at);
            sample.longest_queueing_delay =
                sample.longest_queueing_delay.max(sample.queueing_delay);
        }
    }

    fn begin_interval(&mut self) {
        let number = self.first + self.open.len() as u64;
        let samples = self.ways.iter().zip(&mut self.capacities).map(|(way, capacity)| {
            let mut sample = DirectionSample {
                capacity: capacity.in_interval(number),
                ..DirectionSample::default()
            };
            sample.queue.packets = way.queue_packets;
            sample.queue.bytes = way.queue_bytes;
            sample
        });
        let samples = samples.collect();
        self.open.push_back(samples);
    }

    /// The sample and the standing that an event of `link` at `at` is about.
    fn of(&mut self, at: Time, link: LinkId) -> Option<(&mut DirectionSample, &mut Standing)> {
        let way = link.0 as usize;
        if way >= self.ways.len() {
            return None;
        }
        let number = number_of(at);
        // The driver ticks in time; an event beyond that belongs to the interval it is late for.
        let place = number.saturating_sub(self.first).min(self.open.len() as u64 - 1) as usize;
        Some((&mut self.open[place][way], &mut self.ways[way]))
    }
}

impl Drop for MeterFill {
    fn drop(&mut self) {
        self.feed.end();
    }
}

impl Sink for MeterFill {
    #[inline]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::PacketEnqueued { link, queue_packets, queue_bytes, .. } => {
                let Some((sample, way)) = self.of(at, link) else { return };
                way.enqueued(at);
                way.stands(queue_packets, queue_bytes, sample);
            }
            Event::PacketDequeued { link, bytes, waited, queue_packets, queue_bytes, .. } => {
                let Some((sample, way)) = self.of(at, link) else { return };
                way.dequeued(at, (bytes, waited), sample);
                way.stands(queue_packets, queue_bytes, sample);
            }
            Event::PacketDropped { link, packet, reason } => {
                let Some((sample, way)) = self.of(at, link) else { return };
                way.dropped(packet.len(), reason, sample);
            }
            // A meter shows queues and what leaves them.
            Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::SegmentSent { .. }
            | Event::DataDelivered { .. }
            | Event::TransferBegan { .. }
            | Event::TransferCompleted { .. }
            | Event::DatagramSent { .. }
            | Event::DatagramDelivered { .. }
            | Event::AckAdvanced { .. }
            | Event::CwndChanged { .. }
            | Event::RttSampled { .. }
            | Event::AckTimeoutChanged { .. }
            | Event::SegmentLost { .. }
            | Event::RecoveryEntered { .. }
            | Event::RecoveryExited { .. }
            | Event::RecoveryUndone { .. }
            | Event::RetransmissionSpurious { .. }
            | Event::RetransmissionTimeout { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketDuplicated { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. }
            | Event::PacketTapped { .. } => {}
        }
    }
}

impl Standing {
    /// A packet has joined the queue at `at`.
    fn enqueued(&mut self, at: Time) {
        if self.queue_packets == 0 {
            self.head_since = at;
            self.waited = Span::ZERO;
        }
    }

    /// A packet of so many bytes has left the queue at `at`, in which it has waited for so long.
    fn dequeued(&mut self, at: Time, (bytes, waited): (Bytes, Span), sample: &mut DirectionSample) {
        self.left_packets += 1;
        self.left_bytes += bytes.get();
        self.waited = waited;
        self.head_since = at;
        sample.longest_queueing_delay = sample.longest_queueing_delay.max(waited);
        sample.delivered.add(bytes);
        self.take_off(sample);
    }

    /// A packet has died, in the queue or behind it.
    fn dropped(&mut self, bytes: Bytes, reason: DropReason, sample: &mut DirectionSample) {
        sample.dropped[reason as usize] += 1;
        if dies_before_it_leaves(reason) {
            self.left_packets += 1;
            self.left_bytes += bytes.get();
            self.count_offered(sample);
        } else {
            self.lost_packets += 1;
            self.lost_bytes += bytes.get();
            self.take_off(sample);
        }
    }

    /// The queue is this long now.
    fn stands(&mut self, packets: u32, bytes: Bytes, sample: &mut DirectionSample) {
        self.queue_packets = u64::from(packets);
        self.queue_bytes = bytes;
        sample.queue.packets = self.queue_packets;
        sample.queue.bytes = self.queue_bytes;
        self.count_offered(sample);
    }

    /// What has come is what has left and what waits. A packet dropped from inside the queue is
    /// counted early, and made up for by the next event, which tells how long the queue is.
    fn count_offered(&mut self, sample: &mut DirectionSample) {
        let packets = self.left_packets + self.queue_packets;
        let bytes = self.left_bytes + self.queue_bytes.get();
        sample.offered.packets += packets.saturating_sub(self.offered_packets);
        let more = bytes.saturating_sub(self.offered_bytes);
        sample.offered.bytes = Bytes(sample.offered.bytes.get() + more);
        self.offered_packets = self.offered_packets.max(packets);
        self.offered_bytes = self.offered_bytes.max(bytes);
    }

    /// Takes packets lost on the medium off what was delivered; a loss is told when the packet
    /// would have arrived, perhaps in a later interval than the one in which it left.
    fn take_off(&mut self, sample: &mut DirectionSample) {
        let packets = self.lost_packets.min(sample.delivered.packets);
        let bytes = self.lost_bytes.min(sample.delivered.bytes.get());
        sample.delivered.packets -= packets;
        sample.delivered.bytes = Bytes(sample.delivered.bytes.get() - bytes);
        self.lost_packets -= packets;
        self.lost_bytes -= bytes;
    }

    /// How long the packet at the head of the queue has waited by `at`, as far as anybody can say:
    /// in a queue in order, at least since the one before it left; and where the queue moves, about
    /// as long as that one had.
    fn head_waits(&self, at: Time) -> Span {
        match self.queue_packets {
            0 => Span::ZERO,
            _ => self.waited.max(at.saturating_since(self.head_since)),
        }
    }
}

/// Whether a packet that dies of this has not left the queue.
fn dies_before_it_leaves(reason: DropReason) -> bool {
    match reason {
        DropReason::QueueFull
        | DropReason::OverShare
        | DropReason::EarlyDrop
        | DropReason::Policed => true,
        DropReason::RandomLoss
        | DropReason::Outage
        | DropReason::Corrupted
        | DropReason::BadChecksum
        | DropReason::RetryLimit
        | DropReason::NoRoute => false,
    }
}
