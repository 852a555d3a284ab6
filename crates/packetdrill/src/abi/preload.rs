//! System calls that packetdrill makes of the kernel where it should ask the library: TCP_INFO for
//! its `%{ ... }%` blocks, and `sendfile`. The interface has no word for them; loaded before the
//! system's own library (`LD_PRELOAD`), this one is asked all the same. It answers for descriptors of
//! open doors and hands everything else to the kernel, so that it does no harm in the programs that a
//! script starts.
#![allow(unsafe_code, reason = "called from C")]

use super::{DOORS, Data, calls};
use crate::door::Door;
use crate::threads::Role;
use libc::{off_t, size_t, socklen_t, ssize_t};
use nix::errno::Errno;
use std::ffi::{c_int, c_void};
use std::sync::PoisonError;

/// Most that one `sendfile` moves (MAX_RW_COUNT).
const MOST: size_t = 0x7fff_f000;

/// The userdata of the door whose descriptor this is.
fn door_of(fd: c_int) -> Option<Data> {
    let doors = DOORS.read().unwrap_or_else(PoisonError::into_inner);
    let has = |door: &Door| door.now(Role::Application, |world| world.is_nonblocking(fd)).is_ok();
    let found = doors.iter().find(|(_, door)| has(door));
    found.map(|(&number, _)| std::ptr::without_provenance_mut(number))
}

/// getsockopt(2).
///
/// # Safety
/// As the system's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    if let Some(userdata) = door_of(fd) {
        // SAFETY: the caller's promises are the same.
        return unsafe { calls::getsockopt(userdata, fd, level, name, value, len) };
    }
    // SAFETY: the caller's promises are the kernel's.
    unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, len) as c_int }
}

/// sendfile(2): from a file of the kernel's to a socket of ours.
///
/// # Safety
/// As the system's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    let Some(userdata) = door_of(to) else {
        // SAFETY: the caller's promises are the kernel's.
        return unsafe { libc::syscall(libc::SYS_sendfile, to, from, offset, count) as ssize_t };
    };
    let mut bytes = vec![0_u8; count.min(MOST)];
    // SAFETY: null, or an offset, as sendfile(2) asks.
    let at = if offset.is_null() { None } else { Some(unsafe { offset.read_unaligned() }) };
    let room = bytes.as_mut_ptr().cast();
    let read = match at {
        // SAFETY: there is as much room as is said.
        Some(at) => unsafe { libc::pread(from, room, bytes.len(), at) },
        // SAFETY: the same.
        None => unsafe { libc::read(from, room, bytes.len()) },
    };
    let Ok(read) = usize::try_from(read) else { return -1 };
    // SAFETY: so many bytes were read.
    let sent = unsafe { calls::send(userdata, to, bytes.as_ptr().cast(), read, 0) };
    if sent > 0
        && let Some(at) = at
    {
        // SAFETY: not null, and it was read from there.
        unsafe { offset.write_unaligned(at + sent as off_t) };
    }
    if at.is_none() && sent < read as ssize_t {
        let back = read as off_t - (sent as off_t).max(0);
        let error = Errno::last();
        // SAFETY: moves the file's own offset back to what was not sent.
        unsafe { libc::lseek(from, -back, libc::SEEK_CUR) };
        error.set();
    }
    sent
}
