//! A case run, and what it came to.

use super::entry::{Case, Drawn, Effect, Entry, Metric, Picture, WORTH};
use crate::compare::{CompareOptions, VaryError, compare};
use crate::execute::ExecuteError;
use ackord_measure::SeriesSet;
use ackord_measure::stats::Estimate;
use ackord_report::plot::Plot;
use ackord_report::plots::{FlowPlots, WindowUnit};
use ackord_units::Time;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

/// An entry with its numbers and its picture.
#[derive(Clone, Debug)]
pub struct Guided {
    /// The words.
    pub entry: &'static Entry,
    /// One per case, in order.
    pub cases: Vec<Measured>,
    /// The picture.
    pub plot: Plot,
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The metric without the mechanism and with it, in the metric's unit.
    pub values: [Estimate; 2],
    /// By what share the metric is better with it; negative if worse.
    pub better: f64,
    /// Whether the two 95 % intervals stay apart. Runs that never differ count as apart.
    pub apart: bool,
}

/// Why there is no guide.
#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    /// A set-up is not sound: a defect of this project.
    #[error(transparent)]
    Setup(#[from] VaryError),
    /// A run went wrong: a defect of this project.
    #[error(transparent)]
    Run(#[from] ExecuteError),
    /// The runs do not bear out what an entry says: it has to be rewritten.
    #[error("the guide says of {name} that it {said} where {when}, but it changes by {found}")]
    NotBorneOut {
        /// The mechanism.
        name: &'static str,
        /// The effect in words.
        said: &'static str,
        /// The case's words.
        when: &'static str,
        /// The change in words.
        found: String,
    },
    /// A run does not know the metric: a completion time, say, where nothing completes.
    #[error("the guide's case where {when} has no {metric}")]
    NothingMeasured {
        /// The case's words.
        when: &'static str,
        /// The metric's name.
        metric: &'static str,
    },
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Runs every case of an entry and draws its picture.
///
/// # Errors
/// [`GuideError::NotBorneOut`] when a case's runs say something else than its words.
pub fn measure(
    entry: &'static Entry,
    watch: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Guided, GuideError> {
    let steps = entry.cases.len() as f64 + 1.0;
    let mut cases = Vec::new();
    for (number, case) in entry.cases.iter().enumerate() {
        let measured = of_case(case, &|share| watch((number as f64 + share) / steps))?;
        if !borne_out(case.effect, &measured) {
            return Err(GuideError::NotBorneOut {
                name: entry.name,
                said: case.effect.words(),
                when: case.when,
                found: measured.change(),
            });
        }
        cases.push(measured);
    }
    let mut plot = drawn(&entry.picture)?;
    plot.id = format!("{}-{}", entry.family, entry.name);
    plot.title = format!("{}: {}", entry.name, entry.picture.caption);
    Ok(Guided { entry, cases, plot })
}

fn of_case(
    case: &Case,
    watch: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Measured, GuideError> {
    let variants = case.setup.variants()?;
    let runs = NonZeroU32::new(case.runs).unwrap_or(NonZeroU32::MIN);
    let outcome = compare(&variants, CompareOptions { seed: None, runs }, watch)?;
    if outcome.finished_runs < outcome.planned_runs {
        return Err(GuideError::Interrupted);
    }
    let found: Vec<_> =
        outcome.comparison.variants.iter().filter_map(|variant| case.metric.of(variant)).collect();
    match found[..] {
        [without, with] => Ok(judge(case.metric, [without, with])),
        _ => Err(GuideError::NothingMeasured { when: case.when, metric: case.metric.name }),
    }
}

fn judge(metric: Metric, values: [Estimate; 2]) -> Measured {
    let [without, with] = values.map(|value| value.mean);
    let grown = if without == with { 0.0 } else { (with - without) / without.abs() };
    let better = if metric.more_is_better { grown } else { -grown };
    let half = |value: Estimate| value.ci95.unwrap_or(0.0);
    let apart = (with - without).abs() > half(values[0]) + half(values[1]);
    Measured { values, better, apart }
}

fn borne_out(effect: Effect, measured: &Measured) -> bool {
    let matters = measured.better.abs() >= WORTH && measured.apart;
    match effect {
        Effect::Helps => matters && measured.better > 0.0,
        Effect::Hurts => matters && measured.better < 0.0,
        Effect::Nothing => !matters,
    }
}

fn drawn(picture: &Picture) -> Result<Plot, GuideError> {
    let variants = picture.setup.variants()?;
    let options = CompareOptions { seed: None, runs: NonZeroU32::MIN };
    let outcome = compare(&variants, options, &|_| ControlFlow::Continue(()))?;
    let series: Vec<(String, &SeriesSet)> =
        outcome.series.iter().map(|(label, set)| (label.clone(), set)).collect();
    let plots =
        FlowPlots::overlaid(&series).between(Time::ZERO + picture.from, Time::ZERO + picture.to);
    Ok(match picture.plot {
        Drawn::Sequence => plots.sequence(),
        Drawn::Window => plots.window(WindowUnit::Bytes),
        Drawn::RoundTrip => plots.round_trip(),
        Drawn::Throughput => plots.throughput(),
    })
}

impl Measured {
    /// By what share the metric changes with the mechanism, in words.
    pub fn change(&self) -> String {
        let [without, with] = self.values.map(|value| value.mean);
        match (without == with, without == 0.0) {
            (true, _) => "nothing".to_owned(),
            (_, true) => "none before".to_owned(),
            _ => format!("{:+.1} %", 100.0 * (with - without) / without.abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, ci95: f64) -> Estimate {
        Estimate { runs: 5, mean, std_dev: None, ci95: Some(ci95), min: mean, max: mean }
    }

    fn effect(metric: Metric, without: Estimate, with: Estimate) -> Vec<Effect> {
        let measured = judge(metric, [without, with]);
        let all = [Effect::Helps, Effect::Nothing, Effect::Hurts];
        all.into_iter().filter(|effect| borne_out(*effect, &measured)).collect()
    }

    #[test]
    fn exactly_one_effect_is_borne_out() {
        let one = estimate(1.0, 0.01);
        assert_eq!(effect(Metric::GOODPUT, one, estimate(1.1, 0.01)), [Effect::Helps]);
        assert_eq!(effect(Metric::GOODPUT, one, estimate(0.9, 0.01)), [Effect::Hurts]);
        assert_eq!(effect(Metric::COMPLETION, one, estimate(1.1, 0.01)), [Effect::Hurts]);
        assert_eq!(effect(Metric::GOODPUT, one, estimate(1.02, 0.001)), [Effect::Nothing]);
        assert_eq!(effect(Metric::GOODPUT, one, estimate(1.1, 0.2)), [Effect::Nothing]);
    }

    #[test]
    fn some_where_there_was_none_is_a_difference() {
        let (none, some) = (estimate(0.0, 0.0), estimate(2.0, 0.5));
        assert_eq!(effect(Metric::TIMEOUTS, none, some), [Effect::Hurts]);
        assert_eq!(effect(Metric::TIMEOUTS, some, none), [Effect::Helps]);
        assert_eq!(effect(Metric::TIMEOUTS, none, none), [Effect::Nothing]);
        assert_eq!(judge(Metric::TIMEOUTS, [none, some]).change(), "none before");
    }
}
