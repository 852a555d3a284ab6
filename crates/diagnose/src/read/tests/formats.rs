//! Every format, cut at every length; sections, times, counts of losses.

use super::super::Reader;
use super::files::{self, ORDERS, Order};
use super::frames::{ethernet, expected, ipv4, tcp};
use super::{Trickle, read, sound};
use crate::{ArtefactKind, Options, Seen, diagnose, without_progress};
use ackord_units::Time;
use std::io::Cursor;

#[test]
fn every_format_tells_the_same_frames_and_their_times() {
    for (name, file) in files::all() {
        let (mut seen, about) = sound(&file);
        seen.iter_mut().for_each(|seen| seen.hop = 0);
        let ns_per_unit = if name.ends_with("3c4d") { 1 } else { 1_000 };
        let at = |number| Time::from_nanos(1_000_000_000_000 + number * ns_per_unit);
        let expected = [1, 3].map(|frame| Seen { frame, at: at(frame), file: 3, ..expected(4) });
        assert_eq!(seen, expected, "{name}");
        assert_eq!((about.frames, about.tcp, about.malformed), (3, 2, 0), "{name}");
        assert_eq!(about.others, [("UDP".to_owned(), 1)], "{name}");
        assert_eq!(about.damage, None, "{name}");
        assert_eq!(about.began_ns, at(1).as_nanos(), "{name}");
        assert_eq!(about.ended_ns, at(3).as_nanos(), "{name}");
    }
}

#[test]
fn formats_have_names() {
    let name = |magic| sound(&files::pcap(Order::Big, magic, 1, &files::three())).1.format;
    assert_eq!(name(files::MICROS), "pcap");
    assert_eq!(name(files::NANOS), "pcap (nanoseconds)");
    assert_eq!(name(files::MODIFIED), "pcap (modified)");
    assert_eq!(sound(&files::pcapng(Order::Big, 1, &files::three())).1.format, "pcapng");
}

#[test]
fn an_input_that_comes_byte_by_byte_is_the_same() {
    for (name, file) in files::all() {
        let input = Box::new(Trickle(Cursor::new(file.clone())));
        let mut reader = Reader::from_reader("test", input, 3).expect("a capture");
        let mut seen = Vec::new();
        while reader.read(&mut seen, usize::MAX).expect("memory does not fail") {}
        assert_eq!(seen, sound(&file).0, "{name}");
    }
}

#[test]
fn a_file_cut_anywhere_gives_what_is_before_the_cut() {
    for (name, file) in files::all() {
        let (whole, _) = sound(&file);
        let mut before = (0, 0);
        for len in 0..=file.len() {
            let Ok((seen, about)) = read(&file[..len]) else {
                assert_eq!(before, (0, 0), "{name} cut at {len}");
                continue;
            };
            assert_eq!(seen, whole[..seen.len()], "{name} cut at {len}");
            assert!((about.frames, about.tcp) >= before, "{name} cut at {len}");
            before = (about.frames, about.tcp);
            let places = ends(&file);
            assert_eq!(about.damage.is_none(), places.contains(&len), "{name} cut at {len}");
            if let Some(damage) = about.damage {
                let last = places.iter().filter(|place| **place < len).max().unwrap_or(&0);
                assert!(damage.ends_with(&format!(", at byte {last}")), "{name} {len}: {damage}");
            }
        }
    }
}

/// Where frames or blocks of a sound file end.
fn ends(file: &[u8]) -> Vec<usize> {
    let big = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four"));
    let little = |at: usize| big(at).swap_bytes();
    let pcapng = big(0) == 0x0a0d_0d0a;
    let is_big = big(if pcapng { 8 } else { 0 }) >> 24 == if pcapng { 0x1a } else { 0xa1 };
    let word = |at| (if is_big { big(at) } else { little(at) }) as usize;
    let record = if word(0) == 0xa1b2_cd34 { 24 } else { 16 };
    let mut ends = vec![if pcapng { 0 } else { 24 }];
    loop {
        let at = ends[ends.len() - 1];
        if at >= file.len() {
            break;
        }
        ends.push(at + if pcapng { word(at + 4) } else { record + word(at + 8) });
    }
    if pcapng {
        ends.remove(0);
    }
    ends
}

