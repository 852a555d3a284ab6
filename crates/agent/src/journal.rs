//! What an agent changes in the system that does not vanish with its process, each with what was there before, why
//! and when.

use crate::routes::Table;
use ackord_daemon::{Change, Lock};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The changes of one process.
pub type Journal = ackord_daemon::Journal<Made>;

/// A change, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// What.
    #[serde(flatten)]
    pub what: What,
    /// Why.
    pub reason: String,
    /// When, milliseconds since 1970.
    pub at_unix_ms: u64,
}

/// A change that stays when the process is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum What {
    /// A setting of this network namespace.
    Sysctl {
        /// Its file below /proc/sys.
        path: PathBuf,
        /// What it said.
        old: String,
        /// What it says.
        new: String,
    },
    /// A table of routes and the rule that leads there.
    Routes(Table),
    /// Sockets that live may have levers.
    Sockets {
        /// The bit of their marks; 0 for none.
        mark: u32,
        /// Where it stands for which of them Nagle's algorithm was switched off.
        list: PathBuf,
    },
}

impl Made {
    /// Now.
    pub fn now(what: What, reason: &str) -> Made {
        Made {
            what,
            reason: reason.to_owned(),
            at_unix_ms: ackord_daemon::wall_nanos() / 1_000_000,
        }
    }
}

impl Change for Made {
    const FILE: &'static str = "agent.journal";
    const LOCK: Lock = Lock::File("agent.journal.lock");

    fn in_words(&self) -> String {
        match &self.what {
            What::Sysctl { path, old, new } => {
                format!("{} from {old} to {new} ({})", setting(path), self.reason)
            }
            What::Routes(Table { table, priority, mark: 0 }) => {
                format!("rule {priority} to table {table} ({})", self.reason)
            }
            What::Routes(Table { table, priority, mark }) => {
                format!("rule {priority} for mark {mark:#x} to table {table} ({})", self.reason)
            }
            What::Sockets { .. } => format!("options of live sockets ({})", self.reason),
        }
    }

    fn undo(&self) -> io::Result<bool> {
        match &self.what {
            What::Sysctl { path, old, new } => {
                if fs::read_to_string(path)?.trim_end() != new {
                    return Ok(false);
                }
                fs::write(path, old)?;
                Ok(true)
            }
            What::Routes(table) => table.remove().map(|()| true),
            What::Sockets { mark, list } => clean(*mark, list).map(|_| true),
        }
    }
}

/// As sysctl(8) has it.
fn setting(path: &Path) -> String {
    let below = path.strip_prefix("/proc/sys").unwrap_or(path);
    below.display().to_string().replace('/', ".")
}

/// Gives every socket of this network namespace back what an agent has changed. Answers how many levers that were.
#[cfg(feature = "bpf")]
fn clean(mark: u32, list: &Path) -> io::Result<u64> {
    use crate::kernel::{Pass, Programs, layout::RawSettings};
    use crate::sockets::Sockets;
    let mut programs = Programs::load().map_err(io::Error::other)?;
    let cookies = Sockets::read(list)?;
    programs.nodelay_was_ours(&cookies).map_err(io::Error::other)?;
    let settings =
        RawSettings { mark, delack_stock_us: crate::DELACK_STOCK_US, ..RawSettings::default() };
    let cleaned = programs.pass(Pass::Clean, settings).map_err(io::Error::other)?;
    crate::sockets::gone_is_fine(fs::remove_file(list))?;
    Ok(cleaned.count)
}

#[cfg(not(feature = "bpf"))]
fn clean(_mark: u32, _list: &Path) -> io::Result<u64> {
    Err(io::Error::other(crate::WITHOUT_BPF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_gets_back_what_it_was_unless_somebody_else_has_set_it_since() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("tcp_pingpong_thresh");
        fs::write(&path, "3\n").expect("ours");
        let what = What::Sysctl { path: path.clone(), old: "1".to_owned(), new: "3".to_owned() };
        let made = Made::now(what, "asked for");
        assert!(made.undo().expect("ours"));
        assert_eq!(fs::read_to_string(&path).expect("ours"), "1");
        fs::write(&path, "7\n").expect("ours");
        assert!(!made.undo().expect("ours"));
        assert_eq!(fs::read_to_string(&path).expect("ours"), "7\n");
    }

    #[test]
    fn a_line_tells_old_new_why_and_when_and_is_read_again() {
        let table = Table { table: 7_411, priority: 7_411, mark: 0x1000_0000 };
        let sysctl = What::Sysctl {
            path: "/proc/sys/net/ipv4/tcp_pingpong_thresh".into(),
            old: "1".to_owned(),
            new: "3".to_owned(),
        };
        for (what, words) in [
            (sysctl, "net.ipv4.tcp_pingpong_thresh from 1 to 3 (asked for)"),
            (What::Routes(table), "rule 7411 for mark 0x10000000 to table 7411 (asked for)"),
        ] {
            let made = Made::now(what, "asked for");
            assert_eq!(made.in_words(), words);
            let line = serde_json::to_string(&made).expect("plain");
            assert_eq!(serde_json::from_str::<Made>(&line).expect("a line"), made);
        }
    }
}
