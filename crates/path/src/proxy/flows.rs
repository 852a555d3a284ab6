//! The connections a box knows, at most so many, each forgotten when nothing of it passes for long.

use ackord_units::{Span, Time};
use ackord_wire::FlowId;
use std::collections::{BTreeMap, BTreeSet};

/// What a box keeps of one connection.
pub trait Kept {
    /// When it wants to be looked at, if nothing passes first.
    fn deadline(&self) -> Option<Time>;
}

/// Connections by number.
#[derive(Clone, Debug)]
pub struct Flows<F> {
    flows: BTreeMap<FlowId, Known<F>>,
    most: usize,
    idle_for: Span,
    sweep_at: Time,
    /// Who is due when, so that neither a packet nor a deadline costs a look at every connection.
    dues: BTreeSet<(Time, FlowId)>,
}

#[derive(Clone, Debug)]
struct Known<F> {
    kept: F,
    last_at: Time,
    due: Time,
}

impl<F: Kept> Known<F> {
    /// Looks when it is due: not before `earliest`.
    fn is_due_from(&mut self, earliest: Time, id: FlowId, dues: &mut BTreeSet<(Time, FlowId)>) {
        let due = self.kept.deadline().unwrap_or(Time::NEVER).max(earliest);
        if due == self.due {
            return;
        }
        dues.remove(&(self.due, id));
        self.due = due;
        if due < Time::NEVER {
            dues.insert((due, id));
        }
    }
}

impl<F: Kept> Flows<F> {
    /// None yet, at most `most`, each kept for `idle_for` after its last packet.
    pub fn new(most: usize, idle_for: Span) -> Flows<F> {
        let (flows, sweep_at) = (BTreeMap::new(), Time::ZERO);
        Flows { flows, most, idle_for, sweep_at, dues: BTreeSet::new() }
    }

    /// Forgets those of which nothing passed for long; each is shown to `gone`. To be called with
    /// every packet: it looks around eight times in `idle_for` at most.
    pub fn sweep(&mut self, now: Time, mut gone: impl FnMut(&F)) {
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + self.idle_for / 8;
        let (idle_for, dues) = (self.idle_for, &mut self.dues);
        self.flows.retain(|&id, known| {
            let idle = now.saturating_since(known.last_at) >= idle_for;
            if idle {
                dues.remove(&(known.due, id));
                gone(&known.kept);
            }
            !idle
        });
    }

    /// A connection of which a packet passes.
    pub fn get_mut(&mut self, now: Time, id: FlowId) -> Option<&mut F> {
        let known = self.flows.get_mut(&id)?;
        known.last_at = now;
        Some(&mut known.kept)
    }

    /// The same; made known if it is not. Nothing if there is no room for it.
    pub fn get_or_insert(
        &mut self,
        now: Time,
        id: FlowId,
        new: impl FnOnce() -> F,
    ) -> Option<&mut F> {
        if !self.flows.contains_key(&id) {
            if self.flows.len() >= self.most {
                return None;
            }
            self.flows.insert(id, Known { kept: new(), last_at: now, due: Time::NEVER });
        }
        self.get_mut(now, id)
    }

    /// Forgets a connection.
    pub fn remove(&mut self, id: FlowId) -> Option<F> {
        let known = self.flows.remove(&id)?;
        self.dues.remove(&(known.due, id));
        Some(known.kept)
    }

    /// To be called when something about a connection has changed: when it is due is looked at.
    pub fn settle(&mut self, id: FlowId) {
        if let Some(known) = self.flows.get_mut(&id) {
            // What should have been done long ago, as is found out now, is due now: nothing happens
            // in the past. The change came with the last packet.
            known.is_due_from(known.last_at, id, &mut self.dues);
        }
    }

    /// When one of them is due.
    pub fn deadline(&self) -> Option<Time> {
        self.dues.first().map(|(due, _)| *due)
    }

    /// Looks after those that are due, by number; of those nothing passed for long it forgets, and
    /// shows them to `gone`.
    pub fn handle_deadline(
        &mut self,
        now: Time,
        mut due: impl FnMut(FlowId, &mut F),
        mut gone: impl FnMut(&F),
    ) {
        let of_now = ..=(now, FlowId(u32::MAX));
        let ids: BTreeSet<FlowId> = self.dues.range(of_now).map(|(_, id)| *id).collect();
        for id in ids {
            let Some(known) = self.flows.get_mut(&id) else { continue };
            if now.saturating_since(known.last_at) >= self.idle_for {
                if let Some(kept) = self.remove(id) {
                    gone(&kept);
                }
                continue;
            }
            due(id, &mut known.kept);
            known.is_due_from(now, id, &mut self.dues);
        }
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Alarm(Option<Time>);

    impl Kept for Alarm {
        fn deadline(&self) -> Option<Time> {
            self.0
        }
    }

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn flows() -> Flows<Alarm> {
        Flows::new(2, Span::from_millis(1_000))
    }

    fn set(flows: &mut Flows<Alarm>, now: Time, id: u32, due: Option<Time>) -> bool {
        let known = flows.get_or_insert(now, FlowId(id), || Alarm(None));
        let there = known.map(|alarm| alarm.0 = due).is_some();
        flows.settle(FlowId(id));
        there
    }

    #[test]
    fn there_is_room_for_so_many_and_again_when_one_has_been_quiet() {
        let mut flows = flows();
        assert!(set(&mut flows, at(0), 1, None) && set(&mut flows, at(500), 2, None));
        assert!(!set(&mut flows, at(600), 3, None));
        let mut gone = 0;
        flows.sweep(at(1_000), |_| gone += 1);
        assert_eq!((gone, flows.len()), (1, 1));
        assert!(set(&mut flows, at(1_001), 3, None));
        assert!(flows.remove(FlowId(3)).is_some() && !flows.is_empty());
    }

    #[test]
    fn what_is_found_to_be_overdue_is_due_at_once_and_not_in_the_past() {
        let mut flows = flows();
        set(&mut flows, at(0), 1, Some(at(90)));
        set(&mut flows, at(50), 1, Some(at(20)));
        assert_eq!(flows.deadline(), Some(at(50)));
        flows.handle_deadline(at(50), |_, alarm| alarm.0 = Some(at(40)), |_| {});
        assert_eq!(flows.deadline(), Some(at(50)));
    }

    #[test]
    fn who_is_due_is_called_once_and_by_number() {
        let mut flows = flows();
        set(&mut flows, at(0), 1, Some(at(30)));
        set(&mut flows, at(0), 2, Some(at(10)));
        set(&mut flows, at(5), 2, Some(at(40)));
        assert_eq!(flows.deadline(), Some(at(30)), "the later of two words about 2 counts");
        let mut called = Vec::new();
        flows.handle_deadline(at(10), |id, _| called.push(id), |_| {});
        assert_eq!((called.len(), flows.deadline()), (0, Some(at(30))));
        flows.handle_deadline(
            at(30),
            |id, alarm| {
                called.push(id);
                alarm.0 = None;
            },
            |_| {},
        );
        assert_eq!((called.as_slice(), flows.deadline()), (&[FlowId(1)][..], Some(at(40))));
    }

    #[test]
    fn who_is_due_after_a_long_silence_is_forgotten_instead() {
        let mut flows = flows();
        set(&mut flows, at(0), 1, Some(at(1_500)));
        let (mut called, mut gone) = (0, 0);
        flows.handle_deadline(at(1_500), |_, _| called += 1, |_| gone += 1);
        assert_eq!((called, gone, flows.deadline()), (0, 1, None));
    }
}
