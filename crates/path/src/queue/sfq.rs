//! Stochastic fair queueing (McKenney 1990): lines by a hash of the flow, served in turn; flows that
//! share a line share its turn, but not for long, because the hash is salted anew from time to
//! time.
//!
//! - *Turns*: one packet per turn, as McKenney has it, or a quantum of bytes per turn as Linux has
//!   it, where a line that has overdrawn its quantum pays it back in the next turn.
//! - *New salts* come at multiples of the period, and what waits then is sorted anew, in the order
//!   of the turns: packets of one flow stay in order (Linux; without it a flow's packets could
//!   overtake one another).
//! - *Full*: the line with most packets, the arriving one counted, loses one (McKenney's buffer
//!   stealing). Among equals the arriving packet's line gives way.
//!
//! Not modelled: a limit per line (Linux's `depth`), RED in every line (Linux's `redflowlimit`).

use super::Queue;
use super::buckets::{BucketBy, Buckets};
use super::drr::PushOut;
use super::fifo::{Limit, Waiting};
use super::knobs::{
    BUCKET_BY, BUCKETS, LIMIT, PUSH_OUT, QUANTUM, QueueKnobs, QueuePlace, UnknownFlow,
};
use super::lines::{Line, Room};
use super::{Dequeued, FlowState, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Keyword, Knobs, RandomStream, Span, Time};
use std::collections::VecDeque;

/// A line per bucket of connections by a hash that changes, served in turn
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "sfq", source = "McKenney 1990")]
pub struct SfqKnobs {
    #[knob(like = LIMIT, default = "127 packets", source = "Linux's sfq")]
    limit: Limit,
    #[knob(like = BUCKETS)]
    buckets: u32,
    #[knob(like = BUCKET_BY)]
    bucket_by: BucketBy,
    /// How often the hash is salted anew; what waits is sorted anew then
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(1_000_000), default = "10 s",
        source = "McKenney 1990 §4; tc-sfq recommends 10 s"
    )]
    perturb_every: Option<Span>,
    /// Whether a line sends a packet per turn, or bytes up to a quantum
    #[knob(default = "packet", source = "McKenney 1990 §3; Linux's sfq has a quantum")]
    turn: TurnOf,
    #[knob(like = QUANTUM, source = "Linux's sfq: one packet of the link's MTU")]
    quantum: Bytes,
    #[knob(like = PUSH_OUT)]
    push_out: PushOut,
}

impl QueueKnobs for SfqKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        Ok(Queue::of(Sfq::new(SfqConfig {
            limit: self.limit,
            buckets: self.buckets,
            bucket_by: self.bucket_by,
            perturb_every: self.perturb_every,
            turn: match self.turn {
                TurnOf::Packet => SfqTurn::Packet,
                TurnOf::Quantum => SfqTurn::Quantum(self.quantum),
            },
            push_out: self.push_out,
            stream: context.stream.clone(),
        })))
    }
}

/// What [`SfqTurn`] there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum TurnOf {
    Packet,
    Quantum,
}

/// How stochastic fair queueing is set up.
#[derive(Clone, Debug)]
pub struct SfqConfig {
    /// Capacity of all lines together.
    pub limit: Limit,
    /// How many lines.
    pub buckets: u32,
    /// How flows are put into lines.
    pub bucket_by: BucketBy,
    /// How often the hash is salted anew; never where absent.
    pub perturb_every: Option<Span>,
    /// What a line may send per turn.
    pub turn: SfqTurn,
    /// Which packet of the longest line makes room.
    pub push_out: PushOut,
    /// Where the salts come from.
    pub stream: RandomStream,
}

/// What a line may send per turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SfqTurn {
    /// One packet.
    Packet,
    /// So many bytes, and the packet that goes beyond them; not zero.
    Quantum(Bytes),
}

/// Stochastic fair queueing.
#[derive(Clone, Debug)]
pub struct Sfq {
    room: Room,
    buckets: Buckets,
    lanes: Vec<Lane>,
    /// Lines with packets; the first is being served.
    active: VecDeque<u32>,
    turn: SfqTurn,
    push_out: PushOut,
    perturb_every: Option<Span>,
    perturb_at: Time,
    stream: RandomStream,
}

/// One line.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    line: Line,
    /// What it may still send in this turn, in the unit of the turn.
    allowance: i64,
}

impl Sfq {
    /// An empty queue.
    pub fn new(mut config: SfqConfig) -> Sfq {
        let buckets = Buckets::new(config.buckets, config.bucket_by, config.stream.next_u64());
        let perturb_every = config.perturb_every.filter(|&every| every > Span::ZERO);
        Sfq {
            room: Room::new(config.limit),
            lanes: vec![Lane::default(); buckets.count() as usize],
            buckets,
            active: VecDeque::new(),
            turn: config.turn,
            push_out: config.push_out,
            perturb_every,
            perturb_at: perturb_every.map_or(Time::NEVER, |every| Time::ZERO + every),
            stream: config.stream,
        }
    }

