//! Link layers, tags, and the type of the packet behind them.

use super::layers::Frame;
use super::tally::{Kind, Outcome};
use super::wifi::Reception;
use ackord_wire::LinkType;

// Those that `wire` has no names for (<https://www.tcpdump.org/linktypes.html>).
const PPP: u16 = 9;
const FDDI: u16 = 10;
const PPP_HDLC: u16 = 50;
const PPP_ETHER: u16 = 51;
const ATM_LLC: u16 = 100;
const CISCO_HDLC: u16 = 104;
const WIFI: u16 = 105;
const ENC: u16 = 109;
const PFLOG: u16 = 117;
const PRISM: u16 = 119;
const RADIOTAP: u16 = 127;
const PKTAP_FIRST: u16 = 149;
const AVS: u16 = 163;
const PPP_PPPD: u16 = 166;
const PPI: u16 = 192;
const PPP_WITH_DIRECTION: u16 = 204;
const CISCO_HDLC_WITH_DIRECTION: u16 = 205;
const MPLS: u16 = 219;
const NFLOG: u16 = 239;
const NETANALYZER: u16 = 240;
const NETANALYZER_WITH_PREAMBLE: u16 = 241;
const IPOIB: u16 = 242;
const INFINIBAND: u16 = 247;
const PKTAP: u16 = 258;
const DSA_BROADCOM: u16 = 281;
const DSA_BROADCOM_BEFORE: u16 = 282;
const DSA_MARVELL: u16 = 284;
const DSA_MARVELL_TYPED: u16 = 285;

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
            RADIOTAP => self.radiotap(),
            other => self.seldom_link(other),
        }
    }

    /// Parses the rarer ones of these.
    fn seldom_link(&mut self, link: u16) -> Option<Outcome> {
        match link {
            PPP | PPP_HDLC => self.ppp(0),
            PPP_ETHER => self.ppp(6),
            PPP_PPPD => self.directed(2, PPP),
            PPP_WITH_DIRECTION => self.directed(1, PPP),
            CISCO_HDLC => self.typed(self.u16(2)?, 4),
            CISCO_HDLC_WITH_DIRECTION => self.directed(1, CISCO_HDLC),
            WIFI => self.received(0, &Reception::default()),
            PRISM => self.prism(),
            AVS => self.avs(),
            PPI => self.ppi(),
            NFLOG => self.nflog(),
            PKTAP | PKTAP_FIRST => self.pktap(),
            PFLOG => self.pflog(),
            // Address family, security association, flags; then a packet decrypted or not yet encrypted.
            ENC => self.ip(12),
            // Frame control and two addresses.
            FDDI => {
                self.mix_bytes::<12>(1);
                self.llc(13)
            }
            ATM_LLC => self.llc(0),
            MPLS => self.mpls(0),
            NETANALYZER => self.ethernet(4),
            NETANALYZER_WITH_PREAMBLE => self.ethernet(12),
            IPOIB => self.ip_over_infiniband(),
            INFINIBAND => self.infiniband(),
            DSA_BROADCOM => self.dsa_broadcom(),
            DSA_BROADCOM_BEFORE => self.ethernet(4),
            DSA_MARVELL => self.dsa_marvell(12),
            DSA_MARVELL_TYPED => self.dsa_marvell(16),
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
            // A tag of a provider's backbone (IEEE 802.1ah), and the customer's frame.
            0x88e7 => return self.ethernet(at + 4),
            // FabricPath of Cisco.
            0x8903 => return self.ethernet(at + 2),
            // VN-Tag (IEEE 802.1BR) and R-Tag (IEEE 802.1CB) of four bytes.
            0x8926 | 0xf1c1 => return self.behind_tag(at + 4),
            // Marvell's switch tag with a type, on a machine that does not know its switch.
            0xdada => return self.behind_tag(at + 6),
            0x894f => return self.nsh(at),
            0x8863 => Kind::Pppoe,
            0x0806 | 0x8035 => Kind::Arp,
            0x88e5 => Kind::MacSec,
            0x888e => Kind::Eapol,
            0x88cc => Kind::Lldp,
            // A length: LLC, perhaps with SNAP, which has a type again (RFC 1042).
            0..0x0600 => return self.llc(at),
            _ => Kind::OtherEther,
        };
        Some(Outcome::Other(kind))
    }

    /// Parses the type at `at` and what is behind it. Tags may follow each other, so these count as
    /// tunnels do.
    fn behind_tag(&mut self, at: usize) -> Option<Outcome> {
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        self.typed(self.u16(at)?, at + 2)
    }

    /// Parses LLC, perhaps with SNAP, which has a type again (RFC 1042).
    pub(super) fn llc(&mut self, at: usize) -> Option<Outcome> {
        if self.head(at)? != &[0xaa, 0xaa, 3] {
            return Some(Outcome::Other(Kind::Llc));
        }
        match (*self.head::<3>(at + 3)?, self.u16(at + 6)?) {
            // The second organization is that of bridges (IEEE 802.1H).
            ([0, 0, 0 | 0xf8], 0x0600..) => self.behind_tag(at + 6),
            _ => Some(Outcome::Other(Kind::Llc)),
        }
    }

    /// Parses PPP, with its address and control bytes or without (RFC 1661, RFC 1662), or what Cisco has
    /// in its place (RFC 1547 §4.3.1).
    pub(super) fn ppp(&mut self, mut at: usize) -> Option<Outcome> {
        if matches!(self.head(at), Some([0x0f | 0x8f, 0])) {
            return self.behind_tag(at + 2);
        }
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
}
