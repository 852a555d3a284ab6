//! The packets whose transmission has begun, in the order in which they arrive.
//!
//! On an ordinary link that is the order in which they were sent, and a packet goes to the end.
//! Where packets may overtake one another a packet is put where its arrival belongs; of two that
//! arrive at the same instant the one sent first comes first.

use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::Time;
use std::collections::VecDeque;

/// A packet whose transmission has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnWire {
    pub(super) arrives_at: Time,
    /// When it came to its link, where that plans ahead.
    pub(super) since: Time,
    pub(super) slot: Slot,
    pub(super) fate: Option<DropReason>,
    /// Whether a packet sent later arrives sooner.
    pub(super) is_overtaken: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wire(VecDeque<OnWire>);

impl Wire {
    /// A packet that arrives after all the others.
    #[inline]
    pub(super) fn push_last(&mut self, packet: OnWire) {
        debug_assert!(self.0.back().is_none_or(|last| last.arrives_at <= packet.arrives_at));
        self.0.push_back(packet);
    }

    /// A packet that may arrive before others. Returns how many it is the first to overtake.
    pub(super) fn push_by_arrival(&mut self, packet: OnWire) -> u64 {
        let place = self.0.partition_point(|other| other.arrives_at <= packet.arrives_at);
        let mut newly_overtaken = 0;
        for other in self.0.range_mut(place..) {
            newly_overtaken += u64::from(!other.is_overtaken);
            other.is_overtaken = true;
        }
        self.0.insert(place, packet);
        newly_overtaken
    }

    /// The one that has so many behind it.
    #[inline]
    pub(super) fn before(&self, behind: u32) -> Option<&OnWire> {
        self.0.get(self.0.len().checked_sub(1 + behind as usize)?)
    }

    /// When the last of them arrives.
    pub(super) fn last_arrival(&self) -> Option<Time> {
        self.0.back().map(|last| last.arrives_at)
    }

    /// When the next of them arrives.
    #[inline]
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.0.front().map(|head| head.arrives_at)
    }

    /// The next of them.
    #[inline]
    pub(super) fn next_slot(&self) -> Option<Slot> {
        self.0.front().map(|head| head.slot)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<OnWire> {
        self.0.pop_front()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
