//! TCP-DCR: the response to duplicate acknowledgments is delayed by a time, not a count
//! (Bhandarkar, Sadry, Reddy and Vaidya 2005).
//!
//! The first duplicate acknowledgment starts a timer of one round trip; until it expires each
//! further one lets a new segment out, so that the number in the network stays what it was. New data
//! acknowledged meanwhile stops the timer.

use super::{Advance, Doubt, LossDetector, LossVerdict, Stage};
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Span, Time};

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

    fn wait(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        let Some(srtt) = doubt.srtt else {
            // Nothing to measure a delay by: RFC 5681.
            return if doubt.reaches(3) { LossVerdict::Lost } else { LossVerdict::WAIT };
        };
        self.expires_at
            .get_or_insert_with(|| now + Span::from_secs_f64(srtt.as_secs_f64() * self.delay_rtts));
        LossVerdict::NotYet { beyond_cwnd: doubt.smss * u64::from(doubt.arrived_above()) }
    }
}

impl LossDetector for Dcr {
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        self.wait(now, doubt)
    }

    /// Once a repair goes on the scoreboard works as in RFC 6675; the delay has passed by then.
    fn duplicate_threshold(&self) -> u32 {
        3
    }

    fn on_new_ack(&mut self, now: Time, doubt: &Doubt, _advance: &Advance) -> LossVerdict {
        self.expires_at = None;
        if doubt.stage == Stage::Open && doubt.sacked > Bytes::ZERO {
            self.wait(now, doubt)
        } else {
            LossVerdict::WAIT
        }
    }

    fn on_repair(&mut self, _now: Time, _kind: RecoveryKind) {
        self.expires_at = None;
    }

    fn deadline(&self) -> Option<Time> {
        self.expires_at
    }

    fn on_deadline(&mut self, _now: Time, _doubt: &Doubt) -> LossVerdict {
        self.expires_at = None;
        LossVerdict::Lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advance, doubt, ms, not_yet};
    use super::*;

    #[test]
    fn any_number_of_duplicates_within_one_round_trip_means_nothing() {
        let mut dcr = Dcr::new(1.0);
        for count in 1..=40 {
            assert_eq!(
                dcr.on_duplicate_ack(ms(9 + u64::from(count)), &doubt(count, 0)),
                not_yet(u64::from(count))
            );
        }
        assert_eq!(dcr.deadline(), Some(ms(110)));
        assert_eq!(dcr.on_deadline(ms(110), &doubt(40, 0)), LossVerdict::Lost);
        assert_eq!(dcr.deadline(), None);
    }

    #[test]
    fn new_data_stops_the_timer() {
        let mut dcr = Dcr::new(1.0);
        dcr.on_duplicate_ack(ms(10), &doubt(1, 0));
        dcr.on_new_ack(ms(60), &doubt(0, 0), &advance(8));
        assert_eq!(dcr.deadline(), None);
        // With SACK something may still be missing: another doubt, from now.
        dcr.on_new_ack(ms(70), &doubt(0, 3_000), &advance(0));
        assert_eq!(dcr.deadline(), Some(ms(170)));
    }
}
