//! Captures read in blocks by several threads: the same packets, counts and damage as by one.

use super::super::{Block, Blocks, Reader};
use super::damage::captures;
use super::files::{self, Order};
use super::packing::{gzip, zstd};
use super::{Trickle, read};
use crate::in_order::InOrder;
use crate::{CaptureRead, OpenError, Seen};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::thread;

/// How blocks are read.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Bytes of a block.
    len: usize,
    threads: u64,
    /// Frames that are read before.
    before: usize,
    /// As a file, of which any part can be read at any time.
    as_file: bool,
}

fn in_blocks(bytes: &[u8], way: Way) -> Result<(Vec<Seen>, CaptureRead), OpenError> {
    // An input that gives one byte at a time leaves the most for the blocks.
    let input = Box::new(Trickle(Cursor::new(bytes.to_vec())));
    let mut reader = Reader::from_reader("test", input, 3)?;
    if way.as_file && reader.source.packings().is_empty() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("room");
        reader.plain = Some(file);
    }
    let mut seen = Vec::new();
    if !reader.read(&mut seen, way.before).expect("memory does not fail") {
        return Ok((seen, reader.finish()));
    }
    let all = InOrder::new(seen);
    let blocks = Blocks::of(&mut reader, way.len);
    thread::scope(|scope| {
        for _ in 0..way.threads {
            scope.spawn(|| {
                let mut block = Block::default();
                while blocks.next(&mut block).expect("memory does not fail") {
                    let index = block.index;
                    all.take_turn(index, |all| all.append(&mut block.seen)).expect("in turn");
                }
            });
        }
    });
    blocks.finish();
    Ok((all.into_inner(), reader.finish()))
}

fn assert_same(bytes: &[u8], way: Way) {
    match (read(bytes), in_blocks(bytes, way)) {
        (Ok((seen, about)), Ok((in_blocks, about_blocks))) => {
            assert_eq!(in_blocks, seen, "{way:?}");
            assert_eq!(format!("{about_blocks:?}"), format!("{about:?}"), "{way:?}");
        }
        (Err(error), Err(of_blocks)) => assert_eq!(of_blocks.to_string(), error.to_string()),
        (one, blocks) => panic!("{one:?} against {blocks:?}, {way:?}"),
    }
}

/// Captures of some length: many frames, every kind of frame, a long block that is no packet.
fn long() -> Vec<Vec<u8>> {
    let mut long = vec![files::pcap(Order::Big, files::MICROS, 1, &files::many(100))];
    let mut mixed = files::section(Order::Little);
    mixed.extend(files::interface(Order::Little, 1, 0, &[]));
    for (number, frame) in files::many(50).iter().enumerate() {
        mixed.extend(files::enhanced(Order::Little, 0, number as u64, frame, &[]));
        if number % 40 == 7 {
            mixed.extend(files::block(Order::Little, 0x7777, &vec![1; 5_000]));
            mixed.extend(files::section(Order::Big));
            mixed.extend(files::interface(Order::Big, 1, 0, &[]));
            mixed.extend(files::section(Order::Little));
            mixed.extend(files::interface(Order::Little, 1, 0, &[]));
        }
    }
    long.push(mixed);
    long.extend(captures());
    long
}

fn ways() -> impl Strategy<Value = Way> {
    (1..3_000_usize, 1..5_u64, 1..20_usize, any::<bool>())
        .prop_map(|(len, threads, before, as_file)| Way { len, threads, before, as_file })
}

proptest! {
    #[test]
    fn blocks_of_any_length_give_what_one_thread_reads(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        change in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        way in ways(),
    ) {
        let captures = long();
        let mut bytes = which.get(&captures).clone();
        for (at, byte) in change {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) % 200);
        assert_same(&bytes, way);
    }

    #[test]
    fn blocks_of_packed_captures_are_the_same(
        which in any::<prop::sample::Index>(),
        cut in 0..40_usize,
        way in ways(),
    ) {
        let captures = long();
        for pack in [gzip, zstd] {
            let packed = pack(which.get(&captures[..]).as_slice());
            assert_same(&packed[..packed.len() - cut], way);
        }
    }
}

#[test]
fn blocks_that_pass_over_what_is_no_packet_go_on_behind_it() {
    let mut bytes = files::section(Order::Little);
    bytes.extend(files::interface(Order::Little, 1, 0, &[]));
    let frame = &files::three()[0];
    // Longer than all that may be at hand at once.
    let passed = files::block(Order::Little, 0x7777, &vec![1; 3 << 20]);
    let packet = files::enhanced(Order::Little, 0, 1, frame, &[]);
    let whole = [&bytes[..], &packet, &passed, &packet].concat();
    for as_file in [false, true] {
        let way = Way { len: 100_000, threads: 3, before: 1, as_file };
        assert_eq!(in_blocks(&whole, way).expect("a capture").0.len(), 2);
        assert_same(&whole, way);
        assert_same(&whole[..whole.len() - packet.len() - 10], way);
    }
}
