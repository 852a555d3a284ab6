//! Who is due next: one time per small id, the earliest always at hand.
//!
//! A winner tree: the leaves of a complete binary tree hold (time, id), every inner node holds
//! the earlier of its two children, so the root is the earliest of all. Setting a time rewrites one
//! path from leaf to root: log2(n) minima without a data-dependent branch, and no position table.
//! The comparison with an indexed heap is decision 0050 and `benches/schedule.rs`.
//!
//! Ties go to the smaller id. There is one entry per id: setting a time replaces the former one.

use ackord_units::Time;
use std::hint::select_unpredictable;

/// One time per id, and the earliest of them. [`Time::NEVER`] is "not scheduled".
#[derive(Clone, Debug)]
pub struct Schedule {
    /// A heap-shaped array: node 1 is the root, node `n`'s children are `2n` and `2n + 1`, leaf
    /// `id` is node `leaves + id`.
    nodes: Vec<Entry>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Nanoseconds, at most [`NOT_DUE`].
    due_at: u64,
    id: u32,
}

/// Later than any time, and one less than the largest integer so that one can be added to it.
const NOT_DUE: u64 = u64::MAX - 1;

impl Schedule {
    /// A schedule for the ids `0..ids`, none of them due.
    ///
    /// # Panics
    /// If there are more than 2^31 ids.
    pub fn new(ids: usize) -> Schedule {
        assert!(ids <= 1 << 31, "ids are 32-bit");
        let mut schedule = Schedule { nodes: Vec::new(), leaves: 0 };
        schedule.rebuild(Vec::new(), ids);
        schedule
    }

    /// Makes room for the ids `0..ids`; those already there keep their times.
    pub fn grow(&mut self, ids: usize) {
        if ids > self.leaves {
            self.rebuild(self.nodes[self.leaves..].to_vec(), ids);
        }
    }

    /// Sets when `id` is due, whatever it was before.
    ///
    /// # Panics
    /// If `id` is beyond the ids the schedule was made for.
    #[inline]
    pub fn set(&mut self, id: u32, time: Time) {
        let mut node = self.leaves + id as usize;
        let mut winner = Entry { due_at: time.as_nanos().min(NOT_DUE), id };
        self.nodes[node] = winner;
        while node > 1 {
            winner = earlier(winner, self.nodes[node ^ 1], node);
            node >>= 1;
            self.nodes[node] = winner;
        }
    }

    /// Takes `id` off the schedule.
    #[inline]
    pub fn clear(&mut self, id: u32) {
        self.set(id, Time::NEVER);
    }

    /// The earliest time and whose it is, or nothing if nobody is due.
    #[inline]
    pub fn peek(&self) -> Option<(Time, u32)> {
        let Entry { due_at, id } = self.nodes[1];
        (due_at != NOT_DUE).then_some((Time::from_nanos(due_at), id))
    }

    /// The earliest time; [`Time::NEVER`] if nobody is due.
    #[inline]
    pub fn next_at(&self) -> Time {
        self.nodes[1].time()
    }

    /// When `id` is due; [`Time::NEVER`] if it is not.
    #[inline]
    pub fn time_of(&self, id: u32) -> Time {
        self.nodes[self.leaves + id as usize].time()
    }

    fn rebuild(&mut self, mut leaves: Vec<Entry>, ids: usize) {
        self.leaves = ids.next_power_of_two().max(2);
        leaves
            .extend((leaves.len()..self.leaves).map(|id| Entry { due_at: NOT_DUE, id: id as u32 }));
        self.nodes = vec![Entry { due_at: NOT_DUE, id: 0 }; self.leaves];
        self.nodes.append(&mut leaves);
        for node in (1..self.leaves).rev() {
            self.nodes[node] = earlier(self.nodes[2 * node], self.nodes[2 * node + 1], 2 * node);
        }
    }
}

impl Entry {
    #[inline]
    fn time(self) -> Time {
        if self.due_at == NOT_DUE { Time::NEVER } else { Time::from_nanos(self.due_at) }
    }
}

/// The earlier of the winner below `node` and the winner below the node beside it.
#[inline]
fn earlier(winner: Entry, other: Entry, node: usize) -> Entry {
    // Nodes to the left hold smaller ids: the other one wins a tie if it is to the left, that is,
    // if `node` is odd. Who wins is as good as random, hence conditional moves and no branch.
    let other_wins = other.due_at < winner.due_at + (node & 1) as u64;
    Entry {
        due_at: select_unpredictable(other_wins, other.due_at, winner.due_at),
        id: select_unpredictable(other_wins, other.id, winner.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn an_empty_schedule_has_nothing_due() {
        for ids in [0, 1, 2, 3, 600] {
            assert_eq!(Schedule::new(ids).peek(), None);
        }
    }

    #[test]
    fn equal_times_go_to_the_smaller_id() {
        let mut schedule = Schedule::new(5);
        for id in [4, 2, 3] {
            schedule.set(id, at(7));
        }
        assert_eq!(schedule.peek(), Some((at(7), 2)));
        schedule.clear(2);
        assert_eq!(schedule.peek(), Some((at(7), 3)));
    }

    #[test]
    fn growing_keeps_what_is_scheduled() {
        let mut schedule = Schedule::new(2);
        schedule.set(1, at(5));
        schedule.grow(9);
        schedule.set(8, at(4));
        assert_eq!((schedule.peek(), schedule.time_of(1)), (Some((at(4), 8)), at(5)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_search_of_all_ids(
            ids in 1_u32..40,
            steps in prop::collection::vec((0_u32..40, prop::option::of(0_u64..50)), 1..200),
        ) {
            let mut schedule = Schedule::new(ids as usize);
            let mut model = vec![None; ids as usize];
            for (id, time) in steps {
                let id = id % ids;
                match time {
                    Some(time) => schedule.set(id, at(time)),
                    None => schedule.clear(id),
                }
                model[id as usize] = time;
                let earliest =
                    (0..ids).filter_map(|id| model[id as usize].map(|time| (at(time), id))).min();
                prop_assert_eq!(schedule.peek(), earliest);
            }
        }
    }
}
