//! A network namespace with TUN devices and perhaps commands inside: the safe face.
//!
//! Not modelled: a namespace with a name (`ip netns`), which could stay behind.

use super::allowed::{Attempt, NamespaceError, SetupStep};
use super::inside::{Inside, TerminalUse};
use super::keeper::{self, Sockets};
use super::message::{self, MESSAGE_LEN, Message};
use super::plan::{IdMaps, Plan, with_path};
use super::terminal::Terminal;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, send, socketpair,
};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getegid, geteuid};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// How a command inside ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this exit code.
    Exited(i32),
    /// Killed by this signal.
    Killed(Signal),
    /// It could not be started.
    NotStarted(Errno),
}

/// A network namespace; everything in it ends when this is dropped.
#[derive(Debug)]
pub struct Namespace {
    keeper: Pid,
    /// The keeper's process number as the mounted `/proc` counts.
    keeper_outside: i32,
    news: OwnedFd,
    questions: OwnedFd,
    tun: Option<File>,
    beside: Vec<File>,
    rootless: bool,
    refused: Vec<(String, Errno)>,
    running: BTreeSet<usize>,
    gone: bool,
    /// The commands that have the terminal as a job of their own.
    foreground: BTreeSet<usize>,
    terminal: Option<Terminal>,
}

impl Namespace {
    /// Makes the namespace, as root if that is allowed and otherwise with a user namespace.
    ///
    /// It ends when the calling thread does.
    pub fn create(inside: &Inside) -> Result<Namespace, NamespaceError> {
        let wants_terminal = |terminal| terminal == TerminalUse::Foreground;
        let mut inside = inside.clone();
        let terminal = inside.commands.iter().any(|command| wants_terminal(command.terminal));
        let terminal = terminal.then(Terminal::in_foreground).flatten();
        let mut foreground = BTreeSet::new();
        for (index, command) in inside.commands.iter_mut().enumerate() {
            if wants_terminal(command.terminal) {
                match terminal {
                    Some(_) => foreground.extend([index]),
                    // There is none that we could give away.
                    None => command.terminal = TerminalUse::Shared,
                }
            }
        }
        let mut plan = Plan::new(&inside)?;
        let mut attempts = Vec::new();
        for rootless in [false, true] {
            plan.id_maps = rootless.then(|| IdMaps {
                users: single_map(geteuid().as_raw()),
                groups: single_map(getegid().as_raw()),
            });
            match attempt(&plan)? {
                Ok(mut namespace) => {
                    namespace.terminal = terminal;
                    namespace.foreground = foreground;
                    return Ok(namespace);
                }
                Err((step, errno)) => attempts.push(Attempt { rootless, step, errno }),
            }
        }
        Err(NamespaceError::NotAllowed(attempts))
    }

    /// The TUN device, non-blocking; to be taken once.
    ///
    /// # Panics
    /// If it was taken before, or none was made ([`super::Inside::device_exists`]).
    pub fn take_tun(&mut self) -> File {
        self.tun.take().expect("the device is taken once")
    }

    /// The TUN devices [beside](Inside::beside) it, in order, likewise; to be taken once.
    pub fn take_beside(&mut self) -> Vec<File> {
        std::mem::take(&mut self.beside)
    }

    /// What the kernel refused of sysctls (called by their path under `/proc/sys`), addresses
    /// (`address A/L`) and routes (`default route of IPv4`), and why.
    pub fn refused(&self) -> &[(String, Errno)] {
        &self.refused
    }

    /// Lets the command of this place in [`Inside::commands`] start. Nothing happens if it runs.
    pub fn start_command(&mut self, index: usize) -> Result<(), Errno> {
        self.running.insert(index);
        self.order(Message::new(message::START, index as u16, 0))
    }

    /// Sends a running command a signal: to its whole job, where it has one of its own.
    pub fn signal_command(&self, index: usize, signal: Signal) -> Result<(), Errno> {
        self.order(Message::new(message::SIGNAL, index as u16, signal as i32))
    }

