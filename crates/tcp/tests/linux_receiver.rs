//! The `linux` acknowledgment policy against what a stock kernel did with the same segments.
//!
//! `scripts/linux-receiver.py` plays the same scripts to the kernel of the machine; the numbers
//! here are of Linux 6.18 with HZ=250 on a quiet machine. Where it waited, the tick that the
//! policy's clock happens to be in moves a wait by up to 4 ms, either way.

use crate::kit::script::{Habit, Script, Stamps};
use ackord_tcp::registry;
use ackord_units::{Choice, Span};
use ackord_wire::Flags;

const PSH: Flags = Flags::PSH;
const NONE: Flags = Flags::ACK;
const MS: fn(u64) -> Span = Span::from_millis;

fn linux() -> Choice {
    Choice::of(registry::find(registry::ACK, "linux").expect("registered"))
}

fn on_kernel(habit: Habit, rtt: Span) -> Script {
    Script::new(&linux(), habit, rtt, Stamps::Absent)
}

/// Ours beside the kernel's, to the tick; what it sent at once we send at once.
fn agree(ours: &[f64], kernel: &[f64]) {
    assert_eq!(ours.len(), kernel.len());
    for (number, (ours_ms, kernel_ms)) in ours.iter().zip(kernel).enumerate() {
        let near =
            if *kernel_ms < 0.5 { *ours_ms == 0.0 } else { (ours_ms - kernel_ms).abs() <= 4.1 };
        assert!(near, "segment {number}: {ours_ms} ms, the kernel {kernel_ms} ms\n{ours:?}");
    }
}

/// `at_once` segments that do not wait, and then these waits.
fn then(at_once: usize, waits: &[f64]) -> Vec<f64> {
    [vec![0.0; at_once], waits.to_vec()].concat()
}

#[test]
fn lone_writes_that_nobody_reads() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(20, 100, 60, PSH);
    agree(&script.waits(), &then(16, &[42.9, 44.0, 42.9, 42.9]));
}

#[test]
fn lone_writes_that_are_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 100, 60, PSH);
    agree(&script.waits(), &then(24, &[]));
}

#[test]
fn lone_full_segments_that_are_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 1460, 60, NONE);
    agree(&script.waits(), &then(22, &[42.3, 42.4]));
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 1460, 60, PSH);
    agree(&script.waits(), &then(24, &[]));
}

#[test]
fn a_transfer_that_is_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(116, 1460, 1, NONE);
    script.waits();
    // 22 at once, pairs until a window's worth has come, and at once again. The kernel: 104.
    let acks = script.acks.len();
    assert!((58..=116).contains(&acks), "{acks}");
    assert!((103..=105).contains(&acks), "{acks}");
}

#[test]
fn a_transfer_that_nobody_reads() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(40, 1460, 1, NONE);
    let waits = script.waits();
    // The kernel: 20 at once, and the other 20 with the timer of the first, after 41 to 50 ms.
    assert_eq!(script.acks.len(), 21);
    assert_eq!(waits[..20], [0.0; 20]);
    assert!((40.0..=44.0).contains(&waits[20]), "{}", waits[20]);
}

#[test]
fn waits_in_vain_on_a_far_path() {
    let mut script = on_kernel(Habit::Leaves, MS(300));
    script.writes(16, 100, 10, PSH);
    for number in 0..4 {
        script.send(300_000 + u64::from(number) * 250_000, 1600 + number * 100, 100, PSH);
    }
    agree(&script.waits(), &then(16, &[42.8, 80.8, 162.9, 196.9]));
}

#[test]
fn gaps_of_thirty_milliseconds_on_a_far_path() {
    let mut script = on_kernel(Habit::Leaves, MS(300));
    script.writes(16, 100, 10, PSH);
    script.send(300_000, 1_600, 100, PSH);
    for number in 0..12 {
        script.send(400_000 + u64::from(number) * 30_000, 1_700 + number * 100, 100, PSH);
    }
    let kernel = [44.0, 84.0, 54.0, 24.0, 90.1, 60.1, 30.1, 0.2, 60.2, 30.2, 0.1, 64.0, 34.0];
    agree(&script.waits(), &then(16, &kernel));
}

