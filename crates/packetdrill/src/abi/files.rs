//! The calls on descriptors of any kind, and what makes a door: time and packets.
#![allow(unsafe_code, reason = "called from C")]

use super::calls::limit;
use super::{Data, memory, on_door, take};
use crate::calls::{Answer, Call};
use crate::door::{Door, Limit};
use crate::threads::Role;
use crate::world::{Change, Direction, Interest, PollEntry, SpliceEnds, Waiting, World};
use ackord_units::{Span, Time};
use libc::{epoll_event, loff_t, nfds_t, pollfd, size_t, ssize_t, timeval, timezone, useconds_t};
use nix::errno::Errno;
use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

/// Virtual time begins at midnight of 1 January 2000 (UTC).
const EPOCH_MICROS: i64 = 946_684_800_000_000;
/// Most entries of a poll (RLIMIT_NOFILE is no more anywhere).
const MOST_ENTRIES: usize = 1 << 20;
/// linux/sockios.h; the libc crate has it for some targets only.
const SIOCOUTQNSD: c_ulong = 0x894b;

const APPLICATION: Role = Role::Application;

fn micros(at: Time) -> i64 {
    EPOCH_MICROS + (at.as_nanos() / 1_000) as i64
}

/// A timeout in milliseconds: negative is for ever.
fn within(world: &World, timeout_ms: c_int) -> Limit {
    match timeout_ms {
        ..0 => Limit::None,
        0 => Limit::Now,
        ms => Limit::Until(world.now() + Span::from_millis(ms as u64)),
    }
}

pub(super) unsafe extern "C" fn free(userdata: Data) {
    if let Some(door) = take(userdata) {
        let closed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| door.close()));
        debug_assert!(closed.is_ok(), "closing the door failed");
    }
}

pub(super) unsafe extern "C" fn fcntl(
    userdata: Data,
    fd: c_int,
    command: c_int,
    argument: c_long,
) -> c_int {
    on_door(userdata, |door| {
        door.now(APPLICATION, |world| match command {
            libc::F_GETFL => {
                let nonblocking = world.is_nonblocking(fd)?;
                Ok(world.access_mode(fd)? | if nonblocking { libc::O_NONBLOCK } else { 0 })
            }
            libc::F_SETFL => {
                let nonblocking = argument as c_int & libc::O_NONBLOCK != 0;
                world.set_nonblocking(fd, nonblocking).map(|()| 0)
            }
            libc::F_GETFD => world.is_nonblocking(fd).map(|_| libc::FD_CLOEXEC),
            libc::F_SETFD => world.is_nonblocking(fd).map(|_| 0),
            _ => world.is_nonblocking(fd).and(Err(Errno::EINVAL)),
        })
    })
}

pub(super) unsafe extern "C" fn ioctl(
    userdata: Data,
    fd: c_int,
    request: c_ulong,
    argument: *mut c_void,
) -> c_int {
    on_door(userdata, |door| {
        let number: *mut c_int = argument.cast();
        let waiting = match request {
            libc::FIONREAD => Waiting::In,
            libc::TIOCOUTQ => Waiting::Out,
            SIOCOUTQNSD => Waiting::Unsent,
            libc::FIONBIO => {
                // SAFETY: ioctl(2) asks the caller for an integer with this request.
                let nonblocking = unsafe { memory::get(number) }? != 0;
                let set = |world: &mut World| world.set_nonblocking(fd, nonblocking);
                return door.now(APPLICATION, set).map(|()| 0);
            }
            _ => {
                return door
                    .now(APPLICATION, |world| world.is_nonblocking(fd))
                    .and(Err(Errno::ENOTTY));
            }
        };
        let count = door.now(APPLICATION, |world| world.waiting_bytes(fd, waiting))?;
        // SAFETY: ioctl(2) asks the caller for room for an integer with these requests.
        unsafe { memory::set(number, count) }.map(|()| 0)
    })
}

