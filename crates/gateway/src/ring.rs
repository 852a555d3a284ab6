//! What passes an interface, from a ring that the kernel fills (packet(7), TPACKET_V3), and frames sent by the
//! same socket, which does not see them again.
//!
//! Each packet comes with a virtio header: how offloading is to cut it up, and whether its checksum is
//! still to be filled in. Blocks are handed over when they are full or a millisecond old.
//!
//! Not there: frames of more than [`Ring::FRAME`] octets are cut off, which [`Sighting::frame`] shows.

#![allow(
    unsafe_code,
    reason = "a ring that is shared with the kernel, and socket options without a wrapper"
)]

use crate::config::MarkMatch;
use crate::{Interface, LinkKind, Sighting, VlanTag, Way};
use ackord_wire::TcpChecksum;
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

/// Bare IP, as modems have it (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;
/// How long a block waits for more, milliseconds.
const BLOCK_TIMEOUT_MS: u32 = 1;
/// The longest headers: Ethernet with two tags, IP and TCP with all options.
const HEADERS: u32 = 14 + 8 + 60 + 60;

/// What is wanted of the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Headers of what goes out.
    HeadersOut,
    /// Headers of what comes in.
    HeadersIn,
    /// All of what goes out, headers of what comes in.
    DataOutHeadersIn,
    /// Headers of everything.
    Headers,
    /// All of everything.
    Everything,
    /// Headers of what goes out with such a mark: a ring does not tell marks, but its filter sees them.
    MarkedOut(MarkMatch),
}

impl Wanted {
    /// Octets that are copied of packets that go out and come in.
    fn octets(self) -> (u32, u32) {
        match self {
            Wanted::HeadersOut | Wanted::MarkedOut(_) => (HEADERS, 0),
            Wanted::HeadersIn => (0, HEADERS),
            Wanted::DataOutHeadersIn => (u32::MAX, HEADERS),
            Wanted::Headers => (HEADERS, HEADERS),
            Wanted::Everything => (u32::MAX, u32::MAX),
        }
    }

    /// A block holds the largest packet, or many headers.
    fn block(self) -> usize {
        match self {
            Wanted::DataOutHeadersIn | Wanted::Everything => 1 << 17,
            Wanted::HeadersOut | Wanted::HeadersIn | Wanted::Headers | Wanted::MarkedOut(_) => {
                1 << 14
            }
        }
    }

    /// Blocks of a ring. One is handed over after a millisecond, however empty, so that so many of them are
    /// also the milliseconds for which a reader may be kept from reading. Of a marked packet that is missed
    /// there will be another of the same connection.
    fn blocks(self) -> usize {
        match self {
            Wanted::MarkedOut(_) => 16,
            _ => 256,
        }
    }

    fn mark(self) -> Option<MarkMatch> {
        match self {
            Wanted::MarkedOut(mark) => Some(mark),
            _ => None,
        }
    }

    /// A program of classic BPF (linux/filter.h) that answers how much of a packet is copied.
    fn filter(self) -> Vec<libc::sock_filter> {
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let load = |what: libc::c_int| {
            let place = (libc::SKF_AD_OFF + what) as u32;
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, place)
        };
        let equals = |jf, k| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, jf, k);
        let answer = |octets| step(libc::BPF_RET | libc::BPF_K, 0, 0, octets);
        let (out, inwards) = self.octets();
        let has_mark = |mark: MarkMatch| {
            let masked = step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, mark.mask);
            [load(libc::SKF_AD_MARK), masked, equals(1, mark.value)]
        };
        let marked: Vec<_> = self.mark().into_iter().flat_map(has_mark).collect();
        let past_out = marked.len() as u8 + 1;
        let mut steps = vec![load(libc::SKF_AD_PKTTYPE)];
        steps.push(equals(past_out, u32::from(libc::PACKET_OUTGOING)));
        steps.extend(marked);
        steps.extend([answer(out), answer(inwards)]);
        steps
    }
}

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
        attach(&socket, wanted)?;
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
        let kind = LinkKind::Ethernet;
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
    pub fn copy(&self, wanted: Wanted) -> io::Result<()> {
        attach(&self.socket, wanted)
    }

    /// Octets of packets that went out, whatever was copied of them.
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
            octets_out += if packet.outgoing { packet.len } else { 0 };
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

