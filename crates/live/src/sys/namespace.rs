//! A network namespace with a TUN device, and perhaps a command inside.

use super::keeper::{self, IdMaps, MESSAGE_LEN, Plan};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, recv, recvmsg, send,
    socketpair,
};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getegid, geteuid};
use std::ffi::CString;
use std::fmt;
use std::fs::File;
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::path::Path;

/// What the inside of a namespace looks like.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// The kernel's address on the TUN device.
    pub(crate) address: Ipv4Addr,
    /// The network mask of that address.
    pub(crate) netmask: Ipv4Addr,
    /// The kernel's IPv6 address on the TUN device, with a prefix of 64 bits.
    pub(crate) address_v6: Ipv6Addr,
    /// Octets of IP packet that go through the device.
    pub(crate) mtu: u16,
    /// The congestion control that new connections of the kernel should get.
    pub(crate) congestion: String,
    /// A command to run inside; may be empty.
    pub(crate) command: Vec<String>,
}

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
    /// Giving it an address and bringing it up.
    Configure,
    /// Handing it to the driver.
    HandOver,
    /// Starting the command.
    Command,
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
    /// The command's name or an argument holds a zero octet.
    #[error("a zero octet in the command {0:?}")]
    BadCommand(String),
    /// Something else went wrong.
    #[error("cannot talk to the namespace: {0}")]
    System(#[from] Errno),
}

/// How a command inside ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    /// With this exit code.
    Exited(i32),
    /// Killed by this signal.
    Killed(Signal),
    /// It could not be started.
    NotStarted(Errno),
}

/// A network namespace; everything in it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Namespace {
    keeper: Pid,
    socket: OwnedFd,
    tun: Option<File>,
    rootless: bool,
    congestion_refused: Option<Errno>,
}

impl Namespace {
    /// Makes the namespace, as root if that is allowed and otherwise with a user namespace.
    ///
    /// It ends when the calling thread does.
    pub(crate) fn create(inside: &Inside) -> Result<Namespace, NamespaceError> {
        let mut plan = plan(inside)?;
        let mut attempts = Vec::new();
        for rootless in [false, true] {
            plan.id_maps = rootless.then(|| IdMaps {
                users: single_map(geteuid().as_raw()),
                groups: single_map(getegid().as_raw()),
            });
            match attempt(&plan)? {
                Ok(namespace) => return Ok(namespace),
                Err((step, errno)) => attempts.push(Attempt { rootless, step, errno }),
            }
        }
        Err(NamespaceError::NotAllowed(attempts))
    }

    /// The TUN device, non-blocking; to be taken once.
    ///
    /// # Panics
    /// If it was taken before.
    pub(crate) fn take_tun(&mut self) -> File {
        self.tun.take().expect("the device is taken once")
    }

    /// Why the kernel did not take the congestion control, if it did not.
    pub(crate) fn congestion_refused(&self) -> Option<Errno> {
        self.congestion_refused
    }

    /// Lets the command start.
    pub(crate) fn start_command(&self) -> Result<(), Errno> {
        let order = keeper::message(keeper::START, 0, 0);
        send(self.socket.as_raw_fd(), &order, MsgFlags::MSG_NOSIGNAL).map(drop)
    }

    /// How the command ended, if it has. Readable news make [`Namespace::as_fd`] readable.
    pub(crate) fn command_end(&self) -> Option<CommandEnd> {
        let mut news = [0; MESSAGE_LEN];
        let len = recv(self.socket.as_raw_fd(), &mut news, MsgFlags::MSG_DONTWAIT).ok()?;
        match (len, news[0]) {
            (MESSAGE_LEN, keeper::ENDED) => Some(wait_status(number(news))),
            (MESSAGE_LEN, keeper::FAILED) => {
                Some(CommandEnd::NotStarted(Errno::from_raw(number(news))))
            }
            // End of file: the keeper is gone, and with it everything inside.
            _ => Some(CommandEnd::Killed(Signal::SIGKILL)),
        }
    }

    /// A table of the network's counters, such as `netstat` or `snmp6` (proc_pid_net(5)), as this
    /// namespace has it; nothing where the kernel has no such table.
    pub(crate) fn table(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(format!("/proc/{}/net/{name}", self.keeper)).ok()
    }

