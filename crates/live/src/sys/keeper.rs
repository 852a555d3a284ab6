//! The first process of a new network namespace.
//!
//! It is cloned from the driver, sets up loopback and a TUN device inside, hands the device to the
//! driver over a socket, runs at most one command, and dies with the driver. As process 1 of a PID
//! namespace it takes everything inside with it, however the driver ended; nothing has a name that
//! could stay behind.
//!
//! Everything between clone and exec happens in a copy of a program that may have other threads,
//! so it must not allocate, lock or panic: only system calls on values made before the clone.
//!
//! Messages over the socket are eight octets: kind, step, two zeros, and a 32-bit number.
//!
//! A kernel without IPv6 gets no IPv6 address; a run that needs one finds out when it connects.

#![allow(
    unsafe_code,
    reason = "clone, ioctl, exec and file-descriptor passing have no safe wrapper that neither \
              allocates nor assumes a single thread"
)]

use super::namespace::SetupStep;
use libc::{c_int, c_short};
use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null, null_mut};

/// The keeper says that the device is ready; it comes along. The number is the errno with which
/// the kernel refused the congestion control, or zero.
pub(super) const READY: u8 = 1;
/// The keeper could not do `step`; the number is the errno.
pub(super) const FAILED: u8 = 2;
/// The command has ended; the number is its wait status.
pub(super) const ENDED: u8 = 3;
/// The driver lets the command start.
pub(super) const START: u8 = 4;

/// Packets that wait for the driver at most: more than any window the kernel uses by default.
const DEVICE_QUEUE: c_int = 20_000;

/// Length of a message.
pub(super) const MESSAGE_LEN: usize = 8;

/// What the keeper needs to know, made before the clone.
pub(super) struct Plan {
    /// The maps of a user namespace; nothing where none is made.
    pub(super) id_maps: Option<IdMaps>,
    /// Name of the TUN device, at most 15 octets.
    pub(super) device: CString,
    /// The kernel's address on it.
    pub(super) address: Ipv4Addr,
    /// The network mask of that address.
    pub(super) netmask: Ipv4Addr,
    /// The kernel's IPv6 address on it, where the kernel has IPv6.
    pub(super) address_v6: Ipv6Addr,
    /// Octets of IP packet that go through it.
    pub(super) mtu: c_int,
    /// The congestion control that new connections of the kernel should get.
    pub(super) congestion: CString,
    /// A command to run once the driver says so: its name and arguments; may be empty.
    pub(super) command: Vec<CString>,
}

/// What goes into `/proc/self/uid_map` and `gid_map`.
pub(super) struct IdMaps {
    /// "0 OUTSIDE 1" for users.
    pub(super) users: CString,
    /// The same for groups.
    pub(super) groups: CString,
}

/// Clones the keeper. `socket` is its end of a sequenced-packet socket pair.
///
/// Returns its process number; in the keeper this never returns. It is killed when the calling
/// thread ends.
pub(super) fn spawn(plan: &Plan, socket: BorrowedFd<'_>) -> nix::Result<nix::unistd::Pid> {
    let mut argv: Vec<*const libc::c_char> = plan.command.iter().map(|a| a.as_ptr()).collect();
    argv.push(null());
    let user = if plan.id_maps.is_some() { libc::CLONE_NEWUSER } else { 0 };
    let flags = libc::CLONE_NEWNET | libc::CLONE_NEWPID | user | libc::SIGCHLD;
    // SAFETY: without CLONE_VM and without a stack this is a fork into new namespaces; the child
    // only makes system calls on memory it has a copy of, and never returns from `keep`.
    match unsafe { clone(flags) } {
        0 => {
            let keeper = Keeper { plan, argv: &argv, socket: socket.as_raw_fd() };
            // SAFETY: we are the only thread of the new process.
            unsafe { keeper.keep() }
        }
        pid => nix::errno::Errno::result(pid).map(nix::unistd::Pid::from_raw),
    }
}

/// The bare system call: glibc's `fork` would take its allocator's locks, which another thread may
/// have held at the instant of the clone.
unsafe fn clone(flags: c_int) -> c_int {
    // SAFETY: forwarded from the callers: a fork-like clone with no shared memory.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::c_long::from(flags), 0, 0, 0, 0) };
    pid as c_int
}

