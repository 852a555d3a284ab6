//! The kernel's end: `peer.py` with its plan, and what it reports.

use super::program::Step;
use crate::error::LiveError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What the script is told.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Plan<'a> {
    /// Where it leaves its files.
    pub(super) folder: &'a Path,
    /// `connect` or `listen`.
    pub(super) role: &'static str,
    /// Whom it connects to, or where it listens.
    pub(super) address: String,
    pub(super) port: u16,
    pub(super) connections: u32,
    pub(super) at_once: u32,
    pub(super) seed: u64,
    /// How long it waits for anything.
    pub(super) patience_s: u64,
    /// Whether it asks ss about its connection before it closes it.
    pub(super) ss: bool,
    pub(super) sysctls: Vec<(String, String)>,
    /// Steps as words.
    pub(super) program: Vec<Vec<String>>,
}

/// What the script reports.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PeerResult {
    pub(super) done: u32,
    pub(super) resets: u32,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    pub(super) sent_sha256: String,
    pub(super) received_sha256: String,
    pub(super) errors: Vec<String>,
    pub(super) error_count: u32,
    pub(super) ss: String,
    pub(super) congestion: String,
}

const SCRIPT: &str = include_str!("peer.py");

impl Plan<'_> {
    /// The command that carries it out.
    pub(super) fn command(&self) -> Vec<String> {
        let plan = serde_json::to_string(self).expect("strings and numbers");
        ["python3", "-c", SCRIPT, &plan].map(str::to_owned).to_vec()
    }
}

/// A program as the script reads it.
pub(super) fn words(steps: &[Step]) -> Vec<Vec<String>> {
    let words = |step: &Step| step.to_string().split(' ').map(str::to_owned).collect();
    steps.iter().map(words).collect()
}

/// Whether the script listens.
pub(super) fn is_ready(folder: &Path) -> bool {
    folder.join("ready").exists()
}

/// What the script left; nothing if it never got that far.
pub(super) fn result(folder: &Path) -> Result<Option<PeerResult>, LiveError> {
    let path = folder.join("result.json");
    match fs::read_to_string(&path) {
        Ok(text) => {
            let result = serde_json::from_str(&text).map_err(std::io::Error::from)?;
            Ok(Some(result))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
