//! Packets whose checksums are right whatever else they say, so that a fuzzer gets past them.

/// The Internet checksum over these words (RFC 1071), one's complement.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        for word in part.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0));
        }
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

/// Writes the lengths and checksums of an IP packet as its receiver expects them.
pub(crate) fn set_checksums(packet: &mut [u8]) {
    let len = packet.len();
    let Some(first) = packet.first_mut() else { return };
    let (header, protocol_at, addresses) = if *first >> 4 == 6 {
        (40, 6, 8..40)
    } else {
        // Options in one of eight: the header is mostly of the common length.
        *first = if *first & 7 == 7 { 0x46 } else { 0x45 };
        ((*first as usize & 15) * 4, 9, 12..20)
    };
    if len < header {
        return;
    }
    if header == 40 {
        packet[4..6].copy_from_slice(&((len - header) as u16).to_be_bytes());
    } else {
        packet[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        packet[10..12].fill(0);
        let sum = checksum(&[&packet[..header]]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    let protocol = packet[protocol_at];
    // Where the transport's checksum stands, and whether it covers addresses.
    let (at, pseudo) = match protocol {
        6 => (16, true),
        1 => (2, false),
        58 => (2, true),
        _ => return,
    };
    if len < header + at + 2 {
        return;
    }
    packet[header + at..header + at + 2].fill(0);
    let words = ((len - header) as u32).to_be_bytes();
    let transport = &packet[header..];
    let sum = if pseudo {
        checksum(&[&packet[addresses], &words, &[0, protocol], transport])
    } else {
        checksum(&[transport])
    };
    packet[header + at..header + at + 2].copy_from_slice(&sum.to_be_bytes());
}
