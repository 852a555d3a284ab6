//! Bytes of a TCP header's options: what is read is written and read again as the same.

use ackord_wire::{EncodeError, IpFields, Payload, decode, encode};

/// Bytes of the options of a TCP header.
pub fn options(data: &[u8]) {
    let area = &data[..data.len().min(40)];
    let padded = area.len().next_multiple_of(4);
    let mut packet = vec![0; 40];
    packet[0] = 0x45;
    packet[8] = 64;
    packet[9] = 6;
    packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    packet[32] = ((20 + padded) as u8 / 4) << 4;
    packet[33] = 0x10;
    packet.extend_from_slice(area);
    packet.resize(40 + padded, 0);
    crate::checksums::set_checksums(&mut packet);
    let Ok(read) = decode(&packet) else { return };
    let mut again = Vec::new();
    let written =
        encode(read.endpoints, IpFields::default(), &read.segment, Payload::Bytes(&[]), &mut again);
    match written {
        Ok(()) => {
            let second = decode(&again).expect("what is written can be read");
            assert_eq!(second.segment, read.segment);
            let len = read.segment.header_len() as usize;
            assert_eq!(again.len(), 20 + len, "as long as it says");
        }
        // Others pack them more tightly than this does.
        Err(EncodeError::OptionsTooLong { len }) => assert!(len > 40),
        Err(error) => panic!("{error}"),
    }
}
