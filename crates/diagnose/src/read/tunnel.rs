//! Tunnels that do not encrypt: GRE with ERSPAN, MPLS, VXLAN, Geneve, NSH, GTP, CAPWAP.

use super::layers::Frame;
use super::tally::{Kind, Outcome};

impl Frame<'_> {
    /// GRE (RFC 2784, RFC 2890), and as PPTP has it (RFC 2637 §4.1).
    pub(super) fn gre(&mut self, at: usize) -> Option<Outcome> {
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const ACKNOWLEDGMENT: u16 = 0x0080;
        let (flags, inner) = (self.u16(at)?, self.u16(at + 2)?);
        let version = flags & 7;
        if version > 1 || flags & ROUTING != 0 {
            return Some(Outcome::Other(Kind::Gre));
        }
        let mut len = 4;
        for flag in [CHECKSUM, KEY, SEQUENCE] {
            len += if flags & flag != 0 { 4 } else { 0 };
        }
        if version == 1 && flags & ACKNOWLEDGMENT != 0 {
            len += 4;
        }
        let at = at + len;
        match inner {
            0x0800 | 0x86dd | 0x6558 | 0x8847 | 0x8848 => self.typed(inner, at),
            // An acknowledgment of PPTP has no payload.
            0x880b if flags & SEQUENCE == 0 => Some(Outcome::Other(Kind::Gre)),
            0x880b => self.ppp(at),
            // ERSPAN, what a switch mirrors: I, II and III (draft-foschiano-erspan).
            0x88be if flags & SEQUENCE == 0 => self.ethernet(at),
            0x88be => self.ethernet(at + 8),
            0x22eb => {
                let more = if self.bytes.get(at + 11)? & 1 != 0 { 8 } else { 0 };
                self.ethernet(at + 12 + more)
            }
            // EoIP of MikroTik; its key is a length and a number.
            0x6400 => self.ethernet(at),
            // WCCP: packets redirected to a proxy, since version 2 with a header of four bytes.
            0x883e => match self.bytes.get(at)? >> 4 {
                4 => self.ipv4(at),
                _ => self.ip(at + 4),
            },
            // From access points of Aruba.
            0x8200..=0x83ff => self.tunnelled_wifi(at),
            _ => Some(Outcome::Other(Kind::Gre)),
        }
    }

    /// A stack of MPLS labels (RFC 3032), and IP or an Ethernet frame behind it.
    pub(super) fn mpls(&mut self, mut at: usize) -> Option<Outcome> {
        loop {
            let entry = self.head::<4>(at)?;
            at += 4;
            if entry[2] & 1 != 0 {
                break;
            }
        }
        match self.bytes.get(at)? >> 4 {
            4 => self.ipv4(at),
            6 => self.ipv6(at),
            // A control word (RFC 4385 §3), and an Ethernet frame.
            0 => self.ethernet(at + 4),
            _ => Some(Outcome::Other(Kind::Mpls)),
        }
    }

    /// VXLAN (RFC 7348 §5).
    pub(super) fn vxlan(&mut self, at: usize) -> Option<Outcome> {
        let header = self.head::<8>(at)?;
        // Without a valid network it is something else on that port.
        if header[0] & 0x08 == 0 {
            return Some(Outcome::Other(Kind::Udp));
        }
        self.ethernet(at + 8)
    }

    /// Parses VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe §3): VXLAN with a field for what follows.
    pub(super) fn vxlan_gpe(&mut self, at: usize) -> Option<Outcome> {
        const NEXT_STATED: u8 = 4;
        let header = self.head::<8>(at)?;
        match header[0] & NEXT_STATED {
            0 => self.vxlan(at),
            _ => self.next_protocol(header[3], at + 8),
        }
    }

    /// Parses a network service header (RFC 8300 §2.2).
    pub(super) fn nsh(&mut self, at: usize) -> Option<Outcome> {
        let header = *self.head::<8>(at)?;
        let len = 4 * usize::from(header[1] & 0x3f);
        if len < 8 {
            return None;
        }
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        self.next_protocol(header[3], at + len)
    }

    /// Parses what VXLAN-GPE and NSH announce.
    fn next_protocol(&mut self, next: u8, at: usize) -> Option<Outcome> {
        match next {
            1 => self.ipv4(at),
            2 => self.ipv6(at),
            3 => self.ethernet(at),
            4 => self.nsh(at),
            5 => self.mpls(at),
            _ => Some(Outcome::Other(Kind::Udp)),
        }
    }

    /// Parses CAPWAP data (RFC 5415 §4.3): frames of an access point, of Ethernet or 802.11.
    pub(super) fn capwap(&mut self, at: usize) -> Option<Outcome> {
        const DTLS: u8 = 1;
        const WIFI: u8 = 1;
        const NATIVE: u8 = 1;
        const FRAGMENT: u8 = 0x80;
        const KEEP_ALIVE: u8 = 0x08;
        let [preamble, len, binding, flags, _, _, high, low] = *self.head::<8>(at)?;
        if preamble == DTLS {
            return Some(Outcome::Other(Kind::Dtls));
        }
        let at = at + 4 * usize::from(len >> 3);
        let later = flags & FRAGMENT != 0 && u16::from_be_bytes([high, low]) >> 3 != 0;
        match (preamble, binding & NATIVE, binding >> 1 & 0x1f) {
            (0, ..) if later => Some(Outcome::Other(Kind::Fragment)),
            (0, ..) if flags & KEEP_ALIVE != 0 => Some(Outcome::Other(Kind::Udp)),
            (0, NATIVE, WIFI) => self.tunnelled_wifi(at),
            (0, 0, _) => self.ethernet(at),
            _ => Some(Outcome::Other(Kind::Udp)),
        }
    }

    /// Geneve (RFC 8926 §3.4).
    pub(super) fn geneve(&mut self, at: usize) -> Option<Outcome> {
        let header = self.head::<8>(at)?;
        if header[0] >> 6 != 0 {
            return Some(Outcome::Other(Kind::Udp));
        }
        let inner = u16::from_be_bytes([header[2], header[3]]);
        let len = 8 + 4 * usize::from(header[0] & 0x3f);
        self.typed(inner, at + len)
    }

    /// What a mobile network carries for its users (3GPP TS 29.281 §5).
    pub(super) fn gtp(&mut self, mut at: usize) -> Option<Outcome> {
        const USER_DATA: u8 = 0xff;
        let header = *self.head::<8>(at)?;
        if header[0] >> 4 != 3 || header[1] != USER_DATA {
            return Some(Outcome::Other(Kind::Udp));
        }
        at += 8;
        if header[0] & 7 != 0 {
            let mut next = *self.bytes.get(at + 3)?;
            at += 4;
            while next != 0 {
                let len = 4 * usize::from(*self.bytes.get(at)?);
                if len == 0 {
                    return None;
                }
                at += len;
                next = *self.bytes.get(at - 1)?;
            }
        }
        self.ip(at)
    }
}
