//! The sender of `profile = "linux"` against what a stock kernel in simulated time did with the same
//! acknowledgments, on a path of 40 ms.
//!
//! `scripts/linux-sender.py` plays the same scripts to the kernel.

use crate::kit::kernel::{agree_to_a_tick, answer, count, times};
use crate::kit::stack::Sender;
use ackord_tcp::registry;
use serde_json::Value;

/// The profile, with segments of 1000 bytes and a peer without timestamps.
fn linux(written: u32) -> Sender {
    let profile = registry::profile("linux").expect("listed");
    let settings = profile.settings.iter().map(|setting| (setting.key, setting.value));
    let mut settings: Vec<_> = settings.filter(|(key, _)| *key != "timestamps").collect();
    // The script sets SO_SNDBUF, which then stays as it is.
    settings.extend([("nagle", "off"), ("send_buffer_tuning", "off")]);
    Sender::of(&settings, written)
}

/// What the kernel did.
fn kernel(name: &str) -> Value {
    answer("sender", name)
}

/// What we sent since then, and when, as the kernel.
fn agree(ours: &[(u64, u32)], since: u64, name: &str, kernel: &Value) {
    let ours: Vec<_> = ours.iter().map(|(at, number)| ((at - since) as f64, *number)).collect();
    agree_to_a_tick(&ours, &times(kernel), name);
}

#[test]
fn a_lost_tail_is_probed_and_then_left_to_the_timer() {
    let mut sender = linux(10);
    sender.sent();
    sender.until(80);
    for next in 1..=7 {
        sender.ack(next, &[]);
    }
    agree(&sender.until(580), 80, "lost_tail", &kernel("lost_tail"));
}

/// The probe timer would be 2 * 40 + 200 ms, but never later than the retransmission timer.
#[test]
fn a_lone_segment_is_sent_again_after_its_round_trip_and_200_ms() {
    let mut sender = linux(1);
    assert_eq!(sender.sent(), vec![0]);
    agree(&sender.until(700), 40, "lone_segment", &kernel("lone_segment"));
}

#[test]
fn fewer_than_three_segments_above_a_hole_wait_for_a_quarter_of_the_round_trip() {
    for sacked in [1, 2] {
        let mut sender = linux(10);
        sender.sent();
        sender.until(80);
        assert!(sender.ack(0, &[(1, 1 + sacked)]).is_empty());
        let name = format!("hole_{sacked}");
        agree(&sender.until(180)[..1], 80, &name, &kernel(&name));
    }
    let mut sender = linux(10);
    sender.sent();
    sender.until(80);
    assert_eq!(sender.ack(0, &[(1, 4)]), vec![0]);
    assert_eq!(times(&kernel("hole_3")), [(0.0, 0)]);
}

/// Forty segments delivered, a pause, a hundred more: what leaves at once.
#[test]
fn the_window_decays_while_nothing_is_sent() {
    for pause in [100, 300, 500, 1_500] {
        let kernel = count(&kernel(&format!("pause_{pause}_ms"))) as usize;
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
    for used in [4, 5, 6, 8] {
        let kernel = count(&kernel(&format!("used_{used}"))) as usize;
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
    let kernel = kernel("late");
    agree(&sender.until(940), 40, "late", &kernel["first"]);
    assert_eq!(kernel["answer"], Value::from(sender.ack(1, &[])));
    // Undone: eleven are out, and cwnd is ten again and one more for this acknowledgment.
    assert_eq!(kernel["rest"], Value::from(sender.ack(2, &[])));
    assert_eq!(sender.cwnd_segments(), f64::from(count(&kernel["cwnd"])));
}

/// Forty delivered, then few a round trip for thirty round trips: a kernel lowers its window in idle
/// times only, as every acknowledgment that may let it grow counts as use.
#[test]
fn a_window_used_in_part_stays() {
    for each in [4, 20] {
        let kernel = kernel(&format!("trickle_{each}"));
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
        let windows = kernel.as_array().expect("one for each round trip");
        assert!(windows.iter().all(|cwnd| count(cwnd) == 50), "{kernel}");
        assert_eq!(sender.cwnd_segments(), 50.0, "{each} a round trip");
    }
}