    /// Which command ended and how, if one has. Readable news make [`Namespace::as_fd`] readable.
    ///
    /// Where the command of the terminal was stopped by Ctrl-Z, the program stops too, as the rest
    /// of the job would in a shell, and both go on together.
    pub fn command_end(&mut self) -> Option<(usize, CommandEnd)> {
        loop {
            let (index, end) = match receive(&self.news, MsgFlags::MSG_DONTWAIT) {
                Ok(Some((news, _))) => {
                    let index = usize::from(news.index);
                    match news.kind {
                        message::ENDED => (index, wait_status(news.number)),
                        message::NOT_STARTED => {
                            (index, CommandEnd::NotStarted(Errno::from_raw(news.number)))
                        }
                        message::STOPPED => {
                            self.stop_with(index);
                            continue;
                        }
                        _ => continue,
                    }
                }
                // End of file: the keeper is gone, and with it everything inside.
                Ok(None) => {
                    self.gone = true;
                    (self.running.first().copied()?, CommandEnd::Killed(Signal::SIGKILL))
                }
                Err(_) => return None,
            };
            self.running.remove(&index);
            if self.foreground.contains(&index)
                && let Some(terminal) = &self.terminal
            {
                terminal.take_back();
            }
            return Some((index, end));
        }
    }

    /// Whether everything inside is gone, since somebody killed its first process: told by
    /// [`Namespace::command_end`], after the commands that ended with it.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// A socket made inside: it belongs to the namespace, wherever it is used. Closed on exec.
    pub fn socket(&self, family: AddressFamily, kind: SockType) -> nix::Result<OwnedFd> {
        let question = Message::new(message::SOCKET, family as i32 as u16, kind as i32);
        self.ask(&question.to_bytes())
    }

    /// A table of the network's counters, such as `netstat` or `snmp6` (proc_pid_net(5)), as this
    /// namespace has it; nothing where the kernel has no such table.
    pub fn table(&self, name: &str) -> Option<String> {
        // Opened inside: by whichever number we know the keeper, a `/proc` of another PID
        // namespace would have somebody else under it.
        self.read(&format!("/proc/self/net/{name}")).ok()
    }

    /// What the namespace has for a file under `/proc/sys`, without the line's end.
    ///
    /// # Errors
    /// What the system says, such as where there is no such file.
    pub fn sysctl(&self, path: &str) -> io::Result<String> {
        Ok(self.read(&format!("/proc/sys/{path}"))?.trim_end().to_owned())
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let bytes = Message::new(message::OPEN, 0, 0).to_bytes();
        let question = with_path(bytes, path).ok_or(Errno::ENAMETOOLONG)?;
        let mut text = String::new();
        File::from(self.ask(&question)?).read_to_string(&mut text)?;
        Ok(text)
    }

    /// The command line that enters the namespace from outside.
    pub fn enter_command(&self) -> String {
        let user = if self.rootless { " --user --preserve-credentials" } else { "" };
        format!("nsenter --target {}{user} --net", self.keeper_outside)
    }

    fn order(&self, order: Message) -> Result<(), Errno> {
        let bytes = order.to_bytes();
        send(self.questions.as_raw_fd(), &bytes, MsgFlags::MSG_NOSIGNAL).map(drop)
    }

    fn ask(&self, question: &[u8]) -> nix::Result<OwnedFd> {
        send(self.questions.as_raw_fd(), question, MsgFlags::MSG_NOSIGNAL)?;
        let answer = receive(&self.questions, MsgFlags::empty())?;
        match answer.ok_or(Errno::EPIPE)? {
            (Message { kind: message::HERE, .. }, Some(descriptor)) => Ok(descriptor),
            (Message { kind: message::FAILED, number, .. }, _) => Err(Errno::from_raw(number)),
            _ => Err(Errno::EPROTO),
        }
    }

