//! The meter by hand-made segments, the control law by hand-made facts.

use super::*;
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::{
    Ecn, Flags, FlowId, IpVersion, NodeId, Options, Packet, SackBlock, SackBlocks, Segment, Side,
    Timestamps,
};

const MSS: u32 = 1_448;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn packet(from: Side, segment: Segment) -> Packet {
    Packet {
        flow: FlowId(1),
        from,
        src: NodeId(0),
        dst: NodeId(1),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 20 + segment.header_len() + segment.payload_len,
        tag: 0,
        tcp: Some(segment),
    }
}

/// The segment with this number, sent when the sender's clock showed `clock`.
fn data(number: u32, clock: u32) -> Packet {
    let timestamps = Some(Timestamps { value: clock, echo: 0 });
    let options = Options { timestamps, ..Options::default() };
    let seq = Seq(1) + number * MSS;
    let (flags, payload_len) = (Flags::ACK, MSS);
    packet(Side::Server, Segment { seq, flags, payload_len, options, ..Segment::default() })
}

/// The acknowledgment of everything before the segment with this number, and of some segments beyond.
fn ack(number: u32, echo: u32, beyond: &[u32]) -> Packet {
    let mut sack = SackBlocks::default();
    for one in beyond {
        let start = Seq(1) + one * MSS;
        assert!(sack.push(SackBlock { start, end: start + MSS }));
    }
    let timestamps = Some(Timestamps { value: 0, echo });
    let options = Options { timestamps, sack, ..Options::default() };
    let ack = Seq(1) + number * MSS;
    packet(Side::Client, Segment { ack, flags: Flags::ACK, options, ..Segment::default() })
}

#[test]
fn measures_from_the_last_segment_of_an_acknowledgment_that_covers_two() {
    let mut meter = LinkMeter::new(at(0));
    meter.depart(at(0), &data(0, 1));
    meter.depart(at(30), &data(1, 2));
    meter.arrive(at(50), &ack(2, 1, &[]));
    let facts = meter.facts(at(60));
    // The first one waited for the second: 50 ms would be a delayed ACK's.
    assert_eq!((facts.delay, facts.delay_bound), (Some(Span::from_millis(20)), None));
    assert_eq!((facts.packets, facts.outstanding, facts.over), (2, 0, Span::from_millis(60)));
    assert_eq!(facts.delivered, facts.sent);
}

#[test]
fn takes_the_acknowledgment_of_a_single_segment_for_a_bound() {
    let mut meter = LinkMeter::new(at(0));
    meter.depart(at(0), &data(0, 1));
    meter.arrive(at(60), &ack(1, 1, &[]));
    let facts = meter.facts(at(60));
    assert_eq!((facts.delay, facts.delay_bound), (None, Some(Span::from_millis(60))));
    // Unless another one followed at its heels, for which a delayed ACK would not have waited.
    meter.depart(at(100), &data(1, 2));
    meter.depart(at(102), &data(2, 2));
    meter.arrive(at(120), &ack(2, 2, &[]));
    assert_eq!(meter.facts(at(120)).delay, Some(Span::from_millis(20)));
}

#[test]
fn measures_by_the_first_segment_out_of_order_and_not_by_the_gap_behind_it() {
    let mut meter = LinkMeter::new(at(0));
    for number in 0..4 {
        meter.depart(at(u64::from(number)), &data(number, number));
    }
    meter.arrive(at(21), &ack(0, 0, &[1]));
    let facts = meter.facts(at(22));
    assert_eq!((facts.delay, facts.outstanding), (Some(Span::from_millis(20)), 3));
    meter.arrive(at(23), &ack(0, 0, &[2, 3, 1]));
    meter.depart(at(60), &data(0, 60));
    meter.arrive(at(75), &ack(4, 60, &[]));
    let facts = meter.facts(at(80));
    assert_eq!((facts.delay, facts.lost), (Some(Span::from_millis(15)), 1));
    assert_eq!((facts.outstanding, facts.quiet), (0, Span::ZERO));
}

