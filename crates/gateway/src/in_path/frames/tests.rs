//! Frames told apart and cut up.

use super::*;
use ackord_units::Seq;
use ackord_wire::{
    Flags, IpFields, Options, Payload, Segment, decode, encode, encode_udp, set_ecn,
};
use proptest::prelude::*;

const TAP: [u8; 6] = [2, 9, 9, 9, 9, 9];
const SLOW: Rate = Rate::from_mbits_per_sec(20);
const FAST: Rate = Rate::from_mbits_per_sec(10_000);

fn sorter(kind: LinkKind) -> Sorter {
    let steer = Steer { to: 1, cookie: 1, secret: 7, kind };
    Sorter { kind, tap: TAP, steer, salt: 3 }
}

fn sort(sorter: &Sorter, read: &[u8], rate: Rate) -> Sorted {
    // A buffer is longer than what was read.
    let mut buffer = read.to_vec();
    buffer.resize(read.len() + 100, 0xaa);
    sorter.sort(Time::ZERO, (buffer, read.len()), rate)
}

fn ends(ip: u8) -> Endpoints {
    let (src, dst) = match ip {
        4 => ("192.0.2.1:443", "198.51.100.7:50000"),
        _ => ("[2001:db8::1]:443", "[2001:db8::7]:50000"),
    };
    Endpoints { src: src.parse().expect("one"), dst: dst.parse().expect("one") }
}

/// A packet of TCP with this much payload as a TAP device gives it: tags, what offloading is to do.
fn offloaded(ip: u8, tags: &[u8], len: u32, size: u16) -> Vec<u8> {
    let segment = Segment {
        seq: Seq(u32::MAX - 99),
        ack: Seq(5),
        flags: Flags::ACK,
        window: 100,
        payload_len: len,
        options: Options::default(),
    };
    let mut read = vec![1, if ip == 4 { 1 } else { 4 }, 0, 0, 0, 0, 0, 0, 16, 0];
    read[4..6].copy_from_slice(&size.to_ne_bytes());
    if size == 0 {
        read[1] = 0;
    }
    read.extend([2; 12]);
    read.extend(tags);
    read.extend(if ip == 4 { [8, 0] } else { [0x86, 0xdd] });
    let data: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let fields = IpFields { ecn: Ecn::Ect0, ..IpFields::default() };
    encode(ends(ip), fields, &segment, Payload::Bytes(&data), &mut read).expect("sound");
    read
}

#[test]
fn what_takes_more_than_a_millisecond_is_cut_up_into_sound_packets_and_the_rest_stays_whole() {
    for (ip, headers) in [(4, 40), (6, 60)] {
        for tags in [&[][..], &[0x81, 0, 0, 7]] {
            let read = offloaded(ip, tags, 40_000, 1_400);
            let sorter = sorter(LinkKind::Ethernet);
            let Sorted::Packet(packet, frame) = sort(&sorter, &read, FAST) else {
                panic!("32 us at 10 Gbit/s")
            };
            // As long as its 29 segments are on the link.
            assert_eq!(packet.ip_len, 40_000 + 29 * headers);
            assert_eq!(frame.with_header(), read);
            let Sorted::Pieces(pieces) = sort(&sorter, &read, SLOW) else {
                panic!("16 ms at 20 Mbit/s")
            };
            let mut carried = Vec::new();
            let count = pieces.len();
            for (one, mut frame) in pieces {
                assert_eq!(frame.with_header()[..10], [0; 10]);
                assert_eq!(frame.bytes()[..12 + tags.len()], read[10..22 + tags.len()]);
                let ip = &*frame.ip();
                let decoded = decode(ip).expect("checksums and all");
                assert_eq!((one.flow, Some(decoded.segment)), (packet.flow, one.tcp));
                assert_eq!(one.ip_len as usize, ip.len());
                carried.extend_from_slice(&ip[decoded.payload.clone()]);
            }
            assert_eq!((count, &carried[..]), (29, &read[read.len() - 40_000..]));
        }
    }
}

#[test]
fn a_mark_in_front_is_taken_away_and_kept() {
    let sorter = sorter(LinkKind::Ethernet);
    let plain = offloaded(4, &[], 1_000, 0);
    let mut prefix = vec![3, 0, 0, 0];
    prefix.extend(7_u64.to_be_bytes());
    prefix.extend([0x88, 0xb5]);
    prefix.extend(0x0304_u16.to_ne_bytes());
    prefix.extend(0x0102_u16.to_ne_bytes());
    let mut read = plain.clone();
    read.splice(10..10, prefix);
    // Where its checksum begins, counted from the beginning of what was read.
    read[6..8].copy_from_slice(&(18_u16 + 34).to_ne_bytes());
    let Sorted::Packet(_, frame) = sort(&sorter, &read, FAST) else { panic!("one") };
    assert_eq!((frame.mark, frame.bytes()), (0x0102_0304, &plain[10..]));
    assert_eq!(frame.with_header()[6..8], 34_u16.to_ne_bytes());
}

