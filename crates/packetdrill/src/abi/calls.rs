//! The socket calls.
#![allow(unsafe_code, reason = "called from C")]

use super::address::{self, Given};
use super::memory::{self, Said};
use super::{Data, on_door};
use crate::calls::{Answer, Call};
use crate::door::{Door, Limit};
use crate::threads::Role;
use crate::world::{Direction, Reading, TCP_INQ, World, Writing};
use ackord_wire::IpVersion;
use libc::{iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};
use nix::errno::Errno;
use std::ffi::{c_int, c_void};

const APPLICATION: Role = Role::Application;

/// Whether and how long a call on a descriptor waits.
pub(super) fn limit(
    world: &World,
    fd: c_int,
    flags: c_int,
    direction: Direction,
) -> Result<Limit, Errno> {
    if flags & libc::MSG_DONTWAIT != 0 || world.is_nonblocking(fd)? {
        return Ok(Limit::Now);
    }
    Ok(world.timeout_at(fd, direction).map_or(Limit::None, Limit::Until))
}

pub(super) unsafe extern "C" fn socket(
    userdata: Data,
    domain: c_int,
    kind: c_int,
    protocol: c_int,
) -> c_int {
    on_door(userdata, |door| {
        let family = match domain {
            libc::AF_INET => IpVersion::V4,
            libc::AF_INET6 => IpVersion::V6,
            _ => return Err(Errno::EAFNOSUPPORT),
        };
        if kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) != libc::SOCK_STREAM {
            return Err(Errno::ESOCKTNOSUPPORT);
        }
        if protocol != 0 && protocol != libc::IPPROTO_TCP {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        door.now(APPLICATION, |world| world.open_socket(family, nonblocking))
    })
}

pub(super) unsafe extern "C" fn bind(
    userdata: Data,
    fd: c_int,
    address: *const sockaddr,
    len: socklen_t,
) -> c_int {
    on_door(userdata, |door| {
        // SAFETY: bind(2) asks the caller for an address of this length.
        let bytes = unsafe { memory::bytes(address.cast(), len as usize) }?;
        match address::read(&bytes)? {
            Given::Address(to) => door.now(APPLICATION, |world| world.bind(fd, to)).map(|()| 0),
            Given::Unspecified => Err(Errno::EAFNOSUPPORT),
        }
    })
}

pub(super) unsafe extern "C" fn listen(userdata: Data, fd: c_int, backlog: c_int) -> c_int {
    on_door(userdata, |door| door.now(APPLICATION, |world| world.listen(fd, backlog)).map(|()| 0))
}

pub(super) unsafe extern "C" fn accept(
    userdata: Data,
    fd: c_int,
    peer: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    on_door(userdata, |door| {
        let limit = |world: &World| limit(world, fd, 0, Direction::Read);
        let Answer::Accepted(accepted) = door.wait(Call::Accept { fd }, limit)? else {
            return Err(Errno::EIO);
        };
        if !peer.is_null() {
            let told = address::written(accepted.peer, accepted.family);
            // SAFETY: accept(2) asks the caller for an address and its length.
            let put = unsafe { memory::put_within(peer.cast(), len, (&told, Said::Whole)) };
            if let Err(error) = put {
                // Nobody would know of the descriptor; Linux gives the connection up too.
                door.now(APPLICATION, |world| world.close(accepted.fd))?;
                return Err(error);
            }
        }
        Ok(accepted.fd)
    })
}

pub(super) unsafe extern "C" fn connect(
    userdata: Data,
    fd: c_int,
    address: *const sockaddr,
    len: socklen_t,
) -> c_int {
    on_door(userdata, |door| {
        // SAFETY: connect(2) asks the caller for an address of this length.
        let bytes = unsafe { memory::bytes(address.cast(), len as usize) }?;
        let to = match address::read(&bytes)? {
            Given::Unspecified => {
                return door.now(APPLICATION, |world| world.disconnect(fd)).map(|()| 0);
            }
            Given::Address(to) => to,
        };
        door.now(APPLICATION, |world| world.connect(fd, to))?;
        let limit = |world: &World| limit(world, fd, 0, Direction::Write);
        door.wait(Call::Connect { fd }, limit).map(|_| 0)
    })
}

