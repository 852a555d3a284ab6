//! How a connection came back after outages of the path.
//!
//! The rate before an outage is that of the second before it began. It is back when deliveries over
//! a fifth of a second, counted in steps of a twentieth, reach 90 % of it.
//!
//! Not modelled: outages that overlap on different links count from the first to begin to its own
//! end.

use super::seconds_between;
use ackord_units::{Bytes, Span, Time};

/// One outage, as one connection lived through it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OutageRecovery {
    /// When it began.
    pub began_s: f64,
    /// When it ended.
    pub ended_s: f64,
    /// From its end to the first data delivered in order; null where none came any more.
    pub first_data_s: Option<f64>,
    /// From its end until the rate was back at 90 % of what it had been in the second before; null
    /// where it never was, or nothing had been delivered before.
    pub rate_back_s: Option<f64>,
}

/// The recoveries of one connection, together; seconds from the end of an outage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryTimes {
    /// How many outages the path met.
    pub outages: u64,
    /// Mean and longest time to the first data, over those after which some came.
    pub first_data_s: Option<(f64, f64)>,
    /// Mean and longest time to the return of the rate, over those after which it came back.
    pub rate_back_s: Option<(f64, f64)>,
    /// After how many it never came back.
    pub not_back: u64,
}

impl RecoveryTimes {
    /// What these recoveries come to; nothing without an outage.
    pub fn of(recoveries: &[OutageRecovery]) -> Option<RecoveryTimes> {
        let times = |pick: fn(&OutageRecovery) -> Option<f64>| {
            let known: Vec<f64> = recoveries.iter().filter_map(pick).collect();
            let most = known.iter().copied().reduce(f64::max)?;
            Some((known.iter().sum::<f64>() / known.len() as f64, most))
        };
        let back = recoveries.iter().filter(|recovery| recovery.rate_back_s.is_some()).count();
        (!recoveries.is_empty()).then(|| RecoveryTimes {
            outages: recoveries.len() as u64,
            first_data_s: times(|recovery| recovery.first_data_s),
            rate_back_s: times(|recovery| recovery.rate_back_s),
            not_back: (recoveries.len() - back) as u64,
        })
    }
}

/// Deliveries are counted in steps of this.
const STEP: Span = Span::from_millis(50);
/// The rate before an outage is taken over so many steps: a second.
const STEPS_BEFORE: usize = 20;
/// The rate after it over so many: a fifth of a second.
const STEPS_AFTER: usize = 4;
/// The share of the former rate that counts as its return.
const BACK: f64 = 0.9;

/// Folds deliveries into recoveries.
#[derive(Clone, Debug, Default)]
pub(super) struct OutageFold {
    /// Bytes delivered in each of the latest steps, the newest at `step % STEPS_BEFORE`.
    steps: [u64; STEPS_BEFORE],
    /// The number of the newest step.
    step: u64,
    delivered: u64,
    recoveries: Vec<Recovery>,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    began: Time,
    ends: Time,
    /// Bytes per step before it.
    before: f64,
    first_data: Option<Time>,
    rate_back: Option<Time>,
}

impl OutageFold {
    /// A packet met an outage. Both directions of a link tell of the same one.
    pub(super) fn met(&mut self, began: Time, ends: Time) {
        if self.recoveries.iter().any(|known| known.began <= began && began < known.ends) {
            return;
        }
        // Steps end with the outage's beginning; what it let pass on the wire still counts.
        self.advance(began);
        let before = self.steps.iter().sum::<u64>() as f64 / STEPS_BEFORE as f64;
        self.recoveries.push(Recovery { began, ends, before, first_data: None, rate_back: None });
    }

    pub(super) fn delivered(&mut self, at: Time, stream_offset: Bytes) {
        self.advance(at);
        let fresh = stream_offset.get().saturating_sub(self.delivered);
        self.delivered = stream_offset.get();
        self.steps[(self.step % STEPS_BEFORE as u64) as usize] += fresh;
        if fresh == 0 {
            return;
        }
        for recovery in &mut self.recoveries {
            if at > recovery.ends {
                recovery.first_data.get_or_insert(at);
            }
        }
    }

