//! TCP-DCR: the response to duplicate acknowledgments is delayed by a time, not a count
//! (Bhandarkar, Sadry, Reddy and Vaidya 2005).
//!
//! The first duplicate acknowledgment starts a timer of one round trip; until it expires each
//! further one lets a new segment out, so that the number in the network stays what it was. New data
//! acknowledged meanwhile stops the timer.

use super::{DetectorView, LossConfig, LossDetector, LossEvent, LossFacts, LossVerdict};
use ackord_units::{Knobs, Span, Time};

/// TCP-DCR: the response to duplicate acknowledgments is delayed by a round trip
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "dcr", source = "Bhandarkar, Sadry, Reddy and Vaidya 2005")]
pub struct DcrConfig {
    /// How long the response waits, in round trips
    #[knob(
        min = 0.0,
        max = 10.0,
        default = "1",
        source = "Bhandarkar, Sadry, Reddy and Vaidya 2005 (tau of one RTT)"
    )]
    delay: f64,
}

impl LossConfig for DcrConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Dcr::new(self.delay))
    }
}

/// A delayed congestion response.
#[derive(Clone, Copy, Debug)]
pub struct Dcr {
    /// tau in round trips.
    delay_rtts: f64,
    expires_at: Option<Time>,
}

impl Dcr {
    /// A detector that waits `delay_rtts` round trips.
    pub fn new(delay_rtts: f64) -> Dcr {
        Dcr { delay_rtts, expires_at: None }
    }

    fn wait(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        let Some(srtt) = facts.srtt else {
            // Nothing to measure a delay by: RFC 5681.
            return if facts.reaches(3) { LossVerdict::Lost } else { LossVerdict::WAIT };
        };
        self.expires_at
            .get_or_insert_with(|| now + Span::from_secs_f64(srtt.as_secs_f64() * self.delay_rtts));
        LossVerdict::NotYet { beyond_cwnd: facts.smss * u64::from(facts.arrived_above()) }
    }
}

impl LossDetector for Dcr {
    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        if facts.advance.is_some() {
            self.expires_at = None;
        }
        if facts.leave_doubt() { self.wait(now, facts) } else { LossVerdict::WAIT }
    }

    /// During recovery the scoreboard works as in RFC 6675; the delay has passed by then.
    fn view(&self) -> DetectorView {
        DetectorView::threshold(3)
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::Recovery(_) = event {
            self.expires_at = None;
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.expires_at
    }

    fn on_timer(&mut self, _now: Time, _facts: &LossFacts) -> LossVerdict {
        self.expires_at = None;
        LossVerdict::Lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, advance, facts, ms, not_yet};
    use super::*;

    #[test]
    fn any_number_of_duplicates_within_one_round_trip_means_nothing() {
        let mut dcr = Dcr::new(1.0);
        for count in 1..=40 {
            assert_eq!(
                dcr.on_duplicate_ack(ms(9 + u64::from(count)), &facts(count, 0)),
                not_yet(u64::from(count))
            );
        }
        assert_eq!(dcr.deadline(), Some(ms(110)));
        assert_eq!(dcr.on_timer(ms(110), &facts(40, 0)), LossVerdict::Lost);
        assert_eq!(dcr.deadline(), None);
    }

    #[test]
    fn new_data_stops_the_timer() {
        let mut dcr = Dcr::new(1.0);
        dcr.on_duplicate_ack(ms(10), &facts(1, 0));
        dcr.on_new_ack(ms(60), &facts(0, 0), &advance(8));
        assert_eq!(dcr.deadline(), None);
        // With SACK something may still be missing: another doubt, from now.
        dcr.on_new_ack(ms(70), &facts(0, 3_000), &advance(0));
        assert_eq!(dcr.deadline(), Some(ms(170)));
    }
}
