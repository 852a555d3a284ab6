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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Packets;
    use crate::queue::DropList;
    use crate::queue::testing::packet;
    use ackord_wire::{Ecn, Packet};

    const CONFIG: CodelConfig = CodelConfig {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        mtu: Bytes(1_500),
        ecn: false,
        ce_threshold: None,
    };

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A controller over a line that never ends and whose packets have all waited as long as it is
    /// told.
    struct Bench {
        config: CodelConfig,
        controller: Controller,
        packets: Packets,
        drops: DropList,
        endless: Endless,
    }

    struct Endless {
        slot: Slot,
        waited: Span,
        bytes: u64,
    }

    impl Source for Endless {
        fn pop(&mut self, _now: Time) -> Option<Dequeued> {
            Some(Dequeued { slot: self.slot, waited: self.waited })
        }

        fn bytes(&self) -> u64 {
            self.bytes
        }
    }

    impl Bench {
        fn new(config: CodelConfig, ecn: Ecn) -> Bench {
            let mut packets = Packets::default();
            let slot = packets.insert(&Packet { ecn, ..packet(1_500) });
            let (controller, drops) = (Controller::default(), DropList::default());
            let endless = Endless { slot, waited: Span::ZERO, bytes: 100_000 };
            Bench { config, controller, packets, drops, endless }
        }

        /// A departure at `now` of packets that waited `millis`; how many were dropped before it.
        fn depart(&mut self, now: Time, millis: u64) -> usize {
            self.endless.waited = Span::from_millis(millis);
            let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
            let gone = self.controller.next(&self.config, now, &mut self.endless, context);
            assert!(gone.is_some());
            std::mem::take(&mut self.drops.dropped).len()
        }

        /// A departure every millisecond; the milliseconds at which one packet was dropped.
        fn drops(&mut self, from: u64, to: u64, waited_millis: u64) -> Vec<u64> {
            let mut times = Vec::new();
            for now in from..to {
                times.extend(vec![now; self.depart(at(now), waited_millis)]);
            }
            times
        }
    }

    #[test]
    fn drops_come_at_the_interval_over_the_square_root_of_the_count() {
        let mut bench = Bench::new(CONFIG, Ecn::NotEct);
        // Above the target from 0 on: an interval later the first drop. The next are due 100 ms
        // later, then 100/sqrt(2) = 70.71, 57.74, 50, 44.72, 40.82, 37.80, 35.36, 33.33 ms:
        // 200, 270.71, 328.45, 378.45, 423.17, 463.99, 501.79, 537.14, 570.48 ms.
        let by_hand = [100, 200, 271, 329, 379, 424, 464, 502, 538, 571];
        assert_eq!(bench.drops(0, 580, 6), by_hand);
    }

    #[test]
    fn the_target_itself_counts_as_above_and_just_below_it_nothing_happens() {
        assert_eq!(Bench::new(CONFIG, Ecn::NotEct).drops(0, 150, 5), [100]);
        assert_eq!(Bench::new(CONFIG, Ecn::NotEct).drops(0, 5_000, 4), [] as [u64; 0]);
    }

    #[test]
    fn one_packet_below_the_target_starts_the_interval_anew() {
        let mut bench = Bench::new(CONFIG, Ecn::NotEct);
        assert_eq!(bench.drops(0, 99, 6), [] as [u64; 0]);
        bench.depart(at(99), 4);
        assert_eq!(bench.drops(100, 210, 6), [200]);
    }

    #[test]
    fn a_line_of_one_mtu_is_left_alone() {
        for (bytes, expected) in [(1_500, vec![]), (1_501, vec![100])] {
            let mut bench = Bench::new(CONFIG, Ecn::NotEct);
            bench.endless.bytes = bytes;
            assert_eq!(bench.drops(0, 150, 50), expected, "{bytes} B behind the packet");
        }
    }

    #[test]
    fn a_late_departure_makes_up_for_the_drops_that_were_due() {
        let mut bench = Bench::new(CONFIG, Ecn::NotEct);
        assert_eq!(bench.drops(0, 101, 6), [100]);
        // 200, 270.71 and 328.45 ms have passed.
        assert_eq!(bench.depart(at(350), 6), 3);
    }

    #[test]
    fn soon_after_the_last_drop_the_count_goes_on_where_it_was() {
        let mut bench = Bench::new(CONFIG, Ecn::NotEct);
        // Drops at 100, 200, 271, 329 and 379 ms: a count of 5, begun with 1. Then it ends.
        assert_eq!(bench.drops(0, 400, 6).len(), 5);
        bench.depart(at(400), 1);
        // Again above from 401 on: 501 the first; the count is 5 - 1 = 4, so the next follows
        // 100/sqrt(4) = 50 ms later, then 100/sqrt(5) = 44.72 ms.
        assert_eq!(bench.drops(401, 600, 6), [501, 551, 596]);
        // The count ended at 6, begun with 4. Next time it would be 2; but 16 intervals after
        // the drop that was due, it is 1.
        bench.depart(at(600), 1);
        assert_eq!(bench.drops(2_300, 2_550, 6), [2_400, 2_500]);
    }

    #[test]
    fn ecn_capable_packets_are_marked_at_the_same_instants() {
        let config = CodelConfig { ecn: true, ..CONFIG };
        let mut bench = Bench::new(config, Ecn::Ect0);
        let mut marks = Vec::new();
        for now in 0..400 {
            let slot = bench.endless.slot;
            bench.packets[slot].ecn = Ecn::Ect0;
            assert_eq!(bench.depart(at(now), 6), 0, "nothing is dropped");
            if bench.packets[slot].ecn == Ecn::Ce {
                marks.push(now);
            }
        }
        assert_eq!(marks, [100, 200, 271, 329, 379]);
        assert_eq!(bench.drops.marked, 5);
        assert_eq!(Bench::new(config, Ecn::NotEct).drops(0, 250, 6), [100, 200]);
    }

    #[test]
    fn above_the_ce_threshold_every_capable_packet_is_marked() {
        let ce_threshold = Some(Span::from_millis(1));
        let mut bench = Bench::new(CodelConfig { ce_threshold, ..CONFIG }, Ecn::Ect1);
        let marked = |bench: &mut Bench, now, millis| {
            let slot = bench.endless.slot;
            bench.packets[slot].ecn = Ecn::Ect1;
            bench.depart(at(now), millis);
            bench.packets[slot].ecn == Ecn::Ce
        };
        assert!(!marked(&mut bench, 0, 1));
        assert!(marked(&mut bench, 1, 2));
        let mut incapable = Bench::new(bench.config, Ecn::NotEct);
        incapable.depart(at(0), 2);
        assert_eq!(incapable.drops.marked, 0);
    }
}
