//! From a frame down to TCP: the way through IP.
//!
//! A length of zero in an IP header (a packet that the network card was to cut up) means that of the
//! frame on the wire. A first fragment counts with the bytes that it has itself.

use super::tally::{Kind, Outcome};
use crate::{Radio, Seen};
use ackord_units::Time;

/// IP headers and Ethernet headers within each other, at most.
const DEEPEST: u8 = 8;

/// Which frame, when and where.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub(super) frame: u64,
    pub(super) at: Time,
    pub(super) file: u16,
    pub(super) interface: u16,
    /// Direction bits of `epb_flags`: 1 inbound, 2 outbound, 0 if unknown.
    pub(super) direction: u8,
}

/// A frame on its way down, and where a TCP packet goes.
pub(super) struct Frame<'a> {
    /// The bytes kept.
    pub(super) bytes: &'a [u8],
    /// Bytes on the wire.
    wire: usize,
    pub(super) stamp: Stamp,
    pub(super) out: &'a mut Vec<Seen>,
    /// What a radio header stated, for [`Seen::radio`].
    pub(super) radio: Option<Radio>,
    depth: u8,
    /// Hash of what identifies the capture point, see [`Frame::mix`].
    point: u64,
}

/// An IP header, and extension headers.
#[derive(Clone, Copy)]
pub(super) struct Ip {
    pub(super) src: [u8; 16],
    pub(super) dst: [u8; 16],
    /// Bytes of the packet.
    pub(super) len: u32,
    pub(super) id: u16,
    pub(super) ttl: u8,
    pub(super) ecn: u8,
}

/// What an IP packet carries.
pub(super) const TCP: u8 = 6;
const IPV6: u8 = 41;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const NOTHING: u8 = 59;

/// Reads a frame of which `wire` bytes were on the wire; a TCP packet is appended to `out`.
#[inline]
pub(super) fn frame(
    link: u16,
    bytes: &[u8],
    wire: u32,
    stamp: Stamp,
    out: &mut Vec<Seen>,
) -> Outcome {
    let wire = (wire as usize).max(bytes.len());
    let mut frame = Frame { bytes, wire, stamp, out, radio: None, depth: 0, point: 0 };
    let interface = u64::from(stamp.direction) << 16 | u64::from(stamp.interface);
    if interface != 0 {
        frame.mix(interface);
    }
    frame.link(link).unwrap_or(Outcome::Malformed)
}

