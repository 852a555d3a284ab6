//! The connections a box knows, in bounded space, and which of them wants to be called next.
//!
//! Alarms stand in a heap. A connection's alarm mostly moves later, with every packet, so that is
//! left alone: it strikes early, finds nothing to do, and is set anew. What is in the heap and no
//! longer true is told by its time.

use super::super::ProxyStats;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::FlowId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What the table has to know of a connection.
pub(super) trait Tracked {
    /// When it wants to be called.
    fn due_at(&self) -> Time;
    /// Data it keeps.
    fn cached(&self) -> Bytes;
}

/// How much a box may remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections.
    pub flows: usize,
    /// Data of one connection.
    pub cache_per_flow: Bytes,
    /// Data of all of them.
    pub cache: Bytes,
}

/// The connections of a box.
#[derive(Clone, Debug)]
pub(super) struct Flows<F> {
    flows: BTreeMap<FlowId, Kept<F>>,
    alarms: BinaryHeap<Reverse<(Time, FlowId)>>,
    limits: Limits,
    cached: u64,
    /// Nobody is looked for to make room before this.
    look_again_at: Time,
}

#[derive(Clone, Debug)]
struct Kept<F> {
    flow: F,
    seen_at: Time,
    /// When it is in the heap; [`Time::NEVER`] if it is not.
    alarm_at: Time,
    cached: u64,
}

/// A connection that has been silent for so long may be forgotten to make room for another.
const IDLE_FOR: Span = Span::from_secs(30);
/// Who may be forgotten is not looked up more often than this: it takes a pass over all of them.
const LOOK_EVERY: Span = Span::from_secs(1);

impl<F: Tracked> Flows<F> {
    pub(super) fn new(limits: Limits) -> Flows<F> {
        Flows {
            flows: BTreeMap::new(),
            alarms: BinaryHeap::new(),
            limits,
            cached: 0,
            look_again_at: Time::ZERO,
        }
    }

    /// Whether so much more data fits beside that of all connections.
    pub(super) fn has_room_for(&self, more: u32) -> bool {
        self.cached + u64::from(more) <= self.limits.cache.get()
    }

    /// A packet of the connection passed: the connection, made known if there is room.
    pub(super) fn seen(
        &mut self,
        now: Time,
        id: FlowId,
        stats: &mut ProxyStats,
        begin: impl FnOnce(&Limits) -> F,
    ) -> Option<&mut F> {
        if !self.flows.contains_key(&id) {
            if self.flows.len() >= self.limits.flows && !self.make_room(now, stats) {
                stats.flows_refused += 1;
                return None;
            }
            let flow = begin(&self.limits);
            self.flows.insert(id, Kept { flow, seen_at: now, alarm_at: Time::NEVER, cached: 0 });
            stats.set_flows(self.flows.len());
        }
        let kept = self.flows.get_mut(&id)?;
        kept.seen_at = now;
        Some(&mut kept.flow)
    }

    /// A connection that is known.
    pub(super) fn get_mut(&mut self, id: FlowId) -> Option<&mut F> {
        self.flows.get_mut(&id).map(|kept| &mut kept.flow)
    }

