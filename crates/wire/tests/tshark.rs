//! Wireshark's own tools find nothing wrong with our captures, and we read theirs.
//!
//! Without tshark and capinfos these tests say SKIPPED and pass.

use ackord_testing::installed;
use ackord_units::{Seq, Time};
use ackord_wire::{
    CaptureReader, Ecn, Flags, FlowAddresses, FlowId, FlowNodes, IpVersion, NodeId, Options,
    Packet, PacketRecord, PcapngReader, PcapngWriter, SackBlock, SackBlocks, Segment, Side,
    Timestamps, encode_packet,
};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

const FLOWS: u32 = 40;

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the tool starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Segments with every option, some payload, every ECN mark; ends with a datagram.
fn segments() -> Vec<Option<Segment>> {
    let mut sack = SackBlocks::default();
    for start in [10_000, 20_000, 30_000] {
        sack.push(SackBlock { start: Seq(start), end: Seq(start + 1_448) });
    }
    let timestamps = Some(Timestamps { value: 77, echo: 66 });
    let syn = Options {
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        ..Options::default()
    };
    let plain = Options { timestamps, ..Options::default() };
    let base = Segment { seq: Seq(1), ack: Seq(5_000), window: 512, ..Segment::default() };
    let data = Flags::ACK | Flags::PSH;
    vec![
        Some(Segment { seq: Seq(0), ack: Seq(0), flags: Flags::SYN, options: syn, ..base }),
        Some(Segment { flags: data, payload_len: 1_448, options: plain, ..base }),
        Some(Segment { flags: data, payload_len: 1, seq: Seq(1_449), options: plain, ..base }),
        Some(Segment {
            seq: Seq(1_450),
            flags: Flags::ACK | Flags::ECE,
            options: Options { sack, ..plain },
            ..base
        }),
        Some(Segment { seq: Seq(1_450), flags: Flags::ACK | Flags::FIN, ..base }),
        Some(Segment { seq: Seq(1_451), flags: Flags::RST, ..base }),
        None,
    ]
}

/// Writes a capture of many flows in both versions of IP and says how many packets it has.
fn write_capture(path: &Path) -> u64 {
    let file = BufWriter::new(File::create(path).expect("a new file"));
    let mut writer = PcapngWriter::new(file, "ackord").expect("disk");
    let interface = writer.add_interface("left:out", "leaving the left host").expect("disk");
    let mut count = 0;
    let mut bytes = Vec::new();
    for flow in (0..FLOWS).map(FlowId) {
        let ip = if flow.0 % 2 == 0 { IpVersion::V4 } else { IpVersion::V6 };
        let nodes = FlowNodes { client: NodeId(0), server: NodeId(flow.0 as u16 + 1) };
        let addresses = FlowAddresses::of(FlowId(flow.0 * 331), nodes, ip);
        for tcp in segments() {
            let transport_len = tcp.map_or(200, |s| s.header_len() + s.payload_len);
            let packet = Packet {
                flow,
                from: Side::Client,
                src: nodes.client,
                dst: nodes.server,
                ip,
                ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][count as usize % 4],
                ip_len: ip.header_len() + transport_len,
                tag: count,
                tcp,
            };
            bytes.clear();
            encode_packet(&packet, &addresses, count as u16, &mut bytes).expect("sound");
            let comment = (count == 3).then_some("a remark");
            let at = Time::from_nanos(count * 1_000_003);
            let original_len = packet.ip_len;
            let record = PacketRecord { interface, at, bytes: &bytes, original_len, comment };
            writer.write_packet(&record).expect("disk");
            count += 1;
        }
    }
    writer.finish().expect("disk");
    count
}

fn file_in(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn tshark_finds_no_malformed_packet_and_no_bad_checksum() {
    if !installed(&["tshark", "capinfos", "editcap"]) {
        return;
    }
    let path = file_in("ours.pcapng");
    let count = write_capture(&path);
    let tshark = |filter: &str| {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&path);
        command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
        command.args(["-o", "udp.check_checksum:TRUE", "-Y", filter]);
        run(&mut command).lines().count() as u64
    };
    // Good ones are counted as well: "none bad" would also hold if nothing had been checked.
    assert_eq!(tshark("tcp.checksum.status == good || udp.checksum.status == good"), count);
    assert_eq!(tshark("ip.checksum.status == good"), count / 2);
    assert_eq!(tshark("_ws.malformed || _ws.short || tcp.option.len.invalid"), 0);
    assert_eq!(tshark("data || tcp.len == 0"), count, "some payload was taken for a protocol's");
    assert_eq!(tshark("tcp.options.sack.count == 3"), u64::from(FLOWS));
    let info = run(Command::new("capinfos").args(["-c", "-t", "-E", "-S"]).arg(&path));
    assert!(info.contains("pcapng") && info.contains("Raw IP"), "{info}");
    assert!(info.contains(&count.to_string()), "{info}");
}

#[test]
fn time_stamps_keep_their_nanoseconds() {
    if !installed(&["tshark", "capinfos", "editcap"]) {
        return;
    }
    let path = file_in("nanoseconds.pcapng");
    write_capture(&path);
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields", "-e", "frame.time_epoch", "-c", "3"]);
    let stamps = run(&mut command);
    assert_eq!(stamps, "0.000000000\n0.001000003\n0.002000006\n");
}

#[test]
fn a_capture_rewritten_by_wireshark_reads_the_same() {
    if !installed(&["tshark", "capinfos", "editcap"]) {
        return;
    }
    let (ours, theirs) = (file_in("before.pcapng"), file_in("rewritten.pcapng"));
    write_capture(&ours);
    run(Command::new("editcap").args(["-F", "pcapng"]).arg(&ours).arg(&theirs));
    let read = |path: &Path| {
        let file = BufReader::new(File::open(path).expect("the file is there"));
        let mut reader = PcapngReader::new(file).expect("pcapng");
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet().expect("sound") {
            packets.push(packet);
        }
        let names: Vec<_> = reader.interfaces().iter().map(|i| i.name.clone()).collect();
        (names, packets)
    };
    let (ours, theirs) = (read(&ours), read(&theirs));
    assert_eq!(ours.1.len(), segments().len() * FLOWS as usize);
    assert_eq!(ours, theirs);
}

#[test]
fn classic_pcap_of_both_resolutions_says_what_the_pcapng_said() {
    if !installed(&["tshark", "capinfos", "editcap"]) {
        return;
    }
    let original = file_in("original.pcapng");
    write_capture(&original);
    let read = |path: &Path| {
        let file = BufReader::new(File::open(path).expect("it was written"));
        let mut reader = CaptureReader::new(file).expect("a capture");
        let mut packets = Vec::new();
        while let Some((link, packet)) = reader.next_packet().expect("sound") {
            packets.push((link, packet.at, packet.original_len, packet.bytes));
        }
        packets
    };
    let expected = read(&original);
    for (format, nanos) in [("pcap", 1_000), ("nsecpcap", 1)] {
        let converted = file_in(format);
        run(Command::new("editcap").args(["-F", format]).arg(&original).arg(&converted));
        let found = read(&converted);
        assert_eq!(found.len(), expected.len(), "{format}");
        for (found, expected) in found.iter().zip(&expected) {
            let at = expected.1.map(|at| Time::from_nanos(at.as_nanos() / nanos * nanos));
            assert_eq!((found.0, found.1, found.2), (expected.0, at, expected.2), "{format}");
            assert!(found.3 == expected.3, "{format}: the bytes differ");
        }
    }
}
