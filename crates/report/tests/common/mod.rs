//! A made-up run for tests and the gallery: two senders with sawtooth windows share a queue. It is
//! arithmetic, not a simulation; only the shape of its events is real.

use ackord_events::{
    CwndReason, DropReason, EndpointId, Event, LinkId, RecoveryKind, SegmentKind, Sink,
};
use ackord_measure::{
    FlowLabel, LinkLabel, RunIdentity, RunLabels, RunSummary, Series, SeriesOptions, SeriesSet,
    Summary,
};
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::{FlowId, Packet, Side};

const SEGMENT: u64 = 1_000;
const LINK: LinkId = LinkId(0);

/// How many senders, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Senders.
    pub(crate) flows: u32,
    /// Length of the run.
    pub(crate) secs: u64,
}

/// The run's summary and series.
pub(crate) fn run(shape: Shape) -> (RunSummary, SeriesSet) {
    let labels = labels(shape);
    let mut sinks = (Summary::new(&labels), Series::new(&labels, SeriesOptions::default()));
    let mut senders: Vec<_> = (0..shape.flows).map(Sender::new).collect();
    let mut at = Time::ZERO;
    let end = Time::ZERO + labels.duration;
    let mut queue = 0u32;
    while at < end {
        for sender in &mut senders {
            sender.step(at, &mut queue, &mut sinks);
        }
        at += Span::from_millis(4);
    }
    let identity =
        RunIdentity { scenario_hash: "f00d".to_owned(), seed: 7, version: "0.1.0".to_owned() };
    (sinks.0.finish(identity, end), sinks.1.finish(end))
}

fn labels(shape: Shape) -> RunLabels {
    let flow = |number: u32| FlowLabel {
        name: format!("flow{number}"),
        kind: ackord_measure::FlowKind::Connection,
        mechanisms: [("congestion".to_owned(), "reno".to_owned())].into(),
        profile: None,
        sends: Side::Client,
        size: None,
        started_at: Time::ZERO,
    };
    let rate = Rate::from_mbits_per_sec(2);
    let queue = "drop-tail, 50 packets".to_owned();
    RunLabels {
        flows: (0..shape.flows).map(flow).collect(),
        links: vec![LinkLabel { name: "bottleneck".to_owned(), rate, queue }],
        duration: Span::from_secs(shape.secs),
        ..RunLabels::default()
    }
}

struct Sender {
    endpoint: EndpointId,
    steps: u64,
    cwnd: u64,
    ssthresh: Bytes,
    sent: u64,
}

impl Sender {
    fn new(number: u32) -> Sender {
        let endpoint = EndpointId { flow: FlowId(number), side: Side::Client };
        Sender { endpoint, steps: 0, cwnd: 2 * SEGMENT, ssthresh: Bytes::MAX, sent: 0 }
    }

    fn step(&mut self, at: Time, queue: &mut u32, sinks: &mut (Summary, Series)) {
        let endpoint = self.endpoint;
        self.steps += 1;
        if self.steps == 1 {
            let (seq, payload, kind) = (Seq(100), Bytes::ZERO, SegmentKind::New);
            sinks.emit(at, Event::SegmentSent { endpoint, seq, payload, kind });
        }
        // A different slope per flow, so that their curves can be told apart.
        let slope = 40 + 25 * u64::from(endpoint.flow.0);
        self.cwnd += if Bytes(self.cwnd) < self.ssthresh { SEGMENT } else { slope };
        let reason = CwndReason::Ack;
        self.tell_window(at, reason, sinks);
        self.send(at, SegmentKind::New, sinks);
        self.cross_queue(at, queue, sinks);
        if self.cwnd > 40 * SEGMENT {
            self.lose(at, queue, sinks);
        }
    }

    fn tell_window(&self, at: Time, reason: CwndReason, sinks: &mut (Summary, Series)) {
        let (endpoint, cwnd, ssthresh) = (self.endpoint, Bytes(self.cwnd), self.ssthresh);
        sinks.emit(at, Event::CwndChanged { endpoint, cwnd, ssthresh, reason });
        let rtt = Span::from_micros(30_000 + self.cwnd);
        sinks.emit(at, Event::RttSampled { endpoint, rtt, srtt: rtt, rto: Span::from_secs(1) });
    }

    fn send(&mut self, at: Time, kind: SegmentKind, sinks: &mut (Summary, Series)) {
        let endpoint = self.endpoint;
        let back = if kind == SegmentKind::Retransmission { 20 * SEGMENT } else { 0 };
        let seq = Seq(101) + self.sent.saturating_sub(back) as u32;
        sinks.emit(at, Event::SegmentSent { endpoint, seq, payload: Bytes(SEGMENT), kind });
        if kind == SegmentKind::New {
            self.sent += SEGMENT;
        }
    }

    fn cross_queue(&self, at: Time, queue: &mut u32, sinks: &mut (Summary, Series)) {
        let (link, flow, bytes) = (LINK, self.endpoint.flow, Bytes(SEGMENT + 40));
        let mut length = (self.cwnd / SEGMENT) as u32;
        std::mem::swap(queue, &mut length);
        let (queue_packets, queue_bytes) = (*queue, bytes * u64::from(*queue));
        sinks.emit(at, Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes });
        let (queue_packets, queue_bytes) = (*queue - 1, bytes * u64::from(*queue - 1));
        let waited = Span::from_micros(4_160) * u64::from(queue_packets);
        sinks.emit(
            at,
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes },
        );
        let acked = Bytes(self.sent.saturating_sub(self.cwnd));
        let (endpoint, bytes, stream_offset) = (self.endpoint, Bytes(SEGMENT), acked);
        sinks.emit(at, Event::AckAdvanced { endpoint, bytes, stream_offset });
        let endpoint = EndpointId { side: Side::Server, ..self.endpoint };
        sinks.emit(at, Event::DataDelivered { endpoint, bytes, stream_offset });
        let (seq, payload, kind) = (Seq(1), Bytes::ZERO, SegmentKind::PureAck);
        sinks.emit(at, Event::SegmentSent { endpoint, seq, payload, kind });
    }

    fn lose(&mut self, at: Time, queue: &mut u32, sinks: &mut (Summary, Series)) {
        let packet = &Packet {
            flow: self.endpoint.flow,
            from: Side::Client,
            src: Default::default(),
            dst: Default::default(),
            ip: Default::default(),
            ecn: Default::default(),
            ip_len: *queue + 1_040,
            tag: 0,
            tcp: None,
        };
        let reason = DropReason::QueueFull;
        sinks.emit(at, Event::PacketDropped { link: LINK, packet, reason });
        let (endpoint, kind) = (self.endpoint, RecoveryKind::Fast);
        sinks.emit(at, Event::RecoveryEntered { endpoint, kind });
        self.cwnd /= 2;
        self.ssthresh = Bytes(self.cwnd);
        self.tell_window(at, CwndReason::Recovery, sinks);
        self.send(at, SegmentKind::Retransmission, sinks);
    }
}
