//! What this kernel has: files, congestion controls, the least delay of an acknowledgment.

use ackord_sys::socket::set_option;
use ackord_units::Span;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::AsFd as _;
use std::path::Path;

/// `TCP_DELACK_MAX_US` of the kernel since 6.15, which `libc` does not have.
pub(crate) const TCP_DELACK_MAX_US: i32 = 46;

/// What settings depend on.
#[derive(Clone, Debug)]
pub(crate) struct KernelFacts {
    /// Congestion controls that are there, by the kernel's names.
    pub(crate) congestions: Vec<String>,
    /// The least that `TCP_DELACK_MAX_US` may be set to: two ticks. Nothing where it is unknown.
    pub(crate) delayed_ack_least: Option<Span>,
    /// Whether a file under `/proc/sys` is there.
    pub(crate) has: fn(&str) -> bool,
}

impl KernelFacts {
    /// What the kernel that runs here has.
    pub(crate) fn of_this_machine() -> KernelFacts {
        let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let listed = std::fs::read_to_string(file).unwrap_or_default();
        KernelFacts {
            congestions: listed.split_whitespace().map(str::to_owned).collect(),
            delayed_ack_least: delayed_ack_least(),
            has: |path| Path::new("/proc/sys").join(path).exists(),
        }
    }

    /// Linux 6.18 with HZ = 250 and every file, for the page of the documentation.
    #[cfg(test)]
    pub(crate) fn of_linux_6_18() -> KernelFacts {
        KernelFacts {
            congestions: ["reno", "bbr", "cubic"].map(str::to_owned).to_vec(),
            delayed_ack_least: Some(Span::from_millis(8)),
            has: |_| true,
        }
    }
}

/// Asks a fresh socket.
fn delayed_ack_least() -> Option<Span> {
    let fresh = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).ok()?;
    // Two ticks at HZ = 1000, 300, 250 and 100, and a rough guess beyond.
    [2_000, 6_667, 8_000, 20_000, 40_000].into_iter().map(Span::from_micros).find(|least| {
        let value = (micros(*least) as i32).to_ne_bytes();
        set_option(fresh.as_fd(), libc::IPPROTO_TCP, TCP_DELACK_MAX_US, &value).is_ok()
    })
}

/// Whole microseconds, rounded up.
pub(super) fn micros(span: Span) -> u64 {
    span.as_nanos().div_ceil(1_000)
}
