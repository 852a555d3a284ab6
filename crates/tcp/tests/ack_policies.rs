//! Every acknowledgment policy on a connection: counts for known arrivals, what none may delay, and
//! how long each lets a lone segment wait.

use crate::kit::script::{Habit, Script, Stamps};
use ackord_tcp::ack::Ack;
use ackord_units::{Bytes, Choice, KnobValue, Knobs, Span};
use ackord_wire::Flags;
use proptest::prelude::*;

const FULL: u32 = 1000;

fn policy(name: &str) -> Ack {
    Ack::named(name).expect("listed")
}

fn every_policy() -> impl Iterator<Item = Ack> {
    Ack::MECHANISMS.iter().map(|mechanism| policy(mechanism.name))
}

fn word(text: &'static str) -> KnobValue {
    KnobValue::Choice(text)
}

fn script(ack: &Ack, habit: Habit) -> Script {
    Script::new(ack, habit, Span::from_millis(40), Stamps::Sent)
}

/// Acknowledgments for `count` full segments, `gap_us` apart, that are read at once.
fn acks_for(ack: &Ack, count: u32, gap_us: u64) -> usize {
    let mut script = script(ack, Habit::Reads);
    for number in 0..count {
        script.send(5_000 + u64::from(number) * gap_us, number * FULL, FULL, Flags::ACK);
    }
    script.waits();
    script.acks.len()
}

#[test]
fn acknowledgments_for_two_hundred_segments_a_millisecond_apart() {
    // Least and most: each policy's own words.
    let expected = [
        ("immediate", 200..=200),
        ("delayed", 100..=100),
        // Two alone, then 99 pairs.
        ("quickack", 101..=101),
        // Nothing is known before the first gap.
        ("adaptive", 100..=102),
        ("adaptive-static", 200..=200),
        // 2000 bytes in segments of 1000, times two: four alone, then 98 pairs.
        ("ari", 102..=102),
        // beta a round trip of 40 ms is one each ten; everything before the first is over.
        ("tack", 50..=62),
        // 16, and as long as the window grows; the rest in pairs.
        ("linux", 108..=200),
    ];
    for (name, count) in expected {
        let acks = acks_for(&policy(name), 200, 1_000);
        assert!(count.contains(&acks), "{name}: {acks} for 200 segments");
        let least = if name == "tack" { 20 } else { 100 };
        assert!((least..=200).contains(&acks), "{name}: {acks} is out of bounds");
    }
}

#[test]
fn the_two_timeouts_of_the_paper_differ_for_segments_089_ms_apart() {
    let with = |timeout_us| {
        let timeout = KnobValue::Span(Span::from_micros(timeout_us));
        let mut script = script(&policy("adaptive-static").with("timeout", timeout), Habit::Reads);
        for pair in 0..100 {
            let at_us = 5_000 + u64::from(pair) * 8_320;
            script.send(at_us, pair * 1_040, 536, Flags::ACK);
            script.send(at_us + 890, pair * 1_040 + 536, 504, Flags::PSH);
        }
        script.waits();
        script.acks.len()
    };
    // 536 and 504 bytes are less than two full segments: the second waits out the first's timer.
    assert_eq!((with(900), with(800)), (100, 200));
}

#[test]
fn the_adaptive_timeout_is_told_of_and_follows_the_gaps() {
    for (mode, margin) in [("practical", 4), ("paper", 20)] {
        for millis in [3, 10, 20, 30] {
            let ack = policy("adaptive").with("mode", word(mode));
            let mut script = script(&ack, Habit::Reads);
            for number in 0..100 {
                let at_us = 5_000 + u64::from(number) * millis * 1_000;
                script.send(at_us, number * FULL, FULL, Flags::ACK);
            }
            let last = script.atos.0.last().copied().expect("told of");
            let gap = Span::from_millis(millis);
            assert!(last >= gap && last <= gap + gap / margin, "{mode}: {last} for {gap}");
        }
    }
}

#[test]
fn policies_that_do_not_adapt_tell_of_no_timeout() {
    for name in ["immediate", "delayed", "quickack", "ari", "tack"] {
        let mut script = script(&policy(name), Habit::Reads);
        script.writes(20, FULL, 10, Flags::ACK);
        assert_eq!(script.atos.0, [], "{name}");
    }
}