#[test]
fn does_not_measure_a_retransmission_without_its_timestamp() {
    let mut meter = LinkMeter::new(at(0));
    meter.depart(at(0), &data(0, 1));
    meter.depart(at(300), &data(0, 300));
    // The echo is that of the first copy: it arrived after all.
    meter.arrive(at(305), &ack(1, 1, &[]));
    let facts = meter.facts(at(310));
    assert_eq!((facts.delay, facts.delay_bound, facts.lost), (None, None, 1));
}

#[test]
fn reports_silence_while_packets_are_outstanding() {
    let mut meter = LinkMeter::new(at(0));
    assert_eq!(meter.facts(at(500)).quiet, Span::ZERO);
    for number in 0..5 {
        meter.depart(at(1_000), &data(number, 1));
    }
    assert_eq!(meter.facts(at(1_200)).quiet, Span::from_millis(200));
    meter.arrive(at(1_210), &ack(2, 1, &[]));
    let facts = meter.facts(at(1_250));
    assert_eq!((facts.quiet, facts.outstanding), (Span::from_millis(40), 3));
}

#[test]
fn forgets_connections_beyond_its_bound_and_those_that_are_idle() {
    let mut meter = LinkMeter::new(at(0));
    for flow in 0..2_000 {
        let flow = FlowId(flow);
        meter.depart(at(u64::from(flow.0)), &Packet { flow, ..data(0, 1) });
    }
    assert_eq!(meter.facts(at(2_000)).outstanding, 512);
    assert_eq!(meter.facts(at(20_000)).outstanding, 0);
}

const MBIT: u64 = 1_000_000;

fn limits() -> RateLimits {
    let [min, max, start] = [1, 50, 10].map(Rate::from_mbits_per_sec);
    RateLimits { min, max, start }
}

/// A link with a queue of its own and 20 ms of delay, which a shaper under control sends into.
struct FluidLink {
    at: Time,
    /// Bytes in its queue.
    queued: f64,
    control: RateControl,
    last: Option<RateDecision>,
}

impl FluidLink {
    fn new() -> FluidLink {
        FluidLink { at: Time::ZERO, queued: 0.0, control: RateControl::new(limits()), last: None }
    }

    /// Runs so many intervals at a link rate of `mbits`, with `offered` of the shaper's rate to send.
    fn run(&mut self, intervals: usize, mbits: f64, offered: f64) -> RateDecision {
        let seconds = RateControl::EVERY.as_secs_f64();
        for _ in 0..intervals {
            let rate = self.control.rate();
            let sent = offered * rate.as_bits_per_sec() as f64 * seconds / 8.0;
            let room = mbits * MBIT as f64 * seconds / 8.0;
            let delivered = room.min(self.queued + sent);
            self.queued += sent - delivered;
            self.at += RateControl::EVERY;
            let waits = if mbits > 0.0 { 8.0 * self.queued / (mbits * MBIT as f64) } else { 0.0 };
            let facts = LinkFacts {
                at: self.at,
                over: RateControl::EVERY,
                sent: Bytes(sent as u64),
                sent_measured: Bytes(sent as u64),
                delivered: Bytes(delivered as u64),
                delay: (delivered > 0.0).then(|| Span::from_secs_f64(0.02 + waits)),
                packets: (sent / 1_500.0) as u32,
                outstanding: (self.queued / 1_500.0) as u32,
                quiet: if delivered > 0.0 { Span::ZERO } else { Span::from_secs(1) },
                ..LinkFacts::default()
            };
            self.last = Some(self.control.decide(&facts, rate));
        }
        self.last.expect("an interval at least")
    }
}

#[test]
fn settles_at_the_rate_of_the_link_also_if_it_queues_at_the_start() {
    for mbits in [2.0, 8.0, 30.0] {
        let mut link = FluidLink::new();
        let settled = link.run(250, mbits, 1.0);
        let baseline = settled.baseline.expect("a sample");
        assert!(baseline < Span::from_millis(40), "{mbits}: {settled:?}");
        let mut sum = 0.0;
        for _ in 0..100 {
            let decision = link.run(1, mbits, 1.0);
            sum += decision.rate.as_bits_per_sec() as f64 / MBIT as f64;
            let delay = decision.delay.expect("it delivers");
            assert!(delay < Span::from_millis(100), "{mbits}: {decision:?}");
        }
        assert!((0.85 * mbits..1.15 * mbits).contains(&(sum / 100.0)), "{mbits}: {sum}");
    }
}

