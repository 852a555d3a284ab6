//! FQ-CoDel (RFC 8290): lines by a hash of the flow, served in turn by bytes, each under its own
//! CoDel; a line that has just become active goes before those that keep one.
//!
//! - *Two lists* (§4.2): new lines come first until they have used a quantum; a new line that
//!   becomes empty goes to the end of the old ones, so that it cannot jump the others by pausing.
//! - *Overload* (§4.1): when there are too many packets or bytes, the line with most bytes loses
//!   half of its packets from the head, at most a batch. They count as refused for want of room.
//! - CoDel looks at its own line's bytes for the MTU rule, as RFC 8289 has it for one queue (Linux
//!   looks at all lines').
//! - A line's CoDel keeps its state while it has no packets, as buckets stay.
//!
//! Not modelled: kernel memory per packet (the memory limit counts bytes of IP packets).

use super::Queue;
use super::buckets::{BucketBy, Buckets};
use super::codel::{CE_THRESHOLD, INTERVAL, MTU, TARGET};
use super::codel::{CodelConfig, Controller, Source};
use super::fifo::{Limit, Waiting};
use super::knobs::{BUCKET_BY, BUCKETS, ECN, LIMIT, QUANTUM, QueueKnobs, QueuePlace, UnknownFlow};
use super::lines::{Line, Room};
use super::{Dequeued, FlowState, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Knobs, RandomStream, Span, Time};
use std::collections::VecDeque;

/// A line per bucket of connections, each under CoDel; lines new to the queue go first
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "fq-codel", source = "RFC 8290")]
pub struct FqCodelKnobs {
    #[knob(like = LIMIT, default = "10240 packets", source = "RFC 8290 §5.2.2")]
    limit: Limit,
    /// Bytes of packets that may wait beside the limit
    #[knob(
        min = Bytes(1), max = Bytes(1_000_000_000_000), default = "32 MiB",
        source = "Linux's fq_codel"
    )]
    memory_limit: Bytes,
    #[knob(like = BUCKETS)]
    buckets: u32,
    #[knob(like = BUCKET_BY)]
    bucket_by: BucketBy,
    #[knob(like = QUANTUM, default = "1514 B", source = "RFC 8290 §5.2.4")]
    quantum: Bytes,
    /// The most packets an overfull queue takes from the longest line at once, of half of its packets
    #[knob(min = 1, max = 1_000_000, unit = "packets", default = "64", source = "RFC 8290 §4.1")]
    drop_batch: u32,
    #[knob(like = TARGET)]
    target: Span,
    #[knob(like = INTERVAL)]
    interval: Span,
    #[knob(like = MTU)]
    mtu: Bytes,
    #[knob(like = ECN, default = "on", source = "RFC 8290 §5.2.6")]
    ecn: bool,
    #[knob(like = CE_THRESHOLD)]
    ce_threshold: Option<Span>,
}

impl QueueKnobs for FqCodelKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        Ok(Queue::of(FqCodel::new(FqCodelConfig {
            limit: self.limit,
            memory_limit: self.memory_limit,
            buckets: self.buckets,
            bucket_by: self.bucket_by,
            quantum: self.quantum,
            drop_batch: self.drop_batch,
            codel: CodelConfig {
                target: self.target,
                interval: self.interval,
                mtu: self.mtu,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold,
            },
            stream: context.stream.clone(),
        })))
    }
}

/// How FQ-CoDel is set up.
#[derive(Clone, Debug)]
pub struct FqCodelConfig {
    /// Capacity of all lines together.
    pub limit: Limit,
    /// Bytes of all lines together, where `limit` counts packets.
    pub memory_limit: Bytes,
    /// How many lines.
    pub buckets: u32,
    /// How flows are put into lines.
    pub bucket_by: BucketBy,
    /// Bytes a line may send per turn; not zero.
    pub quantum: Bytes,
    /// The most packets an overload takes from the longest line at once; at least one.
    pub drop_batch: u32,
    /// The CoDel of each line.
    pub codel: CodelConfig,
    /// Where the hash's salt comes from.
    pub stream: RandomStream,
}

