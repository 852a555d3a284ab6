//! What passes an interface, from a ring that the kernel fills (packet(7), TPACKET_V3), and frames sent by the
//! same socket, which does not see them again.
//!
//! Each packet comes with a virtio header: how offloading is to cut it up, and whether its checksum is
//! still to be filled in. Blocks are handed over when they are full or a millisecond old, for which a kernel has a
//! timer that goes off each millisecond, whether anything passes or not: on a virtual machine a tenth of what it
//! forwards. So a ring can do without blocks ([`Holding::Queue`]): packets are asked for one by one, which is dear
//! where there are many.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Ring`]: the socket |
//! | `filter.rs` | [`Wanted`]: which packets the kernel copies, and how much of each |
//! | `seen.rs` | a packet, with what the kernel says of it |
//! | `blocks.rs` | packets in the blocks that the kernel fills |
//! | `queue.rs` | packets one by one |
//!
//! Not there: frames of more than [`Ring::FRAME`] bytes are cut off, which [`Sighting::frame`] shows.

#![allow(
    unsafe_code,
    reason = "a ring that is shared with the kernel, and socket options without a wrapper"
)]

mod blocks;
mod filter;
mod queue;
mod seen;

use crate::{Interface, LinkKind, Sighting};
use blocks::Blocks;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use queue::Queue;
use seen::{Seen, VNET_HEADER};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

pub(crate) use filter::Few;
pub use filter::Wanted;

/// Bare IP, as modems have it (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;

/// The packets of an interface.
#[derive(Debug)]
pub struct Ring {
    socket: OwnedFd,
    held: Held,
    /// What it was opened for.
    wanted: Wanted,
    interface: Interface,
    kind: LinkKind,
    /// Told by the kernel, and not yet by us.
    lost: u64,
    seen: u64,
    bytes_out: u64,
}

/// Where packets wait to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// In blocks of memory shared with the kernel: for many.
    Blocks,
    /// In the socket's queue: for few.
    Queue,
}

#[derive(Debug)]
enum Held {
    Blocks(Blocks),
    Queue(Queue),
}

/// Whether a ring hears what goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoingOut {
    /// It does, as far as its filter wants it.
    Heard = 0,
    /// It does not.
    Unheard = 1,
}

/// How many packets a ring has seen and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingStats {
    /// Packets that were seen or lost.
    pub packets: u64,
    /// Packets for which the ring had no room.
    pub lost: u64,
}

impl Ring {
    /// The longest frame that is copied whole: the largest packet that offloading makes.
    pub const FRAME: usize = 1 << 16;

    /// The packets of the interface of this name, in blocks.
    ///
    /// # Errors
    /// Without CAP_NET_RAW, or where there is no such interface.
    pub fn open(name: &str, interface: Interface, wanted: Wanted) -> io::Result<Ring> {
        let index = if_nametoindex(name)?;
        let mut ring = Ring::prepare(interface, LinkKind::Ethernet, wanted, Holding::Blocks)?;
        ring.kind = ring.bind(index)?;
        // Only now is it known where in its frames IP begins.
        ring.copy(wanted, &Few::default())?;
        Ok(ring)
    }

