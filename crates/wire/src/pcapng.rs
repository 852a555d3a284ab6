//! Captures: pcapng files out and in.
//!
//! | file | what |
//! | --- | --- |
//! | `pcapng/writer.rs` | [`PcapngWriter`]: the same packets always give the same bytes |
//! | `pcapng/reader.rs` | [`PcapngReader`]: ours and what tcpdump, dumpcap and Wireshark write |
//!
//! Written: one section in little-endian order, raw-IP interfaces with a name and nanosecond time
//! stamps, enhanced packet blocks with optional comments. Block layouts are those of the IETF draft
//! draft-ietf-opsawg-pcapng.
//! Not modelled: name resolution, decryption secrets and statistics blocks
//! (skipped when read).

mod reader;
mod writer;

pub use reader::{CapturedInterface, CapturedPacket, Damage, PcapngReader, ReadError};
pub use writer::{InterfaceIndex, PacketRecord, PcapngWriter};

/// Link-layer types (the registry is <https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Ethernet frames.
    pub const ETHERNET: LinkType = LinkType(1);
    /// Bare IP packets, version 4 or 6.
    pub const RAW: LinkType = LinkType(101);
    /// IP behind the four bytes of BSD's loopback.
    pub const NULL: LinkType = LinkType(0);
    /// The same in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Bare IP packets as some systems number them.
    pub const RAW_BSD: LinkType = LinkType(12);
    /// Bare IP packets as OpenBSD numbers them.
    pub const RAW_OPENBSD: LinkType = LinkType(14);
    /// Linux "cooked" frames, as of the interface `any`.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// Linux "cooked" frames, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
    /// Bare IPv4 packets.
    pub const IPV4: LinkType = LinkType(228);
    /// Bare IPv6 packets.
    pub const IPV6: LinkType = LinkType(229);
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
/// In a section header: the program that wrote the section.
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION_TEXT: u16 = 3;
const INTERFACE_TSRESOL: u16 = 9;
const INTERFACE_TSOFFSET: u16 = 14;
