//! TCP-PR: nothing is inferred from duplicate acknowledgments; a segment is lost when it has been
//! out for longer than a multiple of the largest recent round-trip time (Bohacek, Hespanha, Lee,
//! Lim and Obraczka 2006).
//!
//! The estimate rises to every larger sample at once and decays by alpha per round trip (the
//! paper's ewrtt = max (alpha^(1/cwnd) * ewrtt, sample) per acknowledgment); mxrtt is beta times
//! that. One window's drops halve once: what was in flight when the first was found (the paper's
//! `memorize` list) is retransmitted without a second reduction, which is what a recovery here does.
//!
//! Different from the paper: a segment reported by SACK has left the list of what is to be
//! acknowledged; its rule for more than half a window lost (mxrtt to one second, cwnd to one) is the
//! retransmission timer's here. mxrtt is never shorter than a millisecond: after a round trip that took
//! no time at all, whatever is sent would be overdue at once, again and again. It doubles each time
//! that retransmissions are overdue too, until anything arrives: a path that has gone dark for long is
//! not asked every mxrtt.

use super::{
    Delivered, DetectorProfile, DetectorView, Hole, LossConfig, LossDetector, LossEvent, LossFacts,
    LossVerdict, Overdue, TimeScope,
};
use ackord_units::{Knobs, Span, Time};

/// No segment is overdue earlier.
const MIN_AGE: Span = Span::from_millis(1);

/// mxrtt is doubled so often at most.
const MOST_DOUBLINGS: u32 = 16;

/// TCP-PR: a timer per segment from the largest recent round trip, no duplicates
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "pr", source = "Bohacek et al. 2006")]
pub struct PrConfig {
    /// What is left of the estimate after a round trip without a larger sample
    #[knob(min = 0.5, max = 1.0, default = "0.995", source = "Bohacek et al. 2006")]
    alpha: f64,
    /// A segment is lost after this many times the estimate
    #[knob(min = 1.0, max = 10.0, default = "3", source = "Bohacek et al. 2006")]
    beta: f64,
}

impl LossConfig for PrConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Pr::new(self.alpha, self.beta))
    }
}

/// Per-segment timers from the largest recent round-trip time.
#[derive(Clone, Copy, Debug)]
pub struct Pr {
    alpha: f64,
    beta: f64,
    /// ewrtt in seconds, and when it was brought up to date.
    estimate: Option<(f64, Time)>,
    /// When a segment last arrived that had been retransmitted: what the same acknowledgment covers
    /// behind it waited for it.
    refilled_at: Option<Time>,
    /// How often in a row retransmissions were overdue.
    silences: u32,
}

impl Pr {
    /// A detector with these constants: alpha from 0 to 1 per round trip, beta above 1.
    pub fn new(alpha: f64, beta: f64) -> Pr {
        Pr { alpha, beta, estimate: None, refilled_at: None, silences: 0 }
    }

    /// alpha^(rounds), for the fraction of a round trip that has passed: the decay of cwnd
    /// acknowledgments is alpha, and cwnd acknowledgments are a round trip.
    fn decay(&self, rounds: f64) -> f64 {
        // The first two terms of the power's series by its logarithm 1 - alpha; exact enough for
        // alpha near 1 and the same bits on every platform.
        let rate = (1.0 - self.alpha) * rounds;
        1.0 / (1.0 + rate + rate * rate / 2.0)
    }
}

impl LossDetector for Pr {
    fn profile(&self) -> DetectorProfile {
        DetectorProfile { by_time: Some(TimeScope::Everything), ..DetectorProfile::STANDARD }
    }

    /// Never asked for a threshold: time decides.
    fn view(&self) -> DetectorView {
        DetectorView::threshold(u32::MAX)
    }

    fn on_ack(&mut self, _now: Time, facts: &LossFacts) -> LossVerdict {
        if !facts.leave_doubt() {
            return LossVerdict::WAIT;
        }
        LossVerdict::NotYet { beyond_cwnd: facts.sacked }
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::RetransmissionOverdue = event {
            self.silences = (self.silences + 1).min(MOST_DOUBLINGS);
        }
    }

    fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        self.silences = 0;
        // Karn's rule, for everything that one acknowledgment covers: without it, each hole without
        // SACK would multiply the estimate by beta.
        if let Hole::Retransmitted(_) = delivered.hole {
            self.refilled_at = Some(now);
        }
        if self.refilled_at == Some(now) {
            return;
        }
        let sample = delivered.rtt.as_secs_f64();
        self.estimate = Some(match self.estimate {
            None => (sample, now),
            Some((estimate, at)) => {
                let round = delivered.srtt.map_or(estimate, |srtt| srtt.as_secs_f64());
                let rounds = now.saturating_since(at).as_secs_f64() / round.max(1e-6);
                ((estimate * self.decay(rounds)).max(sample), now)
            }
        });
    }

    fn overdue(&mut self, _facts: &LossFacts) -> Option<Overdue> {
        let (estimate, _) = self.estimate?;
        let age = Span::from_secs_f64(estimate * self.beta).max(MIN_AGE) * (1 << self.silences);
        Some(Overdue { sent_before: None, age })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::super::testing::{Ask, facts, ms};
    use super::*;
    use ackord_units::Seq;

    fn sample(pr: &mut Pr, now: Time, rtt_ms: u64) {
        let rtt = Span::from_millis(rtt_ms);
        let delivered = Delivered {
            sent_at: ms(0),
            end_seq: Seq(0),
            hole: Hole::SentOnce,
            rtt,
            echo: Echo::Absent,
            min_rtt: Some(rtt),
            srtt: Some(Span::from_millis(100)),
        };
        pr.on_delivered(now, &delivered);
    }

    fn age_ms(pr: &mut Pr) -> f64 {
        match pr.overdue(&facts(0, 0)) {
            Some(Overdue { sent_before: None, age }) => age.as_secs_f64() * 1e3,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_waited_behind_a_retransmission_is_no_sample() {
        let mut pr = Pr::new(0.995, 3.0);
        sample(&mut pr, ms(0), 100);
        let resent = Delivered {
            sent_at: ms(500),
            end_seq: Seq(0),
            hole: Hole::Retransmitted(ms(500)),
            rtt: Span::from_millis(100),
            echo: Echo::Absent,
            min_rtt: None,
            srtt: Some(Span::from_millis(100)),
        };
        pr.on_delivered(ms(600), &resent);
        sample(&mut pr, ms(600), 590);
        assert!(age_ms(&mut pr) <= 300.0);
    }

    #[test]
    fn silence_doubles_the_wait_until_something_arrives() {
        let mut pr = Pr::new(0.995, 3.0);
        sample(&mut pr, ms(0), 100);
        let ages: Vec<f64> = (0..3)
            .map(|_| {
                pr.on_event(LossEvent::RetransmissionOverdue);
                age_ms(&mut pr)
            })
            .collect();
        assert_eq!(ages, [600.0, 1200.0, 2400.0]);
        sample(&mut pr, ms(9_000), 100);
        assert_eq!(age_ms(&mut pr), 300.0);
    }

    #[test]
    fn duplicates_mean_nothing_and_what_was_sacked_leaves_room() {
        let mut pr = Pr::new(0.995, 3.0);
        assert_eq!(pr.overdue(&facts(0, 0)), None);
        let verdict = pr.on_duplicate_ack(ms(0), &facts(500, 7_000));
        assert_eq!(verdict, super::super::testing::not_yet(7));
    }

    #[test]
    fn the_estimate_rises_at_once_and_decays_by_alpha_a_round_trip() {
        let mut pr = Pr::new(0.995, 3.0);
        sample(&mut pr, ms(0), 100);
        sample(&mut pr, ms(10), 300);
        assert!((age_ms(&mut pr) - 900.0).abs() < 0.01);
        // A hundred round trips of samples of 100 ms, ten a round trip.
        for i in 1..=1000 {
            sample(&mut pr, ms(10 + 10 * i), 100);
        }
        let expected = 900.0 * 0.995f64.powi(100);
        assert!((age_ms(&mut pr) - expected).abs() < 1.0, "{} not {expected}", age_ms(&mut pr));
    }
}
