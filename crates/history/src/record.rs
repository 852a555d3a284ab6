//! What is known of one application.

use crate::histogram::{Histogram, fade, halved};
use crate::verdict::Verdict;
use ackord_units::{Bytes, Span, Time};

/// One transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes the application received; a transfer of none is not counted.
    pub size: Bytes,
    /// When it ended, since 1970.
    pub ended_at: Time,
    /// How long it took, where that is known.
    pub took: Option<Span>,
}

/// What is known of one application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub(crate) histogram: Histogram,
    pub(crate) transfers: u64,
    pub(crate) bytes: u64,
    pub(crate) first_at: Option<Time>,
    /// Transfers decayed by [`History::HALF_RATE`], as of the histogram's time.
    pub(crate) recent: f64,
    /// Decayed count and sum of the durations that are known, as of the same time.
    pub(crate) timed: f64,
    pub(crate) timed_secs: f64,
    /// As of the latest transfer; what hysteresis needs.
    pub(crate) verdict: Verdict,
}

impl History {
    /// In the frequency, a transfer counts half after a day.
    pub const HALF_RATE: Span = Span::from_secs(86_400);
    /// A frequency is of no shorter time than this: one transfer a second ago is one in this hour.
    const SHORTEST_WINDOW: Span = Span::from_secs(3_600);

    /// Counts a transfer.
    pub fn record(&mut self, transfer: Transfer) {
        let Transfer { size, ended_at, took } = transfer;
        if size == Bytes::ZERO {
            return;
        }
        let before = self.histogram.as_of();
        self.histogram.add(size, ended_at);
        let newer = ended_at.saturating_since(before);
        let older = before.saturating_since(ended_at);
        self.recent =
            self.recent * fade(newer, History::HALF_RATE) + fade(older, History::HALF_RATE);
        let left = fade(newer, Histogram::HALF_AGE) * halved(1.0 / Histogram::HALF_COUNT);
        self.timed *= left;
        self.timed_secs *= left;
        if let Some(took) = took {
            let weight = fade(older, Histogram::HALF_AGE);
            self.timed += weight;
            self.timed_secs += weight * took.as_secs_f64();
        }
        self.transfers = self.transfers.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size.get());
        self.first_at = Some(self.first_at.map_or(ended_at, |first| first.min(ended_at)));
        self.verdict = self.judge(self.histogram.as_of());
    }

    /// Its sizes.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Transfers ever counted.
    pub fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Bytes ever counted; stops at the largest number there is.
    pub fn total(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// When the first and the latest transfer ended; nothing before there was one.
    pub fn seen(&self) -> Option<(Time, Time)> {
        self.first_at.map(|first| (first, self.histogram.as_of()))
    }

    /// Transfers per hour as of `now`: those of about the last day and a half (half-life
    /// [`History::HALF_RATE`]), over the time in which they can have come.
    pub fn per_hour(&self, now: Time) -> f64 {
        let Some(first_at) = self.first_at else { return 0.0 };
        let now = now.max(self.histogram.as_of());
        let decayed =
            self.recent * fade(now.saturating_since(self.histogram.as_of()), History::HALF_RATE);
        // The integral of what one transfer per second would still count.
        let half_life = History::HALF_RATE.as_secs_f64();
        let known = 1.0 - fade(now.saturating_since(first_at), History::HALF_RATE);
        let window = (half_life / std::f64::consts::LN_2 * known)
            .max(History::SHORTEST_WINDOW.as_secs_f64());
        decayed / window * 3_600.0
    }

    /// The decayed mean of the durations that are known.
    pub fn mean_duration(&self) -> Option<Span> {
        (self.timed > 0.0).then(|| Span::from_secs_f64(self.timed_secs / self.timed))
    }

    pub(crate) fn judge(&self, now: Time) -> Verdict {
        let large = self.histogram.share_from(Verdict::LARGE).map_or(0.0, |share| share.transfers);
        self.verdict.next(self.histogram.weight(now), large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(1_000_000_000 + secs)
    }

    fn transfer(size: u64, secs: u64) -> Transfer {
        Transfer { size: Bytes(size), ended_at: at(secs), took: None }
    }

    #[test]
    fn a_steady_rate_is_found_whether_it_lasted_hours_or_weeks() {
        for hours in [5, 24, 24 * 30] {
            let mut history = History::default();
            (0..hours * 12).for_each(|n| history.record(transfer(2_000, n * 300)));
            let rate = history.per_hour(at(hours * 3_600));
            assert!((rate / 12.0 - 1.0).abs() < 0.02, "{rate} per hour after {hours} h");
        }
    }

    #[test]
    fn a_rate_fades_and_a_burst_is_of_an_hour() {
        let mut history = History::default();
        (0..30).for_each(|n| history.record(transfer(2_000, n)));
        assert!((history.per_hour(at(30)) - 30.0).abs() < 0.1);
        assert!(history.per_hour(at(7 * 86_400)) < 0.1);
    }

    #[test]
    fn durations_are_averaged_over_those_that_are_known() {
        let mut history = History::default();
        history.record(transfer(1_000, 0));
        assert_eq!(history.mean_duration(), None);
        for secs in [1, 3] {
            let took = Some(Span::from_secs(secs));
            history.record(Transfer { took, ..transfer(1_000, 1) });
        }
        let mean = history.mean_duration().expect("two are known").as_secs_f64();
        assert!((mean - 2.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_transfer_of_nothing_is_none() {
        let mut history = History::default();
        history.record(transfer(0, 5));
        assert_eq!(history, History::default());
    }

    proptest! {
        #[test]
        fn totals_are_exact_and_first_and_last_are_the_extremes(
            told in prop::collection::vec((1_u64..1 << 32, 0_u64..10_000_000), 1..50),
        ) {
            let mut history = History::default();
            told.iter().for_each(|(size, secs)| history.record(transfer(*size, *secs)));
            prop_assert_eq!(history.transfers(), told.len() as u64);
            prop_assert_eq!(history.total().get(), told.iter().map(|(size, _)| size).sum::<u64>());
            let first = told.iter().map(|(_, secs)| at(*secs)).min();
            let last = told.iter().map(|(_, secs)| at(*secs)).max();
            prop_assert_eq!(history.seen(), first.zip(last));
            let rate = history.per_hour(at(20_000_000));
            prop_assert!(rate >= 0.0 && rate <= told.len() as f64);
        }
    }
}
