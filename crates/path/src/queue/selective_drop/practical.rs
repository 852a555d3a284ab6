//! Selective drop for use: the paper's one FIFO and one counter per connection, with what the paper
//! leaves open worked out.
//!
//! - **Threshold**: Eq. 9 with the round trip learnt from the traffic (`round_trip.rs`; the link's
//!   own `2 tau` until something is learnt), L_D the running mean of packets with data, N_C the sum
//!   of the weights of connections that have sent data lately. Never below four packets: the one
//!   that is lost and three more whose duplicate acknowledgments bring it back (RFC 5681 §3.2). So
//!   a connection that keeps a few packets in the queue, such as Telnet, is never dropped by share.
//! - **One signal per round trip.** The paper drops every packet above the threshold, which tears
//!   several holes into one window and ends in a timeout. Here a connection over its threshold loses
//!   one packet, then is spared until that loss can have had an effect: a round trip and the time
//!   the queue needs to drain. Retransmissions are spared too.
//! - **A hard bound**: above twice the threshold every packet is dropped, so a connection that does
//!   not listen holds at most that much.
//! - **ECN**: an ECN-capable packet is marked where another would be dropped, up to the hard bound.
//! - **Acknowledgments** without data are not counted and not dropped by share: dropping them does
//!   not slow the connection that fills this queue.
//! - **A full queue** costs whoever has most queued for its weight: the newcomer if that is its own
//!   connection, or else the last packet of that connection.
//!
//! Not modelled: connections that split themselves (each has its share); L4S (an ECT(1) packet is
//! marked like an ECT(0) packet).

use super::flows::{Flow, Flows};
use super::{BestWindow, PacketLength, Threshold, Weights};
use crate::packets::Slot;
use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Around, Dequeued, FlowState, QueueDiscipline, QueueLength};
use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, Packet};

/// How the practical form is set up.
#[derive(Clone, Debug)]
pub struct PracticalConfig {
    /// Capacity of the whole queue.
    pub limit: Limit,
    /// Q_thresh.
    pub threshold: Threshold,
    /// The round trip of Eq. 8.
    pub round_trip: TripSource,
    /// BW of Eq. 8: the link's rate.
    pub rate: Rate,
    /// L_D of Eq. 8; the running mean of packets with data where absent.
    pub packet_length: Option<Bytes>,
    /// How long a connection counts in N_C after its last data.
    pub active_for: Span,
    /// Each connection's share as a multiple of the others'.
    pub weights: Weights,
}

/// Where `2 tau + T_ack` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripSource {
    /// Known.
    Given(Span),
    /// Learnt from the packets that pass in both directions.
    Learnt {
        /// Until something has been learnt.
        at_first: Span,
    },
}

/// Selective drop for use.
#[derive(Clone, Debug)]
pub struct PracticalDrop {
    fifo: Fifo,
    threshold: Threshold,
    round_trip: TripSource,
    rate: Rate,
    packet_length: PacketLength,
    flows: Flows,
}

/// Room for a lost packet and the three that tell of it.
const FLOOR_PACKETS: f64 = 4.0;
/// The hard bound as a multiple of the threshold.
const HARD_BOUND: f64 = 2.0;

/// What is to happen to an arriving packet, as far as its share goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Take,
    Mark,
    Drop,
}

impl PracticalDrop {
    /// What it remembers of a connection it has seen lately.
    pub const STATE_BYTES_PER_CONNECTION: usize = size_of::<(FlowId, Flow)>();

    /// An empty queue.
    pub fn new(config: PracticalConfig) -> PracticalDrop {
        let packet_length = match config.packet_length {
            Some(bytes) => PacketLength::Given(bytes.get() as f64),
            None => PacketLength::Mean(None),
        };
        PracticalDrop {
            fifo: Fifo::new(config.limit),
            threshold: config.threshold,
            round_trip: config.round_trip,
            rate: config.rate,
            packet_length,
            flows: Flows::new(config.weights, config.active_for),
        }
    }

    fn trip(&self) -> Span {
        match self.round_trip {
            TripSource::Given(span) => span,
            TripSource::Learnt { at_first } => self.flows.mean_round_trip().unwrap_or(at_first),
        }
    }

    /// Q_thresh in packets for a connection of this weight.
    fn threshold(&self, weight: f64) -> f64 {
        let packets = match self.threshold {
            Threshold::Fixed(packets) => f64::from(packets) * weight,
            Threshold::Best { factor } => {
                // A connection's part of the link is weight / active weight, which is what
                // 1 / N_C is in Eq. 8 when all weigh the same.
                let window = BestWindow {
                    round_trip: self.trip(),
                    rate: self.rate,
                    packet_bytes: self.packet_length.bytes(),
                    connections: self.flows.active_weight(),
                };
                factor * window.packets() * weight
            }
        };
        packets.max(FLOOR_PACKETS)
    }

