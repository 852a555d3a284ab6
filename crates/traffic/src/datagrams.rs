//! Datagrams at a rate, whatever becomes of them: traffic that does not respond to congestion.
//!
//! Packets leave at regular intervals, or as a Poisson process of the same mean, always or in bursts
//! with silence in between. Nobody acknowledges anything and nothing is retransmitted.
//!
//! Not modelled: packets of different lengths; ECN (the packets are not ECN-capable); a receiver that
//! plays them out.

use crate::Draw;
use crate::knobs::{OFF, ON, ON_DISTRIBUTION, RATE, SET_BY_SCENARIO, pause};
use crate::{Distribution, Offer, Transport, Workload, WorkloadKnobs, Workloads};
use ackord_units::{Bytes, Knob, KnobKind, Knobs, RandomStream, Rate, Span, Time};

/// Bytes of IPv4 and UDP header in front of the payload.
pub const DATAGRAM_HEADERS: Bytes = Bytes(28);

/// The sending end of a datagram flow.
#[derive(Clone, Debug)]
pub struct Datagrams {
    packet: Bytes,
    gap: Draw,
    bursts: Option<Bursts>,
    next_at: Time,
    /// When the burst under way ends.
    until: Time,
}

/// How long a source sends, and how long it then is silent; nanoseconds.
#[derive(Clone, Debug)]
pub struct Bursts {
    /// Of a burst.
    pub on: Draw,
    /// Of the silence after it.
    pub off: Draw,
}

impl Datagrams {
    /// IP packets of length `packet`, headers included. `gap` draws the nanoseconds from one to
    /// the next.
    pub fn new(packet: Bytes, gap: Draw, bursts: Option<Bursts>) -> Datagrams {
        Datagrams { packet, gap, bursts, next_at: Time::NEVER, until: Time::NEVER }
    }

    /// The gap from packet to packet with which packets of this length make this rate.
    pub fn gap_of(packet: Bytes, rate: Rate) -> Span {
        rate.time_for(packet)
    }

    /// Its first burst begins.
    pub fn start(&mut self, now: Time) {
        self.next_at = now;
        if let Some(bursts) = &mut self.bursts {
            self.until = now + Span::from_nanos(bursts.on.draw());
        }
    }

    /// When the next packet leaves; [`Time::NEVER`] before the start.
    pub fn deadline(&self) -> Time {
        self.next_at
    }

    /// The packet that leaves at `now`, if one is due: its length with headers.
    pub fn next(&mut self, now: Time) -> Option<Bytes> {
        if self.next_at > now {
            return None;
        }
        // A mean of no time at all would send for ever at one instant.
        let gap = self.gap.draw().max(1);
        self.next_at += Span::from_nanos(gap);
        if let Some(bursts) = &mut self.bursts {
            while self.next_at >= self.until {
                self.next_at = self.until + Span::from_nanos(bursts.off.draw());
                // A burst shorter than a nanosecond has no packet.
                self.until = self.next_at + Span::from_nanos(bursts.on.draw().max(1));
            }
        }
        Some(self.packet)
    }
}

/// Datagrams (UDP) at a constant rate, whatever becomes of them: unresponsive traffic
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "traffic", name = "cbr", source = "the CBR source of ns-2; RFC 7928 §5.3")]
pub struct CbrKnobs {
    /// Rate of whole IP packets while it sends
    #[knob(like = RATE)]
    rate: Rate,
    /// Length of an IP packet, its 28 bytes of IPv4 and UDP header included
    #[knob(
        min = Bytes(29), max = Bytes(65_535), default = "1000 B", source = SET_BY_SCENARIO
    )]
    packet: Bytes,
    #[knob(like = TIMING)]
    timing: Distribution,
    #[knob(like = ON)]
    on: Span,
    #[knob(like = ON_DISTRIBUTION)]
    on_distribution: Distribution,
    /// Mean length of the silence after a burst; none: it always sends
    #[knob(like = OFF)]
    off: Span,
    #[knob(like = ON_DISTRIBUTION)]
    off_distribution: Distribution,
}

const TIMING: Knob = Knob {
    name: "timing",
    kind: KnobKind::Choice(&["fixed", "exponential"]),
    default: "fixed",
    doc: "Whether packets leave at regular intervals or as a Poisson process",
    source: SET_BY_SCENARIO,
};

impl WorkloadKnobs for CbrKnobs {
    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn offer(&self) -> Offer {
        Offer { rate: Some(self.rate.as_bits_per_sec() as f64 / 8.0), write: Some(self.packet) }
    }

    fn build(&self, _stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        Workloads::one_way(Workload::Idle)
    }

    fn datagrams(&self, stream: &dyn Fn(&str) -> RandomStream) -> Option<Datagrams> {
        let gap = Datagrams::gap_of(self.packet, self.rate).as_nanos();
        let gap = Draw::new(gap, self.timing, stream("gaps"));
        let bursts = (self.off != Span::ZERO).then(|| Bursts {
            on: pause(self.on, self.on_distribution, stream("bursts")),
            off: pause(self.off, self.off_distribution, stream("silences")),
        });
        Some(Datagrams::new(self.packet, gap, bursts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use ackord_units::RandomStream;

    fn draw(span: Span, distribution: Distribution, of: &str) -> Draw {
        Draw::new(span.as_nanos(), distribution, RandomStream::for_element(9, of))
    }

    /// 1000 B at 1 Mbit/s: 8 ms apart.
    fn source(distribution: Distribution, bursts: Option<Bursts>) -> Datagrams {
        let gap = Datagrams::gap_of(Bytes(1_000), Rate::from_mbits_per_sec(1));
        Datagrams::new(Bytes(1_000), draw(gap, distribution, "gaps"), bursts)
    }

    /// When packets leave up to `end`.
    fn sent(mut source: Datagrams, end: Time) -> Vec<Time> {
        source.start(Time::ZERO);
        let mut times = Vec::new();
        while source.deadline() < end {
            let now = source.deadline();
            assert_eq!(source.next(now), Some(Bytes(1_000)));
            assert_eq!(source.next(now), None, "one at a time");
            times.push(now);
        }
        times
    }

    #[test]
    fn packets_leave_at_the_rate_and_at_regular_intervals() {
        let times = sent(source(Distribution::Fixed, None), at(1_000));
        assert_eq!(times.len(), 125);
        assert_eq!(times[..3], [at(0), at(8), at(16)]);
    }

    #[test]
    fn a_poisson_process_has_the_rate_and_gaps_as_spread_as_their_mean() {
        let times = sent(source(Distribution::Exponential, None), at(80_000));
        // 10 000 packets with a standard deviation of 100; four of them.
        assert!(times.len().abs_diff(10_000) < 400, "{}", times.len());
        let short = times.windows(2).filter(|pair| pair[1] - pair[0] < Span::from_millis(8));
        // 1 - 1/e of the gaps are shorter than the mean.
        let share = short.count() as f64 / times.len() as f64;
        assert!((share - 0.632).abs() < 0.02, "{share}");
    }

    #[test]
    fn nothing_leaves_in_the_silence_between_bursts() {
        let fixed = |millis, of| draw(Span::from_millis(millis), Distribution::Fixed, of);
        let bursts = Bursts { on: fixed(40, "on"), off: fixed(60, "off") };
        let times = sent(source(Distribution::Fixed, Some(bursts)), at(1_000));
        assert_eq!(times.len(), 50, "five in each of ten bursts");
        assert_eq!(times[4..6], [at(32), at(100)]);
    }
}
