//! What foreign hosts send and take, told as our own endpoints tell it.

use super::PacketObserver;
use crate::observed::ObservedEnd;
use crate::tcp_info::TcpInfo;
use ackord_events::{EndpointId, Sink};
use ackord_units::Time;
use ackord_wire::{FlowId, Packet, Side};
use std::collections::BTreeMap;

/// The ends of every connection that foreign hosts have.
#[derive(Debug)]
pub(crate) struct ObservedEnds {
    /// Two for each of the scenario's flows: client, server.
    known: Vec<ObservedEnd>,
    /// Those of other flows that have been seen.
    others: BTreeMap<EndpointId, ObservedEnd>,
}

/// Ends of other flows that are remembered; of more the one that has been known longest is
/// forgotten.
const MOST_OTHERS: usize = 1 << 16;

impl ObservedEnds {
    /// The ends of so many flows of a scenario, and of whatever else turns up.
    pub(crate) fn new(flows: usize) -> ObservedEnds {
        let ends = (0..flows as u32).flat_map(|flow| {
            [Side::Client, Side::Server].map(|side| EndpointId { flow: FlowId(flow), side })
        });
        ObservedEnds { known: ends.map(ObservedEnd::new).collect(), others: BTreeMap::new() }
    }

    fn end(&mut self, endpoint: EndpointId) -> &mut ObservedEnd {
        let index = endpoint.flow.0 as usize * 2 + usize::from(endpoint.side == Side::Server);
        if let Some(known) = self.known.get_mut(index) {
            return known;
        }
        if self.others.len() >= MOST_OTHERS && !self.others.contains_key(&endpoint) {
            self.others.pop_first();
        }
        self.others.entry(endpoint).or_insert_with(|| ObservedEnd::new(endpoint))
    }

    /// The kernel's own view of an end.
    pub(crate) fn sampled<S: Sink>(
        &mut self,
        at: Time,
        endpoint: EndpointId,
        info: &TcpInfo,
        sink: &mut S,
    ) {
        self.end(endpoint).sampled(at, info, sink);
    }
}

impl PacketObserver for ObservedEnds {
    fn entered<S: Sink>(&mut self, at: Time, packet: &Packet, sink: &mut S) {
        if let Some(segment) = &packet.tcp {
            let endpoint = EndpointId { flow: packet.flow, side: packet.from };
            self.end(endpoint).sent(at, segment, sink);
        }
    }

    fn left<S: Sink>(&mut self, at: Time, packet: &Packet, sink: &mut S) {
        if let Some(segment) = &packet.tcp {
            let endpoint = EndpointId { flow: packet.flow, side: packet.from.other() };
            self.end(endpoint).received(at, segment, sink);
        }
    }
}
