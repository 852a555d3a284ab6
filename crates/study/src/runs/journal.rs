//! Finished runs, written down one by one, so that many runs that were stopped go on where they were.
//!
//! A journal is a text with a line of JSON per run: what was run (the scenario's hash, the seed, the
//! version of the program, what is kept of a run) and what was kept, or why it failed. Lines that cannot be
//! read are passed over: the last one may be torn where the program was killed. Of two lines of one run
//! the later one holds. Floats come back to the last bit.
//!
//! Not modelled: two programs that write to one journal, a change of the program without a
//! change of its version (a developer starts anew), and a machine that loses power: lines are
//! with the kernel then, and may not be on the disk.

use crate::run::VERSION;
use ackord_scenario::Scenario;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The runs of earlier attempts, and where those of this one go.
pub struct Journal {
    /// Of each run what was kept, as JSON, or why it failed.
    known: BTreeMap<Key, Result<Box<RawValue>, String>>,
    out: Mutex<Out>,
}

struct Out {
    lines: Box<dyn Write + Send>,
    /// The first thing that went wrong; the runs go on without a journal.
    error: Option<io::Error>,
}

/// What a run is told from others by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Hash of the scenario.
    pub scenario: String,
    /// The run's seed.
    pub seed: u64,
    /// Of the program.
    pub version: String,
    /// What is kept of a run, with a number for its form.
    pub kept: String,
}

#[derive(Deserialize)]
struct Line {
    scenario: String,
    seed: u64,
    version: String,
    kept: String,
    run: Option<Box<RawValue>>,
    failed: Option<String>,
}

#[derive(Serialize)]
struct LineOf<'a, T> {
    scenario: &'a str,
    seed: u64,
    version: &'a str,
    kept: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
}

impl Journal {
    /// A journal that knows the runs in `text` and appends others to `lines`, a whole line at a
    /// time. `text` may end in the middle of a line; `lines` begins with a line break then.
    pub fn new(text: &str, mut lines: Box<dyn Write + Send>) -> Journal {
        let mut error = None;
        if !text.is_empty() && !text.ends_with('\n') {
            error = lines.write_all(b"\n").err();
        }
        let known = text.lines().filter_map(read).collect();
        Journal { known, out: Mutex::new(Out { lines, error }) }
    }

    /// The journal in this file, which is made when there is something to write.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn at(path: &Path) -> io::Result<Journal> {
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        Ok(Journal::new(&text, Box::new(JournalFile { path: path.to_owned(), file: None })))
    }

    /// How many finished runs it knew when it was opened; those that failed do not count.
    pub fn known_runs(&self) -> usize {
        self.known.values().filter(|run| run.is_ok()).count()
    }

    /// What went wrong in writing, if anything did. The runs themselves are not affected.
    pub fn take_error(&self) -> Option<io::Error> {
        self.out.lock().ok()?.error.take()
    }

    /// Whether something went wrong in writing.
    pub fn is_broken(&self) -> bool {
        self.out.lock().is_ok_and(|out| out.error.is_some())
    }

    /// Every run that it knew when it was opened, those that failed too.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.known.keys()
    }

    /// What was kept of a run, if it is known.
    pub fn find<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        serde_json::from_str(self.known.get(key)?.as_ref().ok()?.get()).ok()
    }

    /// Why a run failed, if it did.
    pub fn failure(&self, key: &Key) -> Option<&str> {
        self.known.get(key)?.as_ref().err().map(String::as_str)
    }

    /// Writes down what was kept of a run.
    pub fn add<T: Serialize>(&self, key: &Key, run: &T) {
        self.write(&key.line(Some(run), None));
    }

    /// Writes down why a run failed.
    pub fn add_failure(&self, key: &Key, why: &str) {
        self.write(&key.line::<()>(None, Some(why)));
    }

    fn write<T: Serialize>(&self, line: &LineOf<'_, T>) {
        let Ok(mut line) = serde_json::to_vec(line) else { return };
        line.push(b'\n');
        let Ok(mut out) = self.out.lock() else { return };
        if out.error.is_some() {
            return;
        }
        let Out { lines, error } = &mut *out;
        *error = lines.write_all(&line).and_then(|()| lines.flush()).err();
    }
}

fn read(line: &str) -> Option<(Key, Result<Box<RawValue>, String>)> {
    let Line { scenario, seed, version, kept, run, failed } = serde_json::from_str(line).ok()?;
    let run = match (run, failed) {
        (Some(run), _) => Ok(run),
        (None, failed) => Err(failed?),
    };
    Some((Key { scenario, seed, version, kept }, run))
}

/// A file that is made when there is something to write: most papers keep no journal.
struct JournalFile {
    path: PathBuf,
    file: Option<File>,
}

impl JournalFile {
    fn file(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            self.file = Some(File::options().create(true).append(true).open(&self.path)?);
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Write for JournalFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({} runs known)", self.known.len())
    }
}

impl Key {
    /// The run of `scenario` with `seed` by this version of the program, of which `kept` is kept.
    pub fn new(scenario: &Scenario, seed: u64, kept: &str) -> Key {
        Key { scenario: scenario.hash(), seed, version: VERSION.to_owned(), kept: kept.to_owned() }
    }

    fn line<'a, T>(&'a self, run: Option<&'a T>, failed: Option<&'a str>) -> LineOf<'a, T> {
        let Key { scenario, seed, version, kept } = self;
        LineOf { scenario, seed: *seed, version, kept, run, failed }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::Arc;

    /// A writer whose text can be looked at.
    #[derive(Clone, Default)]
    pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panicked").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("nobody panicked").clone()).expect("text")
        }
    }

    fn key(seed: u64) -> Key {
        Key { scenario: "abc".to_owned(), seed, version: "1".to_owned(), kept: "x".to_owned() }
    }

    #[test]
    fn what_was_written_is_known_next_time() {
        let paper = Lines::default();
        let journal = Journal::new("", Box::new(paper.clone()));
        let values = [0, 17, u64::MAX];
        for (seed, value) in (0..).zip(values) {
            journal.add(&key(seed), &value);
        }
        let again = Journal::new(&paper.text(), Box::new(Lines::default()));
        assert_eq!(again.known_runs(), 3);
        for (seed, value) in (0..).zip(values) {
            assert_eq!(again.find(&key(seed)), Some(value));
        }
        assert_eq!(again.find::<u64>(&key(9)), None);
        assert_eq!(again.find::<u64>(&Key { version: "2".to_owned(), ..key(0) }), None);
    }

    #[test]
    fn a_torn_line_costs_its_own_run_and_no_other() {
        let paper = Lines::default();
        let journal = Journal::new("", Box::new(paper.clone()));
        for seed in 0..3 {
            journal.add(&key(seed), &seed);
        }
        let mut text = paper.text();
        text.truncate(text.len() - 7);
        let after = Lines::default();
        let journal = Journal::new(&text, Box::new(after.clone()));
        assert_eq!(journal.known_runs(), 2);
        journal.add(&key(2), &2_u64);
        let whole = text + &after.text();
        let journal = Journal::new(&whole, Box::new(Lines::default()));
        assert_eq!((journal.known_runs(), journal.find(&key(2))), (3, Some(2_u64)));
    }

    #[test]
    fn a_disk_that_is_full_is_told_once_and_stops_nothing() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let journal = Journal::new("", Box::new(Full));
        journal.add(&key(0), &0);
        journal.add(&key(1), &1);
        let kind = journal.take_error().map(|error| error.kind());
        assert_eq!(kind, Some(io::ErrorKind::StorageFull));
        assert!(journal.take_error().is_none());
    }
}
