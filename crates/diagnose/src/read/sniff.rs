//! What a file is by its first bytes: a capture, or what else, and what to do then.

use super::buffer::Buffer;
use super::pcap::Pcap;
use super::pcapng::{self, Pcapng};
use super::source::Source;
use super::{Format, OpenError};
use std::fmt::Write as _;

/// Bytes by which a file is told.
const HEAD: usize = 512;

/// The format of a capture.
pub(super) fn format(
    name: &str,
    buffer: &mut Buffer,
    source: &Source,
) -> Result<Format, OpenError> {
    let error = buffer.at_least(HEAD).err();
    let damaged = |what| OpenError::Damaged { name: name.to_owned(), what };
    match error {
        Some(error) if source.failed() => return Err(OpenError::of_file(name, error)),
        Some(error) if buffer.filled().len() < 4 => {
            return Err(damaged(source.packing_damage(buffer.end_offset(), &error)));
        }
        _ => {}
    }
    let head = buffer.filled();
    if let Some(opened) = Pcap::open(head) {
        let pcap = opened.map_err(|what| damaged(source.damage(0, what)))?;
        buffer.consume(Pcap::HEADER_LEN);
        return Ok(Format::Pcap(pcap));
    }
    if pcapng::recognises(head) {
        if head.len() < pcapng::SHORTEST_SECTION {
            return Err(damaged(source.damage(0, "the file ends within its header")));
        }
        return Ok(Format::Pcapng(Pcapng::default()));
    }
    Err(no_capture(name, head))
}

/// A way to say what a file is: by its first bytes, what it is and what to do.
type Foreign = (&'static [u8], &'static str, &'static str);

const CONVERT: &str = "`editcap -F pcapng OLD NEW` makes a pcapng file of it";
const UNPACK: &str = "unpack it first; gzip, xz and zstd are unpacked here";
const EXTRACT: &str = "extract the captures in it first";
const RECORD: &str = "record one with `tcpdump -s 128 -w FILE`";

const FOREIGN: [Foreign; 30] = [
    (b"snoop\0\0\0", "a capture of Solaris snoop", CONVERT),
    (b"TRSNIFF data    \x1a", "a capture of a Sniffer", CONVERT),
    (b"XCP\0", "a capture of NetXRay", CONVERT),
    (b"GMBU", "a capture of Microsoft Network Monitor", CONVERT),
    (b"RTSS", "a capture of Microsoft Network Monitor 1", CONVERT),
    (b"\x7fver", "a capture of Peek", CONVERT),
    (b"\x05VNF", "a capture of Visual Networks", CONVERT),
    (b"\0\x02\0\x12\0\x80", "a capture of a K12 tester", CONVERT),
    (b"iptrace 1.0", "a capture of AIX iptrace", CONVERT),
    (b"iptrace 2.0", "a capture of AIX iptrace", CONVERT),
    (b"ObserverPktBuffe", "a capture of Network Instruments Observer", CONVERT),
    (b"LOGG", "a log of a vehicle's bus", RECORD),
    (b"BZh", "packed with bzip2", UNPACK),
    (b"\x04\x22\x4d\x18", "packed with lz4", UNPACK),
    (b"LZIP", "packed with lzip", UNPACK),
    (b"\x89LZO", "packed with lzop", UNPACK),
    (b"\x1f\x9d", "packed with compress", UNPACK),
    (b"\x1f\x8b", "packed with gzip in an unusual way", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed too often", UNPACK),
    (b"PK\x03\x04", "a zip archive", EXTRACT),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", EXTRACT),
    (b"Rar!\x1a\x07", "a rar archive", EXTRACT),
    (b"\x7fELF", "a program", RECORD),
    (b"MZ", "a program", RECORD),
    (b"\x89PNG", "a picture", RECORD),
    (b"%PDF", "a PDF document", RECORD),
    (b"SQLite format 3", "a database", RECORD),
    (b"LPKSHHRH", "a systemd journal", RECORD),
    (b"\xcf\xfa\xed\xfe", "a program", RECORD),
    (b"\xd0\xcf\x11\xe0", "a document", RECORD),
];

/// What a file is that is no capture.
fn no_capture(name: &str, head: &[u8]) -> OpenError {
    let name = name.to_owned();
    if head.is_empty() {
        return OpenError::Empty { name };
    }
    let known = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic));
    let foreign = known.map(|(_, what, advice)| (*what, *advice)).or_else(|| told(head));
    if let Some((what, advice)) = foreign {
        return OpenError::Foreign { name, what, advice };
    }
    let mut first = String::new();
    for byte in head.iter().take(8) {
        let _ = write!(first, "{byte:02x} ");
    }
    OpenError::Unknown { name, first: first.trim_end().to_owned() }
}

/// The same where more than the first bytes has to be looked at.
fn told(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.iter().all(|byte| *byte == 0) {
        return Some(("all zeros", "its disk lost it; copy or record it again"));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some(("a tar archive", EXTRACT));
    }
    if erf(head) {
        return Some(("a capture in ERF (Endace)", CONVERT));
    }
    text(head)
}

/// Whether two records of ERF stand one after the other: their types and lengths are all there is.
fn erf(head: &[u8]) -> bool {
    let record = |at: usize| {
        let record = head.get(at..at + 16)?;
        let len = usize::from(u16::from_be_bytes([record[10], record[11]]));
        let sound = matches!(record[8] & 0x7f, 1..=27) && len >= 16;
        sound.then_some(len)
    };
    record(0).is_some_and(|len| at_end(head, len) || record(len).is_some())
}

/// Whether what has this length lies beyond the bytes at hand, or ends with them.
fn at_end(head: &[u8], len: usize) -> bool {
    len >= 64 && head.len() == len
}

/// What a text is.
fn text(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let end = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), str::len);
    let text = std::str::from_utf8(&head[..end]).ok()?;
    let strange = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b');
    // The last letter may be cut off.
    if end + 4 < head.len() || text.is_empty() || text.contains(strange) {
        return None;
    }
    let first = text.lines().next().unwrap_or_default();
    Some(if first.contains(" IP ") || first.contains(" IP6 ") || first.contains(" ARP, ") {
        let again = "record the packets themselves with `tcpdump -w FILE`";
        ("the text that tcpdump prints", again)
    } else if text.starts_with("0000") {
        ("a hex dump", "`text2pcap OLD NEW` makes a capture of it")
    } else if text.trim_start().starts_with(['{', '[']) {
        ("JSON", "save the packets themselves: `tshark -r OLD -w NEW`, not `-T json`")
    } else if text.trim_start().starts_with('<') {
        ("HTML or XML", "perhaps an error page was saved instead of the capture; fetch it again")
    } else if text.starts_with("version https://git-lfs") {
        ("a pointer of Git LFS", "`git lfs pull` fetches the capture")
    } else {
        ("a text", RECORD)
    })
}