#[test]
fn a_pause_brings_a_new_budget() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(18, 100, 60, PSH);
    for number in 0..20 {
        script.send(2_500_000 + u64::from(number) * 60_000, 1_800 + number * 100, 100, PSH);
    }
    let kernel = [then(16, &[42.9, 42.9]), then(16, &[43.9, 44.0, 43.9, 43.9])].concat();
    agree(&script.waits(), &kernel);
}

#[test]
fn write_write_read_stalls_every_round_but_the_first() {
    let mut script = on_kernel(Habit::Answers(200), MS(1));
    script.write_write_read(6);
    let kernel = [42.9, 0.1, 42.2, 0.1, 42.1, 0.1, 42.8, 0.1, 44.1, 0.1];
    agree(&script.waits(), &then(2, &kernel));
}

#[test]
fn a_lone_fin_waits_for_the_application() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(2, 100, 10, PSH);
    script.send(100_000, 200, 0, Flags::FIN);
    script.sent.last_mut().expect("just sent").1 += 1;
    agree(&script.waits(), &then(2, &[44.6]));
}

#[test]
fn what_was_received_before_brings_a_new_budget() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(17, 100, 60, PSH);
    script.send(1_100_000, 0, 100, NONE);
    for number in 0..5 {
        script.send(1_160_000 + u64::from(number) * 60_000, 1_700 + number * 100, 100, PSH);
    }
    let mut waits = script.waits();
    // The duplicate itself: at once, though it was acknowledged before.
    assert_eq!(waits.remove(17), 0.0);
    assert_eq!(script.acks.len(), 23);
    agree(&waits, &[then(16, &[43.8]), then(5, &[])].concat());
}

/// Forty segments above a hole, 0.3 ms apart.
fn acks_above_a_hole(stamps: Stamps) -> usize {
    let mut script = Script::new(&linux(), Habit::Reads, MS(40), stamps);
    script.writes(20, 100, 2, NONE);
    let before = script.acks.len();
    for number in 0..40 {
        script.send(100_000 + u64::from(number) * 300, (21 + number) * 100, 100, NONE);
    }
    script.until(script.start + MS(130));
    let held = script.acks.len() - before;
    script.send(140_000, 2_000, 100, NONE);
    assert_eq!(script.acks.last().map(|(_, ack)| *ack), Some(6_100));
    held
}

/// The kernel held 40 together to 12 with timestamps, and sent all 40 without: then it has no
/// round trip of its own to take the share of.
#[test]
fn duplicate_acknowledgments_are_held_together_where_the_round_trip_is_known() {
    assert_eq!(acks_above_a_hole(Stamps::Absent), 40);
    let held = acks_above_a_hole(Stamps::Sent);
    assert!((11..=13).contains(&held), "{held}");
}

/// Bursts as of a sender in slow start. The kernel sent 217 and 252 acknowledgments for these 370
/// segments in two runs: when the buffer is tuned depends on microseconds.
#[test]
fn bursts_that_grow_keep_the_window_growing() {
    let mut script = Script::new(&linux(), Habit::Reads, MS(40), Stamps::Sent);
    let mut number = 0;
    for (burst, length) in [10, 20, 40, 60, 60, 60, 60, 60].into_iter().enumerate() {
        for place in 0..length {
            let at_us = 5_000 + burst as u64 * 40_000 + place * 500;
            script.send(at_us, number * 1448, 1448, NONE);
            number += 1;
        }
    }
    script.waits();
    let acks = script.acks.len();
    assert!((185..=370).contains(&acks), "{acks}");
    assert!((200..=270).contains(&acks), "{acks}");
}
