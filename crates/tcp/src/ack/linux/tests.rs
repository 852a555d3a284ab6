//! The kernel's rules, one by one, with the numbers of a stock kernel.

use super::super::ReceiveWindow;
use super::super::testing::{Bench, Fit, at_ms};
use super::*;
use crate::ts_clock::{TimestampEcho, TsClock};
use ackord_units::Seq;

const KNOBS: LinuxAckConfig = LinuxAckConfig {
    tick: Span::from_millis(4),
    quick_ack_limit: 16,
    pingpong_threshold: 1,
    sack_compression_delay: Span::from_millis(1),
    sack_compression_share: Ratio::ZERO,
    sack_compression_limit: 44,
    so_rcvbuf: SoRcvbuf::Unset,
};

fn bench() -> Bench<LinuxAck> {
    let mut policy = LinuxAck::new(KNOBS);
    policy.on_open(at_ms(0), &Opening { sack: true });
    Bench::new(policy)
}

/// A small segment that ends a write.
fn small() -> Fit {
    Fit { payload: 100, push: true, ..Fit::in_order(0) }
}

/// A bench whose budget is spent by 16 small writes, 10 ms apart, the last at 150 ms.
fn spent() -> Bench<LinuxAck> {
    let mut bench = bench();
    (0..16).for_each(|number| bench.take(at_ms(number * 10), small()));
    assert_eq!(bench.acks.len(), 16);
    bench
}

/// A bench whose window has grown as far as it can with a prompt reader, and whose budget is spent:
/// 25 full segments, the last at 24 ms.
fn grown(knobs: LinuxAckConfig) -> Bench<LinuxAck> {
    let mut policy = LinuxAck::new(knobs);
    policy.on_open(at_ms(0), &Opening { sack: true });
    let mut bench = Bench::new(policy);
    (0..25).for_each(|millis| bench.arrive(at_ms(millis)));
    assert_eq!(bench.acks.len(), 25);
    bench
}

#[test]
fn sixteen_at_once_and_then_every_second() {
    let mut bench = bench();
    // Too small for the window to grow.
    let fit = Fit { payload: 100, ..Fit::in_order(0) };
    (0..116).for_each(|millis| bench.take(at_ms(millis), fit));
    assert_eq!(bench.acks[..17], (0..16).chain([17]).map(at_ms).collect::<Vec<_>>());
    assert_eq!(bench.acks.len(), 16 + 50);
}

/// SO_RCVBUF of 4 MiB: the window begins at that and grows by two segments with each to 5,242,880
/// bytes, as a kernel's does (docs/linux-outage.md): 362 acknowledgments at once, what is left of sixteen, and
/// then every second.
#[test]
fn a_buffer_set_by_hand_grows_for_hundreds_of_segments() {
    let mut policy = LinuxAck::new(LinuxAckConfig { so_rcvbuf: SoRcvbuf::Set, ..KNOBS });
    policy.on_open(at_ms(0), &Opening { sack: true });
    let mut bench = Bench::new(policy);
    let mss = Bytes(1448);
    let free = Bytes(4 << 20) - mss;
    let window = ReceiveWindow { offered: free, free, unread: mss };
    let fit = Fit { payload: mss.get(), window, ..Fit::in_order(0) };
    (0..600).for_each(|millis| bench.take(at_ms(millis), fit));
    assert_eq!(bench.acks[..362], (0..362).map(at_ms).collect::<Vec<_>>());
    // The budget of sixteen lasts until the window stands still.
    assert!((362 + 111..=378 + 119).contains(&bench.acks.len()), "{}", bench.acks.len());
}

/// From 65 segments to what a buffer of 131072 bytes holds, less the segment not yet read: 17000
/// bytes in nine steps of two segments.
#[test]
fn the_budget_is_kept_while_the_window_grows() {
    let mut bench = grown(KNOBS);
    (25..65).for_each(|millis| bench.arrive(at_ms(millis)));
    assert_eq!(bench.acks.len(), 9 + 16 + 20);
}

/// Once a window's worth has come, the buffer is tuned to what was read of it, and the window grows
/// again.
#[test]
fn a_prompt_reader_of_much_makes_the_window_grow_again() {
    let mut bench = grown(KNOBS);
    (25..200).for_each(|millis| bench.arrive(at_ms(millis)));
    let later = bench.acks.iter().filter(|at| **at >= at_ms(100)).count();
    assert_eq!(later, 100);
}

#[test]
fn a_small_window_makes_a_small_budget_but_not_none() {
    for (window, budget) in [(10_000, 5), (3_000, 1), (1_900, 2)] {
        let mut bench = bench();
        let window = ReceiveWindow {
            offered: Bytes(window),
            free: Bytes(window - 1_000),
            unread: Bytes(1_000),
        };
        (0..50).for_each(|millis| bench.take(at_ms(millis), Fit { window, ..Fit::in_order(0) }));
        assert_eq!(bench.acks.len(), budget + (50 - budget) / 2, "{window:?}");
    }
}

/// Forty milliseconds, and what is left of the tick besides: 42.7 ms in the median on a kernel.
#[test]
fn a_lone_unread_segment_waits_forty_milliseconds_and_up_to_a_tick_more() {
    for offset in 0..4 {
        let mut bench = spent();
        let sent = at_ms(170 + offset);
        bench.take(sent, small());
        bench.timer(at_ms(1_000));
        let waited = bench.acks[16].saturating_since(sent);
        let bounds = Span::from_millis(40)..=Span::from_millis(44);
        assert!(bounds.contains(&waited), "{waited}");
    }
}

