//! Packets survive the way to bytes and back, and no bytes make the decoder panic.

use ackord_units::Seq;
use ackord_wire::{
    DecodeError, Ecn, EncodeError, Endpoints, Flags, FlowAddresses, FlowId, FlowNodes, IpFields,
    IpVersion, NodeId, Options, Packet, Payload, SackBlock, SackBlocks, Segment, Side, Timestamps,
    decode, decode_ip, encode, encode_packet, set_ecn,
};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

fn options() -> impl Strategy<Value = Options> {
    let timestamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    let block =
        any::<(u32, u32)>().prop_map(|(start, end)| SackBlock { start: Seq(start), end: Seq(end) });
    (
        any::<Option<u16>>(),
        any::<Option<u8>>(),
        any::<bool>(),
        proptest::option::of(timestamps),
        prop::collection::vec(block, 0..=4),
    )
        .prop_map(|(mss, window_scale, sack_permitted, timestamps, blocks)| {
            let mut sack = SackBlocks::default();
            for block in blocks {
                sack.push(block);
            }
            Options { mss, window_scale, sack_permitted, timestamps, sack }
        })
}

fn segment() -> impl Strategy<Value = Segment> {
    (any::<(u32, u32, u8, u16)>(), options()).prop_map(|((seq, ack, flags, window), options)| {
        let flags = Flags::from_bits(flags);
        Segment { seq: Seq(seq), ack: Seq(ack), flags, window, payload_len: 0, options }
    })
}

fn endpoints() -> impl Strategy<Value = Endpoints> {
    let v4 = any::<([u8; 4], u16, [u8; 4], u16)>().prop_map(|(src, from, dst, to)| Endpoints {
        src: SocketAddr::new(Ipv4Addr::from(src).into(), from),
        dst: SocketAddr::new(Ipv4Addr::from(dst).into(), to),
    });
    let v6 = any::<([u8; 16], u16, [u8; 16], u16)>().prop_map(|(src, from, dst, to)| Endpoints {
        src: SocketAddr::new(Ipv6Addr::from(src).into(), from),
        dst: SocketAddr::new(Ipv6Addr::from(dst).into(), to),
    });
    prop_oneof![v4, v6]
}

fn ip_fields() -> impl Strategy<Value = IpFields> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    (ecn, any::<u8>(), any::<u16>()).prop_map(|(ecn, ttl, identification)| IpFields {
        ecn,
        ttl,
        identification,
    })
}

