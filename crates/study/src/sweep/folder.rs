//! The folder of a sweep: what it is of, the journal of its runs, the tables.
//!
//! ```text
//! sweep.json                       everything the runs follow from
//! runs.jsonl                       the journal: a line per finished or failed run
//! series/QUANTITY/part-*.parquet   a file per run, where series are kept
//! runs/ flows/ links/ queues/      the data set, written once every run is done
//! ```

use super::plan::{Plan, RunAt, Shard};
use super::record::Record;
use crate::runs::Journal;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const PLAN: &str = "sweep.json";
pub(super) const JOURNAL: &str = "runs.jsonl";

/// Why a sweep cannot go on, or be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// There is another one.
    #[error(
        "`{}` has another sweep: {}; name another folder, or remove this one", folder.display(),
        differences.join(", ")
    )]
    Another {
        /// Where.
        folder: PathBuf,
        /// What differs.
        differences: Vec<String>,
    },
    /// It is under way.
    #[error("another program is at work on the sweep in `{}`", .0.display())]
    AtWork(PathBuf),
    /// There is none.
    #[error("`{}` has no sweep: `ackord sweep FILE --out DIR` makes one", .0.display())]
    None(PathBuf),
    /// It cannot be read, being damaged or of another version.
    #[error("`{}` is not what this version of the program writes", .0.display())]
    Unknown(PathBuf),
    /// Shards do not make a whole.
    #[error("{0}")]
    Shards(String),
    /// A metric or an axis that is not there.
    #[error("{what}{}", crate::sweep::folder::names(nearest.as_deref(), known))]
    UnknownName {
        /// What is wrong.
        what: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<String>,
    },
    /// There is nothing to be shown.
    #[error("no run of the sweep in `{}` is finished", .0.display())]
    Empty(PathBuf),
    /// The system refuses.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl SweepError {
    /// Whether whoever called can put it right.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, SweepError::Io { .. })
    }
}

pub(super) fn names(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => format!("; there is {}", known.join(", ")),
    }
}

pub(super) fn cannot<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl Fn(io::Error) -> SweepError + 'a {
    move |source| SweepError::Io { what, path: path.to_owned(), source }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    Done(Record),
    /// Why it failed.
    Failed(String),
}

/// What became of a point's runs, by which of them it is.
pub(super) type States = BTreeMap<u32, State>;

/// A sweep's folder that is at hand.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) plan: Plan,
    pub(super) journal: Journal,
    /// Held as long as this sweep is at work.
    _lock: Option<File>,
}

impl Folder {
    /// The folder for a sweep, which may have been begun there.
    pub(super) fn begin(path: &Path, plan: Plan) -> Result<Folder, SweepError> {
        fs::create_dir_all(path).map_err(cannot("create the folder", path))?;
        let file = path.join(PLAN);
        match read_plan(&file) {
            Ok(there) => {
                let differences = plan.differences(&there);
                if !differences.is_empty() {
                    return Err(SweepError::Another { folder: path.to_owned(), differences });
                }
            }
            Err(SweepError::None(_)) => write_plan(&file, &plan)?,
            Err(error) => return Err(error),
        }
        let lock = File::open(&file).map_err(cannot("open", &file))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SweepError::AtWork(path.to_owned())),
            // Some file systems of clusters have no locks: who starts a part twice is not told there.
            Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => return Err(cannot("lock", &file)(source)),
        }
        let journal = journal_of(path)?;
        Ok(Folder { path: path.to_owned(), plan, journal, _lock: Some(lock) })
    }

    /// The sweep in this folder, to be looked at.
    pub(super) fn open(path: &Path) -> Result<Folder, SweepError> {
        let file = path.join(PLAN);
        let plan = read_plan(&file).map_err(|error| match error {
            SweepError::None(_) => SweepError::None(path.to_owned()),
            other => other,
        })?;
        let journal = journal_of(path)?;
        Ok(Folder { path: path.to_owned(), plan, journal, _lock: None })
    }

    /// What is known of the runs of each point.
    pub(super) fn states(&self) -> Vec<States> {
        let mut states = vec![States::new(); self.plan.points()];
        let mut points: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for point in 0..self.plan.points() {
            points.entry(self.plan.hash(RunAt { point, at: 0 })).or_default().push(point);
        }
        for key in self.journal.keys() {
            let Some(at) = self.plan.at(key) else { continue };
            // Points that mean the same have the same runs.
            for &point in points.get(key.scenario.as_str()).into_iter().flatten() {
                let done = || self.journal.find(key).map(State::Done);
                let failed = self.journal.failure(key).map(|why| State::Failed(why.to_owned()));
                if let Some(state) = failed.or_else(done) {
                    states[point].insert(at, state);
                }
            }
        }
        states
    }

    pub(super) fn shard(&self) -> Option<Shard> {
        self.plan.shard
    }
}

fn journal_of(folder: &Path) -> Result<Journal, SweepError> {
    let path = folder.join(JOURNAL);
    Journal::at(&path).map_err(cannot("read", &path))
}

fn read_plan(file: &Path) -> Result<Plan, SweepError> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SweepError::None(file.to_owned()));
        }
        read => read.map_err(cannot("read", file))?,
    };
    let plan: Option<Plan> = serde_json::from_str(&text).ok();
    plan.filter(Plan::is_known).ok_or_else(|| SweepError::Unknown(file.to_owned()))
}

fn write_plan(file: &Path, plan: &Plan) -> Result<(), SweepError> {
    let partial = file.with_extension("partial");
    let text = ackord_report::data::to_json(plan);
    fs::write(&partial, text).map_err(cannot("write", &partial))?;
    fs::rename(&partial, file).map_err(cannot("write", file))
}
