//! Any bytes, and sound captures with some bytes changed: never a panic, always an end, and what
//! stands before the change is read.

use super::files::{self, Order};
use super::frames;
use super::packing::{gzip, zstd};
use super::{read, sound};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every frame that is understood, in every format.
pub(super) fn captures() -> Vec<Vec<u8>> {
    let mut captures: Vec<_> = files::all().into_iter().map(|(_, file)| file).collect();
    let mut mixed = files::section(Order::Big);
    for (number, framed) in frames::all().iter().enumerate() {
        mixed.extend(files::interface(Order::Big, framed.link, 0, &[]));
        mixed.extend(files::enhanced(Order::Big, number as u32, 1_000, &framed.bytes, &[]));
    }
    captures.push(mixed);
    captures
}

/// Reads it, and holds what is true of any bytes.
fn hold(bytes: &[u8]) {
    let Ok((seen, about)) = read(bytes) else { return };
    assert!(seen.len() as u64 >= about.tcp);
    let others: u64 = about.others.iter().map(|(_, count)| count).sum();
    assert_eq!(about.frames, about.tcp + others + about.malformed);
    let mut numbers: Vec<_> = seen.iter().map(|seen| seen.frame).collect();
    assert!(numbers.is_sorted(), "frames are numbered in their order");
    numbers.dedup();
    assert_eq!(numbers.len() as u64, about.tcp, "several packets of a frame count as one frame");
    assert!(numbers.last().is_none_or(|last| *last <= about.frames));
    for seen in &seen {
        assert!(seen.ip_len >= seen.payload_len + 40, "{seen:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_come_to_an_end(which in 0..5_usize, tail in vec(any::<u8>(), 0..600)) {
        let head = match which {
            0 => Vec::new(),
            1 => files::pcap_header(Order::Little, files::MICROS, 1),
            2 => [files::section(Order::Big), files::interface(Order::Big, 1, 0, &[])].concat(),
            3 => gzip(b"")[..10].to_vec(),
            _ => vec![0x28, 0xb5, 0x2f, 0xfd],
        };
        hold(&[head, tail].concat());
    }

    #[test]
    fn changed_bytes_leave_what_is_before_them(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        change in vec(any::<u8>(), 1..20),
    ) {
        let captures = captures();
        let mut file = which.get(&captures).clone();
        let whole = sound(&file).0;
        let at = at.index(file.len());
        // Frames that are complete before the change.
        let before = read(&file[..at]).map_or(0, |(seen, _)| seen.len());
        let end = (at + change.len()).min(file.len());
        file[at..end].copy_from_slice(&change[..end - at]);
        hold(&file);
        if let Ok((seen, _)) = read(&file) {
            let same = before.min(seen.len());
            prop_assert_eq!(&seen[..same], &whole[..same]);
            prop_assert!(seen.len() >= before, "{} of {}", seen.len(), before);
        }
    }

    #[test]
    fn packed_captures_with_changed_bytes_come_to_an_end(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let captures = captures();
        let file = which.get(&captures);
        for mut packed in [gzip(file), zstd(file)] {
            let at = at.index(packed.len());
            packed[at] = byte;
            hold(&packed);
        }
    }
}
