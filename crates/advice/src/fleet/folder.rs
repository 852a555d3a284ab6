//! The data set of a fleet.
//!
//! ```text
//! fleet.json                          marks the folder
//! connections/part-PATH-STATE.parquet a file per capture and table, without those that have no row
//! causes/ remedies/                   the same
//! files/part-PATH-STATE.parquet       written last: the capture is in the data set
//! ```
//!
//! `PATH` is a hash of the capture's path, `STATE` one of its length, its time of change, the options, the columns
//! and the program's version. So a capture that is in the data set is recognised by a file's name, and rows of
//! another state of the same capture are replaced.

use super::files::{FleetFile, is_part, prefix_of};
use super::part::{FleetOptions, FleetPart};
use super::tables::{TABLES, Tables, no_rows};
use ackord_report::WriteError;
use ackord_report::data_set::{read_parquet, write_parquet};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file that marks a folder as a data set.
pub(super) const MARKER: &str = "fleet.json";
const FORM: &str = "{\n  \"fleet\": 1\n}\n";
/// Index of the table of files.
const FILES: usize = TABLES.len() - 1;

/// Why a fleet cannot be diagnosed or shown.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A path is neither a file nor a folder.
    #[error("`{}` is a pipe or a device: captures of a fleet are files and folders", .0.display())]
    NotAFile(PathBuf),
    /// There is no file to be diagnosed.
    #[error("there is no file in {}", listed(.0))]
    NoFiles(Vec<PathBuf>),
    /// Another program writes the same data set.
    #[error("another program is at work on the data set in `{}`", .0.display())]
    AtWork(PathBuf),
    /// A folder is no data set.
    #[error(
        "`{}` has no data set of a fleet: `ackord diagnose FOLDER --out DATASET` makes one",
        .0.display()
    )]
    None(PathBuf),
    /// A data set has no capture yet.
    #[error("the data set in `{}` has no capture", .0.display())]
    Empty(PathBuf),
    /// A file of the data set is damaged or of another version of the program.
    #[error("`{}` is not what this version of the program writes", path.display())]
    Unknown {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
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

impl FleetError {
    pub(super) fn io(what: &'static str, path: &Path, source: io::Error) -> FleetError {
        FleetError::Io { what, path: path.to_owned(), source }
    }

    /// True if the caller can put it right.
    pub fn is_bad_input(&self) -> bool {
        match self {
            FleetError::Io { what, .. } => *what == "read",
            _ => true,
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    names.join(", ")
}

/// The folder of a data set.
pub struct FleetFolder {
    path: PathBuf,
    /// Names of the parts it has.
    names: Mutex<BTreeSet<String>>,
    /// Held as long as this program may write.
    _lock: Option<File>,
}

impl FleetFolder {
    /// Opens the data set in a folder for writing, or begins one. Remains of parts that were being written when
    /// an earlier program ended are removed.
    ///
    /// # Errors
    /// If another program is at work on it, or the system refuses.
    pub fn begin(path: &Path) -> Result<FleetFolder, FleetError> {
        for table in TABLES {
            let folder = path.join(table);
            fs::create_dir_all(&folder)
                .map_err(|source| FleetError::io("create the folder", &folder, source))?;
        }
        let marker = path.join(MARKER);
        if !marker.exists() {
            ackord_report::write_one(&marker, FORM.as_bytes()).map_err(|error| match error {
                WriteError::Io { what, path, source } => FleetError::Io { what, path, source },
                other => FleetError::io("write", &marker, io::Error::other(other)),
            })?;
        }
        let lock = File::open(&marker).map_err(|source| FleetError::io("open", &marker, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FleetError::AtWork(path.to_owned())),
            // Some network file systems have no locks: two programs at work are not noticed there.
            Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => {
                return Err(FleetError::io("lock", &marker, source));
            }
        }
        let names = parts_of(&path.join(TABLES[FILES]))?;
        let folder = FleetFolder { path: path.to_owned(), names: names.into(), _lock: Some(lock) };
        folder.remove_unfinished()?;
        Ok(folder)
    }

    /// Opens the data set in a folder for reading; it may be being written.
    ///
    /// # Errors
    /// If there is none, or the system refuses.
    pub fn open(path: &Path) -> Result<FleetFolder, FleetError> {
        if !path.join(MARKER).exists() {
            return Err(FleetError::None(path.to_owned()));
        }
        let names = parts_of(&path.join(TABLES[FILES]))?;
        Ok(FleetFolder { path: path.to_owned(), names: names.into(), _lock: None })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if the data set has the rows of this capture, diagnosed with these options.
    pub fn has(&self, file: &FleetFile, options: &FleetOptions) -> bool {
        self.names().contains(&file.part_name(options))
    }

    /// Writes the rows of a capture, in place of those it had. Whatever interrupts this, the capture is then either
    /// in the data set with all of its rows, or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn take(&self, part: FleetPart) -> Result<(), FleetError> {
        let FleetPart { name, tables, .. } = part;
        let same_capture = |other: &String| prefix_of(other) == prefix_of(&name);
        let old: Vec<String> =
            self.names().iter().filter(|other| same_capture(other)).cloned().collect();
        for old in old {
            self.remove(&old)?;
        }
        for (table, columns) in TABLES.into_iter().zip(tables) {
            if columns.first().is_some_and(|column| column.rows() > 0) {
                let file = self.file(table, &name);
                write_parquet(&file, columns)
                    .map_err(|source| FleetError::io("write", &file, source))?;
            }
        }
        self.names().insert(name);
        Ok(())
    }

    /// Names of the parts, in order.
    pub fn parts(&self) -> Vec<String> {
        self.names().iter().cloned().collect()
    }

    /// The rows of a part; tables that the part has no file of have no rows.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn rows(&self, name: &str) -> Result<Tables, FleetError> {
        let mut tables = no_rows();
        for (table, columns) in TABLES.into_iter().zip(&mut tables) {
            let path = self.file(table, name);
            match read_parquet(&path) {
                Ok(read) => *columns = read,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(FleetError::Unknown { path, source }),
            }
        }
        Ok(tables)
    }

    fn names(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn file(&self, table: &str, name: &str) -> PathBuf {
        self.path.join(table).join(format!("{name}.parquet"))
    }

    /// Removes a part. The row of its file goes first, so that the rest is recognised as a remainder.
    fn remove(&self, name: &str) -> Result<(), FleetError> {
        for table in TABLES.iter().rev() {
            let file = self.file(table, name);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FleetError::io("remove", &file, error));
                }
                _ => {}
            }
        }
        self.names().remove(name);
        Ok(())
    }

    /// Removes what an interrupted program left of parts. Files of other names are left alone.
    fn remove_unfinished(&self) -> Result<(), FleetError> {
        for table in TABLES {
            let folder = self.path.join(table);
            let entries = fs::read_dir(&folder);
            let entries = entries.map_err(|source| FleetError::io("read", &folder, source))?;
            for path in entries.flatten().map(|entry| entry.path()) {
                let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
                let unfinished = match path.extension().and_then(|ending| ending.to_str()) {
                    Some("partial") => is_part(stem),
                    Some("parquet") => is_part(stem) && !self.names().contains(stem),
                    _ => false,
                };
                if unfinished {
                    fs::remove_file(&path)
                        .map_err(|source| FleetError::io("remove", &path, source))?;
                }
            }
        }
        Ok(())
    }
}

/// Names of the parts of a table.
fn parts_of(folder: &Path) -> Result<BTreeSet<String>, FleetError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(|source| FleetError::io("read", folder, source))?,
    };
    let name = |path: PathBuf| {
        let stem = path.file_stem()?.to_str()?;
        let is_table = path.extension().is_some_and(|ending| ending == "parquet");
        (is_table && is_part(stem)).then(|| stem.to_owned())
    };
    Ok(entries.flatten().filter_map(|entry| name(entry.path())).collect())
}
