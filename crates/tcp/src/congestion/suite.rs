//! What holds for every congestion control, whatever the order of events.

use super::*;
use ackord_units::Choice;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Ack { segments: u64, rtt_ms: u64, limited: bool },
    Loss { flight: u64, slow_start: bool },
    Mark { flight: u64 },
    Timeout { flight: u64, repeated: bool },
    Recovered { bound: Option<u64> },
    Undone,
    Sample { segments: u64, rtt_ms: u64, mbits: u64, lost: u64, app_limited: bool, phase: u8 },
    SegmentLost { lost: u64 },
    Restart,
    RestartModel,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (1..4u64, 1..500u64, any::<bool>())
            .prop_map(|(segments, rtt_ms, limited)| Op::Ack { segments, rtt_ms, limited }),
        1 => (0..200u64, any::<bool>())
            .prop_map(|(flight, slow_start)| Op::Loss { flight, slow_start }),
        1 => (1..200u64).prop_map(|flight| Op::Mark { flight }),
        1 => (0..200u64, any::<bool>())
            .prop_map(|(flight, repeated)| Op::Timeout { flight, repeated }),
        1 => proptest::option::of(1..100u64).prop_map(|bound| Op::Recovered { bound }),
        1 => Just(Op::Undone),
        8 => (1..4u64, 1..500u64, 0..1_000u64, 0..30u64, any::<bool>(), 0..3u8).prop_map(
            |(segments, rtt_ms, mbits, lost, app_limited, phase)| {
                Op::Sample { segments, rtt_ms, mbits, lost, app_limited, phase }
            }
        ),
        2 => (1..60u64).prop_map(|lost| Op::SegmentLost { lost }),
        1 => Just(Op::Restart),
        1 => Just(Op::RestartModel),
    ]
}

fn sample(op: &Op, delivered: Bytes, in_flight: Bytes) -> RateSample {
    let &Op::Sample { segments, rtt_ms, mbits, lost, app_limited, phase } = op else {
        unreachable!("only asked for samples")
    };
    let newly_acked = Bytes(1000) * segments;
    let rate = Rate::from_mbits_per_sec(mbits);
    RateSample {
        delivery_rate: (mbits > 0).then_some(rate),
        delivered: rate.bytes_in(Span::from_millis(rtt_ms)),
        prior_delivered: delivered.saturating_sub(in_flight),
        total_delivered: delivered + newly_acked,
        rtt: Some(Span::from_millis(rtt_ms)),
        in_flight,
        sent_in_flight: in_flight,
        lost_since_sent: Bytes(1000) * lost,
        app_limited,
        recovery_phase: match phase {
            0 => RecoveryPhase::Open,
            1 => RecoveryPhase::FastRecovery,
            _ => RecoveryPhase::Timeout,
        },
        ..testing::sample_of(newly_acked.get())
    }
}

