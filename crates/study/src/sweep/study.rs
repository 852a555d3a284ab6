//! A study file on its way to a [`Study`]: read, parsed, checked at every point before anything runs.

use super::axes::{Axis, axis_keys, changes};
use super::keys;
use super::metrics::{Kept, Selected};
use super::plan::Until;
use crate::labels::run_labels;
use ackord_measure::RunLabels;
use ackord_report::data_set::QUANTITIES;
use ackord_scenario::format::{Field, Reader, Report, Value, parse, read, unreadable, whole};
use ackord_scenario::{Errors, NameOf, Override, Place, Problem, Scenario, ScenarioFile, Wrong};
use ackord_units::Ratio;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The text of a study, not yet checked.
#[derive(Clone, Debug)]
pub struct StudyFile {
    name: String,
    text: String,
    /// Where the scenario is looked for.
    folder: PathBuf,
}

/// Many runs of a scenario: at which points, how many, and what is kept of each.
#[derive(Clone, Debug)]
pub struct Study {
    /// Short name, for reports.
    pub name: String,
    /// Which question it answers.
    pub purpose: String,
    /// The scenario as `ackord run` takes it.
    pub scenario: String,
    /// What differs from the scenario's file at every point.
    pub(super) set: Vec<Override>,
    pub(super) axes: Vec<Axis>,
    pub(super) points: Vec<Point>,
    pub(super) first_seed: u64,
    /// Runs of a point, at most.
    pub(super) runs: u32,
    pub(super) until: Option<Until>,
    pub(super) kept: Kept,
    /// Names of quantities.
    pub(super) series: Vec<String>,
}

/// A combination of values.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) scenario: Arc<Scenario>,
    pub(super) hash: String,
}

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file, or the scenario with the changes at every point, is not sound.
    #[error(transparent)]
    File(#[from] Errors),
    /// The scenario is not sound at a point.
    #[error("{errors}at the point {point}")]
    Point {
        /// Which: `links.hop.delay = 10 ms`.
        point: String,
        /// What is wrong there.
        errors: Errors,
    },
}

impl StudyFile {
    /// A text; `name` stands in errors, and the scenario's path leads from `folder`.
    pub fn new(
        name: impl Into<String>,
        text: impl Into<String>,
        folder: impl Into<PathBuf>,
    ) -> StudyFile {
        StudyFile { name: name.into(), text: text.into(), folder: folder.into() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<StudyFile, Errors> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match read(path) {
            Ok(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Ok(StudyFile::new(name, text, folder))
            }
            Err(wrong) => Err(unreadable(name, wrong)),
        }
    }

    /// What it says, with the scenario checked at every point.
    ///
    /// # Errors
    /// Everything that is wrong with the file; of unsound points the first.
    pub fn check(&self) -> Result<Study, StudyError> {
        let mut report = Report::default();
        let document = whole(parse(&self.text).map_err(|problems| self.told(problems))?);
        let root = Reader::new(&mut report, &document, String::new(), keys::FILE, "a study");
        let draft = root.as_ref().and_then(|root| Draft::read(&mut report, root));
        let (Some(draft), true) = (draft, report.is_empty()) else {
            return Err(self.told(report.into_problems()).into());
        };
        let (scenario, file) = self.scenario(&draft)?;
        let sets: Vec<Override> = draft.set.iter().map(|(change, ..)| change.clone()).collect();
        let checked = file.clone().with_overrides(sets.clone()).check();
        let base = checked.map_err(|errors| {
            self.in_study(errors, |index| draft.set.get(index).map(|(_, key, value)| (key, value)))
        })?;
        let kept = draft.kept(&mut report);
        let labels = run_labels(&base, base.seed);
        let until = draft.until(&mut report, &kept, &labels);
        if !report.is_empty() {
            return Err(self.told(report.into_problems()).into());
        }
        self.is_small_enough(&draft, until.as_ref())?;
        let points = self.points(&draft, &file)?;
        let at_most = until.as_ref().map(|until| until.at_most);
        Ok(Study {
            name: draft.name,
            purpose: draft.purpose,
            scenario,
            set: sets,
            axes: draft.axes,
            points,
            first_seed: draft.first_seed.unwrap_or(base.seed),
            runs: at_most.unwrap_or(draft.count.unwrap_or(1)),
            until,
            kept,
            series: draft.series,
        })
    }

    /// The scenario as a command line has it, and its file.
    fn scenario(&self, draft: &Draft<'_>) -> Result<(String, ScenarioFile), Errors> {
        let (given, place) = &draft.scenario;
        let opened = if given.contains(['/', '\\', '.']) {
            let path = self.folder.join(given);
            ScenarioFile::open(&path).map(|file| (path.display().to_string(), file))
        } else {
            ScenarioFile::from_library(given).map(|file| (given.clone(), file))
        };
        // That there is no such file is told where it is named.
        opened.map_err(|errors| {
            let place = |problem: Problem| Problem {
                place: place.clone(),
                path: "scenario".to_owned(),
                ..problem
            };
            self.told(errors.problems.into_iter().map(place).collect())
        })
    }

    /// More points or runs than these are a slip of the pen.
    fn is_small_enough(&self, draft: &Draft<'_>, until: Option<&Until>) -> Result<(), Errors> {
        const MOST_POINTS: u128 = 100_000;
        const MOST_RUNS: u128 = 10_000_000;
        let points = draft.axes.iter().map(|axis| axis.len() as u128);
        let points = points.fold(1, u128::saturating_mul);
        let each = until.map_or(draft.count.unwrap_or(1), |until| until.at_most);
        let runs = points.saturating_mul(u128::from(each));
        let (key, why, allowed) = match () {
            () if points > MOST_POINTS => {
                ("grid", format!("there are {points} points"), MOST_POINTS)
            }
            () if runs > MOST_RUNS => ("grid", format!("there may be {runs} runs"), MOST_RUNS),
            () => return Ok(()),
        };
        let place = draft.root.place_of(key).clone();
        let wrong = Wrong::BadValue { why, allowed: format!("{allowed} in one study") };
        Err(self.told(vec![Problem { place, path: key.to_owned(), wrong }]))
    }

    /// Every combination, the last axis fastest.
    fn points(&self, draft: &Draft<'_>, file: &ScenarioFile) -> Result<Vec<Point>, StudyError> {
        let count: usize = draft.axes.iter().map(Axis::len).product();
        let sets = || draft.set.iter().map(|(change, ..)| change.clone());
        let point = |number: usize| {
            let at = place_of(&draft.axes, number);
            let file =
                file.clone().with_overrides(sets()).with_overrides(overrides(&draft.axes, &at));
            let checked = file
                .check()
                .map(|scenario| Point { hash: scenario.hash(), scenario: Arc::new(scenario) });
            checked.map_err(|errors| (at, errors))
        };
        let points: Vec<Result<Point, _>> = (0..count).into_par_iter().map(point).collect();
        let points: Result<Vec<Point>, _> = points.into_iter().collect();
        points.map_err(|(at, errors)| {
            let keys = draft.axes.iter().zip(&at);
            let places: Vec<_> = keys
                .flat_map(|(axis, &at)| axis.keys.iter().map(move |key| (key, at)))
                .map(|(key, at)| key.place.as_ref().zip(key.places.get(at)))
                .collect();
            let of_change = |index: usize| {
                let index = index.checked_sub(draft.set.len())?;
                places.get(index).copied().flatten()
            };
            let errors = self.in_study(errors, of_change);
            StudyError::Point { point: told(&draft.axes, &at), errors }
        })
    }

    /// Errors of changes, told where the study has them; those of the scenario stay there.
    fn in_study<'a>(
        &self,
        errors: Errors,
        place_of: impl Fn(usize) -> Option<(&'a Place, &'a Place)>,
    ) -> Errors {
        let path_of = |index: usize| {
            let given = errors.overrides.get(index)?;
            given.split_once('=').map(|(path, _)| path.len())
        };
        let placed = |problem: &Problem| {
            let Place::Override { index, range } = &problem.place else { return None };
            let (key, value) = place_of(*index)?;
            let place = if range.start > path_of(*index)? { value } else { key };
            Some(Problem { place: place.clone(), ..problem.clone() })
        };
        let ours: Option<Vec<Problem>> = errors.problems.iter().map(placed).collect();
        ours.map_or(errors, |problems| self.told(problems))
    }

