//! What programs do, told as the flow's whose workload they stand for.
//!
//! A program may open any number of connections, either way, one after the other or side by side;
//! the emulation numbers them beyond the scenario's flows. Here they become one: bytes add up, and
//! what a program's server sends is what the flow's server sends.
//!
//! Not modelled: connections side by side as curves of their own in plots of sequence numbers (they
//! lie over each other, from where the flow stood when each began); programs of two flows between the
//! same hosts (all they do counts towards the first of them).

use ackord_events::{EndpointId, Event, SegmentKind, Sink};
use ackord_scenario::Scenario;
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{FlowId, NodeId, Packet, Side};
use std::collections::BTreeMap;

/// A sink before another one.
pub(super) struct FoldFlows<S> {
    inner: S,
    /// How many flows the scenario has.
    known: u32,
    /// Flows that programs stand for, with their clients' and servers' hosts.
    programs: Vec<(FlowId, NodeId, NodeId)>,
    /// By number of a connection: the flow it counts towards; nothing where there is none.
    connections: BTreeMap<FlowId, Option<Connection>>,
    /// What each end of a flow has seen so far.
    totals: BTreeMap<EndpointId, Totals>,
}

/// A connection of a program.
#[derive(Clone, Copy, Debug)]
struct Connection {
    flow: FlowId,
    /// Whether it was opened by the flow's server.
    turned: bool,
    /// By side of the flow: where its numbers begin.
    begins: [Option<Begin>; 2],
}

/// A sequence number, and how much the flow's end had sent before.
#[derive(Clone, Copy, Debug)]
struct Begin {
    seq: Seq,
    at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    sent: u64,
    acknowledged: u64,
    delivered: u64,
}

impl<S> FoldFlows<S> {
    pub(super) fn new(scenario: &Scenario, inner: S) -> FoldFlows<S> {
        let flows = scenario.flows.iter().zip(0..);
        let programs = flows.filter(|(flow, _)| flow.exec.is_some());
        let programs = programs.map(|(flow, number)| (FlowId(number), flow.client, flow.server));
        FoldFlows {
            inner,
            known: scenario.flows.len() as u32,
            programs: programs.collect(),
            connections: BTreeMap::new(),
            totals: BTreeMap::new(),
        }
    }

    pub(super) fn into_inner(self) -> S {
        self.inner
    }

    fn seen(&mut self, flow: FlowId, client: NodeId, server: NodeId) {
        let between = |turned: bool, from: NodeId, to: NodeId| {
            let program = self.programs.iter().find(|(_, a, b)| (*a, *b) == (from, to))?;
            Some(Connection { flow: program.0, turned, begins: [None; 2] })
        };
        let found = between(false, client, server);
        let found = found.or_else(|| between(true, server, client));
        self.connections.insert(flow, found);
    }

    /// The flow's end that stands for this one; nothing where no flow does.
    fn end(&self, endpoint: EndpointId) -> Option<EndpointId> {
        if endpoint.flow.0 < self.known {
            return Some(endpoint);
        }
        let connection = self.connections.get(&endpoint.flow)?.as_ref()?;
        let side = match connection.turned {
            false => endpoint.side,
            true => endpoint.side.other(),
        };
        Some(EndpointId { flow: connection.flow, side })
    }

    /// The same packet as the flow's.
    fn packet(&self, packet: &Packet) -> Packet {
        let endpoint = EndpointId { flow: packet.flow, side: packet.from };
        match self.end(endpoint) {
            Some(EndpointId { flow, side }) => Packet { flow, from: side, ..*packet },
            None => *packet,
        }
    }

    fn flow(&self, flow: FlowId) -> FlowId {
        self.end(EndpointId { flow, side: Side::Client }).map_or(flow, |end| end.flow)
    }

    /// The number of a byte as if the flow had one connection, which begins at zero.
    fn seq(&mut self, of: FlowId, end: EndpointId, seq: Seq, bytes: u64) -> Seq {
        let totals = self.totals.entry(end).or_default();
        let Some(Some(connection)) = self.connections.get_mut(&of) else { return seq };
        let handshake = u32::from(bytes == 0);
        let begin = connection.begins[usize::from(end.side == Side::Server)]
            .get_or_insert(Begin { seq: seq + handshake, at: totals.sent });
        let place = Seq(begin.at as u32) + seq.since(begin.seq);
        let reached = begin.at + u64::from(seq.since(begin.seq)) + bytes;
        if seq.at_or_after(begin.seq) {
            totals.sent = totals.sent.max(reached);
        }
        place
    }
}

