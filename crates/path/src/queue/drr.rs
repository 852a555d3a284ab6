//! Deficit round robin (Shreedhar and Varghese 1995): a line per connection, served in turn, each
//! with a quantum of bytes per turn and a counter that carries over what a turn left unused.
//!
//! One line for each connection, not for each bucket of a hash: the paper's analysis is of that
//! case. A connection whose line becomes empty leaves the list of active ones at once and its
//! deficit is forgotten, as in the paper (§3.2: a flow may not save up while it has nothing to
//! send). The paper says "quantum" of each flow; here it is one quantum times a weight per flow.
//!
//! *Full*: the paper steals a buffer from the longest queue (McKenney 1990). The longest is the one
//! with most bytes for its weight, the arriving packet counted; which of its packets goes, the
//! paper leaves open: [`PushOut`]. By default it is the first, as in ns-2: its sender learns of the
//! loss a queueing delay sooner and overshoots by so much less. Among equals the connection that arrives gives way, and among
//! others the one longest in the list.
//!
//! Not modelled: lines per bucket of a hash (see SFQ for what collisions do).

use super::Queue;
use super::fifo::{Limit, Waiting};
use super::flow_table::FlowTable;
use super::knobs::{LIMIT, PUSH_OUT, QUANTUM, QueueKnobs, QueuePlace, UnknownFlow, WEIGHTS};
use super::lines::{Line, Room};
use super::{Dequeued, FlowState, QueueContext, QueueDiscipline, QueueLength, Weights};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Keyword, Knobs, Time};
use ackord_wire::FlowId;
use std::collections::{BTreeMap, VecDeque};

/// A line per connection, served in turn by bytes
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "drr", source = "Shreedhar and Varghese 1995")]
pub struct DrrKnobs {
    #[knob(like = LIMIT)]
    limit: Limit,
    #[knob(like = QUANTUM)]
    quantum: Bytes,
    #[knob(
        like = PUSH_OUT, default = "head",
        source = "ns-2's DRR; Shreedhar and Varghese 1995 leave it open"
    )]
    push_out: PushOut,
    #[knob(like = WEIGHTS)]
    weights: Option<BTreeMap<String, f64>>,
}

impl QueueKnobs for DrrKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        Ok(Queue::of(Drr::new(DrrConfig {
            limit: self.limit,
            quantum: self.quantum,
            push_out: self.push_out,
            weights: context.weights(&self.weights)?,
        })))
    }
}

/// How deficit round robin is set up.
#[derive(Clone, Debug)]
pub struct DrrConfig {
    /// Capacity of all lines together.
    pub limit: Limit,
    /// Q: bytes a connection of weight one may send per turn; not zero.
    pub quantum: Bytes,
    /// Which packet of the longest line makes room.
    pub push_out: PushOut,
    /// Factors on the quantum.
    pub weights: Weights,
}

/// Which packet of the longest line goes when there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum PushOut {
    /// The one that came last; it may be the arriving one.
    #[default]
    Tail,
    /// The one that has waited longest: its sender learns of it sooner.
    Head,
}

/// Deficit round robin.
#[derive(Clone, Debug)]
pub struct Drr {
    room: Room,
    flows: FlowTable<Flow>,
    /// Connections with packets in line; the first is being served.
    active: VecDeque<u32>,
    /// Whether the first in the list has had its quantum for this turn.
    turn_begun: bool,
    quantum: f64,
    push_out: PushOut,
    weights: Weights,
}

/// A connection with packets in line.
#[derive(Clone, Debug)]
struct Flow {
    id: FlowId,
    line: Line,
    /// DC_i: bytes it may send in this turn, or what was left of the last one.
    deficit: u64,
    /// Q_i.
    quantum: u64,
    weight: f64,
}

impl Drr {
    /// An empty queue.
    pub fn new(config: DrrConfig) -> Drr {
        Drr {
            room: Room::new(config.limit),
            flows: FlowTable::new(),
            active: VecDeque::new(),
            turn_begun: false,
            quantum: config.quantum.get() as f64,
            push_out: config.push_out,
            weights: config.weights,
        }
    }

