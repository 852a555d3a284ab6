//! PIE (RFC 8033): drops arriving packets at random with a probability that a controller moves
//! every 15 ms, by how far the queueing delay is from its target and by how it changes.
//!
//! | file | what |
//! | --- | --- |
//! | `pie.rs` | the queue: who is dropped (§4.1, §5.1, §5.4) |
//! | `pie/control.rs` | the probability (§4.2), its scaling, the burst allowance (§4.4) |
//! | `pie/delay.rs` | the queueing delay: from timestamps or from the departure rate (§4.3, §5.2) |
//!
//! The queue has no timer: every call first does the updates that were due before it, at the
//! instants at which they would have happened, multiples of T_UPDATE. Between calls nothing that
//! they read changes, but for the time, so nothing depends on when the queue is called.
//!
//! *ECN* (§5.1): a packet is marked in place of being dropped while the probability is at most 10 %.
//!
//! Not modelled: switching PIE off while the link is idle (§5.3, optional; the probability decays
//! to zero there by itself); probabilities in proportion to a packet's length (RFC 8034 has them).

mod control;
mod delay;

use super::Queue;
use super::codel::TARGET;
use super::fifo::{Fifo, Limit};
use super::knobs::{ECN, LIMIT, QueueKnobs, QueuePlace, UnknownFlow};
use super::{Dequeued, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Knobs, RandomStream, Ratio, Span, Time};
use control::Control;
use delay::Delay;

pub use delay::DelayEstimate;

/// Drops or marks arriving packets with a probability that follows the queueing delay
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "pie", source = "RFC 8033")]
pub struct PieKnobs {
    /// Capacity, without the packet being transmitted; CoDel is to keep the queue shorter
    #[knob(like = LIMIT, default = "1000 packets", source = "Linux's pie")]
    limit: Limit,
    #[knob(like = TARGET, default = "15 ms", source = "RFC 8033 §4.2 (QDELAY_REF)")]
    target: Span,
    /// How often the probability is worked out
    #[knob(
        min = Span::from_micros(100), max = Span::from_secs(10), default = "15 ms",
        source = "RFC 8033 §4.2 (T_UPDATE)"
    )]
    update_every: Span,
    /// How long nothing is dropped after the queue has begun to fill
    #[knob(
        min = Span::ZERO, max = Span::from_secs(60), default = "150 ms",
        source = "RFC 8033 §4.4 (MAX_BURST)"
    )]
    burst: Span,
    /// How the probability follows the distance from the target, per second
    #[knob(min = 0.0, max = 1_000.0, default = "0.125", source = "RFC 8033 §4.2")]
    alpha: f64,
    /// How the probability follows the change of the delay, per second
    #[knob(min = 0.0, max = 1_000.0, default = "1.25", source = "RFC 8033 §4.2")]
    beta: f64,
    /// Whether drops are kept from following at once on one another, or failing to come
    #[knob(default = "on", source = "RFC 8033 §5.4")]
    derandomise: bool,
    /// Whether the delay is how long the last packet waited, or the length over the measured rate
    #[knob(default = "timestamps", source = "RFC 8033 §4.3, §5.2")]
    delay_from: DelayEstimate,
    /// Nothing is dropped while no more than two of them wait
    #[knob(
        min = Bytes(1), max = Bytes(65_535), default = "1500 B",
        source = "RFC 8033 §4.1 (MEAN_PKTSIZE)"
    )]
    mean_packet: Bytes,
    #[knob(like = ECN)]
    ecn: bool,
    /// Above this probability ECN-capable packets are dropped all the same
    #[knob(default = "10 %", source = "RFC 8033 §5.1 (mark_ecnth)")]
    ecn_up_to: Ratio,
}

impl QueueKnobs for PieKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        Ok(Queue::of(Pie::new(PieConfig {
            limit: self.limit,
            target: self.target,
            update_every: self.update_every,
            burst: self.burst,
            alpha: self.alpha,
            beta: self.beta,
            derandomise: self.derandomise,
            delay: self.delay_from,
            mean_packet: self.mean_packet,
            ecn: self.ecn,
            ecn_up_to: self.ecn_up_to.get(),
            stream: context.stream.clone(),
        })))
    }
}

