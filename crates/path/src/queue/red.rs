//! RED (Floyd and Jacobson 1993): drops or marks at random, the more often the longer the queue has
//! been on average; gentle above the upper threshold (Floyd 2000); adaptive (Floyd, Gummadi and
//! Shenker 2001), which moves the largest probability so that the average stays half way.
//!
//! | file | what |
//! | --- | --- |
//! | `red.rs` | the queue, its drop probability and the spacing of drops |
//! | `red/average.rs` | the average, and what becomes of it while the queue is idle |
//! | `red/adapt.rs` | what the 2001 paper sets by itself: the largest probability, thresholds, weight |
//!
//! *Count*: the paper's analysis (§4) has `p_a = p_b / (1 - count * p_b)` with the packets taken
//! since the last drop, which makes the gap between drops uniform on 1 to 1/p_b; its listing adds
//! one to the count first. This follows the analysis. [`Spacing::Wait`] is ns-2's `wait_`: uniform
//! on 1/p_b to 2/p_b.
//!
//! *ns-2's defaults* as a set-up: `min_threshold`, `max_threshold` and `average_weight` absent,
//! `max_probability = 0.1`, `gentle = on`, `adaptive = off`, `spacing = wait`, `mean_packet = 500 B`,
//! and, from 2008 on, `count_in = bytes`. Two things differ: ns-2 lets the average decay as if
//! packets of 100 B had been sent while idle, and takes one more step at the next arrival.
//!
//! Not modelled: dropping another packet than the arriving one (ns-2's `drop_front_`,
//! `drop_rand_`); a link whose rate changes (idle time is counted at the configured rate).

mod adapt;
mod average;

use super::Queue;
use super::fifo::{Fifo, Limit};
use super::knobs::{ECN, LIMIT, QueueKnobs, QueuePlace, UnknownFlow};
use super::{Dequeued, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Keyword, Knobs, RandomStream, Rate, Ratio, Span, Time};
use adapt::Adaptation;
use average::Average;

use adapt::AutomaticRed;

/// Drops or marks arriving packets at random, by the average length of the queue
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "queue",
    name = "red",
    source = "Floyd and Jacobson 1993; adaptive: Floyd, Gummadi and Shenker 2001"
)]
pub struct RedKnobs {
    #[knob(like = LIMIT)]
    limit: Limit,
    /// min_th, packets: an average below it costs nothing; when absent, half of target_delay at the
    /// link's rate, but at least 5
    #[knob(min = 0.0, max = 1e6, source = "Floyd, Gummadi and Shenker 2001 §4.3")]
    min_threshold: Option<f64>,
    /// max_th, packets: the average at which the probability is the largest; when absent, three times
    /// min_threshold
    #[knob(min = 0.001, max = 1e6, source = "Floyd, Gummadi and Shenker 2001 §4.3")]
    max_threshold: Option<f64>,
    /// w_q: share of the newest length in the average (1993: 0.002); when absent, a time constant of
    /// one second
    #[knob(min = 1e-9, max = 1.0, source = "Floyd, Gummadi and Shenker 2001 Eq. 3")]
    average_weight: Option<f64>,
    /// Queueing delay from which absent thresholds follow
    #[knob(
        min = Span::from_micros(1), max = Span::from_secs(10), default = "5 ms",
        source = "Floyd, Gummadi and Shenker 2001 §4.3; ns-2's targetdelay_"
    )]
    target_delay: Span,
    /// max_p: probability at the upper threshold, or where it starts if adaptive
    #[knob(default = "10 %", source = "ns-2's linterm_ 10")]
    max_probability: Ratio,
    /// Above max_threshold the probability goes on to 1 at twice of it, in place of a jump
    #[knob(
        default = "on",
        source = "Floyd 2000, Recommendation on using the gentle variant of RED"
    )]
    gentle: bool,
    /// Whether max_p is moved so that the average stays half way between the thresholds
    #[knob(default = "off", source = "Floyd, Gummadi and Shenker 2001 §3")]
    adaptive: bool,
    /// Gaps between drops: uniform on 1 to 1/p packets, or on 1/p to 2/p
    #[knob(default = "uniform", source = "Floyd and Jacobson 1993 §4; ns-2's wait_")]
    spacing: Spacing,
    /// Whether a long packet counts more in the average and is dropped more often
    #[knob(default = "packets", source = "Floyd and Jacobson 1993 §4; ns-2's bytes_")]
    count_in: CountIn,
    /// Length of a typical packet
    #[knob(
        min = Bytes(1), max = Bytes(65_535), default = "1000 B",
        source = "Floyd and Jacobson 1993 §5; ns-2 has 500 B"
    )]
    mean_packet: Bytes,
    #[knob(like = ECN)]
    ecn: bool,
}

