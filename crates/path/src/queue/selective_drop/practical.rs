//! Selective drop for use: the paper's one FIFO and one counter per connection, with what the paper
//! leaves open worked out.
//!
//! - **The counter has a memory.** In one FIFO a connection is served in proportion to its places, and
//!   no threshold on places suits every mixture of senders: one that keeps a few packets queued at
//!   all times and one that fills and halves need different ones. So the counter is the packets
//!   queued, plus what the connection was served beyond its share while it shared the link
//!   (`flows.rs`): what one gets too much now it loses later, and the other way round.
//! - **Threshold**: Eq. 9 with the round trip learnt from the traffic (`round_trip.rs`; the link's
//!   own `2 tau` until something is learnt), L_D the running mean of packets with data, N_C the sum
//!   of the weights of connections that this link holds back: that have had two packets queued at
//!   once lately. Telnet and other senders below their share are not among them.
//! - **One signal, then patience.** The paper drops every packet above the threshold, which tears
//!   several holes into one window and ends in a timeout. Here a connection over its threshold loses
//!   one packet, then is spared for two of its own round trips: in the first its sender learns of the
//!   loss, in the second it recovers it, and before that it would not come down again (RFC 5681 §3.2).
//! - **Who is paying back is left alone**: no signal to a connection that has fewer places in the queue
//!   than its share of them. It is served less than its share as it is, and its debt falls.
//! - **Room for fast retransmit**: no signal with fewer than three more of its packets queued, whose
//!   acknowledgments let three follow and so bring three duplicates. Retransmissions are spared.
//! - **The link comes first**, nearly: no signal that would leave the link idle once all who have just
//!   been asked have halved their windows, unless the connection is far over its threshold for the
//!   little that the link would lose ([`PracticalDrop::may_halve`]).
//! - **Who does not listen**: when a connection over its threshold has had as many signals as lead
//!   CUBIC, the slowest to come down, from a full queue to its share of it, and has come down neither to
//!   its share of places nor to its threshold, every packet of its over the threshold is dropped.
//! - **ECN**: an ECN-capable packet is marked where another would be the signal.
//! - **Acknowledgments** without data are not counted and not dropped by share: dropping them does
//!   not slow the connection that fills this queue.
//! - **A full queue** costs whoever has the largest counter for its weight: the newcomer if that is its
//!   own connection, or else the last packet of that connection.
//!
//! Not modelled: connections that split themselves (each has its share); L4S (an ECT(1) packet is
//! marked like an ECT(0) packet).

use super::flows::{Flow, Flows};
use super::{BestWindow, PacketLength, Threshold, Weights};
use crate::packets::Slot;
use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Dequeued, FlowState, QueueContext, QueueDiscipline, QueueLength};
use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Seq, Span, Time, portable};
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
    /// How long a connection counts in N_C after it last had two packets queued at once.
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
    active_for: Span,
}

