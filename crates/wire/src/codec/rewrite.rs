//! One segment out of several that offloading has put together: the same headers, byte by byte, but
//! for what a network card would have changed.
//!
//! Options that nobody here knows stay as they are, so that what is retransmitted is what the sender sent.
//! Not modelled: IPv6 extension headers, packets of 64 KiB and more (RFC 2675).

use super::{Decoded, PROTOCOL_TCP, PseudoHeader};
use crate::{Flags, Segment};
use etherparse::checksum::Sum16BitWords;

/// A part of a TCP packet's payload that is a segment of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins in the payload, bytes.
    pub offset: u32,
    /// How long it is.
    pub len: u32,
    /// Which one it is, from zero: the identification of an IPv4 packet counts on with it.
    pub number: u16,
}

impl Piece {
    /// The pieces of a payload of `len` bytes in segments of `size`; one, whatever its length, where
    /// `size` is zero.
    pub fn of(len: u32, size: u32) -> impl Iterator<Item = Piece> {
        let size = if size == 0 { len.max(1) } else { size };
        (0..len.div_ceil(size).max(1)).map(move |number| {
            let offset = number * size;
            Piece { offset, len: size.min(len - offset), number: number as u16 }
        })
    }

    /// The segment that it is: FIN and PSH are the last one's, CWR the first one's (as segmentation
    /// offload has it; RFC 3168 §6.1.2 wants CWR on one new segment).
    pub fn segment(&self, whole: &Segment) -> Segment {
        let (first, last) = (self.offset == 0, self.offset + self.len == whole.payload_len);
        let mut flags = whole.flags;
        if !last {
            flags = flags.without(Flags::FIN).without(Flags::PSH);
        }
        if !first {
            flags = flags.without(Flags::CWR);
        }
        let seq = whole.seq + self.offset;
        Segment { seq, flags, payload_len: self.len, ..*whole }
    }
}

/// Appends the packet of a piece of `packet`, which has been read as `decoded`, with all checksums.
pub fn write_piece(packet: &[u8], decoded: &Decoded, piece: Piece, out: &mut Vec<u8>) {
    let start = out.len();
    let headers = decoded.payload.start;
    let from = headers + piece.offset as usize;
    let Some(payload) = packet.get(from..from + piece.len as usize) else { return };
    out.extend_from_slice(&packet[..headers]);
    out.extend_from_slice(payload);
    let written = &mut out[start..];
    let ip_header = decoded.ip.payload.start;
    set_lengths(written, ip_header, piece.number);
    let segment = piece.segment(&decoded.segment);
    let tcp = &mut written[ip_header..];
    tcp[4..8].copy_from_slice(&segment.seq.0.to_be_bytes());
    tcp[13] = segment.flags.bits();
    tcp[16..18].fill(0);
    let pseudo = PseudoHeader {
        src: decoded.ip.src,
        dst: decoded.ip.dst,
        protocol: PROTOCOL_TCP,
        len: tcp.len() as u32,
    };
    let checksum = pseudo.checksum(tcp);
    tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
}

/// The IP header's length, identification and checksum.
fn set_lengths(packet: &mut [u8], header_len: usize, number: u16) {
    let len = packet.len();
    if packet[0] >> 4 == 6 {
        packet[4..6].copy_from_slice(&((len - header_len) as u16).to_be_bytes());
        return;
    }
    packet[2..4].copy_from_slice(&(len as u16).to_be_bytes());
    let identification = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(number);
    packet[4..6].copy_from_slice(&identification.to_be_bytes());
    packet[10..12].fill(0);
    let checksum = Sum16BitWords::new().add_slice(&packet[..header_len]).ones_complement();
    packet[10..12].copy_from_slice(&checksum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoints, IpFields, Options, Payload, Timestamps, decode, encode};
    use ackord_units::Seq;

    fn whole(ip: &str, len: usize) -> (Vec<u8>, Vec<u8>) {
        let (src, dst) = match ip {
            "4" => ("192.0.2.1:443", "198.51.100.7:50000"),
            _ => ("[2001:db8::1]:443", "[2001:db8::7]:50000"),
        };
        let endpoints =
            Endpoints { src: src.parse().expect("one"), dst: dst.parse().expect("one") };
        let segment = Segment {
            seq: Seq(u32::MAX - 700),
            ack: Seq(77),
            flags: Flags::ACK | Flags::PSH | Flags::FIN | Flags::CWR,
            window: 501,
            payload_len: len as u32,
            options: Options {
                timestamps: Some(Timestamps { value: 9, echo: 8 }),
                ..Options::default()
            },
        };
        let data: Vec<u8> = (0..len).map(|at| (at * 7 + at / 251) as u8).collect();
        let mut bytes = Vec::new();
        let ip = IpFields { identification: 0xffff, ..IpFields::default() };
        encode(endpoints, ip, &segment, Payload::Bytes(&data), &mut bytes).expect("sound");
        (bytes, data)
    }

    #[test]
    fn the_pieces_are_sound_packets_that_carry_all_bytes_once_and_in_order() {
        for ip in ["4", "6"] {
            let (bytes, data) = whole(ip, 4_000);
            let decoded = decode(&bytes).expect("sound");
            let mut carried = Vec::new();
            let mut flags = Vec::new();
            for piece in Piece::of(4_000, 1_448) {
                let mut out = vec![0xaa];
                write_piece(&bytes, &decoded, piece, &mut out);
                let again = decode(&out[1..]).expect("checksums and all");
                assert_eq!(again.segment, piece.segment(&decoded.segment));
                assert_eq!(again.segment.seq, decoded.segment.seq + carried.len() as u32);
                assert_eq!(again.ip.ip_len as usize, out.len() - 1);
                carried.extend_from_slice(&out[1..][again.payload.clone()]);
                flags.push(again.segment.flags);
            }
            assert_eq!(carried, data);
            let (first, last) = (Flags::ACK | Flags::CWR, Flags::ACK | Flags::PSH | Flags::FIN);
            assert_eq!(flags, [first, Flags::ACK, last]);
        }
    }

    #[test]
    fn a_packet_in_one_piece_is_itself() {
        for ip in ["4", "6"] {
            let (bytes, _) = whole(ip, 900);
            let decoded = decode(&bytes).expect("sound");
            let pieces: Vec<Piece> = Piece::of(900, 0).collect();
            let mut out = Vec::new();
            write_piece(&bytes, &decoded, pieces[0], &mut out);
            assert_eq!((pieces.len(), out), (1, bytes));
        }
    }
}
