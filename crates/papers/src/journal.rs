//! Finished runs of a paper, written down one by one, so that a reproduction that was stopped goes
//! on where it was.
//!
//! A journal is a text with a line of JSON per run: what was run (the scenario's hash, the seed, the
//! version of the program, what is kept of a run) and what was kept. Lines that cannot be read are
//! passed over: the last one may be torn where the program was killed. Who opens the file is the
//! caller; this file reads text and writes lines.
//!
//! What is kept should be whole numbers: a float may come back with another last bit.
//!
//! Not modelled: two programs that write to one journal, and a change of the program without a
//! change of its version (a developer starts anew).

use ackord_scenario::Scenario;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Mutex;

/// The runs of earlier attempts, and where those of this one go.
pub struct Journal {
    known: BTreeMap<Key, serde_json::Value>,
    out: Mutex<Out>,
}

struct Out {
    lines: Box<dyn Write + Send>,
    /// The first thing that went wrong; the runs go on without a journal.
    error: Option<std::io::Error>,
}

/// What a run is told from others by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key {
    scenario: String,
    seed: u64,
    version: String,
    kept: String,
}

#[derive(Deserialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    run: serde_json::Value,
}

#[derive(Serialize)]
struct LineOf<'a, T> {
    #[serde(flatten)]
    key: &'a Key,
    run: &'a T,
}

impl Journal {
    /// A journal that knows the runs in `text` and appends others to `lines`, a whole line at a
    /// time. `text` may end in the middle of a line; `lines` begins with a line break then.
    pub fn new(text: &str, mut lines: Box<dyn Write + Send>) -> Journal {
        let mut error = None;
        if !text.is_empty() && !text.ends_with('\n') {
            error = lines.write_all(b"\n").err();
        }
        let read = |line: &str| serde_json::from_str::<Line>(line).ok();
        let known = text.lines().filter_map(read).map(|line| (line.key, line.run)).collect();
        Journal { known, out: Mutex::new(Out { lines, error }) }
    }

    /// How many runs it knew when it was opened.
    pub fn known_runs(&self) -> usize {
        self.known.len()
    }

    /// What went wrong in writing, if anything did. The runs themselves are not affected.
    pub fn take_error(&self) -> Option<std::io::Error> {
        self.out.lock().ok()?.error.take()
    }

    /// What was kept of a run, if it is known.
    pub(super) fn find<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        serde_json::from_value(self.known.get(key)?.clone()).ok()
    }

    /// Writes down what was kept of a run.
    pub(super) fn add<T: Serialize>(&self, key: &Key, run: &T) {
        let Ok(mut line) = serde_json::to_vec(&LineOf { key, run }) else { return };
        line.push(b'\n');
        let Ok(mut out) = self.out.lock() else { return };
        if out.error.is_some() {
            return;
        }
        let Out { lines, error } = &mut *out;
        *error = lines.write_all(&line).and_then(|()| lines.flush()).err();
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({} runs known)", self.known.len())
    }
}

impl Key {
    /// The run of `scenario` with `seed` by this version of the program, of which `kept` is kept.
    pub(super) fn new(scenario: &Scenario, seed: u64, kept: &str) -> Key {
        Key {
            scenario: scenario.hash(),
            seed,
            version: ackord_study::VERSION.to_owned(),
            kept: kept.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Lines;

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
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let journal = Journal::new("", Box::new(Full));
        journal.add(&key(0), &0);
        journal.add(&key(1), &1);
        let kind = journal.take_error().map(|error| error.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::StorageFull));
        assert!(journal.take_error().is_none());
    }
}
