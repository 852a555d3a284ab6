//! Why a namespace could not be made, and the one command that would allow it.

use nix::errno::Errno;
use std::fmt;
use std::path::Path;

/// Steps on the way to a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SetupStep {
    /// Making the namespaces.
    Clone = 1,
    /// Writing the user and group maps of a user namespace.
    IdMaps,
    /// Bringing the loopback interface up.
    Loopback,
    /// Opening `/dev/net/tun`.
    OpenTun,
    /// Making the TUN device.
    CreateTun,
    /// Sizing it and bringing it up.
    Configure,
    /// Handing it to the driver.
    HandOver,
}

/// One way to a namespace that was tried in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Whether with a user namespace, which an ordinary user needs.
    pub rootless: bool,
    /// What failed.
    pub step: SetupStep,
    /// What the kernel said.
    pub errno: Errno,
}

/// No namespace could be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The kernel does not let us.
    #[error("cannot make a network namespace with a TUN device: {}; {}", .0.iter().map(Attempt::to_string).collect::<Vec<_>>().join("; "), remedy(.0))]
    NotAllowed(Vec<Attempt>),
    /// A name, an argument or a setting that no system call takes: with a zero byte, or empty.
    #[error("empty, or a zero byte in it: {0:?}")]
    BadText(String),
    /// Something else went wrong.
    #[error("cannot talk to the namespace: {0}")]
    System(#[from] Errno),
}

impl SetupStep {
    /// The step of this number.
    pub(super) fn from_number(number: u8) -> SetupStep {
        [
            SetupStep::IdMaps,
            SetupStep::Loopback,
            SetupStep::OpenTun,
            SetupStep::CreateTun,
            SetupStep::Configure,
            SetupStep::HandOver,
        ]
        .into_iter()
        .find(|step| *step as u8 == number)
        .unwrap_or(SetupStep::Clone)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = if self.rootless { "with a user namespace" } else { "as root" };
        write!(f, "{who}: {}: {}", self.step, self.errno.desc())
    }
}

impl fmt::Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetupStep::Clone => "making the namespaces",
            SetupStep::IdMaps => "mapping users and groups",
            SetupStep::Loopback => "bringing up the loopback interface",
            SetupStep::OpenTun => "opening /dev/net/tun",
            SetupStep::CreateTun => "making a TUN device",
            SetupStep::Configure => "configuring the TUN device",
            SetupStep::HandOver => "handing the TUN device over",
        })
    }
}

/// One command that would help, told from what failed on the way that went furthest.
fn remedy(attempts: &[Attempt]) -> String {
    let furthest = attempts.iter().max_by_key(|attempt| attempt.step as u8);
    let debian = "/proc/sys/kernel/unprivileged_userns_clone";
    let ubuntu = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    let command = match furthest.map(|attempt| (attempt.step, attempt.errno)) {
        Some((SetupStep::OpenTun, Errno::ENOENT | Errno::ENODEV | Errno::ENXIO)) => {
            "sudo modprobe tun"
        }
        Some((SetupStep::OpenTun, _)) => "sudo chmod 0666 /dev/net/tun",
        Some((SetupStep::Clone, _)) if holds(debian, "0") => {
            "sudo sysctl -w kernel.unprivileged_userns_clone=1"
        }
        Some((SetupStep::Clone | SetupStep::IdMaps | SetupStep::Loopback, _))
            if holds(ubuntu, "1") =>
        {
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        }
        Some((SetupStep::Clone, Errno::ENOSPC)) => "sudo sysctl -w user.max_user_namespaces=1000",
        _ => return "run the same command as root, for example with sudo in front".to_owned(),
    };
    format!("this would allow it: {command}")
}

fn holds(path: impl AsRef<Path>, value: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|content| content.trim() == value)
}