    /// Learns from a packet that has arrived, whatever becomes of it. Says whether it repeats
    /// octets that have passed before.
    fn learn(&mut self, now: Time, packet: &Packet) -> Repeats {
        self.flows.sweep(now);
        let Some(flow) = self.flows.seen(now, packet.flow) else { return Repeats::No };
        let mut repeats = Repeats::No;
        if let Some(segment) = &packet.tcp {
            flow.round_trip.arrived(now, segment);
            if segment.seq_len() > 0 {
                let end = segment.end_seq();
                if segment.flags.contains(Flags::SYN) {
                    flow.high = None;
                }
                if flow.high.is_some_and(|high: Seq| end.at_or_before(high)) {
                    repeats = Repeats::Yes;
                }
                flow.high = Some(flow.high.map_or(end, |high| high.max(end)));
            }
        }
        if has_data(packet) {
            self.packet_length.learn(packet.ip_len);
            self.flows.data_arrived(now, packet.flow);
        }
        repeats
    }

    /// Whether a packet with data is within its connection's share.
    fn judge(&mut self, now: Time, packet: &Packet, repeats: Repeats) -> Verdict {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return Verdict::Take };
        let (counted, weight, spared_until) = (flow.queued + 1, flow.weight, flow.spared_until);
        let threshold = self.threshold(weight);
        let counted = f64::from(counted);
        if counted <= threshold {
            return Verdict::Take;
        }
        if counted > HARD_BOUND * threshold {
            return Verdict::Drop;
        }
        if packet.ecn != Ecn::NotEct {
            return Verdict::Mark;
        }
        if now < spared_until || repeats == Repeats::Yes {
            return Verdict::Take;
        }
        let effect_at = now + self.trip() + self.rate.time_for(self.fifo.length().bytes);
        if let Some(flow) = self.flows.get_mut(packet.flow) {
            flow.spared_until = effect_at;
        }
        Verdict::Drop
    }

    /// Makes room for a newcomer at the cost of whoever has most queued for its weight.
    fn make_room(&mut self, packet: &Packet, around: &mut Around<'_>) -> Result<(), DropReason> {
        while !self.fifo.has_room_for(packet.ip_len) {
            let (heaviest, load) = self.flows.heaviest().ok_or(DropReason::QueueFull)?;
            let own = self
                .flows
                .get_mut(packet.flow)
                .map_or(f64::INFINITY, |flow| f64::from(flow.queued + 1) / flow.weight);
            if own >= load || heaviest == packet.flow {
                return Err(DropReason::QueueFull);
            }
            self.push_out(heaviest, around);
        }
        Ok(())
    }

    /// Drops the last queued packet with data of a connection that has one.
    fn push_out(&mut self, victim: FlowId, around: &mut Around<'_>) {
        let packets = &*around.packets;
        let is_victim = |slot| packets[slot].flow == victim && has_data(&packets[slot]);
        let slot = self.fifo.remove_last(is_victim).expect("the counter says it is there");
        self.uncount(victim);
        around.drop(slot, DropReason::QueueFull);
    }

    fn uncount(&mut self, flow: FlowId) {
        // A connection beyond those told apart was never counted.
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.queued = flow.queued.saturating_sub(1);
        }
    }

    fn left(&mut self, now: Time, packet: &Packet) {
        if let (Some(flow), Some(segment)) = (self.flows.get_mut(packet.flow), &packet.tcp) {
            flow.round_trip.left(now, segment);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    No,
    Yes,
}

/// Anything but a segment without sequence space.
fn has_data(packet: &Packet) -> bool {
    packet.tcp.as_ref().is_none_or(|segment| segment.seq_len() > 0)
}

impl QueueDiscipline for PracticalDrop {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<(), DropReason> {
        let packet = around.packets[slot];
        let repeats = self.learn(now, &packet);
        let verdict = match has_data(&packet) {
            true => self.judge(now, &packet, repeats),
            false => Verdict::Take,
        };
        if verdict == Verdict::Drop {
            return Err(DropReason::OverShare);
        }
        self.make_room(&packet, around)?;
        self.fifo.offer(now, slot)?;
        if verdict == Verdict::Mark {
            around.mark(slot);
        }
        if has_data(&packet)
            && let Some(flow) = self.flows.get_mut(packet.flow)
        {
            flow.queued += 1;
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, around: &mut Around<'_>) -> Option<Dequeued> {
        let dequeued = self.fifo.pop(now)?;
        let packet = &around.packets[dequeued.slot];
        if has_data(packet) {
            self.uncount(packet.flow);
        }
        self.left(now, packet);
        Some(dequeued)
    }

    fn length(&self) -> QueueLength {
        self.fifo.length()
    }

    fn pass(
        &mut self,
        now: Time,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        self.learn(now, &around.packets[slot]);
        self.left(now, &around.packets[slot]);
        Ok(Some(slot))
    }

    fn observe_reverse(&mut self, now: Time, packet: &Packet) {
        let Some(segment) = &packet.tcp else { return };
        // Only what opens or carries data makes a connection known from this side.
        let flow = match segment.seq_len() > 0 {
            true => self.flows.seen(now, packet.flow),
            false => self.flows.get_mut(packet.flow),
        };
        if let Some(flow) = flow {
            flow.round_trip.came_back(now, segment);
        }
    }

    fn wants_reverse(&self) -> bool {
        matches!(self.round_trip, TripSource::Learnt { .. })
    }

    fn flow_state(&self) -> FlowState {
        FlowState::of::<(FlowId, Flow)>(self.flows.most())
    }
}
