//! What this process has changed in the system that does not vanish with it, written to a file before the
//! change: an end that was not clean is undone at the next start.
//!
//! A line of JSON per standing change, in the order in which they were made: what the daemon's [`Change`] says
//! of itself, and the network namespace. Nothing is undone that is not as it was made, which is for the
//! [`Change`] to see, and nothing that the journal does not name.
//!
//! Not there: changes of other namespaces than the network's.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a daemon changes that stays when its process is gone.
///
/// As JSON it is an object without the key `namespace`, which stands beside its own.
pub trait Change: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// The name of the journal's file in the state directory, which several daemons may share.
    const FILE: &'static str;
    /// What is locked while a process has the journal open.
    const LOCK: Lock;

    /// What was changed, in words.
    fn in_words(&self) -> String;

    /// Undoes it, if what it made is there and still as it was made. Whether it was: what somebody has changed
    /// since is left alone, and not there any more is as good as undone.
    ///
    /// # Errors
    /// Where the system refuses, and it may be there: then it stays in the journal.
    fn undo(&self) -> io::Result<bool>;
}

/// What keeps a second process from a daemon's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// The state directory itself: for one of the daemons that share it.
    Directory,
    /// A file of this name in it. Not the one that belongs to the control socket, which is its name with the
    /// ending `lock`: two locks of one file exclude each other within a process, too.
    File(&'static str),
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line<C> {
    #[serde(flatten)]
    change: C,
    /// The network namespace, by its inode.
    namespace: u64,
}

/// The changes of one process.
#[derive(Debug)]
pub struct Journal<C> {
    path: PathBuf,
    /// Gone with the process, however that ends.
    _lock: Flock<File>,
    standing: Mutex<Vec<Line<C>>>,
}

/// What became of the changes of an end that was not clean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Undone now, each in words.
    pub undone: Vec<String>,
    /// Changed by somebody else since, left alone and forgotten.
    pub superseded: Vec<String>,
    /// Still there, with why.
    pub left: Vec<String>,
}

impl<C: Change> Journal<C> {
    /// The file's name in the state directory.
    pub const FILE: &'static str = C::FILE;
    /// The journal in this directory, which is made if it is not there. What an earlier process left is undone
    /// first, the latest first.
    ///
    /// # Errors
    /// Where another process has it open, the directory or the file cannot be made, read or written, or the
    /// file is not a journal.
    pub fn open(directory: &Path) -> io::Result<(Journal<C>, Undone)> {
        fs::create_dir_all(directory)?;
        let lock = lock(directory, C::LOCK)?;
        let path = directory.join(C::FILE);
        let mut standing = read(&path)?;
        let undone = undo(&mut standing);
        let journal = Journal { path, _lock: lock, standing: Mutex::new(standing) };
        journal.write(&journal.lines())?;
        Ok((journal, undone))
    }

    /// Undoes what an earlier process left there; nothing where there is no journal.
    ///
    /// # Errors
    /// As of [`Journal::open`].
    pub fn clean_up(directory: &Path) -> io::Result<Undone> {
        match directory.join(C::FILE).exists() {
            true => Journal::<C>::open(directory).map(|(_, undone)| undone),
            false => Ok(Undone::default()),
        }
    }

    /// What stands now, each in words.
    pub fn standing(&self) -> Vec<String> {
        self.lines().iter().map(|line| line.change.in_words()).collect()
    }

    /// This change will be made, in this thread's network namespace.
    ///
    /// # Errors
    /// Where the file cannot be written; then it is not to be made.
    pub fn will(&self, change: &C) -> io::Result<()> {
        let line = Line { change: change.clone(), namespace: namespace()? };
        let mut standing = self.lines();
        standing.push(line);
        self.write(&standing)
    }

    /// This change is no longer there.
    ///
    /// # Errors
    /// Where the file cannot be written: the next start finds nothing to undo.
    pub fn undone(&self, change: &C) -> io::Result<()> {
        let mut standing = self.lines();
        if let Some(at) = standing.iter().rposition(|line| line.change == *change) {
            standing.remove(at);
        }
        self.write(&standing)
    }

    /// Makes a change of which the journal knows before.
    ///
    /// # Errors
    /// Where the journal cannot be written, and whatever `how` says: in both cases nothing was changed.
    pub fn make(&self, change: &C, how: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.will(change)?;
        how().inspect_err(|_| {
            // Where even this cannot be written, an undoing finds nothing to undo.
            let _ = self.undone(change);
        })
    }

    /// Undoes what stands, the latest first, as the next start would.
    ///
    /// # Errors
    /// Where the file cannot be written: the next start finds less to undo than stands there.
    pub fn undo_all(&self) -> io::Result<Undone> {
        let mut standing = self.lines();
        let undone = undo(&mut standing);
        self.write(&standing)?;
        Ok(undone)
    }

    fn lines(&self) -> MutexGuard<'_, Vec<Line<C>>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file is always whole: it is written beside the old one, and takes its place.
    fn write(&self, standing: &[Line<C>]) -> io::Result<()> {
        if standing.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            };
        }
        let beside = self.path.with_file_name(format!("{}.new", C::FILE));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&beside)?;
        for line in standing {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        File::open(directory)?.sync_all()
    }
}

fn lock(directory: &Path, what: Lock) -> io::Result<Flock<File>> {
    let (path, file) = match what {
        Lock::Directory => (directory.to_owned(), File::open(directory)?),
        Lock::File(name) => {
            let path = directory.join(name);
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            (path, file)
        }
    };
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{}: another process has it open", path.display()),
        ),
        other => other.into(),
    })
}

fn read<C: Change>(path: &Path) -> io::Result<Vec<Line<C>>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let what = format!("{} is no text, and so no journal", path.display());
            return Err(io::Error::other(what));
        }
        other => other?,
    };
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            // What is flattened is reported without its place in the line; read alone the change has it.
            let error = serde_json::from_str::<C>(line).err().unwrap_or(error);
            let (path, number) = (path.display(), number + 1);
            io::Error::other(format!("{path}, line {number} is no line of a journal: {error}"))
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// Undoes changes, the latest first, and keeps those that may still be there.
fn undo<C: Change>(standing: &mut Vec<Line<C>>) -> Undone {
    let mut result = Undone::default();
    let here = namespace().ok();
    let mut left = Vec::new();
    for line in standing.drain(..).rev() {
        let words = line.change.in_words();
        if here != Some(line.namespace) {
            result.left.push(format!("{words}: in another network namespace"));
            left.push(line);
            continue;
        }
        match line.change.undo() {
            Ok(true) => result.undone.push(words),
            Ok(false) => result.superseded.push(words),
            Err(error) => {
                result.left.push(format!("{words}: {error}"));
                left.push(line);
            }
        }
    }
    left.reverse();
    *standing = left;
    result
}

/// This thread's network namespace.
fn namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}

#[cfg(test)]
mod tests;
