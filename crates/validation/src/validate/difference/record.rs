//! What each end of a run sent, and what it was like then.

use ackord_events::{EndpointId, Event, LinkId, RecoveryKind, Sink, TapPoint};
use ackord_scenario::{Scenario, Way};
use ackord_sim::Topology;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Flags, NodeId, Packet, Side};
use serde::Serialize;
use std::collections::BTreeMap;

/// A segment, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SentSegment {
    /// Who sent it.
    pub end: String,
    /// When it entered the path, seconds.
    pub at_s: f64,
    /// Control bits, as tcpdump writes them.
    pub flags: String,
    /// First byte, counted from the sender's SYN.
    pub seq: u64,
    /// Bytes of data.
    pub length: u32,
    /// Next byte expected, counted from the other's SYN.
    pub ack: u64,
    /// SACK blocks, likewise.
    pub sack: Vec<(u64, u64)>,
    /// The window field, unscaled.
    pub window: u16,
}

/// What an end was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EndState {
    /// When this was last told, seconds.
    pub told_at_s: f64,
    /// Congestion window, bytes.
    pub cwnd_bytes: Option<u64>,
    /// Slow-start threshold, bytes; nothing while there is none.
    pub ssthresh_bytes: Option<u64>,
    /// Smoothed round-trip time, milliseconds.
    pub srtt_ms: Option<f64>,
    /// Retransmission timeout, milliseconds.
    pub rto_ms: Option<f64>,
    /// What it recovers: `fast` or `timeout`; nothing when it does not.
    pub recovery: Option<&'static str>,
    /// Segments that it has taken for lost so far.
    pub lost_segments: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
}

/// A segment that an end sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) endpoint: EndpointId,
    pub(super) at: Time,
    pub(super) flags: u8,
    pub(super) seq: u32,
    pub(super) len: u32,
    pub(super) ack: u32,
    pub(super) sack: Vec<(u32, u32)>,
    window: u16,
}

/// Takes down what every end sends.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// By direction of a link: from which node it leads.
    from: BTreeMap<LinkId, NodeId>,
    flows: u32,
    rows: Vec<Row>,
    by_end: BTreeMap<EndpointId, Vec<Row>>,
    /// By end: the number of its SYN.
    iss: BTreeMap<EndpointId, Seq>,
    states: BTreeMap<EndpointId, Vec<(Time, EndState)>>,
}

impl Recorder {
    pub(super) fn new(scenario: &Scenario) -> Recorder {
        let links = scenario.links.iter().enumerate();
        let from = links.flat_map(|(index, link)| {
            [(Way::Forward, link.from), (Way::Reverse, link.to)]
                .map(|(way, node)| (Topology::link_id(index, way), node))
        });
        let flows = scenario.flows.len() as u32;
        Recorder { from: from.collect(), flows, ..Recorder::default() }
    }

    pub(super) fn ends(&self) -> Vec<EndpointId> {
        self.by_end.keys().copied().collect()
    }

    pub(super) fn rows(&self, endpoint: EndpointId) -> &[Row] {
        self.by_end.get(&endpoint).map_or(&[], Vec::as_slice)
    }

    /// How many segments were sent before this.
    pub(super) fn rows_before(&self, at: Time) -> u64 {
        self.rows.partition_point(|row| row.at < at) as u64
    }

    /// The last segments before this.
    pub(super) fn before(&self, at: Time, count: usize) -> impl Iterator<Item = &Row> {
        let end = self.rows.partition_point(|row| row.at < at);
        self.rows[end.saturating_sub(count)..end].iter()
    }

    /// What an end was like at this time, as far as it was told by then.
    pub(super) fn state_at(&self, endpoint: EndpointId, at: Time) -> EndState {
        let states = self.states.get(&endpoint).map_or(&[][..], Vec::as_slice);
        let until = states.partition_point(|(told_at, _)| *told_at <= at);
        states[..until].last().map_or_else(EndState::default, |(_, state)| *state)
    }

    /// A segment, for people.
    pub(super) fn told(&self, scenario: &Scenario, row: &Row) -> SentSegment {
        SentSegment {
            end: end_of(scenario, row.endpoint),
            at_s: row.at.as_secs_f64(),
            flags: format!("{:?}", Flags::from_bits(row.flags)),
            seq: u64::from(row.seq),
            length: row.len,
            ack: u64::from(row.ack),
            sack: row.sack.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect(),
            window: row.window,
        }
    }