    /// A ring that hears nothing until it is bound. What takes long is done then.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub(crate) fn prepare(
        interface: Interface,
        kind: LinkKind,
        wanted: Wanted,
        holding: Holding,
    ) -> io::Result<Ring> {
        // No protocol yet: nothing arrives before the ring is there.
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
        attach(&socket, &wanted.filter(kind, &Few::default()))?;
        set(&socket, libc::PACKET_VNET_HDR, 1)?;
        let held = match holding {
            Holding::Blocks => Held::Blocks(Blocks::new(&socket, wanted)?),
            Holding::Queue => Held::Queue(Queue::new(&socket)?),
        };
        Ok(Ring { socket, held, wanted, interface, kind, lost: 0, seen: 0, bytes_out: 0 })
    }

    /// From now on it hears the interface of this number.
    ///
    /// # Errors
    /// Where there is no such interface, or of its kind of link nothing is understood.
    pub(crate) fn bind(&self, index: u32) -> io::Result<LinkKind> {
        let mut address = link_address(index);
        let (pointer, mut len) = ((&raw mut address).cast(), size_of::<libc::sockaddr_ll>() as u32);
        let socket = self.socket.as_raw_fd();
        // SAFETY: an address of this length, which both calls may read and the second may write.
        unsafe {
            Errno::result(libc::bind(socket, pointer, len))?;
            Errno::result(libc::getsockname(socket, pointer, &raw mut len))?;
        }
        match address.sll_hatype {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Ok(LinkKind::Ethernet),
            libc::ARPHRD_NONE | libc::ARPHRD_PPP | ARPHRD_RAWIP => Ok(LinkKind::Bare),
            other => Err(io::Error::other(format!("no link of type {other} is understood"))),
        }
    }

    /// From now on it hears nothing more; what it has heard can still be read.
    ///
    /// # Errors
    /// None that a ring knows of.
    pub(crate) fn silence(&self) -> io::Result<()> {
        attach(&self.socket, &[filter::answer(0)])
    }

    /// From now on so much is copied; the ring stays as large as it was opened.
    ///
    /// # Errors
    /// None that a ring knows of.
    pub(crate) fn copy(&self, wanted: Wanted, few: &Few) -> io::Result<()> {
        attach(&self.socket, &wanted.filter(self.kind, few))
    }

    /// From now on what goes out is heard or not. Of what is not the kernel makes no copy to ask a filter about.
    ///
    /// # Errors
    /// Before Linux 4.20: all of it is heard.
    pub fn hear(&self, going_out: GoingOut) -> io::Result<()> {
        set(&self.socket, libc::PACKET_IGNORE_OUTGOING, going_out as libc::c_int)
    }

    /// Bytes of packets that went out, whatever was copied of them; without those of connections that are let
    /// pass.
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out
    }

    /// What kind of link its interface has.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// Shows every packet that waits, of blocks those that are full, each with when it passed, in nanoseconds
    /// since 1970. Answers how many there were.
    pub fn read(&mut self, mut show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        let Ring { socket, held, wanted, interface, bytes_out, .. } = self;
        let mut see = |seen: &Seen<'_>| {
            let sighting = seen.sighting(*interface, wanted.mark());
            let counts = seen.outgoing && !sighting.is_sample;
            *bytes_out += if counts { seen.len } else { 0 };
            show(seen.nanos, &sighting);
        };
        match held {
            Held::Blocks(blocks) => blocks.read(&mut see),
            Held::Queue(queue) => queue.read(socket, &mut see),
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// EAGAIN or ENOBUFS where the interface's queue is full, ENETDOWN where it is down, ENXIO where it is gone.
    pub fn send(&self, frame: &[u8]) -> Result<(), Errno> {
        // With PACKET_VNET_HDR a header comes first; all zeros: a plain frame, its checksum done.
        let header = [0_u8; VNET_HEADER];
        let parts = [io::IoSlice::new(&header), io::IoSlice::new(frame)];
        let flags = nix::sys::socket::MsgFlags::MSG_DONTWAIT;
        nix::sys::socket::sendmsg::<()>(self.socket.as_raw_fd(), &parts, &[], flags, None).map(drop)
    }

    /// How many packets passed since it was opened, and how many of them it had no room for.
    ///
    /// # Errors
    /// None that a ring knows of.
    pub fn stats(&mut self) -> io::Result<RingStats> {
        let mut stats = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut len = size_of::<libc::tpacket_stats_v3>() as u32;
        let (socket, level) = (self.socket.as_raw_fd(), libc::SOL_PACKET);
        // SAFETY: a structure of this length, to be written. The kernel counts from zero after each call.
        let answer = unsafe {
            libc::getsockopt(
                socket,
                level,
                libc::PACKET_STATISTICS,
                (&raw mut stats).cast(),
                &raw mut len,
            )
        };
        Errno::result(answer)?;
        self.seen += u64::from(stats.tp_packets);
        self.lost += u64::from(stats.tp_drops);
        Ok(RingStats { packets: self.seen, lost: self.lost })
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn link_address(index: u32) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

fn attach(socket: &OwnedFd, filter: &[libc::sock_filter]) -> io::Result<()> {
    // The kernel only reads it.
    let steps = filter.as_ptr().cast_mut();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: steps };
    set_at(socket, (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER), program)
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: T) -> io::Result<()> {
    set_at(socket, (libc::SOL_PACKET, option), value)
}

fn set_at<T>(
    socket: &OwnedFd,
    (level, option): (libc::c_int, libc::c_int),
    value: T,
) -> io::Result<()> {
    let len = size_of::<T>() as u32;
    let socket = socket.as_raw_fd();
    // SAFETY: a plain value of this length, to be read.
    let answer = unsafe { libc::setsockopt(socket, level, option, (&raw const value).cast(), len) };
    Errno::result(answer)?;
    Ok(())
}

#[cfg(test)]
mod tests;
