//! Cases that an earlier self-test kept: captures and truths in a folder, so that a changed diagnosis can
//! be scored again without running kernels.

use super::run::SelfTestError;
use super::write::TruthFile;
use std::path::{Path, PathBuf};

/// A case on disk.
#[derive(Clone, Debug)]
pub struct KeptCase {
    /// Folder of its captures.
    pub folder: PathBuf,
    /// Truth of its run.
    pub truth: TruthFile,
}

/// Returns the cases kept in `folder`, or in its subfolder `cases` as `--out` leaves it, sorted by name.
///
/// # Errors
/// [`SelfTestError::Kept`] if the folder cannot be read, has no case, or has a truth that cannot be parsed.
pub fn kept_cases(folder: &Path) -> Result<Vec<KeptCase>, SelfTestError> {
    let inner = folder.join("cases");
    let folder = if inner.is_dir() { inner } else { folder.to_owned() };
    let unreadable = |path: &Path, why: String| SelfTestError::Kept(path.to_owned(), why);
    let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| unreadable(&folder, error.to_string()))?;
    let mut kept = Vec::new();
    for folder in entries.into_iter().map(|entry| entry.path()) {
        let path = folder.join("truth.json");
        if !path.is_file() {
            continue;
        }
        let text = std::fs::read(&path).map_err(|error| unreadable(&path, error.to_string()))?;
        let truth: TruthFile =
            serde_json::from_slice(&text).map_err(|error| unreadable(&path, error.to_string()))?;
        kept.push(KeptCase { folder, truth });
    }
    if kept.is_empty() {
        return Err(unreadable(&folder, "no folder in it has a `truth.json`".to_owned()));
    }
    kept.sort_by(|a, b| a.truth.case.cmp(&b.truth.case));
    Ok(kept)
}
