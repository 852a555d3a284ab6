use super::super::{LossResponse, testing::*};
use super::*;
use ackord_units::Span;

fn cubic() -> Cubic {
    established(Cubic::new(CubicConfig::default()))
}

#[test]
fn the_cube_root_is_right_over_the_whole_range() {
    for x in [1e-6, 0.5, 1.0, 27.0, 1000.0, 1e9, 2e15] {
        let root = cube_root(x);
        assert!((root * root * root / x - 1.0).abs() < 1e-14, "{x}: {root}");
    }
    assert_eq!(cube_root(0.0), 0.0);
}

/// RFC 9438 Eq. 1 and 2: W_max is reached K = cbrt(W_max (1 - beta) / C) seconds after the
/// reduction, along the cubic.
#[test]
fn the_window_follows_the_cubic_through_the_old_maximum_and_beyond() {
    let mut cubic = cubic();
    // 100 segments in flight at the loss, far above Reno-friendly growth with 100 ms.
    for _ in 0..90 {
        cubic.on_ack(Time::ZERO, &ack_of(1000));
    }
    assert_eq!(cubic.cwnd(), Bytes(100_000));
    cubic.on_congestion(Time::ZERO, loss(100_000, LossResponse::FastRecovery));
    assert_eq!(cubic.cwnd(), Bytes(70_000));
    let k = (100.0f64 * 0.3 / 0.4).cbrt();
    let rtt = Some(Span::from_millis(400));
    for acks in 1..=2_000 {
        let now = Time::ZERO + Span::from_millis(4 * acks);
        // A hundred segments a round trip, long enough for Reno to stay behind.
        cubic.on_ack(now, &AckSample { rtt, srtt: rtt, ..ack_of(1000) });
        if acks % 125 == 0 {
            // The epoch began with the first acknowledgment, four milliseconds in.
            let t = now.as_secs_f64() - 0.004;
            let expected = 100.0 + 0.4 * (t - k) * (t - k) * (t - k);
            let cwnd = cubic.cwnd().get() as f64 / 1000.0;
            assert!((cwnd - expected).abs() < 2.0, "at {t} s {cwnd}, not {expected}");
        }
    }
}

/// RFC 9438 §4.9.2: after a reduction that proved wrong the window goes on as if there had been
/// none.
#[test]
fn an_undone_reduction_leaves_no_trace_in_the_growth_that_follows() {
    let mut undisturbed = cubic();
    undisturbed.on_congestion(Time::ZERO, loss(10_000, LossResponse::FastRecovery));
    let mut disturbed = undisturbed.clone();
    let at = |acks: u64| Time::ZERO + Span::from_millis(10 * acks);
    for acks in 1..400 {
        undisturbed.on_ack(at(acks), &ack_of(1000));
        if acks == 200 {
            let (cwnd, ssthresh) = (disturbed.cwnd(), disturbed.ssthresh());
            disturbed.on_congestion(at(acks), loss(cwnd.get(), LossResponse::FastRecovery));
            assert!(disturbed.cwnd() < cwnd);
            disturbed.on_congestion(at(acks), CongestionEvent::Undone { cwnd, ssthresh });
        }
        disturbed.on_ack(at(acks), &ack_of(1000));
        assert_eq!(disturbed.cwnd(), undisturbed.cwnd());
    }
}

/// §4.8: after a timeout the curve starts at its plateau (K = 0), where slow start ended; what
/// the window was before has no part in it. Undone (§4.9.1), it has again.
#[test]
fn after_a_timeout_the_curve_starts_where_slow_start_ended() {
    let mut cubic = cubic();
    for _ in 0..90 {
        cubic.on_ack(Time::ZERO, &ack_of(1000));
    }
    let before = (cubic.cwnd(), cubic.ssthresh());
    cubic.on_congestion(Time::ZERO, timeout(100_000, TimeoutOrder::First));
    assert_eq!((cubic.cwnd(), cubic.ssthresh()), (Bytes(1000), Bytes(70_000)));
    let mut undone = cubic.clone();
    undone
        .on_congestion(Time::ZERO, CongestionEvent::Undone { cwnd: before.0, ssthresh: before.1 });
    assert_eq!(undone.w_max, None, "there was no loss before");
    let rtt = Some(Span::from_millis(400));
    let at = |acks: u64| Time::ZERO + Span::from_millis(4 * acks);
    for acks in 1..=1_500 {
        cubic.on_ack(at(acks), &AckSample { rtt, srtt: rtt, ..ack_of(1000) });
    }
    let epoch = cubic.epoch.expect("congestion avoidance");
    assert_eq!((epoch.k, epoch.origin), (0.0, 70.0));
    // Eq. 1 with K = 0: 70 + 0.4 t^3, far below the concave way back to a hundred.
    let t = (at(1_500) - epoch.started_at).as_secs_f64();
    let cwnd = cubic.cwnd().get() as f64 / 1000.0;
    let curve = 70.0 + 0.4 * t * t * t;
    assert!((cwnd - curve.max(epoch.w_est)).abs() < 12.0, "{cwnd}, not {curve}");
}

/// §4.3: alpha becomes one at the window of before the reduction, also where fast convergence
/// takes the plateau for lower.
#[test]
fn reno_friendly_growth_quickens_at_the_window_of_before_the_reduction() {
    let mut cubic = cubic();
    cubic.on_congestion(Time::ZERO, loss(10_000, LossResponse::FastRecovery));
    cubic.on_congestion(Time::ZERO, loss(7_000, LossResponse::FastRecovery));
    assert!((cubic.w_max.expect("set") - 7.0 * 0.85).abs() < 1e-9);
    cubic.on_ack(Time::ZERO, &ack_of(1000));
    assert_eq!(cubic.epoch.expect("begun").cwnd_prior, 7.0);
}

#[test]
fn a_falling_window_gives_way_under_fast_convergence() {
    let mut cubic = cubic();
    cubic.on_congestion(Time::ZERO, loss(10_000, LossResponse::FastRecovery));
    cubic.on_congestion(Time::ZERO, loss(7_000, LossResponse::FastRecovery));
    assert!((cubic.w_max.expect("set") - 7.0 * 0.85).abs() < 1e-9);
}
