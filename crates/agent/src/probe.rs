//! What this kernel lets an agent do, each tried on a socket of its own.
//!
//! | file | what |
//! | --- | --- |
//! | `probe.rs` | [`Finding`], [`least_delack()`], and what can be told without programs |
//! | `probe/levers.rs` | levers, tried by the programs in a control group of its own |

#[cfg(feature = "bpf")]
mod levers;

use ackord_units::Span;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::AsRawFd as _;
use std::path::Path;

#[cfg(feature = "bpf")]
pub use levers::probe;

/// Something that an agent needs or may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// What more there is to say where it is there; otherwise why it is not, and what to do.
    pub found: Result<String, String>,
    /// What it is for, and the least kernel.
    pub remark: String,
    /// Whether nothing goes without it.
    pub is_needed: bool,
}

impl Finding {
    fn new(what: &'static str, found: Result<String, String>, remark: &str) -> Finding {
        Finding { what, found, remark: remark.to_owned(), is_needed: false }
    }

    /// The same for something that nothing goes without.
    fn needed(what: &'static str, found: Result<String, String>, remark: &str) -> Finding {
        Finding { is_needed: true, ..Finding::new(what, found, remark) }
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.found.is_ok()
    }

    /// What was found, in words.
    pub fn told(&self) -> &str {
        let (Ok(text) | Err(text)) = &self.found;
        text
    }
}

/// TCP_DELACK_MAX_US (include/uapi/linux/tcp.h), which kernels have from 6.15 on.
const TCP_DELACK_MAX_US: libc::c_int = 46;
/// Two jiffies of the slowest clock that kernels are built with (100 Hz).
const LEAST_OF_ANY: Span = Span::from_millis(20);

/// The shortest bound of delayed acknowledgments that this kernel takes: two jiffies, which it shows by what it takes
/// for a socket.
#[allow(unsafe_code, reason = "a socket option without a wrapper")]
pub fn least_delack() -> Span {
    let family = AddressFamily::Inet;
    let Ok(one) = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None) else {
        return LEAST_OF_ANY;
    };
    // What is just above one jiffy counts as two: at 1000, 300, 250 and 100 Hz.
    [(1_001, 2_000), (3_334, 6_667), (4_001, 8_000), (10_001_i32, 20_000)]
        .into_iter()
        .find(|(micros, _)| {
            let (value, len) = ((&raw const *micros).cast(), size_of::<i32>() as u32);
            let level = libc::IPPROTO_TCP;
            // SAFETY: an integer of this length, to be read.
            unsafe { libc::setsockopt(one.as_raw_fd(), level, TCP_DELACK_MAX_US, value, len) == 0 }
        })
        .map_or(LEAST_OF_ANY, |(_, micros)| Span::from_micros(micros))
}

/// What can be told without programs.
#[cfg_attr(not(feature = "bpf"), allow(dead_code, reason = "only `probe` asks"))]
fn circumstances() -> Vec<Finding> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let btf = match Path::new("/sys/kernel/btf/vmlinux").exists() {
        true => Ok("/sys/kernel/btf/vmlinux".to_owned()),
        false => Err("this kernel does not describe its types: CONFIG_DEBUG_INFO_BTF=y".to_owned()),
    };
    let cgroups = match crate::cgroups::mounted() {
        Ok(Some(path)) => Ok(path.display().to_string()),
        Ok(None) => Err("none is mounted: mount -t cgroup2 none /sys/fs/cgroup".to_owned()),
        Err(error) => Err(format!("/proc cannot be read: {error}")),
    };
    let whole = match crate::cgroups::is_whole() {
        true => Ok("this is the machine itself".to_owned()),
        false => Err("this is a container: run the agent on the machine".to_owned()),
    };
    let thresh = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_pingpong_thresh");
    let thresh = thresh
        .map(|value| format!("net.ipv4.tcp_pingpong_thresh = {}", value.trim_end()))
        .map_err(|_| "this kernel has no net.ipv4.tcp_pingpong_thresh".to_owned());
    vec![
        Finding::new("kernel", Ok(release.trim_end().to_owned()), "5.18 at least; tried on 6.18"),
        Finding::needed(
            "BTF",
            btf,
            "places of fields in the kernel's structures; nothing goes without it",
        ),
        Finding::needed("control groups, version 2", cgroups, "what programs are attached to"),
        Finding::needed(
            "the whole machine",
            whole,
            "programs belong to it, and not to a container",
        ),
        Finding::new("ping-pong threshold", thresh, "`pingpong_thresh`; from 6.7 on"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_bound_is_two_jiffies_of_some_kernel() {
        let least = least_delack();
        assert!((Span::from_millis(2)..=LEAST_OF_ANY).contains(&least), "{least}");
    }

    #[test]
    fn the_kernel_is_told() {
        let found = circumstances();
        assert!(found[0].is_there() && found.len() == 5, "{found:?}");
    }
}
