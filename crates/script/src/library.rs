//! Scripts in files and folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the name of a script's file ends with.
pub const EXTENSION: &str = "tcp";

/// The script at `path`, or every script in the folder and those below it, by name.
///
/// # Errors
/// What the system answers.
pub fn find_scripts(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folder a script is in: what it is about.
pub fn feature_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    folder.map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned())
}
