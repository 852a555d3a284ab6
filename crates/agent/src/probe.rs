//! What this kernel lets an agent do, each tried on a socket of its own.
//!
//! | file | what |
//! | --- | --- |
//! | `probe.rs` | [`Finding`], [`least_delack()`], and what can be told without programs |
//! | `probe/levers.rs` | levers, tried by the programs in a control group of its own |

#[cfg(feature = "bpf")]
mod levers;

use ackord_units::Span;
use nix::time::{ClockId, clock_getres};
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

/// Two jiffies of the slowest clock that kernels are built with (100 Hz).
const LEAST_OF_ANY: Span = Span::from_millis(20);

/// Returns one jiffy, the resolution of the kernel's coarse clock (clock_getres(2)).
fn jiffy() -> Option<Span> {
    let resolution = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    let nanos = resolution.tv_sec() * 1_000_000_000 + resolution.tv_nsec();
    // 10,000 Hz and 10 Hz: no kernel is outside.
    (100_000..=100_000_000).contains(&nanos).then(|| Span::from_nanos(nanos as u64))
}

/// Returns how many jiffies a second of this kernel has (CONFIG_HZ); 0 if unknown.
#[cfg_attr(not(feature = "bpf"), allow(dead_code, reason = "only the programs use it"))]
pub(crate) fn jiffies_per_second() -> u32 {
    jiffy().map_or(0, |jiffy| {
        (1_000_000_000 + jiffy.as_nanos() / 2).div_euclid(jiffy.as_nanos()) as u32
    })
}

/// Returns the shortest bound of delayed acknowledgments that this kernel takes: two jiffies (TCP_TIMEOUT_MIN).
pub fn least_delack() -> Span {
    jiffy().map_or(LEAST_OF_ANY, |jiffy| jiffy + jiffy)
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
        Finding::new(
            "kernel",
            Ok(release.trim_end().to_owned()),
            "5.15 at least: docs/kernels-tested.md",
        ),
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
        assert!([100, 250, 300, 1000].contains(&jiffies_per_second()), "{}", jiffies_per_second());
    }

    #[test]
    fn the_kernel_is_told() {
        let found = circumstances();
        assert!(found[0].is_there() && found.len() == 5, "{found:?}");
    }
}
