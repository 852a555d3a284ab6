//! What stands before IP: link layers, VLAN tags, and the type of what follows.

use super::layers::Frame;
use super::tally::{Kind, Outcome};
use ackord_wire::LinkType;

// Those that `wire` has no names for (<https://www.tcpdump.org/linktypes.html>).
const PPP: u16 = 9;
const PPP_HDLC: u16 = 50;
const CISCO_HDLC: u16 = 104;
const PKTAP_FIRST: u16 = 149;
const NFLOG: u16 = 239;
const PKTAP: u16 = 258;

const ETHERNET: u16 = LinkType::ETHERNET.0;
const RAW: u16 = LinkType::RAW.0;
const RAW_BSD: u16 = LinkType::RAW_BSD.0;
const RAW_OPENBSD: u16 = LinkType::RAW_OPENBSD.0;
const IPV4: u16 = LinkType::IPV4.0;
const IPV6: u16 = LinkType::IPV6.0;
const NULL: u16 = LinkType::NULL.0;
const LOOP: u16 = LinkType::LOOP.0;
const LINUX_SLL: u16 = LinkType::LINUX_SLL.0;
const LINUX_SLL2: u16 = LinkType::LINUX_SLL2.0;

impl Frame<'_> {
    /// What begins with the header of this link layer.
    #[inline]
    pub(super) fn link(&mut self, link: u16) -> Option<Outcome> {
        match link {
            ETHERNET => self.ethernet(0),
            RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => self.ip(0),
            LINUX_SLL => self.cooked(),
            LINUX_SLL2 => self.cooked2(),
            // The address family is another on every system; the version of IP is not.
            NULL | LOOP => self.ip(4),
            PPP | PPP_HDLC => self.ppp(0),
            CISCO_HDLC => self.typed(self.u16(2)?, 4),
            NFLOG => self.nflog(),
            PKTAP | PKTAP_FIRST => self.pktap(),
            other => Some(Outcome::UnknownLink(other)),
        }
    }

    /// An Ethernet frame.
    #[inline]
    pub(super) fn ethernet(&mut self, at: usize) -> Option<Outcome> {
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        let ether_type = self.u16(at + 12)?;
        self.mix_bytes::<12>(at);
        self.typed(ether_type, at + 14)
    }

    /// Parses the header that Linux makes for `-i any`: packet type (incoming, outgoing, ...), device type,
    /// and the sender's address.
    fn cooked(&mut self) -> Option<Outcome> {
        let ether_type = self.u16(14)?;
        self.mix_bytes::<6>(0);
        self.mix_address(usize::from(self.u16(4)?), 6);
        self.typed(ether_type, 16)
    }

    /// Parses its successor, which adds the interface's index.
    fn cooked2(&mut self) -> Option<Outcome> {
        let ether_type = self.u16(0)?;
        self.mix_bytes::<8>(4);
        self.mix_address(usize::from(*self.bytes.get(11)?), 12);
        self.typed(ether_type, 20)
    }

    /// Adds an address of `len` bytes in a field of eight to the hash of the capture point. What is behind
    /// the address may be of any value.
    fn mix_address(&mut self, len: usize, at: usize) {
        let mut word = self.head::<8>(at).copied().unwrap_or_default();
        word[len.min(8)..].fill(0);
        self.mix(u64::from_le_bytes(word));
    }

    /// What an Ethernet type announces.
    #[inline]
    pub(super) fn typed(&mut self, mut ether_type: u16, mut at: usize) -> Option<Outcome> {
        loop {
            match ether_type {
                0x0800 => return self.ipv4(at),
                0x86dd => return self.ipv6(at),
                // A VLAN tag (IEEE 802.1Q, 802.1ad and before).
                0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                    ether_type = self.u16(at + 2)?;
                    // The VLAN only: priorities may differ between packets.
                    self.mix(u64::from(self.u16(at)? & 0xfff));
                    at += 4;
                }
                _ => return self.seldom(ether_type, at),
            }
        }
    }

    /// The rarer ones of these.
    fn seldom(&mut self, ether_type: u16, at: usize) -> Option<Outcome> {
        let kind = match ether_type {
            0x8847 | 0x8848 => return self.mpls(at),
            // PPPoE: version, code, session, length; then PPP (RFC 2516 §4).
            0x8864 => return self.ppp(at + 6),
            0x880b => return self.ppp(at),
            0x6558 => return self.ethernet(at),
            0x8863 => Kind::Pppoe,
            0x0806 | 0x8035 => Kind::Arp,
            0x88e5 => Kind::MacSec,
            0x888e => Kind::Eapol,
            0x88cc => Kind::Lldp,
            // A length: LLC, perhaps with SNAP, which has a type again (RFC 1042).
            0..0x0600 => match self.head::<8>(at) {
                Some([0xaa, 0xaa, 3, 0, 0, 0, high, low]) => {
                    let inner = u16::from_be_bytes([*high, *low]);
                    if inner < 0x0600 {
                        return Some(Outcome::Other(Kind::Llc));
                    }
                    return self.typed(inner, at + 8);
                }
                _ => Kind::Llc,
            },
            _ => Kind::OtherEther,
        };
        Some(Outcome::Other(kind))
    }

    /// PPP, with its address and control bytes or without (RFC 1661, RFC 1662).
    pub(super) fn ppp(&mut self, mut at: usize) -> Option<Outcome> {
        if self.head(at) == Some(&[0xff, 3]) {
            at += 2;
        }
        let first = *self.bytes.get(at)?;
        // A type whose first byte is odd has one byte only.
        let (protocol, at) = match first & 1 {
            1 => (u16::from(first), at + 1),
            _ => (self.u16(at)?, at + 2),
        };
        match protocol {
            0x0021 => self.ipv4(at),
            0x0057 => self.ipv6(at),
            0x0281 | 0x0283 => self.mpls(at),
            _ => Some(Outcome::Other(Kind::Ppp)),
        }
    }

    /// Linux's log of its packet filter: values with lengths in the order of the machine that
    /// captured, one of which is the packet.
    fn nflog(&mut self) -> Option<Outcome> {
        // Hook, incoming and outgoing interface (linux/netfilter/nfnetlink_log.h).
        const POINT: [u16; 3] = [1, 4, 5];
        const PAYLOAD: u16 = 9;
        let mut at = 4;
        loop {
            let head = *self.head::<4>(at)?;
            let little = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
            // Types are small: the order in which this one is.
            let (len, kind) = match little(2) & 0x7fff {
                kind @ 0..0x100 => (usize::from(little(0)), kind),
                _ => (usize::from(little(0).swap_bytes()), little(2).swap_bytes() & 0x7fff),
            };
            if kind == PAYLOAD {
                return self.ip(at + 4);
            }
            if len < 4 {
                return None;
            }
            if POINT.contains(&kind) {
                self.mix_bytes::<4>(at + 4);
            }
            at += len.next_multiple_of(4);
        }
    }

    /// What macOS puts before frames: the length of that, and the link type of the frame.
    fn pktap(&mut self) -> Option<Outcome> {
        let head = self.head::<12>(0)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (len, link) = (word(0) as usize, word(8));
        // The interface's name, and whether the frame came in or went out.
        self.mix_bytes::<24>(12);
        self.mix(u64::from(self.head::<1>(36).map_or(0, |[flags]| flags & 3)));
        match link {
            0 | 108 => self.ip(len.checked_add(4)?),
            1 => self.ethernet(len),
            12 | 14 | 101 => self.ip(len),
            other => Some(Outcome::UnknownLink(other as u16)),
        }
    }
}
