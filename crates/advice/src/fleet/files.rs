//! The captures of a fleet: files that were named, and those in folders.

use super::folder::{FleetError, MARKER};
use super::part::FleetOptions;
use super::tables::schema;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A capture of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFile {
    /// Its path, absolute and without symbolic links.
    pub path: PathBuf,
    /// Its length, bytes.
    pub size: u64,
    /// Time of its last change, nanoseconds since 1970.
    pub modified_ns: u64,
    /// Why it cannot be read, if that is known from its folder.
    pub refused: Option<String>,
}

/// Returns the captures below `given`, each once, in order of path. Folders are searched at any depth; files and
/// folders whose names begin with a dot are left out, and so are data sets of fleets.
///
/// # Errors
/// If a path of `given` does not exist or is neither a file nor a folder, or if there is no file at all.
pub fn fleet_files(given: &[PathBuf]) -> Result<Vec<FleetFile>, FleetError> {
    let mut found = Found::default();
    for path in given {
        let refused = |source| FleetError::io("read", path, source);
        let real = path.canonicalize().map_err(refused)?;
        let about = fs::metadata(&real).map_err(refused)?;
        if about.is_dir() {
            found.walk(real);
        } else if about.is_file() {
            found.add(real, Ok(about));
        } else {
            return Err(FleetError::NotAFile(path.clone()));
        }
    }
    if found.files.is_empty() {
        return Err(FleetError::NoFiles(given.to_vec()));
    }
    Ok(found.files.into_values().collect())
}

#[derive(Default)]
struct Found {
    files: BTreeMap<PathBuf, FleetFile>,
    folders: BTreeSet<PathBuf>,
}

impl Found {
    fn add(&mut self, path: PathBuf, about: io::Result<Metadata>) {
        let modified = |about: &Metadata| {
            let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            u64::try_from(since.as_nanos()).ok()
        };
        let file = match about {
            Ok(about) => FleetFile {
                path: path.clone(),
                size: about.len(),
                modified_ns: modified(&about).unwrap_or(0),
                refused: None,
            },
            Err(error) => FleetFile {
                path: path.clone(),
                size: 0,
                modified_ns: 0,
                refused: Some(error.to_string()),
            },
        };
        self.files.insert(path, file);
    }

    /// Adds the files in a folder and below. A part that cannot be read becomes a file that cannot be read.
    fn walk(&mut self, folder: PathBuf) {
        if folder.join(MARKER).exists() || !self.folders.insert(folder.clone()) {
            return;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => return self.add(folder, Err(error)),
        };
        for entry in entries.flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // A symbolic link may lead nowhere.
            let path = entry.path();
            let about = path.canonicalize().and_then(|real| Ok((fs::metadata(&real)?, real)));
            match about {
                Ok((about, real)) if about.is_dir() => self.walk(real),
                Ok((about, real)) if about.is_file() => self.add(real, Ok(about)),
                // Reading a pipe or a device may never end.
                Ok(_) => {}
                Err(error) => self.add(path, Err(error)),
            }
        }
    }
}

impl FleetFile {
    /// Name of the capture's part of a data set if it is diagnosed with `options`: one hash of the path, and one
    /// of everything else that the rows follow from.
    pub(super) fn part_name(&self, options: &FleetOptions) -> String {
        let FleetOptions { host, predict } = options;
        let (size, modified) = (self.size, self.modified_ns);
        let state =
            format!("{size} {modified} {predict} {host:?} {} {}", ackord_study::VERSION, schema());
        format!("{}{}", self.name_prefix(), hash(state.as_bytes()))
    }

    /// Name of the part of a capture that could not be read: it is tried again, whatever has changed.
    pub(super) fn unreadable_name(&self) -> String {
        format!("{}{:016x}", self.name_prefix(), 0)
    }

    fn name_prefix(&self) -> String {
        format!("part-{}-", hash(self.path.as_os_str().as_encoded_bytes()))
    }

    /// The path as text.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// The beginning of the name of every part of the same capture.
pub(super) fn prefix_of(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(capture, _)| capture)
}

/// Whether a file below a table's folder is a part of the data set, by its name without the ending.
pub(super) fn is_part(stem: &str) -> bool {
    let hashes = stem.strip_prefix("part-").and_then(|hashes| hashes.split_once('-'));
    let is_hash =
        |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hashes.is_some_and(|(path, state)| is_hash(path) && is_hash(state))
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The last part of a path, for messages and tables.
pub(super) fn short(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}
