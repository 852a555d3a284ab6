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
    reason = "clone, ioctl, exec and file-descriptor passing have no safe wrapper that neither \
              allocates nor assumes a single thread"
)]

use super::allowed::SetupStep;
use super::device;
use super::inside::DeviceMade;
use super::message::{
    self, DEVICE, ENDED, FAILED, HERE, MESSAGE_LEN, Message, NOT_STARTED, QUESTION_LEN, READY,
    REFUSED, STOPPED,
};
use super::netlink;
use super::plan::{Command, MOST_DEVICES, Plan, What};
use super::start;
use libc::c_int;
use std::ffi::CStr;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::null_mut;

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
    let (news, questions) = (sockets.news.as_raw_fd(), sockets.questions.as_raw_fd());
    let kept = plan.kept([news, questions]);
    let user = if plan.id_maps.is_some() { libc::CLONE_NEWUSER } else { 0 };
    let own = match plan.made {
        DeviceMade::Tun => libc::CLONE_NEWNET | libc::CLONE_NEWPID,
        // All of the machine is ours, and gone when it is switched off.
        DeviceMade::There => 0,
    };
    let flags = own | user | libc::SIGCHLD;
    // SAFETY: without CLONE_VM and without a stack this is a fork into new namespaces; the child
    // only makes system calls on memory it has a copy of, and never returns from `keep`.
    match unsafe { clone(flags) } {
        0 => {
            let keeper = Keeper { plan, kept: &kept, news, questions };
            // SAFETY: we are the only thread of the new process.
            unsafe { keeper.keep() }
        }
        pid => nix::errno::Errno::result(pid).map(nix::unistd::Pid::from_raw),
    }
}

/// The bare system call: glibc's `fork` would take its allocator's locks, which another thread may
/// have held at the instant of the clone.
///
/// # Safety
/// No memory may be shared, and the child must only make system calls.
pub(super) unsafe fn clone(flags: c_int) -> c_int {
    // SAFETY: forwarded from the callers: a fork-like clone with no shared memory.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::c_long::from(flags), 0, 0, 0, 0) };
    pid as c_int
}

struct Keeper<'a> {
    plan: &'a Plan,
    /// Descriptors that stay open, in order.
    kept: &'a [RawFd],
    news: RawFd,
    questions: RawFd,
}

