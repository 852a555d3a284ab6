//! Packets in the blocks that a kernel fills (packet(7), TPACKET_V3): what its headers say of each.

use super::filter::HEADERS_OF_FEW;
use crate::config::MarkMatch;
use crate::{Interface, Sighting, VlanTag, Way};
use ackord_wire::TcpChecksum;
use std::mem::{offset_of, size_of};

/// The virtio header before each packet (struct virtio_net_hdr).
pub(super) const VNET_HEADER: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_VALID: u8 = 2;

/// A packet in a block.
pub(super) struct Seen<'a> {
    frame: &'a [u8],
    /// How long it was, octets.
    pub(super) len: u64,
    pub(super) nanos: u64,
    /// Octets to the next packet.
    pub(super) next: usize,
    pub(super) outgoing: bool,
    vlan: Option<VlanTag>,
    segment_size: u32,
    checksum: TcpChecksum,
}

impl<'a> Seen<'a> {
    /// The packet at the beginning of these octets; nothing where the kernel's header points out of them.
    pub(super) fn read(octets: &'a [u8]) -> Option<Seen<'a>> {
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

    pub(super) fn sighting(&self, interface: Interface, mark: Option<MarkMatch>) -> Sighting<'a> {
        Sighting {
            interface,
            way: if self.outgoing { Way::Out } else { Way::In },
            frame: self.frame,
            vlan: self.vlan,
            segment_size: self.segment_size,
            checksum: self.checksum,
            mark,
            is_sample: self.frame.len() == HEADERS_OF_FEW as usize
                && self.len > u64::from(HEADERS_OF_FEW),
        }
    }
}

/// Where the link-layer address stands behind a packet's header (TPACKET_ALIGN).
const TPACKET3_HDRLEN_ALIGNED: usize = size_of::<libc::tpacket3_hdr>().next_multiple_of(16);
