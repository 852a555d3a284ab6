//! The tables of a study file, read without a scenario.

use super::axes::{Axis, axis_keys, changes};
use super::keys;
use super::metrics::{Kept, Selected};
use super::named::named_axes;
use super::plan::Until;
use ackord_measure::RunLabels;
use ackord_report::data_set::QUANTITIES;
use ackord_scenario::format::{Field, Reader, Report, Value};
use ackord_scenario::{NameOf, Override, Place, Wrong};
use ackord_units::Ratio;
use std::collections::BTreeSet;

/// What the file says by itself, as far as it can be read.
pub(super) struct Draft<'a> {
    pub(super) root: &'a Reader<'a>,
    pub(super) name: Option<String>,
    pub(super) purpose: String,
    pub(super) scenario: Option<(String, Place)>,
    pub(super) set: Vec<(Override, Place, Place)>,
    pub(super) axes: Vec<Axis>,
    /// Paths of axes that are not sound, which have been reported.
    pub(super) unsound: Vec<String>,
    pub(super) first_seed: Option<u64>,
    pub(super) count: Option<u32>,
    pub(super) series: Vec<String>,
}

impl<'a> Draft<'a> {
    /// Reads a file that is a table.
    pub(super) fn read(report: &mut Report, root: &'a Reader<'a>) -> Draft<'a> {
        root.integer(report, "version");
        let name = root.name(report, "name");
        let purpose = root.prose(report, "purpose").unwrap_or_default();
        let scenario = root.prose(report, "scenario");
        let set = root.get("set").map(|field| changes(report, &field)).unwrap_or_default();
        let axes = axes(report, root);
        let (first_seed, count) = seeds(report, root);
        let series = names(report, root, "series");
        let known = || QUANTITIES.iter().map(|quantity| quantity.name);
        for (name, field) in &series {
            if !known().any(|known| known == name) {
                field.report(report, Wrong::unknown_name(NameOf::Other("quantity"), name, known()));
            }
        }
        let is_sound = |axis: &Axis| {
            axis.len() > 0 && axis.keys.iter().all(|key| key.values.len() == axis.len())
        };
        let (axes, unsound): (Vec<_>, Vec<_>) = axes.into_iter().partition(is_sound);
        column_twice(report, &axes);
        let unsound = unsound.into_iter().flat_map(|axis| axis.keys).map(|key| key.path).collect();
        Draft {
            root,
            name,
            purpose,
            scenario: scenario.map(|scenario| (scenario, root.place_of("scenario").clone())),
            set,
            axes,
            unsound,
            first_seed,
            count,
            series: series.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Returns how many points there are.
    pub(super) fn points(&self) -> u128 {
        self.axes.iter().map(|axis| axis.len() as u128).fold(1, u128::saturating_mul)
    }

    /// Reads which metrics are kept.
    pub(super) fn kept(&self, report: &mut Report) -> Kept {
        let wanted = names(report, self.root, "metrics");
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        let (kept, wrong) = Kept::of(&names);
        for (at, wrong) in wrong {
            wanted[at].1.report(report, wrong);
        }
        kept
    }

    /// Reads the stopping rule for runs with these labels.
    pub(super) fn until(
        &self,
        report: &mut Report,
        kept: &Kept,
        labels: &RunLabels,
    ) -> Option<Until> {
        let field = self.root.get("until")?;
        let reader = Reader::new(report, field.item, field.path, keys::UNTIL, "`until`")?;
        let metric = reader.get("metric").and_then(|field| {
            let name = field.text(report, "the name of a metric")?;
            let found = Selected::of(name, kept).and_then(|found| found.among(labels));
            found.map_err(|wrong| field.report(report, wrong)).ok()?;
            Some(name.to_owned())
        });
        let within = reader.get("within").and_then(|field| {
            let share = field.quantity::<Ratio>(report)?;
            field.above_zero(report, share)
        });
        let at_least = reader.integer(report, "at_least").unwrap_or(5);
        let at_most = reader.integer(report, "at_most");
        let batch = reader.integer(report, "batch").unwrap_or(5);
        let (metric, within, at_most) = (metric?, within?, at_most?);
        if at_most < at_least {
            let why = format!("`at_most`, {at_most}, is less than `at_least`, {at_least}");
            let allowed = format!("{at_least} or more");
            report.add(
                reader.place_of("at_most"),
                "until.at_most",
                Wrong::BadValue { why, allowed },
            );
        }
        if self.count.is_some() {
            let what = "both `seeds` and `until` say how many runs there are".to_owned();
            let help = "leave the count of `seeds` out: `at_most` bounds it".to_owned();
            let first = Some(reader.place.clone());
            report.add(self.root.place_of("seeds"), "seeds", Wrong::Other { what, help, first });
        }
        let number = |runs: u64| u32::try_from(runs).expect("the keys bound it");
        Some(Until {
            metric,
            within: within.get(),
            at_least: number(at_least),
            at_most: number(at_most),
            batch: number(batch),
        })
    }
}

/// Reads the grid's axes, then those of paths that vary together, then those with names.
fn axes(report: &mut Report, root: &Reader<'_>) -> Vec<Axis> {
    let grid = root.get("grid").map(|field| axis_keys(report, &field)).unwrap_or_default();
    let mut axes: Vec<Axis> = grid.into_iter().map(|key| Axis::of_paths(vec![key])).collect();
    for field in root.list(report, "zip", "a list of tables, `[[zip]]`") {
        let before = report.len();
        let keys = axis_keys(report, &field);
        let Some(first) = keys.first() else {
            let why = "there is no path".to_owned();
            let allowed = "paths with equally many values".to_owned();
            field.report(report, Wrong::BadValue { why, allowed });
            continue;
        };
        let (path, count) = (first.path.clone(), first.values.len());
        for key in keys.iter().filter(|key| key.values.len() != count) {
            if report.len() == before {
                let (other, values) = (&key.path, key.values.len());
                let why = format!("`{path}` has {count} values, and `{other}` has {values}");
                let allowed = "equally many values for what varies together".to_owned();
                let place = key.place.clone().unwrap_or(Place::File);
                report.add(&place, &field.path, Wrong::BadValue { why, allowed });
            }
        }
        axes.push(Axis::of_paths(keys));
    }
    axes.extend(root.get("axes").map(|field| named_axes(report, &field)).unwrap_or_default());
    path_twice(report, &axes);
    axes
}

fn path_twice(report: &mut Report, axes: &[Axis]) {
    let keys: Vec<_> = axes.iter().flat_map(|axis| &axis.keys).collect();
    for (at, key) in keys.iter().enumerate() {
        if let Some(first) = keys[..at].iter().find(|other| other.path == key.path) {
            let place = |key: &super::axes::AxisKey| key.place.clone().unwrap_or(Place::File);
            let (what, name) = (NameOf::Other("axis"), key.path.clone());
            let wrong = Wrong::Duplicate { what, name, first: place(first) };
            report.add(&place(key), &key.path, wrong);
        }
    }
}

/// Reports axes with names whose columns another axis has already, such as `delay_s` beside `delay`.
fn column_twice(report: &mut Report, axes: &[Axis]) {
    let mut known = BTreeSet::new();
    for axis in axes {
        let twice = axis.columns().into_iter().find(|column| known.contains(&column.name));
        if let (Some(column), Some(_)) = (twice, &axis.name) {
            let place = axis.keys.first().and_then(|key| key.place.clone());
            let why = format!("another axis has the column `{}`", column.name);
            let allowed = "another name for the axis".to_owned();
            let wrong = Wrong::BadValue { why, allowed };
            report.add(&place.unwrap_or(Place::File), &axis.name(), wrong);
        }
        known.extend(axis.columns().into_iter().map(|column| column.name));
    }
}

/// The first seed and how many, as far as they are said.
fn seeds(report: &mut Report, root: &Reader<'_>) -> (Option<u64>, Option<u32>) {
    let number = |count: Option<u64>| count.and_then(|count| u32::try_from(count).ok());
    let Some(field) = root.get("seeds") else { return (None, None) };
    match &field.item.value {
        Value::Integer(count) => {
            let count =
                u64::try_from(*count).ok().filter(|count| (1..=keys::MOST_RUNS).contains(count));
            if count.is_none() {
                let why = "there has to be a run".to_owned();
                let allowed = format!("a whole number from 1 to {}", keys::MOST_RUNS);
                field.report(report, Wrong::BadValue { why, allowed });
            }
            (None, number(count))
        }
        Value::Table(_) => {
            let path = field.path.clone();
            let Some(reader) = Reader::new(report, field.item, path, keys::SEEDS, "`seeds`") else {
                return (None, None);
            };
            (reader.integer(report, "first"), number(reader.integer(report, "count")))
        }
        _ => {
            field.wrong_type(report, "how many, or a table like { first = 1, count = 10 }");
            (None, None)
        }
    }
}

fn names<'a>(
    report: &mut Report,
    root: &'a Reader<'a>,
    key: &'static str,
) -> Vec<(String, Field<'a>)> {
    let fields = root.list(report, key, "a list of names");
    let named = |field: Field<'a>| Some((field.text(report, "a name")?.to_owned(), field));
    fields.into_iter().filter_map(named).collect()
}
