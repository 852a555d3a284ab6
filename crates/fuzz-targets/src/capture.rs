//! Bytes of a capture file, pcapng or classic pcap: read to its end or to what is damaged.

use ackord_wire::{CaptureReader, glimpse};

/// Bytes of a capture file.
pub fn capture(data: &[u8]) {
    let Ok(mut reader) = CaptureReader::new(data) else { return };
    // Each packet takes bytes of the file: there cannot be more.
    for _ in 0..=data.len() {
        match reader.next_packet() {
            Ok(Some((link, packet))) => {
                let _ = glimpse(link, &packet.bytes, packet.original_len);
            }
            Ok(None) | Err(_) => return,
        }
    }
    panic!("more packets than bytes");
}