fn ip_header_len(endpoints: &Endpoints) -> usize {
    if endpoints.src.is_ipv4() { 20 } else { 40 }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_and_as_long_as_it_says(
        endpoints in endpoints(),
        ip in ip_fields(),
        mut segment in segment(),
        payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        segment.payload_len = payload.len() as u32;
        let mut bytes = Vec::new();
        let written = encode(endpoints, ip, &segment, Payload::Bytes(&payload), &mut bytes);
        let wire_len = segment.options.wire_len();
        if wire_len > 40 {
            prop_assert_eq!(written, Err(EncodeError::OptionsTooLong { len: wire_len }));
            prop_assert!(bytes.is_empty());
            return Ok(());
        }
        prop_assert_eq!(written, Ok(()));
        let headers_len = ip_header_len(&endpoints) + segment.header_len() as usize;
        prop_assert_eq!(bytes.len(), headers_len + payload.len());
        let decoded = decode(&bytes).expect("sound bytes");
        prop_assert_eq!(decoded.endpoints, endpoints);
        prop_assert_eq!(decoded.segment, segment);
        prop_assert_eq!((decoded.ip.ecn, decoded.ip.ttl), (ip.ecn, ip.ttl));
        prop_assert_eq!(decoded.ip.ip_len as usize, bytes.len());
        prop_assert_eq!(&bytes[decoded.payload], &payload[..]);
    }

    #[test]
    fn zeros_by_count_are_the_same_bytes_as_real_zeros(
        endpoints in endpoints(),
        mut segment in segment(),
        count in 0_u32..3000,
    ) {
        segment.options.sack = SackBlocks::default();
        segment.payload_len = count;
        let (mut by_count, mut real) = (Vec::new(), Vec::new());
        let zeros = vec![0; count as usize];
        let ip = IpFields::default();
        encode(endpoints, ip, &segment, Payload::Zeros(count), &mut by_count).expect("fits");
        encode(endpoints, ip, &segment, Payload::Bytes(&zeros), &mut real).expect("fits");
        prop_assert_eq!(by_count, real);
    }

    #[test]
    fn a_mark_set_under_way_is_as_if_it_had_been_sent(
        endpoints in endpoints(),
        ip in ip_fields(),
        sent_as in ip_fields(),
    ) {
        let segment = Segment { payload_len: 5, ..Segment::default() };
        let (mut marked, mut expected) = (Vec::new(), Vec::new());
        let before = IpFields { ecn: sent_as.ecn, ..ip };
        encode(endpoints, before, &segment, Payload::Zeros(5), &mut marked).expect("fits");
        encode(endpoints, ip, &segment, Payload::Zeros(5), &mut expected).expect("fits");
        set_ecn(&mut marked, ip.ecn);
        prop_assert_eq!(decode(&marked).expect("sound"), decode(&expected).expect("sound"));
    }

    /// RFC 9293 §3.1: reserved bits are ignored, the one of RFC 9768 among them.
    #[test]
    fn reserved_bits_change_nothing(
        endpoints in endpoints(),
        mut segment in segment(),
        reserved in 1_u8..16,
    ) {
        segment.options.sack = SackBlocks::default();
        let mut bytes = Vec::new();
        let payload = Payload::Zeros(segment.payload_len);
        encode(endpoints, IpFields::default(), &segment, payload, &mut bytes).expect("fits");
        let before = decode(&bytes).expect("sound");
        let ip_header_len = ip_header_len(&endpoints);
        bytes[ip_header_len + 12] |= reserved;
        set_tcp_checksum(&mut bytes, ip_header_len);
        prop_assert_eq!(decode(&bytes).expect("sound"), before);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(
        first in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        let bytes: Vec<u8> = std::iter::once(first).chain(rest).collect();
        let _ = decode(&bytes);
        let _ = decode_ip(&bytes);
    }

    /// Options, data offset and lengths are damaged with the checksum made good again: only the
    /// structure can be complained about, and what is read lies inside the bytes.
    #[test]
    fn a_mutated_packet_with_a_good_checksum_never_panics(
        endpoints in endpoints(),
        mut segment in segment(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        segment.options.sack = SackBlocks::default();
        segment.payload_len = 30;
        let mut bytes = Vec::new();
        encode(endpoints, IpFields::default(), &segment, Payload::Zeros(30), &mut bytes)
            .expect("fits");
        let ip_header_len = ip_header_len(&endpoints);
        for (at, value) in edits {
            let at = ip_header_len + at.index(bytes.len() - ip_header_len);
            bytes[at] = value;
        }
        set_tcp_checksum(&mut bytes, ip_header_len);
        match decode(&bytes) {
            Ok(decoded) => prop_assert!(decoded.payload.end <= bytes.len()),
            Err(error) => {
                let structural = matches!(
                    error,
                    DecodeError::BadOptions(_)
                        | DecodeError::BadHeaderLength(_)
                        | DecodeError::Truncated { .. }
                );
                prop_assert!(structural, "{error:?}");
            }
        }
        let cut = cut.index(bytes.len());
        let truncated = decode(&bytes[..cut]);
        prop_assert!(
            matches!(truncated, Err(DecodeError::Truncated { .. } | DecodeError::Empty)),
            "{truncated:?}"
        );
    }
}

/// Sets the TCP checksum by the book, word by word: independent of the codec's own way.
fn set_tcp_checksum(bytes: &mut [u8], ip_header_len: usize) {
    let (ip, tcp) = bytes.split_at_mut(ip_header_len);
    tcp[16..18].fill(0);
    let addresses = if ip_header_len == 20 { &ip[12..20] } else { &ip[8..40] };
    let words = |bytes: &[u8]| -> u64 {
        bytes
            .chunks(2)
            .map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)))
            .sum()
    };
    let mut sum = words(addresses) + 6 + tcp.len() as u64 + words(tcp);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    tcp[16..18].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[test]
fn a_checksum_worked_out_by_hand_is_what_is_written() {
    let endpoints = Endpoints {
        src: "192.168.0.1:1000".parse().expect("an address"),
        dst: "192.168.0.2:2000".parse().expect("an address"),
    };
    let segment = Segment { flags: Flags::SYN, window: 1024, ..Segment::default() };
    let mut bytes = Vec::new();
    encode(endpoints, IpFields::default(), &segment, Payload::Zeros(0), &mut bytes).expect("fits");
    let written = (bytes[36], bytes[37]);
    set_tcp_checksum(&mut bytes, 20);
    assert_eq!(written, (bytes[36], bytes[37]));
    // c0a8+0001+c0a8+0002+0006+0014 + 03e8+07d0+5002+0400 = 1e127 -> e128 -> complement 1ed7.
    assert_eq!(written, (0x1e, 0xd7));
}

/// RFC 1624: of the two zeros of one's complement only 0x0000 is written; both are read.
#[test]
fn a_sum_of_zero_is_written_as_zero() {
    let endpoints = Endpoints {
        src: "10.0.0.1:57344".parse().expect("an address"),
        dst: "10.0.1.1:49152".parse().expect("an address"),
    };
    let mut zeros = 0;
    let mut bytes = Vec::new();
    for window in 0..=u16::MAX {
        let segment = Segment { window, ..Segment::default() };
        bytes.clear();
        encode(endpoints, IpFields::default(), &segment, Payload::Zeros(0), &mut bytes)
            .expect("fits");
        assert_ne!(bytes[36..38], [0xff, 0xff]);
        if bytes[36..38] == [0, 0] {
            zeros += 1;
            assert!(decode(&bytes).is_ok());
            bytes[36..38].fill(0xff);
            assert!(decode(&bytes).is_ok());
        }
    }
    assert!(zeros >= 1);
}