pub(super) unsafe extern "C" fn close(userdata: Data, fd: c_int) -> c_int {
    on_door(userdata, |door| {
        let linger = door.now(APPLICATION, |world| {
            let until = world.linger_until(fd);
            Ok::<_, Errno>(world.close(fd)?.zip(until))
        })?;
        if let Some((link, until)) = linger {
            door.wait(Call::Linger { link }, |_| Ok(Limit::Until(until)))?;
        }
        Ok(0)
    })
}

pub(super) unsafe extern "C" fn poll(
    userdata: Data,
    entries: *mut pollfd,
    count: nfds_t,
    timeout_ms: c_int,
) -> c_int {
    on_door(userdata, |door| {
        let count = usize::try_from(count).ok().filter(|&count| count <= MOST_ENTRIES);
        let count = count.ok_or(Errno::EINVAL)?;
        let mut wanted = Vec::with_capacity(count);
        for index in 0..count {
            // SAFETY: poll(2) asks the caller for so many entries.
            let entry = unsafe { memory::get(entries.wrapping_add(index)) }?;
            wanted.push(PollEntry { fd: entry.fd, wanted: entry.events, found: 0 });
        }
        let call = Call::Poll { entries: wanted };
        let Answer::Polled(found) = door.wait(call, |world| Ok(within(world, timeout_ms)))? else {
            return Err(Errno::EIO);
        };
        for (index, entry) in found.iter().enumerate() {
            let told = pollfd { fd: entry.fd, events: entry.wanted, revents: entry.found };
            // SAFETY: the same.
            unsafe { memory::set(entries.wrapping_add(index), told) }?;
        }
        Ok(found.iter().filter(|entry| entry.found != 0).count() as c_int)
    })
}

pub(super) unsafe extern "C" fn netdev_send(
    userdata: Data,
    packet: *const c_void,
    len: size_t,
) -> c_int {
    on_door(userdata, |door| {
        // SAFETY: the interface asks the caller for so many bytes.
        let bytes = unsafe { memory::bytes(packet, len) }?;
        if bytes.is_empty() {
            return Err(Errno::EINVAL);
        }
        door.now(Role::Driver, |world| world.packet_in(&bytes));
        Ok(0)
    })
}

pub(super) unsafe extern "C" fn netdev_receive(
    userdata: Data,
    buffer: *mut c_void,
    len: *mut size_t,
    at_micros: *mut c_longlong,
) -> c_int {
    on_door(userdata, |door| {
        // SAFETY: the interface asks the caller for the room there is.
        let room = unsafe { memory::get(len) }?;
        let answer = door.packet(room);
        let (bytes, at) = match &answer {
            Ok(Answer::Packet(packet)) => (packet.bytes.as_slice(), packet.at),
            _ => (&[][..], door.clock()),
        };
        // SAFETY: no more than there is room for; and the interface asks for room for both numbers.
        unsafe {
            memory::put(buffer, bytes)?;
            memory::set(len, bytes.len())?;
            memory::set(at_micros, micros(at))?;
        }
        answer.map(|_| 0)
    })
}

pub(super) unsafe extern "C" fn usleep(userdata: Data, micros: useconds_t) -> c_int {
    on_door(userdata, |door| {
        let span = Span::from_micros(u64::from(micros));
        door.wait(Call::Sleep, |world| Ok(Limit::Until(world.now() + span))).map(|_| 0)
    })
}

pub(super) unsafe extern "C" fn gettimeofday(
    userdata: Data,
    time: *mut timeval,
    zone: *mut timezone,
) -> c_int {
    on_door(userdata, |door| {
        let now = micros(door.clock());
        if !time.is_null() {
            let told = timeval { tv_sec: now / 1_000_000, tv_usec: now % 1_000_000 };
            // SAFETY: gettimeofday(2) asks the caller for room for it.
            unsafe { memory::set(time, told) }?;
        }
        if !zone.is_null() {
            // SAFETY: a struct timezone is two integers, for which the caller has room.
            unsafe { memory::set(zone.cast::<[c_int; 2]>(), [0, 0]) }?;
        }
        Ok(0)
    })
}

