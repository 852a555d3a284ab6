//! What is said of files that are no captures, and of those that are only begun.

use super::super::{OpenError, Reader};
use super::files::{self, Order};
use super::packing::gzip;
use super::read;
use std::fs;
use std::io;
use std::path::Path;

/// What is said of these bytes.
fn said(bytes: &[u8]) -> String {
    match read(bytes) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_kind_of_file_has_its_message() {
    let mut tar = vec![b'x'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    let erf =
        [&[0_u8; 8][..], &[2, 4, 0, 20, 0, 0, 0, 60], &[1; 4], &[9; 8], &[2, 4, 0, 20]].concat();
    let erf = [&erf[..], &[0; 8]].concat();
    for (bytes, what, advice) in [
        (&b""[..], "is empty", "tcpdump -U"),
        (b"snoop\0\0\0\0\0\0\x02", "snoop", "editcap"),
        (&erf, "ERF", "editcap"),
        (b"GMBU\x00\x02", "Network Monitor", "editcap"),
        (b"BZh91AY&SY", "bzip2", "unpack"),
        (b"PK\x03\x04\x14\0", "zip archive", "extract"),
        (&tar, "tar archive", "extract"),
        (&[0; 700], "zeros", "again"),
        (b"12:00:00.1 IP 10.0.0.1.80 > 10.0.0.2.90: Flags [.]\n", "tcpdump prints", "-w"),
        (b"{\"frame\": 1}", "JSON", "-w"),
        (b"<html><body>not found", "HTML", "fetch"),
        (b"0000  00 01 02 03", "hex dump", "text2pcap"),
        (b"hello, world\n", "a text", "tcpdump"),
        (b"\x80\x90\xa0\xb0\xc0\xd0\xe0\xf0\x01", "80 90 a0 b0 c0 d0 e0 f0", "editcap"),
        (&gzip(b"hello, world\n"), "a text", "tcpdump"),
        (&gzip(b""), "is empty", "tcpdump"),
        (&gzip(&gzip(&gzip(b"x"))), "gzip", "unpack"),
        (&[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff], "zstd", "nothing"),
    ] {
        let said = said(bytes);
        assert!(said.starts_with("test"), "{said}");
        assert!(said.contains(what) && said.contains(advice), "{what}, {advice}: {said}");
    }
}

#[test]
fn a_capture_that_ends_within_its_header_is_told_from_other_files() {
    for file in [
        files::pcap_header(Order::Big, files::MICROS, 1)[..23].to_vec(),
        files::section(Order::Little)[..27].to_vec(),
        vec![0x0a, 0x0d, 0x0d, 0x0a],
        gzip(&files::pcap_header(Order::Little, files::MICROS, 1)[..10]),
    ] {
        let said = said(&file);
        assert!(said.contains("ends within its header"), "{said}");
    }
    assert!(
        read(&files::pcap_header(Order::Big, files::NANOS, 1)).is_ok(),
        "no frames are no error"
    );
}

#[test]
fn what_the_file_system_says_is_passed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |path: &Path| Reader::open(path, 0).map(|_| ()).expect_err("no capture");
    assert!(matches!(open(folder.path()), OpenError::Directory { .. }));
    let missing = open(&folder.path().join("missing.pcap"));
    assert!(matches!(missing, OpenError::NotFound { .. }), "{missing}");
    let empty = folder.path().join("empty.pcap");
    fs::write(&empty, b"").expect("writable");
    assert!(matches!(open(&empty), OpenError::Empty { .. }));
}

#[test]
fn progress_is_a_share_of_the_file_packed_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let capture = files::pcap(Order::Little, files::MICROS, 1, &files::many(20_000));
    for (name, bytes) in [("plain.pcap", capture.clone()), ("packed.pcap.gz", gzip(&capture))] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("writable");
        let mut reader = Reader::open(&path, 0).expect("a capture");
        let (mut seen, mut last) = (Vec::new(), 0.0);
        while reader.read(&mut seen, 1_000).expect("readable") {
            let progress = reader.progress().expect("a file");
            assert!((last..=1.0).contains(&progress), "{progress} after {last}");
            last = progress;
        }
        assert_eq!(reader.progress(), Some(1.0), "{name}");
        assert_eq!(seen.len(), 40_000, "{name}");
    }
}

/// An input that fails after some bytes.
struct Failing(io::Cursor<Vec<u8>>);

impl io::Read for Failing {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 => Err(io::Error::other("the disk is gone")),
            got => Ok(got),
        }
    }
}

#[test]
fn an_input_that_fails_is_no_damaged_capture() {
    let capture = files::pcap(Order::Little, files::MICROS, 1, &files::many(2_000));
    for bytes in [capture.clone(), gzip(&capture)[..2_000].to_vec()] {
        let input = Box::new(Failing(io::Cursor::new(bytes)));
        let mut reader = Reader::from_reader("test", input, 0).expect("it begins well");
        let mut seen = Vec::new();
        let error = loop {
            match reader.read(&mut seen, 100) {
                Ok(true) => {}
                Ok(false) => panic!("no error"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        assert!(!seen.is_empty());
        assert_eq!(reader.finish().damage, None);
    }
    let nothing = Reader::from_reader("test", Box::new(Failing(io::Cursor::new(vec![]))), 0);
    assert!(matches!(nothing.map(|_| ()), Err(OpenError::Io { .. })));
}
