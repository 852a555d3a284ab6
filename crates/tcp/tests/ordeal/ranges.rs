//! Sets of sequence numbers, counted from the SYN without wrapping.

use std::collections::BTreeMap;

/// Disjoint ranges that do not touch, by their starts.
#[derive(Clone, Debug, Default)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    pub fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((&before, &until)) = self.0.range(..=end).next_back() {
            if until < start {
                break;
            }
            self.0.remove(&before);
            start = start.min(before);
            end = end.max(until);
        }
        self.0.insert(start, end);
    }

    pub fn covers(&self, start: u64, end: u64) -> bool {
        let range = self.0.range(..=start).next_back();
        range.is_some_and(|(_, &until)| until >= end)
    }

    /// The first number from zero on that is missing.
    pub fn prefix(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }
}

#[test]
fn ranges_join_whatever_they_touch() {
    let mut set = Ranges::default();
    for (start, end) in [(10, 20), (30, 40), (20, 25), (24, 31), (0, 5)] {
        set.add(start, end);
    }
    assert_eq!(set.0, BTreeMap::from([(0, 5), (10, 40)]));
    assert!(set.covers(12, 40) && !set.covers(12, 41) && !set.covers(4, 6));
    assert_eq!(set.prefix(), 5);
}