#[test]
fn sections_follow_each_other_in_any_byte_order_each_with_its_interfaces() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    let mut file = Vec::new();
    for order in [Order::Little, Order::Big, Order::Little] {
        file.extend(files::section(order));
        file.extend(files::interface(order, 1, 0, &[]));
        file.extend(files::interface(order, 101, 0, &[]));
        file.extend(files::enhanced(order, 0, 5, &frame, &[]));
        file.extend(files::enhanced(order, 1, 5, &frame[14..], &[]));
        // An interface of the section before is none of this.
        file.extend(files::enhanced(order, 2, 5, &frame, &[]));
    }
    let (seen, about) = sound(&file);
    let places: Vec<_> = seen.iter().map(|seen| (seen.frame, seen.interface)).collect();
    assert_eq!(places, [(1, 0), (2, 1), (4, 2), (5, 3), (7, 4), (8, 5)]);
    assert_eq!((about.frames, about.malformed, about.damage), (9, 3, None));
}

#[test]
fn times_have_the_resolution_and_the_offset_of_their_interface() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    let cases = [
        (Some(6), 0, 1_000_001, 1_000_001_000),
        (Some(9), 0, 1_000_001, 1_000_001),
        (Some(0), 0, 7, 7_000_000_000),
        (Some(12), 0, 7_000_000, 7_000),
        (Some(0x80 | 10), 0, 1_536, 1_500_000_000),
        (Some(0x80 | 32), 0, 3 << 31, 1_500_000_000),
        (Some(0xff), 0, 1, 0),
        (Some(0x7f), 0, 1, 0),
        (Some(3), 100, 5, 100_005_000_000),
        (None, -1, 3_000_000, 2_000_000_000),
        (None, -9, 3_000_000, 0),
        (Some(0), 0, u64::MAX, u64::MAX),
        (None, i64::MAX, 1, i64::MAX as u64 + 1_000),
    ];
    for order in ORDERS {
        for (resolution, offset, stamp, nanos) in cases {
            let mut options = Vec::new();
            if let Some(resolution) = resolution {
                options.extend(files::option(order, 9, &[resolution]));
            }
            options.extend(files::option(order, 14, &order.u64(offset as u64)));
            options.extend([0; 4]);
            let mut file = files::section(order);
            file.extend(files::interface(order, 1, 0, &options));
            file.extend(files::enhanced(order, 0, stamp, &frame, &[]));
            let at = sound(&file).0[0].at.as_nanos();
            assert_eq!(at, nanos, "{resolution:?} {offset} {stamp}");
        }
    }
}

#[test]
fn simple_and_old_packets_are_read_and_what_is_unknown_is_passed_over() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    for order in ORDERS {
        let mut file = files::section(order);
        file.extend(files::interface(order, 1, 70, &[]));
        file.extend(files::block(order, 0x4000_0bad, &[1; 50]));
        file.extend(files::enhanced(order, 0, 1_000_000, &frame[..70], &[]));
        // As much as fits into the block.
        let simple = [&order.u32(frame.len() as u32)[..], &frame[..70]].concat();
        file.extend(files::block(order, 3, &simple));
        let mut old = [order.u16(0), order.u16(5)].concat();
        for word in [0, 2_000_000, 70, frame.len() as u32] {
            old.extend(order.u32(word));
        }
        old.extend(&frame[..70]);
        file.extend(files::block(order, 2, &old));
        file.extend(files::block(order, 9, b"MESSAGE=hello\n"));
        let (seen, about) = sound(&file);
        let times: Vec<_> = seen.iter().map(|seen| (seen.frame, seen.at.as_nanos())).collect();
        let second = 1_000_000_000;
        assert_eq!(times, [(1, second), (2, second), (3, 2 * second)], "without time: the last");
        assert!(seen.iter().all(|seen| seen.payload_len == 32));
        assert_eq!((about.without_time, about.first_without_time), (1, 2));
        assert_eq!((about.frames, about.snap_len, about.dropped), (4, Some(70), Some(5)));
        assert_eq!(about.others, [("journal entry".to_owned(), 1)]);
    }
}

