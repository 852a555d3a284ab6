//! The first process of a new network namespace.
//!
//! It is cloned from the driver, makes the inside of the namespace as the [`Plan`] has it, hands the
//! TUN devices to the driver over a socket, serves the driver's orders and questions, and dies with
//! it. As process 1 of a PID namespace it takes everything inside with it, however the driver ended;
//! nothing has a name that could stay behind.
//!
//! Everything between clone and exec happens in a copy of a program that may have other threads,
//! so it must not allocate, lock or panic: only system calls on values made before the clone.
//!
//! A kernel without IPv6 gets no IPv6 address; a run that needs one finds out when it connects.

#![allow(
    unsafe_code,
    reason = "clone, ioctl and the sending of descriptors have no safe wrapper that neither \
              allocates nor assumes a single thread"
)]

use super::allowed::SetupStep;
use super::device;
use super::message::{
    self, DEVICE, ENDED, FAILED, HERE, MESSAGE_LEN, Message, NOT_STARTED, QUESTION_LEN, READY,
    REFUSED, STOPPED,
};
use super::netlink;
use super::plan::{Command, MOST_DEVICES, Plan, What};
use super::process::{clone, exit};
use super::start;
use libc::c_int;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socket};
use nix::sys::stat::Mode;
use nix::unistd::write;
use std::ffi::CStr;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The keeper's ends of two sequenced-packet socket pairs, see [`super::message`].
#[derive(Clone, Copy)]
pub(super) struct Sockets<'a> {
    pub(super) news: BorrowedFd<'a>,
    pub(super) questions: BorrowedFd<'a>,
}

/// Clones the keeper.
///
/// Returns its process number; in the keeper this never returns. It is killed when the calling
/// thread ends.
pub(super) fn spawn(plan: &Plan, sockets: Sockets<'_>) -> nix::Result<nix::unistd::Pid> {
    let kept = plan.kept([sockets.news.as_raw_fd(), sockets.questions.as_raw_fd()]);
    let user = if plan.id_maps.is_some() { libc::CLONE_NEWUSER } else { 0 };
    // Where the device exists all of the machine is ours, and gone when it is switched off.
    let own = if plan.device_exists { 0 } else { libc::CLONE_NEWNET | libc::CLONE_NEWPID };
    let flags = own | user | libc::SIGCHLD;
    // SAFETY: without CLONE_VM and without a stack this is a fork into new namespaces; the child
    // only makes system calls on memory it has a copy of, and never returns from `keep`.
    match unsafe { clone(flags) } {
        0 => Keeper { plan, kept: &kept, sockets }.keep(),
        pid => Errno::result(pid).map(nix::unistd::Pid::from_raw),
    }
}

struct Keeper<'a> {
    plan: &'a Plan,
    /// Descriptors that stay open, in order.
    kept: &'a [RawFd],
    sockets: Sockets<'a>,
}