    fn sent(&mut self, at: Time, packet: &Packet) {
        let Some(segment) = packet.tcp.filter(|_| packet.flow.0 < self.flows) else { return };
        let endpoint = EndpointId { flow: packet.flow, side: packet.from };
        if segment.flags.contains(Flags::SYN) {
            self.iss.insert(endpoint, segment.seq);
        }
        let other = EndpointId { side: endpoint.side.other(), ..endpoint };
        let own = self.iss.get(&endpoint).copied().unwrap_or_default();
        let theirs = self.iss.get(&other).copied().unwrap_or_default();
        let from = |seq: Seq| seq.since(theirs);
        let acknowledges = segment.flags.contains(Flags::ACK);
        let sack = segment.options.sack.as_slice().iter();
        let row = Row {
            endpoint,
            at,
            flags: segment.flags.bits() & !Flags::PSH.bits(),
            seq: segment.seq.since(own),
            len: segment.payload_len,
            ack: if acknowledges { from(segment.ack) } else { 0 },
            sack: sack.map(|block| (from(block.start), from(block.end))).collect(),
            window: segment.window,
        };
        self.by_end.entry(endpoint).or_default().push(row.clone());
        self.rows.push(row);
    }

    fn change(&mut self, at: Time, endpoint: EndpointId, change: impl FnOnce(&mut EndState)) {
        let states = self.states.entry(endpoint).or_default();
        let mut state = states.last().map_or_else(EndState::default, |(_, state)| *state);
        change(&mut state);
        state.told_at_s = at.as_secs_f64();
        // What a kernel tells of itself may be told a little after it was so.
        let at = states.last().map_or(at, |(last, _)| at.max(*last));
        states.push((at, state));
    }
}

impl EndState {
    /// Takes what an end tells of itself.
    fn told(&mut self, event: Event<'_>) {
        let millis = |span: Span| Some(span.as_secs_f64() * 1e3);
        match event {
            Event::CwndChanged { cwnd, ssthresh, .. } => {
                self.cwnd_bytes = Some(cwnd.get());
                self.ssthresh_bytes = (ssthresh != Bytes::MAX).then(|| ssthresh.get());
            }
            Event::RttSampled { srtt, rto, .. } => {
                (self.srtt_ms, self.rto_ms) = (millis(srtt), millis(rto));
            }
            Event::RecoveryEntered { kind, .. } => {
                self.recovery = Some(match kind {
                    RecoveryKind::Fast => "fast",
                    RecoveryKind::Timeout => "timeout",
                });
            }
            Event::RecoveryExited { .. } => self.recovery = None,
            Event::SegmentLost { .. } => self.lost_segments += 1,
            Event::RetransmissionTimeout { .. } => self.timeouts += 1,
            // The recorder hands no others on.
            _ => {}
        }
    }
}

impl Sink for Recorder {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::PacketTapped { tap: TapPoint::LinkIn(link), packet }
                if self.from.get(&link) == Some(&packet.src) =>
            {
                self.sent(at, packet);
            }
            Event::CwndChanged { endpoint, .. }
            | Event::RttSampled { endpoint, .. }
            | Event::RecoveryEntered { endpoint, .. }
            | Event::RecoveryExited { endpoint, .. }
            | Event::SegmentLost { endpoint, .. }
            | Event::RetransmissionTimeout { endpoint, .. } => {
                self.change(at, endpoint, |state| state.told(event));
            }
            // Neither a segment of an end nor a state that both sides tell.
            Event::PacketTapped { .. }
            | Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::SegmentSent { .. }
            | Event::DataDelivered { .. }
            | Event::TransferBegan { .. }
            | Event::TransferCompleted { .. }
            | Event::DatagramSent { .. }
            | Event::DatagramDelivered { .. }
            | Event::AckAdvanced { .. }
            | Event::AckTimeoutChanged { .. }
            | Event::RecoveryUndone { .. }
            | Event::RetransmissionSpurious { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketEnqueued { .. }
            | Event::PacketDequeued { .. }
            | Event::PacketDropped { .. }
            | Event::PacketDuplicated { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. } => {}
        }
    }
}

/// Which end of which flow, in words.
pub(super) fn end_of(scenario: &Scenario, endpoint: EndpointId) -> String {
    let flow = &scenario.flows[endpoint.flow.0 as usize];
    let host = if endpoint.side == Side::Client { flow.client } else { flow.server };
    format!("{} at {}", flow.name, scenario.node(host).name)
}
