//! Captures are read back as written, in either byte order, and damage is a value.

use ackord_units::{Seq, Time};
use ackord_wire::{
    Damage, Ecn, Flags, FlowAddresses, FlowId, FlowNodes, IpVersion, LinkType, NodeId, Options,
    Packet, PacketRecord, PcapngReader, PcapngWriter, ReadError, SackBlock, SackBlocks, Segment,
    Side, Timestamps, encode_packet,
};
use proptest::prelude::*;
use std::io::{self, Write};
use std::num::NonZeroU32;

fn sample() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = PcapngWriter::new(&mut file, "ackord test").expect("memory");
    let left = writer.add_interface("left", "before the queue").expect("memory");
    let right = writer.add_interface("right", "").expect("memory");
    for (interface, nanos, bytes, comment) in [
        (left, 1, &b"one"[..], None),
        (right, 5_000_000_001, b"four", Some("dropped: queue-full")),
        (left, u64::MAX, b"", None),
    ] {
        let at = Time::from_nanos(nanos);
        let original_len = bytes.len() as u32 + 10;
        writer
            .write_packet(&PacketRecord { interface, at, bytes, original_len, comment })
            .expect("memory");
    }
    writer.finish().expect("memory");
    file
}

#[test]
fn what_is_written_is_read_back() {
    let file = sample();
    let mut reader = PcapngReader::new(file.as_slice()).expect("ours");
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().expect("ours") {
        packets.push((packet.interface, packet.at, packet.bytes, packet.comment));
    }
    let at = |nanos| Some(Time::from_nanos(nanos));
    let remark = Some("dropped: queue-full".to_owned());
    assert_eq!(
        packets,
        [
            (0, at(1), b"one".to_vec(), None),
            (1, at(5_000_000_001), b"four".to_vec(), remark),
            (0, at(u64::MAX), Vec::new(), None),
        ]
    );
    let names: Vec<_> = reader.interfaces().iter().map(|i| i.name.as_deref()).collect();
    assert_eq!(names, [Some("left"), Some("right")]);
    assert!(reader.interfaces().iter().all(|i| i.link_type == LinkType::RAW));
}

#[test]
fn the_same_packets_give_the_same_bytes() {
    assert_eq!(sample(), sample());
}

/// A block in big-endian order.
fn block(block_type: u32, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u32 + 12).to_be_bytes();
    [&block_type.to_be_bytes()[..], &len, body, &len].concat()
}

/// A big-endian file whose one interface has these options.
fn big_endian(interface_options: &[u8], stamp: u64) -> Vec<u8> {
    let section = [&0x1a2b_3c4d_u32.to_be_bytes()[..], &[0, 1, 0, 0], &[0xff; 8]].concat();
    let interface = [&[0, 1, 0, 0, 0, 0, 0, 0][..], interface_options].concat();
    let packet =
        [&[0; 4][..], &stamp.to_be_bytes(), &[0, 0, 0, 2], &[0, 0, 0, 9], b"hi\0\0"].concat();
    [block(0x0a0d_0d0a, &section), block(1, &interface), block(6, &packet)].concat()
}

#[test]
fn big_endian_files_and_every_kind_of_time_stamp_are_read() {
    let microseconds = big_endian(&[], 3_000_001);
    let nanoseconds = big_endian(&[0, 9, 0, 1, 9, 0, 0, 0], 3_000_001_000);
    let binary = big_endian(&[0, 9, 0, 1, 0x81, 0, 0, 0], 7);
    let offset = [&[0, 14, 0, 8][..], &2_i64.to_be_bytes()].concat();
    let shifted = big_endian(&offset, 1_000_001);
    let before_1970 =
        big_endian(&[&[0, 14, 0, 8][..], &(-2_i64).to_be_bytes()].concat(), 1_000_001);
    for (file, nanos) in [
        (microseconds, Some(3_000_001_000)),
        (nanoseconds, Some(3_000_001_000)),
        (binary, Some(3_500_000_000)),
        (shifted, Some(3_000_001_000)),
        (before_1970, None),
    ] {
        let mut reader = PcapngReader::new(file.as_slice()).expect("pcapng");
        let packet = reader.next_packet().expect("sound").expect("one packet");
        assert_eq!(packet.at, nanos.map(Time::from_nanos));
        assert_eq!((packet.bytes.as_slice(), packet.original_len), (&b"hi"[..], 9));
        assert_eq!(reader.interfaces()[0].link_type, LinkType::ETHERNET);
        assert!(reader.next_packet().expect("the end").is_none());
    }
}

