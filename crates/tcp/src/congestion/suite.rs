//! What holds for every congestion control, whatever the order of events.

use super::*;
use ackord_units::{Choice, Mechanism};
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

/// A control under test, and what is remembered of it.
struct Subject {
    name: &'static str,
    control: Box<dyn CongestionControl>,
    now: Time,
    una: Seq,
    /// cwnd and ssthresh before the last loss or timeout.
    saved: (Bytes, Bytes),
    delivered: Bytes,
    highest: Bytes,
}

const SMSS: Bytes = Bytes(1000);

impl Subject {
    fn new(mechanism: &Mechanism) -> Subject {
        let chosen = Congestion::named(mechanism.name).expect("listed");
        let mut control = chosen.config().build();
        control.on_established(Time::ZERO, super::testing::sizes());
        let (saved, highest) = ((control.cwnd(), control.ssthresh()), control.cwnd());
        let (now, una, delivered) = (Time::ZERO, Seq(0), Bytes::ZERO);
        Subject { name: mechanism.name, control, now, una, saved, delivered, highest }
    }

    fn apply(&mut self, op: &Op) -> Result<(), TestCaseError> {
        self.now += Span::from_millis(10);
        let before = self.control.cwnd();
        if matches!(op, Op::Loss { .. } | Op::Timeout { .. }) {
            self.saved = (before, self.control.ssthresh());
        }
        match op {
            Op::Ack { .. } => self.acknowledge(op, before)?,
            Op::Sample { .. } | Op::SegmentLost { .. } | Op::RestartModel => {
                self.tell_model(op, before)?;
            }
            _ => self.tell_event(op, before)?,
        }
        self.highest = self.highest.max(self.control.cwnd());
        let (control, name) = (&self.control, self.name);
        let rate = control.pacing_rate();
        prop_assert!(rate.is_none_or(|rate| rate > Rate::default()), "{op:?}");
        prop_assert!(control.cwnd() >= SMSS, "{name}: {op:?}");
        prop_assert!(control.ssthresh() >= SMSS * 2, "{name}: {op:?}");
        Ok(())
    }

    fn acknowledge(&mut self, op: &Op, before: Bytes) -> Result<(), TestCaseError> {
        let &Op::Ack { segments, rtt_ms, limited } = op else { return Ok(()) };
        self.una += (segments * 1000) as u32;
        let ack = AckSample {
            acked: SMSS * segments,
            delivered: SMSS * segments,
            rtt: Some(Span::from_millis(rtt_ms)),
            srtt: Some(Span::from_millis(rtt_ms)),
            flight_size: before,
            snd_una: self.una,
            snd_nxt: self.una + before.get() as u32,
            limit: if limited { SendLimit::Other } else { SendLimit::Cwnd },
        };
        self.control.on_ack(self.now, &ack);
        // No acknowledgment may open the window by more than what it took out of the network and
        // one segment more.
        let most = before + SMSS * segments.max(2) + SMSS;
        prop_assert!(self.control.cwnd() <= most, "{}: {op:?}", self.name);
        Ok(())
    }

    fn tell_event(&mut self, op: &Op, before: Bytes) -> Result<(), TestCaseError> {
        let (now, name, ssthresh) = (self.now, self.name, self.control.ssthresh());
        let (event, most, least) = match *op {
            Op::Loss { flight, slow_start } => {
                let response =
                    if slow_start { LossResponse::SlowStart } else { LossResponse::FastRecovery };
                (CongestionEvent::Loss { flight_size: SMSS * flight, response }, None, None)
            }
            // ssthresh, and cwnd with it, has a floor of two segments.
            Op::Mark { flight } => {
                let most = Some(before.max(SMSS * 2));
                (CongestionEvent::Mark { flight_size: SMSS * flight }, most, None)
            }
            Op::Timeout { flight, repeated } => {
                let order = if repeated { TimeoutOrder::Repeated } else { TimeoutOrder::First };
                let (flight_size, snd_nxt) = (SMSS * flight, self.una + before.get() as u32);
                let event = CongestionEvent::Timeout { flight_size, order, snd_nxt };
                (event, Some(SMSS), Some(SMSS))
            }
            Op::Recovered { bound } => {
                let cwnd_at_most = bound.map(|segments| SMSS * segments);
                (CongestionEvent::Recovered { cwnd_at_most }, None, None)
            }
            Op::Restart => {
                let cwnd = before.min(SMSS * 10);
                (CongestionEvent::Restart { cwnd, ssthresh }, Some(before), None)
            }
            Op::Undone => {
                let (cwnd, ssthresh) = (self.saved.0.max(before), self.saved.1);
                let event = CongestionEvent::Undone { cwnd, ssthresh };
                (event, Some(cwnd), Some(cwnd))
            }
            _ => return Ok(()),
        };
        self.control.on_congestion(now, event);
        let cwnd = self.control.cwnd();
        prop_assert!(most.is_none_or(|most| cwnd <= most), "{name}: {op:?}");
        prop_assert!(least.is_none_or(|least| cwnd >= least), "{name}: {op:?}");
        if matches!(op, Op::Undone) {
            prop_assert_eq!(self.control.ssthresh(), self.saved.1, "{}", name);
        }
        Ok(())
    }

    fn tell_model(&mut self, op: &Op, before: Bytes) -> Result<(), TestCaseError> {
        let (now, total_delivered) = (self.now, self.delivered);
        let sample = matches!(op, Op::Sample { .. }).then(|| sample(op, self.delivered, before));
        self.delivered = sample.map_or(self.delivered, |sample| sample.total_delivered);
        let Some(model) = self.control.path_model() else { return Ok(()) };
        match *op {
            Op::Sample { segments, .. } => {
                model.on_rate_sample(now, &sample.expect("just made"));
                // The end of a recovery may give back what it took; beyond that, what was
                // delivered, and the floor of four segments.
                let most = self.highest + SMSS * segments + SMSS * 4;
                prop_assert!(self.control.cwnd() <= most, "{}: {op:?}", self.name);
            }
            Op::SegmentLost { lost } => {
                let lost_since_sent = SMSS * lost;
                model.on_segment_lost(
                    now,
                    &LostSegment {
                        bytes: SMSS,
                        adjoins: false,
                        sent_in_flight: before,
                        lost_since_sent,
                        total_delivered,
                        app_limited: false,
                    },
                );
            }
            _ => model.on_restart_from_idle(now),
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn the_window_never_falls_below_a_segment_and_never_jumps(
        ops in proptest::collection::vec(op(), 1..300),
    ) {
        for mechanism in Congestion::MECHANISMS {
            let mut subject = Subject::new(mechanism);
            for op in &ops {
                subject.apply(op)?;
            }
        }
    }
}
