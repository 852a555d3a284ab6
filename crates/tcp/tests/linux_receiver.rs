//! The `linux` acknowledgment policy against what a stock kernel in simulated time did with the same
//! segments: each acknowledgment, and when.
//!
//! `scripts/linux-receiver.py` plays the same scripts to the kernel.

use crate::kit::kernel::{self, answer, times};
use crate::kit::script::{Habit, Script, Stamps};
use ackord_tcp::ack::Ack;
use ackord_units::{Choice, Span, Time};
use ackord_wire::Flags;

const PSH: Flags = Flags::PSH;
const NONE: Flags = Flags::ACK;
const MS: fn(u64) -> Span = Span::from_millis;

fn linux() -> Ack {
    Ack::named("linux").expect("listed")
}

fn on_kernel(habit: Habit, rtt: Span) -> Script {
    Script::new(&linux(), habit, rtt, Stamps::Absent)
}

/// Every acknowledgment as the kernel's, to a fraction of a tick. Of those that come 200 ms after the last
/// segment some carry answers again, which nobody acknowledged.
fn agrees(mut script: Script, name: &str) {
    script.waits();
    let ms = |at: Time| at.saturating_since(script.start).as_secs_f64() * 1e3;
    let last = ms(script.sent.last().expect("something was sent").0) + 200.0;
    let in_time = |all: Vec<(f64, u32)>| all.into_iter().filter(|(at, _)| *at < last).collect();
    let ours: Vec<_> = script.acks.iter().map(|(at, ack)| (ms(*at), *ack)).collect();
    let (ours, kernel): (Vec<_>, Vec<_>) =
        (in_time(ours), in_time(times(&answer("receiver", name))));
    kernel::agree(&ours, &kernel, name);
}

#[test]
fn lone_writes_that_nobody_reads() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(20, 100, 60, PSH);
    agrees(script, "lone_unread");
}

#[test]
fn lone_writes_that_are_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 100, 60, PSH);
    agrees(script, "lone_read");
}

#[test]
fn lone_full_segments_that_are_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 1460, 60, NONE);
    agrees(script, "lone_full_read");
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(24, 1460, 60, PSH);
    agrees(script, "lone_full_push_read");
}

/// As many acknowledgments as the kernel's, to so many in a hundred: when the buffer is tuned, and with it
/// whether a segment is acknowledged by itself, depends on microseconds.
fn as_many(mut script: Script, name: &str, within_percent: usize) {
    script.waits();
    let (ours, kernel) = (script.acks.len(), times(&answer("receiver", name)).len());
    let segments = script.sent.len();
    println!("{name}: {ours}, the kernel {kernel}");
    assert!((segments / 2..=segments).contains(&ours), "{name}: {ours}");
    assert!(
        ours.abs_diff(kernel) * 100 <= kernel * within_percent,
        "{name}: {ours}, the kernel {kernel}"
    );
}

/// 22 at once, pairs until a window's worth has come, and at once again.
#[test]
fn a_transfer_that_is_read_at_once() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(116, 1460, 1, NONE);
    as_many(script, "bulk_read", 1);
}

/// 20 at once, and the other 20 with the timer of the first.
#[test]
fn a_transfer_that_nobody_reads() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(40, 1460, 1, NONE);
    agrees(script, "bulk_unread");
}

#[test]
fn waits_in_vain_on_a_far_path() {
    let mut script = on_kernel(Habit::Leaves, MS(300));
    script.writes(16, 100, 10, PSH);
    for number in 0..4 {
        script.send(300_000 + u64::from(number) * 250_000, 1600 + number * 100, 100, PSH);
    }
    agrees(script, "far_waits");
}

#[test]
fn gaps_of_thirty_milliseconds_on_a_far_path() {
    let mut script = on_kernel(Habit::Leaves, MS(300));
    script.writes(16, 100, 10, PSH);
    script.send(300_000, 1_600, 100, PSH);
    for number in 0..12 {
        script.send(400_000 + u64::from(number) * 30_000, 1_700 + number * 100, 100, PSH);
    }
    agrees(script, "far_gaps");
}

#[test]
fn a_pause_brings_a_new_budget() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(18, 100, 60, PSH);
    for number in 0..20 {
        script.send(2_500_000 + u64::from(number) * 60_000, 1_800 + number * 100, 100, PSH);
    }
    agrees(script, "pause");
}

#[test]
fn write_write_read_stalls_every_round_but_the_first() {
    let mut script = on_kernel(Habit::Answers(200), MS(1));
    script.write_write_read(6);
    agrees(script, "answers");
}

#[test]
fn a_lone_fin_waits_for_the_application() {
    let mut script = on_kernel(Habit::Reads, MS(1));
    script.writes(2, 100, 10, PSH);
    script.send(100_000, 200, 0, Flags::FIN);
    script.sent.last_mut().expect("just sent").1 += 1;
    agrees(script, "fin");
}

/// The duplicate itself: at once, though it was acknowledged before.
#[test]
fn what_was_received_before_brings_a_new_budget() {
    let mut script = on_kernel(Habit::Leaves, MS(1));
    script.writes(17, 100, 60, PSH);
    script.send(1_100_000, 0, 100, NONE);
    for number in 0..5 {
        script.send(1_160_000 + u64::from(number) * 60_000, 1_700 + number * 100, 100, PSH);
    }
    agrees(script, "duplicate");
}

/// Forty segments above a hole, 0.3 ms apart.
fn above_a_hole(stamps: Stamps) -> Script {
    let mut script = Script::new(&linux(), Habit::Reads, MS(40), stamps);
    script.writes(20, 100, 2, NONE);
    for number in 0..40 {
        script.send(100_000 + u64::from(number) * 300, (21 + number) * 100, 100, NONE);
    }
    script.send(140_000, 2_000, 100, NONE);
    script
}

/// Held together with timestamps, and all forty sent without: then the kernel has no round trip of its own
/// to take the share of.
#[test]
fn duplicate_acknowledgments_are_held_together_where_the_round_trip_is_known() {
    agrees(above_a_hole(Stamps::Absent), "out_of_order");
    agrees(above_a_hole(Stamps::Sent), "out_of_order_stamped");
}

/// Bursts as of a sender in slow start.
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
    as_many(script, "bulk_stamped", 5);
}