/// Flow queues under CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    room: Room,
    memory_limit: u64,
    buckets: Buckets,
    lanes: Vec<Lane>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    quantum: i64,
    drop_batch: u32,
    codel: CodelConfig,
}

/// One line.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    line: Line,
    /// Bytes it may still send in this turn.
    credits: i64,
    is_listed: bool,
    controller: Controller,
}

/// A line as CoDel sees it.
struct InRoom<'a> {
    room: &'a mut Room,
    line: &'a mut Line,
}

impl Source for InRoom<'_> {
    fn pop(&mut self, now: Time) -> Option<Dequeued> {
        Some(self.room.pop_first(self.line)?.leave(now))
    }

    fn bytes(&self) -> u64 {
        self.line.bytes()
    }
}

impl FqCodel {
    /// An empty queue.
    pub fn new(mut config: FqCodelConfig) -> FqCodel {
        let buckets = Buckets::new(config.buckets, config.bucket_by, config.stream.next_u64());
        FqCodel {
            room: Room::new(config.limit),
            memory_limit: config.memory_limit.get(),
            lanes: vec![Lane::default(); buckets.count() as usize],
            buckets,
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: config.quantum.get() as i64,
            drop_batch: config.drop_batch.max(1),
            codel: config.codel,
        }
    }

    fn is_overfull(&self) -> bool {
        self.room.is_overfull() || self.room.length().bytes.get() > self.memory_limit
    }

    /// Drops from the head of the line with most bytes. Whether `newcomer`, which is the last of
    /// its line, was among them.
    fn drop_batch(
        &mut self,
        newcomer: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let bytes = |lane: &u32| self.lanes[*lane as usize].line.bytes();
        let Some(fattest) = self.new.iter().chain(&self.old).copied().max_by_key(bytes) else {
            return Ok(());
        };
        let line = &mut self.lanes[fattest as usize].line;
        let batch = line.packets().div_ceil(2).min(self.drop_batch);
        for _ in 0..batch {
            let Some(gone) = self.room.pop_first(line) else { break };
            if gone.slot == newcomer {
                return Err(DropReason::QueueFull);
            }
            context.drop(gone.slot, DropReason::QueueFull);
        }
        Ok(())
    }
}

impl QueueDiscipline for FqCodel {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let number = self.buckets.of(context.packets[slot].flow);
        let lane = &mut self.lanes[number as usize];
        self.room.push(&mut lane.line, Waiting { since: now, slot });
        if !lane.is_listed {
            lane.is_listed = true;
            lane.credits = self.quantum;
            self.new.push_back(number);
        }
        while self.is_overfull() {
            self.drop_batch(slot, context)?;
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let lane = &mut self.lanes[number as usize];
            if lane.credits <= 0 {
                lane.credits += self.quantum;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let source = &mut InRoom { room: &mut self.room, line: &mut lane.line };
            match lane.controller.next(&self.codel, now, source, context) {
                Some(dequeued) => {
                    lane.credits -= i64::from(dequeued.slot.ip_len);
                    return Some(dequeued);
                }
                None => {
                    list.pop_front();
                    if from_new {
                        self.old.push_back(number);
                    } else {
                        lane.is_listed = false;
                    }
                }
            }
        }
    }

    fn length(&self) -> QueueLength {
        self.room.length()
    }

    /// The buckets stay, and each line's controller keeps its state, as in Linux's `fq_codel_change`.
    fn adopt(&mut self, fresh: FqCodel) -> bool {
        if !self.buckets.is_like(&fresh.buckets) {
            return false;
        }
        self.room.set_capacity_of(&fresh.room);
        let FqCodel { memory_limit, quantum, drop_batch, codel, .. } = fresh;
        (self.memory_limit, self.quantum) = (memory_limit, quantum);
        (self.drop_batch, self.codel) = (drop_batch, codel);
        true
    }

    fn flow_state(&self) -> FlowState {
        FlowState::of::<Lane>(self.lanes.len())
    }
}