/// What the flags of a reading call ask for.
fn reading(most: usize, flags: c_int) -> Result<Reading, Errno> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EINVAL);
    }
    if flags & libc::MSG_ERRQUEUE != 0 {
        return Err(Errno::EAGAIN);
    }
    let (peek, wait_all) = (flags & libc::MSG_PEEK != 0, flags & libc::MSG_WAITALL != 0);
    Ok(Reading { most, peek, wait_all })
}

fn receive(door: &Door, fd: c_int, most: usize, flags: c_int) -> Result<Vec<u8>, Errno> {
    let call = Call::Read { fd, reading: reading(most, flags)?, got: Vec::new() };
    match door.wait(call, |world| limit(world, fd, flags, Direction::Read))? {
        Answer::Bytes(bytes) => Ok(bytes),
        _ => Err(Errno::EIO),
    }
}

/// # Safety
/// Each piece has room for as many bytes as it says, unless they are thrown away.
unsafe fn receive_into(
    door: &Door,
    fd: c_int,
    pieces: &[iovec],
    flags: c_int,
) -> Result<ssize_t, Errno> {
    let thrown_away = flags & libc::MSG_TRUNC != 0;
    let nowhere = |piece: &iovec| piece.iov_base.is_null() && piece.iov_len > 0;
    let pieces = match pieces.iter().position(nowhere).filter(|_| !thrown_away) {
        // Linux takes nothing that it cannot deliver: what there is stays for the next call.
        Some(0) => {
            let there = receive(door, fd, memory::room(pieces)?, flags | libc::MSG_PEEK)?;
            return if there.is_empty() { Ok(0) } else { Err(Errno::EFAULT) };
        }
        Some(first) => &pieces[..first],
        None => pieces,
    };
    let bytes = receive(door, fd, memory::room(pieces)?, flags)?;
    // tcp(7): with MSG_TRUNC what was received is thrown away.
    if !thrown_away {
        // SAFETY: as the caller says.
        unsafe { memory::scatter(pieces, &bytes) }?;
    }
    Ok(bytes.len() as ssize_t)
}

pub(super) unsafe extern "C" fn read(
    userdata: Data,
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
) -> ssize_t {
    // SAFETY: read(2) asks the caller for the same.
    unsafe { recv(userdata, fd, buffer, len, 0) }
}

pub(super) unsafe extern "C" fn readv(
    userdata: Data,
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        // SAFETY: readv(2) asks the caller for so many pieces, each as long as it says.
        let pieces = unsafe { memory::pieces(pieces, count) }?;
        // SAFETY: the same.
        unsafe { receive_into(door, fd, &pieces, 0) }
    })
}

pub(super) unsafe extern "C" fn recv(
    userdata: Data,
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        let piece = iovec { iov_base: buffer, iov_len: len };
        // SAFETY: recv(2) asks the caller for room for so many bytes.
        unsafe { receive_into(door, fd, &[piece], flags) }
    })
}

pub(super) unsafe extern "C" fn recvfrom(
    userdata: Data,
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
    flags: c_int,
    _from: *mut sockaddr,
    from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: recvfrom(2) asks the caller for the same.
    let count = unsafe { recv(userdata, fd, buffer, len, flags) };
    if count >= 0 && !from_len.is_null() {
        // SAFETY: not null, and recvfrom(2) asks for a length there. A stream says no address.
        unsafe { from_len.write_unaligned(0) };
    }
    count
}

pub(super) unsafe extern "C" fn recvmsg(
    userdata: Data,
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        // SAFETY: recvmsg(2) asks the caller for a message.
        let mut header = unsafe { memory::get(message) }?;
        let count = c_int::try_from(header.msg_iovlen).map_err(|_| Errno::EMSGSIZE)?;
        // SAFETY: with so many pieces, each as long as it says.
        let pieces = unsafe { memory::pieces(header.msg_iov, count) }?;
        // SAFETY: the same.
        let received = unsafe { receive_into(door, fd, &pieces, flags) }?;
        header.msg_namelen = 0;
        let left = door.now(APPLICATION, |world| world.left_to_read(fd));
        // SAFETY: recvmsg(2) asks for as much room for control messages as the header says.
        let control = unsafe { memory::put_control(&header, (libc::SOL_TCP, TCP_INQ), left) }?;
        header.msg_flags = if control == 0 && left.is_some() { libc::MSG_CTRUNC } else { 0 };
        header.msg_controllen = control as _;
        // SAFETY: it was read from there.
        unsafe { memory::set(message, header) }?;
        Ok(received)
    })
}