    /// The entry of a connection; a new one is not yet in the list.
    fn flow(&mut self, id: FlowId) -> u32 {
        let (quantum, weights) = (self.quantum, &self.weights);
        self.flows.find_or_insert(id, || {
            let weight = weights.of(id);
            let quantum = (quantum * weight).round().max(1.0) as u64;
            Flow { id, line: Line::default(), deficit: 0, quantum, weight }
        })
    }

    /// Makes room for a packet of connection `own`, at the cost of the longest line.
    fn make_room(
        &mut self,
        own: u32,
        ip_len: u32,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        while !self.room.has_room_for(ip_len) {
            let with_newcomer = self.flows[own].load(u64::from(ip_len));
            let longest = self.longest().filter(|&(_, load)| load > with_newcomer);
            let victim = match (longest, self.push_out) {
                (Some((longest, _)), _) => longest,
                (None, PushOut::Head) if !self.flows[own].line.is_empty() => own,
                (None, _) => return Err(DropReason::QueueFull),
            };
            let line = &mut self.flows[victim].line;
            let gone = match self.push_out {
                PushOut::Tail => self.room.pop_last(line),
                PushOut::Head => self.room.pop_first(line),
            };
            context.drop(gone.expect("it is not empty").slot, DropReason::QueueFull);
            if self.flows[victim].line.is_empty() && victim != own {
                self.deactivate(victim);
            }
        }
        Ok(())
    }

    /// The longest line for its weight.
    fn longest(&self) -> Option<(u32, f64)> {
        let mut longest = None;
        for &number in &self.active {
            let load = self.flows[number].load(0);
            if longest.is_none_or(|(_, most)| load > most) {
                longest = Some((number, load));
            }
        }
        longest
    }

    /// A line has become empty.
    fn deactivate(&mut self, number: u32) {
        if let Some(place) = self.active.iter().position(|&active| active == number) {
            self.active.remove(place);
            if place == 0 {
                self.turn_begun = false;
            }
        }
        self.flows.remove(self.flows[number].id);
    }
}

impl Flow {
    /// Bytes in line and `more`, for its weight.
    fn load(&self, more: u64) -> f64 {
        (self.line.bytes() + more) as f64 / self.weight
    }
}

impl QueueDiscipline for Drr {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let own = self.flow(context.packets[slot].flow);
        let was_empty = self.flows[own].line.is_empty();
        if let Err(reason) = self.make_room(own, slot.ip_len, context) {
            if self.flows[own].line.is_empty() {
                self.deactivate(own);
            }
            return Err(reason);
        }
        self.room.push(&mut self.flows[own].line, Waiting { since: now, slot });
        if was_empty {
            self.active.push_back(own);
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, _: &mut QueueContext<'_>) -> Option<Dequeued> {
        loop {
            let number = *self.active.front()?;
            let flow = &mut self.flows[number];
            if !self.turn_begun {
                flow.deficit += flow.quantum;
                self.turn_begun = true;
            }
            let first = self.room.first(&flow.line).expect("an active line has packets");
            let bytes = u64::from(first.slot.ip_len);
            if bytes > flow.deficit {
                self.active.rotate_left(1);
                self.turn_begun = false;
                continue;
            }
            flow.deficit -= bytes;
            let waiting = self.room.pop_first(&mut flow.line)?;
            if flow.line.is_empty() {
                self.deactivate(number);
            }
            return Some(waiting.leave(now));
        }
    }

    fn length(&self) -> QueueLength {
        self.room.length()
    }

    /// Quantum and weights stay: each flow has its own of them since its first packet.
    fn adopt(&mut self, fresh: Drr) -> bool {
        if fresh.quantum != self.quantum || fresh.weights != self.weights {
            return false;
        }
        self.room.set_capacity_of(&fresh.room);
        self.push_out = fresh.push_out;
        true
    }

    fn flow_state(&self) -> FlowState {
        self.flows.state()
    }
}
