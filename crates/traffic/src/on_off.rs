//! Bursts at a rate, with silence in between.
//!
//! During a burst messages are written at regular intervals, as the application makes them; what TCP
//! cannot take when it is made is written as soon as it can, so a burst on a slow path lasts longer.
//! A transfer is a burst: it is complete when the other end has all of it.

use crate::knobs::{LEAST, MOST, OFF, ON, ON_DISTRIBUTION, RATE, SET_BY_SCENARIO, lengths, pause};
use crate::lengths::Script;
use crate::transfers::Collector;
use crate::{
    Application, Distribution, DrawBudget, Offer, Socket, Workload, WorkloadKnobs, Workloads,
};
use crate::{Draw, Step};
use ackord_units::{Bytes, Knobs, RandomStream, Rate, Span, Time};

/// The end that sends bursts.
#[derive(Clone, Debug)]
pub struct OnOff {
    bursts: Script,
    message: Bytes,
    rate: Rate,
    silence: Draw,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the connection is established.
    Before,
    Off {
        until: Time,
    },
    On {
        /// Of the burst, not yet made.
        left: Bytes,
        /// When the next message is made, or after the last one when the burst ends.
        next_at: Time,
        /// Made, and not yet written.
        backlog: Bytes,
    },
}

impl OnOff {
    pub(crate) fn new(bursts: Script, message: Bytes, rate: Rate, silence: Draw) -> OnOff {
        OnOff { bursts, message, rate, silence, phase: Phase::Before }
    }
}

impl Application for OnOff {
    fn start(&mut self, now: Time) {
        self.phase = Phase::Off { until: now };
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        if let Phase::On { left: Bytes::ZERO, next_at, backlog: Bytes::ZERO } = self.phase {
            let end = next_at.max(now);
            let silence = if self.bursts.is_over() { 0 } else { self.silence.draw() };
            // The FIN follows the last byte at once.
            let from = if self.bursts.is_over() { now } else { end };
            self.phase = Phase::Off { until: from + Span::from_nanos(silence) };
        }
        match self.phase {
            Phase::Off { until } if until <= now => match self.bursts.next() {
                None => Step::Close,
                Some(burst) => {
                    let (left, backlog) = (burst.bytes, Bytes::ZERO);
                    self.phase = Phase::On { left, next_at: now, backlog };
                    Step::Began(burst)
                }
            },
            Phase::Before | Phase::Off { .. } => Step::Wait,
            Phase::On { left, next_at, backlog } => {
                let (mut left, mut next_at, mut backlog) = (left, next_at, backlog);
                if backlog == Bytes::ZERO && next_at <= now {
                    backlog = self.message.min(left);
                    left -= backlog;
                    next_at += self.rate.time_for(backlog);
                }
                let bytes = backlog.min(writable);
                backlog -= bytes;
                self.phase = Phase::On { left, next_at, backlog };
                if bytes == Bytes::ZERO { Step::Wait } else { Step::Write(bytes) }
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            Phase::Off { until } => Some(until),
            Phase::On { next_at, backlog: Bytes::ZERO, .. } => Some(next_at),
            Phase::Before | Phase::On { .. } => None,
        }
    }

    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        self.bursts.size(budget)
    }
}

/// Writes messages at a rate during bursts, with silence in between
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "on-off",
    source = "the exponential and Pareto on/off sources of ns-2; Willinger et al. 1997 for the Pareto form"
)]
pub struct OnOffKnobs {
    #[knob(like = RATE)]
    rate: Rate,
    /// Length of a message, the last of a burst excepted
    #[knob(min = LEAST, max = MOST, default = "1000 B", source = SET_BY_SCENARIO)]
    message: Bytes,
    #[knob(like = ON)]
    on: Span,
    #[knob(like = ON_DISTRIBUTION)]
    on_distribution: Distribution,
    #[knob(like = OFF, default = "1 s")]
    off: Span,
    #[knob(like = ON_DISTRIBUTION)]
    off_distribution: Distribution,
    /// How many bursts before the connection is closed; no end when absent
    #[knob(min = 1, max = 1_000_000, unit = "bursts", source = SET_BY_SCENARIO)]
    count: Option<u64>,
}

impl WorkloadKnobs for OnOffKnobs {
    fn offer(&self) -> Offer {
        Offer { rate: Some(self.rate.as_bits_per_sec() as f64 / 8.0), write: Some(self.message) }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let mean = self.rate.bytes_in(self.on).get().max(1);
        let lengths = lengths(Bytes(mean), self.on_distribution, stream("lengths"));
        let bursts = Script::new(lengths, self.count);
        let silence = pause(self.off, self.off_distribution, stream("pauses"));
        let source = OnOff::new(bursts.clone(), self.message, self.rate, silence);
        Workloads { sends: Workload::of(source), receives: Workload::of(Collector::new(bursts)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transfer;
    use crate::lengths::Lengths;
    use crate::testing::{Fixed, at, room};
    use ackord_units::RandomStream;

    const ROOM: Fixed = room(Bytes(10_000));

    /// 1000 B every 8 ms.
    fn source(lengths: &[u64], count: u64) -> OnOff {
        let lengths = Lengths::listed(lengths.iter().copied().map(Bytes).collect());
        let silence = Span::from_millis(100).as_nanos();
        let silence =
            Draw::new(silence, Distribution::Fixed, RandomStream::for_element(1, "silence"));
        let bursts = Script::new(lengths, Some(count));
        OnOff::new(bursts, Bytes(1_000), Rate::from_mbits_per_sec(1), silence)
    }

    #[test]
    fn a_burst_is_made_at_its_rate_and_silence_follows_its_end() {
        let mut source = source(&[1_500], 2);
        source.start(at(0));
        assert_eq!(source.size(&mut DrawBudget::default()), Some(Bytes(3_000)));
        let burst = |index| Transfer { index, bytes: Bytes(1_500) };
        assert_eq!(source.next(at(0), &ROOM), Step::Began(burst(0)));
        assert_eq!(source.next(at(0), &ROOM), Step::Write(Bytes(1_000)));
        assert_eq!((source.next(at(0), &ROOM), source.deadline()), (Step::Wait, Some(at(8))));
        assert_eq!(source.next(at(8), &ROOM), Step::Write(Bytes(500)));
        // 500 B take 4 ms, and then 100 ms of silence.
        assert_eq!((source.next(at(8), &ROOM), source.deadline()), (Step::Wait, Some(at(112))));
        assert_eq!(source.next(at(112), &ROOM), Step::Began(burst(1)));
        assert_eq!(source.next(at(112), &ROOM), Step::Write(Bytes(1_000)));
        assert_eq!(source.next(at(120), &ROOM), Step::Write(Bytes(500)));
        assert_eq!(source.next(at(120), &ROOM), Step::Close);
    }

    #[test]
    fn what_tcp_cannot_take_is_written_later_and_the_burst_lasts_longer() {
        let mut source = source(&[2_000], 2);
        source.start(at(0));
        assert!(matches!(source.next(at(0), &ROOM), Step::Began(_)));
        assert_eq!(source.next(at(0), &room(Bytes(400))), Step::Write(Bytes(400)));
        assert_eq!((source.next(at(0), &room(Bytes::ZERO)), source.deadline()), (Step::Wait, None));
        assert_eq!(source.next(at(50), &ROOM), Step::Write(Bytes(600)));
        assert_eq!(source.next(at(50), &ROOM), Step::Write(Bytes(1_000)), "due at 8 ms");
        assert_eq!((source.next(at(50), &ROOM), source.deadline()), (Step::Wait, Some(at(150))));
    }
}
