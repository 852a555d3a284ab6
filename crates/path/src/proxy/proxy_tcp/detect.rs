//! The round trip from the box over the wireless link and back, and from it how long the mobile
//! host may be silent before the link counts as faded.
//!
//! The estimate is RFC 6298's with one change: the deviation grows with every sample and shrinks
//! once per round trip at most. Acknowledgments come many to a round trip, and their samples are
//! alike; averaged one by one they would make the deviation vanish between two bursts of jitter.
//!
//! A sample is a segment that passed once, until the acknowledgment that covers it and nothing that
//! was sent twice (Karn's rule). It holds the wait in the wireless queue, so a queue that fills up
//! puts the timeout off.

use ackord_units::{Span, Time};

/// The wireless round trip as a box sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct WirelessTrip {
    /// RFC 6298's SRTT.
    smoothed: Option<Span>,
    /// RFC 6298's RTTVAR.
    deviation: Span,
    least: Option<Span>,
    /// The longest lately: what a full queue makes of it.
    most: Span,
    last: Span,
    /// The deviation does not shrink before this.
    steady_until: Time,
}

/// Before anything is known (RFC 6298 §2.1).
const UNKNOWN: Span = Span::from_secs(1);

/// The least that is waited beyond the smoothed round trip. A link layer that repeats frames, or
/// another station's turn, takes milliseconds to some tens; a Linux host holds duplicate
/// acknowledgments back for a millisecond.
pub(super) const LEAST_MARGIN: Span = Span::from_millis(20);

/// How long a receiver may wait with the acknowledgment of a lone segment: 200 ms with every common
/// stack (RFC 8985 §7.2 allows for the same).
pub(super) const DELAYED_ACK: Span = Span::from_millis(200);

impl WirelessTrip {
    /// A segment that passed `sample` ago is acknowledged.
    pub(super) fn on_sample(&mut self, now: Time, sample: Span) {
        self.last = sample;
        self.most = self.most.max(sample);
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(sample);
            self.deviation = sample / 2;
            return;
        };
        let off = smoothed.abs_diff(sample);
        if off > self.deviation {
            self.deviation += (off - self.deviation) / 4;
        } else if now >= self.steady_until {
            self.deviation -= (self.deviation - off) / 4;
            // A queue that has become shorter is believed within some tens of round trips.
            self.most -= self.most.saturating_sub(sample) / 32;
            self.steady_until = now + smoothed;
        }
        self.smoothed =
            Some(if sample > smoothed { smoothed + off / 8 } else { smoothed - off / 8 });
    }

    /// Smoothed, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// The shortest seen: nothing arrives sooner than this after it was sent.
    pub(super) fn least(&self) -> Option<Span> {
        self.least
    }

    /// How long the newest sample's segment waited in queues.
    pub(super) fn queueing(&self) -> Span {
        self.last.saturating_sub(self.least.unwrap_or(self.last))
    }

    /// Whether the newest sample's segment found the wireless queue as long as it gets.
    pub(super) fn queue_is_full(&self) -> bool {
        let longest = self.most.saturating_sub(self.least.unwrap_or(self.most));
        longest > Span::ZERO && self.queueing().saturating_mul(4) >= longest.saturating_mul(3)
    }

    /// How much later than expected is still in order: four deviations.
    pub(super) fn margin(&self) -> Span {
        self.deviation.saturating_mul(4).max(LEAST_MARGIN)
    }

    /// From sending a segment until its acknowledgment is overdue.
    pub(super) fn timeout(&self) -> Span {
        self.smoothed.map_or(UNKNOWN, |smoothed| smoothed + self.margin())
    }

    /// Whether what was sent so long ago to a host with nothing in its queue is answered about now.
    pub(super) fn is_prompt_after(&self, span: Span) -> bool {
        let latest = self.least.map_or(Span::ZERO, |least| least + least / 2);
        span <= latest && self.can_be_answered_after(span)
    }

    /// Whether something sent so long ago can have been answered.
    pub(super) fn can_be_answered_after(&self, span: Span) -> bool {
        // Nine tenths: the least round trip was not measured for this very segment.
        self.least.is_none_or(|least| span >= least - least / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + ms(millis)
    }

    #[test]
    fn nothing_known_is_a_second_and_the_first_sample_is_tripled() {
        let mut trip = WirelessTrip::default();
        assert_eq!(trip.timeout(), Span::from_secs(1));
        trip.on_sample(at(0), ms(40));
        assert_eq!(trip.timeout(), ms(120));
    }

    #[test]
    fn a_steady_path_comes_down_to_the_least_margin() {
        let mut trip = WirelessTrip::default();
        for millis in (0..2_000).step_by(4) {
            trip.on_sample(at(millis), ms(40));
        }
        assert_eq!(trip.timeout(), ms(60));
    }

    #[test]
    fn many_samples_in_one_round_trip_do_not_wipe_out_the_deviation() {
        let mut trip = WirelessTrip::default();
        trip.on_sample(at(0), ms(40));
        for _ in 0..100 {
            trip.on_sample(at(1), ms(40));
        }
        assert!(trip.margin() >= ms(60), "{}", trip.margin());
    }

    #[test]
    fn the_wait_in_the_queue_is_what_exceeds_the_least() {
        let mut trip = WirelessTrip::default();
        assert_eq!(trip.queueing(), Span::ZERO);
        trip.on_sample(at(0), ms(40));
        trip.on_sample(at(10), ms(90));
        assert_eq!(trip.queueing(), ms(50));
        assert!(trip.can_be_answered_after(ms(36)) && !trip.can_be_answered_after(ms(35)));
    }
}