#[test]
fn what_is_not_tcp_or_not_whole_has_its_own_name() {
    let addresses = FlowAddresses::of(
        FlowId(1),
        FlowNodes { client: NodeId(0), server: NodeId(1) },
        IpVersion::V4,
    );
    let packet = Packet {
        flow: FlowId(1),
        from: Side::Client,
        src: NodeId(0),
        dst: NodeId(1),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 500,
        tag: 0,
        tcp: None,
    };
    let mut bytes = Vec::new();
    encode_packet(&packet, &addresses, 7, &mut bytes).expect("a datagram");
    assert_eq!(bytes.len(), 500);
    assert_eq!(decode(&bytes), Err(DecodeError::NotTcp { protocol: 17 }));
    assert_eq!(decode(&[]), Err(DecodeError::Empty));
    assert_eq!(decode(&[0x75; 40]), Err(DecodeError::NotIp(7)));
    let long = Packet { ip_len: 999, tcp: Some(Segment::default()), ..packet };
    assert_eq!(
        encode_packet(&long, &addresses, 7, &mut bytes),
        Err(EncodeError::LengthMismatch { said: 999, made: 40 })
    );
    let short = Packet { ip_len: 27, ..packet };
    assert_eq!(
        encode_packet(&short, &addresses, 7, &mut bytes),
        Err(EncodeError::LengthMismatch { said: 27, made: 28 })
    );
}

#[test]
fn impossible_packets_are_refused_and_leave_the_output_alone() {
    let v4: SocketAddr = "10.0.0.1:1".parse().expect("an address");
    let v6: SocketAddr = "[fd00::1]:1".parse().expect("an address");
    let mut out = vec![1, 2, 3];
    let mixed = Endpoints { src: v4, dst: v6 };
    let ip = IpFields::default();
    let empty = Segment::default();
    let result = encode(mixed, ip, &empty, Payload::Zeros(0), &mut out);
    assert_eq!(result, Err(EncodeError::MixedFamilies(mixed)));
    let endpoints = Endpoints { src: v4, dst: v4 };
    let result = encode(endpoints, ip, &empty, Payload::Bytes(&[0]), &mut out);
    assert_eq!(result, Err(EncodeError::PayloadMismatch { said: 0, given: 1 }));
    for (payload_len, fits) in [(65_535 - 40, true), (65_536 - 40, false)] {
        let segment = Segment { payload_len, ..Segment::default() };
        let mut bytes = Vec::new();
        let result = encode(endpoints, ip, &segment, Payload::Zeros(payload_len), &mut bytes);
        assert_eq!(result.is_ok(), fits, "{payload_len}: {result:?}");
        assert_eq!(bytes.is_empty(), !fits);
    }
    assert_eq!(out, [1, 2, 3]);
}

#[test]
fn bytes_after_the_packet_are_ignored_and_fragments_named() {
    let endpoints = Endpoints {
        src: "10.0.0.1:57344".parse().expect("an address"),
        dst: "10.0.1.1:49152".parse().expect("an address"),
    };
    let segment = Segment { payload_len: 3, ..Segment::default() };
    let mut bytes = Vec::new();
    encode(endpoints, IpFields::default(), &segment, Payload::Bytes(b"abc"), &mut bytes)
        .expect("fits");
    bytes.extend_from_slice(&[0; 7]);
    let decoded = decode(&bytes).expect("sound");
    assert_eq!(&bytes[decoded.payload], b"abc");
    // More fragments follow: the flag sits in byte 6, the header checksum in 10 and 11.
    bytes[6] |= 0x20;
    let checksum = u16::from_be_bytes([bytes[10], bytes[11]]) - 0x2000;
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(decode(&bytes), Err(DecodeError::Fragment));
}

/// The IPv4 and TCP checksums together cover the whole packet, and one bit hides from neither.
#[test]
fn every_single_flipped_bit_is_noticed() {
    let endpoints = Endpoints {
        src: "10.0.0.1:57344".parse().expect("an address"),
        dst: "10.0.1.1:49152".parse().expect("an address"),
    };
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let options = Options { mss: Some(1460), timestamps, ..Options::default() };
    let segment = Segment { payload_len: 9, options, ..Segment::default() };
    let mut bytes = Vec::new();
    let payload = Payload::Bytes(b"some data");
    encode(endpoints, IpFields::default(), &segment, payload, &mut bytes).expect("fits");
    assert!(decode(&bytes).is_ok());
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bytes).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
