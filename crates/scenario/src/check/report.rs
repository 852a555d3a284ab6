//! What is found wrong.

use crate::document::{Item, Place};
use crate::error::{Problem, Wrong};
use crate::overrides::Replaced;
use std::path::PathBuf;

/// The errors so far.
#[derive(Debug, Default)]
pub struct Report {
    pub(super) problems: Vec<Problem>,
    /// Settings that overrides replaced by naming another mechanism.
    pub(super) replaced: Vec<Replaced>,
    /// Where the files are to which the scenario refers; the working directory when absent.
    pub(super) folder: Option<PathBuf>,
    /// The document without its overrides, where it has some.
    pub(super) written: Option<Item>,
}

impl Report {
    /// Something is wrong.
    pub fn add(&mut self, place: &Place, path: &str, wrong: Wrong) {
        self.problems.push(Problem { place: place.clone(), path: path.to_owned(), wrong });
    }

    /// How many things are wrong so far.
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// What is wrong.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}
