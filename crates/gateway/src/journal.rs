//! What this process has changed in the system that does not vanish with it, written to a file before the
//! change: an end that was not clean is undone at the next start.
//!
//! A line per change and per undoing, in the order in which they were made, each with where it was made: the
//! interface's name beside its number, and the network namespace. Nothing is undone that is not as it was
//! made, and nothing that the journal does not name.

use crate::bpf::clsact_undo;
use crate::netlink::{Filter, Netlink};
use netlink_packet_route::link::LinkAttribute;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A change that stays when the process is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Change {
    /// A clsact qdisc was added.
    Qdisc {
        /// The interface's number.
        interface: u32,
    },
    /// A filter was added.
    Filter(Filter),
}

impl Change {
    fn interface(&self) -> u32 {
        match self {
            Change::Qdisc { interface } => *interface,
            Change::Filter(filter) => filter.interface,
        }
    }
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    change: Change,
    /// The interface's name: a number may come to stand for another one.
    name: String,
    /// The network namespace, by its inode.
    namespace: u64,
}

/// The changes of one process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The directory, locked: gone with the process, however that ends.
    _lock: Flock<File>,
    standing: Mutex<Vec<Line>>,
}

/// What became of the changes of an end that was not clean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Undone now, each in words.
    pub undone: Vec<String>,
    /// Still there, with why.
    pub left: Vec<String>,
}

impl Journal {
    /// The file's name in the state directory.
    pub const FILE: &'static str = "journal";
    /// Where it is if nobody says otherwise.
    pub const DIRECTORY: &'static str = "/run/ackord";

    /// The journal in this directory, which is made if it is not there. What an earlier process left is undone
    /// first.
    ///
    /// # Errors
    /// Where another process has it open, the directory or the file cannot be made, read or written, or the
    /// file is not a journal.
    pub fn open(directory: &Path) -> io::Result<(Journal, Undone)> {
        fs::create_dir_all(directory)?;
        let lock = Flock::lock(File::open(directory)?, FlockArg::LockExclusiveNonblock);
        let lock = lock.map_err(|(_, errno)| match errno {
            Errno::EWOULDBLOCK => io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("{}: another process has it open", directory.display()),
            ),
            other => other.into(),
        })?;
        let path = directory.join(Journal::FILE);
        let mut standing = read(&path)?;
        let undone = undo(&mut standing);
        let journal = Journal { path, _lock: lock, standing: Mutex::new(standing) };
        journal.write(&journal.lock())?;
        Ok((journal, undone))
    }

    /// Undoes what an earlier process left there; nothing where there is no journal.
    ///
    /// # Errors
    /// As of [`Journal::open`].
    pub fn clean_up(directory: &Path) -> io::Result<Undone> {
        match directory.join(Journal::FILE).exists() {
            true => Journal::open(directory).map(|(_, undone)| undone),
            false => Ok(Undone::default()),
        }
    }

    /// What stands now, each in words.
    pub fn standing(&self) -> Vec<String> {
        self.lock().iter().map(in_words).collect()
    }

    /// This change will be made.
    pub(crate) fn will(&self, change: &Change) -> io::Result<()> {
        let name =
            name_of(change.interface())?.ok_or(io::Error::from_raw_os_error(libc::ENODEV))?;
        let line = Line { change: change.clone(), name, namespace: namespace()? };
        let mut standing = self.lock();
        standing.push(line);
        self.write(&standing)
    }

    /// This change is no longer there.
    pub(crate) fn undone(&self, change: &Change) -> io::Result<()> {
        let mut standing = self.lock();
        if let Some(at) = standing.iter().rposition(|line| line.change == *change) {
            standing.remove(at);
        }
        self.write(&standing)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Line>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file is always whole: it is written beside the old one, and takes its place.
    fn write(&self, standing: &[Line]) -> io::Result<()> {
        if standing.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            };
        }
        let beside = self.path.with_extension("new");
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

fn read(path: &Path) -> io::Result<Vec<Line>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let (path, number) = (path.display(), number + 1);
            io::Error::other(format!("{path}, line {number} is no line of a journal: {error}"))
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// Undoes changes, the latest first, and keeps those that may still be there.
fn undo(standing: &mut Vec<Line>) -> Undone {
    let mut result = Undone::default();
    let here = namespace().ok();
    let mut left = Vec::new();
    for line in standing.drain(..).rev() {
        if here != Some(line.namespace) {
            result.left.push(format!("{}: in another network namespace", in_words(&line)));
            left.push(line);
            continue;
        }
        let same = name_of(line.change.interface()).map(|name| name.as_ref() == Some(&line.name));
        match same.and_then(|same| if same { clsact_undo(&line.change) } else { Ok(()) }) {
            Ok(()) => result.undone.push(in_words(&line)),
            Err(error) => {
                result.left.push(format!("{}: {error}", in_words(&line)));
                left.push(line);
            }
        }
    }
    left.reverse();
    *standing = left;
    result
}

fn in_words(line: &Line) -> String {
    match &line.change {
        Change::Qdisc { .. } => format!("qdisc clsact of {}", line.name),
        Change::Filter(Filter { is_egress, priority, program, .. }) => {
            let side = if *is_egress { "egress" } else { "ingress" };
            format!("filter {program} of {} {side}, priority {priority}", line.name)
        }
    }
}

/// The name of the interface of this number, if there is one.
fn name_of(index: u32) -> io::Result<Option<String>> {
    let link = Netlink::open()?.link(index)?;
    Ok(link.and_then(|link| {
        link.attributes.into_iter().find_map(|attribute| match attribute {
            LinkAttribute::IfName(name) => Some(name),
            _ => None,
        })
    }))
}

/// This thread's network namespace.
fn namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(Journal::FILE), text).expect("it is ours");
        directory
    }

    #[test]
    fn one_process_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let (journal, undone) = Journal::open(directory.path()).expect("the first");
        assert_eq!((undone, journal.standing()), (Undone::default(), vec![]));
        let error = Journal::open(directory.path()).map(drop).expect_err("the second");
        assert!(error.to_string().contains("another process"), "{error}");
        drop(journal);
        assert!(Journal::open(directory.path()).is_ok());
    }

    #[test]
    fn what_is_no_journal_is_said_with_its_line() {
        let directory = with("{\"change\":1}\n");
        let error = Journal::open(directory.path()).map(drop).expect_err("no journal");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert!(directory.path().join(Journal::FILE).exists(), "and left as it is");
    }

    #[test]
    fn what_is_in_another_namespace_is_left_and_kept_and_what_is_gone_is_forgotten() {
        let line = |interface: u32, namespace| {
            let change = Change::Qdisc { interface };
            let line = Line { change, name: "none-such".to_owned(), namespace };
            serde_json::to_string(&line).expect("plain") + "\n"
        };
        let here = namespace().expect("there is one");
        let directory = with(&(line(7, here ^ 1) + &line(u32::MAX >> 1, here)));
        let (journal, undone) = Journal::open(directory.path()).expect("a journal");
        assert_eq!(undone.undone, ["qdisc clsact of none-such"]);
        assert_eq!(undone.left.len(), 1);
        assert_eq!(journal.standing(), ["qdisc clsact of none-such"]);
        drop(journal);
        let kept = fs::read_to_string(directory.path().join(Journal::FILE)).expect("it is there");
        assert_eq!(kept, line(7, here ^ 1));
    }
}
