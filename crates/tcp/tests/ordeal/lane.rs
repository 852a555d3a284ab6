//! One direction of the path: a delay, and whatever the operations have in store for its packets.

use super::boxes::{self, Turn};
use ackord_units::{Bytes, Span, Time};
use std::collections::BTreeMap;

/// Packets of the past that are kept.
const MEMORY: usize = 64;

#[derive(Debug, Default)]
pub struct Lane {
    pub delay: Span,
    pub lose: u16,
    pub late: u16,
    pub late_by: Span,
    pub duplicate: u16,
    pub mark: u16,
    pub corrupt: Option<u16>,
    pub cut: Option<u16>,
    pub split: Option<u16>,
    pub shorten: Option<u16>,
    /// What is taken out, and of how many packets.
    pub strip: (u8, u16),
    pub rewindow: Option<(Turn, u16)>,
    /// Of how many packets the window is changed.
    pub rewindow_packets: u8,
    pub dark_until: Time,
    past: Vec<Vec<u8>>,
    flying: BTreeMap<(Time, u64), Vec<u8>>,
    count: u64,
}

impl Lane {
    pub fn of(delay: Span) -> Lane {
        Lane { delay, ..Lane::default() }
    }

    /// A packet enters.
    pub fn send(&mut self, now: Time, mut bytes: Vec<u8>) {
        if self.past.len() == MEMORY {
            self.past.remove(0);
        }
        self.past.push(bytes.clone());
        let next = |mask: &mut u16| {
            let bit = *mask & 1 == 1;
            *mask >>= 1;
            bit
        };
        let (lost, late) = (next(&mut self.lose), next(&mut self.late));
        let (twice, marked) = (next(&mut self.duplicate), next(&mut self.mark));
        if lost || now < self.dark_until {
            return;
        }
        if marked {
            boxes::mark(&mut bytes);
        }
        let mut due = now + self.delay;
        if late {
            due += self.late_by;
        }
        for bytes in self.through_boxes(bytes) {
            if twice {
                self.put(due, bytes.clone());
            }
            self.put(due, bytes);
        }
    }

    fn through_boxes(&mut self, mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
        if self.strip.1 > 0 {
            self.strip.1 -= 1;
            bytes = boxes::strip(&bytes, self.strip.0).unwrap_or(bytes);
        }
        if let Some((turn, to)) = self.rewindow.filter(|_| self.rewindow_packets > 0) {
            self.rewindow_packets -= 1;
            bytes = boxes::rewindow(&bytes, turn, to).unwrap_or(bytes);
        }
        let has_data = boxes::payload(&bytes) > Bytes::ZERO;
        if has_data && let Some(at) = self.shorten.take() {
            bytes = boxes::shorten(&bytes, at).unwrap_or(bytes);
        }
        if has_data
            && let Some(at) = self.split.take()
            && let Some(parts) = boxes::split(&bytes, at)
        {
            return parts.into();
        }
        if let Some(at) = self.cut.take() {
            boxes::cut(&mut bytes, at);
        }
        if let Some(at) = self.corrupt.take().filter(|_| !bytes.is_empty()) {
            boxes::corrupt(&mut bytes, at);
        }
        vec![bytes]
    }

    /// A packet is under way that nobody of the two has sent, or not now.
    pub fn put(&mut self, due: Time, bytes: Vec<u8>) {
        self.flying.insert((due, self.count), bytes);
        self.count += 1;
    }

    /// A packet of the past comes again.
    pub fn replay(&mut self, now: Time, back: u16) {
        if let Some(last) = self.past.len().checked_sub(1) {
            let bytes = self.past[last - usize::from(back) % (last + 1)].clone();
            self.put(now + self.delay, bytes);
        }
    }

    pub fn next_at(&self) -> Option<Time> {
        self.flying.first_key_value().map(|(key, _)| key.0)
    }

    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.flying.pop_first().map(|(_, bytes)| bytes)
    }

    /// From now on nothing is lost, late or changed.
    pub fn calm(&mut self, delay: Span) {
        let Lane { past, flying, count, .. } = std::mem::take(self);
        *self = Lane { delay, past, flying, count, ..Lane::default() };
    }
}