/// Nothing means: too short or contradicting itself.
impl<'a> Frame<'a> {
    /// The bytes from `at` on.
    #[inline]
    pub(super) fn from(&self, at: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..)
    }

    /// The `N` bytes at `at`.
    #[inline]
    pub(super) fn head<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.bytes.get(at..)?.first_chunk()
    }

    /// The number at `at`.
    #[inline]
    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        self.head(at).map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// Adds `word` to the hash of the capture point (FxHash: rotate, exclusive or, multiply). Only fields
    /// that are the same in all packets of one direction of a connection at one point may be added.
    #[inline]
    pub(super) fn mix(&mut self, word: u64) {
        self.point = (self.point.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Adds the `N` bytes at `at` to the hash of the capture point, as far as they were kept.
    #[inline]
    pub(super) fn mix_bytes<const N: usize>(&mut self, at: usize) {
        let Some(bytes) = self.head::<N>(at).copied() else { return };
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    /// Returns the fingerprint for [`Seen::hop`]; zero only if nothing but zeros was added.
    #[inline]
    pub(super) fn hop(&self) -> u32 {
        match self.point {
            0 => 0,
            point => ((point >> 32) as u32).max(1),
        }
    }

    /// Returns the bytes that were on the wire.
    pub(super) fn wire(&self) -> usize {
        self.wire
    }

    /// Shortens the frame to `len` bytes on the wire.
    pub(super) fn cut(&mut self, len: usize) {
        self.wire = len;
        self.bytes = self.bytes.get(..len).unwrap_or(self.bytes);
    }

    /// Returns the state that frames side by side in one have in common.
    pub(super) fn nesting(&self) -> (u8, u64) {
        (self.depth, self.point)
    }

    pub(super) fn set_nesting(&mut self, (depth, point): (u8, u64)) {
        (self.depth, self.point) = (depth, point);
    }

    /// Parses what is behind a header of `len` bytes as a frame of its own, of this link type.
    pub(super) fn behind(&mut self, len: usize, link: u16) -> Option<Outcome> {
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        self.bytes = self.from(len)?;
        self.wire = self.wire.checked_sub(len)?;
        self.link(link)
    }

    /// One more header of a kind that may carry itself; whether that is one too many.
    #[inline]
    pub(super) fn too_deep(&mut self) -> bool {
        self.depth += 1;
        self.depth > DEEPEST
    }

    /// An IP packet of either version.
    #[inline]
    pub(super) fn ip(&mut self, at: usize) -> Option<Outcome> {
        match self.bytes.get(at)? >> 4 {
            4 => self.ipv4(at),
            6 => self.ipv6(at),
            _ => None,
        }
    }

    /// An IPv4 packet.
    #[inline]
    pub(super) fn ipv4(&mut self, at: usize) -> Option<Outcome> {
        let header = *self.head::<20>(at)?;
        let header_len = u32::from(header[0] & 0xf) * 4;
        let len = match u32::from(u16::from_be_bytes([header[2], header[3]])) {
            0 => u32::try_from(self.wire - at.min(self.wire)).ok()?,
            len => len,
        };
        if header[0] >> 4 != 4 || header_len < 20 || len < header_len {
            return None;
        }
        // All but the first fragment: no TCP header.
        if u16::from_be_bytes([header[6], header[7]]) & 0x1fff != 0 {
            return Some(Outcome::Other(Kind::Fragment));
        }
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        let ip = Ip {
            src: mapped([header[12], header[13], header[14], header[15]]),
            dst: mapped([header[16], header[17], header[18], header[19]]),
            len,
            id: u16::from_be_bytes([header[4], header[5]]),
            ttl: header[8],
            ecn: header[1] & 3,
        };
        let (at, len) = (at + header_len as usize, len - header_len);
        match header[9] {
            TCP => self.tcp(at, len, &ip),
            AUTHENTICATION => self.extensions(AUTHENTICATION, at, len, &ip),
            carried => self.carried(carried, at),
        }
    }

    /// An IPv6 packet.
    pub(super) fn ipv6(&mut self, at: usize) -> Option<Outcome> {
        let header = self.head::<40>(at)?;
        if header[0] >> 4 != 6 {
            return None;
        }
        let len = match u32::from(u16::from_be_bytes([header[4], header[5]])) {
            // A jumbogram (RFC 2675), or left to the network card.
            0 if header[6] != NOTHING => {
                u32::try_from(self.wire - (at + 40).min(self.wire)).ok()?
            }
            len => len,
        };
        let ip = Ip {
            src: *header[8..].first_chunk()?,
            dst: *header[24..].first_chunk()?,
            len: len.saturating_add(40),
            id: 0,
            ttl: header[7],
            ecn: header[1] >> 4 & 3,
        };
        let next = header[6];
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        if next == TCP {
            return self.tcp(at + 40, len, &ip);
        }
        self.extensions(next, at + 40, len, &ip)
    }

    /// Extension headers (RFC 8200 §4), and what is behind them.
    fn extensions(
        &mut self,
        mut next: u8,
        mut at: usize,
        mut len: u32,
        ip: &Ip,
    ) -> Option<Outcome> {
        loop {
            let extension_len = match next {
                TCP => return self.tcp(at, len, ip),
                // Hop-by-hop, destination options, mobility, HIP, Shim6.
                0 | ROUTING | 60 | 135 | 139 | 140 => 8 + 8 * u32::from(*self.bytes.get(at + 1)?),
                FRAGMENT => {
                    if self.u16(at + 2)? >> 3 != 0 {
                        return Some(Outcome::Other(Kind::Fragment));
                    }
                    8
                }
                // RFC 4302 §2.2: authenticated, not encrypted.
                AUTHENTICATION => 8 + 4 * u32::from(*self.bytes.get(at + 1)?),
                carried => return self.carried(carried, at),
            };
            next = *self.bytes.get(at)?;
            at += extension_len as usize;
            len = len.checked_sub(extension_len)?;
        }
    }

    /// What is not TCP.
    fn carried(&mut self, carried: u8, at: usize) -> Option<Outcome> {
        let kind = match carried {
            17 => return self.udp(at),
            4 => return self.ipv4(at),
            IPV6 => return self.ipv6(at),
            47 => return self.gre(at),
            // Ethernet within IP (RFC 3378).
            97 => return self.ethernet(at + 2),
            137 => return self.mpls(at),
            1 => Kind::Icmp,
            2 => Kind::Igmp,
            50 => Kind::Esp,
            58 => Kind::IcmpV6,
            115 => Kind::L2tp,
            132 => Kind::Sctp,
            _ => Kind::OtherIp,
        };
        Some(Outcome::Other(kind))
    }
}

/// An IPv4 address in its IPv6 form.
#[inline]
fn mapped(ip: [u8; 4]) -> [u8; 16] {
    let mut all = [0; 16];
    all[10] = 0xff;
    all[11] = 0xff;
    all[12..].copy_from_slice(&ip);
    all
}