struct Keeper<'a> {
    plan: &'a Plan,
    /// The command's arguments, ended by a null pointer.
    argv: &'a [*const libc::c_char],
    socket: RawFd,
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
                self.say(FAILED, step as u8, errno());
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
            // Nobody on our device but us: no link-local address, no router to ask for. Without
            // IPv6 there is nothing to forbid.
            let _ = put(c"/proc/sys/net/ipv6/conf/default/addr_gen_mode", c"1");
            let _ = put(c"/proc/sys/net/ipv6/conf/default/accept_ra", c"0");
            let control = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
            check(control).ok_or(SetupStep::Loopback)?;
            bring_up(control, c"lo").ok_or(SetupStep::Loopback)?;
            let path = c"/dev/net/tun".as_ptr();
            let tun = libc::open(path, libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK);
            check(tun).ok_or(SetupStep::OpenTun)?;
            self.make_device(control, tun)?;
            // A namespace may only have what any user may choose, so this can be refused.
            let control_file = c"/proc/sys/net/ipv4/tcp_congestion_control";
            let refused = put(control_file, &self.plan.congestion).map_or_else(errno, |()| 0);
            self.hand_over(tun, refused).ok_or(SetupStep::HandOver)?;
            libc::close(tun);
            libc::close(control);
            self.close_all_but_socket();
            Ok(())
        }
    }

    unsafe fn make_device(&self, control: RawFd, tun: RawFd) -> Result<(), SetupStep> {
        // SAFETY: see above; each ioctl gets the request structure its number asks for.
        unsafe {
            let mut request = request_for(&self.plan.device);
            request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
            check(libc::ioctl(tun, libc::TUNSETIFF, &mut request)).ok_or(SetupStep::CreateTun)?;
            let device = &self.plan.device;
            for (number, address) in
                [(libc::SIOCSIFADDR, self.plan.address), (libc::SIOCSIFNETMASK, self.plan.netmask)]
            {
                let mut request = request_for(device);
                request.ifr_ifru.ifru_addr = socket_address(address);
                check(libc::ioctl(control, number, &mut request)).ok_or(SetupStep::Configure)?;
            }
            let mut request = request_for(device);
            request.ifr_ifru.ifru_mtu = self.plan.mtu;
            check(libc::ioctl(control, libc::SIOCSIFMTU, &mut request))
                .ok_or(SetupStep::Configure)?;
            // Losses are the path's affair: the device's own queue holds whatever is in flight. Where
            // this is refused it is 500 packets long.
            request.ifr_ifru.ifru_mtu = DEVICE_QUEUE;
            let _ = libc::ioctl(control, libc::SIOCSIFTXQLEN, &mut request);
            bring_up(control, device).ok_or(SetupStep::Configure)?;
            // Best effort: a kernel may have been built without it.
            let _ = add_ipv6_address(device, self.plan.address_v6);
            Ok(())
        }
    }

    /// Sends the device's file descriptor along with the message that all is ready.
    unsafe fn hand_over(&self, tun: RawFd, congestion_refused: i32) -> Option<()> {
        // SAFETY: see above; the control buffer is aligned and long enough for one descriptor.
        unsafe {
            let message = message(READY, 0, congestion_refused);
            let mut part = libc::iovec {
                iov_base: message.as_ptr().cast_mut().cast(),
                iov_len: message.len(),
            };
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
            libc::CMSG_DATA(rights).cast::<RawFd>().write_unaligned(tun);
            let sent = libc::sendmsg(self.socket, &header, libc::MSG_NOSIGNAL);
            (sent == MESSAGE_LEN as isize).then_some(())
        }
    }

    /// The keeper has a copy of every descriptor of the driver, other connections' sockets
    /// included; they must not stay open here.
    unsafe fn close_all_but_socket(&self) {
        // SAFETY: see above.
        unsafe {
            let socket = self.socket as libc::c_uint;
            // Kernels before 5.9 have no close_range; then the copies live as long as the keeper.
            libc::syscall(libc::SYS_close_range, socket + 1, libc::c_uint::MAX, 0);
            if socket > 3 {
                libc::syscall(libc::SYS_close_range, 3, socket - 1, 0);
            }
        }
    }

    /// Runs the command when told to, reaps what dies, ends when the driver is gone.
    unsafe fn serve(&self) -> ! {
        // SAFETY: see above.
        unsafe {
            let mut children: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut children);
            libc::sigaddset(&mut children, libc::SIGCHLD);
            let deaths = libc::signalfd(-1, &children, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            let mut command = 0;
            let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            loop {
                let mut watched = [watch(self.socket), watch(deaths)];
                libc::poll(watched.as_mut_ptr(), 2, -1);
                if watched[0].revents != 0 {
                    let mut order = [0; MESSAGE_LEN];
                    let got = libc::recv(self.socket, order.as_mut_ptr().cast(), order.len(), 0);
                    if got <= 0 {
                        libc::_exit(0);
                    }
                    if order[0] == START && command == 0 && self.argv.len() > 1 {
                        command = self.start();
                    }
                }
                if watched[1].revents != 0 {
                    let mut news = [0_u8; size_of::<libc::signalfd_siginfo>()];
                    libc::read(deaths, news.as_mut_ptr().cast(), news.len());
                    self.reap(command);
                }
            }
        }
    }

    unsafe fn reap(&self, command: libc::pid_t) {
        // SAFETY: see above.
        unsafe {
            loop {
                let mut status = 0;
                let pid = libc::waitpid(-1, &mut status, libc::WNOHANG);
                if pid <= 0 {
                    return;
                }
                if pid == command {
                    self.say(ENDED, 0, status);
                }
            }
        }
    }

    unsafe fn start(&self) -> libc::pid_t {
        // SAFETY: see above; a second fork-like clone from a process of one thread.
        unsafe {
            let pid = clone(libc::SIGCHLD);
            if pid < 0 {
                self.say(FAILED, SetupStep::Command as u8, errno());
            }
            if pid == 0 {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // Rust programs ignore it, which the command would inherit.
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                let mut none: libc::sigset_t = zeroed();
                libc::sigemptyset(&mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &none, null_mut());
                libc::execvp(self.argv[0], self.argv.as_ptr());
                self.say(FAILED, SetupStep::Command as u8, errno());
                libc::_exit(127);
            }
            pid
        }
    }

    unsafe fn say(&self, kind: u8, step: u8, number: i32) {
        let message = message(kind, step, number);
        // SAFETY: see above. Nobody is left to tell if this fails.
        unsafe {
            libc::send(self.socket, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL)
        };
    }
}

