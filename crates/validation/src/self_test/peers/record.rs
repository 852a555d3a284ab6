//! A captured packet that can be rewritten: its IPv4 and TCP headers by field, checksums kept right.
//!
//! Captures keep the headers and part of the payload, so that checksums cannot be computed anew; they
//! are updated incrementally (RFC 1624 §3). Not modelled: IPv6, IP options, several segments in one packet.

use ackord_wire::Flags;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

const IP_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;

/// Bytes that identify a packet in the captures of all places: its headers without TTL and IP checksum.
pub(super) type Key = Vec<u8>;

/// A packet in a capture of bare IPv4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Time of capture, ns.
    pub(super) at: u64,
    /// Index of the interface.
    pub(super) interface: usize,
    /// The bytes kept.
    pub(super) bytes: Vec<u8>,
    /// Length of the packet, bytes.
    pub(super) original_len: u32,
    /// Identity before any rewriting.
    pub(super) key: Key,
}

/// A TCP segment to be built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) src: SocketAddrV4,
    pub(super) dst: SocketAddrV4,
    pub(super) seq: u32,
    pub(super) ack: u32,
    /// Window field, not scaled.
    pub(super) window: u16,
    /// TSval and TSecr.
    pub(super) timestamps: (u32, u32),
    /// Bytes of payload, all zero.
    pub(super) payload: u16,
}

impl Record {
    /// Returns nothing if the bytes are not the beginning of an IPv4 packet with a whole TCP header.
    pub(super) fn new(at: u64, interface: usize, bytes: Vec<u8>, len: u32) -> Option<Record> {
        let whole = bytes.len() >= 40 && bytes[0] == 0x45 && bytes[9] == 6;
        let mut record = Record { at, interface, bytes, original_len: len, key: Vec::new() };
        (whole && record.bytes.len() >= 20 + record.tcp_header_len()).then(|| {
            record.key = identity(&record.bytes);
            record
        })
    }

