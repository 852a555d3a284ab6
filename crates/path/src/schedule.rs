//! Who is due next: one time per small id, the earliest always at hand.
//!
//! A winner tree: the leaves of a complete binary tree hold a key per id, every inner node the lesser of its two
//! children, so the root is the least of all. A key is the time with the id below it, in one integer: setting
//! a time rewrites one path from leaf to root, log2(n) minima without a data-dependent branch, and no position table.
//! The comparison with other structures is decision 0050 and `benches/schedule.rs`.
//!
//! Ties go to the smaller id. There is one entry per id: setting a time replaces the former one. An id has a leaf from
//! when it is due first, so that those that never are cost nothing.

use ackord_units::Time;

/// One time per id, and the earliest of them. [`Time::NEVER`] is "not scheduled".
#[derive(Clone, Debug)]
pub struct Schedule {
    /// A heap-shaped array of keys: node 1 is the root, node `n`'s children are `2n` and `2n + 1`, leaf `n` is
    /// node `leaves + n`.
    nodes: Vec<u64>,
    /// The root: the least key.
    least: u64,
    leaves: usize,
    /// By id: its leaf, or [`NO_LEAF`].
    places: Vec<u32>,
    /// By leaf: when it is due, and in whose name.
    entries: Vec<(Time, u32)>,
    /// How many bits of a key are the id, and which.
    id_bits: u32,
    id_mask: u64,
    /// The time, in nanoseconds, from which keys count.
    base: u64,
    /// Nanoseconds after that for which keys have no room any more: all those have the same.
    far: u64,
    /// The least key of a time that is far.
    far_key: u64,
}

/// The key of an id that is not scheduled.
const NOT_DUE: u64 = u64::MAX;
/// The leaf of an id that never was.
const NO_LEAF: u32 = u32::MAX;

impl Schedule {
    /// A schedule for the ids `0..ids`, none of them due.
    ///
    /// # Panics
    /// If there are more than 2^31 ids.
    pub fn new(ids: usize) -> Schedule {
        let mut schedule = Schedule {
            nodes: vec![NOT_DUE; 4],
            least: NOT_DUE,
            leaves: 2,
            places: Vec::new(),
            entries: Vec::new(),
            id_bits: 0,
            id_mask: 0,
            base: 0,
            far: 0,
            far_key: 0,
        };
        schedule.make_room(ids);
        schedule
    }

    /// Makes room for the ids `0..ids`; those already there keep their times.
    pub fn grow(&mut self, ids: usize) {
        if ids > self.places.len() {
            self.make_room(ids.next_power_of_two());
        }
    }

    /// Sets when `id` is due, whatever it was before.
    ///
    /// # Panics
    /// If `id` is beyond the ids the schedule was made for.
    #[inline(always)]
    pub fn set(&mut self, id: u32, time: Time) {
        self.set_as(id, time, id);
    }

    /// The same in the name of another id, which is told and decides ties.
    #[inline(always)]
    pub(crate) fn set_as(&mut self, id: u32, time: Time, name: u32) {
        let mut place = self.places[id as usize];
        if place == NO_LEAF {
            if time == Time::NEVER {
                return;
            }
            place = self.add_leaf(id);
        }
        self.entries[place as usize] = (time, name);
        let after = time.as_nanos().wrapping_sub(self.base);
        let key = if after < self.far {
            self.key(after, name)
        } else if time == Time::NEVER {
            NOT_DUE
        } else {
            return self.set_beyond(place, time, name);
        };
        self.put(place, key);
        if self.least >= self.far_key {
            self.look_farther();
        }
    }

    /// Takes `id` off the schedule.
    pub fn clear(&mut self, id: u32) {
        self.set(id, Time::NEVER);
    }

    /// The earliest time and whose it is, or nothing if nobody is due.
    #[inline]
    pub fn peek(&self) -> Option<(Time, u32)> {
        let id = (self.least & self.id_mask) as u32;
        (self.least != NOT_DUE).then(|| (self.next_at(), id))
    }

    /// The same, if that is at or before `until`.
    #[inline]
    pub fn peek_until(&self, until: Time) -> Option<(Time, u32)> {
        self.peek().filter(|(at, _)| *at <= until)
    }

    /// The earliest time; [`Time::NEVER`] if nobody is due.
    #[inline]
    pub fn next_at(&self) -> Time {
        if self.least == NOT_DUE {
            return Time::NEVER;
        }
        Time::from_nanos(self.base.wrapping_add(self.least.wrapping_shr(self.id_bits)))
    }

