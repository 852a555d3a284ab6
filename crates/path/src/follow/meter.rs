//! Departures and acknowledgments become facts about the link.

use super::flow::{Departed, FlowRecord};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, FlowId, Packet, Segment};
use std::collections::BTreeMap;

/// Connections that are measured at most; the one idle longest makes room.
const FLOWS: usize = 512;
/// A connection without a departure or an acknowledgment for so long is forgotten.
const FORGOTTEN: Span = Span::from_secs(10);

/// Facts about the link, observed during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkFacts {
    /// End of the interval.
    pub at: Time,
    /// Its length.
    pub over: Span,
    /// Bytes of IP packets that left the shaper.
    pub sent: Bytes,
    /// Of these, bytes of TCP segments whose acknowledgment is measured.
    pub sent_measured: Bytes,
    /// Bytes of measured segments that the mobile hosts acknowledged.
    pub delivered: Bytes,
    /// The shortest time from departure to acknowledgment that no delayed ACK can have prolonged.
    pub delay: Option<Span>,
    /// The shortest time of the others: an upper bound.
    pub delay_bound: Option<Span>,
    /// Measured packets that left the shaper.
    pub packets: u32,
    /// Of these, copies of packets that had left it before and were not acknowledged.
    pub lost: u32,
    /// Measured packets not acknowledged at the end.
    pub outstanding: u32,
    /// Time since the last acknowledgment, while packets are outstanding.
    pub quiet: Span,
}

/// Observes a link from behind the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    flows: BTreeMap<FlowId, FlowRecord>,
    /// Packets outstanding in total.
    outstanding: u32,
    /// Last time at which packets were delivered, or began to be outstanding.
    moved_at: Time,
    facts: LinkFacts,
    began_at: Time,
    swept_at: Time,
}

impl LinkMeter {
    /// Returns a meter that has observed nothing; the first interval begins at `now`.
    pub fn new(now: Time) -> LinkMeter {
        LinkMeter {
            flows: BTreeMap::new(),
            outstanding: 0,
            moved_at: now,
            facts: LinkFacts::default(),
            began_at: now,
            swept_at: now,
        }
    }

    /// Records a packet that left the queue towards the mobile hosts.
    pub fn depart(&mut self, now: Time, packet: &Packet) {
        self.facts.sent += packet.len();
        match packet.tcp {
            Some(segment) if segment.seq_len() > 0 => {
                self.depart_segment(now, (packet.flow, packet.ip_len), &segment);
            }
            _ => {}
        }
    }

    fn depart_segment(&mut self, now: Time, (flow, bytes): (FlowId, u32), segment: &Segment) {
        if !self.flows.contains_key(&flow) {
            self.make_room();
        }
        let record = self.flows.entry(flow).or_default();
        match record.depart(now, segment, bytes) {
            Departed::New => {
                if self.outstanding == 0 {
                    self.moved_at = now;
                }
                self.outstanding += 1;
            }
            Departed::Again => self.facts.lost += 1,
            Departed::Untracked => return,
        }
        self.facts.packets += 1;
        self.facts.sent_measured += Bytes(u64::from(bytes));
    }

    /// Records a packet that arrived from the mobile hosts.
    pub fn arrive(&mut self, now: Time, packet: &Packet) {
        let Some(segment) = packet.tcp.filter(|segment| segment.flags.contains(Flags::ACK)) else {
            return;
        };
        let Some(record) = self.flows.get_mut(&packet.flow) else { return };
        let result = record.acknowledge(now, &segment);
        if segment.flags.contains(Flags::RST) {
            self.forget(packet.flow);
        }
        if result.packets > 0 {
            self.outstanding = self.outstanding.saturating_sub(result.packets);
            self.moved_at = now;
            self.facts.delivered += Bytes(result.bytes);
        }
        let Some(sample) = result.sample else { return };
        let shortest = match result.is_prompt {
            true => &mut self.facts.delay,
            false => &mut self.facts.delay_bound,
        };
        *shortest = Some(shortest.map_or(sample, |before| before.min(sample)));
    }

    /// Returns the facts of the interval that ends at `now`, and begins the next one.
    pub fn facts(&mut self, now: Time) -> LinkFacts {
        if now.saturating_since(self.swept_at) >= Span::from_secs(1) {
            self.swept_at = now;
            self.sweep(now);
        }
        let quiet = match self.outstanding {
            0 => Span::ZERO,
            _ => now.saturating_since(self.moved_at),
        };
        let over = now.saturating_since(self.began_at);
        self.began_at = now;
        let outstanding = self.outstanding;
        LinkFacts { at: now, over, outstanding, quiet, ..std::mem::take(&mut self.facts) }
    }

    fn sweep(&mut self, now: Time) {
        let is_gone = |record: &FlowRecord| now.saturating_since(record.last_at) >= FORGOTTEN;
        let gone: Vec<FlowId> = self
            .flows
            .iter()
            .filter(|(_, record)| is_gone(record))
            .map(|(flow, _)| *flow)
            .collect();
        gone.into_iter().for_each(|flow| self.forget(flow));
    }

    fn make_room(&mut self) {
        if self.flows.len() < FLOWS {
            return;
        }
        let idle = self.flows.iter().min_by_key(|(_, record)| record.last_at);
        if let Some(flow) = idle.map(|(flow, _)| *flow) {
            self.forget(flow);
        }
    }

    fn forget(&mut self, flow: FlowId) {
        if let Some(record) = self.flows.remove(&flow) {
            self.outstanding = self.outstanding.saturating_sub(record.outstanding() as u32);
        }
    }
}
