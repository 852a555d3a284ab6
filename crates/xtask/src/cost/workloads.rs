//! The command lines that are counted.

use crate::findings::CannotCheck;
use crate::workspace::Workspace;
use serde::Deserialize;
use std::collections::BTreeSet;

const FILE: &str = "benches/cost/workloads.toml";
/// In a command: a folder of the workload's own.
const OUT: &str = "{out}";

/// A command line of the program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// Words joined by hyphens.
    pub(crate) name: String,
    /// What it would show that the others do not; for people.
    #[serde(rename = "why")]
    _why: String,
    command: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    workload: Vec<Workload>,
}

impl Workload {
    /// The program's arguments, where it may write into `out`.
    pub(crate) fn arguments(&self, out: &str) -> Vec<String> {
        self.command.iter().map(|word| word.replace(OUT, out)).collect()
    }
}

/// All workloads, in the order of the file.
pub(crate) fn read(workspace: &Workspace) -> Result<Vec<Workload>, CannotCheck> {
    let file: File =
        toml::from_str(&workspace.read(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
    let mut names = BTreeSet::new();
    match file.workload.iter().find(|workload| !names.insert(&workload.name)) {
        Some(workload) => Err(format!("{FILE}: two workloads are called {}", workload.name).into()),
        None => Ok(file.workload),
    }
}