/// RFC 5681 §4.2: out of order, a gap that is filled, and in practice the end of the stream. Linux
/// lets a FIN wait for its application, and holds duplicates beyond the third together; its own
/// tests show both.
#[test]
fn what_tells_of_loss_is_acknowledged_at_once() {
    for ack in every_policy() {
        let mut script = script(&ack, Habit::Reads);
        let linux = ack.mechanism().name == "linux";
        script.writes(40, FULL, 1, Flags::ACK);
        script.until(script.start + Span::from_millis(900));
        let before = script.acks.len();
        let above = if linux { 3 } else { 20 };
        for number in 1..=above {
            script.send(
                1_000_000 + u64::from(number) * 100,
                (40 + number) * FULL,
                FULL,
                Flags::ACK,
            );
        }
        assert_eq!(script.acks.len() - before, above as usize, "{}", ack.mechanism().name);
        script.send(1_010_000, 40 * FULL, FULL, Flags::ACK);
        let end = (41 + above) * FULL;
        let filled = script.acks.last().expect("acknowledged");
        assert_eq!(*filled, (script.sent.last().expect("sent").0, end), "{}", ack.mechanism().name);
        if !linux {
            script.send(1_020_000, end, 0, Flags::FIN);
            let (at, _) = *script.acks.last().expect("acknowledged");
            assert_eq!(at, script.sent.last().expect("sent").0, "{}", ack.mechanism().name);
        }
    }
}

/// The published algorithm is the exception: after a silence its timeout is whatever Eq. 1 makes
/// of it, here 0.9 * 200 ms + 0.1 * 9 s and more.
#[test]
fn the_published_adaptive_timeout_exceeds_what_the_rfc_allows() {
    let ack = policy("adaptive").with("mode", word("paper"));
    let mut script = script(&ack, Habit::Leaves);
    script.send(9_000_000, 0, FULL, Flags::ACK);
    let (came, _) = script.sent[0];
    script.until(came + Span::from_secs(2));
    let waited = script.acks[0].0.saturating_since(came);
    assert!(waited > Span::from_millis(500), "{waited}");
    assert!(waited < Span::from_millis(1_200), "{waited}");
}

#[test]
fn the_history_component_fills_most_sent_and_verdict() {
    let sized = |verdict| {
        policy("ari")
            .with("most_sent", KnobValue::Bytes(Bytes(50_000)))
            .with("verdict", word(verdict))
    };
    // 50 segments times two at once and 50 pairs; bulk gets 16 and 92 pairs.
    assert_eq!(acks_for(&sized("short"), 200, 1_000), 100 + 50);
    assert_eq!(acks_for(&sized("bulk"), 200, 1_000), 16 + 92);
}

/// Stall of a round of write-write-read, in milliseconds, over fifty rounds.
fn stall(ack: &Ack) -> f64 {
    let mut script = Script::new(ack, Habit::Answers(200), Span::from_millis(1), Stamps::Absent);
    script.write_write_read(50);
    let waits = script.waits();
    waits.iter().sum::<f64>() / 50.0
}

/// Each round needs 0 ms of waiting; what a policy adds is the sender's stall.
#[test]
fn write_write_read_under_each_policy() {
    let stalls: Vec<(&str, f64)> =
        every_policy().map(|ack| (ack.mechanism().name, stall(&ack))).collect();
    let of = |name: &str| stalls.iter().find(|stall| stall.0 == name).expect("run").1;
    assert_eq!(of("immediate"), 0.0);
    assert_eq!(of("delayed"), 200.0);
    assert!((39.0..=44.0).contains(&of("linux")), "{stalls:?}");
    // The first two and four segments, that is one and two rounds, at once.
    assert!((190.0..200.0).contains(&of("quickack")) && of("ari") < 200.0, "{stalls:?}");
    assert!(of("adaptive-static") < 1.0, "{stalls:?}");
    // At least ten times less than a stock kernel.
    assert!(of("adaptive") < of("linux") / 10.0, "{stalls:?}");
    assert!(of("tack") < of("linux"), "{stalls:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// RFC 5681 §4.2: no acknowledgment waits longer than half a second, whatever comes when.
    #[test]
    fn nothing_waits_longer_than_half_a_second(
        gaps in proptest::collection::vec((0u64..600_000, 1u32..=FULL, any::<bool>()), 1..60),
        ack in prop::sample::select(every_policy().collect::<Vec<_>>()),
        reads in any::<bool>(),
        wide in any::<bool>(),
    ) {
        let mut ack = ack;
        if ack.mechanism().name == "adaptive" && wide {
            ack = ack.with("ato_max", KnobValue::Span(Span::from_millis(500)));
        }
        let habit = if reads { Habit::Reads } else { Habit::Leaves };
        let mut script = script(&ack, habit);
        let (mut at_us, mut offset) = (5_000, 0);
        for (gap_us, payload, push) in gaps {
            at_us += gap_us;
            let flags = if push { Flags::PSH } else { Flags::ACK };
            script.send(at_us, offset, payload, flags);
            offset += payload;
        }
        for wait in script.waits() {
            prop_assert!(wait <= 500.0, "{} ms", wait);
        }
    }
}