impl QueueKnobs for RedKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        let automatic = AutomaticRed::of(context.rate, self.mean_packet, self.target_delay);
        let min_threshold = self.min_threshold.unwrap_or(automatic.min_threshold);
        let max_threshold = self.max_threshold.unwrap_or(3.0 * min_threshold);
        Ok(Queue::of(Red::new(RedConfig {
            limit: self.limit,
            min_threshold,
            // Thresholds the wrong way round leave no range between them: a step at the lower one.
            max_threshold: max_threshold.max(min_threshold + 0.001),
            average_weight: self.average_weight.unwrap_or(automatic.average_weight),
            max_probability: self.max_probability.get(),
            gentle: self.gentle,
            adaptive: self.adaptive,
            spacing: self.spacing,
            count_in: self.count_in,
            mean_packet: self.mean_packet,
            rate: context.rate,
            ecn: self.ecn,
            stream: context.stream.clone(),
        })))
    }
}

/// How RED is set up.
#[derive(Clone, Debug)]
pub struct RedConfig {
    /// Capacity.
    pub limit: Limit,
    /// Below this average nothing is dropped, packets of the mean length.
    pub min_threshold: f64,
    /// At this average the probability is the largest; more than `min_threshold`.
    pub max_threshold: f64,
    /// w_q: the newest length's share in the average.
    pub average_weight: f64,
    /// max_p: the probability at the upper threshold.
    pub max_probability: f64,
    /// Whether the probability goes on to one at twice the upper threshold; every packet above it is
    /// dropped otherwise.
    pub gentle: bool,
    /// Whether max_p adapts.
    pub adaptive: bool,
    /// How drops are spread over packets.
    pub spacing: Spacing,
    /// What the average counts.
    pub count_in: CountIn,
    /// The length of a typical packet, for idle time and for counting in bytes.
    pub mean_packet: Bytes,
    /// The link's rate, for idle time.
    pub rate: Rate,
    /// Whether ECN-capable packets are marked in place of dropping.
    pub ecn: bool,
    /// Its own random numbers.
    pub stream: RandomStream,
}

/// How drops are spread over packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Spacing {
    /// The gap is uniform on 1 to 1/p_b.
    #[default]
    Uniform,
    /// Uniform on 1/p_b to 2/p_b.
    Wait,
}

/// What the average counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum CountIn {
    /// Packets.
    #[default]
    Packets,
    /// Bytes, in units of the mean packet; long packets are dropped more often in proportion.
    Bytes,
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    fifo: Fifo,
    config: RedConfig,
    average: Average,
    adaptation: Adaptation,
    /// Packets taken since the last drop or mark, while the average is above the threshold.
    count: u32,
}

impl Red {
    /// An empty queue.
    pub fn new(config: RedConfig) -> Red {
        Red {
            fifo: Fifo::new(config.limit),
            average: Average::new(config.average_weight, config.rate.time_for(config.mean_packet)),
            adaptation: Adaptation::new(&config),
            config,
            count: 0,
        }
    }

    /// The average length, in packets of the mean length.
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// max_p as it stands.
    pub fn max_probability(&self) -> f64 {
        self.adaptation.max_probability()
    }

    /// The length as the average counts it.
    fn counted_length(&self) -> f64 {
        let QueueLength { packets, bytes } = self.fifo.length();
        match self.config.count_in {
            CountIn::Packets => f64::from(packets),
            CountIn::Bytes => bytes.get() as f64 / self.config.mean_packet.get() as f64,
        }
    }

