//! What stands before an IP packet on an interface, and where the packet begins.
//!
//! A kernel takes one VLAN tag out of a frame before a packet socket sees it and tells it beside the frame;
//! tags below that one are in the frame. Both are kept, and put back before what is injected.

use crate::config::MarkMatch;
use ackord_wire::TcpChecksum;

/// Which of the gateway's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interface {
    /// Towards the fixed hosts.
    Wan,
    /// Towards the mobile hosts: one of several, counted from zero.
    Lan(u8),
}

impl Interface {
    /// Its name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Interface::Wan => "wan",
            Interface::Lan(_) => "lan",
        }
    }
}

/// Which way a frame went over its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It came in.
    In,
    /// It went out.
    Out,
}

/// What kind of link an interface has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Ethernet, and Wi-Fi as a kernel shows it.
    Ethernet,
    /// Bare IP: TUN, PPP, most modems.
    Bare,
}

/// A VLAN tag that the kernel has taken out of a frame (IEEE 802.1Q).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    /// The tag's protocol: 0x8100, or 0x88a8 for a service tag.
    pub protocol: u16,
    /// Priority and number.
    pub control: u16,
}

/// A frame as a packet socket shows it.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// Where it was seen.
    pub interface: Interface,
    /// Which way it went.
    pub way: Way,
    /// The frame, from its link header on, as far as it was copied.
    pub frame: &'a [u8],
    /// A VLAN tag that is not in it any more.
    pub vlan: Option<VlanTag>,
    /// The payload of the segments it is to become, or was made of; zero where it is one segment.
    pub segment_size: u32,
    /// What is known of its TCP checksum.
    pub checksum: TcpChecksum,
    /// What is known of its mark. Where something is, that is all that this sighting tells: the packet is, or
    /// was, shown without as well.
    pub mark: Option<MarkMatch>,
    /// Whether its connection is let pass, and its packets are shown now and then only: headers.
    pub is_sample: bool,
}

/// Ethernet addresses, type, and two VLAN tags.
const LONGEST: usize = 14 + 2 * 4;

/// What stands before the IP packets of a connection in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkHeader {
    bytes: [u8; LONGEST],
    len: u8,
}

impl LinkHeader {
    /// Cuts a frame: its header, with the tag that the kernel took out, and its IP packet. Nothing where it
    /// is too short or its header longer than two tags.
    pub fn cut<'a>(sighting: &Sighting<'a>, kind: LinkKind) -> Option<(LinkHeader, &'a [u8])> {
        let frame = sighting.frame;
        if kind == LinkKind::Bare {
            return Some((LinkHeader { bytes: [0; LONGEST], len: 0 }, frame));
        }
        let mut header = LinkHeader { bytes: [0; LONGEST], len: 0 };
        header.push(frame.get(..12)?)?;
        if let Some(VlanTag { protocol, control }) = sighting.vlan {
            header.push(&protocol.to_be_bytes())?;
            header.push(&control.to_be_bytes())?;
        }
        let mut at = 12;
        while matches!(frame.get(at..at + 2)?, [0x81, 0x00] | [0x88, 0xa8]) {
            header.push(frame.get(at..at + 4)?)?;
            at += 4;
        }
        header.push(frame.get(at..at + 2)?)?;
        Some((header, frame.get(at + 2..)?))
    }

    fn push(&mut self, more: &[u8]) -> Option<()> {
        let from = usize::from(self.len);
        self.bytes.get_mut(from..from + more.len())?.copy_from_slice(more);
        self.len += more.len() as u8;
        Some(())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting(frame: &[u8], vlan: Option<VlanTag>) -> Sighting<'_> {
        Sighting {
            interface: Interface::Lan(0),
            way: Way::Out,
            frame,
            vlan,
            segment_size: 0,
            checksum: TcpChecksum::Verified,
            mark: None,
            is_sample: false,
        }
    }

    #[test]
    fn a_tag_that_the_kernel_took_out_is_put_back_before_those_that_are_there() {
        let mut frame = vec![2; 12];
        frame.extend([0x81, 0x00, 0x00, 0x07, 0x08, 0x00, 0x45, 0x00]);
        let vlan = VlanTag { protocol: 0x88a8, control: 9 };
        let (header, ip) = LinkHeader::cut(&sighting(&frame, Some(vlan)), LinkKind::Ethernet)
            .expect("two tags fit");
        assert_eq!(ip, [0x45, 0x00]);
        assert_eq!(header.bytes()[12..], [0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 0x08, 0x00]);
    }

    #[test]
    fn what_is_too_short_or_has_three_tags_is_nothing() {
        let tag = [0x81, 0x00, 0, 1];
        let mut frame = vec![2; 12];
        for _ in 0..3 {
            frame.extend(tag);
        }
        frame.extend([0x08, 0x00]);
        for len in 0..=frame.len() {
            assert_eq!(LinkHeader::cut(&sighting(&frame[..len], None), LinkKind::Ethernet), None);
        }
        let (header, ip) = LinkHeader::cut(&sighting(&[0x60], None), LinkKind::Bare).expect("bare");
        assert_eq!((header.bytes(), ip), (&[][..], &[0x60][..]));
    }
}