impl Keeper<'_> {
    fn keep(&self) -> ! {
        // None of these fails with these arguments.
        let _ = set_pdeathsig(Signal::SIGKILL);
        let _ = SigSet::all().thread_set_mask();
        if let Err(step) = self.set_up() {
            let number = Errno::last_raw();
            self.tell(Message { kind: FAILED, step: step as u8, index: 0, number });
            exit(1);
        }
        self.serve()
    }

    fn set_up(&self) -> Result<(), SetupStep> {
        if let Some(maps) = &self.plan.id_maps {
            // Without this an ordinary user may not map groups (user_namespaces(7)).
            put(c"/proc/self/setgroups", c"deny").ok_or(SetupStep::IdMaps)?;
            put(c"/proc/self/uid_map", &maps.users).ok_or(SetupStep::IdMaps)?;
            put(c"/proc/self/gid_map", &maps.groups).ok_or(SetupStep::IdMaps)?;
        }
        let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .map_err(|_| SetupStep::Loopback)?;
        device::bring_up(control.as_fd(), c"lo").ok_or(SetupStep::Loopback)?;
        self.write_wishes();
        let mut numbers = [0; MOST_DEVICES];
        let mut tuns = [const { None }; MOST_DEVICES];
        let devices = self.plan.devices.iter().zip(&mut numbers).zip(&mut tuns).enumerate();
        for (place, ((name, number), tun)) in devices {
            let mut name = device::name_of(name);
            if place > 0 || !self.plan.device_exists {
                let made = device::open().map_err(|_| SetupStep::OpenTun)?;
                device::make(made.as_fd(), &mut name).ok_or(SetupStep::CreateTun)?;
                *tun = Some(made);
            }
            let configured = device::configure(control.as_fd(), &name, self.plan.mtu);
            *number = configured.ok_or(SetupStep::Configure)?;
        }
        self.ask_wishes(&numbers);
        self.hand_over(&tuns).ok_or(SetupStep::HandOver)?;
        drop((tuns, control));
        self.close_what_is_not_kept();
        Ok(())
    }

    /// Writes the sysctls; what is refused is told.
    fn write_wishes(&self) {
        for (index, wish) in self.plan.wishes.iter().enumerate() {
            let What::Write(path, value) = &wish.what else { continue };
            if put(path, value).is_none() {
                self.tell(Message::new(REFUSED, index as u16, Errno::last_raw()));
            }
        }
    }

    /// Asks for addresses and routes; what is refused is told.
    fn ask_wishes(&self, devices: &[c_int; MOST_DEVICES]) {
        let routing = netlink::open();
        for (index, wish) in self.plan.wishes.iter().enumerate() {
            let device = devices.get(wish.device).copied().unwrap_or_default();
            let ask = |request: &netlink::Request| match &routing {
                Ok(routing) => request.carry_out(routing.as_fd(), device),
                Err(errno) => Err(*errno),
            };
            let done = match &wish.what {
                What::Write(..) => continue,
                What::Ask(request) => ask(request),
                What::AskOr(first, second) => {
                    let done = ask(first);
                    if done.is_err() {
                        // What was refused is told all the same.
                        let _ = ask(second);
                    }
                    done
                }
            };
            if let Err(errno) = done {
                self.tell(Message::new(REFUSED, index as u16, errno as i32));
            }
        }
    }

    /// Sends the TUN devices' file descriptors: those beside the first, then the first, if one was
    /// made, with the message that all is ready.
    fn hand_over(&self, tuns: &[Option<OwnedFd>; MOST_DEVICES]) -> Option<()> {
        for (place, tun) in tuns.iter().enumerate().skip(1) {
            if let Some(tun) = tun {
                send_with(self.sockets.news, Message::new(DEVICE, place as u16, 0), tun)?;
            }
        }
        let ready = Message::new(READY, 0, own_number());
        match &tuns[0] {
            Some(tun) => send_with(self.sockets.news, ready, tun),
            None => {
                self.tell(ready);
                Some(())
            }
        }
    }

    /// The keeper has a copy of every descriptor of the driver, other connections' sockets
    /// included; they must not stay open here.
    fn close_what_is_not_kept(&self) {
        let close = |from: libc::c_uint, to: libc::c_uint| {
            // SAFETY: whoever had these descriptors is in the other process; nothing here uses them.
            // Kernels before 5.9 have no close_range; then the copies live as long as the keeper.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        };
        let mut from = 3;
        for &kept in self.kept.iter().filter(|kept| **kept >= 3) {
            let kept = kept as libc::c_uint;
            if kept > from {
                close(from, kept - 1);
            }
            from = kept + 1;
        }
        close(from, libc::c_uint::MAX);
    }

    /// Does what the driver says, reaps what dies, ends when the driver is gone.
    fn serve(&self) -> ! {
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let Ok(deaths) = SignalFd::with_flags(&children, flags) else { exit(1) };
        loop {
            let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let mut watched = [readable(self.sockets.questions), readable(deaths.as_fd())];
            let _ = poll(&mut watched, PollTimeout::NONE);
            let [asked, died] = watched.map(|fd| fd.any().unwrap_or(true));
            if asked {
                // One byte more than is read stays zero: it ends a path.
                let mut question = [0; QUESTION_LEN + 1];
                let room = &mut question[..QUESTION_LEN];
                match recv(self.sockets.questions.as_raw_fd(), room, MsgFlags::empty()) {
                    Ok(1..) => self.answer(&question),
                    Ok(0) | Err(_) => exit(0),
                }
            }
            if died {
                let _ = deaths.read_signal();
                self.reap();
            }
        }
    }

    fn answer(&self, question: &[u8; QUESTION_LEN + 1]) {
        let Some(asked) = Message::from_bytes(question) else { return };
        let command = self.plan.commands.get(usize::from(asked.index));
        let running = command.filter(|command| command.process.get() > 0);
        match (asked.kind, command, running) {
            (message::START, Some(command), None) => self.start(command, asked.index),
            (message::SIGNAL, _, Some(command)) => {
                if let Ok(signal) = Signal::try_from(asked.number) {
                    start::signal(command, signal);
                }
            }
            (message::RESUME, _, Some(command)) => start::resume(command, asked.number != 0),
            (message::SOCKET, ..) => {
                let family = AddressFamily::from_i32(asked.index.into()).ok_or(Errno::EAFNOSUPPORT);
                let kind = SockType::try_from(asked.number);
                let made =
                    family.and_then(|family| socket(family, kind?, SockFlag::SOCK_CLOEXEC, None));
                self.give(made);
            }
            (message::OPEN, ..) => {
                let path = CStr::from_bytes_until_nul(&question[MESSAGE_LEN..]);
                let path = path.map_err(|_| Errno::EINVAL);
                let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
                self.give(path.and_then(|path| open(path, flags, Mode::empty())));
            }
            _ => {}
        }
    }

    fn start(&self, command: &Command, index: u16) {
        // SAFETY: the keeper has one thread, and may be cloned.
        match unsafe { start::start(command) } {
            Ok(process) => command.process.set(process),
            Err(errno) => self.tell(Message::new(NOT_STARTED, index, errno)),
        }
    }

    /// Answers a question with a descriptor, which is closed here, or with the errno. Nobody is left
    /// to tell if this fails.
    fn give(&self, descriptor: nix::Result<OwnedFd>) {
        match descriptor {
            Ok(descriptor) => {
                let _ = send_with(self.sockets.questions, Message::new(HERE, 0, 0), &descriptor);
            }
            Err(errno) => {
                say(self.sockets.questions, Message::new(FAILED, 0, errno as i32));
            }
        }
    }

    fn reap(&self) {
        loop {
            let mut status = 0;
            // SAFETY: the status is an integer of this frame.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG | libc::WUNTRACED) };
            if pid <= 0 {
                return;
            }
            let of = |command: &Command| command.process.get() == pid;
            let Some(index) = self.plan.commands.iter().position(of) else { continue };
            if libc::WIFSTOPPED(status) {
                self.tell(Message::new(STOPPED, index as u16, 0));
            } else {
                self.plan.commands[index].process.set(0);
                self.tell(Message::new(ENDED, index as u16, status));
            }
        }
    }

    fn tell(&self, news: Message) {
        say(self.sockets.news, news);
    }
}

