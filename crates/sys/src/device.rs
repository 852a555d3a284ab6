//! A TUN device by bare system calls, which the keeper may make between clone and exec.

#![allow(unsafe_code, reason = "ioctl has no safe wrapper that neither allocates nor locks")]

use libc::{c_int, c_short};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use std::ffi::CStr;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Packets that wait for the driver at most: more than any window the kernel uses by default.
const DEVICE_QUEUE: c_int = 20_000;

/// Bytes of a device's name with the zero at its end.
pub(super) const NAME_LEN: usize = libc::IFNAMSIZ;

/// A device's name, ended by a zero byte.
pub(super) type Name = [libc::c_char; NAME_LEN];

/// The name as the kernel wants it; a long one is cut.
pub(super) fn name_of(name: &CStr) -> Name {
    let mut bytes = [0; NAME_LEN];
    for (to, from) in bytes[..NAME_LEN - 1].iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    bytes
}

/// Opens the device that makes TUN devices, non-blocking.
pub(super) fn open() -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDWR | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    nix::fcntl::open(c"/dev/net/tun", flags, Mode::empty())
}

/// Makes the device through a descriptor of [`open`], and it lives as long as that; where the name has
/// `%d` in it the kernel counts, and `name` is what came out.
pub(super) fn make(tun: BorrowedFd<'_>, name: &mut Name) -> Option<()> {
    let mut request = request_for(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
    ask(tun, libc::TUNSETIFF, &mut request)?;
    *name = request.ifr_name;
    Some(())
}

/// Sizes the device, brings it up without neighbours to ask for, and says its number; over an internet
/// socket of its namespace.
pub(super) fn configure(control: BorrowedFd<'_>, name: &Name, mtu: c_int) -> Option<c_int> {
    let mut request = request_for(name);
    request.ifr_ifru.ifru_mtu = mtu;
    ask(control, libc::SIOCSIFMTU, &mut request)?;
    // Losses are the path's affair: the device's own queue holds whatever is in flight. Where
    // this is refused it is 500 packets long.
    request.ifr_ifru.ifru_mtu = DEVICE_QUEUE;
    let _ = ask(control, libc::SIOCSIFTXQLEN, &mut request);
    raise(control, name, libc::IFF_NOARP)?;
    let mut request = request_for(name);
    ask(control, libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: the kernel has filled in this member, for which any bytes are a value.
    Some(unsafe { request.ifr_ifru.ifru_ifindex })
}

/// Brings a device up, likewise.
pub(super) fn bring_up(control: BorrowedFd<'_>, device: &CStr) -> Option<()> {
    raise(control, &name_of(device), 0)
}

fn raise(control: BorrowedFd<'_>, name: &Name, also: c_int) -> Option<()> {
    let mut request = request_for(name);
    ask(control, libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the kernel has filled in this member, for which any bytes are a value.
    unsafe { request.ifr_ifru.ifru_flags |= (libc::IFF_UP | also) as c_short };
    ask(control, libc::SIOCSIFFLAGS, &mut request)
}

/// Asks for something about a device; the errno says why not.
fn ask(of: BorrowedFd<'_>, what: libc::Ioctl, request: &mut libc::ifreq) -> Option<()> {
    // SAFETY: all that are asked for here take a request of this form, which lives through the call.
    let done = unsafe { libc::ioctl(of.as_raw_fd(), what, &raw mut *request) };
    (done >= 0).then_some(())
}

/// An interface request for a device, everything else zero.
fn request_for(name: &Name) -> libc::ifreq {
    // SAFETY: all-zero bytes are a valid value of this plain C structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    request.ifr_name = *name;
    request
}
