//! What a gateway goes on to need; the rest it gives up before it begins.
//!
//! - *Capabilities*: CAP_NET_RAW (rings), CAP_NET_ADMIN (devices, attaching, undoing), and as far as there is a
//!   [`Need`] CAP_BPF and CAP_SYS_NICE.
//! - *Sockets*: control and journal, metrics, settings of interfaces, packets.
//! - *System calls*: bpf(), where there are programs.

use crate::watch::GATEWAY;
use ackord_daemon::sandbox::{self, Capability, Needs};

pub use ackord_daemon::sandbox::{Confined, SandboxError};

/// What not every gateway needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Programs of its own in the kernel: CAP_BPF and bpf().
    Programs,
    /// A thread that goes before others, as a queue in the path has: CAP_SYS_NICE.
    RealTime,
}

const FAMILIES: [i32; 5] =
    [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];

/// Gives up what a gateway does not need. To be called before the first thread is begun: threads inherit what
/// is left.
///
/// # Errors
/// Where there are threads already, or the kernel does not let a process confine itself.
pub fn confine(needs: &[Need]) -> Result<Confined, SandboxError> {
    sandbox::confine(&GATEWAY, &in_all(needs))
}

fn in_all(needs: &[Need]) -> Needs {
    let mut capabilities = vec![Capability::CAP_NET_RAW, Capability::CAP_NET_ADMIN];
    capabilities.extend(needs.iter().map(|need| match need {
        Need::Programs => Capability::CAP_BPF,
        Need::RealTime => Capability::CAP_SYS_NICE,
    }));
    let programs = needs.contains(&Need::Programs);
    Needs {
        capabilities,
        families: FAMILIES.to_vec(),
        calls: if programs { vec![libc::SYS_bpf] } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests;