/// Queued packets of a connection that bring a lost one back: as many as three duplicates.
const ROOM_PACKETS: u32 = 3;
/// What CUBIC leaves of its window (RFC 9438 §4.6); nobody standardised leaves more.
const SLOWEST_DECREASE: f64 = 0.7;
/// What a signal may cost the link, as a part of what its connection is over its threshold.
const IDLE_FOR_DEBT: f64 = 1.0 / 50.0;

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
            flows: Flows::new(config.weights, config.active_for, config.rate),
            active_for: config.active_for,
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
                // A connection's part of the link is weight / all weights, which is what 1 / N_C
                // is in Eq. 8 when all weigh the same.
                let window = BestWindow {
                    round_trip: self.trip(),
                    rate: self.rate,
                    packet_bytes: self.packet_length.bytes(),
                    connections: self.flows.sharing_weight().max(weight),
                };
                factor * window.packets() * weight
            }
        };
        packets.max(1.0)
    }

    /// Whether the link can do without half the window of a connection with so many packets queued, so
    /// many over its threshold, and of all who have just been asked to halve theirs.
    ///
    /// Of `Q` packets waiting `q` belong to one of them, and the link divides as the queue does: with
    /// `B` packets of the link's rate in its own round trip, its window is `q + B q / Q`. Halved, all
    /// together leave packets waiting if half of the sum is at most `Q`; for one connection alone
    /// `Q >= B`, the rule that a buffer should hold a bandwidth-delay product (Villamizar and Song 1994).
    /// If they fall `s` packets short, windows that grow by a packet in each round trip lose the link
    /// `s * s / 2` packets until they are back.
    fn may_halve(&self, now: Time, (queued, trip): (u32, Option<Span>), over: f64) -> bool {
        let waiting = f64::from(self.fifo.length().packets.max(1));
        let per_second = self.rate.as_bits_per_sec() as f64 / (8.0 * self.packet_length.bytes());
        let mean = self.trip();
        let window = |(queued, trip): (u32, Option<Span>)| {
            let path = per_second * trip.unwrap_or(mean).as_secs_f64();
            f64::from(queued) * (1.0 + path / waiting)
        };
        let windows = window((queued, trip)) + self.flows.spared(now).map(window).sum::<f64>();
        let short = (windows / 2.0 - waiting).max(0.0);
        short * short / 2.0 <= over * IDLE_FOR_DEBT
    }

    /// As many signals as bring a window that fills the queue down to this part of it, and one more.
    fn most_unheeded(part: f64) -> u32 {
        let shrinks = portable::ln(part.min(0.5)) / portable::ln(SLOWEST_DECREASE);
        shrinks.ceil() as u32 + 1
    }

    /// Learns from a packet that has arrived, whatever becomes of it. Says whether it repeats
    /// bytes that have passed before.
    fn learn(&mut self, now: Time, packet: &Packet) -> bool {
        self.flows.sweep(now);
        let Some(flow) = self.flows.seen(now, packet.flow) else { return false };
        let mut repeats = false;
        if let Some(segment) = &packet.tcp {
            flow.round_trip.arrived(now, segment);
            if segment.seq_len() > 0 {
                let end = segment.end_seq();
                if segment.flags.contains(Flags::SYN) {
                    flow.high = None;
                }
                if flow.high.is_some_and(|high: Seq| end.at_or_before(high)) {
                    repeats = true;
                }
                flow.high = Some(flow.high.map_or(end, |high| high.max(end)));
            }
        }
        if has_data(packet) {
            self.packet_length.learn(packet.ip_len);
        }
        repeats
    }

    /// Whether a packet with data is within its connection's share.
    fn judge(&mut self, now: Time, packet: &Packet, repeats: bool) -> Verdict {
        let debt_packets = self.flows.debt(packet.flow) / self.packet_length.bytes();
        let Some(flow) = self.flows.get_mut(packet.flow) else { return Verdict::Take };
        let (queued, weight, spared_until) = (flow.queued, flow.weight, flow.spared_until);
        let (unheeded, trip) = (flow.unheeded, flow.round_trip.least());
        // It was refused, or asked, and has kept away.
        let last = flow.signalled_at.max(spared_until);
        let left_alone = now.saturating_since(last) >= self.active_for;
        let part = weight / self.flows.sharing_weight().max(weight);
        let listens = left_alone || unheeded < Self::most_unheeded(part);
        let over = f64::from(queued + 1) + debt_packets - self.threshold(weight);
        let pays_back =
            over > 0.0 && f64::from(queued + 1) < part * f64::from(self.flows.places() + 1);
        let heeds = left_alone || listens && (pays_back || over <= 0.0);
        if let Some(flow) = self.flows.get_mut(packet.flow).filter(|_| heeds) {
            flow.unheeded = 0;
        }
        if over <= 0.0 {
            return Verdict::Take;
        }
        let room = queued >= ROOM_PACKETS && !repeats;
        let due = now >= spared_until && room && !pays_back;
        if listens && !(due && self.may_halve(now, (queued, trip), over)) {
            return Verdict::Take;
        }
        let wait = self.rate.time_for(self.fifo.length().bytes);
        let round_trip = trip.unwrap_or(self.trip()) + wait;
        if let Some(flow) = self.flows.get_mut(packet.flow) {
            flow.signalled_at = now;
            if listens {
                flow.unheeded += 1;
                flow.spared_until = now + round_trip * 2;
            }
        }
        if packet.ecn != Ecn::NotEct && listens { Verdict::Mark } else { Verdict::Drop }
    }

    /// Makes room for a newcomer at the cost of whoever has the largest counter for its weight.
    fn make_room(
        &mut self,
        packet: &Packet,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let packet_bytes = self.packet_length.bytes();
        while !self.fifo.has_room_for(packet.ip_len) {
            let heaviest = self.flows.heaviest(packet_bytes);
            let (heaviest, load) = heaviest.ok_or(DropReason::QueueFull)?;
            let weight = self.flows.get_mut(packet.flow).map(|flow| flow.weight);
            let own = self.flows.load(packet.flow, packet_bytes).zip(weight);
            let own = own.map_or(f64::INFINITY, |(load, weight)| load + packet_bytes / weight);
            if own >= load || heaviest == packet.flow {
                return Err(DropReason::QueueFull);
            }
            self.push_out(heaviest, context);
        }
        Ok(())
    }

    /// Drops the last queued packet with data of a connection that has one.
    fn push_out(&mut self, victim: FlowId, context: &mut QueueContext<'_>) {
        let packets = &*context.packets;
        let is_victim = |slot| packets[slot].flow == victim && has_data(&packets[slot]);
        let slot = self.fifo.remove_last(is_victim).expect("the counter says it is there");
        self.flows.left(victim);
        context.drop(slot, DropReason::QueueFull);
    }

    fn left(&mut self, now: Time, packet: &Packet) {
        if let (Some(flow), Some(segment)) = (self.flows.get_mut(packet.flow), &packet.tcp) {
            flow.round_trip.left(now, segment);
        }
    }
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
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let packet = context.packets[slot];
        let repeats = self.learn(now, &packet);
        let verdict = match has_data(&packet) {
            true => self.judge(now, &packet, repeats),
            false => Verdict::Take,
        };
        if verdict == Verdict::Drop {
            return Err(DropReason::OverShare);
        }
        self.make_room(&packet, context)?;
        self.fifo.offer(now, slot)?;
        if verdict == Verdict::Mark {
            context.mark(slot);
        }
        if has_data(&packet) {
            self.flows.joined(now, packet.flow);
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        let dequeued = self.fifo.pop(now)?;
        let packet = &context.packets[dequeued.slot];
        if has_data(packet) {
            self.flows.served(packet.flow, f64::from(packet.ip_len));
            self.flows.left(packet.flow);
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
        context: &mut QueueContext<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        self.learn(now, &context.packets[slot]);
        self.left(now, &context.packets[slot]);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Mbit/s carries a packet of 1000 B in 8 ms.
    fn queue() -> PracticalDrop {
        PracticalDrop::new(PracticalConfig {
            limit: Limit::Packets(50),
            threshold: Threshold::Fixed(1),
            round_trip: TripSource::Given(Span::from_millis(80)),
            rate: Rate::from_mbits_per_sec(1),
            packet_length: Some(Bytes(1_000)),
            active_for: Span::from_millis(500),
            weights: Weights::default(),
        })
    }

    #[test]
    fn a_near_connection_is_asked_where_a_far_one_would_leave_the_link_idle() {
        let queue = queue();
        // One packet waits, its own; half of a window of 1 + 1 is made up for by it, of 1 + 2 is not.
        let may = |trip, over| {
            let trip = Some(Span::from_millis(trip));
            queue.may_halve(Time::ZERO, (1, trip), over)
        };
        assert!(may(8, 0.0) && !may(16, 0.0));
        // Half a packet short costs an eighth of one, a fiftieth of 6.25.
        assert!(!may(16, 6.2) && may(16, 6.3));
        assert!(!queue.may_halve(Time::ZERO, (1, None), 0.0), "80 ms where nothing is known");
    }

    #[test]
    fn cubic_needs_so_many_signals_to_come_down_to_its_share_of_a_full_queue() {
        // 0.7^2 is below a half, 0.7^4 below a quarter, 0.7^7 below a tenth; and one more.
        assert_eq!([1.0, 0.5, 0.25, 0.1].map(PracticalDrop::most_unheeded), [3, 3, 5, 8]);
    }
}
