//! Who is due next: one time per small id, the earliest always at hand.
//!
//! A winner tree: the leaves of a complete binary tree hold (time, id), every inner node holds
//! the earlier of its two children, so the root is the earliest of all. Setting a time rewrites one
//! path from leaf to root: log2(n) minima, no data-dependent branch, no position table. The
//! comparison with an indexed heap is decision 0050 and `benches/schedule.rs`.
//!
//! Ties go to the smaller id. There is one entry per id: setting a time replaces the former one.

use ackord_units::Time;

/// One time per id, and the earliest of them. [`Time::NEVER`] is "not scheduled".
#[derive(Clone, Debug)]
pub struct Schedule {
    /// A heap-shaped array: node 1 is the root, node `n`'s children are `2n` and `2n + 1`, leaf
    /// `id` is node `leaves + id`. A node is `time << 64 | id`, so one comparison orders both.
    nodes: Vec<u128>,
    leaves: usize,
}

impl Schedule {
    /// A schedule for the ids `0..ids`, none of them due.
    ///
    /// # Panics
    /// If there are more than 2^31 ids.
    pub fn new(ids: usize) -> Schedule {
        assert!(ids <= 1 << 31, "ids are 32-bit");
        let leaves = ids.next_power_of_two().max(2);
        let mut schedule = Schedule { nodes: vec![0; 2 * leaves], leaves };
        schedule.rebuild((0..leaves).map(|id| entry(Time::NEVER, id as u32)).collect());
        schedule
    }

    /// Makes room for the ids `0..ids`; those already there keep their times.
    pub fn grow(&mut self, ids: usize) {
        if ids <= self.leaves {
            return;
        }
        let mut leaves = self.nodes[self.leaves..].to_vec();
        let wanted = ids.next_power_of_two();
        leaves.extend((leaves.len()..wanted).map(|id| entry(Time::NEVER, id as u32)));
        self.rebuild(leaves);
    }

    /// Sets when `id` is due, whatever it was before.
    ///
    /// # Panics
    /// If `id` is beyond the ids the schedule was made for.
    #[inline]
    pub fn set(&mut self, id: u32, time: Time) {
        let mut node = self.leaves + id as usize;
        let mut winner = entry(time, id);
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
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
        let (time, id) = parts(self.nodes[1]);
        (time != Time::NEVER).then_some((time, id))
    }

    /// The earliest time; [`Time::NEVER`] if nobody is due.
    #[inline]
    pub fn next_at(&self) -> Time {
        parts(self.nodes[1]).0
    }

    /// When `id` is due; [`Time::NEVER`] if it is not.
    #[inline]
    pub fn time_of(&self, id: u32) -> Time {
        parts(self.nodes[self.leaves + id as usize]).0
    }

    fn rebuild(&mut self, leaves: Vec<u128>) {
        self.leaves = leaves.len();
        self.nodes = vec![u128::MAX; self.leaves];
        self.nodes.extend(leaves);
        for node in (1..self.leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

#[inline]
const fn entry(time: Time, id: u32) -> u128 {
    (time.as_nanos() as u128) << 64 | id as u128
}

#[inline]
const fn parts(node: u128) -> (Time, u32) {
    (Time::from_nanos((node >> 64) as u64), node as u32)
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
