use super::super::super::testing::*;
use super::super::CubicRules;
use super::super::GrowthBy;
use super::*;

fn control() -> LinuxCubic {
    established(LinuxCubic::new(CubicConfig {
        growth: GrowthBy::PerSegment,
        rules: CubicRules::Linux,
        ..CubicConfig::default()
    }))
}

/// A control whose cwnd is so many segments, out of slow start and with a loss behind it.
fn after_a_loss(segments: u64) -> LinuxCubic {
    let mut control = control();
    let before = Bytes(1000 * segments);
    control.window.set(before, before);
    control.on_congestion(Time::ZERO, loss(before.get(), LossResponse::FastRecovery));
    control
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn ack(bytes: u64, rtt_ms: u64) -> AckSample {
    let rtt = Some(Span::from_millis(rtt_ms));
    AckSample { rtt, srtt: rtt, ..ack_of(bytes) }
}

/// 717/1024 of 10, 13, 17 and 2 segments, in whole ones, two at least: RFC 9438 §4.6 would have
/// 9.1 of thirteen.
#[test]
fn what_a_reduction_leaves_is_whole_segments() {
    for (before, left) in [(10, 7), (13, 9), (17, 11), (2, 2)] {
        assert_eq!(after_a_loss(before).cwnd(), Bytes(1000 * left), "of {before}");
    }
}

/// The acknowledgment that ends a recovery covers a window, of which SACK had reported all but
/// one segment: it counts for that one.
#[test]
fn what_sack_had_reported_does_not_count_again() {
    let mut covers = after_a_loss(20);
    covers.on_ack(at(20), &AckSample { delivered: Bytes(1000), ..ack(20_000, 20) });
    assert_eq!((covers.counted, covers.cwnd()), (1, Bytes(14_000)));
    let mut delivers = after_a_loss(20);
    delivers.on_ack(at(20), &ack(20_000, 20));
    assert!(delivers.cwnd() > Bytes(14_000), "twenty count for a segment and more");
}

/// Ten segments a round trip of 20 ms: Reno's window is one ahead after 19 segments, in the second
/// round. The pace is that of the first acknowledgment until it has held for 32 ms.
#[test]
fn the_pace_is_looked_up_once_in_32_ms_while_cwnd_stands_still() {
    let mut control = after_a_loss(15);
    // On its plateau, so that nothing but Reno's window is ahead.
    control.w_max = 10;
    assert_eq!(control.cwnd(), Bytes(10_000));
    let mut grew_at = None;
    for number in 0..60 {
        let now = at(100 + 2 * number);
        control.on_ack(now, &ack(1000, 20));
        if control.cwnd() > Bytes(10_000) {
            grew_at = Some(number);
            break;
        }
    }
    // Not with the twentieth acknowledgment, 38 ms in, but when the pace is looked up for the
    // third time, 64 ms in.
    assert_eq!(grew_at, Some(32));
}

/// tcp_init_cwnd_reduction: a reduction begins the count anew.
#[test]
fn a_reduction_forgets_what_was_counted() {
    let mut control = after_a_loss(20);
    for number in 0..9 {
        control.on_ack(at(20 + number), &ack(1000, 20));
    }
    assert_eq!(control.counted, 9);
    control.on_congestion(at(40), loss(14_000, LossResponse::FastRecovery));
    assert_eq!(control.counted, 0);
}

/// The curve of RFC 9438 Eq. 1 in whole segments: a hundred segments are reached again after
/// K = cbrt(100 * 0.3 / 0.4) = 4.2 s, and not before they may be.
#[test]
fn large_windows_follow_the_curve() {
    let mut control = after_a_loss(100);
    assert_eq!(control.cwnd(), Bytes(70_000));
    let k = (100.0f64 * 0.3 / 0.4).cbrt();
    for acks in 1..=1_500u64 {
        let now = at(4 * acks);
        control.on_ack(now, &ack(1000, 400));
        // One least round trip ahead (§4.2), from the first acknowledgment on.
        let t = (4 * acks) as f64 / 1e3 - 0.004 + 0.4;
        let curve = 100.0 + 0.4 * (t - k).powi(3);
        let cwnd = control.cwnd().get() as f64 / 1000.0;
        if acks % 125 == 0 {
            assert!(cwnd <= curve + 1.5 && cwnd >= curve - 6.0, "at {t} s {cwnd}: {curve}");
        }
    }
}