    /// Begins the step of `at`, and judges those that are over by it.
    fn advance(&mut self, at: Time) {
        let step = at.saturating_since(Time::ZERO).as_nanos() / STEP.as_nanos();
        while self.step < step {
            self.judge();
            // After a second of silence every step is empty.
            let silent = step - self.step > 2 * STEPS_BEFORE as u64;
            self.step = if silent { step - STEPS_BEFORE as u64 } else { self.step + 1 };
            self.steps[(self.step % STEPS_BEFORE as u64) as usize] = 0;
            if silent {
                self.steps = [0; STEPS_BEFORE];
            }
        }
    }

    /// The newest step is over: is a rate back?
    fn judge(&mut self) {
        let end = Time::ZERO + STEP * (self.step + 1);
        let begin = Time::ZERO + STEP * (self.step + 1).saturating_sub(STEPS_AFTER as u64);
        let newest = (0..STEPS_AFTER as u64).map(|ago| self.step.checked_sub(ago));
        let bytes: u64 =
            newest.flatten().map(|step| self.steps[(step % STEPS_BEFORE as u64) as usize]).sum();
        let rate = bytes as f64 / STEPS_AFTER as f64;
        for recovery in &mut self.recoveries {
            let waits = recovery.rate_back.is_none() && recovery.before > 0.0;
            if waits && begin >= recovery.ends && rate >= BACK * recovery.before {
                recovery.rate_back = Some(end);
            }
        }
    }

    pub(super) fn summary(&self) -> Vec<OutageRecovery> {
        let seconds =
            |recovery: &Recovery, at: Option<Time>| at.map(|at| seconds_between(recovery.ends, at));
        let one = |recovery: &Recovery| OutageRecovery {
            began_s: recovery.began.as_secs_f64(),
            ended_s: recovery.ends.as_secs_f64(),
            first_data_s: seconds(recovery, recovery.first_data),
            rate_back_s: seconds(recovery, recovery.rate_back),
        };
        self.recoveries.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// 1000 bytes every 10 ms in these times.
    fn deliver(fold: &mut OutageFold, from_ms: u64, to_ms: u64) {
        for at in (from_ms..to_ms).step_by(10) {
            let offset = fold.delivered + 1_000;
            fold.delivered(ms(at), Bytes(offset));
        }
    }

    #[test]
    fn the_first_data_and_the_return_of_the_rate_are_told_apart() {
        let mut fold = OutageFold::default();
        deliver(&mut fold, 10, 3_000);
        fold.met(ms(3_000), ms(4_500));
        fold.met(ms(3_000), ms(4_500));
        // On the wire when it began.
        deliver(&mut fold, 3_000, 3_020);
        fold.delivered(ms(4_800), Bytes(fold.delivered + 1_000));
        deliver(&mut fold, 5_400, 7_000);
        let told = fold.summary();
        assert_eq!(told.len(), 1, "both directions tell of one outage");
        assert_eq!((told[0].began_s, told[0].ended_s), (3.0, 4.5));
        assert_eq!(told[0].first_data_s, Some(0.3));
        // From 5.4 s on the rate is what it was: seen over a fifth of a second at 5.6 s.
        let back = told[0].rate_back_s.expect("it came back");
        assert!((1.05..=1.11).contains(&back), "{back}");
        let times = RecoveryTimes::of(&told).expect("one outage");
        assert_eq!((times.rate_back_s, times.not_back), (Some((back, back)), 0));
    }

    #[test]
    fn a_connection_that_never_comes_back_says_so() {
        let mut fold = OutageFold::default();
        deliver(&mut fold, 10, 1_000);
        fold.met(ms(1_000), ms(90_000));
        fold.met(ms(100_000), ms(101_000));
        let told = fold.summary();
        assert_eq!((told[0].first_data_s, told[0].rate_back_s), (None, None));
        let times = RecoveryTimes::of(&told).expect("two outages");
        assert_eq!((times.outages, times.not_back, times.first_data_s), (2, 2, None));
        assert_eq!(RecoveryTimes::of(&[]), None);
        assert_eq!(told.len(), 2);
    }
}