/// The artefacts of the whole file in the answer: kind, count, first frame.
fn artefacts(file: &[u8]) -> Vec<(ArtefactKind, u64, u64)> {
    let reader = Reader::from_reader("test", Box::new(Cursor::new(file.to_vec())), 0);
    let reader = reader.unwrap_or_else(|error| panic!("{error}"));
    let answered = diagnose(vec![reader], &Options::default(), &mut without_progress);
    let (diagnosis, _) = answered.expect("memory does not fail");
    diagnosis.artefacts.iter().map(|one| (one.kind, one.count, one.frame)).collect()
}

#[test]
fn packets_without_time_are_an_artefact() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    for order in ORDERS {
        let mut file = files::pcapng(order, 1, &files::three());
        let has =
            |file: &[u8]| artefacts(file).into_iter().find(|one| one.0 == ArtefactKind::NoTimes);
        assert_eq!(has(&file), None);
        for _ in 0..5 {
            let simple = [&order.u32(frame.len() as u32)[..], &frame].concat();
            file.extend(files::block(order, 3, &simple));
        }
        assert_eq!(has(&file), Some((ArtefactKind::NoTimes, 5, 4)));
        assert!(artefacts(&file).iter().all(|one| one.0 != ArtefactKind::ReorderedTimestamps));
    }
}

#[test]
fn times_of_two_interfaces_are_compared_in_nanoseconds() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    let backwards = |microseconds: &[(u32, u64)]| {
        let order = Order::Little;
        let mut file = files::section(order);
        // Microseconds, nanoseconds, and seconds later.
        file.extend(files::interface(order, 1, 0, &[]));
        file.extend(files::interface(order, 1, 0, &files::option(order, 9, &[9])));
        let offset = files::option(order, 14, &order.u64(1));
        file.extend(files::interface(order, 1, 0, &offset));
        for (number, (interface, at)) in microseconds.iter().enumerate() {
            let mut frame = frame.clone();
            frame[41] = number as u8;
            let stamp = match interface {
                0 => *at,
                1 => at * 1_000,
                _ => at - 1_000_000,
            };
            file.extend(files::enhanced(order, *interface, stamp, &frame, &[]));
        }
        let found = artefacts(&file);
        found.into_iter().find(|one| one.0 == ArtefactKind::ReorderedTimestamps).map(|one| one.1)
    };
    let start = 5_000_000;
    assert_eq!(backwards(&[(0, start), (1, start + 1), (2, start + 2), (0, start + 3)]), None);
    assert_eq!(
        backwards(&[(0, start + 9), (1, start + 1), (2, start + 2), (0, start + 10)]),
        Some(2)
    );
}

#[test]
fn losses_are_the_last_count_of_each_interface_or_what_packets_say() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    for order in ORDERS {
        let statistics = |interface: u32, code: u16, count: u64| {
            let mut body = order.u32(interface).to_vec();
            body.extend([0; 8]);
            body.extend(files::option(order, code, &order.u64(count)));
            files::block(order, 5, &body)
        };
        let mut file = files::section(order);
        file.extend(files::interface(order, 1, 0, &[]));
        file.extend(files::interface(order, 1, 0, &[]));
        assert_eq!(sound(&file).1.dropped, None);
        let lost = files::option(order, 4, &order.u64(3));
        file.extend(files::enhanced(order, 0, 1, &frame, &lost));
        file.extend(files::enhanced(order, 0, 2, &frame, &lost));
        assert_eq!(sound(&file).1.dropped, Some(6));
        file.extend(statistics(0, 4, 1_000));
        assert_eq!(sound(&file).1.dropped, Some(6), "another count");
        for (interface, code, count) in [(0, 5, 7), (0, 5, 9), (1, 7, 2), (77, 5, 1_000)] {
            file.extend(statistics(interface, code, count));
        }
        assert_eq!(sound(&file).1.dropped, Some(11));
    }
}

