//! Processes of sockets that were created before the agent was there.
//!
//! A socket's owner is recorded when the socket is created, and connections that a listening socket accepts inherit it.
//! For older sockets the kernel keeps only the inode, which the descriptors of its processes name.

use super::program;
use ackord_daemon::monotonic;
use ackord_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::BufReader;

/// Sockets whose owners are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that listen in this network namespace.
    Listening,
    /// All of it.
    All,
}

/// Owner of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Process that has it open, the oldest if there are several.
    pub(crate) pid: u32,
    /// Number of the program that this process runs, see `bpf/program.h`: made from the name.
    pub(crate) program: u64,
}

/// At most so many sockets are looked for: as many as the map has room for.
const MOST: usize = 1 << 17;
/// At most so long.
const PATIENCE: Span = Span::from_secs(2);

/// Returns the owners of sockets, by inode.
pub(crate) fn find(which: Which) -> BTreeMap<u64, Owner> {
    let mut wanted = BTreeSet::new();
    for file in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        if let Ok(file) = fs::File::open(file) {
            wanted.extend(inodes(BufReader::new(file), which).take(MOST - wanted.len()));
        }
    }
    owners(&wanted, monotonic() + PATIENCE)
}

/// Inodes in a table of proc_net_tcp(5), in which listening sockets come first.
fn inodes(table: impl std::io::BufRead, which: Which) -> impl Iterator<Item = u64> {
    const LISTEN: &str = "0A";
    table
        .lines()
        .map_while(Result::ok)
        .skip(1)
        .map_while(move |line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_wanted = which == Which::All || fields.get(3) == Some(&LISTEN);
            is_wanted.then(|| fields.get(9).and_then(|inode| inode.parse().ok()))
        })
        .flatten()
        .filter(|inode| *inode != 0)
}

/// Goes through the descriptors of all processes, until all these inodes are found or the time is over.
fn owners(wanted: &BTreeSet<u64>, until: Time) -> BTreeMap<u64, Owner> {
    let mut found = BTreeMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> =
        processes.filter_map(|one| one.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    for pid in pids {
        if found.len() == wanted.len() || monotonic() >= until {
            break;
        }
        let mut owner = None;
        for inode in sockets_of(pid).filter(|inode| wanted.contains(inode)) {
            let owner = owner.get_or_insert_with(|| {
                let program = program::of(pid)?;
                Some(Owner { pid, program: program::hash_of(program.name.as_bytes()) })
            });
            if let Some(owner) = owner {
                found.entry(inode).or_insert_with(|| owner.clone());
            }
        }
    }
    found
}

fn sockets_of(pid: u32) -> impl Iterator<Item = u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|one| {
        let link = fs::read_link(one.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    #[expect(clippy::disallowed_types, reason = "a socket to be found")]
    fn the_process_of_a_socket_that_listens_is_found() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let link = fs::read_link(format!("/proc/self/fd/{}", listener.as_raw_fd()));
        let link = link.expect("ours").display().to_string();
        let found = find(Which::Listening);
        let own = found.iter().find(|(inode, _)| link == format!("socket:[{inode}]"));
        let (_, owner) = own.unwrap_or_else(|| panic!("{link} in {found:?}"));
        assert_eq!(owner.pid, std::process::id());
        assert_ne!(owner.program, 0);
    }

    #[test]
    fn listening_sockets_come_first_and_others_end_them() {
        let table = "  sl  local_address\n\
            0: 0100007F:1F90 00000000:0000 0A 0:0 00:0 0 0 0 101 1 0\n\
            1: 0100007F:1F91 00000000:0000 0A 0:0 00:0 0 0 0 102 1 0\n\
            2: 0100007F:1F90 0100007F:9999 01 0:0 00:0 0 0 0 103 1 0\n\
            3: 0100007F:1F90 0100007F:9998 06 0:0 00:0 0 0 0 0 1 0\n";
        let of = |which| inodes(table.as_bytes(), which).collect::<Vec<_>>();
        assert_eq!(of(Which::Listening), [101, 102]);
        assert_eq!(of(Which::All), [101, 102, 103]);
    }
}