/// How PIE is set up.
#[derive(Clone, Debug)]
pub struct PieConfig {
    /// Capacity.
    pub limit: Limit,
    /// QDELAY_REF.
    pub target: Span,
    /// T_UPDATE; not zero.
    pub update_every: Span,
    /// MAX_BURST: nothing is dropped for so long after the queue has begun to fill.
    pub burst: Span,
    /// alpha, per second of delay.
    pub alpha: f64,
    /// beta, per second of delay.
    pub beta: f64,
    /// Whether drops are kept from clustering and from failing to come (§5.4).
    pub derandomise: bool,
    /// Where the queueing delay comes from.
    pub delay: DelayEstimate,
    /// MEAN_PKTSIZE: with no more than two of them waiting nothing is dropped.
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked in place of dropping.
    pub ecn: bool,
    /// mark_ecnth: above this probability they are dropped all the same.
    pub ecn_up_to: f64,
    /// Its own random numbers.
    pub stream: RandomStream,
}

/// Proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    fifo: Fifo,
    config: PieConfig,
    control: Control,
    delay: Delay,
    next_update_at: Time,
    /// accu_prob: probabilities summed up since the last drop.
    accumulated: f64,
}

/// The accumulated probability below which nothing is dropped, and at which something is.
const SPARED_BELOW: f64 = 0.85;
const DUE_AT: f64 = 8.5;

impl Pie {
    /// An empty queue.
    pub fn new(config: PieConfig) -> Pie {
        Pie {
            fifo: Fifo::new(config.limit),
            control: Control::new(&config),
            delay: Delay::new(config.delay),
            next_update_at: Time::ZERO + config.update_every,
            accumulated: 0.0,
            config,
        }
    }

    /// Does the updates that were due before `now`.
    fn catch_up(&mut self, now: Time) {
        while self.next_update_at <= now {
            let delay = self.delay.current(self.fifo.length().bytes);
            self.control.update(delay);
            self.next_update_at += self.config.update_every;
            if self.control.is_at_rest() && self.next_update_at <= now {
                // Nothing changes until a packet comes: skip to the last one due.
                let every = self.config.update_every.as_nanos();
                let missed = now.saturating_since(self.next_update_at).as_nanos() / every;
                self.next_update_at += self.config.update_every.saturating_mul(missed);
            }
        }
    }

    /// `drop_early()` of RFC 8033 §4.1 and §5.4.
    fn drops_early(&mut self) -> bool {
        let probability = self.control.probability();
        let few = self.fifo.length().bytes.get() <= 2 * self.config.mean_packet.get();
        if (self.control.last_delay() < self.config.target / 2 && probability < 0.2) || few {
            return false;
        }
        if self.config.derandomise {
            if probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += probability;
            if self.accumulated < SPARED_BELOW {
                return false;
            }
            if self.accumulated >= DUE_AT {
                self.accumulated = 0.0;
                return true;
            }
        }
        let drop = self.config.stream.unit() < probability;
        if drop {
            self.accumulated = 0.0;
        }
        drop
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        self.catch_up(now);
        if !self.fifo.has_room_for(slot.ip_len) {
            self.accumulated = 0.0;
            return Err(DropReason::QueueFull);
        }
        if !self.control.allows_bursts() && self.drops_early() {
            let marks = self.control.probability() <= self.config.ecn_up_to;
            context.signal(self.config.ecn && marks, slot)?;
        }
        self.control.renew_burst(self.delay.current(self.fifo.length().bytes));
        self.fifo.offer(now, slot)
    }

    fn dequeue(&mut self, now: Time, _: &mut QueueContext<'_>) -> Option<Dequeued> {
        self.catch_up(now);
        let before = self.fifo.length().bytes;
        let dequeued = self.fifo.pop(now)?;
        self.delay.departed(now, dequeued, before);
        Some(dequeued)
    }

