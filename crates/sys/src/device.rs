//! A TUN device by bare system calls, which the keeper may make between clone and exec.

#![allow(unsafe_code, reason = "ioctl has no safe wrapper that neither allocates nor locks")]

use super::keeper::check;
use libc::{c_int, c_short};
use std::ffi::CStr;
use std::mem::zeroed;
use std::os::fd::RawFd;

/// Packets that wait for the driver at most: more than any window the kernel uses by default.
const DEVICE_QUEUE: c_int = 20_000;

/// Octets of a device's name with the zero at its end.
pub(super) const NAME_LEN: usize = libc::IFNAMSIZ;

/// A device's name, ended by a zero octet.
pub(super) type Name = [libc::c_char; NAME_LEN];

/// The name as the kernel wants it; a long one is cut.
pub(super) fn name_of(name: &CStr) -> Name {
    let mut octets = [0; NAME_LEN];
    for (to, from) in octets[..NAME_LEN - 1].iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    octets
}

/// Opens the device that makes TUN devices, non-blocking.
///
/// # Safety
/// Always sound; the descriptor is the caller's to close.
pub(super) unsafe fn open() -> Option<RawFd> {
    // SAFETY: the path is a constant.
    unsafe {
        let path = c"/dev/net/tun".as_ptr();
        let tun = libc::open(path, libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK);
        check(tun).map(|()| tun)
    }
}

/// Makes the device, which lives as long as the descriptor; where the name has `%d` in it the
/// kernel counts, and `name` is what came out.
///
/// # Safety
/// `tun` is a descriptor of [`open`].
pub(super) unsafe fn make(tun: RawFd, name: &mut Name) -> Option<()> {
    let mut request = request_for(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
    // SAFETY: the ioctl gets the request structure its number asks for.
    unsafe { check(libc::ioctl(tun, libc::TUNSETIFF, &mut request))? };
    *name = request.ifr_name;
    Some(())
}

/// Sizes the device, brings it up without neighbours to ask for, and says its number.
///
/// # Safety
/// `control` is an internet socket of the namespace that the device is in.
pub(super) unsafe fn configure(control: RawFd, name: &Name, mtu: c_int) -> Option<c_int> {
    // SAFETY: each ioctl gets the request structure its number asks for.
    unsafe {
        let mut request = request_for(name);
        request.ifr_ifru.ifru_mtu = mtu;
        check(libc::ioctl(control, libc::SIOCSIFMTU, &mut request))?;
        // Losses are the path's affair: the device's own queue holds whatever is in flight. Where
        // this is refused it is 500 packets long.
        request.ifr_ifru.ifru_mtu = DEVICE_QUEUE;
        let _ = libc::ioctl(control, libc::SIOCSIFTXQLEN, &mut request);
        raise(control, name, libc::IFF_NOARP)?;
        let mut request = request_for(name);
        check(libc::ioctl(control, libc::SIOCGIFINDEX, &mut request))?;
        Some(request.ifr_ifru.ifru_ifindex)
    }
}

/// Brings a device up.
///
/// # Safety
/// As [`configure`].
pub(super) unsafe fn bring_up(control: RawFd, device: &CStr) -> Option<()> {
    // SAFETY: forwarded from the caller.
    unsafe { raise(control, &name_of(device), 0) }
}

unsafe fn raise(control: RawFd, name: &Name, also: c_int) -> Option<()> {
    // SAFETY: the request is of the form that both ioctls ask for.
    unsafe {
        let mut request = request_for(name);
        check(libc::ioctl(control, libc::SIOCGIFFLAGS, &mut request))?;
        request.ifr_ifru.ifru_flags |= (libc::IFF_UP | also) as c_short;
        check(libc::ioctl(control, libc::SIOCSIFFLAGS, &mut request))
    }
}

/// An interface request for a device, everything else zero.
fn request_for(name: &Name) -> libc::ifreq {
    // SAFETY: all-zero octets are a valid value of this plain C structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    request.ifr_name = *name;
    request
}
