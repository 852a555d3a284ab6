//! TCP headers and their options; what UDP carries.

use super::layers::{Frame, Ip};
use super::tally::{Kind, Outcome};
use crate::{Address, Sacks, Seen};
use ackord_wire::Flags;

/// The bytes of a TCP header up to its window: what it must have.
const PREFIX: usize = 16;
const FIXED: usize = 20;

impl Frame<'_> {
    /// A TCP packet: `len` bytes, of which at least the header's first 16 were kept.
    #[inline]
    pub(super) fn tcp(&mut self, at: usize, len: u32, ip: &Ip) -> Option<Outcome> {
        let bytes = self.from(at)?;
        let header = bytes.first_chunk::<PREFIX>()?;
        let header_len = usize::from(header[12] >> 4) * 4;
        if header_len < FIXED || header_len > len as usize {
            return None;
        }
        let word = |at: usize| word(header, at);
        let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let mut seen = Seen {
            frame: self.stamp.frame,
            at: self.stamp.at,
            file: self.stamp.file,
            interface: self.stamp.interface,
            src: Address { ip: ip.src, port: port(0) },
            dst: Address { ip: ip.dst, port: port(2) },
            seq: word(4),
            ack: word(8),
            window: u16::from_be_bytes([header[14], header[15]]),
            flags: Flags::from_bits(header[13]),
            payload_len: len - header_len as u32,
            ip_len: ip.len,
            ip_id: ip.id,
            ttl: ip.ttl,
            ecn: ip.ecn,
            mss: None,
            wscale: None,
            sack_permitted: false,
            timestamps: None,
            sacks: Sacks::default(),
            options_cut: header_len > bytes.len().max(FIXED),
            hop: self.hop(),
            radio: self.radio,
        };
        // What was kept of the options.
        let kept = header_len.min(bytes.len());
        if kept > FIXED {
            options(&bytes[FIXED..kept], &mut seen);
        }
        self.out.push(seen);
        Some(Outcome::Tcp)
    }

    /// A UDP datagram: a tunnel, or the name of what it seems to be.
    pub(super) fn udp(&mut self, at: usize) -> Option<Outcome> {
        let Some(&[s0, s1, d0, d1, ..]) = self.head::<8>(at) else {
            return Some(Outcome::Other(Kind::Udp));
        };
        let (src, dst) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        let at = at + 8;
        match dst {
            // RFC 7348; Linux before it had a port.
            4789 | 8472 => return self.vxlan(at),
            6081 => return self.geneve(at),
            2152 => return self.gtp(at),
            4790 => return self.vxlan_gpe(at),
            // RFC 8086, RFC 7510.
            4754 => return self.gre(at),
            6635 => return self.mpls(at),
            _ => {}
        }
        let either = |port| src == port || dst == port;
        if either(5247) {
            return self.capwap(at);
        }
        let payload = self.from(at).unwrap_or(&[]);
        let kind = match payload {
            [1..=4, 0, 0, 0, ..] if either(51820) => Kind::WireGuard,
            // RFC 3948 §2: ESP has no identifier of zero.
            [0, 0, 0, 0, ..] if either(4500) => Kind::Ike,
            _ if either(4500) => Kind::Esp,
            _ if either(500) => Kind::Ike,
            _ if either(1194) => Kind::OpenVpn,
            _ if either(1701) => Kind::L2tp,
            [20..=25, 0xfe, 0xfd | 0xff, ..] => Kind::Dtls,
            _ if either(443) || begins_quic(payload) => Kind::Quic,
            _ => Kind::Udp,
        };
        Some(Outcome::Other(kind))
    }
}

/// Whether this is a long header of QUIC (RFC 8999 §5.1) of a version that is in use.
fn begins_quic(payload: &[u8]) -> bool {
    let Some(&[first, v0, v1, v2, v3, id_len]) = payload.first_chunk::<6>() else { return false };
    let known = match u32::from_be_bytes([v0, v1, v2, v3]) {
        // Versions 1 and 2 (RFC 9000, RFC 9369), and drafts.
        1 | 0x6b33_43cf | 0xff00_0000..=0xff00_00ff => true,
        _ => false,
    };
    first & 0xc0 == 0xc0 && known && id_len <= 20
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The bytes of a packet that carries timestamps and nothing else (RFC 7323, appendix A).
const TIMESTAMPS_ALONE: [u8; 4] = [1, 1, 8, 10];

/// Reads options; one that is cut off or malformed ends them.
#[inline]
fn options(options: &[u8], seen: &mut Seen) {
    if let Some(all) = options.first_chunk::<12>()
        && all[..4] == TIMESTAMPS_ALONE
    {
        seen.timestamps = Some((word(all, 4), word(all, 8)));
        if options.len() > 12 {
            walk(&options[12..], seen);
        }
        return;
    }
    walk(options, seen);
}

/// RFC 9293 §3.1: kinds 0 and 1 are one byte, all others say how long they are.
fn walk(mut options: &[u8], seen: &mut Seen) {
    loop {
        let (kind, len) = match *options {
            [] | [0, ..] => return,
            [1, ..] => {
                options = &options[1..];
                continue;
            }
            [kind, len, ..] => (kind, usize::from(len)),
            [_] => return,
        };
        if len < 2 {
            return;
        }
        // A SACK option that is cut off still has the blocks before.
        let value = &options[2..len.min(options.len()).max(2)];
        match (kind, len, value) {
            (2, 4, [high, low]) => seen.mss = Some(u16::from_be_bytes([*high, *low])),
            (3, 3, [shift]) => seen.wscale = Some(*shift),
            (4, 2, []) => seen.sack_permitted = true,
            (5, _, blocks) => {
                for block in blocks.chunks_exact(8) {
                    seen.sacks.push((word(block, 0), word(block, 4)));
                }
            }
            (8, 10, stamps @ [_, _, _, _, _, _, _, _]) => {
                seen.timestamps = Some((word(stamps, 0), word(stamps, 4)));
            }
            _ => {}
        }
        let Some(rest) = options.get(len..) else { return };
        options = rest;
    }
}
