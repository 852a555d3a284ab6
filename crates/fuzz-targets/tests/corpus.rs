//! Every input that fuzzing has kept, and the texts of the checkout, through the targets again.

use ackord_fuzz_targets::TARGETS;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Targets whose corpora `crates/live/src/trials.rs` replays.
const ELSEWHERE: [&str; 2] = ["foreign", "gateway"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Plays the corpus of a target, and the files below further folders.
fn replay(name: &str, more: &[&str]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
    let folders =
        std::iter::once(format!("fuzz/corpus/{name}")).chain(more.iter().map(|&f| f.into()));
    let inputs: Vec<_> = folders.flat_map(|folder| files(&root().join(folder))).collect();
    assert!(!inputs.is_empty(), "{name} has no corpus");
    let broken: Vec<_> = inputs
        .iter()
        .filter(|path| {
            let data = fs::read(path).expect("readable");
            catch_unwind(|| target(&data)).is_err()
        })
        .collect();
    assert!(broken.is_empty(), "{name} fails on {broken:#?}");
}

#[test]
fn every_corpus_is_replayed() {
    let mut folders: Vec<_> = fs::read_dir(root().join("fuzz/corpus"))
        .expect("corpora")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    folders.sort();
    let mut names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).chain(ELSEWHERE).collect();
    names.sort_unstable();
    assert_eq!(folders, names);
}

#[test]
fn files_of_agents() {
    replay("agent", &["packaging/agent"]);
}

#[test]
fn reports_to_agents() {
    replay("reports", &[]);
}

#[test]
fn captures() {
    replay("capture", &[]);
}

#[test]
fn captures_of_strangers() {
    replay("captures", &[]);
}

#[test]
fn endpoints() {
    replay("endpoint", &[]);
}

#[test]
fn options() {
    replay("options", &[]);
}

#[test]
fn packets() {
    replay("packet", &[]);
}

#[test]
fn pairs() {
    replay("pair", &[]);
}

#[test]
fn scenarios() {
    replay("scenario", &["scenarios"]);
}

#[test]
fn scripts() {
    replay("script", &["scripts/tcp"]);
}

#[test]
fn traces() {
    replay("trace", &["scenarios/traces", "crates/scenario/tests/traces"]);
}