    /// The command line that enters the namespace from outside.
    pub(crate) fn enter_command(&self) -> String {
        let user = if self.rootless { " --user --preserve-credentials" } else { "" };
        format!("nsenter --target {}{user} --net", self.keeper)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Both fail only if the keeper is gone already.
        let _ = kill(self.keeper, Signal::SIGKILL);
        let _ = waitpid(self.keeper, None);
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
            SetupStep::Command => "starting the command",
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

fn plan(inside: &Inside) -> Result<Plan, NamespaceError> {
    let command: Result<Vec<_>, _> =
        inside.command.iter().map(|word| CString::new(word.as_bytes())).collect();
    Ok(Plan {
        id_maps: None,
        device: c"ackord0".to_owned(),
        address: inside.address,
        netmask: inside.netmask,
        address_v6: inside.address_v6,
        mtu: i32::from(inside.mtu),
        congestion: CString::new(inside.congestion.as_str()).expect("a registered name"),
        command: command.map_err(|_| NamespaceError::BadCommand(inside.command.join(" ")))?,
    })
}

/// Root inside is the caller outside, and nobody else exists.
fn single_map(outside: u32) -> CString {
    CString::new(format!("0 {outside} 1")).expect("digits and spaces")
}

type Failure = (SetupStep, Errno);

fn attempt(plan: &Plan) -> Result<Result<Namespace, Failure>, NamespaceError> {
    let (ours, theirs) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    let keeper = match keeper::spawn(plan, theirs.as_fd()) {
        Ok(keeper) => keeper,
        Err(errno) => return Ok(Err((SetupStep::Clone, errno))),
    };
    drop(theirs);
    let rootless = plan.id_maps.is_some();
    let mut namespace =
        Namespace { keeper, socket: ours, tun: None, rootless, congestion_refused: None };
    let (news, tun) = receive(&namespace.socket)?;
    match (news[0], tun) {
        (keeper::READY, Some(tun)) => {
            namespace.tun = Some(File::from(tun));
            let refused = number(news);
            namespace.congestion_refused = (refused != 0).then(|| Errno::from_raw(refused));
            Ok(Ok(namespace))
        }
        (keeper::FAILED, _) => Ok(Err((step(news[1]), Errno::from_raw(number(news))))),
        _ => Ok(Err((SetupStep::HandOver, Errno::EPIPE))),
    }
}

/// Receives a message and the descriptor that may come with it.
fn receive(socket: &OwnedFd) -> Result<([u8; MESSAGE_LEN], Option<OwnedFd>), Errno> {
    let mut news = [0; MESSAGE_LEN];
    let mut parts = [IoSliceMut::new(&mut news)];
    let mut control = cmsg_space!(RawFd);
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let received = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    let mut descriptor = None;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(descriptors) = message {
            descriptor = descriptors.first().copied().map(own);
        }
    }
    Ok((news, descriptor))
}

#[allow(unsafe_code, reason = "nix gives received descriptors as bare numbers")]
fn own(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for us and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn number(news: [u8; MESSAGE_LEN]) -> i32 {
    let [_, _, _, _, a, b, c, d] = news;
    i32::from_ne_bytes([a, b, c, d])
}

fn step(number: u8) -> SetupStep {
    [
        SetupStep::IdMaps,
        SetupStep::Loopback,
        SetupStep::OpenTun,
        SetupStep::CreateTun,
        SetupStep::Configure,
        SetupStep::HandOver,
        SetupStep::Command,
    ]
    .into_iter()
    .find(|step| *step as u8 == number)
    .unwrap_or(SetupStep::Clone)
}

fn wait_status(raw: i32) -> CommandEnd {
    match WaitStatus::from_raw(Pid::from_raw(1), raw) {
        Ok(WaitStatus::Exited(_, code)) => CommandEnd::Exited(code),
        Ok(WaitStatus::Signaled(_, signal, _)) => CommandEnd::Killed(signal),
        _ => CommandEnd::Killed(Signal::SIGKILL),
    }
}