/// Sends a message; nobody is left to tell if this fails.
fn say(socket: BorrowedFd<'_>, message: Message) {
    let _ = send(socket.as_raw_fd(), &message.to_bytes(), MsgFlags::MSG_NOSIGNAL);
}

/// Sends a message with a descriptor.
fn send_with(socket: BorrowedFd<'_>, message: Message, descriptor: &OwnedFd) -> Option<()> {
    let bytes = message.to_bytes();
    // SAFETY: every pointer is into this frame; the control buffer is aligned and long enough for
    // one descriptor.
    unsafe {
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = [0_u64; 4];
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let rights = libc::CMSG_FIRSTHDR(&header);
        (*rights).cmsg_level = libc::SOL_SOCKET;
        (*rights).cmsg_type = libc::SCM_RIGHTS;
        (*rights).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(rights).cast::<RawFd>().write_unaligned(descriptor.as_raw_fd());
        let sent = libc::sendmsg(socket.as_raw_fd(), &header, libc::MSG_NOSIGNAL);
        (sent == MESSAGE_LEN as isize).then_some(())
    }
}

/// Our process number as the mounted `/proc` counts: where the program itself runs in a PID
/// namespace, that is another than the one it knows. Zero where there is no `/proc`.
fn own_number() -> i32 {
    let mut text = [0_u8; 16];
    // SAFETY: the buffer lives through the call, which writes no more than its length.
    let len =
        unsafe { libc::readlink(c"/proc/self".as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    let digits = text.iter().take(len.max(0) as usize);
    digits.fold(0, |number: i32, digit| {
        number.wrapping_mul(10).wrapping_add(i32::from(digit.wrapping_sub(b'0')))
    })
}

/// Writes a whole file under /proc.
fn put(path: &CStr, content: &CStr) -> Option<()> {
    let file = open(path, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty()).ok()?;
    let content = content.to_bytes();
    let written = write(&file, content);
    let why = Errno::last_raw();
    drop(file);
    // `close` may have changed it.
    Errno::set_raw(why);
    (written == Ok(content.len())).then_some(())
}