/// A message in the form both sides read.
pub(super) fn message(kind: u8, step: u8, number: i32) -> [u8; MESSAGE_LEN] {
    let [a, b, c, d] = number.to_ne_bytes();
    [kind, step, 0, 0, a, b, c, d]
}

fn check(result: c_int) -> Option<()> {
    (result >= 0).then_some(())
}

fn errno() -> i32 {
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

unsafe fn bring_up(control: RawFd, device: &CStr) -> Option<()> {
    // SAFETY: the request is of the form that both ioctls ask for.
    unsafe {
        let mut request = request_for(device);
        check(libc::ioctl(control, libc::SIOCGIFFLAGS, &mut request))?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as c_short;
        check(libc::ioctl(control, libc::SIOCSIFFLAGS, &mut request))
    }
}

/// An interface request for `device`, everything else zero; a long name is cut.
fn request_for(device: &CStr) -> libc::ifreq {
    // SAFETY: all-zero octets are a valid value of this plain C structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(device.to_bytes()) {
        *to = *from as libc::c_char;
    }
    request
}

/// What `SIOCSIFADDR` takes for IPv6 (ipv6(7)); `libc` has no name for it.
#[repr(C)]
struct Ipv6Request {
    address: libc::in6_addr,
    prefix_len: u32,
    interface: c_int,
}

/// Bits of the prefix that one link has (RFC 4291 §2.5.1).
const PREFIX_LEN: u32 = 64;

/// Gives `device`, which has to be up, an IPv6 address. A TUN device has no neighbours to discover,
/// so the address may be used at once.
unsafe fn add_ipv6_address(device: &CStr, address: Ipv6Addr) -> Option<()> {
    // SAFETY: each ioctl gets the request structure its number asks for.
    unsafe {
        let control = libc::socket(libc::AF_INET6, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(control)?;
        let mut named = request_for(device);
        let found = check(libc::ioctl(control, libc::SIOCGIFINDEX, &mut named));
        let mut request = Ipv6Request {
            address: libc::in6_addr { s6_addr: address.octets() },
            prefix_len: PREFIX_LEN,
            interface: named.ifr_ifru.ifru_ifindex,
        };
        let added =
            found.and_then(|()| check(libc::ioctl(control, libc::SIOCSIFADDR, &mut request)));
        libc::close(control);
        added
    }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: sockaddr_in is a form of sockaddr and no longer than it; both are plain data.
    unsafe {
        let mut inet: libc::sockaddr_in = zeroed();
        inet.sin_family = libc::AF_INET as libc::sa_family_t;
        inet.sin_addr.s_addr = u32::from_ne_bytes(address.octets());
        std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(inet)
    }
}