impl<S: Sink> FoldFlows<S> {
    /// What a connection's end did, as the flow's.
    fn of_program(&mut self, at: Time, event: Event<'_>) {
        let Some(was) = event.endpoint() else { return };
        let Some(endpoint) = self.end(was) else { return };
        let totals = self.totals.entry(endpoint).or_default();
        let event = match event {
            Event::DataDelivered { bytes, .. } => {
                totals.delivered += bytes.get();
                let stream_offset = Bytes(totals.delivered);
                Event::DataDelivered { endpoint, bytes, stream_offset }
            }
            Event::AckAdvanced { bytes, .. } => {
                totals.acknowledged += bytes.get();
                let stream_offset = Bytes(totals.acknowledged);
                Event::AckAdvanced { endpoint, bytes, stream_offset }
            }
            Event::SegmentSent { seq, payload, kind, .. } => {
                let takes_numbers = kind != SegmentKind::Reset;
                let seq = match takes_numbers {
                    true => self.seq(was.flow, endpoint, seq, payload.get()),
                    false => seq,
                };
                Event::SegmentSent { endpoint, seq, payload, kind }
            }
            Event::RttSampled { rtt, srtt, rto, .. } => {
                Event::RttSampled { endpoint, rtt, srtt, rto }
            }
            Event::RetransmissionSpurious { seq, bytes, .. } => {
                Event::RetransmissionSpurious { endpoint, seq, bytes }
            }
            Event::DatagramSent { payload, .. } => Event::DatagramSent { endpoint, payload },
            Event::DatagramDelivered { payload, one_way_delay, .. } => {
                Event::DatagramDelivered { endpoint, payload, one_way_delay }
            }
            // States of one of several connections are not the flow's; windows nobody samples.
            _ => return,
        };
        self.inner.emit(at, event);
    }
}

impl<S: Sink> Sink for FoldFlows<S> {
    const ACTIVE: bool = S::ACTIVE;

    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Event::FlowSeen { flow, client, server } = event {
            return self.seen(flow, client, server);
        }
        if event.endpoint().is_some_and(|endpoint| endpoint.flow.0 >= self.known) {
            return self.of_program(at, event);
        }
        match event {
            Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes } => {
                let flow = self.flow(flow);
                let event = Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes };
                self.inner.emit(at, event);
            }
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes } => {
                let flow = self.flow(flow);
                let event =
                    Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes };
                self.inner.emit(at, event);
            }
            Event::PacketDropped { link, packet, reason } => {
                let packet = &self.packet(packet);
                self.inner.emit(at, Event::PacketDropped { link, packet, reason });
            }
            other => self.inner.emit(at, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_events::Recorder;
    use ackord_scenario::ScenarioFile;
    use ackord_units::Span;

    /// `real-programs` has one flow, from the laptop to the server.
    fn fold() -> (FoldFlows<Recorder>, NodeId, NodeId) {
        let file = ScenarioFile::from_library("real-programs").expect("it comes along");
        let scenario = file.check().expect("a sound scenario");
        let (client, server) = (scenario.flows[0].client, scenario.flows[0].server);
        (FoldFlows::new(&scenario, Recorder::default()), client, server)
    }

    fn end(flow: u32, side: Side) -> EndpointId {
        EndpointId { flow: FlowId(flow), side }
    }

    fn sent(flow: u32, side: Side, seq: u32, payload: u64) -> Event<'static> {
        let (payload, kind) = (Bytes(payload), SegmentKind::New);
        Event::SegmentSent { endpoint: end(flow, side), seq: Seq(seq), payload, kind }
    }

    fn delivered(flow: u32, side: Side, bytes: u64, offset: u64) -> Event<'static> {
        let (bytes, stream_offset) = (Bytes(bytes), Bytes(offset));
        Event::DataDelivered { endpoint: end(flow, side), bytes, stream_offset }
    }

    fn told(fold: &FoldFlows<Recorder>) -> Vec<String> {
        fold.inner.0.iter().map(|stamped| stamped.what.clone()).collect()
    }

    fn text(events: &[Event<'_>]) -> Vec<String> {
        events.iter().map(|event| format!("{event:?}")).collect()
    }

    #[test]
    fn connections_of_a_program_add_up_in_whichever_direction_they_were_opened() {
        let (mut fold, client, server) = fold();
        let at = Time::ZERO + Span::from_millis(1);
        fold.emit(at, Event::FlowSeen { flow: FlowId(1), client, server });
        fold.emit(at, sent(1, Side::Client, 700, 0));
        fold.emit(at, sent(1, Side::Client, 701, 100));
        fold.emit(at, delivered(1, Side::Server, 100, 100));
        // The server opens one to the client, and the client sends on it.
        let (client, server) = (server, client);
        fold.emit(at, Event::FlowSeen { flow: FlowId(2), client, server });
        fold.emit(at, sent(2, Side::Server, u32::MAX, 0));
        fold.emit(at, sent(2, Side::Server, 0, 50));
        fold.emit(at, sent(2, Side::Server, 0, 50));
        fold.emit(at, delivered(2, Side::Client, 50, 50));
        fold.emit(at, delivered(1, Side::Server, 30, 130));
        let expected = [
            sent(0, Side::Client, u32::MAX, 0),
            sent(0, Side::Client, 0, 100),
            delivered(0, Side::Server, 100, 100),
            sent(0, Side::Client, 99, 0),
            sent(0, Side::Client, 100, 50),
            sent(0, Side::Client, 100, 50),
            delivered(0, Side::Server, 50, 150),
            delivered(0, Side::Server, 30, 180),
        ];
        assert_eq!(told(&fold), text(&expected));
    }

    #[test]
    fn what_belongs_to_no_flow_is_only_seen_on_links() {
        let (mut fold, client, _) = fold();
        let flow = FlowId(5);
        fold.emit(Time::ZERO, Event::FlowSeen { flow, client, server: NodeId(77) });
        fold.emit(Time::ZERO, sent(5, Side::Client, 1, 10));
        let enqueued = Event::PacketEnqueued {
            link: ackord_events::LinkId(0),
            flow,
            bytes: Bytes(60),
            queue_packets: 1,
            queue_bytes: Bytes(60),
        };
        fold.emit(Time::ZERO, enqueued);
        assert_eq!(told(&fold), text(&[enqueued]));
    }
}
