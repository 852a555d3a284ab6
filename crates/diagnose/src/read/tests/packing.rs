//! Packed files: whole, in several parts, cut at every length, and as other programs pack them.

use super::files::{self, Order};
use super::{read, sound};
use ackord_testing::installed;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;
use std::process::{Command, Stdio};

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).and_then(|()| packed.finish()).expect("memory does not fail")
}

pub(super) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// What a program makes of bytes.
fn through(program: &str, arguments: &[&str], bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is installed");
    // The programs read all before they write, or the bytes fit into the pipe.
    child.stdin.take().expect("piped").write_all(bytes).expect("it reads");
    child.wait_with_output().expect("it ends").stdout
}

/// A file longer than the pieces that are read at once.
fn long() -> Vec<u8> {
    files::pcap(Order::Little, files::MICROS, 1, &files::many(1_000))
}

type Pack = fn(&[u8]) -> Vec<u8>;
const PACKINGS: [(&str, Pack); 2] = [("gzip", gzip), ("zstd", zstd)];

#[test]
fn a_packed_capture_is_the_capture() {
    let (seen, about) = sound(&long());
    for (name, pack) in PACKINGS {
        let (unpacked, read) = sound(&pack(&long()));
        assert_eq!(unpacked, seen, "{name}");
        assert_eq!(read.format, format!("pcap, {name}"));
        assert_eq!((read.frames, read.others), (about.frames, about.others.clone()));
        assert_eq!(read.damage, None, "{name}");
        // As `cat` joins what was packed in parts, and split anywhere.
        let file = long();
        let (first, second) = file.split_at(file.len() / 3);
        let parts = [pack(first), pack(second)].concat();
        assert_eq!(sound(&parts).0, seen, "{name} in parts");
        let twice = sound(&gzip(&pack(&file)));
        assert_eq!((twice.0 == seen, twice.1.format), (true, format!("pcap, gzip, {name}")));
    }
}

#[test]
fn a_packed_capture_cut_anywhere_gives_what_can_be_unpacked() {
    let file = files::pcapng(Order::Little, 1, &files::three());
    let (whole, _) = sound(&file);
    for (name, pack) in PACKINGS {
        let packed = pack(&file);
        let mut before = 0;
        for len in 0..packed.len() {
            let Ok((seen, about)) = read(&packed[..len]) else {
                assert_eq!(before, 0, "{name} cut at {len}");
                continue;
            };
            assert_eq!(seen, whole[..seen.len()], "{name} cut at {len}");
            assert!(seen.len() >= before, "{name} cut at {len}");
            before = seen.len();
            let damage = about.damage.unwrap_or_else(|| panic!("{name} cut at {len}"));
            assert!(damage.contains(name), "{damage}");
        }
        assert_eq!(sound(&packed).0, whole);
    }
}

#[test]
fn damage_within_a_packed_capture_leaves_what_is_before() {
    let file = files::pcap(Order::Little, files::MICROS, 1, &noise(2_000));
    for (name, pack) in PACKINGS {
        let mut packed = pack(&file);
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 64] {
            *byte ^= 0xa5;
        }
        let (_, about) = sound(&packed);
        assert!(about.damage.is_some(), "{name}");
        assert!(about.frames > 500, "{name}: {} frames", about.frames);
    }
}

/// Frames that cannot be packed much.
fn noise(count: usize) -> Vec<Vec<u8>> {
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| (0..200).map(|_| byte()).collect()).collect()
}

#[test]
fn what_other_programs_pack_is_read() {
    let file = long();
    let (seen, _) = sound(&file);
    for (program, arguments, format) in [
        ("gzip", &["-9"][..], "gzip"),
        ("xz", &["-9"], "xz"),
        ("xz", &["--check=sha256", "--block-size=20000"], "xz"),
        ("xz", &["--check=crc32", "--x86", "--lzma2"], "xz"),
        ("zstd", &["-q", "-19"], "zstd"),
        ("zstd", &["-q", "--long=27", "--no-check"], "zstd"),
    ] {
        if !installed(&[program]) {
            continue;
        }
        let packed = through(program, arguments, &file);
        let (unpacked, about) = sound(&packed);
        assert_eq!(unpacked, seen, "{program} {arguments:?}");
        assert_eq!((about.format, about.damage), (format!("pcap, {format}"), None));
        for len in (0..packed.len()).step_by(packed.len() / 100 + 1) {
            if let Ok((part, about)) = read(&packed[..len]) {
                assert_eq!(part, seen[..part.len()], "{program} cut at {len}");
                assert!(about.damage.is_some(), "{program} cut at {len}");
            }
        }
        let parts = [packed, through(program, arguments, &[])].concat();
        assert_eq!(sound(&parts).1.damage, None, "{program} twice");
    }
}

#[test]
fn frames_that_zstd_is_to_skip_are_skipped() {
    let skipped = [&[0x51, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"hello"].concat();
    let file = [&skipped[..], &zstd(&long()), &skipped].concat();
    let (seen, about) = sound(&file);
    assert_eq!((seen.len(), about.damage), (2_000, None));
}