    /// What a turn gives.
    fn quantum(&self) -> i64 {
        match self.turn {
            SfqTurn::Packet => 1,
            SfqTurn::Quantum(bytes) => bytes.get() as i64,
        }
    }

    /// What a packet costs of it.
    fn cost(&self, slot: Slot) -> i64 {
        match self.turn {
            SfqTurn::Packet => 1,
            SfqTurn::Quantum(_) => i64::from(slot.ip_len),
        }
    }

    /// Salts the hash anew if that was due before `now`.
    fn catch_up(&mut self, now: Time, context: &QueueContext<'_>) {
        let Some(every) = self.perturb_every.filter(|_| self.perturb_at <= now) else { return };
        while self.perturb_at <= now {
            // One draw for each, so that the salt depends on the time alone.
            self.buckets.perturb(self.stream.next_u64());
            self.perturb_at += every;
        }
        self.sort_anew(context);
    }

    /// Puts everything that waits where the present salt wants it.
    fn sort_anew(&mut self, context: &QueueContext<'_>) {
        let mut waiting = Vec::with_capacity(self.room.length().packets as usize);
        for number in self.active.drain(..) {
            let line = &mut self.lanes[number as usize].line;
            waiting.extend(std::iter::from_fn(|| self.room.pop_first(line)));
        }
        for waiting in waiting {
            self.push(waiting, context);
        }
    }

    fn push(&mut self, waiting: Waiting, context: &QueueContext<'_>) {
        let number = self.buckets.of(context.packets[waiting.slot].flow);
        let quantum = self.quantum();
        let lane = &mut self.lanes[number as usize];
        if lane.line.is_empty() {
            lane.allowance = quantum;
            self.active.push_back(number);
        }
        self.room.push(&mut lane.line, waiting);
    }

    /// Makes room for a packet of line `own`, at the cost of the longest line.
    fn make_room(
        &mut self,
        own: u32,
        ip_len: u32,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        while !self.room.has_room_for(ip_len) {
            let packets = |number: u32| self.lanes[number as usize].line.packets();
            let with_newcomer = packets(own) + 1;
            let longest = self.active.iter().copied().max_by_key(|&number| packets(number));
            let longest = longest.filter(|&longest| packets(longest) > with_newcomer);
            let victim = match (longest, self.push_out) {
                (Some(longest), _) => longest,
                (None, PushOut::Head) if packets(own) > 0 => own,
                (None, _) => return Err(DropReason::QueueFull),
            };
            let line = &mut self.lanes[victim as usize].line;
            let gone = match self.push_out {
                PushOut::Tail => self.room.pop_last(line),
                PushOut::Head => self.room.pop_first(line),
            };
            context.drop(gone.expect("it is not empty").slot, DropReason::QueueFull);
            if self.lanes[victim as usize].line.is_empty() {
                self.active.retain(|&number| number != victim);
            }
        }
        Ok(())
    }
}

impl QueueDiscipline for Sfq {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        self.catch_up(now, context);
        let own = self.buckets.of(context.packets[slot].flow);
        self.make_room(own, slot.ip_len, context)?;
        self.push(Waiting { since: now, slot }, context);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        self.catch_up(now, context);
        loop {
            let number = *self.active.front()?;
            let quantum = self.quantum();
            let lane = &mut self.lanes[number as usize];
            if lane.allowance <= 0 {
                lane.allowance += quantum;
                self.active.rotate_left(1);
                continue;
            }
            let waiting = self.room.pop_first(&mut lane.line)?;
            if lane.line.is_empty() {
                self.active.pop_front();
            }
            let cost = self.cost(waiting.slot);
            self.lanes[number as usize].allowance -= cost;
            return Some(waiting.leave(now));
        }
    }

    fn length(&self) -> QueueLength {
        self.room.length()
    }

    /// The buckets and their perturbation stay, and so does the unit of the turn.
    fn adopt(&mut self, fresh: Sfq) -> bool {
        let same_unit = matches!(
            (self.turn, fresh.turn),
            (SfqTurn::Packet, SfqTurn::Packet) | (SfqTurn::Quantum(_), SfqTurn::Quantum(_))
        );
        let same_buckets = self.buckets.is_like(&fresh.buckets);
        if !same_unit || !same_buckets || fresh.perturb_every != self.perturb_every {
            return false;
        }
        self.room.set_capacity_of(&fresh.room);
        (self.turn, self.push_out) = (fresh.turn, fresh.push_out);
        true
    }

    fn flow_state(&self) -> FlowState {
        FlowState::of::<Lane>(self.lanes.len())
    }
}