/// SAFETY of all of `impl Keeper`: the process has one thread, every pointer handed to a system
/// call points to a live value of this frame or of the plan, and file descriptors are our own.
impl Keeper<'_> {
    unsafe fn keep(&self) -> ! {
        // SAFETY: see above.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            let mut all: libc::sigset_t = zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &all, null_mut());
            if let Err(step) = self.set_up() {
                let failed = Message { kind: FAILED, step: step as u8, index: 0, number: errno() };
                self.tell(failed);
                libc::_exit(1);
            }
            self.serve()
        }
    }

    unsafe fn set_up(&self) -> Result<(), SetupStep> {
        // SAFETY: see above.
        unsafe {
            if let Some(maps) = &self.plan.id_maps {
                let deny = c"deny";
                // Without this an ordinary user may not map groups (user_namespaces(7)).
                put(c"/proc/self/setgroups", deny).ok_or(SetupStep::IdMaps)?;
                put(c"/proc/self/uid_map", &maps.users).ok_or(SetupStep::IdMaps)?;
                put(c"/proc/self/gid_map", &maps.groups).ok_or(SetupStep::IdMaps)?;
            }
            let control = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
            check(control).ok_or(SetupStep::Loopback)?;
            device::bring_up(control, c"lo").ok_or(SetupStep::Loopback)?;
            self.write_wishes();
            let mut numbers = [0; MOST_DEVICES];
            let mut tuns = [None; MOST_DEVICES];
            let devices = self.plan.devices.iter().zip(&mut numbers).zip(&mut tuns).enumerate();
            for (place, ((name, number), tun)) in devices {
                let mut name = device::name_of(name);
                if place > 0 || self.plan.made == DeviceMade::Tun {
                    let made = device::open().ok_or(SetupStep::OpenTun)?;
                    device::make(made, &mut name).ok_or(SetupStep::CreateTun)?;
                    *tun = Some(made);
                }
                *number =
                    device::configure(control, &name, self.plan.mtu).ok_or(SetupStep::Configure)?;
            }
            self.ask_wishes(&numbers);
            self.hand_over(&tuns).ok_or(SetupStep::HandOver)?;
            for tun in tuns.iter().flatten() {
                libc::close(*tun);
            }
            libc::close(control);
            self.close_what_is_not_kept();
            Ok(())
        }
    }

    /// Writes the sysctls; what is refused is told.
    unsafe fn write_wishes(&self) {
        for (index, wish) in self.plan.wishes.iter().enumerate() {
            let What::Write(path, value) = &wish.what else { continue };
            // SAFETY: see above.
            unsafe {
                if put(path, value).is_none() {
                    self.tell(Message::new(REFUSED, index as u16, errno()));
                }
            }
        }
    }

    /// Asks for addresses and routes; what is refused is told.
    unsafe fn ask_wishes(&self, devices: &[c_int; MOST_DEVICES]) {
        // SAFETY: see above.
        unsafe {
            let routing = netlink::open();
            for (index, wish) in self.plan.wishes.iter().enumerate() {
                let device = devices.get(wish.device).copied().unwrap_or_default();
                let done = match &wish.what {
                    What::Write(..) => continue,
                    What::Ask(request) => request.carry_out(routing, device),
                    What::AskOr(first, second) => {
                        let done = first.carry_out(routing, device);
                        if done.is_err() {
                            // What was refused is told all the same.
                            let _ = second.carry_out(routing, device);
                        }
                        done
                    }
                };
                if let Err(errno) = done {
                    self.tell(Message::new(REFUSED, index as u16, errno));
                }
            }
            libc::close(routing);
        }
    }

    /// Sends the TUN devices' file descriptors: those beside the first, then the first, if one was
    /// made, with the message that all is ready.
    unsafe fn hand_over(&self, tuns: &[Option<RawFd>; MOST_DEVICES]) -> Option<()> {
        // SAFETY: see above.
        unsafe {
            for (place, tun) in tuns.iter().enumerate().skip(1) {
                if let Some(tun) = *tun {
                    send_with(self.news, Message::new(DEVICE, place as u16, 0), tun)?;
                }
            }
            let ready = Message::new(READY, 0, own_number());
            match tuns[0] {
                Some(tun) => send_with(self.news, ready, tun),
                None => {
                    self.tell(ready);
                    Some(())
                }
            }
        }
    }

    /// The keeper has a copy of every descriptor of the driver, other connections' sockets
    /// included; they must not stay open here.
    unsafe fn close_what_is_not_kept(&self) {
        let mut from: libc::c_uint = 3;
        for &kept in self.kept.iter().filter(|kept| **kept >= 3) {
            let kept = kept as libc::c_uint;
            if kept > from {
                // SAFETY: see above. Kernels before 5.9 have no close_range; then the copies live
                // as long as the keeper.
                unsafe { libc::syscall(libc::SYS_close_range, from, kept - 1, 0) };
            }
            from = kept + 1;
        }
        // SAFETY: see above.
        unsafe { libc::syscall(libc::SYS_close_range, from, libc::c_uint::MAX, 0) };
    }

    /// Does what the driver says, reaps what dies, ends when the driver is gone.
    unsafe fn serve(&self) -> ! {
        // SAFETY: see above.
        unsafe {
            let mut children: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut children);
            libc::sigaddset(&mut children, libc::SIGCHLD);
            let deaths = libc::signalfd(-1, &children, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            loop {
                let mut watched = [watch(self.questions), watch(deaths)];
                libc::poll(watched.as_mut_ptr(), 2, -1);
                if watched[0].revents != 0 {
                    // One octet more than is read stays zero: it ends a path.
                    let mut question = [0; QUESTION_LEN + 1];
                    let room = question.as_mut_ptr().cast();
                    let got = libc::recv(self.questions, room, QUESTION_LEN, 0);
                    if got <= 0 {
                        libc::_exit(0);
                    }
                    self.answer(&question);
                }
                if watched[1].revents != 0 {
                    let mut news = [0_u8; size_of::<libc::signalfd_siginfo>()];
                    libc::read(deaths, news.as_mut_ptr().cast(), news.len());
                    self.reap();
                }
            }
        }
    }

    unsafe fn answer(&self, question: &[u8; QUESTION_LEN + 1]) {
        let Some(asked) = Message::from_octets(question) else { return };
        let command = self.plan.commands.get(usize::from(asked.index));
        // SAFETY: see above; the path ends in a zero octet.
        unsafe {
            match asked.kind {
                message::START => {
                    if let Some(command) = command {
                        self.start(command, asked.index);
                    }
                }
                message::SIGNAL => {
                    if let Some(command) = command.filter(|command| command.process.get() > 0) {
                        start::signal(command, asked.number);
                    }
                }
                message::RESUME => {
                    if let Some(command) = command.filter(|command| command.process.get() > 0) {
                        start::resume(command, asked.number != 0);
                    }
                }
                message::SOCKET => {
                    let family = c_int::from(asked.index);
                    let kind = asked.number | libc::SOCK_CLOEXEC;
                    self.give(libc::socket(family, kind, 0));
                }
                message::OPEN => {
                    let path = question[MESSAGE_LEN..].as_ptr().cast();
                    self.give(libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC));
                }
                _ => {}
            }
        }
    }

    unsafe fn start(&self, command: &Command, index: u16) {
        if command.process.get() > 0 {
            return;
        }
        // SAFETY: see above.
        match unsafe { start::start(command) } {
            Ok(process) => command.process.set(process),
            // SAFETY: see above.
            Err(errno) => unsafe { self.tell(Message::new(NOT_STARTED, index, errno)) },
        }
    }

    /// Answers a question with a descriptor, which is closed here, or with the errno.
    unsafe fn give(&self, descriptor: RawFd) {
        // SAFETY: see above.
        unsafe {
            if descriptor < 0 {
                let failed = Message::new(FAILED, 0, errno()).to_octets();
                let octets = failed.as_ptr().cast();
                libc::send(self.questions, octets, failed.len(), libc::MSG_NOSIGNAL);
                return;
            }
            // Nobody is left to tell if this fails.
            let _ = send_with(self.questions, Message::new(HERE, 0, 0), descriptor);
            libc::close(descriptor);
        }
    }

    unsafe fn reap(&self) {
        // SAFETY: see above.
        unsafe {
            loop {
                let mut status = 0;
                let pid = libc::waitpid(-1, &mut status, libc::WNOHANG | libc::WUNTRACED);
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
    }

    unsafe fn tell(&self, news: Message) {
        let octets = news.to_octets();
        // SAFETY: see above. Nobody is left to tell if this fails.
        unsafe { libc::send(self.news, octets.as_ptr().cast(), octets.len(), libc::MSG_NOSIGNAL) };
    }
}

/// Sends a message with a descriptor.
unsafe fn send_with(socket: RawFd, message: Message, descriptor: RawFd) -> Option<()> {
    let octets = message.to_octets();
    // SAFETY: every pointer is into this frame; the control buffer is aligned and long enough for
    // one descriptor.
    unsafe {
        let mut part =
            libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() };
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
        libc::CMSG_DATA(rights).cast::<RawFd>().write_unaligned(descriptor);
        let sent = libc::sendmsg(socket, &header, libc::MSG_NOSIGNAL);
        (sent == MESSAGE_LEN as isize).then_some(())
    }
}

/// Our process number as the mounted `/proc` counts: where the program itself runs in a PID
/// namespace, that is another than the one it knows. Zero where there is no `/proc`.
unsafe fn own_number() -> i32 {
    let mut text = [0_u8; 16];
    // SAFETY: the buffer lives through the call, which writes no more than its length.
    let len =
        unsafe { libc::readlink(c"/proc/self".as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    let digits = text.iter().take(len.max(0) as usize);
    digits.fold(0, |number: i32, digit| {
        number.wrapping_mul(10).wrapping_add(i32::from(digit.wrapping_sub(b'0')))
    })
}

pub(super) fn check(result: c_int) -> Option<()> {
    (result >= 0).then_some(())
}

pub(super) fn errno() -> i32 {
    nix::errno::Errno::last_raw()
}

/// Writes a whole file under /proc.
unsafe fn put(path: &CStr, content: &CStr) -> Option<()> {
    // SAFETY: both strings end in a zero octet and live through the calls.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        let len = content.to_bytes().len();
        let written = libc::write(file, content.as_ptr().cast(), len);
        let why = errno();
        libc::close(file);
        // `close` may have changed it.
        nix::errno::Errno::set_raw(why);
        (written == len as isize).then_some(())
    }
}
