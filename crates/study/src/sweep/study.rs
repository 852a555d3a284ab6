//! A study file on its way to a [`Study`]: read, parsed, checked at every point before anything runs.

use super::axes::{Axis, AxisKey};
use super::draft::Draft;
use super::keys;
use super::metrics::Kept;
use super::plan::Until;
use crate::labels::run_labels;
use crate::{Cost, cost};
use ackord_scenario::format::{Reader, Report, parse, read, unreadable, whole};
use ackord_scenario::{Errors, Override, Place, Problem, Scenario, ScenarioFile, Style, Wrong};
use rayon::prelude::*;
use std::collections::BTreeSet;
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

/// More points or runs than these are a mistake.
const MOST_POINTS: u128 = 100_000;
const MOST_RUNS: u128 = 10_000_000;

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

impl Study {
    /// Estimates the cost of all runs, `jobs` at a time, from the first seed.
    pub fn cost(&self, jobs: usize) -> Cost {
        let each = self.points.iter().map(|point| cost(&point.scenario, self.first_seed));
        let whole = each.fold(Cost { seconds: 0.0, bytes: 0.0 }, |sum, one| Cost {
            seconds: sum.seconds + one.seconds * f64::from(self.runs) / jobs as f64,
            bytes: sum.bytes.max(one.bytes),
        });
        Cost { bytes: whole.bytes * jobs as f64, ..whole }
    }
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
    /// The scenario is not sound at points.
    #[error("{errors}{}", points_told(at))]
    Points {
        /// The first points at which each problem appears: `links.hop.delay = 10 ms`.
        at: Vec<String>,
        /// What is wrong with the study, there and elsewhere.
        errors: Errors,
    },
}

/// Returns points as the line below their errors; of many the first.
fn points_told(at: &[String]) -> String {
    const MOST: usize = 5;
    let noun = if at.len() == 1 { "point" } else { "points" };
    let more = at.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = at.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join("; ");
    format!("at the {noun}: {first}{more}")
}

impl StudyError {
    /// Returns the text for a terminal.
    pub fn render(&self, style: Style) -> String {
        match self {
            StudyError::File(errors) => errors.render(style),
            StudyError::Points { at, errors } => {
                format!("{}{}\n", errors.render(style), points_told(at))
            }
        }
    }
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

    /// Returns the study, with the scenario checked at every point.
    ///
    /// # Errors
    /// Everything that is wrong with the file, its changes and values included; what is wrong with the scenario
    /// itself only if nothing is wrong here.
    pub fn check(&self) -> Result<Study, StudyError> {
        let mut report = Report::default();
        let document = whole(parse(&self.text).map_err(|problems| self.told(problems))?);
        let root = Reader::new(&mut report, &document, String::new(), keys::FILE, "a study");
        let Some(root) = root else { return Err(self.told(report.into_problems()).into()) };
        let draft = Draft::read(&mut report, &root);
        let kept = draft.kept(&mut report);
        let base = self.base(&mut report, &draft);
        let labels = base.as_ref().ok().map(|base| run_labels(&base.scenario, base.scenario.seed));
        let until = labels.and_then(|labels| draft.until(&mut report, &kept, &labels));
        self.is_small_enough(&mut report, &draft, until.as_ref());
        let mut at = Vec::new();
        let points = match &base {
            Ok(base) if draft.points() <= MOST_POINTS => {
                self.points(&mut report, &draft, base, &mut at)?
            }
            _ => Vec::new(),
        };
        if !report.is_empty() {
            let errors = self.told(report.into_problems());
            return Err(if at.is_empty() {
                errors.into()
            } else {
                StudyError::Points { at, errors }
            });
        }
        let base = base?;
        let at_most = until.as_ref().map(|until| until.at_most);
        Ok(Study {
            name: draft.name.expect("one that is missing was reported"),
            purpose: draft.purpose,
            scenario: base.given,
            set: base.set,
            axes: draft.axes,
            points,
            first_seed: draft.first_seed.unwrap_or(base.scenario.seed),
            runs: at_most.unwrap_or(draft.count.unwrap_or(1)),
            until,
            kept,
            series: draft.series,
        })
    }