#[test]
fn impossible_lengths_end_a_capture_where_they_stand() {
    let damage = |file: &[u8], frames| {
        let (_, about) = sound(file);
        assert_eq!(about.frames, frames);
        about.damage.expect("damaged")
    };
    let mut pcap = files::pcap(Order::Little, files::MICROS, 1, &files::three());
    let len = pcap.len();
    pcap.extend([0; 600]);
    assert_eq!(damage(&pcap, 3), format!("zeros where a frame should begin, at byte {len}"));
    pcap[len + 8..len + 12].copy_from_slice(&300_000_u32.to_le_bytes());
    let text = damage(&pcap, 3);
    assert_eq!(text, format!("a frame of 300000 bytes is impossible, at byte {len}"));

    let sound_file = files::pcapng(Order::Little, 1, &files::three());
    let len = sound_file.len();
    for (block, what) in [
        (vec![6, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0], "a block of 8 bytes is impossible"),
        (vec![6, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0], "a block of 33 bytes is impossible"),
        (vec![6, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0], "a block of 33554432 bytes is impossible"),
        (vec![6, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0], "a packet of 2097152 bytes is impossible"),
        (vec![0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0, 0, 0, 0], "a section without byte order"),
        (vec![0; 40], "a block of 0 bytes is impossible"),
        (
            vec![9, 9, 9, 9, 16, 0, 0, 0, 1, 1, 1, 1, 20, 0, 0, 0],
            "the two lengths of a block differ",
        ),
        (
            files::block(Order::Little, 6, &[&[0; 12][..], &[100, 0, 0, 0, 100, 0, 0, 0]].concat()),
            "a packet longer than its block",
        ),
    ] {
        let file = [&sound_file[..], &block].concat();
        assert_eq!(damage(&file, 3), format!("{what}, at byte {len}"));
    }
}

#[test]
fn large_blocks_without_packets_are_passed_over() {
    let mut file = files::pcapng(Order::Little, 1, &files::three());
    file.extend(files::block(Order::Little, 10, &vec![7; 5 << 20]));
    let end = file.len();
    file.extend(files::enhanced(Order::Little, 0, 9, &files::three()[0], &[]));
    assert_eq!(sound(&file).1.frames, 4);
    let (_, about) = sound(&file[..end - 1]);
    assert_eq!((about.frames, about.damage.is_some()), (3, true));
}

#[test]
fn frames_of_unknown_links_are_counted_by_their_link() {
    let frames = vec![vec![0; 60]; 5];
    let (seen, about) = sound(&files::pcap(Order::Little, files::MICROS, 220, &frames));
    assert!(seen.is_empty());
    assert_eq!(about.others, [("USB packet (link type 220)".to_owned(), 5)]);
    // Bits that tell of a frame check sequence are not part of the link type.
    let file = files::pcap(Order::Big, files::MICROS, 0x5400_0001, &files::three());
    assert_eq!(sound(&file).0.len(), 2);
}

#[test]
fn the_others_stand_in_order_of_their_count() {
    let udp = ethernet(0x0800, &ipv4(17, &[0; 20]));
    let arp = ethernet(0x0806, &[0; 46]);
    let lldp = ethernet(0x88cc, &[0; 46]);
    let frames = [&lldp, &arp, &udp, &arp, &udp, &udp].map(Clone::clone);
    let (_, about) = sound(&files::pcapng(Order::Big, 1, &frames));
    let named = [("UDP", 3), ("ARP", 2), ("LLDP", 1)];
    assert_eq!(about.others, named.map(|(name, count)| (name.to_owned(), count)));
}
