//! CoDel (RFC 8289): drops at the head when packets have waited longer than a target for a whole
//! interval, then ever more often, at intervals that shrink with the square root of the count.
//!
//! [`Controller`] is the algorithm over any line of packets, also used per line by FQ-CoDel;
//! [`Codel`] is it over one line. Names are those of RFC 8289 §5.
//!
//! - *Re-entry* (§5.5): when dropping begins again within 16 intervals of the last drop that was
//!   due, the count goes on where the last dropping state left off, less what it began with.
//! - *MTU rule* (§5.4): a line that holds no more than one longest packet is left alone.
//! - *ECN* (§5 leaves it to the reader): a packet that would be dropped is marked and goes on, and
//!   the control law takes the same step; so at most one packet is marked per departure.
//! - *CE threshold* (RFC 8290 §5.2.7): ECN-capable packets that waited longer are marked, whatever
//!   the state.
//!
//! Not modelled: the integer square root of kernels; this one is exact to the nanosecond.

use super::Queue;
use super::fifo::{Fifo, Limit};
use super::knobs::{ECN, LIMIT, QueueKnobs, QueuePlace, UnknownFlow};
use super::{Dequeued, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Knob, KnobKind, Knobs, Span, Time};

/// What CoDel aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// TARGET: an acceptable standing delay.
    pub target: Span,
    /// INTERVAL: about the longest round trip; for so long the delay has to be above the target.
    pub interval: Span,
    /// maxpacket: a line with no more bytes than this is never dropped from.
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked in place of dropping.
    pub ecn: bool,
    /// ECN-capable packets that waited longer than this are marked.
    pub ce_threshold: Option<Span>,
}

pub(super) const TARGET: Knob = Knob {
    name: "target",
    kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(10) },
    default: "5 ms",
    doc: "Standing queueing delay that is acceptable",
    source: "RFC 8289 §4.2 (TARGET)",
};

pub(super) const INTERVAL: Knob = Knob {
    name: "interval",
    kind: KnobKind::Span { min: Span::from_micros(10), max: Span::from_secs(60) },
    default: "100 ms",
    doc: "How long the delay has to be above the target before the first drop; about the longest round \
          trip",
    source: "RFC 8289 §4.2 (INTERVAL)",
};

pub(super) const MTU: Knob = Knob {
    name: "mtu",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(65_535) },
    default: "1500 B",
    doc: "No packet is dropped from a line that holds no more than this",
    source: "RFC 8289 §5.4 (maxpacket)",
};

pub(super) const CE_THRESHOLD: Knob = Knob {
    name: "ce_threshold",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
    default: "",
    doc: "Packets of ECN-capable transports that waited longer than this are marked; none when absent",
    source: "RFC 8290 §5.2.7",
};

/// Drops at the head once packets have waited too long for a whole interval
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "codel", source = "RFC 8289")]
pub struct CodelKnobs {
    /// Capacity, without the packet being transmitted; CoDel is to keep the queue shorter
    #[knob(like = LIMIT, default = "1000 packets", source = "Linux's codel")]
    limit: Limit,
    #[knob(like = TARGET)]
    target: Span,
    #[knob(like = INTERVAL)]
    interval: Span,
    #[knob(like = MTU)]
    mtu: Bytes,
    #[knob(like = ECN)]
    ecn: bool,
    #[knob(like = CE_THRESHOLD)]
    ce_threshold: Option<Span>,
}

impl QueueKnobs for CodelKnobs {
    fn build(&self, _context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        let config = CodelConfig {
            target: self.target,
            interval: self.interval,
            mtu: self.mtu,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
        };
        Ok(Queue::of(Codel::new(self.limit, config)))
    }
}

/// A line of packets that CoDel takes from.
pub(crate) trait Source {
    /// Takes the first.
    fn pop(&mut self, now: Time) -> Option<Dequeued>;
    /// Bytes in line.
    fn bytes(&self) -> u64;
}

impl Source for Fifo {
    fn pop(&mut self, now: Time) -> Option<Dequeued> {
        Fifo::pop(self, now)
    }

    fn bytes(&self) -> u64 {
        self.length().bytes.get()
    }
}