#[test]
fn unknown_blocks_are_skipped_and_a_second_section_numbers_its_interfaces_anew() {
    let second = sample();
    let file = [big_endian(&[], 0), block(0x0bad_cafe, b"whatever"), second].concat();
    let mut reader = PcapngReader::new(file.as_slice()).expect("pcapng");
    let mut interfaces = Vec::new();
    while let Some(packet) = reader.next_packet().expect("sound") {
        interfaces.push(packet.interface);
    }
    assert_eq!(interfaces, [0, 1, 2, 1]);
}

#[test]
fn damage_is_named_with_its_place() {
    let sound = sample();
    assert!(matches!(
        PcapngReader::new(&b"\xd4\xc3\xb2\xa1 old pcap"[..]),
        Err(ReadError::NotPcapng)
    ));
    let first_error = |file: &[u8]| {
        let mut reader = PcapngReader::new(file).expect("the first block is sound");
        loop {
            match reader.next_packet() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("no damage found"),
                Err(ReadError::Damaged { offset, what }) => return (offset, what),
                Err(error) => panic!("{error}"),
            }
        }
    };
    assert_eq!(first_error(&sound[..sound.len() - 1]).1, Damage::Truncated);
    let mut lying = big_endian(&[], 0);
    let end = lying.len();
    lying[end - 1] ^= 4;
    assert_eq!(first_error(&lying), (48, Damage::LengthsDiffer));
    let stranger = [big_endian(&[], 0), block(6, &[0, 0, 0, 5, 0, 0, 0, 0])].concat();
    assert_eq!(first_error(&stranger).1, Damage::UnknownInterface(5));
}

proptest! {
    #[test]
    fn a_mutated_capture_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = sample();
        for (at, value) in edits {
            let at = at.index(file.len());
            file[at] = value;
        }
        file.truncate(cut.index(file.len() + 1));
        if let Ok(mut reader) = PcapngReader::new(file.as_slice()) {
            while let Ok(Some(_)) = reader.next_packet() {}
        }
    }
}

#[test]
fn a_snap_length_cuts_what_is_kept_and_leaves_the_length_that_was() {
    let mut file = Vec::new();
    let writer = PcapngWriter::new(&mut file, "ackord test").expect("memory");
    let mut writer = writer.with_snap_len(NonZeroU32::new(3));
    let interface = writer.add_interface("left", "").expect("memory");
    for bytes in [&b"ab"[..], b"abcdef"] {
        let original_len = bytes.len() as u32;
        let record = PacketRecord { interface, at: Time::ZERO, bytes, original_len, comment: None };
        writer.write_packet(&record).expect("memory");
    }
    writer.finish().expect("memory");
    let mut reader = PcapngReader::new(file.as_slice()).expect("ours");
    let mut kept = Vec::new();
    while let Some(packet) = reader.next_packet().expect("ours") {
        kept.push((packet.bytes, packet.original_len));
    }
    assert_eq!(kept, [(b"ab".to_vec(), 2), (b"abc".to_vec(), 6)]);
}

/// What a flow sends: a handshake, data, an acknowledgment with blocks, a datagram.
fn simulated(ip: IpVersion) -> Vec<Packet> {
    let mut sack = SackBlocks::default();
    sack.push(SackBlock { start: Seq(9_000), end: Seq(10_000) });
    let timestamps = Some(Timestamps { value: 7, echo: 8 });
    let syn = Options { mss: Some(1_460), sack_permitted: true, timestamps, ..Options::default() };
    let blocks = Options { timestamps, sack, ..Options::default() };
    let segment = |flags, payload_len, options| {
        Some(Segment { seq: Seq(5), ack: Seq(6), flags, window: 7, payload_len, options })
    };
    let carried = [
        segment(Flags::SYN, 0, syn),
        segment(Flags::ACK, 1_447, Options::default()),
        segment(Flags::ACK, 0, blocks),
        None,
    ];
    let packet = |(tag, tcp): (usize, Option<Segment>)| {
        let beyond_ip = tcp.map_or(99, |segment| segment.header_len() + segment.payload_len);
        Packet {
            flow: FlowId(70_000),
            from: if tag % 2 == 0 { Side::Client } else { Side::Server },
            src: NodeId(3),
            dst: NodeId(300),
            ip,
            ecn: Ecn::Ect0,
            ip_len: ip.header_len() + beyond_ip,
            tag: tag as u64,
            tcp,
        }
    };
    carried.into_iter().enumerate().map(packet).collect()
}