    /// When `id` is due; [`Time::NEVER`] if it is not.
    #[inline]
    pub fn time_of(&self, id: u32) -> Time {
        self.entries.get(self.places[id as usize] as usize).map_or(Time::NEVER, |entry| entry.0)
    }

    /// The key of an id that is due so many nanoseconds after the base.
    #[inline]
    fn key(&self, after: u64, id: u32) -> u64 {
        // Never as many bits as there are: the shift is one instruction.
        after.wrapping_shl(self.id_bits) | u64::from(id)
    }

    /// Writes a key and the least keys above it.
    #[inline]
    fn put(&mut self, place: u32, mut key: u64) {
        let mut node = self.leaves + place as usize;
        self.nodes[node] = key;
        while node > 1 {
            key = key.min(self.nodes[node ^ 1]);
            node >>= 1;
            self.nodes[node] = key;
        }
        self.least = key;
    }

    /// A time before those that keys can tell, or after them.
    #[cold]
    fn set_beyond(&mut self, place: u32, time: Time, name: u32) {
        if time.as_nanos() < self.base {
            return self.rebase();
        }
        self.put(place, self.key(self.far, name));
        if self.least >= self.far_key {
            self.look_farther();
        }
    }

    /// Nobody may be due within what keys can tell.
    #[cold]
    fn look_farther(&mut self) {
        if self.least != NOT_DUE {
            self.rebase();
        }
    }

    /// Lets keys count from the earliest time.
    fn rebase(&mut self) {
        let earliest = self.entries.iter().map(|entry| entry.0).min().unwrap_or(Time::NEVER);
        self.base = match earliest {
            Time::NEVER => 0,
            // No later than leaves "never" beyond what keys can tell.
            earliest => earliest.as_nanos().min(Time::NEVER.as_nanos() - self.far),
        };
        for place in 0..self.entries.len() {
            let (time, name) = self.entries[place];
            let after = time.as_nanos().wrapping_sub(self.base).min(self.far);
            let key = if time == Time::NEVER { NOT_DUE } else { self.key(after, name) };
            self.put(place as u32, key);
        }
    }

    fn make_room(&mut self, ids: usize) {
        assert!(ids <= 1 << 31, "ids are 32-bit");
        self.places.resize(ids, NO_LEAF);
        self.id_bits = ids.next_power_of_two().max(2).ilog2();
        self.id_mask = (1 << self.id_bits) - 1;
        // One less than fits: with an id of ones only it would be the key of who is not due.
        self.far = (u64::MAX >> self.id_bits) - 1;
        self.far_key = self.far << self.id_bits;
        self.rebase();
    }

    /// A leaf for an id, which is due for the first time.
    #[cold]
    fn add_leaf(&mut self, id: u32) -> u32 {
        let place = self.entries.len();
        self.entries.push((Time::NEVER, id));
        self.places[id as usize] = place as u32;
        if place == self.leaves {
            self.leaves *= 2;
            self.nodes = vec![NOT_DUE; 2 * self.leaves];
            self.rebase();
        }
        place as u32
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

    /// Spans of simulated time that keys have no room for, with the ids that leave the least.
    #[test]
    fn times_that_are_far_apart_stay_in_order() {
        let mut schedule = Schedule::new(1 << 20);
        let last = (1 << 20) - 1;
        let times = [u64::MAX - 1, 3, 1 << 60, 1 << 45, (1 << 60) + 1, 1 << 44, u64::MAX - 2];
        for (id, time) in (0..).zip(times) {
            schedule.set(last - id, at(time));
        }
        schedule.set(0, Time::NEVER);
        let mut told = Vec::new();
        while let Some((time, id)) = schedule.peek() {
            assert_eq!(schedule.time_of(id), time);
            told.push(time.as_nanos());
            schedule.clear(id);
        }
        let mut sorted = times;
        sorted.sort_unstable();
        assert_eq!(told, sorted);
        // Time may be set back: to before what keys counted from last.
        schedule.set(7, at(1 << 62));
        schedule.set(8, at(5));
        schedule.set(9, at(6));
        assert_eq!(schedule.peek(), Some((at(5), 8)));
        schedule.clear(8);
        assert_eq!((schedule.peek(), schedule.next_at()), (Some((at(6), 9)), at(6)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_search_of_all_ids(
            ids in 1_u32..100,
            far in 0_u32..62,
            steps in prop::collection::vec((0_u32..100, prop::option::of(0_u64..50)), 1..200),
        ) {
            let mut schedule = Schedule::new(ids as usize);
            let mut model = vec![None; ids as usize];
            for (id, time) in steps {
                let (id, time) = (id % ids, time.map(|time| time * time * (1 << far >> 10)));
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