#[test]
fn follows_a_fall_and_a_rise_within_a_second() {
    let mut link = FluidLink::new();
    link.run(100, 20.0, 1.0);
    let fallen = link.run(25, 4.0, 1.0);
    assert!(fallen.rate < Rate::from_mbits_per_sec(6), "{fallen:?}");
    let risen = link.run(25, 20.0, 1.0);
    assert!(risen.rate > Rate::from_mbits_per_sec(16), "{risen:?}");
}

#[test]
fn cuts_while_nothing_is_acknowledged_and_resumes_after() {
    let mut link = FluidLink::new();
    let before = link.run(100, 20.0, 1.0).rate;
    let still = link.run(5, 0.0, 1.0);
    assert_eq!(still.reason, RateReason::Stall);
    // A fifth is left: it is not known that the link is slower.
    let fifth = before.as_bits_per_sec() / 5;
    assert!(still.rate.as_bits_per_sec().abs_diff(fifth) < MBIT / 2, "{still:?}");
    let after = link.run(25, 20.0, 1.0);
    assert!(after.rate > Rate::from_mbits_per_sec(15), "{after:?}");
}

#[test]
fn returns_to_the_start_when_idle_and_holds_before() {
    let mut link = FluidLink::new();
    let busy = link.run(100, 40.0, 1.0).rate;
    assert!(busy > Rate::from_mbits_per_sec(35), "{busy}");
    assert_eq!(link.run(10, 40.0, 0.1).reason, RateReason::Hold);
    let idle = link.run(100, 40.0, 0.1);
    assert_eq!(idle.reason, RateReason::Idle);
    assert!(idle.rate.as_bits_per_sec().abs_diff(10 * MBIT) < MBIT / 10, "{idle:?}");
}

#[test]
fn returns_to_the_start_if_nothing_shows_the_delay() {
    let mut control = RateControl::new(limits());
    control.set_limits(RateLimits { start: Rate::from_mbits_per_sec(20), ..limits() });
    let mut decision = None;
    for interval in 1..200 {
        let (at, over) = (Time::ZERO + RateControl::EVERY * interval, RateControl::EVERY);
        let sent = control.rate().bytes_in(over);
        let facts = LinkFacts { at, over, sent, ..LinkFacts::default() };
        decision = Some(control.decide(&facts, control.rate()));
    }
    let decision = decision.expect("some");
    assert_eq!((decision.reason, decision.baseline), (RateReason::Unmeasured, None));
    assert!(decision.rate.as_bits_per_sec().abs_diff(20 * MBIT) < MBIT / 10, "{decision:?}");
}

#[test]
fn learns_a_longer_path_by_draining_the_link() {
    let mut control = RateControl::new(limits());
    let (mut drained, mut last) = (0, None);
    for interval in 1..2_000 {
        let (at, over) = (Time::ZERO + RateControl::EVERY * interval, RateControl::EVERY);
        let sent = control.rate().bytes_in(over);
        // The path becomes 60 ms longer; no queue has to do with it.
        let delay = Span::from_millis(if interval < 100 { 20 } else { 80 });
        let facts = LinkFacts {
            at,
            over,
            sent,
            sent_measured: sent,
            delivered: sent,
            delay: Some(delay),
            packets: 20,
            ..LinkFacts::default()
        };
        let decision = control.decide(&facts, control.rate());
        drained += u32::from(decision.reason == RateReason::Drain);
        last = Some(decision);
    }
    let last = last.expect("some");
    assert_eq!((last.reason, last.rate), (RateReason::Raise, limits().max), "{last:?}");
    assert!((1..100).contains(&drained), "{drained}");
}

#[test]
fn never_leaves_the_limits() {
    let mut link = FluidLink::new();
    for mbits in [100.0, 0.1, 0.0, 50.0, 0.3] {
        for _ in 0..100 {
            let rate = link.run(1, mbits, 1.0).rate;
            assert!((limits().min..=limits().max).contains(&rate), "{mbits}: {rate}");
        }
    }
}