    fn told(&self, problems: Vec<Problem>) -> Errors {
        Errors::new(&self.name, &self.text, problems)
    }
}

/// The place on each axis of the point of this number.
pub(super) fn place_of(axes: &[Axis], number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut at: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let here = rest % axis.len();
            rest /= axis.len();
            here
        })
        .collect();
    at.reverse();
    at
}

/// What a point changes.
pub(super) fn overrides(axes: &[Axis], at: &[usize]) -> Vec<Override> {
    let keys =
        axes.iter().zip(at).flat_map(|(axis, &at)| axis.keys.iter().map(move |key| (key, at)));
    keys.map(|(key, at)| Override::new(&key.path, key.values[at].value())).collect()
}

/// A point in words.
pub(super) fn told(axes: &[Axis], at: &[usize]) -> String {
    let keys =
        axes.iter().zip(at).flat_map(|(axis, &at)| axis.keys.iter().map(move |key| (key, at)));
    let told: Vec<_> =
        keys.map(|(key, at)| format!("{} = {}", key.path, key.values[at].label())).collect();
    told.join(", ")
}

/// What the file says by itself.
struct Draft<'a> {
    root: &'a Reader<'a>,
    name: String,
    purpose: String,
    scenario: (String, Place),
    set: Vec<(Override, Place, Place)>,
    axes: Vec<Axis>,
    first_seed: Option<u64>,
    count: Option<u32>,
    series: Vec<String>,
}

impl<'a> Draft<'a> {
    fn read(report: &mut Report, root: &'a Reader<'a>) -> Option<Draft<'a>> {
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
        Some(Draft {
            root,
            name: name?,
            purpose,
            scenario: (scenario?, root.place_of("scenario").clone()),
            set,
            axes,
            first_seed,
            count,
            series: series.into_iter().map(|(name, _)| name).collect(),
        })
    }

    fn kept(&self, report: &mut Report) -> Kept {
        let wanted = names(report, self.root, "metrics");
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        let (kept, wrong) = Kept::of(&names);
        for (at, wrong) in wrong {
            wanted[at].1.report(report, wrong);
        }
        kept
    }

    fn until(&self, report: &mut Report, kept: &Kept, labels: &RunLabels) -> Option<Until> {
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

/// The grid's axes, then those of paths that vary together.
fn axes(report: &mut Report, root: &Reader<'_>) -> Vec<Axis> {
    let grid = root.get("grid").map(|field| axis_keys(report, &field)).unwrap_or_default();
    let mut axes: Vec<Axis> = grid.into_iter().map(|key| Axis { keys: vec![key] }).collect();
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
        axes.push(Axis { keys });
    }
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