proptest! {
    #[test]
    fn the_window_never_falls_below_a_segment_and_never_jumps(
        ops in proptest::collection::vec(op(), 1..300),
    ) {
        for mechanism in Congestion::MECHANISMS {
            let chosen = Congestion::named(mechanism.name).expect("listed");
            let mut control = chosen.config().build();
            let smss = Bytes(1000);
            control.on_established(Time::ZERO, super::testing::sizes());
            let (mut now, mut una) = (Time::ZERO, Seq(0));
            let mut saved = (control.cwnd(), control.ssthresh());
            let (mut delivered, mut highest) = (Bytes::ZERO, control.cwnd());
            for op in &ops {
                now += Span::from_millis(10);
                let before = control.cwnd();
                if matches!(op, Op::Loss { .. } | Op::Timeout { .. }) {
                    saved = (before, control.ssthresh());
                }
                match *op {
                    Op::Ack { segments, rtt_ms, limited } => {
                        una += (segments * 1000) as u32;
                        control.on_ack(now, &AckSample {
                            acked: smss * segments,
                            delivered: smss * segments,
                            rtt: Some(Span::from_millis(rtt_ms)),
                            srtt: Some(Span::from_millis(rtt_ms)),
                            flight_size: before,
                            snd_una: una,
                            snd_nxt: una + before.get() as u32,
                            limit: if limited { SendLimit::Other } else { SendLimit::Cwnd },
                        });
                        // No acknowledgment may open the window by more than what it took out
                        // of the network and one segment more.
                        let most = before + smss * segments.max(2) + smss;
                        prop_assert!(control.cwnd() <= most, "{}: {op:?}", mechanism.name);
                    }
                    Op::Loss { flight, slow_start } => {
                        let response =
                            if slow_start { LossResponse::SlowStart } else { LossResponse::FastRecovery };
                        let flight_size = smss * flight;
                        control.on_congestion(now, CongestionEvent::Loss { flight_size, response });
                    }
                    Op::Mark { flight } => {
                        let flight_size = smss * flight;
                        control.on_congestion(now, CongestionEvent::Mark { flight_size });
                        // ssthresh, and cwnd with it, has a floor of two segments.
                        let most = before.max(smss * 2);
                        prop_assert!(control.cwnd() <= most, "{}", mechanism.name);
                    }
                    Op::Timeout { flight, repeated } => {
                        let order =
                            if repeated { TimeoutOrder::Repeated } else { TimeoutOrder::First };
                        let flight_size = smss * flight;
                        let snd_nxt = una + before.get() as u32;
                        control.on_congestion(
                            now,
                            CongestionEvent::Timeout { flight_size, order, snd_nxt },
                        );
                        prop_assert_eq!(control.cwnd(), smss, "{}", mechanism.name);
                    }
                    Op::Recovered { bound } => {
                        let cwnd_at_most = bound.map(|segments| smss * segments);
                        control.on_congestion(now, CongestionEvent::Recovered { cwnd_at_most });
                    }
                    Op::Restart => {
                        let (cwnd, ssthresh) = (before.min(smss * 10), control.ssthresh());
                        control.on_congestion(now, CongestionEvent::Restart { cwnd, ssthresh });
                        prop_assert!(control.cwnd() <= before, "{}", mechanism.name);
                    }
                    Op::Undone => {
                        let (cwnd, ssthresh) = saved;
                        let cwnd = cwnd.max(before);
                        control.on_congestion(now, CongestionEvent::Undone { cwnd, ssthresh });
                        prop_assert_eq!(control.cwnd(), cwnd, "{}", mechanism.name);
                        prop_assert_eq!(control.ssthresh(), ssthresh, "{}", mechanism.name);
                    }
                    Op::Sample { segments, .. } => {
                        let sample = sample(op, delivered, before);
                        delivered = sample.total_delivered;
                        if let Some(model) = control.path_model() {
                            model.on_rate_sample(now, &sample);
                            // The end of a recovery may give back what it took; beyond that, what
                            // was delivered, and the floor of four segments.
                            let most = highest + smss * segments + smss * 4;
                            prop_assert!(control.cwnd() <= most, "{}: {op:?}", mechanism.name);
                        }
                    }
                    Op::SegmentLost { lost } => {
                        if let Some(model) = control.path_model() {
                            model.on_segment_lost(now, &LostSegment {
                                bytes: smss,
                                adjoins: false,
                                sent_in_flight: before,
                                lost_since_sent: smss * lost,
                                total_delivered: delivered,
                                app_limited: false,
                            });
                        }
                    }
                    Op::RestartModel => {
                        if let Some(model) = control.path_model() {
                            model.on_restart_from_idle(now);
                        }
                    }
                }
                highest = highest.max(control.cwnd());
                let rate = control.pacing_rate();
                prop_assert!(rate.is_none_or(|rate| rate > Rate::default()), "{op:?}");
                prop_assert!(control.cwnd() >= smss, "{}: {op:?}", mechanism.name);
                prop_assert!(control.ssthresh() >= smss * 2, "{}: {op:?}", mechanism.name);
            }
        }
    }
}