    fn length(&self) -> QueueLength {
        self.fifo.length()
    }

    /// The probability and the random numbers continue; the source of the delay stays.
    fn adopt(&mut self, fresh: Pie) -> bool {
        if fresh.config.delay != self.config.delay {
            return false;
        }
        self.fifo.set_capacity(fresh.fifo.capacity());
        self.control.adopt(fresh.control);
        self.config = PieConfig { stream: self.config.stream.clone(), ..fresh.config };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Packets;
    use crate::queue::testing::packet;

    fn pie() -> Pie {
        Pie::new(PieConfig {
            limit: Limit::Packets(100),
            target: Span::from_millis(15),
            update_every: Span::from_millis(15),
            burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            derandomise: true,
            delay: DelayEstimate::Timestamps,
            mean_packet: Bytes(0),
            ecn: false,
            ecn_up_to: 0.1,
            stream: RandomStream::for_element(1, "links/test/queue"),
        })
    }

    #[test]
    fn updates_happen_at_their_instants_however_late_the_call() {
        let busy = || {
            let mut pie = pie();
            pie.control.update(Span::from_millis(300));
            pie
        };
        let (mut often, mut once) = (busy(), busy());
        for micros in (0..2_000_000).step_by(333) {
            often.catch_up(Time::ZERO + Span::from_micros(micros));
        }
        often.catch_up(Time::ZERO + Span::from_secs(2));
        once.catch_up(Time::ZERO + Span::from_secs(2));
        assert_eq!(format!("{:?}", often.control), format!("{:?}", once.control));
        assert_eq!(often.next_update_at, once.next_update_at);
        // 2 s are 133.3 times 15 ms.
        assert_eq!(once.next_update_at, Time::ZERO + Span::from_millis(134 * 15));
    }

    #[test]
    fn a_long_rest_is_skipped_to_the_same_instant() {
        let mut pie = pie();
        pie.catch_up(Time::ZERO + Span::from_secs(1_000_000));
        assert!(pie.control.is_at_rest());
        let late = pie.next_update_at.saturating_since(Time::ZERO + Span::from_secs(1_000_000));
        assert!(late > Span::ZERO && late <= Span::from_millis(15));
        assert_eq!(pie.next_update_at.as_nanos() % 15_000_000, 0);
    }

    /// Gaps between drops at a standing probability.
    fn gaps(derandomise: bool, probability: f64) -> Vec<u32> {
        let mut pie = pie();
        pie.config.derandomise = derandomise;
        pie.control.probability = probability;
        pie.control.last_delay = Span::from_millis(20);
        pie.control.burst = Span::ZERO;
        pie.fifo = Fifo::new(Limit::Packets(1));
        let mut packets = Packets::default();
        let slot = packets.insert(&packet(1_500));
        pie.fifo.offer(Time::ZERO, slot).expect("room for one");
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 4_000 {
            gap += 1;
            if pie.drops_early() {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    }

    #[test]
    fn derandomised_drops_neither_cluster_nor_fail_to_come() {
        // At 1/16 none of the first 13 packets is dropped, as 13/16 is below 0.85, and the 136th
        // is, at 136/16 = 8.5; between them each with 1/16, so a gap is 13 + 16 on average.
        let gaps = gaps(true, 0.0625);
        assert!(gaps.iter().all(|gap| (14..=136).contains(gap)));
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        // Standard deviation of a geometric gap 15.5, of the mean of 4000 0.25; five of them.
        assert!((mean - 29.0).abs() < 1.3, "{mean}");
    }

    #[test]
    fn without_it_each_packet_is_judged_by_itself() {
        let gaps = gaps(false, 0.05);
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 20.0).abs() < 1.6, "{mean}");
        let at_once = gaps.iter().filter(|&&gap| gap == 1).count();
        // Binomial(4000, 0.05): 200 with a standard deviation of 14; five of them.
        assert!(at_once.abs_diff(200) < 70, "{at_once}");
    }
}
