//! The same captures as tshark reads them, field by field.

use super::super::Reader;
use super::files::{self, Order};
use super::frames;
use crate::{Sacks, Seen};
use ackord_testing::{installed, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

const FIELDS: [&str; 19] = [
    "frame.number",
    "frame.time_epoch",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.window_size_value",
    "tcp.flags",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.sack_perm",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "ip.ttl",
    "ip.id",
    "ip.dsfield.ecn",
];

/// Frames that tshark 4.0 does not read down to TCP as it comes.
const NOT_BY_TSHARK: [&str; 15] = [
    "802.11, decrypted",
    "802.11, decrypted, without a vector",
    "Broadcom's switch tag",
    "Broadcom's switch tag in front",
    "CAPWAP",
    "Cisco HDLC with direction",
    "InfiniBand datagram",
    "InfiniBand, routed, connected",
    "MPLS link",
    "Marvell's switch tag",
    "Marvell's switch tag on Ethernet",
    "Marvell's switch tag with a type",
    "netANALYZER",
    "netANALYZER with preamble",
    "pppd",
];

/// Those of them that tcpdump reads.
const BY_TCPDUMP: [&str; 7] = [
    "Broadcom's switch tag",
    "Broadcom's switch tag in front",
    "Marvell's switch tag",
    "Marvell's switch tag with a type",
    "netANALYZER",
    "netANALYZER with preamble",
    "pppd",
];

/// A packet as text, in tshark's words for fields.
fn row(seen: &Seen) -> Vec<String> {
    let some = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    let edges = |edge: fn(&(u32, u32)) -> u32| {
        let blocks = seen.sacks.blocks().iter();
        blocks.map(|block| edge(block).to_string()).collect::<Vec<_>>().join(",")
    };
    let v4 = seen.src.socket().is_ipv4();
    let of_v4 = |text: String| if v4 { text } else { String::new() };
    vec![
        seen.frame.to_string(),
        format!("{}.{:09}", seen.at.as_nanos() / 1_000_000_000, seen.at.as_nanos() % 1_000_000_000),
        seen.src.port.to_string(),
        seen.dst.port.to_string(),
        seen.seq.to_string(),
        seen.ack.to_string(),
        seen.payload_len.to_string(),
        seen.window.to_string(),
        format!("0x{:04x}", seen.flags.bits()),
        some(seen.timestamps.map(|(value, _)| value)),
        some(seen.timestamps.map(|(_, echo)| echo)),
        some(seen.mss.map(u32::from)),
        some(seen.wscale.map(u32::from)),
        if seen.sack_permitted { "there".to_owned() } else { String::new() },
        edges(|block| block.0),
        edges(|block| block.1),
        of_v4(seen.ttl.to_string()),
        of_v4(format!("0x{:04x}", seen.ip_id)),
        of_v4(seen.ecn.to_string()),
    ]
}

/// The TCP packets of a file as tshark has them, innermost layers only.
fn asked(path: &Path) -> Vec<Vec<String>> {
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-o", "tcp.relative_sequence_numbers:FALSE", "-Y", "tcp", "-T", "fields"]);
    tshark.args(["-E", "occurrence=a", "-E", "separator=;", "-r"]).arg(path);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("it is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let cells = |line: &str| line.split(';').map(str::to_owned).collect::<Vec<_>>();
    text.lines().map(|line| innermost(cells(line))).collect()
}

/// Of several values of a field the last; of SACK blocks all.
fn innermost(mut row: Vec<String>) -> Vec<String> {
    for (field, cell) in FIELDS.iter().zip(&mut row) {
        if !field.starts_with("tcp.options.sack_") {
            *cell = cell.rsplit(',').next().unwrap_or_default().to_owned();
        }
        if *field == "tcp.options.sack_perm" && !cell.is_empty() {
            "there".clone_into(cell);
        }
        // Reserved bits, of which one is no longer reserved, are not told here.
        if *field == "tcp.flags" {
            let bits = u32::from_str_radix(cell.trim_start_matches("0x"), 16).expect("bits");
            *cell = format!("0x{:04x}", bits & 0xff);
        }
    }
    row
}

fn told(path: &Path) -> Vec<Seen> {
    let mut reader = Reader::open(path, 0).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Vec::new();
    while reader.read(&mut seen, 1_000).expect("readable") {}
    assert_eq!(reader.finish().damage, None, "{}", path.display());
    seen
}

/// Holds that both say the same of a file, and that there is something to be said.
fn compare(path: &Path) {
    let (ours, theirs) = (told(path), asked(path));
    assert!(!ours.is_empty(), "{}", path.display());
    for (ours, theirs) in ours.iter().map(row).zip(&theirs) {
        same(&ours, theirs, &path.display().to_string());
    }
    assert_eq!(ours.len(), theirs.len(), "{}", path.display());
}

/// Holds that both rows state the same packet.
fn same(ours: &[String], theirs: &[String], name: &str) {
    // IPv6 has no such fields, and an outer IPv4 header would be taken for the inner.
    let known = if ours[16].is_empty() { 16 } else { FIELDS.len() };
    assert_eq!(ours[..known], theirs[..known], "{name}\n{FIELDS:?}");
}

#[test]
fn tshark_reads_every_format_the_same() {
    if !installed(&["tshark"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, file) in files::all() {
        let path = folder.path().join(name);
        std::fs::write(&path, file).expect("writable");
        compare(&path);
    }
}

#[test]
fn tshark_finds_the_same_packet_in_every_frame() {
    if !installed(&["tshark"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = files::section(Order::Little);
    for (number, framed) in frames::all().iter().enumerate() {
        file.extend(files::interface(Order::Little, framed.link, 0, &[]));
        let stamp = 1_000_000 + number as u64;
        file.extend(files::enhanced(Order::Little, number as u32, stamp, &framed.bytes, &[]));
    }
    let path = folder.path().join("frames.pcapng");
    std::fs::write(&path, file).expect("writable");
    let (ours, theirs) = (told(&path), asked(&path));
    let all = frames::all();
    assert_eq!(ours.len(), all.len());
    let mut missed = Vec::new();
    for (seen, framed) in ours.iter().zip(&all) {
        let row = row(seen);
        match theirs.iter().find(|theirs| theirs[0] == row[0]) {
            Some(theirs) => same(&row, theirs, framed.name),
            None => missed.push(framed.name),
        }
    }
    missed.dedup();
    missed.sort_unstable();
    missed.dedup();
    assert_eq!(missed, NOT_BY_TSHARK);
}

#[test]
fn tcpdump_finds_the_packet_in_frames_that_tshark_does_not_read() {
    if !installed(&["tcpdump"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("frame.pcap");
    for framed in frames::all().iter().filter(|framed| BY_TCPDUMP.contains(&framed.name)) {
        let link = u32::from(framed.link);
        let file =
            files::pcap(Order::Little, files::MICROS, link, std::slice::from_ref(&framed.bytes));
        std::fs::write(&path, file).expect("writable");
        let output = Command::new("tcpdump").args(["-n", "-r"]).arg(&path).output();
        let text = String::from_utf8_lossy(&output.expect("it is installed").stdout).into_owned();
        assert!(text.contains("Flags [P.], seq 3735928559:3735928591"), "{}: {text}", framed.name);
    }
}

#[test]
fn tshark_reads_captures_of_a_kernel_the_same() {
    if !installed(&["tshark"]) {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture");
    for name in ["loopback.pcap", "loopback.pcapng"] {
        compare(&corpus.join(name));
    }
}

#[test]
fn tshark_reads_captures_of_a_run_the_same() {
    if !installed(&["tshark"]) {
        return;
    }
    // Beside the tests, where building the workspace leaves it.
    let here = std::env::current_exe().expect("a program");
    let Some(ackord) = here.ancestors().nth(2).map(|built| built.join("ackord")) else { return };
    if !ackord.is_file() {
        return skipped(format_args!("{} is not built", ackord.display()));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lossy-wifi.toml");
    let run =
        Command::new(ackord).arg("run").arg(scenario).arg("--pcap").arg(folder.path()).output();
    let run = run.expect("it starts");
    if !run.status.success() {
        return skipped(format_args!("ackord run: {}", String::from_utf8_lossy(&run.stderr)));
    }
    let mut captures: Vec<PathBuf> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    captures.sort();
    captures.iter().take(2).for_each(|path| compare(path));
}

#[test]
fn rows_have_a_cell_per_field() {
    let seen = Seen { sacks: Sacks::default(), ..frames::expected(4) };
    assert_eq!(row(&seen).len(), FIELDS.len());
}
