//! What passes an interface, from a ring that the kernel fills (packet(7), TPACKET_V3), and frames sent by the
//! same socket, which does not see them again.
//!
//! Each packet comes with a virtio header: how offloading is to cut it up, and whether its checksum is
//! still to be filled in. Blocks are handed over when they are full or a millisecond old.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Ring`]: the socket and its memory |
//! | `filter.rs` | [`Wanted`]: which packets the kernel copies, and how much of each |
//! | `block.rs` | packets in the blocks that the kernel fills |
//!
//! Not there: frames of more than [`Ring::FRAME`] octets are cut off, which [`Sighting::frame`] shows.

#![allow(
    unsafe_code,
    reason = "a ring that is shared with the kernel, and socket options without a wrapper"
)]

mod block;
mod filter;

use crate::{Interface, LinkKind, Sighting};
use block::{Seen, VNET_HEADER};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::ffi::c_void;
use std::io;
use std::mem::{offset_of, size_of};
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use filter::Few;
pub use filter::Wanted;

/// Bare IP, as modems have it (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;
/// How long a block waits for more, milliseconds.
const BLOCK_TIMEOUT_MS: u32 = 1;

/// The packets of an interface.
#[derive(Debug)]
pub struct Ring {
    socket: OwnedFd,
    memory: NonNull<u8>,
    /// The block that is read next.
    block: usize,
    wanted: Wanted,
    interface: Interface,
    kind: LinkKind,
    /// Told by the kernel, and not yet by us.
    lost: u64,
    seen: u64,
    octets_out: u64,
}

// SAFETY: the memory is this ring's alone, but for the kernel.
unsafe impl Send for Ring {}

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

    /// The packets of the interface of this name.
    ///
    /// # Errors
    /// Without CAP_NET_RAW, or where there is no such interface.
    pub fn open(name: &str, interface: Interface, wanted: Wanted) -> io::Result<Ring> {
        let index = if_nametoindex(name)?;
        // No protocol yet: nothing arrives before the ring is there.
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
        set(&socket, libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V3 as libc::c_int)?;
        set(&socket, libc::PACKET_VNET_HDR, 1)?;
        let kind = LinkKind::Ethernet;
        attach(&socket, &wanted.filter(kind, &Few::default()))?;
        let (block_len, blocks) = (wanted.block(), wanted.blocks());
        let request = libc::tpacket_req3 {
            tp_block_size: block_len as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: block_len as u32,
            tp_frame_nr: blocks as u32,
            tp_retire_blk_tov: BLOCK_TIMEOUT_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(&socket, libc::PACKET_RX_RING, request)?;
        let len = NonZeroUsize::new(block_len * blocks).expect("more than nothing");
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of the ring that was just asked for, of its length.
        let memory = unsafe { mmap(None, len, access, MapFlags::MAP_SHARED, &socket, 0)? }.cast();
        let mut ring = Ring {
            socket,
            memory,
            block: 0,
            wanted,
            interface,
            kind,
            lost: 0,
            seen: 0,
            octets_out: 0,
        };
        ring.kind = ring.bind(index)?;
        // Only now is it known where in its frames IP begins.
        ring.copy(wanted, &Few::default())?;
        Ok(ring)
    }

    fn bind(&self, index: u32) -> io::Result<LinkKind> {
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

    /// Octets of packets that went out, whatever was copied of them; without those of connections that are let
    /// pass.
    pub fn octets_out(&self) -> u64 {
        self.octets_out
    }

    /// What kind of link its interface has.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// Shows every packet of the blocks that are full, each with when it passed, in nanoseconds since 1970.
    /// Answers how many there were.
    pub fn read(&mut self, mut show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        let mut shown = 0;
        for _ in 0..self.wanted.blocks() {
            let Some(block) = self.full_block() else { break };
            let (count, octets_out) = self.show_block(block, &mut show);
            shown += count;
            self.octets_out += octets_out;
            // SAFETY: the status word of a block, in the mapping and aligned. What was read of the block
            // was read before.
            let status = unsafe { AtomicU32::from_ptr(block_header(block, status_at()).as_ptr()) };
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.block = (self.block + 1) % self.wanted.blocks();
        }
        shown
    }

    /// The next block, if it is ours.
    fn full_block(&self) -> Option<NonNull<u8>> {
        // SAFETY: `block` is below the number of blocks, so this is inside of the mapping; the status is aligned.
        let block = unsafe { self.memory.add(self.block * self.wanted.block()) };
        let status = unsafe { AtomicU32::from_ptr(block_header(block, status_at()).as_ptr()) };
        (status.load(Ordering::Acquire) & libc::TP_STATUS_USER != 0).then_some(block)
    }

    fn show_block(
        &self,
        block: NonNull<u8>,
        show: &mut impl FnMut(u64, &Sighting<'_>),
    ) -> (u32, u64) {
        // SAFETY: the block is ours until its status says otherwise: nobody writes there meanwhile.
        let octets = unsafe { std::slice::from_raw_parts(block.as_ptr(), self.wanted.block()) };
        let word = |at: usize| {
            octets.get(at..at + 4).map(|four| u32::from_ne_bytes(four.try_into().expect("four")))
        };
        let header = offset_of!(libc::tpacket_block_desc, hdr);
        let count = word(header + offset_of!(libc::tpacket_hdr_v1, num_pkts)).unwrap_or(0);
        let mut at = word(header + offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt))
            .unwrap_or(0) as usize;
        let mut octets_out = 0;
        for _ in 0..count {
            let Some(packet) = octets.get(at..).and_then(Seen::read) else { break };
            let sighting = packet.sighting(self.interface, self.wanted.mark());
            let counts = packet.outgoing && !sighting.is_sample;
            octets_out += if counts { packet.len } else { 0 };
            show(packet.nanos, &sighting);
            at += packet.next;
        }
        (count, octets_out)
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

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `open`, of the same length; nothing refers to it any more.
        let len = self.wanted.block() * self.wanted.blocks();
        let _ = unsafe { munmap(self.memory.cast::<c_void>(), len) };
    }
}

fn status_at() -> usize {
    offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status)
}

fn block_header(block: NonNull<u8>, at: usize) -> NonNull<u32> {
    // SAFETY: `at` is inside of a block's header.
    unsafe { block.add(at) }.cast()
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