#[test]
fn what_a_link_needs_does_not_wait_and_the_kernels_own_goes_nowhere() {
    let sorter = sorter(LinkKind::Ethernet);
    let framed = |rest: &[u8]| [&[0; 10][..], &[2; 12], rest].concat();
    let mut discovery = vec![0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 58, 255];
    discovery.extend([0; 32]);
    discovery.extend([135, 0, 0, 0, 0, 0, 0, 0]);
    for control in [framed(&[8, 6, 0, 1]), framed(&[0x88, 0x8e, 1]), framed(&discovery)] {
        let sorted = sort(&sorter, &control, SLOW);
        assert!(matches!(sorted, Sorted::Control(_)), "{sorted:?}");
    }
    let mut own = framed(&discovery);
    own[16..22].copy_from_slice(&TAP);
    assert!(matches!(sort(&sorter, &own, SLOW), Sorted::Noise));
    let mut echo = discovery;
    echo[42] = 128;
    assert!(matches!(sort(&sorter, &framed(&echo), SLOW), Sorted::Packet(..)));
}

#[test]
fn both_directions_of_a_connection_are_one_flow_and_others_are_others() {
    let sorter = sorter(LinkKind::Ethernet);
    let flow = |read: &[u8]| match sort(&sorter, read, FAST) {
        Sorted::Packet(packet, _) => packet.flow,
        other => panic!("{other:?}"),
    };
    let there = offloaded(4, &[], 10, 0);
    let mut back = vec![2; 12];
    back.extend([8, 0]);
    let ack = decode(&there[24..]).expect("sound").segment;
    let ends = ends(4);
    encode(ends.reversed(), IpFields::default(), &ack, Payload::Zeros(10), &mut back)
        .expect("sound");
    let sighting = Sighting {
        interface: Interface::Lan(0),
        mark: None,
        is_sample: false,
        way: Way::In,
        frame: &back,
        vlan: None,
        segment_size: 0,
        checksum: TcpChecksum::Verified,
    };
    assert_eq!(sorter.reverse(&sighting).map(|packet| packet.flow), Some(flow(&there)));
    let mut datagram = [&[0; 10][..], &[2; 12], &[8, 0]].concat();
    encode_udp(ends, IpFields::default(), Payload::Zeros(9), &mut datagram).expect("sound");
    assert_ne!(flow(&datagram), flow(&there));
    assert_ne!(flow(&offloaded(6, &[], 10, 0)), flow(&there));
    let salted = Sorter { salt: 4, ..sorter };
    let Sorted::Packet(other, _) = sort(&salted, &there, FAST) else { panic!() };
    assert_ne!(other.flow, flow(&there));
}

proptest! {
    /// Whatever is read, what goes on is what was read.
    #[test]
    fn any_bytes_go_on_as_they_came(
        read in proptest::collection::vec(any::<u8>(), 0..200),
        bare in any::<bool>(),
        shape in 0..5_usize,
    ) {
        let mut read = read;
        let starts = [&[][..], &[8, 0, 0x45], &[0x86, 0xdd, 0x60], &[0x81, 0], &[8, 0, 0x4f]];
        for (at, byte) in starts[shape].iter().enumerate() {
            if let Some(place) = read.get_mut(22 + at) {
                *place = *byte;
            }
        }
        let kind = if bare { LinkKind::Bare } else { LinkKind::Ethernet };
        match sort(&sorter(kind), &read, SLOW) {
            Sorted::Noise => {}
            Sorted::Control(mut frame) | Sorted::Packet(_, mut frame) => {
                prop_assert_eq!(frame.with_header(), read);
                set_ecn(frame.ip(), Ecn::Ce);
            }
            Sorted::Pieces(pieces) => prop_assert!(pieces.len() <= 1 << 16),
        }
    }

    /// A packet that offloading has put together, with any bytes in its headers changed.
    #[test]
    fn headers_that_were_tampered_with_are_cut_up_or_not_but_never_end_it(
        changes in proptest::collection::vec((0..80_usize, any::<u8>()), 0..6),
        size in 0..2_000_u16,
    ) {
        let mut read = offloaded(4, &[], 9_000, size);
        for (at, byte) in changes {
            read[at] = byte;
        }
        let sorted = sort(&sorter(LinkKind::Ethernet), &read, SLOW);
        if let Sorted::Pieces(pieces) = sorted {
            prop_assert!(pieces.iter().all(|(_, frame)| frame.bytes().len() <= read.len()));
        }
    }
}