pub(super) unsafe extern "C" fn epoll_create(userdata: Data, size: c_int) -> c_int {
    on_door(userdata, |door| {
        if size <= 0 {
            return Err(Errno::EINVAL);
        }
        door.now(APPLICATION, World::open_epoll)
    })
}

pub(super) unsafe extern "C" fn epoll_ctl(
    userdata: Data,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    on_door(userdata, |door| {
        let change = match operation {
            libc::EPOLL_CTL_ADD => Change::Add,
            libc::EPOLL_CTL_MOD => Change::Modify,
            libc::EPOLL_CTL_DEL => Change::Remove,
            _ => return Err(Errno::EINVAL),
        };
        let interest = if change == Change::Remove {
            Interest { events: 0, data: 0 }
        } else {
            // SAFETY: epoll_ctl(2) asks the caller for an event with these operations.
            let event = unsafe { memory::get(event) }?;
            Interest { events: event.events, data: event.u64 }
        };
        door.now(APPLICATION, |world| world.epoll_watch(epoll, fd, (change, interest))).map(|()| 0)
    })
}

pub(super) unsafe extern "C" fn epoll_wait(
    userdata: Data,
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout_ms: c_int,
) -> c_int {
    on_door(userdata, |door| {
        let most = usize::try_from(most).ok().filter(|&most| most > 0).ok_or(Errno::EINVAL)?;
        let call = Call::Epoll { fd: epoll, most };
        let Answer::Events(found) = door.wait(call, |world| Ok(within(world, timeout_ms)))? else {
            return Err(Errno::EIO);
        };
        for (index, event) in found.iter().enumerate() {
            let told = epoll_event { events: event.events, u64: event.data };
            // SAFETY: epoll_wait(2) asks the caller for room for `most` of them.
            unsafe { memory::set(events.wrapping_add(index), told) }?;
        }
        Ok(found.len() as c_int)
    })
}

pub(super) unsafe extern "C" fn pipe(userdata: Data, ends: *mut c_int) -> c_int {
    on_door(userdata, |door| {
        if ends.is_null() {
            return Err(Errno::EFAULT);
        }
        let [out, into] = door.now(APPLICATION, World::open_pipe)?;
        // SAFETY: pipe(2) asks the caller for room for two descriptors.
        unsafe {
            memory::set(ends, out)?;
            memory::set(ends.wrapping_add(1), into)?;
        }
        Ok(0)
    })
}

/// An offset means nothing to pipes and sockets: splice(2) answers ESPIPE. packetdrill hands over
/// the address of its own variable, so a pointer to zero counts as none.
///
/// # Safety
/// `offset` is null or points to an offset.
unsafe fn no_offset(offset: *const loff_t) -> Result<(), Errno> {
    // SAFETY: as the caller says.
    if offset.is_null() || unsafe { memory::get(offset) }? == 0 {
        Ok(())
    } else {
        Err(Errno::ESPIPE)
    }
}

pub(super) unsafe extern "C" fn splice(
    userdata: Data,
    from: c_int,
    from_offset: *mut loff_t,
    to: c_int,
    to_offset: *mut loff_t,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    on_door(userdata, |door: &Door| {
        // SAFETY: splice(2) asks the caller for an offset or nothing.
        unsafe {
            no_offset(from_offset)?;
            no_offset(to_offset)?;
        }
        let more = flags & libc::SPLICE_F_MORE != 0;
        let call = Call::Splice { ends: SpliceEnds { from, to }, most: len, more };
        let never = flags & libc::SPLICE_F_NONBLOCK != 0;
        let limit = |world: &World| {
            if never || limit(world, to, 0, Direction::Write)? == Limit::Now {
                return Ok(Limit::Now);
            }
            limit(world, from, 0, Direction::Read)
        };
        match door.wait(call, limit)? {
            Answer::Count(count) => Ok(count as ssize_t),
            _ => Err(Errno::EIO),
        }
    })
}
