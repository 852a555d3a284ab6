//! Histories by application, in a file that survives a crash.
//!
//! The file is a redb database (copy-on-write B-trees with checksums, one writer): what was
//! committed is there after a crash at any moment, and nothing of what was not. It begins to exist
//! complete: a new store is made beside its place and then linked there.
//!
//! Table `ackord.history.meta` holds `version`; table `ackord.history.applications` a
//! [`History`] as bytes per application. A file without the first, or with a later version, is
//! never written to.

use crate::encoding::Damaged;
use crate::record::{History, Transfer};
use ackord_units::Time;
use redb::{
    Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
    TableError,
};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("ackord.history.meta");
const APPLICATIONS: TableDefinition<'_, &str, &[u8]> =
    TableDefinition::new("ackord.history.applications");
const VERSION_KEY: &str = "version";
/// The version of the format that is written, and the latest that is read.
const VERSION: u64 = 1;
/// What every redb file begins with.
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
/// Bytes of an application's name.
const LONGEST_NAME: usize = 255;
/// Histories are small; redb's default is 1 GiB.
const CACHE_BYTES: usize = 4 << 20;

/// Histories by application, on disk. Holds the file for itself as long as it lives.
#[derive(Debug)]
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// The store cannot do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no history at `{}`", .0.display())]
    Missing(PathBuf),
    /// Another process has it open.
    #[error("the history `{}` is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The file is something else; it was left as it is.
    #[error("`{}` is not a history", .0.display())]
    Foreign(PathBuf),
    /// The file is of a later version of this program; it was left as it is.
    #[error(
        "the history `{}` is of version {found}, this program reads up to {known}",
        path.display()
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The latest that is read.
        known: u64,
    },
    /// The name is empty, longer than 255 bytes, or has control characters.
    #[error("an application cannot be called {0:?}")]
    BadName(String),
    /// An entry does not make sense.
    #[error("the history of `{application}` is damaged")]
    Damaged {
        /// Whose.
        application: String,
        /// What is wrong with it.
        source: Damaged,
    },
    /// The file cannot be read or written.
    #[error("cannot use the history `{}`", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The database found something wrong with the file.
    #[error("cannot use the history `{}`", path.display())]
    Database {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: Box<redb::Error>,
    },
}

impl Store {
    /// Opens the store in this file; where there is none, makes one, and the folders it lies in.
    ///
    /// # Errors
    /// [`StoreError`]. A file that is not a store of a version known here is left as it is.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        match Store::open_existing(path) {
            Err(StoreError::Missing(_)) => {
                create(path)?;
                Store::open_existing(path)
            }
            other => other,
        }
    }

    /// Opens the store in this file.
    ///
    /// # Errors
    /// As [`Store::open`], and [`StoreError::Missing`].
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        look_at_magic(path)?;
        let opening = |error| opening(path, error);
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        // Opening for writing changes the file. Its version is looked at before; only after a crash
        // that cannot be, and the file has to be mended first, which changes none of its content.
        match builder.open_read_only(path) {
            Ok(database) => check_version(path, &database)?,
            Err(DatabaseError::RepairAborted) => {}
            Err(error) => return Err(opening(error)),
        }
        let database = builder.open(path).map_err(opening)?;
        check_version(path, &database)?;
        Ok(Store { database, path: path.to_owned() })
    }

    /// The history of an application; an empty one if nothing is known of it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn get(&self, application: &str) -> Result<History, StoreError> {
        let applications = self.read()?.open_table(APPLICATIONS).map_err(self.failed())?;
        match applications.get(application).map_err(self.failed())? {
            Some(bytes) => decode(application, bytes.value()),
            None => Ok(History::default()),
        }
    }

    /// Every application with its history, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn list(&self) -> Result<Vec<(String, History)>, StoreError> {
        let applications = self.read()?.open_table(APPLICATIONS).map_err(self.failed())?;
        let entries = applications.iter().map_err(self.failed())?;
        entries
            .map(|entry| {
                let (name, bytes) = entry.map_err(self.failed())?;
                let name = name.value().to_owned();
                let history = decode(&name, bytes.value())?;
                Ok((name, history))
            })
            .collect()
    }

    /// Counts transfers of one application, all or none, and returns its history. They are on disk
    /// when this returns. One that claims to have ended after `now` is taken to have ended now, as a
    /// clock that is ahead would make everything before seem old.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is counted then.
    pub fn record(
        &self,
        application: &str,
        transfers: &[Transfer],
        now: Time,
    ) -> Result<History, StoreError> {
        let mut histories = self.import(&[(application.to_owned(), transfers.to_vec())], now)?;
        Ok(histories.pop().expect("one application, one history"))
    }

    /// As [`Store::record`], for several applications, all or none.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is counted then.
    pub fn import(
        &self,
        transfers: &[(String, Vec<Transfer>)],
        now: Time,
    ) -> Result<Vec<History>, StoreError> {
        let transaction = self.database.begin_write().map_err(self.failed())?;
        let mut histories = Vec::new();
        {
            let mut applications = transaction.open_table(APPLICATIONS).map_err(self.failed())?;
            for (name, transfers) in transfers {
                check_name(name)?;
                let mut history = match applications.get(name.as_str()).map_err(self.failed())? {
                    Some(bytes) => decode(name, bytes.value())?,
                    None => History::default(),
                };
                for transfer in transfers {
                    let ended_at = transfer.ended_at.min(now);
                    history.record(Transfer { ended_at, ..*transfer });
                }
                let bytes = history.encode();
                applications.insert(name.as_str(), bytes.as_slice()).map_err(self.failed())?;
                histories.push(history);
            }
        }
        transaction.commit().map_err(self.failed())?;
        Ok(histories)
    }

    /// Forgets an application; says whether there was anything to forget.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget(&self, application: &str) -> Result<bool, StoreError> {
        let transaction = self.database.begin_write().map_err(self.failed())?;
        let known = {
            let mut applications = transaction.open_table(APPLICATIONS).map_err(self.failed())?;
            let removed = applications.remove(application).map_err(self.failed())?;
            removed.is_some()
        };
        transaction.commit().map_err(self.failed())?;
        Ok(known)
    }

    /// Forgets everything; says how many applications that were.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget_all(&self) -> Result<usize, StoreError> {
        let transaction = self.database.begin_write().map_err(self.failed())?;
        let count = {
            let mut applications = transaction.open_table(APPLICATIONS).map_err(self.failed())?;
            let mut count = 0;
            applications
                .retain(|_, _| {
                    count += 1;
                    false
                })
                .map_err(self.failed())?;
            count
        };
        transaction.commit().map_err(self.failed())?;
        Ok(count)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self) -> Result<ReadTransaction, StoreError> {
        self.database.begin_read().map_err(self.failed())
    }

    fn failed<E: Into<redb::Error>>(&self) -> impl Fn(E) -> StoreError + '_ {
        |error| database(&self.path, error.into())
    }
}

