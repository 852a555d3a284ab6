//! The programs on this machine's kernel, frame by frame.

use super::assembler::{Assembler, If, Reg, Size};
use super::heartbeat::Heartbeat;
use super::steer::Steer;
use super::suppress::{Covered, Rules};
use super::sys::{Program, SharedWord};
use super::{AT_MARK, LET_PASS, REMOVE};
use crate::{Key, LinkKind};
use ackord_daemon::monotonic_nanos;
use ackord_testing::skipped;
use ackord_units::{Seq, Span};
use ackord_wire::{Endpoints, Flags, IpFields, Options, Payload, Segment, Timestamps, encode};
use proptest::prelude::*;
use std::io;

/// A program that counts packets with a mark, and the count.
pub(crate) fn mark_counter(mark: u32) -> io::Result<(SharedWord, Program)> {
    let count = SharedWord::new("marks")?;
    let mut program = Assembler::default();
    let pass = program.label();
    program.load(Size::Four, Reg::R7, (Reg::R1, AT_MARK));
    program.jump_if32(If::NotEqual, Reg::R7, mark as i32, pass);
    program.set_map_value(Reg::R1, count.descriptor());
    program.set(Reg::R2, 1);
    program.add_atomically(Reg::R1, Reg::R2);
    program.here(pass);
    program.exit_with(LET_PASS);
    let program = Program::load("marks", &program.finish())?;
    Ok((count, program))
}

/// TC_ACT_REDIRECT.
const REDIRECTED: i32 = 7;

/// What the kernel gave; nothing, and a line, where it does not allow programs.
fn allowed<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            skipped(format_args!("bpf(2): {error}"));
            None
        }
        other => Some(other.expect("the kernel takes it")),
    }
}

fn key(ip: u8) -> Key {
    let (mobile, fixed) = match ip {
        4 => ("192.0.2.7:50000", "198.51.100.1:443"),
        _ => ("[2001:db8::7]:50000", "[2001:db8:1::1]:443"),
    };
    Key { mobile: mobile.parse().expect("one"), fixed: fixed.parse().expect("one") }
}

fn ack(number: u32) -> Segment {
    Segment {
        seq: Seq(5),
        ack: Seq(number),
        flags: Flags::ACK,
        window: 500,
        payload_len: 0,
        options: Options::default(),
    }
}

/// A frame from the mobile host, with these tags.
fn frame(key: Key, segment: &Segment, tags: &[u16]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend([0, 7]);
    }
    frame.extend(if key.mobile.is_ipv4() { [8, 0] } else { [0x86, 0xdd] });
    bare(key, segment, frame)
}

fn bare(key: Key, segment: &Segment, mut frame: Vec<u8>) -> Vec<u8> {
    let ends = Endpoints { src: key.mobile, dst: key.fixed };
    let data = Payload::Zeros(segment.payload_len);
    encode(ends, IpFields::default(), segment, data, &mut frame).expect("sound");
    frame
}

fn covered(from: u32, to: u32) -> Covered {
    Covered { from: Seq(from), to: Seq(to), lasting: Span::from_secs(600) }
}

/// Rules at work, of a process that lives for the next ten minutes.
fn rules(kind: LinkKind) -> Option<Rules> {
    let rules = allowed(Rules::load(kind, 100))?;
    rules.heartbeat.beat(monotonic_nanos() + 600_000_000_000);
    Some(rules)
}

#[test]
fn the_same_ack_again_is_removed_once_it_is_covered_whatever_stands_before_it() {
    for (kind, tags) in [
        (LinkKind::Ethernet, &[][..]),
        (LinkKind::Ethernet, &[0x8100]),
        (LinkKind::Ethernet, &[0x88a8, 0x8100]),
        (LinkKind::Bare, &[]),
    ] {
        let Some(rules) = rules(kind) else { return };
        for ip in [4, 6] {
            let frame = |segment: &Segment| match kind {
                LinkKind::Ethernet => frame(key(ip), segment, tags),
                LinkKind::Bare => bare(key(ip), segment, Vec::new()),
            };
            let run = |segment: &Segment| rules.program.run(&frame(segment), 0).expect("it runs").0;
            assert_eq!([run(&ack(1_000)), run(&ack(1_000))], [LET_PASS; 2]);
            rules.cover(key(ip), covered(1_000, 3_000)).expect("room");
            let before = rules.removed();
            let results =
                [1_000, 1_000, 1_000, 2_000, 2_000, 3_000, 3_000].map(|one| run(&ack(one)));
            let (pass, gone) = (LET_PASS, REMOVE);
            assert_eq!(
                results,
                [pass, gone, gone, pass, gone, pass, pass],
                "{kind:?} {tags:?} {ip}"
            );
            assert_eq!(rules.removed() - before, 3);
            // What was seen last is kept when the range is told anew.
            rules.cover(key(ip), covered(3_000, 4_000)).expect("room");
            assert_eq!([run(&ack(3_000)), run(&ack(2_999))], [REMOVE, LET_PASS]);
            rules.uncover(key(ip)).expect("known");
            assert_eq!([run(&ack(3_000)), run(&ack(3_000))], [LET_PASS; 2]);
        }
    }
}