/// The state of one line (RFC 8289 §5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Controller {
    /// When the delay will have been above the target for an interval, if it is.
    first_above_at: Option<Time>,
    /// When to drop next.
    drop_next_at: Time,
    /// Drops since the dropping state began, more or less.
    count: u32,
    /// The count with which it began.
    last_count: u32,
    dropping: bool,
}

/// A packet from the head, and whether CoDel may drop it.
struct Head {
    packet: Option<Dequeued>,
    ok_to_drop: bool,
}

impl Controller {
    /// `dequeue()` of RFC 8289 §5.5.
    pub(crate) fn next(
        &mut self,
        config: &CodelConfig,
        now: Time,
        line: &mut impl Source,
        context: &mut QueueContext<'_>,
    ) -> Option<Dequeued> {
        let mut head = self.take(config, now, line);
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && now >= self.drop_next_at {
                self.count += 1;
                if signal(config, &head, context).is_ok() {
                    self.drop_next_at = self.control_law(config, self.drop_next_at);
                    break;
                }
                head = self.take(config, now, line);
                self.dropping = head.ok_to_drop;
                if self.dropping {
                    self.drop_next_at = self.control_law(config, self.drop_next_at);
                }
            }
        } else if head.ok_to_drop {
            if signal(config, &head, context).is_err() {
                head = self.take(config, now, line);
            }
            self.dropping = true;
            self.begin_count(config, now);
            self.drop_next_at = self.control_law(config, now);
        }
        let packet = head.packet?;
        if config.ce_threshold.is_some_and(|threshold| packet.waited > threshold)
            && context.is_ecn_capable(packet.slot)
        {
            context.mark(packet.slot);
        }
        Some(packet)
    }

    /// `dodequeue()` of RFC 8289 §5.4.
    fn take(&mut self, config: &CodelConfig, now: Time, line: &mut impl Source) -> Head {
        let packet = line.pop(now);
        let Some(Dequeued { waited, .. }) = packet else {
            self.first_above_at = None;
            return Head { packet, ok_to_drop: false };
        };
        let mut ok_to_drop = false;
        if waited < config.target || line.bytes() <= config.mtu.get() {
            self.first_above_at = None;
        } else {
            match self.first_above_at {
                None => self.first_above_at = Some(now + config.interval),
                Some(above_for_long_at) => ok_to_drop = now >= above_for_long_at,
            }
        }
        Head { packet, ok_to_drop }
    }

    /// The count with which a dropping state begins.
    fn begin_count(&mut self, config: &CodelConfig, now: Time) {
        let delta = self.count - self.last_count;
        let lately = now.saturating_since(self.drop_next_at) < config.interval.saturating_mul(16);
        self.count = if delta > 1 && lately { delta } else { 1 };
        self.last_count = self.count;
    }

    /// When the next drop is due after one at `at`: `interval / sqrt(count)` later.
    fn control_law(&self, config: &CodelConfig, at: Time) -> Time {
        let nanos = config.interval.as_nanos() as f64 / f64::from(self.count).sqrt();
        at + Span::from_nanos(nanos.round() as u64)
    }
}

/// Marks the packet at the head, or drops it.
fn signal(
    config: &CodelConfig,
    head: &Head,
    context: &mut QueueContext<'_>,
) -> Result<(), DropReason> {
    let Some(Dequeued { slot, .. }) = head.packet else { return Ok(()) };
    let signalled = context.signal(config.ecn, slot);
    if let Err(reason) = signalled {
        context.drop(slot, reason);
    }
    signalled
}

/// One first-in first-out line under CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    fifo: Fifo,
    config: CodelConfig,
    controller: Controller,
}

impl Codel {
    /// An empty queue of this capacity.
    pub fn new(limit: Limit, config: CodelConfig) -> Codel {
        Codel { fifo: Fifo::new(limit), config, controller: Controller::default() }
    }
}

impl QueueDiscipline for Codel {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        _: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        self.fifo.offer(now, slot)
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        self.controller.next(&self.config, now, &mut self.fifo, context)
    }

    fn length(&self) -> QueueLength {
        self.fifo.length()
    }

    /// The controller keeps its state, as in Linux's `codel_change`.
    fn adopt(&mut self, fresh: Codel) -> bool {
        self.fifo.set_capacity(fresh.fifo.capacity());
        self.config = fresh.config;
        true
    }
}

#[cfg(test)]
mod tests;
