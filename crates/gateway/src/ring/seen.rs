//! A packet, and what a kernel says of it (packet(7), linux/virtio_net.h).

use super::filter::HEADERS_OF_FEW;
use crate::config::MarkMatch;
use crate::{Interface, Sighting, VlanTag, Way};
use ackord_wire::TcpChecksum;
use std::mem::{offset_of, size_of};

/// The virtio header before each packet (struct virtio_net_hdr).
pub(super) const VNET_HEADER: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_VALID: u8 = 2;

/// A packet.
pub(super) struct Seen<'a> {
    frame: &'a [u8],
    /// How long it was, bytes.
    pub(super) len: u64,
    /// When it passed, since 1970.
    pub(super) nanos: u64,
    pub(super) outgoing: bool,
    vlan: Option<VlanTag>,
    segment_size: u32,
    checksum: TcpChecksum,
}

impl<'a> Seen<'a> {
    /// The packet at the beginning of these bytes of a block, and how far it is to the next; nothing where the
    /// kernel's header points out of them.
    pub(super) fn in_block(bytes: &'a [u8]) -> Option<(Seen<'a>, usize)> {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let status = word(offset_of!(libc::tpacket3_hdr, tp_status))?;
        let mac = usize::from(half(offset_of!(libc::tpacket3_hdr, tp_mac))?);
        let len = word(offset_of!(libc::tpacket3_hdr, tp_snaplen))? as usize;
        let seconds = word(offset_of!(libc::tpacket3_hdr, tp_sec))?;
        let nanos = word(offset_of!(libc::tpacket3_hdr, tp_nsec))?;
        let variant = offset_of!(libc::tpacket3_hdr, hv1);
        let control = word(variant + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tci))? as u16;
        let protocol = half(variant + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tpid))?;
        let address = TPACKET3_HDRLEN_ALIGNED;
        let kind = *bytes.get(address + offset_of!(libc::sockaddr_ll, sll_pkttype))?;
        let vnet = bytes.get(mac.checked_sub(VNET_HEADER)?..mac)?.try_into().ok()?;
        let seen = Seen {
            frame: bytes.get(mac..mac + len)?,
            len: u64::from(word(offset_of!(libc::tpacket3_hdr, tp_len))?),
            nanos: u64::from(seconds) * 1_000_000_000 + u64::from(nanos),
            outgoing: kind == libc::PACKET_OUTGOING,
            vlan: vlan(status, protocol, control),
            segment_size: segment_size(vnet),
            checksum: checksum(vnet, status),
        };
        Some((seen, word(offset_of!(libc::tpacket3_hdr, tp_next_offset))? as usize))
    }

    /// A packet as a socket hands it over; nothing where it is shorter than what stands before each.
    pub(super) fn received(
        bytes: &'a [u8],
        address: &libc::sockaddr_ll,
        said: &libc::tpacket_auxdata,
        nanos: u64,
    ) -> Option<Seen<'a>> {
        let (vnet, frame) = bytes.split_first_chunk()?;
        Some(Seen {
            frame,
            len: u64::from(said.tp_len),
            nanos,
            outgoing: address.sll_pkttype == libc::PACKET_OUTGOING,
            vlan: vlan(said.tp_status, said.tp_vlan_tpid, said.tp_vlan_tci),
            segment_size: segment_size(vnet),
            checksum: checksum(vnet, said.tp_status),
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

fn vlan(status: u32, protocol: u16, control: u16) -> Option<VlanTag> {
    (status & libc::TP_STATUS_VLAN_VALID != 0).then_some(VlanTag { protocol, control })
}

/// Data of each segment that offloading is to make of it, bytes; nothing where it is one.
fn segment_size(vnet: &[u8; VNET_HEADER]) -> u32 {
    match vnet[1] {
        0 => 0,
        _ => u32::from(u16::from_le_bytes([vnet[4], vnet[5]])),
    }
}

/// Whether its checksum is right, or still to be filled in: one that is neither has to be looked at.
fn checksum(vnet: &[u8; VNET_HEADER], status: u32) -> TcpChecksum {
    let flags = NEEDS_CHECKSUM | CHECKSUM_VALID;
    let statuses = libc::TP_STATUS_CSUM_VALID | libc::TP_STATUS_CSUMNOTREADY;
    match vnet[0] & flags != 0 || status & statuses != 0 {
        true => TcpChecksum::Trusted,
        false => TcpChecksum::Verified,
    }
}
