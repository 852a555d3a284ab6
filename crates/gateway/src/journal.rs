//! What a gateway changes in the system that does not vanish with its process: qdiscs and filters, each with the
//! name of the interface beside its number, which may come to stand for another one.

use crate::bpf::clsact_undo;
use crate::netlink::{Filter, Netlink};
use ackord_daemon::Lock;
use netlink_packet_route::link::LinkAttribute;
use serde::{Deserialize, Serialize};
use std::io;

/// The changes of one process.
pub type Journal = ackord_daemon::Journal<Made>;

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

/// A change, and at which interface it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    pub(crate) change: Change,
    /// The interface's name: a number may come to stand for another one.
    name: String,
}

impl Made {
    /// At the interface that has its number now.
    ///
    /// # Errors
    /// ENODEV where there is none.
    pub(crate) fn now(change: Change) -> io::Result<Made> {
        let name =
            name_of(change.interface())?.ok_or(io::Error::from_raw_os_error(libc::ENODEV))?;
        Ok(Made { change, name })
    }
}

impl ackord_daemon::Change for Made {
    const FILE: &'static str = "journal";
    const LOCK: Lock = Lock::Directory;

    fn in_words(&self) -> String {
        match &self.change {
            Change::Qdisc { .. } => format!("qdisc clsact of {}", self.name),
            Change::Filter(Filter { is_egress, priority, program, .. }) => {
                let side = if *is_egress { "egress" } else { "ingress" };
                format!("filter {program} of {} {side}, priority {priority}", self.name)
            }
        }
    }

    fn undo(&self) -> io::Result<bool> {
        // What was made at an interface has gone with it.
        if name_of(self.change.interface())?.as_ref() == Some(&self.name) {
            clsact_undo(&self.change)?;
        }
        Ok(true)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    fn with(text: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(Journal::FILE), text).expect("it is ours");
        directory
    }

    fn namespace() -> u64 {
        fs::metadata("/proc/thread-self/ns/net").expect("there is one").ino()
    }

    #[test]
    fn one_gateway_at_a_time_has_the_directory() {
        let directory = tempfile::tempdir().expect("a directory");
        let (journal, _) = Journal::open(directory.path()).expect("the first");
        let error = Journal::open(directory.path()).map(drop).expect_err("the second");
        let expected = format!("{}: another process has it open", directory.path().display());
        assert_eq!(error.to_string(), expected);
        drop(journal);
        assert!(Journal::open(directory.path()).is_ok());
        let left = fs::read_dir(directory.path()).expect("it is there").count();
        assert_eq!(left, 0, "no file of a lock");
    }

    #[test]
    fn a_journal_of_the_version_before_is_read_and_written_as_it_was() {
        let elsewhere = namespace() ^ 1;
        let text = format!(
            "{{\"change\":{{\"qdisc\":{{\"interface\":7}}}},\"name\":\"none-such\",\
             \"namespace\":{elsewhere}}}\n\
             {{\"change\":{{\"filter\":{{\"interface\":7,\"is_egress\":true,\"priority\":48000,\
             \"program\":\"ackord_steer\"}}}},\"name\":\"none-such\",\"namespace\":{elsewhere}}}\n"
        );
        let directory = with(&text);
        let (journal, undone) = Journal::open(directory.path()).expect("a journal");
        let words = [
            "qdisc clsact of none-such",
            "filter ackord_steer of none-such egress, priority 48000",
        ];
        assert_eq!(journal.standing(), words);
        assert_eq!((undone.undone.len(), undone.left.len()), (0, 2));
        drop(journal);
        let kept = fs::read_to_string(directory.path().join(Journal::FILE)).expect("it is there");
        assert_eq!(kept, text);
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let interface = u32::MAX >> 1;
        let directory = with(&format!(
            "{{\"change\":{{\"qdisc\":{{\"interface\":{interface}}}}},\"name\":\"none-such\",\
             \"namespace\":{}}}\n",
            namespace()
        ));
        let (journal, undone) = Journal::open(directory.path()).expect("a journal");
        assert_eq!(undone.undone, ["qdisc clsact of none-such"]);
        assert_eq!(journal.standing(), [""; 0]);
    }

    #[test]
    fn what_is_made_nowhere_is_refused() {
        let error = Made::now(Change::Qdisc { interface: u32::MAX >> 1 }).expect_err("none");
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
