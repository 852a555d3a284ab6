//! What a gateway goes on to need; the rest it gives up before it begins.
//!
//! - *Capabilities*: CAP_NET_RAW (rings), CAP_NET_ADMIN (devices, attaching, undoing), and as far as it is
//!   [`Special`] CAP_BPF and CAP_SYS_NICE.
//! - *Sockets*: control and journal, metrics, settings of interfaces, packets.
//! - *System calls*: bpf(), where there are programs.

use crate::watch::GATEWAY;
use ackord_daemon::sandbox::{self, Capability, Needs};

pub use ackord_daemon::sandbox::{Confined, SandboxError};

/// What not every gateway needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Special {
    /// Programs of its own in the kernel: CAP_BPF and bpf().
    pub programs: bool,
    /// A thread that goes before others, as a queue in the path has: CAP_SYS_NICE.
    pub real_time: bool,
}

const FAMILIES: [i32; 5] =
    [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];

/// Gives up what a gateway does not need. To be called before the first thread is begun: threads inherit what
/// is left.
///
/// # Errors
/// Where there are threads already, or the kernel does not let a process confine itself.
pub fn confine(special: Special) -> Result<Confined, SandboxError> {
    sandbox::confine(&GATEWAY, &in_all(special))
}

/// Confines this thread as a gateway with programs is: what works here works in one.
pub(crate) fn confine_thread() -> Result<Confined, SandboxError> {
    let special = Special { programs: true, real_time: false };
    sandbox::confine_thread(&GATEWAY, &in_all(special))
}

fn in_all(Special { programs, real_time }: Special) -> Needs {
    let mut capabilities = vec![Capability::CAP_NET_RAW, Capability::CAP_NET_ADMIN];
    capabilities.extend(programs.then_some(Capability::CAP_BPF));
    capabilities.extend(real_time.then_some(Capability::CAP_SYS_NICE));
    let calls = if programs { vec![libc::SYS_bpf] } else { Vec::new() };
    Needs { capabilities, families: FAMILIES.to_vec(), calls }
}

#[cfg(test)]
mod tests;
