//! The free parameters of the readings, each set so that the original timeout gets what it got in the paper. Gains
//! are not looked at.
//!
//! Table 1 first, then with its value Table 2. Bisection in so many steps on a geometric scale; of the values tried
//! it is the one whose mean is nearest. Every step runs the same seeds, so that steps differ by the value alone.

use super::paper_tables::{PaperTable, TABLES};
use super::readings::{Free, Reading, Values};
use super::sample::Sample;
use super::setup::{DELAYED, Growth};
use crate::plan::{Plan, Setup, set};
use crate::reproduction::{PaperError, Watch};
use ackord_measure::stats::Estimate;
use ackord_units::Span;

const STEPS: usize = 9;

/// The values of a reading for a sender that grows so.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) reading: Reading,
    pub(super) growth: Growth,
    pub(super) values: Values,
}

/// A parameter while it is looked for.
#[derive(Debug)]
struct Search {
    fit: usize,
    free: Free,
    low: f64,
    high: f64,
    best: Option<(f64, Estimate)>,
}

/// The fits with runs of this length, so many in each step; and how many they took in all.
pub(super) fn fits(
    extent: (Span, u32),
    watch: &Watch<'_>,
) -> Result<(Vec<Fit>, usize), PaperError> {
    let both = Reading::ALL.into_iter().flat_map(|reading| Growth::ALL.map(|g| (reading, g)));
    let start = |(reading, growth)| Fit { reading, growth, values: Values::default() };
    let mut fits: Vec<Fit> = both.map(start).collect();
    let mut total = 0;
    for (round, table) in TABLES.iter().enumerate() {
        let share = |done: f64| watch((round as f64 + done) / TABLES.len() as f64);
        total += fit_table(&mut fits, table, extent, &share)?;
    }
    Ok((fits, total))
}

fn fit_table(
    fits: &mut [Fit],
    table: &PaperTable,
    (lasts, seeds): (Span, u32),
    watch: &Watch<'_>,
) -> Result<usize, PaperError> {
    let search = |(fit, of): (usize, &Fit)| {
        let free = of.reading.free(table.number)?;
        Some(Search { fit, free, low: free.low, high: free.high, best: None })
    };
    let mut searches: Vec<Search> = fits.iter().enumerate().filter_map(search).collect();
    let mut total = 0;
    for step in 0..STEPS {
        let mut plan = Plan::default();
        let values = searches.iter().map(|search| three_digits((search.low * search.high).sqrt()));
        let tried = plan.each(searches.iter().zip(values), |(search, value)| {
            let Fit { reading, growth, values } = &fits[search.fit];
            let length = set("duration", lasts.to_string());
            let changes = reading.changes(table, values.with(table.number, *value));
            let setup = Setup::new(reading.file(), changes);
            [setup.with([DELAYED.set(), growth.set(), length]).seeds(seeds)]
        })?;
        total += plan.jobs.len();
        let share = |done: f64| watch((step as f64 + done) / STEPS as f64);
        let outcomes = plan.run(Sample::of, &share)?.of(tried);
        let found = outcomes.iter().map(|tried| (tried.key.1, tried.mean(|s| s.goodput_mbit_s)));
        let found: Vec<_> = found.collect();
        drop(outcomes);
        for (search, (value, found)) in searches.iter_mut().zip(found) {
            search.narrow(value, found, table.original().mean);
        }
    }
    for search in searches {
        let (value, _) = search.best.expect("every search has a step");
        let values = &mut fits[search.fit].values;
        *values = values.with(table.number, value);
    }
    Ok(total)
}

impl Values {
    fn with(self, table: u32, value: f64) -> Values {
        match table {
            1 => Values { table_1: Some(value), ..self },
            _ => Values { table_2: Some(value), ..self },
        }
    }
}

impl Search {
    fn narrow(&mut self, value: f64, found: Estimate, aim: f64) {
        let off = |of: &Estimate| (of.mean - aim).abs();
        if self.best.as_ref().is_none_or(|(_, best)| off(&found) < off(best)) {
            self.best = Some((value, found));
        }
        let is_too_fast = found.mean > aim;
        if self.free.more_is_slower == is_too_fast {
            self.low = value;
        } else {
            self.high = value;
        }
    }
}

/// What a page can print and a reader repeat.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::stats::estimate;

    #[test]
    fn the_nearest_value_is_found_whichever_way_it_works() {
        for (more_is_slower, of) in
            [(true, (|value| 100.0 / value) as fn(f64) -> f64), (false, |value| value)]
        {
            let free = Free { label: "", unit: "", low: 1.0, high: 1_000.0, more_is_slower };
            let mut search = Search { fit: 0, free, low: free.low, high: free.high, best: None };
            for _ in 0..12 {
                let value = three_digits((search.low * search.high).sqrt());
                search.narrow(value, estimate(&[of(value)]).expect("one"), 7.0);
            }
            let (value, found) = search.best.expect("tried");
            assert!((found.mean - 7.0).abs() < 0.05, "{value}: {found:?}");
        }
    }

    #[test]
    fn three_digits_are_kept() {
        assert_eq!([0.123456, 49.96, 1234.5].map(three_digits), [0.123, 50.0, 1230.0]);
    }
}
