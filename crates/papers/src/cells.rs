//! What was taken from the runs, by key, and figures over the runs of a key.

use ackord_measure::stats::{Estimate, estimate, ratio};
use std::fmt;
use std::ops::Deref;

/// The runs under every key, in the order in which they were planned.
#[derive(Clone, Debug)]
pub(crate) struct Cells<K, S>(pub(crate) Vec<Cell<K, S>>);

/// The runs under one key.
#[derive(Clone, Debug)]
pub(crate) struct Cell<K, S> {
    pub(crate) key: K,
    pub(crate) runs: Runs<S>,
}

/// Runs whose seeds or phases follow each other, so that those of two keys can be compared one by one.
#[derive(Clone, Debug)]
pub(crate) struct Runs<S>(pub(crate) Vec<S>);

impl<K: PartialEq + fmt::Debug, S> Cells<K, S> {
    /// The runs under this key.
    ///
    /// # Panics
    /// If there are none: keys that are asked for are planned.
    pub(crate) fn of(&self, key: &K) -> &Runs<S> {
        self.get(key).unwrap_or_else(|| panic!("nothing is planned for {key:?}"))
    }

    pub(crate) fn get(&self, key: &K) -> Option<&Runs<S>> {
        self.iter().find(|cell| cell.key == *key).map(|cell| &cell.runs)
    }
}

impl<K, S> Deref for Cells<K, S> {
    type Target = [Cell<K, S>];

    fn deref(&self) -> &[Cell<K, S>] {
        &self.0
    }
}

impl<K, S> Deref for Cell<K, S> {
    type Target = Runs<S>;

    fn deref(&self) -> &Runs<S> {
        &self.runs
    }
}

impl<S> Runs<S> {
    /// A figure of every run, in their order.
    pub(crate) fn each<F: Figure>(&self, pick: impl Fn(&S) -> F) -> Vec<f64> {
        self.0.iter().map(|run| pick(run).figure()).collect()
    }

    /// Mean and interval over the runs.
    pub(crate) fn mean<F: Figure>(&self, pick: impl Fn(&S) -> F) -> Estimate {
        over(&self.each(pick))
    }

    /// The mean over that of others, in pairs. The mean of the ratios would be too high where runs scatter
    /// widely.
    pub(crate) fn over<F: Figure>(&self, others: &Runs<S>, pick: impl Fn(&S) -> F) -> Estimate {
        ratio(&self.each(&pick), &others.each(&pick)).expect("there are as many runs of both")
    }

    /// How much more than others, in pairs.
    pub(crate) fn less<F: Figure>(&self, others: &Runs<S>, pick: impl Fn(&S) -> F) -> Estimate {
        over(&pairs(&self.each(&pick), &others.each(&pick), |one, other| one - other))
    }

    /// The most over the runs.
    pub(crate) fn most(&self, pick: impl Fn(&S) -> u64) -> u64 {
        self.0.iter().map(pick).max().unwrap_or(0)
    }
}

/// Mean and interval of figures, run by run.
///
/// # Panics
/// If there are none: every key has runs.
pub(crate) fn over(each: &[f64]) -> Estimate {
    estimate(each).expect("every key has runs")
}

/// Figures made of two, pair by pair.
pub(crate) fn pairs(ones: &[f64], others: &[f64], of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    ones.iter().zip(others).map(|(one, other)| of(*one, *other)).collect()
}

/// The item whose mean is least.
pub(crate) fn least<T>(items: impl IntoIterator<Item = (T, Estimate)>) -> Option<(T, Estimate)> {
    items.into_iter().min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))
}

/// A number that may be missing.
pub(crate) trait Figure {
    /// As a float; not a number where it is missing.
    fn figure(self) -> f64;
}

impl Figure for f64 {
    fn figure(self) -> f64 {
        self
    }
}

impl Figure for u64 {
    fn figure(self) -> f64 {
        self as f64
    }
}

impl Figure for Estimate {
    fn figure(self) -> f64 {
        self.mean
    }
}

impl<F: Figure> Figure for Option<F> {
    fn figure(self) -> f64 {
        self.map_or(f64::NAN, F::figure)
    }
}