    /// p_b: the probability that follows from the average (1993 §4, gentle above).
    fn base_probability(&self) -> f64 {
        let RedConfig { min_threshold: min, max_threshold: max, .. } = self.config;
        let (average, max_p) = (self.average.value(), self.adaptation.max_probability());
        if average < min {
            0.0
        } else if average < max {
            max_p * (average - min) / (max - min)
        } else if self.config.gentle && average < 2.0 * max {
            max_p + (1.0 - max_p) * (average - max) / max
        } else {
            1.0
        }
    }

    /// Whether the arriving packet is to be dropped or marked.
    fn signals(&mut self, ip_len: u32) -> bool {
        let mut base = self.base_probability();
        if base <= 0.0 {
            self.count = 0;
            return false;
        }
        if base < 1.0 && self.config.count_in == CountIn::Bytes {
            base = (base * f64::from(ip_len) / self.config.mean_packet.get() as f64).min(1.0);
        }
        let signal = self.config.stream.unit() < spaced(base, self.count, self.config.spacing);
        self.count = if signal { 0 } else { self.count + 1 };
        signal
    }
}

/// p_a: the probability for the packet after `count` spared ones.
fn spaced(base: f64, count: u32, spacing: Spacing) -> f64 {
    let so_far = f64::from(count) * base;
    let (from, until) = match spacing {
        Spacing::Uniform => (0.0, 1.0),
        Spacing::Wait => (1.0, 2.0),
    };
    if base >= 1.0 {
        1.0
    } else if so_far < from {
        0.0
    } else if so_far < until {
        // Rounding must not leave a sliver of a chance when one is due.
        (base / (until - so_far)).min(1.0)
    } else {
        1.0
    }
}

impl QueueDiscipline for Red {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        self.adaptation.catch_up(now, &self.average);
        self.average.arrival(now, self.counted_length());
        if !self.fifo.has_room_for(slot.ip_len) {
            self.count = 0;
            return Err(DropReason::QueueFull);
        }
        if self.signals(slot.ip_len) {
            // Where every packet is signalled, senders have not listened to marks.
            context.signal(self.config.ecn && self.base_probability() < 1.0, slot)?;
        }
        self.average.busy();
        self.fifo.offer(now, slot)
    }

    fn dequeue(&mut self, now: Time, _: &mut QueueContext<'_>) -> Option<Dequeued> {
        let dequeued = self.fifo.pop(now)?;
        if self.fifo.length().packets == 0 {
            let sent = Bytes(u64::from(dequeued.slot.ip_len));
            self.average.idle_from(now + self.config.rate.time_for(sent));
        }
        Some(dequeued)
    }

    fn length(&self) -> QueueLength {
        self.fifo.length()
    }

    /// The average, an adapted max_p and the random numbers continue.
    fn adopt(&mut self, fresh: Red) -> bool {
        self.fifo.set_capacity(fresh.fifo.capacity());
        self.average.adopt(&fresh.average);
        let is_set = fresh.config.max_probability != self.config.max_probability;
        self.adaptation.adopt(&fresh.adaptation, is_set || !fresh.config.adaptive);
        self.config = RedConfig { stream: self.config.stream.clone(), ..fresh.config };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_uniform_by_the_papers_formula() {
        // P(gap = n) = p_a(n-1) * product of the chances to be spared before; 1/p_b = 20.
        for (spacing, range) in [(Spacing::Uniform, 1..=20), (Spacing::Wait, 21..=40)] {
            let mut spared = 1.0;
            for gap in 1..=40_u32 {
                let chance = spaced(0.05, gap - 1, spacing);
                let exactly = spared * chance;
                spared *= 1.0 - chance;
                let expected = if range.contains(&gap) { 0.05 } else { 0.0 };
                assert!((exactly - expected).abs() < 1e-12, "{spacing:?} {gap}: {exactly}");
            }
            assert!(spared.abs() < 1e-12);
        }
    }
}