    /// Opens the scenario and checks it with the changes of `[set]`. Changes that are not sound are reported and
    /// left out, so that the rest of the study can be checked in the same go.
    ///
    /// # Errors
    /// What is wrong with the scenario itself, or nothing more than what was reported.
    fn base(&self, report: &mut Report, draft: &Draft<'_>) -> Result<Base, Errors> {
        let nothing_more = || Errors::new(&self.name, &self.text, Vec::new());
        let Some((given, place)) = &draft.scenario else { return Err(nothing_more()) };
        let (given, file) = match self.scenario(given) {
            Ok(opened) => opened,
            Err(errors) => {
                // The problem belongs to the line that names the file.
                for problem in errors.problems {
                    report.add(place, "scenario", problem.wrong);
                }
                return Err(nothing_more());
            }
        };
        let set: Vec<Override> = draft.set.iter().map(|(change, ..)| change.clone()).collect();
        let rounds = Rounds::of(&file, &set);
        for (change, Problem { path, wrong, .. }, in_value) in rounds.problems {
            let (_, key, value) = &draft.set[change];
            report.add(if in_value { value } else { key }, &path, wrong);
        }
        let scenario = rounds.scenario?;
        let is_sound = |change: &Override| !rounds.left_out.contains(&change.path);
        let set = set.into_iter().filter(is_sound).collect();
        Ok(Base { given, file, scenario, set, left_out: rounds.left_out })
    }

    /// Opens the scenario: how a command line names it, and its file.
    fn scenario(&self, given: &str) -> Result<(String, ScenarioFile), Errors> {
        if given.contains(['/', '\\', '.']) {
            let path = self.folder.join(given);
            ScenarioFile::open(&path).map(|file| (path.display().to_string(), file))
        } else {
            ScenarioFile::from_library(given).map(|file| (given.to_owned(), file))
        }
    }

    /// Reports more points or runs than a study may have.
    fn is_small_enough(&self, report: &mut Report, draft: &Draft<'_>, until: Option<&Until>) {
        let points = draft.points();
        let each = until.map_or(draft.count.unwrap_or(1), |until| until.at_most);
        let runs = points.saturating_mul(u128::from(each));
        let (why, allowed) = match () {
            () if points > MOST_POINTS => (format!("there are {points} points"), MOST_POINTS),
            () if runs > MOST_RUNS => (format!("there may be {runs} runs"), MOST_RUNS),
            () => return,
        };
        let there = |key: &&&'static str| draft.root.get(key).is_some();
        let key = ["grid", "axes", "zip", "seeds"].iter().find(there).unwrap_or(&"until");
        let allowed = format!("{allowed} in one study");
        report.add(draft.root.place_of(key), key, Wrong::BadValue { why, allowed });
    }

    /// Checks every combination, the last axis fastest. Of what is wrong each problem is reported once, and in `at`
    /// the first point that has it.
    ///
    /// # Errors
    /// Something is wrong with the scenario at a point that no line of the study stands for.
    fn points(
        &self,
        report: &mut Report,
        draft: &Draft<'_>,
        base: &Base,
        at: &mut Vec<String>,
    ) -> Result<Vec<Point>, StudyError> {
        let count: usize = draft.axes.iter().map(Axis::len).product();
        let point = |number: usize| {
            let at = place_of(&draft.axes, number);
            let file = base.file.clone().with_overrides(base.set.iter().cloned());
            let rounds = Rounds::of(&file, &overrides(&draft.axes, &at));
            match rounds {
                Rounds { problems, scenario: Ok(scenario), .. } if problems.is_empty() => {
                    Ok(Point { hash: scenario.hash(), scenario: Arc::new(scenario) })
                }
                unsound => Err(Box::new((at, unsound))),
            }
        };
        let checked: Vec<Result<Point, _>> = (0..count).into_par_iter().map(point).collect();
        let (mut points, mut known) = (Vec::new(), BTreeSet::new());
        let mut elsewhere = None;
        for point in checked {
            let (place, rounds) = match point {
                Ok(point) => {
                    points.push(point);
                    continue;
                }
                Err(unsound) => *unsound,
            };
            let keys: Vec<_> = keys_at(&draft.axes, &place).collect();
            let mut is_new = false;
            for (change, Problem { path, wrong, .. }, in_value) in rounds.problems {
                let (key, at) = keys[change];
                let place = if in_value { key.places.get(at) } else { key.place.as_ref() };
                let place = place.unwrap_or(&Place::File);
                let follows = base.left_out.iter().chain(&draft.unsound);
                let follows = follows.into_iter().any(|change| touches(change, &key.path));
                if !follows && known.insert(format!("{place:?} {wrong:?}")) {
                    report.add(place, &path, wrong);
                    is_new = true;
                }
            }
            if is_new {
                at.push(told(&draft.axes, &place));
            }
            if let Err(errors) = rounds.scenario {
                elsewhere.get_or_insert((told(&draft.axes, &place), errors));
            }
        }
        match elsewhere {
            Some((point, errors)) if report.is_empty() => {
                Err(StudyError::Points { at: vec![point], errors })
            }
            _ => Ok(points),
        }
    }