    /// Stops the program together with the command that was stopped at the terminal.
    fn stop_with(&self, index: usize) {
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.foreground.contains(&index))
        else {
            return;
        };
        let in_foreground = terminal.stop_and_go_on();
        // It fails only if the keeper is gone, which the news will say.
        let _ = self.order(Message::new(message::RESUME, index as u16, in_foreground.into()));
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Both fail only if the keeper is gone already.
        let _ = kill(self.keeper, Signal::SIGKILL);
        let _ = waitpid(self.keeper, None);
        if let Some(terminal) = &self.terminal {
            terminal.take_back();
        }
    }
}

/// Root inside is the caller outside, and nobody else exists.
fn single_map(outside: u32) -> CString {
    CString::new(format!("0 {outside} 1")).expect("digits and spaces")
}

type Failure = (SetupStep, Errno);

fn attempt(plan: &Plan) -> Result<Result<Namespace, Failure>, NamespaceError> {
    let pair =
        || socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
    let ((news, their_news), (questions, their_questions)) = (pair()?, pair()?);
    let theirs = Sockets { news: their_news.as_fd(), questions: their_questions.as_fd() };
    let keeper = match keeper::spawn(plan, theirs) {
        Ok(keeper) => keeper,
        Err(errno) => return Ok(Err((SetupStep::Clone, errno))),
    };
    drop((their_news, their_questions));
    let mut namespace = Namespace {
        keeper,
        keeper_outside: keeper.as_raw(),
        news,
        questions,
        tun: None,
        beside: Vec::new(),
        rootless: plan.id_maps.is_some(),
        refused: Vec::new(),
        running: BTreeSet::new(),
        gone: false,
        foreground: BTreeSet::new(),
        terminal: None,
    };
    loop {
        let Some((news, descriptor)) = receive(&namespace.news, MsgFlags::empty())? else {
            return Ok(Err((SetupStep::HandOver, Errno::EPIPE)));
        };
        let errno = Errno::from_raw(news.number);
        match (news.kind, descriptor) {
            (message::REFUSED, _) => {
                if let Some(wish) = plan.wishes.get(usize::from(news.index)) {
                    namespace.refused.push((wish.name.clone(), errno));
                }
            }
            (message::DEVICE, Some(tun)) => namespace.beside.push(File::from(tun)),
            (message::READY, tun) => {
                namespace.tun = tun.map(File::from);
                if news.number > 0 {
                    namespace.keeper_outside = news.number;
                }
                return Ok(Ok(namespace));
            }
            (message::FAILED, _) => return Ok(Err((SetupStep::from_number(news.step), errno))),
            _ => return Ok(Err((SetupStep::HandOver, Errno::EPROTO))),
        }
    }
}

type News = (Message, Option<OwnedFd>);

/// Receives a message and the descriptor that may come with it; nothing at the end of file.
fn receive(socket: &OwnedFd, flags: MsgFlags) -> Result<Option<News>, Errno> {
    let mut bytes = [0; MESSAGE_LEN];
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let mut control = cmsg_space!(RawFd);
    let flags = flags | MsgFlags::MSG_CMSG_CLOEXEC;
    let received = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags) {
            Err(Errno::EINTR) => {}
            other => break other?,
        }
    };
    let len = received.bytes;
    let mut descriptor = None;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(descriptors) = message {
            descriptor = descriptors.first().copied().map(own);
        }
    }
    Ok(Message::from_bytes(&bytes[..len]).map(|message| (message, descriptor)))
}

#[allow(unsafe_code, reason = "nix gives received descriptors as bare numbers")]
fn own(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for us and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn wait_status(raw: i32) -> CommandEnd {
    match WaitStatus::from_raw(Pid::from_raw(1), raw) {
        Ok(WaitStatus::Exited(_, code)) => CommandEnd::Exited(code),
        Ok(WaitStatus::Signaled(_, signal, _)) => CommandEnd::Killed(signal),
        _ => CommandEnd::Killed(Signal::SIGKILL),
    }
}
