//! Many waiting lines in one room: packets of all lines share places and a capacity.
//!
//! Places are used again, so lines come and go without allocation once the room has been full.

use super::QueueLength;
use super::fifo::{Capacity, Limit, Waiting};
use ackord_units::Bytes;

/// The places, and how much waits in all lines together.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    places: Vec<Place>,
    free: u32,
    length: QueueLength,
    capacity: Capacity,
}

/// One line: where it begins and ends in the room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    first: u32,
    last: u32,
    packets: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    waiting: Waiting,
    before: u32,
    after: u32,
}

/// No place.
const NONE: u32 = u32::MAX;

impl Default for Line {
    fn default() -> Line {
        Line { first: NONE, last: NONE, packets: 0, bytes: 0 }
    }
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes of IP packets in line.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Room {
    pub(crate) fn new(limit: Limit) -> Room {
        Room {
            places: Vec::new(),
            free: NONE,
            length: QueueLength::default(),
            capacity: limit.into(),
        }
    }

    /// Changes the capacity to that of another room. Packets that already wait stay, even beyond it.
    pub(crate) fn set_capacity_of(&mut self, other: &Room) {
        self.capacity = other.capacity;
    }

    pub(crate) fn length(&self) -> QueueLength {
        self.length
    }

    /// Whether a packet of this length would still fit.
    pub(crate) fn has_room_for(&self, ip_len: u32) -> bool {
        self.capacity.fits(self.length.packets as usize, self.length.bytes.get(), ip_len)
    }

    /// Whether more waits than may.
    pub(crate) fn is_overfull(&self) -> bool {
        !self.capacity.holds(self.length.packets as usize, self.length.bytes.get())
    }

    /// Who is first in line.
    pub(crate) fn first(&self, line: &Line) -> Option<&Waiting> {
        self.places.get(line.first as usize).map(|place| &place.waiting)
    }

    /// Adds a packet at the end of a line, whether it fits or not.
    pub(crate) fn push(&mut self, line: &mut Line, waiting: Waiting) {
        let place = Place { waiting, before: line.last, after: NONE };
        let at = match self.places.get(self.free as usize) {
            Some(free) => {
                let at = self.free;
                self.free = free.after;
                self.places[at as usize] = place;
                at
            }
            None => {
                self.places.push(place);
                (self.places.len() - 1) as u32
            }
        };
        match self.places.get_mut(line.last as usize) {
            Some(last) => last.after = at,
            None => line.first = at,
        }
        line.last = at;
        let bytes = u64::from(waiting.slot.ip_len);
        line.packets += 1;
        line.bytes += bytes;
        self.length.packets += 1;
        self.length.bytes += Bytes(bytes);
    }

    /// Takes the first of a line.
    pub(crate) fn pop_first(&mut self, line: &mut Line) -> Option<Waiting> {
        let at = line.first;
        let Place { waiting, after, .. } = *self.places.get(at as usize)?;
        line.first = after;
        match self.places.get_mut(after as usize) {
            Some(next) => next.before = NONE,
            None => line.last = NONE,
        }
        self.leave(line, at, waiting);
        Some(waiting)
    }

    /// Takes the last of a line.
    pub(crate) fn pop_last(&mut self, line: &mut Line) -> Option<Waiting> {
        let at = line.last;
        let Place { waiting, before, .. } = *self.places.get(at as usize)?;
        line.last = before;
        match self.places.get_mut(before as usize) {
            Some(previous) => previous.after = NONE,
            None => line.first = NONE,
        }
        self.leave(line, at, waiting);
        Some(waiting)
    }

    fn leave(&mut self, line: &mut Line, at: u32, waiting: Waiting) {
        self.places[at as usize].after = self.free;
        self.free = at;
        let bytes = u64::from(waiting.slot.ip_len);
        line.packets -= 1;
        line.bytes -= bytes;
        self.length.packets -= 1;
        self.length.bytes -= Bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Packets;
    use crate::queue::testing::packet;
    use ackord_units::Time;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Three lines in one room behave like three deques, and the sums are theirs.
        #[test]
        fn lines_in_a_room_behave_like_deques(
            steps in prop::collection::vec((0..3_usize, 0..4_u8, 40..1_500_u32), 0..300),
        ) {
            let mut packets = Packets::default();
            let mut room = Room::new(Limit::Packets(1_000));
            let mut lines = [Line::default(); 3];
            let mut deques = [const { VecDeque::new() }; 3];
            for (n, what, ip_len) in steps {
                let (line, deque) = (&mut lines[n], &mut deques[n]);
                let slots = match what {
                    0 | 1 => {
                        let slot = packets.insert(&packet(ip_len));
                        room.push(line, Waiting { since: Time::ZERO, slot });
                        deque.push_back(slot);
                        continue;
                    }
                    2 => (room.pop_first(line).map(|w| w.slot), deque.pop_front()),
                    _ => (room.pop_last(line).map(|w| w.slot), deque.pop_back()),
                };
                prop_assert_eq!(slots.0, slots.1);
                prop_assert_eq!(room.first(line).map(|w| w.slot), deque.front().copied());
            }
            let mut all = QueueLength::default();
            for (line, deque) in lines.iter().zip(&deques) {
                let bytes: u64 = deque.iter().map(|slot| u64::from(slot.ip_len)).sum();
                prop_assert_eq!(line.packets as usize, deque.len());
                prop_assert_eq!((line.bytes(), line.is_empty()), (bytes, deque.is_empty()));
                all.packets += line.packets;
                all.bytes += Bytes(bytes);
            }
            prop_assert_eq!(room.length(), all);
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut packets = Packets::default();
        let mut room = Room::new(Limit::Packets(4));
        let mut line = Line::default();
        for _ in 0..100 {
            let slot = packets.insert(&packet(100));
            room.push(&mut line, Waiting { since: Time::ZERO, slot });
            room.push(&mut line, Waiting { since: Time::ZERO, slot });
            room.pop_last(&mut line);
            room.pop_first(&mut line);
        }
        assert_eq!(room.places.len(), 2);
    }
}
