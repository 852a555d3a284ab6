//! A metric at every point, with its interval over the runs.

use super::super::folder::{State, SweepError};
use super::super::metrics::Selected;
use super::super::plan::{Plan, RunAt};
use super::super::record::Record;
use super::super::sweep::Runs;
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::AMOUNTS;
use ackord_report::document::{Cell, decimals_for};
use ackord_scenario::{NameOf, Wrong};

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Large ones.
    Most,
    /// Small ones.
    Least,
}

/// A metric at every point.
pub(super) struct Measured {
    /// As it was asked for.
    pub(super) name: String,
    /// In words.
    pub(super) about: String,
    /// In what tables count it, and how much of the base unit that is.
    pub(super) unit: &'static str,
    pub(super) size: f64,
    pub(super) base_unit: &'static str,
    pub(super) better: Better,
    /// Nothing where no run knows it.
    pub(super) points: Vec<Option<Estimate>>,
}

impl Measured {
    /// By its name, with `:least` or `:most` behind it or not.
    pub(super) fn of(
        given: &str,
        plan: &Plan,
        runs: &Runs,
        needed: &[RunAt],
    ) -> Result<Measured, SweepError> {
        let (name, better) = match given.rsplit_once(':') {
            Some((name, "most")) => (name, Some(Better::Most)),
            Some((name, "least")) => (name, Some(Better::Least)),
            _ => (given, None),
        };
        let selected =
            Selected::of(name, &plan.metrics).map_err(|wrong| super::unknown(wrong, name))?;
        let mut values = vec![Vec::new(); plan.points()];
        let mut first: Option<&Record> = None;
        for run in needed {
            if let Some(State::Done(record)) = runs.state(*run) {
                first.get_or_insert(record);
                values[run.point].extend(selected.value(record));
            }
        }
        if let (Some(part), Some(record)) = (selected.part(), first)
            && selected.parts(record).next().is_none()
        {
            let known = selected.part_names(record);
            let what = NameOf::Other(selected.part_word());
            let wrong = Wrong::unknown_name(what, part, known.iter().map(String::as_str));
            return Err(super::unknown(wrong, part));
        }
        let unit = selected.metric.unit;
        // Delays, losses and what else is counted in packets is better where there is less of it.
        let usual = match unit.name {
            "s" | "ms" | "packets" | "segments" => Better::Least,
            _ => Better::Most,
        };
        Ok(Measured {
            name: name.to_owned(),
            about: selected.about(first),
            unit: unit.name,
            size: unit.size,
            base_unit: ackord_report::data_set::base_unit(unit),
            better: better.unwrap_or(usual),
            points: values.iter().map(|values| estimate(values)).collect(),
        })
    }

    /// With its unit, as an axis has it.
    pub(super) fn label(&self) -> String {
        match self.unit {
            "" => self.about.clone(),
            unit => format!("{} ({unit})", self.about),
        }
    }

    /// A mean in the unit of tables.
    pub(super) fn mean(&self, point: usize) -> Option<f64> {
        self.points[point].map(|found| found.mean / self.size)
    }

    /// The half width of its interval, likewise.
    pub(super) fn half(&self, point: usize) -> Option<f64> {
        Some(self.points[point]?.ci95? / self.size)
    }

    pub(super) fn cell(&self, point: usize) -> Cell {
        match self.mean(point) {
            Some(mean) => {
                Cell::Amount { mean, half_width: self.half(point), decimals: decimals_for(mean) }
            }
            None => Cell::Missing,
        }
    }

    /// Over how many runs, in a sentence.
    pub(super) fn said(&self) -> String {
        let runs = || self.points.iter().map(|found| found.as_ref().map_or(0, |found| found.runs));
        let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
        match (least, most) {
            (_, 1) => "One run of each point: there are no intervals.".to_owned(),
            (least, most) if least == most => {
                format!(
                    "Intervals are 95 % by Student's t over {most} runs of each point{AMOUNTS}."
                )
            }
            (least, most) => {
                format!(
                    "Intervals are 95 % by Student's t over {least} to {most} runs of a point{AMOUNTS}."
                )
            }
        }
    }

    /// Whether one mean is better than another.
    pub(super) fn is_better(&self, one: f64, other: f64) -> bool {
        match self.better {
            Better::Most => one > other,
            Better::Least => one < other,
        }
    }

    pub(super) fn better_word(&self) -> &'static str {
        match self.better {
            Better::Most => "most",
            Better::Least => "least",
        }
    }
}
