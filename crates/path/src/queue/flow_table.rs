//! What a queue keeps of each flow that has packets in it, found by the flow's number.

use super::FlowState;
use ackord_wire::FlowId;
use std::ops::{Index, IndexMut};

/// Entries by flow. An entry keeps its number until it is removed; numbers and memory are used
/// again.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable<T> {
    /// Ordered by flow.
    known: Vec<(FlowId, u32)>,
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> FlowTable<T> {
    pub(crate) fn new() -> FlowTable<T> {
        FlowTable { known: Vec::new(), entries: Vec::new(), free: Vec::new() }
    }

    /// The number of a flow's entry, made if there is none.
    pub(crate) fn find_or_insert(&mut self, flow: FlowId, make: impl FnOnce() -> T) -> u32 {
        let place = match self.known.binary_search_by_key(&flow, |known| known.0) {
            Ok(found) => return self.known[found].1,
            Err(place) => place,
        };
        let number = match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = make();
                number
            }
            None => {
                self.entries.push(make());
                (self.entries.len() - 1) as u32
            }
        };
        self.known.insert(place, (flow, number));
        number
    }

    /// Forgets a flow.
    pub(crate) fn remove(&mut self, flow: FlowId) {
        if let Ok(place) = self.known.binary_search_by_key(&flow, |known| known.0) {
            self.free.push(self.known.remove(place).1);
        }
    }

    /// The most entries there have been at once: numbers are given out only when all are taken.
    pub(crate) fn state(&self) -> FlowState {
        FlowState::of::<(FlowId, u32, T)>(self.entries.len())
    }
}

impl<T> Index<u32> for FlowTable<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.entries[number as usize]
    }
}

impl<T> IndexMut<u32> for FlowTable<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.entries[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_number_while_others_come_and_go() {
        let mut table = FlowTable::new();
        let numbers = [5, 1, 3].map(|flow| table.find_or_insert(FlowId(flow), || flow));
        assert_eq!(numbers, [0, 1, 2]);
        table.remove(FlowId(1));
        assert_eq!(table.find_or_insert(FlowId(5), || 99), 0);
        assert_eq!(table.find_or_insert(FlowId(9), || 9), 1, "the place of flow 1");
        assert_eq!((table[0], table[1], table[2]), (5, 9, 3));
        assert_eq!(table.state().entries, 3, "never more than three at once");
    }
}