/// The virtio header before each packet (struct virtio_net_hdr).
const VNET_HEADER: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_VALID: u8 = 2;

/// A packet in a block.
struct Seen<'a> {
    frame: &'a [u8],
    /// How long it was, octets.
    len: u64,
    nanos: u64,
    /// Octets to the next packet.
    next: usize,
    outgoing: bool,
    vlan: Option<VlanTag>,
    segment_size: u32,
    checksum: TcpChecksum,
}

impl<'a> Seen<'a> {
    /// The packet at the beginning of these octets; nothing where the kernel's header points out of them.
    fn read(octets: &'a [u8]) -> Option<Seen<'a>> {
        let word = |at: usize| Some(u32::from_ne_bytes(octets.get(at..at + 4)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_ne_bytes(octets.get(at..at + 2)?.try_into().ok()?));
        let status = word(offset_of!(libc::tpacket3_hdr, tp_status))?;
        let mac = usize::from(half(offset_of!(libc::tpacket3_hdr, tp_mac))?);
        let len = word(offset_of!(libc::tpacket3_hdr, tp_snaplen))? as usize;
        let seconds = word(offset_of!(libc::tpacket3_hdr, tp_sec))?;
        let nanos = word(offset_of!(libc::tpacket3_hdr, tp_nsec))?;
        let variant = offset_of!(libc::tpacket3_hdr, hv1);
        let tagged = status & libc::TP_STATUS_VLAN_VALID != 0;
        let control = word(variant + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tci))? as u16;
        let protocol = half(variant + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tpid))?;
        let address = TPACKET3_HDRLEN_ALIGNED;
        let kind = *octets.get(address + offset_of!(libc::sockaddr_ll, sll_pkttype))?;
        let vnet = octets.get(mac.checked_sub(VNET_HEADER)?..mac)?;
        let has_checksum =
            vnet[0] & CHECKSUM_VALID != 0 || status & libc::TP_STATUS_CSUM_VALID != 0;
        let wants_checksum =
            vnet[0] & NEEDS_CHECKSUM != 0 || status & libc::TP_STATUS_CSUMNOTREADY != 0;
        Some(Seen {
            frame: octets.get(mac..mac + len)?,
            len: u64::from(word(offset_of!(libc::tpacket3_hdr, tp_len))?),
            nanos: u64::from(seconds) * 1_000_000_000 + u64::from(nanos),
            next: word(offset_of!(libc::tpacket3_hdr, tp_next_offset))? as usize,
            outgoing: kind == libc::PACKET_OUTGOING,
            vlan: tagged.then_some(VlanTag { protocol, control }),
            segment_size: match vnet[1] {
                0 => 0,
                _ => u32::from(u16::from_le_bytes([vnet[4], vnet[5]])),
            },
            checksum: match has_checksum || wants_checksum {
                true => TcpChecksum::Trusted,
                false => TcpChecksum::Verified,
            },
        })
    }

    fn sighting(&self, interface: Interface, mark: Option<MarkMatch>) -> Sighting<'a> {
        Sighting {
            interface,
            way: if self.outgoing { Way::Out } else { Way::In },
            frame: self.frame,
            vlan: self.vlan,
            segment_size: self.segment_size,
            checksum: self.checksum,
            mark,
        }
    }
}

/// Where the link-layer address stands behind a packet's header (TPACKET_ALIGN).
const TPACKET3_HDRLEN_ALIGNED: usize = size_of::<libc::tpacket3_hdr>().next_multiple_of(16);

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

fn attach(socket: &OwnedFd, wanted: Wanted) -> io::Result<()> {
    let mut filter = wanted.filter();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
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
