//! Selective drop as the paper has it (Chae and Choi 2004 §4.1, Eq. 8 and 9).
//!
//! *More than Q_thresh.* The text says: when a new packet arrives and joins the queue, the number of
//! packets of its connection in the queue, Counter_TCP_N, is compared with Q_thresh, and if it is
//! greater the packet is discarded. So the newcomer counts and the comparison is strict: a
//! connection keeps up to Q_thresh packets queued. The other reading, in which the newcomer does not
//! count and one packet more may queue, is [`PaperConfig::arrival_counts`] switched off.
//!
//! N_C is the number of connections with a packet queued, the arriving one's included. Every packet
//! counts, acknowledgments too: the paper's counters do not look inside.
//!
//! The paper does not say what the packet being transmitted is; here it has left the queue.

use super::{BestWindow, PacketLength, Threshold, Weights};
use crate::packets::Slot;
use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Dequeued, FlowState, QueueContext, QueueDiscipline, QueueLength};
use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Span, Time};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

/// How the paper's form is set up.
#[derive(Clone, Debug)]
pub struct PaperConfig {
    /// Capacity of the whole queue.
    pub limit: Limit,
    /// Q_thresh.
    pub threshold: Threshold,
    /// Whether the arriving packet counts when it is compared with Q_thresh.
    pub arrival_counts: bool,
    /// 2 tau + T_ack of Eq. 8.
    pub round_trip: Span,
    /// BW of Eq. 8: the link's rate.
    pub rate: Rate,
    /// L_D of Eq. 8; the running mean of arriving packets where absent.
    pub packet_length: Option<Bytes>,
    /// Factors on Q_thresh.
    pub weights: Weights,
}

/// Selective drop as the paper describes it.
#[derive(Clone, Debug)]
pub struct PaperDrop {
    fifo: Fifo,
    config: PaperConfig,
    packet_length: PacketLength,
    /// Counter_TCP_N. Connections at zero are swept out when they outnumber the others.
    counters: BTreeMap<FlowId, u32>,
    /// The most counters there have been at once.
    most_counters: usize,
    /// Connections with a packet queued.
    queueing: u32,
}

impl PaperDrop {
    /// What it remembers of a connection with packets queued.
    pub const STATE_BYTES_PER_CONNECTION: usize = size_of::<(FlowId, u32)>();

    /// An empty queue.
    pub fn new(config: PaperConfig) -> PaperDrop {
        let packet_length = match config.packet_length {
            Some(bytes) => PacketLength::Given(bytes.get() as f64),
            None => PacketLength::Mean(None),
        };
        PaperDrop {
            fifo: Fifo::new(config.limit),
            packet_length,
            config,
            counters: BTreeMap::new(),
            most_counters: 0,
            queueing: 0,
        }
    }

    /// Q_thresh of a connection while `connections` have packets queued; at least one packet.
    fn threshold(&self, flow: FlowId, connections: u32) -> f64 {
        let packets = match self.config.threshold {
            Threshold::Fixed(packets) => f64::from(packets),
            Threshold::Best { factor } => {
                let window = BestWindow {
                    round_trip: self.config.round_trip,
                    rate: self.config.rate,
                    packet_bytes: self.packet_length.bytes(),
                    connections: f64::from(connections),
                };
                factor * window.packets()
            }
        };
        (packets * self.config.weights.of(flow)).max(1.0)
    }

    fn sweep(&mut self) {
        if self.counters.len() > 64 + 2 * self.queueing as usize {
            self.counters.retain(|_, queued| *queued > 0);
        }
    }
}

impl QueueDiscipline for PaperDrop {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let flow = context.packets[slot].flow;
        self.packet_length.learn(slot.ip_len);
        let queued = self.counters.get(&flow).copied().unwrap_or(0);
        let connections = self.queueing + u32::from(queued == 0);
        let counted = queued + u32::from(self.config.arrival_counts);
        if f64::from(counted) > self.threshold(flow, connections) {
            return Err(DropReason::OverShare);
        }
        self.fifo.offer(now, slot)?;
        self.counters.insert(flow, queued + 1);
        self.most_counters = self.most_counters.max(self.counters.len());
        self.queueing = connections;
        self.sweep();
        Ok(())
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        let dequeued = self.fifo.pop(now)?;
        let flow = context.packets[dequeued.slot].flow;
        let queued = self.counters.get_mut(&flow).expect("what is queued has been counted");
        *queued -= 1;
        self.queueing -= u32::from(*queued == 0);
        Some(dequeued)
    }

    fn length(&self) -> QueueLength {
        self.fifo.length()
    }

    /// It is never queued, so no counter moves; with none of its packets queued it is not over.
    fn pass(
        &mut self,
        _now: Time,
        slot: Slot,
        _around: &mut QueueContext<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        self.packet_length.learn(slot.ip_len);
        Ok(Some(slot))
    }

    fn flow_state(&self) -> FlowState {
        FlowState::of::<(FlowId, u32)>(self.most_counters)
    }
}