#[test]
fn reading_all_of_a_write_that_has_ended_acknowledges_it() {
    let mut bench = spent();
    bench.take(at_ms(170), small());
    bench.read(at_ms(170));
    assert_eq!(bench.acks[16..], [at_ms(170)]);
}

#[test]
fn reading_a_lone_full_segment_does_not_unless_it_ends_a_write() {
    for (push, acks) in [(false, 0), (true, 1)] {
        let mut bench = grown(KNOBS);
        bench.take(at_ms(30), Fit { push, ..Fit::in_order(0) });
        bench.read(at_ms(30));
        assert_eq!(bench.acks.len() - 25, acks, "{push:?}");
    }
}

#[test]
fn a_prompt_answer_ends_the_budget_and_a_missed_one_brings_it_back() {
    let mut bench = bench();
    bench.take(at_ms(0), small());
    assert_eq!(bench.acks.len(), 1);
    bench.send_data(at_ms(1));
    // Ping-pong: the next lone write waits for the answer, which does not come.
    bench.take(at_ms(30), small());
    bench.read(at_ms(30));
    bench.timer(at_ms(200));
    assert_eq!(bench.acks[1..], [at_ms(72)]);
    // It is over: what is left of the budget is spent again.
    bench.take(at_ms(210), small());
    assert_eq!(bench.acks[2..], [at_ms(210)]);
}

#[test]
fn waits_in_vain_double_the_timeout_up_to_the_round_trip_time() {
    let waits = |rtt, every: u64| {
        let mut bench = spent();
        let mut waits = Vec::new();
        for round in 0..4 {
            // Within the retransmission timeout, for a longer pause brings a new budget.
            let sent = at_ms(160 + round * every);
            bench.take(sent, Fit { rtt: Span::from_millis(rtt), ..small() });
            bench.timer(sent + Span::from_millis(every - 10));
            waits.push(bench.acks.last().expect("within the time").saturating_since(sent));
        }
        waits.into_iter().map(Span::as_millis).collect::<Vec<_>>()
    };
    // With 10 ms the ceiling is 40 ms; with 500 ms it is TCP_DELACK_MAX less a tick.
    let near = waits(10, 100);
    assert!(near.iter().all(|wait| (40..=44).contains(wait)), "{near:?}");
    let far = waits(500, 280);
    assert!((40..=44).contains(&far[0]) && (80..=84).contains(&far[1]), "{far:?}");
    assert!((160..=164).contains(&far[2]) && (196..=200).contains(&far[3]), "{far:?}");
}

#[test]
fn a_pause_longer_than_the_retransmission_timeout_brings_a_new_budget() {
    let mut bench = spent();
    (0..20).for_each(|number| bench.take(at_ms(5_000 + number * 10), small()));
    let prompt = (0..16).map(|number| at_ms(5_000 + number * 10)).collect::<Vec<_>>();
    assert_eq!(bench.acks[16..32], prompt);
}

#[test]
fn what_was_received_before_brings_a_new_budget_at_once() {
    let mut bench = spent();
    bench.take(at_ms(160), Fit { order: Order::Duplicate, payload: 0, ..Fit::in_order(0) });
    (0..10).for_each(|number| bench.take(at_ms(170 + number), small()));
    assert_eq!(bench.acks.len(), 16 + 1 + 10);
}

#[test]
fn a_window_that_cannot_move_waits_for_the_reader() {
    let mut bench = grown(KNOBS);
    for number in 1..=4 {
        let unread = Bytes(number * 1_000);
        let window = ReceiveWindow { unread, ..Fit::in_order(0).window };
        bench.take(at_ms(30 + number), Fit { window, ..Fit::in_order(0) });
    }
    assert_eq!(bench.acks.len(), 25);
    bench.read(at_ms(35));
    assert_eq!(bench.acks[25..], [at_ms(35)]);
}

/// Ten out of order, a tenth of a millisecond apart, after twenty small ones that spend the budget.
fn acks_of_ten_out_of_order(echo: Option<TimestampEcho>) -> Vec<Time> {
    let share = Ratio::new(0.05).expect("a share");
    let mut policy = LinuxAck::new(LinuxAckConfig { sack_compression_share: share, ..KNOBS });
    policy.on_open(at_ms(0), &Opening { sack: true });
    let mut bench = Bench::new(policy);
    let fit = Fit { payload: 100, echo, ..Fit::in_order(0) };
    (0..20).for_each(|number| bench.take(at_ms(40 + number), fit));
    bench.acks.clear();
    let above = Fit { order: Order::OutOfOrder, ..fit };
    (0..10).for_each(|tenths| bench.take(later(tenths), above));
    bench.timer(at_ms(90));
    bench.acks
}

fn later(tenths: u64) -> Time {
    at_ms(70) + Span::from_micros(100 * tenths)
}

#[test]
fn three_duplicates_leave_at_once_and_the_rest_are_held_together() {
    // The clock says 1 at the start, and the first segment comes 40 ms later.
    let echo = TimestampEcho { value: 1, clock: TsClock::new(Span::from_millis(1), Seq(0)) };
    let held = acks_of_ten_out_of_order(Some(echo));
    assert_eq!(held, [later(0), later(1), later(2), later(3) + Span::from_millis(1)]);
}

#[test]
fn without_a_round_trip_of_its_own_the_receiver_holds_none() {
    assert_eq!(acks_of_ten_out_of_order(None), (0..10).map(later).collect::<Vec<_>>());
}