    fn told(&self, problems: Vec<Problem>) -> Errors {
        Errors::new(&self.name, &self.text, problems)
    }
}

/// What is wrong with changes of a scenario. A path that leads nowhere hides what is wrong with values, so unsound
/// changes are left out, and the others are checked again.
struct Rounds {
    /// Number of the change, what is wrong, and whether it is the value that is wrong and not the path.
    problems: Vec<(usize, Problem, bool)>,
    /// Paths of unsound changes.
    left_out: Vec<String>,
    /// The scenario with the sound changes, or what is wrong with it.
    scenario: Result<Scenario, Errors>,
}

impl Rounds {
    fn of(file: &ScenarioFile, changes: &[Override]) -> Rounds {
        let mut kept: Vec<usize> = (0..changes.len()).collect();
        let (mut problems, mut left_out) = (Vec::new(), Vec::<String>::new());
        loop {
            let sound = kept.iter().map(|&at| changes[at].clone());
            let errors = match file.clone().with_overrides(sound).check() {
                Ok(scenario) => return Rounds { problems, left_out, scenario: Ok(scenario) },
                Err(errors) => errors,
            };
            let before = errors.overrides.len() - kept.len();
            let mut wrong = BTreeSet::new();
            for problem in &errors.problems {
                let Place::Override { index, range } = &problem.place else {
                    return Rounds { problems, left_out, scenario: Err(errors) };
                };
                let Some(&at) = index.checked_sub(before).and_then(|index| kept.get(index)) else {
                    return Rounds { problems, left_out, scenario: Err(errors) };
                };
                let path = &changes[at].path;
                if !left_out.iter().any(|change| touches(change, path)) {
                    problems.push((at, problem.clone(), range.start > path.len()));
                }
                wrong.insert(at);
            }
            left_out.extend(wrong.iter().map(|&at| changes[at].path.clone()));
            kept.retain(|at| !wrong.contains(at));
        }
    }
}

/// Returns whether a change decides about what another path may be: it names the same key of a link, flow or host, or
/// every endpoint.
fn touches(change: &str, path: &str) -> bool {
    let any = |step: &str| step == "*" || step.parse::<u32>().is_ok();
    let same = |(one, two): (&str, &str)| one == two || any(one) || any(two);
    let of_endpoints = change.split('.').next() == Some("tcp") && path.contains("tcp");
    of_endpoints || change.split('.').zip(path.split('.')).take(3).all(same)
}

/// Returns the place on each axis of the point of this number.
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

/// Returns every path with the place on its axis.
fn keys_at<'a>(axes: &'a [Axis], at: &'a [usize]) -> impl Iterator<Item = (&'a AxisKey, usize)> {
    axes.iter().zip(at).flat_map(|(axis, &at)| axis.keys.iter().map(move |key| (key, at)))
}

/// Returns what a point changes.
pub(super) fn overrides(axes: &[Axis], at: &[usize]) -> Vec<Override> {
    keys_at(axes, at).map(|(key, at)| Override::new(&key.path, key.values[at].value())).collect()
}

/// Returns a point in words, by the names of its axes or else by their paths.
pub(super) fn told(axes: &[Axis], at: &[usize]) -> String {
    let columns = axes.iter().zip(at).flat_map(|(axis, &at)| {
        axis.identifying().into_iter().map(move |column| (column.name.clone(), column.text(at)))
    });
    columns.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The scenario of a study with the changes that every point has.
struct Base {
    /// As a command line has it.
    given: String,
    file: ScenarioFile,
    scenario: Scenario,
    /// Changes of `[set]` that are sound.
    set: Vec<Override>,
    /// Paths of those that are not.
    left_out: Vec<String>,
}