fn transmit(door: &Door, fd: c_int, bytes: Vec<u8>, flags: c_int) -> Result<ssize_t, Errno> {
    if flags & (libc::MSG_OOB | libc::MSG_FASTOPEN) != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let (more, end_of_record) = (flags & libc::MSG_MORE != 0, flags & libc::MSG_EOR != 0);
    let call = Call::Write { fd, writing: Writing { more, end_of_record }, bytes, sent: 0 };
    match door.wait(call, |world| limit(world, fd, flags, Direction::Write))? {
        Answer::Count(count) => Ok(count as ssize_t),
        _ => Err(Errno::EIO),
    }
}

pub(super) unsafe extern "C" fn write(
    userdata: Data,
    fd: c_int,
    buffer: *const c_void,
    len: size_t,
) -> ssize_t {
    // SAFETY: write(2) asks the caller for the same.
    unsafe { send(userdata, fd, buffer, len, 0) }
}

pub(super) unsafe extern "C" fn writev(
    userdata: Data,
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        // SAFETY: writev(2) asks the caller for so many pieces, each as long as it says.
        let bytes = unsafe { memory::gather(&memory::pieces(pieces, count)?) }?;
        transmit(door, fd, bytes, 0)
    })
}

pub(super) unsafe extern "C" fn send(
    userdata: Data,
    fd: c_int,
    buffer: *const c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        // SAFETY: send(2) asks the caller for so many bytes.
        let bytes = unsafe { memory::bytes(buffer, len) }?;
        transmit(door, fd, bytes, flags)
    })
}

/// The address is not looked at: to a stream that is connected it means nothing, and one that is not
/// is refused.
pub(super) unsafe extern "C" fn sendto(
    userdata: Data,
    fd: c_int,
    buffer: *const c_void,
    len: size_t,
    flags: c_int,
    _to: *const sockaddr,
    _to_len: socklen_t,
) -> ssize_t {
    // SAFETY: sendto(2) asks the caller for the same.
    unsafe { send(userdata, fd, buffer, len, flags) }
}

pub(super) unsafe extern "C" fn sendmsg(
    userdata: Data,
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    on_door(userdata, |door| {
        // SAFETY: sendmsg(2) asks the caller for a message.
        let header = unsafe { memory::get(message) }?;
        let count = c_int::try_from(header.msg_iovlen).map_err(|_| Errno::EMSGSIZE)?;
        // SAFETY: with so many pieces, each as long as it says.
        let bytes = unsafe { memory::gather(&memory::pieces(header.msg_iov, count)?) }?;
        transmit(door, fd, bytes, flags)
    })
}

pub(super) unsafe extern "C" fn shutdown(userdata: Data, fd: c_int, how: c_int) -> c_int {
    on_door(userdata, |door| {
        let direction = match how {
            libc::SHUT_RD => Direction::Read,
            libc::SHUT_WR => Direction::Write,
            libc::SHUT_RDWR => Direction::Both,
            _ => return Err(Errno::EINVAL),
        };
        door.now(APPLICATION, |world| world.shutdown(fd, direction)).map(|()| 0)
    })
}

pub(super) unsafe extern "C" fn getsockopt(
    userdata: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    on_door(userdata, |door| {
        let bytes = door.now(APPLICATION, |world| world.option(fd, (level, name)))?;
        // SAFETY: getsockopt(2) asks the caller for a length and as much room.
        unsafe { memory::put_within(value, len, (&bytes, Said::Copied)) }.map(|()| 0)
    })
}

pub(super) unsafe extern "C" fn setsockopt(
    userdata: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    on_door(userdata, |door| {
        // SAFETY: setsockopt(2) asks the caller for so many bytes.
        let bytes = unsafe { memory::bytes(value, len as usize) }?;
        door.now(APPLICATION, |world| world.set_option(fd, (level, name), &bytes)).map(|()| 0)
    })
}