    /// All of them, by number.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (FlowId, &mut F)> {
        self.flows.iter_mut().map(|(&id, kept)| (id, &mut kept.flow))
    }

    /// Something about the connection may have changed: its alarm and what it keeps are looked at.
    /// No alarm is set before `earliest`.
    pub(super) fn settle(&mut self, id: FlowId, earliest: Time, stats: &mut ProxyStats) {
        let Some(kept) = self.flows.get_mut(&id) else { return };
        let cached = kept.flow.cached().get();
        self.cached = self.cached - kept.cached + cached;
        kept.cached = cached;
        stats.set_cached(Bytes(self.cached));
        let due_at = kept.flow.due_at();
        if due_at < kept.alarm_at {
            kept.alarm_at = due_at.max(earliest);
            self.alarms.push(Reverse((kept.alarm_at, id)));
            self.sweep();
        }
    }

    /// When the next alarm strikes. There may be nothing to do then.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// A connection that is due at `now`.
    pub(super) fn due(&mut self, now: Time) -> Option<FlowId> {
        while let Some(&Reverse((at, id))) = self.alarms.peek() {
            if at > now {
                return None;
            }
            self.alarms.pop();
            let Some(kept) = self.flows.get_mut(&id).filter(|kept| kept.alarm_at == at) else {
                continue;
            };
            let due_at = kept.flow.due_at();
            if due_at <= now {
                kept.alarm_at = Time::NEVER;
                return Some(id);
            }
            kept.alarm_at = due_at;
            if due_at < Time::NEVER {
                self.alarms.push(Reverse((due_at, id)));
            }
        }
        None
    }

    /// Forgets a connection.
    pub(super) fn forget(&mut self, id: FlowId, stats: &mut ProxyStats) {
        if let Some(kept) = self.flows.remove(&id) {
            self.cached -= kept.cached;
            stats.set_cached(Bytes(self.cached));
            stats.set_flows(self.flows.len());
        }
    }

    /// Forgets the connection that has been silent longest, if that is long enough.
    pub(super) fn make_room(&mut self, now: Time, stats: &mut ProxyStats) -> bool {
        if now < self.look_again_at {
            return false;
        }
        let oldest = self.flows.iter().min_by_key(|(_, kept)| kept.seen_at);
        let Some((&id, kept)) = oldest else { return false };
        if now.saturating_since(kept.seen_at) < IDLE_FOR {
            self.look_again_at = now + LOOK_EVERY;
            return false;
        }
        stats.evicted += Bytes(kept.cached);
        self.forget(id, stats);
        true
    }

    /// Drops alarms that are no longer true, once they outnumber the others.
    fn sweep(&mut self) {
        if self.alarms.len() > 64 + 4 * self.flows.len() {
            let flows = &self.flows;
            self.alarms
                .retain(|Reverse((at, id))| flows.get(id).is_some_and(|kept| kept.alarm_at == *at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Plain {
        due_at: Time,
        cached: u64,
    }

    impl Tracked for Plain {
        fn due_at(&self) -> Time {
            self.due_at
        }
        fn cached(&self) -> Bytes {
            Bytes(self.cached)
        }
    }

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn flows() -> Flows<Plain> {
        Flows::new(Limits { flows: 2, cache_per_flow: Bytes(1_000), cache: Bytes(1_500) })
    }

    fn plain(_: &Limits) -> Plain {
        Plain { due_at: Time::NEVER, cached: 0 }
    }

    #[test]
    fn alarms_strike_in_order_and_the_ones_that_moved_later_do_not_strike_early() {
        let (mut flows, mut stats) = (flows(), ProxyStats::default());
        for (id, due) in [(1, 50), (2, 30)] {
            flows.seen(at(0), FlowId(id), &mut stats, plain).expect("room").due_at = at(due);
            flows.settle(FlowId(id), at(0), &mut stats);
        }
        flows.get_mut(FlowId(2)).expect("known").due_at = at(70);
        flows.settle(FlowId(2), at(10), &mut stats);
        assert_eq!(flows.deadline(), Some(at(30)));
        assert_eq!(flows.due(at(30)), None, "it was put off");
        assert_eq!(flows.due(at(60)), Some(FlowId(1)));
        assert_eq!(flows.due(at(60)), None);
        assert_eq!(flows.due(at(70)), Some(FlowId(2)));
    }

    #[test]
    fn an_alarm_that_moved_earlier_strikes_once() {
        let (mut flows, mut stats) = (flows(), ProxyStats::default());
        flows.seen(at(0), FlowId(1), &mut stats, plain).expect("room").due_at = at(50);
        flows.settle(FlowId(1), at(0), &mut stats);
        flows.get_mut(FlowId(1)).expect("known").due_at = at(20);
        flows.settle(FlowId(1), at(0), &mut stats);
        assert_eq!(flows.due(at(20)), Some(FlowId(1)));
        flows.get_mut(FlowId(1)).expect("known").due_at = Time::NEVER;
        flows.settle(FlowId(1), at(20), &mut stats);
        assert_eq!(flows.due(at(100)), None);
        assert_eq!(flows.deadline(), None);
    }

    #[test]
    fn a_full_table_refuses_until_somebody_has_been_silent_for_long() {
        let (mut flows, mut stats) = (flows(), ProxyStats::default());
        for id in 0..2 {
            flows.seen(at(u64::from(id)), FlowId(id), &mut stats, plain).expect("room").cached =
                700;
            flows.settle(FlowId(id), at(0), &mut stats);
        }
        assert!(!flows.has_room_for(200) && flows.has_room_for(100));
        assert!(flows.seen(at(100), FlowId(9), &mut stats, plain).is_none());
        assert!(flows.seen(at(40_000), FlowId(9), &mut stats, plain).is_some());
        assert!(flows.get_mut(FlowId(0)).is_none(), "silent longest");
        assert_eq!((stats.flows, stats.peak_flows, stats.flows_refused), (2, 2, 1));
        assert_eq!((stats.evicted, stats.cached, stats.peak_cached), {
            (Bytes(700), Bytes(700), Bytes(1_400))
        });
    }

    #[test]
    fn the_heap_does_not_outgrow_the_table() {
        let (mut flows, mut stats) = (flows(), ProxyStats::default());
        for millis in (0..100_000).rev() {
            flows.seen(at(0), FlowId(1), &mut stats, plain).expect("room").due_at = at(millis);
            flows.settle(FlowId(1), at(0), &mut stats);
        }
        assert!(flows.alarms.len() < 100, "{}", flows.alarms.len());
    }
}
