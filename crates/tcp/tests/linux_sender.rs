//! The sender of `profile = "linux"` against what a stock kernel did with the same
//! acknowledgments.
//!
//! `scripts/linux-sender.py` plays the same scripts to the kernel of the machine; the numbers here
//! are of Linux 6.18 with HZ=250 on a quiet machine, on a path of 40 ms.

use crate::kit::stack::Sender;
use ackord_tcp::registry;

/// The profile, with segments of 1000 octets and a peer without timestamps.
fn linux(written: u32) -> Sender {
    let profile = registry::profile("linux").expect("listed");
    let settings = profile.settings.iter().map(|setting| (setting.key, setting.value));
    let mut settings: Vec<_> = settings.filter(|(key, _)| *key != "timestamps").collect();
    // The script sets SO_SNDBUF, which then stays as it is.
    settings.extend([("nagle", "off"), ("send_buffer_tuning", "off")]);
    Sender::of(&settings, written)
}

/// Both sides' timers count ticks of 4 ms, each in a phase of its own, and eight of them together from
/// 63 ticks on; the script takes a few milliseconds itself.
fn agree(ours: &[(u64, u32)], since: u64, kernel: &[(u64, u32)]) {
    let ours: Vec<_> = ours.iter().map(|(at, number)| (at - since, *number)).collect();
    assert_eq!(ours.len(), kernel.len(), "{ours:?}, the kernel {kernel:?}");
    let (mut ours_before, mut kernel_before) = (0, 0);
    for (ours, kernel) in ours.iter().zip(kernel) {
        assert_eq!(ours.1, kernel.1);
        let (span, of_kernel) = (ours.0 - ours_before, kernel.0 - kernel_before);
        let slot = if of_kernel < 63 * 4 { 4 } else { 32 };
        let near = (span - slot..=span + slot + 4).contains(&of_kernel);
        assert!(near, "{span} ms, the kernel {of_kernel} ms: {ours:?}, {kernel:?}");
        (ours_before, kernel_before) = (ours.0, kernel.0);
    }
}

#[test]
fn a_lost_tail_is_probed_and_then_left_to_the_timer() {
    let mut sender = linux(10);
    sender.sent();
    sender.until(80);
    for next in 1..=7 {
        sender.ack(next, &[]);
    }
    agree(&sender.until(580), 80, &[(96, 9), (348, 7)]);
}

/// The probe timer would be 2 * 40 + 200 ms, but never later than the retransmission timer.
#[test]
fn a_lone_segment_is_sent_again_after_its_round_trip_and_200_ms() {
    let mut sender = linux(1);
    assert_eq!(sender.sent(), vec![0]);
    agree(&sender.until(700), 40, &[(245, 0), (493, 0)]);
}

#[test]
fn fewer_than_three_segments_above_a_hole_wait_for_a_quarter_of_the_round_trip() {
    for (sacked, kernel) in [(1, 20), (2, 17)] {
        let mut sender = linux(10);
        sender.sent();
        sender.until(80);
        assert!(sender.ack(0, &[(1, 1 + sacked)]).is_empty());
        agree(&sender.until(180)[..1], 80, &[(kernel, 0)]);
    }
    let mut sender = linux(10);
    sender.sent();
    sender.until(80);
    assert_eq!(sender.ack(0, &[(1, 4)]), vec![0]);
}

/// Forty segments delivered, a pause, a hundred more: what leaves at once.
#[test]
fn the_window_decays_while_nothing_is_sent() {
    for (pause, kernel) in [(100, 50), (300, 25), (500, 12), (1_500, 10)] {
        let mut sender = linux(40);
        let mut out = sender.sent();
        let mut next = 0;
        while next < 40 {
            let now = sender.millis();
            sender.until(now + 40);
            for _ in std::mem::take(&mut out) {
                next += 1;
                out.extend(sender.ack(next, &[]));
            }
        }
        let now = sender.millis();
        sender.until(now + pause);
        sender.write(100);
        assert_eq!(sender.sent().len(), kernel, "after {pause} ms");
    }
}

/// So many of ten are used, then a hundred wait: what leaves at once.
#[test]
fn a_window_used_by_more_than_half_grows_in_slow_start() {
    for (used, kernel) in [(4, 10), (5, 10), (6, 12), (8, 16)] {
        let mut sender = linux(used);
        sender.sent();
        sender.until(80);
        for next in 1..=used {
            sender.ack(next, &[]);
        }
        sender.until(90);
        sender.write(100);
        assert_eq!(sender.sent().len(), kernel, "{used} of ten used");
    }
}

#[test]
fn a_pause_of_the_path_is_probed_timed_out_and_undone() {
    let mut sender = linux(200);
    sender.sent();
    agree(&sender.until(940), 40, &[(87, 10), (335, 0), (843, 0)]);
    assert_eq!(sender.ack(1, &[]), vec![11, 12]);
    // Undone: eleven are out, and cwnd is ten again and one more for this acknowledgment.
    assert!(sender.ack(2, &[]).is_empty());
    assert_eq!(sender.cwnd_segments(), 11.0);
}

/// Forty delivered, then few a round trip for thirty round trips: a kernel lowers its window in idle
/// times only, as every acknowledgment that may let it grow counts as use.
#[test]
fn a_window_used_in_part_stays() {
    for (each, kernel) in [(4, 50.0), (20, 50.0)] {
        let mut sender = linux(40);
        let mut out = sender.sent().len() as u32;
        let mut next = 0;
        for round in 0..35 {
            if out == 0 {
                sender.write(each);
                out = sender.sent().len() as u32;
                assert_eq!(out, each, "round {round}");
            }
            let now = sender.millis();
            sender.until(now + 40);
            for _ in 0..std::mem::take(&mut out) {
                next += 1;
                out += sender.ack(next, &[]).len() as u32;
            }
        }
        assert_eq!(sender.cwnd_segments(), kernel, "{each} a round trip");
    }
}