#[test]
fn a_simulated_packet_is_written_as_its_bytes_would_be() {
    for (ip, snap_len) in
        [(IpVersion::V4, 0), (IpVersion::V6, 0), (IpVersion::V4, 30), (IpVersion::V6, 130)]
    {
        let mut files = [Vec::new(), Vec::new()];
        for (file, straight) in files.iter_mut().zip([true, false]) {
            let writer = PcapngWriter::new(file, "ackord test").expect("memory");
            let mut writer = writer.with_snap_len(NonZeroU32::new(snap_len));
            let interface = writer.add_interface("left", "").expect("memory");
            for packet in &simulated(ip) {
                let (at, number) =
                    (Time::from_nanos(packet.tag + 5_000_000_000), packet.tag as u16);
                if straight {
                    let written = writer.write_simulated((interface, at), packet, number);
                    written.expect("memory").expect("a sound packet");
                    continue;
                }
                let (client, server) = match packet.from {
                    Side::Client => (packet.src, packet.dst),
                    Side::Server => (packet.dst, packet.src),
                };
                let nodes = FlowNodes { client, server };
                let mut bytes = Vec::new();
                let addresses = FlowAddresses::of(packet.flow, nodes, packet.ip);
                encode_packet(packet, &addresses, number, &mut bytes).expect("a sound packet");
                let (bytes, original_len) = (&bytes[..], bytes.len() as u32);
                let record = PacketRecord { interface, at, bytes, original_len, comment: None };
                writer.write_packet(&record).expect("memory");
            }
        }
        assert_eq!(files[0], files[1], "{ip:?}, {snap_len}");
    }
}

#[test]
fn a_packet_without_bytes_leaves_no_trace() {
    let [good, ..] = &simulated(IpVersion::V4)[..] else { panic!("there are some") };
    let bad = Packet { ip_len: good.ip_len + 1, ..*good };
    let file = |packets: &[Packet]| {
        let mut file = Vec::new();
        let mut writer = PcapngWriter::new(&mut file, "ackord test").expect("memory");
        let interface = writer.add_interface("left", "").expect("memory");
        for packet in packets {
            let written = writer.write_simulated((interface, Time::ZERO), packet, 1);
            assert_eq!(written.expect("memory").is_ok(), packet == good);
        }
        drop(writer);
        file
    };
    assert_eq!(file(&[*good, bad, *good]), file(&[*good, *good]));
}

/// Takes what is written and remembers in which pieces.
#[derive(Default)]
struct Pieces(Vec<usize>);

impl Write for &mut Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_is_handed_on_in_whole_pages_and_its_end_when_it_is_dropped() {
    let mut pieces = Pieces::default();
    let mut writer = PcapngWriter::new(&mut pieces, "ackord test").expect("memory");
    let interface = writer.add_interface("left", "").expect("memory");
    let bytes = [0; 1_499];
    for _ in 0..1_000 {
        let record = PacketRecord {
            interface,
            at: Time::ZERO,
            bytes: &bytes,
            original_len: 1_499,
            comment: None,
        };
        writer.write_packet(&record).expect("memory");
    }
    drop(writer);
    let (last, before) = pieces.0.split_last().expect("there is much to write");
    assert!(before.len() > 5 && before.iter().all(|len| len % 4_096 == 0), "{before:?}");
    // A block is 28 bytes of header, the packet in words of four bytes and its length again.
    let packets = 1_000 * (28 + 1_500 + 4);
    let all = last + before.iter().sum::<usize>();
    assert!((packets..packets + 200).contains(&all), "{all}");
}