fn look_at_magic(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing(path.to_owned()));
        }
        Err(error) => return Err(failed(error)),
    };
    let mut first = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut first).map_err(failed)?;
    if first == MAGIC { Ok(()) } else { Err(StoreError::Foreign(path.to_owned())) }
}

fn check_version(path: &Path, database: &impl ReadableDatabase) -> Result<(), StoreError> {
    let failed = |error: redb::Error| self::database(path, error);
    let foreign = || StoreError::Foreign(path.to_owned());
    let transaction = database.begin_read().map_err(|error| failed(error.into()))?;
    let meta = match transaction.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::Storage(error)) => return Err(failed(error.into())),
        Err(_) => return Err(foreign()),
    };
    let version = meta.get(VERSION_KEY).map_err(|error| failed(error.into()))?;
    match version.map(|version| version.value()) {
        Some(found) if found > VERSION => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION })
        }
        Some(VERSION) => Ok(()),
        _ => Err(foreign()),
    }
}

/// Makes an empty store. If somebody else is quicker, theirs stays.
fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let new =
        tempfile::Builder::new().prefix(".ackord-history-").tempfile_in(folder).map_err(failed)?;
    let file = new.as_file().try_clone().map_err(failed)?;
    fill(file).map_err(|error| database(path, error))?;
    match new.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error.error)),
    }
    // The name is part of what has to be on disk.
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

fn fill(file: File) -> Result<(), redb::Error> {
    let database = Database::builder().set_cache_size(CACHE_BYTES).create_file(file)?;
    let transaction = database.begin_write()?;
    transaction.open_table(META)?.insert(VERSION_KEY, VERSION)?;
    transaction.open_table(APPLICATIONS)?;
    transaction.commit()?;
    Ok(())
}

fn check_name(name: &str) -> Result<(), StoreError> {
    let fits = (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    if fits { Ok(()) } else { Err(StoreError::BadName(name.to_owned())) }
}

fn decode(application: &str, bytes: &[u8]) -> Result<History, StoreError> {
    History::decode(bytes)
        .map_err(|source| StoreError::Damaged { application: application.to_owned(), source })
}

fn opening(path: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse(path.to_owned()),
        other => database(path, other.into()),
    }
}

fn database(path: &Path, error: redb::Error) -> StoreError {
    let path = path.to_owned();
    match error {
        redb::Error::Io(source) => StoreError::Io { path, source },
        other => StoreError::Database { path, source: Box::new(other) },
    }
}