#[test]
fn what_is_not_just_the_same_ack_again_passes() {
    let Some(rules) = rules(LinkKind::Ethernet) else { return };
    let run = |segment: &Segment, tags: &[u16]| {
        rules.program.run(&frame(key(4), segment, tags), 0).expect("it runs").0
    };
    rules.cover(key(4), covered(u32::MAX - 10, 20)).expect("room");
    let same = ack(3);
    let others = [
        Segment { window: 501, ..same },
        Segment { window: 0, ..same },
        Segment { payload_len: 1, ..same },
        Segment { flags: Flags::ACK | Flags::ECE, ..same },
        Segment { flags: Flags::ACK | Flags::FIN, ..same },
        Segment { flags: Flags::ACK | Flags::RST, ..same },
        Segment { flags: Flags::ACK | Flags::SYN, ..same },
        Segment { ack: Seq(20), ..same },
        Segment { ack: Seq(u32::MAX - 11), ..same },
    ];
    for other in others {
        assert_eq!(run(&other, &[]), LET_PASS, "{other:?}");
        // What it says is what the next one is compared with; a closed window and a number that is not
        // covered never are the same again.
        let again = other.window > 0
            && other.payload_len == 0
            && matches!(other.flags.without(Flags::ECE), Flags::ACK)
            && ![Seq(20), Seq(u32::MAX - 11)].contains(&other.ack);
        assert_eq!(run(&other, &[]) == REMOVE, again, "{other:?}");
    }
    let mut options = same;
    options.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    assert_eq!([run(&same, &[]), run(&same, &[]), run(&options, &[])], [LET_PASS, REMOVE, REMOVE]);
    assert_eq!(run(&same, &[0x8100; 3]), LET_PASS, "more tags than are looked behind");
    let mut fragment = frame(key(4), &same, &[]);
    fragment[20] |= 0x20;
    assert_eq!(rules.program.run(&fragment, 0).expect("it runs").0, LET_PASS);
    let stranger = Key { mobile: "192.0.2.8:50000".parse().expect("one"), ..key(4) };
    for _ in 0..2 {
        let other = frame(stranger, &same, &[]);
        assert_eq!(rules.program.run(&other, 0).expect("it runs").0, LET_PASS);
    }
}

#[test]
fn nothing_is_removed_after_an_entry_has_expired_or_without_a_sign_of_life() {
    let Some(rules) = rules(LinkKind::Ethernet) else { return };
    let run = || rules.program.run(&frame(key(6), &ack(7), &[]), 0).expect("it runs").0;
    rules.cover(key(6), covered(0, 10)).expect("room");
    assert_eq!([run(), run()], [LET_PASS, REMOVE]);
    rules.heartbeat.stop();
    assert_eq!(run(), LET_PASS);
    rules.heartbeat.beat(monotonic_nanos() + 600_000_000_000);
    assert_eq!(run(), REMOVE);
    let expired = Covered { lasting: Span::ZERO, ..covered(0, 10) };
    rules.cover(key(6), expired).expect("room");
    assert_eq!(run(), LET_PASS);
}

#[test]
fn there_are_never_more_entries_than_there_is_room_for() {
    let Some(rules) = rules(LinkKind::Ethernet) else { return };
    for port in 0..1_000 {
        let mut key = key(4);
        key.mobile.set_port(port);
        rules.cover(key, covered(0, 10)).expect("the oldest makes room");
    }
    let known = (0..1_000).filter(|port| {
        let mut key = key(4);
        key.mobile.set_port(*port);
        rules.is_covered(key)
    });
    assert!(known.count() <= 100);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes, only what ends as a frame of a covered connection can be removed.
    #[test]
    fn any_bytes_pass(mut bytes in proptest::collection::vec(any::<u8>(), 34..200)) {
        let Some(rules) = rules(LinkKind::Ethernet) else { return Ok(()) };
        bytes[12..14].copy_from_slice(&[8, 0]);
        let (answer, after) = rules.program.run(&bytes, 0).expect("it runs");
        prop_assert_eq!((answer, after), (LET_PASS, bytes));
    }
}

fn steer() -> Steer {
    Steer { to: 1, cookie: u64::MAX, secret: 0x0102_0304_0506_0708, kind: LinkKind::Ethernet }
}

#[test]
fn packets_are_steered_while_there_is_a_sign_of_life_and_no_longer() {
    let Some(heartbeat) = allowed(Heartbeat::new()) else { return };
    let Some(program) = allowed(steer().load(&heartbeat)) else { return };
    let frame = frame(key(4), &ack(1), &[]);
    let run = || program.run(&frame, 0).expect("it runs");
    assert_eq!(run(), (LET_PASS, frame.clone()));
    let now = monotonic_nanos();
    heartbeat.beat(now + 600_000_000_000);
    assert_eq!(run(), (REDIRECTED, frame.clone()));
    // A beat that was made as long ago as it holds.
    heartbeat.beat(now - Heartbeat::HOLDS.as_nanos());
    assert_eq!(run().0, LET_PASS);
    heartbeat.beat(now + 600_000_000_000);
    heartbeat.stop();
    assert_eq!(run().0, LET_PASS);
    assert!((Heartbeat::HOLDS + Heartbeat::EVERY).as_millis() < 50, "asked of a stopped process");
}

#[test]
fn a_mark_stands_in_front_of_its_packet() {
    let Some(heartbeat) = allowed(Heartbeat::new()) else { return };
    let Some(program) = allowed(steer().load(&heartbeat)) else { return };
    heartbeat.beat(monotonic_nanos() + 600_000_000_000);
    let frame = frame(key(6), &ack(1), &[]);
    for mark in [1, 0x1234_5678, u32::MAX] {
        let (answer, after) = program.run(&frame, mark).expect("it runs");
        assert_eq!((answer, steer().mark_before(&after)), (REDIRECTED, Some(mark)));
        assert_eq!(after[Steer::PREFIX..], frame);
        let other = Steer { secret: 9, ..steer() };
        assert_eq!(other.mark_before(&after), None, "who does not know the secret");
    }
    assert_eq!(steer().mark_before(&frame), None);
    for len in 0..Steer::PREFIX {
        assert_eq!(steer().mark_before(&frame[..len]), None);
    }
}