    /// Builds a pure ACK, or one with a few bytes of payload, with timestamps.
    pub(super) fn build(at: u64, interface: usize, made: &Made) -> Record {
        let len = 52 + made.payload;
        let mut bytes = vec![0_u8; usize::from(len)];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = 64;
        bytes[9] = 6;
        bytes[12..16].copy_from_slice(&made.src.ip().octets());
        bytes[16..20].copy_from_slice(&made.dst.ip().octets());
        bytes[20..22].copy_from_slice(&made.src.port().to_be_bytes());
        bytes[22..24].copy_from_slice(&made.dst.port().to_be_bytes());
        bytes[24..28].copy_from_slice(&made.seq.to_be_bytes());
        bytes[28..32].copy_from_slice(&made.ack.to_be_bytes());
        bytes[32] = 8 << 4;
        bytes[33] = Flags::ACK.bits();
        bytes[34..36].copy_from_slice(&made.window.to_be_bytes());
        bytes[40..44].copy_from_slice(&[1, 1, 8, 10]);
        bytes[44..48].copy_from_slice(&made.timestamps.0.to_be_bytes());
        bytes[48..52].copy_from_slice(&made.timestamps.1.to_be_bytes());
        let ip = !sum(&bytes[..20], 0);
        bytes[IP_CHECKSUM..IP_CHECKSUM + 2].copy_from_slice(&ip.to_be_bytes());
        let pseudo = sum(&bytes[12..20], 6 + u32::from(len) - 20);
        let tcp = !sum(&bytes[20..], u32::from(pseudo));
        bytes[20 + TCP_CHECKSUM..22 + TCP_CHECKSUM].copy_from_slice(&tcp.to_be_bytes());
        let key = identity(&bytes);
        Record { at, interface, bytes, original_len: u32::from(len), key }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) << 16 | u32::from(self.u16(at + 2))
    }

    pub(super) fn src(&self) -> SocketAddrV4 {
        self.end(12, 20)
    }

    pub(super) fn dst(&self) -> SocketAddrV4 {
        self.end(16, 22)
    }

    fn end(&self, ip: usize, port: usize) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::from(self.u32(ip)), self.u16(port))
    }

    /// Returns true if the packet belongs to the connection between these ends.
    pub(super) fn is_between(&self, ends: (SocketAddr, SocketAddr)) -> bool {
        let (src, dst) = (SocketAddr::V4(self.src()), SocketAddr::V4(self.dst()));
        (src, dst) == ends || (dst, src) == ends
    }

    pub(super) fn seq(&self) -> u32 {
        self.u32(24)
    }

    pub(super) fn ack(&self) -> u32 {
        self.u32(28)
    }

    /// Window field, not scaled.
    pub(super) fn window(&self) -> u16 {
        self.u16(34)
    }

    #[cfg(test)]
    pub(super) fn ip_id(&self) -> u16 {
        self.u16(4)
    }

    pub(super) fn flags(&self) -> Flags {
        Flags::from_bits(self.bytes[33])
    }

    fn tcp_header_len(&self) -> usize {
        usize::from(self.bytes[32] >> 4) * 4
    }

    /// Bytes of payload that the packet had, kept or not.
    pub(super) fn payload_len(&self) -> u32 {
        let headers = 20 + self.tcp_header_len() as u32;
        self.original_len.saturating_sub(headers)
    }

    /// Sequence number after its last byte, SYN and FIN counted.
    pub(super) fn end_seq(&self) -> u32 {
        let one = |flag| u32::from(self.flags().contains(flag));
        let len = self.payload_len() + one(Flags::SYN) + one(Flags::FIN);
        self.seq().wrapping_add(len)
    }

    /// Returns true for an ACK without payload, SYN, FIN or RST.
    pub(super) fn is_pure_ack(&self) -> bool {
        let others = [Flags::SYN, Flags::FIN, Flags::RST];
        let plain = !others.into_iter().any(|flag| self.flags().contains(flag));
        self.payload_len() == 0 && self.flags().contains(Flags::ACK) && plain
    }

    /// Returns where TSval begins, if the packet has timestamps.
    fn timestamps_at(&self) -> Option<usize> {
        let end = 20 + self.tcp_header_len();
        let mut at = 40;
        while at < end {
            match self.bytes[at] {
                0 => return None,
                1 => at += 1,
                8 if at + 10 <= end => return Some(at + 2),
                _ => at += usize::from(*self.bytes.get(at + 1)?).max(2),
            }
        }
        None
    }

    /// TSval and TSecr, if any.
    pub(super) fn timestamps(&self) -> Option<(u32, u32)> {
        self.timestamps_at().map(|at| (self.u32(at), self.u32(at + 4)))
    }

    pub(super) fn set_ip_id(&mut self, id: u16) {
        self.put(4, &id.to_be_bytes(), 0, IP_CHECKSUM);
    }

    /// Decrements the TTL, as a router does.
    pub(super) fn forward(&mut self) {
        let ttl = self.bytes[8].saturating_sub(1);
        self.put(8, &[ttl], 0, IP_CHECKSUM);
    }

    pub(super) fn set_timestamps(&mut self, (value, echo): (u32, u32)) {
        if let Some(at) = self.timestamps_at() {
            self.put(at, &value.to_be_bytes(), 20, 20 + TCP_CHECKSUM);
            self.put(at + 4, &echo.to_be_bytes(), 20, 20 + TCP_CHECKSUM);
        }
    }

    /// Replaces the timestamps option by no-operations.
    pub(super) fn strip_timestamps(&mut self) {
        if let Some(at) = self.timestamps_at() {
            self.put(at - 2, &[1; 10], 20, 20 + TCP_CHECKSUM);
        }
    }

    /// Makes a packet without payload one with one byte, zero, at `seq`.
    pub(super) fn add_byte(&mut self, seq: u32) {
        self.put(24, &seq.to_be_bytes(), 20, 20 + TCP_CHECKSUM);
        let len = self.u16(2) + 1;
        // The pseudo-header has the length, too.
        let before = self.bytes.clone();
        self.put(2, &len.to_be_bytes(), 0, IP_CHECKSUM);
        let length = |bytes: &[u8]| u16::from_be_bytes([bytes[2], bytes[3]]);
        let at = 20 + TCP_CHECKSUM;
        let changed = replaced(self.u16(at), length(&before), length(&self.bytes));
        self.bytes[at..at + 2].copy_from_slice(&changed.to_be_bytes());
        self.bytes.push(0);
        self.original_len += 1;
    }

    /// Overwrites bytes of a header that begins at `base`, and updates its checksum.
    fn put(&mut self, at: usize, new: &[u8], base: usize, checksum: usize) {
        let first = base + (at - base) / 2 * 2;
        let last = (base + (at + new.len() - base).next_multiple_of(2)).min(self.bytes.len());
        let old = self.bytes[first..last].to_vec();
        self.bytes[at..at + new.len()].copy_from_slice(new);
        let mut sum = self.u16(checksum);
        for (before, after) in old.chunks_exact(2).zip(self.bytes[first..last].chunks_exact(2)) {
            let word = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]);
            sum = replaced(sum, word(before), word(after));
        }
        self.bytes[checksum..checksum + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

fn identity(bytes: &[u8]) -> Key {
    let end = bytes.len().min(72);
    bytes[2..8].iter().chain(&bytes[12..end]).copied().collect()
}

/// Returns the checksum after one 16-bit word has changed (RFC 1624, equation 3).
fn replaced(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    !folded(sum)
}

fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Returns the ones' complement sum of the words, the last one padded with zero.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let words = bytes.chunks(2);
    let words = words.map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    folded(start + words.sum::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::decode;

    fn made() -> Made {
        let end = |text: &str| text.parse().expect("an address");
        Made {
            src: end("10.0.0.1:5000"),
            dst: end("10.0.1.1:80"),
            seq: 7,
            ack: 0xffff_fffe,
            window: 500,
            timestamps: (0x0102_0304, 9),
            payload: 0,
        }
    }

    #[test]
    fn rewritten_headers_have_right_checksums_and_the_new_fields() {
        let mut record = Record::build(5, 0, &made());
        decode(&record.bytes).expect("a built packet is sound");
        record.set_ip_id(0xabcd);
        record.forward();
        record.set_timestamps((0xfedc_ba98, 0x1234_5678));
        record.add_byte(1000);
        let decoded = decode(&record.bytes).expect("checksums are right");
        assert_eq!((record.ip_id(), record.seq(), record.payload_len()), (0xabcd, 1000, 1));
        assert_eq!(decoded.segment.payload_len, 1);
        assert_eq!(record.timestamps(), Some((0xfedc_ba98, 0x1234_5678)));
        record.strip_timestamps();
        let decoded = decode(&record.bytes).expect("checksums are right");
        assert_eq!((record.timestamps(), decoded.segment.options.timestamps), (None, None));
    }
}
