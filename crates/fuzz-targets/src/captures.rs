//! Bytes of a capture file of a stranger, packed or not: read to its end or to its damage, with counts
//! that add up; what is read of a beginning is the beginning of what is read.

use ackord_diagnose::{CaptureRead, Reader, Seen};
use std::io::Cursor;

/// What is unpacked at most: a few bytes can stand for gigabytes.
const MOST_FRAMES: usize = 100_000;

/// Bytes of a capture file; the first two say where it is cut.
pub fn captures(data: &[u8]) {
    let Some((&[high, low], file)) = data.split_first_chunk::<2>() else { return };
    let Some((whole, about)) = read(file) else { return };
    hold(&whole, &about);
    let cut = usize::from(u16::from_be_bytes([high, low])) % (file.len() + 1);
    if let Some((part, about)) = read(&file[..cut]) {
        hold(&part, &about);
        assert!(part.len() <= whole.len(), "less of a file has more packets");
        assert!(whole[..part.len()] == part, "less of a file has other packets");
    }
}

fn read(file: &[u8]) -> Option<(Vec<Seen>, CaptureRead)> {
    let mut reader = Reader::from_reader("input", Box::new(Cursor::new(file.to_vec())), 0).ok()?;
    let mut seen = Vec::new();
    for _ in 0..MOST_FRAMES / 1_000 {
        if !reader.read(&mut seen, 1_000).expect("memory does not fail") {
            return Some((seen, reader.finish()));
        }
    }
    None
}

fn hold(seen: &[Seen], about: &CaptureRead) {
    let others: u64 = about.others.iter().map(|(_, count)| count).sum();
    assert_eq!(about.frames, about.tcp + about.malformed + others);
    assert!(seen.is_sorted_by_key(|packet| packet.frame), "frames out of order");
    // A frame may have several packets: an A-MSDU of 802.11.
    let frames = seen.chunk_by(|a, b| a.frame == b.frame).count();
    assert_eq!(about.tcp, frames as u64);
    for packet in seen {
        assert!(packet.frame <= about.frames);
        assert!(packet.ip_len >= packet.payload_len.saturating_add(40));
        assert!(
            (about.began_ns..=about.ended_ns).contains(&packet.at.as_nanos())
                || packet.at.as_nanos() == 0
        );
    }
}
