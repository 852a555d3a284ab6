//! Mean over time of a value that changes in steps.

use ackord_units::Time;

/// Adds up value times time, exactly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepMean {
    area: u128,
    began: Option<Time>,
    last: Time,
    value: u64,
    most: u64,
}

impl StepMean {
    /// Starts with `value` at `at`.
    pub(super) fn starting(at: Time, value: u64) -> StepMean {
        StepMean { area: 0, began: Some(at), last: at, value, most: value }
    }

    /// From `at` on it is `value`. An `at` before the last change counts as the last change.
    #[inline]
    pub(super) fn set(&mut self, at: Time, value: u64) {
        if self.began.is_none() {
            *self = StepMean::starting(at, value);
            return;
        }
        if at > self.last {
            let held = at.saturating_since(self.last).as_nanos();
            self.area += u128::from(self.value) * u128::from(held);
            self.last = at;
        }
        self.value = value;
        self.most = self.most.max(value);
    }

    /// The mean from the first change to `until`; nothing if there was no change by then.
    pub(super) fn until(mut self, until: Time) -> Option<f64> {
        let began = self.began?;
        let value = self.value;
        self.set(until, value);
        let length = self.last.saturating_since(began).as_nanos();
        Some(if length == 0 { value as f64 } else { self.area as f64 / length as f64 })
    }

    /// The largest value so far.
    pub(super) fn most(&self) -> u64 {
        self.most
    }
}
