//! The state machine, fed by hand: acknowledgments from a path of 10 Mbit/s and 40 ms.

use super::super::testing::{loss, sample_of, sizes};
use super::control_parameters::percent_of;
use super::*;

const RTT: Span = Span::from_millis(40);
/// 10 Mbit/s in 40 ms.
const BDP: Bytes = Bytes(50_000);

/// Acknowledgments in a round trip.
const ACKS: u64 = 50;

struct Path {
    bbr: Bbr,
    now: Time,
    delivered: Bytes,
}

impl Path {
    fn new() -> Path {
        let mut bbr = Bbr::new(BbrConfig::default());
        bbr.on_established(Time::ZERO, Established { srtt: Some(RTT), ..sizes() });
        Path { bbr, now: Time::ZERO, delivered: Bytes::ZERO }
    }

    /// A round trip in which what the path carries is delivered.
    fn round(&mut self, mbits: u64, in_flight: Bytes) -> SampleAdvice {
        self.round_with(mbits, in_flight, Span::from_millis(41), false)
    }

    fn round_with(
        &mut self,
        mbits: u64,
        in_flight: Bytes,
        rtt: Span,
        cwnd_limited: bool,
    ) -> SampleAdvice {
        let rate = Rate::from_mbits_per_sec(mbits);
        let a_round = rate.bytes_in(RTT);
        let before = self.delivered;
        let mut advice = SampleAdvice::GoOn;
        for _ in 0..ACKS {
            self.now += RTT / ACKS;
            let newly_acked = a_round / ACKS;
            self.delivered += newly_acked;
            let sample = RateSample {
                delivery_rate: Some(rate),
                delivered: a_round,
                prior_delivered: before,
                total_delivered: self.delivered,
                rtt: Some(rtt),
                in_flight,
                sent_in_flight: in_flight,
                cwnd_limited,
                ..sample_of(newly_acked.get())
            };
            advice = self.bbr.on_rate_sample(self.now, &sample);
        }
        advice
    }

    /// Through Startup and Drain into the probing cycle.
    fn cruising() -> Path {
        let mut path = Path::new();
        for mbits in [3, 6, 10, 10, 10, 10] {
            path.round(mbits, BDP * 2);
        }
        path.round(10, BDP);
        path.round(10, BDP);
        assert_eq!(path.bbr.state, State::ProbeBw(Phase::Cruise));
        path
    }

    /// On to the phase that asks for more.
    fn probing() -> Path {
        let mut path = Path::cruising();
        for _ in 0..80 {
            if path.bbr.state == State::ProbeBw(Phase::Up) {
                return path;
            }
            path.round(10, BDP);
        }
        panic!("no probe within 3.2 s: {:?}", path.bbr.state)
    }

    fn lose(&mut self, bytes: u64, sent_in_flight: Bytes) {
        let lost = LostSegment {
            bytes: Bytes(1000),
            adjoins: false,
            sent_in_flight,
            lost_since_sent: Bytes(bytes),
            total_delivered: self.delivered,
            app_limited: false,
        };
        self.bbr.on_segment_lost(self.now, &lost);
    }
}

/// §5.3.1.2: three round trips without a quarter more; §5.3.2: until the queue is gone.
#[test]
fn startup_ends_after_three_rounds_without_growth_and_drain_when_the_bdp_is_in_flight() {
    let mut path = Path::new();
    for mbits in [3, 6, 10, 10, 10] {
        path.round(mbits, BDP * 2);
        assert_eq!(path.bbr.state, State::Startup);
    }
    path.round(10, BDP * 2);
    assert_eq!(path.bbr.state, State::Drain);
    assert!(path.bbr.pacing_rate < Rate::from_mbits_per_sec(5), "half of the bandwidth");
    path.round(10, BDP);
    assert!(path.bbr.is_probing_bw_state());
}

/// §5.6.2: 1 % below the bandwidth; §5.6.4.2: twice the product of bandwidth and round trip.
#[test]
fn cruising_keeps_the_measured_rate_and_at_most_twice_the_bdp() {
    let path = Path::cruising();
    assert_eq!(path.bbr.pacing_rate().map(Rate::as_bits_per_sec), Some(9_900_000));
    let cwnd = path.bbr.cwnd();
    assert!((BDP..=BDP * 2 + Bytes(6_000)).contains(&cwnd), "{cwnd}");
}

/// §5.3.3.8: after 2 to 3 s, or as many round trips as the BDP has segments, here about fifty.
#[test]
fn a_probe_comes_in_time_and_asks_for_a_quarter_more() {
    let begun = Path::cruising().now;
    let path = Path::probing();
    let waited = path.now - begun;
    assert!(waited >= Span::from_millis(1_800) && waited <= Span::from_millis(3_200), "{waited}");
    // 1.25 * 0.99 of 10 Mbit/s.
    assert_eq!(path.bbr.pacing_rate().map(Rate::as_bits_per_sec), Some(12_375_000));
}

#[test]
fn a_plateau_ends_a_probe() {
    let mut path = Path::probing();
    for _ in 0..4 {
        path.round(10, BDP * 2);
    }
    assert_eq!(path.bbr.state, State::ProbeBw(Phase::Down));
    assert_eq!(path.bbr.inflight_longterm, Bytes::MAX, "nothing was lost");
}

