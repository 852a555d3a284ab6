//! Reads classic pcap, the format before pcapng: one link type, both byte orders, micro- and
//! nanoseconds.
//!
//! Layout: a header of 24 bytes, then per packet 16 bytes and the bytes kept
//! (draft-ietf-opsawg-pcap). Not modelled: the variants with longer packet headers that a few
//! kernels of the nineties wrote.

use crate::byte_order::{ByteOrder, read_up_to};
use crate::pcapng::{CapturedPacket, Damage, LinkType, ReadError};
use ackord_units::Time;
use std::io::Read;

/// Packets longer than this are taken for damage rather than read into memory.
const MAX_PACKET_LEN: u32 = 64 << 20;
const HEADER_LEN: usize = 24;
const RECORD_LEN: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Reads a classic pcap file packet by packet.
#[derive(Debug)]
pub struct PcapReader<R: Read> {
    input: R,
    offset: u64,
    order: ByteOrder,
    nanos_per_unit: u64,
    link_type: LinkType,
}

/// What the first four bytes of a pcap file say; nothing if they are not those of one.
fn magic(bytes: [u8; 4]) -> Option<(ByteOrder, u64)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| match order.u32(bytes) {
        MICROSECONDS => Some((order, 1_000)),
        NANOSECONDS => Some((order, 1)),
        _ => None,
    })
}

impl<R: Read> PcapReader<R> {
    /// Whether a file that begins so is a classic pcap file.
    pub fn recognises(first: [u8; 4]) -> bool {
        magic(first).is_some()
    }

    /// Opens a capture; reads its header.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn new(mut input: R) -> Result<PcapReader<R>, ReadError> {
        let mut header = [0; HEADER_LEN];
        let got = read_up_to(&mut input, &mut header)?;
        let (order, nanos_per_unit) = magic(word(&header, 0)).ok_or(ReadError::NotACapture)?;
        if got != HEADER_LEN {
            return Err(ReadError::Damaged { offset: 0, what: Damage::Truncated });
        }
        // The upper bits tell of frame check sequences, which nobody here looks at.
        let link_type = LinkType((order.u32(word(&header, 20)) & 0xffff) as u16);
        Ok(PcapReader { input, offset: HEADER_LEN as u64, order, nanos_per_unit, link_type })
    }

    /// What every packet begins with.
    pub fn link_type(&self) -> LinkType {
        self.link_type
    }

    /// The next packet, or nothing at the end.
    ///
    /// # Errors
    /// [`ReadError`]; what was read before stays good.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket>, ReadError> {
        let offset = self.offset;
        let damaged = |what| ReadError::Damaged { offset, what };
        let mut record = [0; RECORD_LEN];
        match read_up_to(&mut self.input, &mut record)? {
            0 => return Ok(None),
            RECORD_LEN => {}
            _ => return Err(damaged(Damage::Truncated)),
        }
        let [secs, fraction, kept, original_len] =
            [0, 4, 8, 12].map(|at| self.order.u32(word(&record, at)));
        if kept > MAX_PACKET_LEN {
            return Err(damaged(Damage::BadLength(kept)));
        }
        // A lying length costs no more memory than the file has bytes.
        let mut bytes = Vec::new();
        let got = self.input.by_ref().take(u64::from(kept)).read_to_end(&mut bytes)?;
        if got as u64 != u64::from(kept) {
            return Err(damaged(Damage::Truncated));
        }
        self.offset += (RECORD_LEN + got) as u64;
        let nanos = u64::from(secs) * 1_000_000_000 + u64::from(fraction) * self.nanos_per_unit;
        let at = Some(Time::from_nanos(nanos));
        Ok(Some(CapturedPacket { interface: 0, at, bytes, original_len, comment: None }))
    }
}

/// Four bytes of a header that is long enough.
fn word(header: &[u8], at: usize) -> [u8; 4] {
    header[at..at + 4].try_into().expect("four bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of two packets in a byte order and with a magic number.
    fn file(order: fn(u32) -> [u8; 4], magic: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for header in [magic, 0, 0, 0, 65_535, 101] {
            bytes.extend(order(header));
        }
        for (secs, fraction, payload) in [(7, 5, &b"abcde"[..]), (8, 6, &b""[..])] {
            let len = payload.len() as u32;
            for field in [secs, fraction, len, len + 100] {
                bytes.extend(order(field));
            }
            bytes.extend(payload);
        }
        bytes
    }

    #[test]
    fn both_byte_orders_and_both_units_of_time_are_read() {
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            for (magic, nanos) in [(MICROSECONDS, 7_000_005_000), (NANOSECONDS, 7_000_000_005)] {
                let bytes = file(order, magic);
                let mut reader = PcapReader::new(&bytes[..]).expect("a sound file");
                assert_eq!(reader.link_type(), LinkType::RAW);
                let first = reader.next_packet().expect("sound").expect("two packets");
                assert_eq!(first.at, Some(Time::from_nanos(nanos)));
                assert_eq!((&first.bytes[..], first.original_len), (&b"abcde"[..], 105));
                let second = reader.next_packet().expect("sound").expect("two packets");
                assert_eq!((second.bytes.len(), second.original_len), (0, 100));
                assert_eq!(reader.next_packet().expect("sound"), None);
            }
        }
    }

    #[test]
    fn a_file_that_ends_anywhere_is_read_up_to_there() {
        let bytes = file(u32::to_le_bytes, MICROSECONDS);
        for len in 0..bytes.len() {
            let mut packets = 0;
            let ending = PcapReader::new(&bytes[..len]).and_then(|mut reader| {
                while reader.next_packet()?.is_some() {
                    packets += 1;
                }
                Ok(())
            });
            let whole_records = [HEADER_LEN, HEADER_LEN + 21].contains(&len);
            assert_eq!(ending.is_ok(), whole_records, "{len} bytes: {ending:?}");
            assert_eq!(packets, usize::from(len >= HEADER_LEN + 21), "{len} bytes");
        }
    }

    #[test]
    fn a_lying_length_is_damage_and_costs_no_memory() {
        let mut bytes = file(u32::to_le_bytes, MICROSECONDS);
        bytes[HEADER_LEN + 8..HEADER_LEN + 12].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut reader = PcapReader::new(&bytes[..]).expect("a sound header");
        assert!(matches!(
            reader.next_packet(),
            Err(ReadError::Damaged { offset: 24, what: Damage::BadLength(u32::MAX) })
        ));
    }
}