/// §5.5.10.2: one segment in a hundred is borne, three are not.
#[test]
fn a_probe_that_loses_more_than_two_percent_sets_the_long_term_bound_and_ends() {
    let mut path = Path::probing();
    path.lose(1_000, Bytes(100_000));
    assert_eq!(path.bbr.state, State::ProbeBw(Phase::Up));
    path.lose(3_000, Bytes(100_000));
    assert_eq!(path.bbr.state, State::ProbeBw(Phase::Down));
    let bound = path.bbr.inflight_longterm;
    assert!((Bytes(98_000)..=Bytes(100_000)).contains(&bound), "{bound}");
    path.round(10, BDP);
    assert_eq!(path.bbr.state, State::ProbeBw(Phase::Cruise));
    assert!(path.bbr.cwnd() <= percent_of(bound, 85) + Bytes(1), "headroom for others");
}

/// §5.5.10.3: outside probes a round trip with loss takes at most the factor beta.
#[test]
fn loss_while_cruising_lowers_the_short_term_bounds_to_what_is_delivered() {
    let mut path = Path::cruising();
    for _ in 0..3 {
        path.lose(1_000, BDP);
        path.round(8, BDP);
    }
    let bw = path.bbr.bw.as_bits_per_sec();
    assert!((7_000_000..10_000_000).contains(&bw), "{bw}");
    assert_eq!(path.bbr.max_bw.get(), Rate::from_mbits_per_sec(10));
}

/// §5.3.4: five seconds without a smaller sample; then half the BDP for 200 ms.
#[test]
fn the_round_trip_is_probed_every_five_seconds() {
    let mut path = Path::cruising();
    let mut entered = None;
    for _ in 0..200 {
        let advice = path.round_with(10, Bytes(20_000), Span::from_millis(50), false);
        match (path.bbr.state, entered) {
            (State::ProbeRtt, None) => {
                entered = Some(path.now);
                assert!(path.now > Time::ZERO + Span::from_secs(5));
            }
            (State::ProbeRtt, Some(_)) => {
                assert_eq!(advice, SampleAdvice::MarkAppLimited);
                assert!(path.bbr.cwnd() <= BDP / 2 + Bytes(6_000));
            }
            (_, Some(at)) => {
                let lasted = path.now - at;
                assert!(lasted >= Span::from_millis(200) && lasted <= Span::from_millis(400));
                return;
            }
            (_, None) => {}
        }
    }
    panic!("ProbeRTT did not come and go in eight seconds");
}

/// §5.6.4.4 and §5.5.11: a recovery that proves unnecessary leaves nothing behind.
#[test]
fn an_undone_repair_gives_window_and_bounds_back() {
    let mut path = Path::probing();
    let cwnd = path.bbr.cwnd();
    path.bbr.on_congestion(path.now, loss(100_000, LossResponse::FastRecovery));
    path.lose(9_000, Bytes(100_000));
    assert_ne!(path.bbr.inflight_longterm, Bytes::MAX);
    let undone = CongestionEvent::Undone { cwnd, ssthresh: Bytes::MAX };
    path.bbr.on_congestion(path.now, undone);
    assert_eq!(path.bbr.cwnd(), cwnd);
    assert_eq!(path.bbr.inflight_longterm, Bytes::MAX);
    assert_eq!(path.bbr.state, State::ProbeBw(Phase::Refill));
}

/// §5.4.1: exactly the bandwidth, and the cycle goes on.
#[test]
fn after_an_idle_time_the_flow_restarts_at_the_bandwidth() {
    let mut path = Path::cruising();
    let cwnd = path.bbr.cwnd();
    path.now += Span::from_secs(7);
    path.bbr.on_restart_from_idle(path.now);
    assert_eq!(path.bbr.pacing_rate().map(Rate::as_bits_per_sec), Some(9_900_000));
    path.round(10, BDP);
    assert_ne!(path.bbr.state, State::ProbeRtt, "the idle time drained the queue");
    assert!(path.bbr.cwnd() >= cwnd);
}

#[test]
fn a_mark_ends_a_probe_and_counts_as_loss_in_its_round() {
    let mark = |flight_size| CongestionEvent::Mark { flight_size };
    let mut probing = Path::probing();
    // Samples of the probe come back a round trip after it has begun.
    probing.round(10, BDP);
    let (now, flight_size) = (probing.now, BDP * 5 / 4);
    probing.bbr.on_congestion(now, mark(flight_size));
    assert_eq!(probing.bbr.state, State::ProbeBw(Phase::Down));
    assert_eq!(probing.bbr.inflight_longterm, flight_size);
    // The path delivers half of what the model says.
    let mut cruising = Path::cruising();
    cruising.bbr.on_congestion(cruising.now, mark(BDP * 2));
    for _ in 0..2 {
        cruising.round(5, BDP);
    }
    let bound = cruising.bbr.bw_shortterm.expect("bounded").as_bits_per_sec();
    assert!((6_900_000..=10_000_000).contains(&bound), "{bound}");
}
