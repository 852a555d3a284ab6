//! One direction of one link in one interval.

use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Span};

/// Packets and their length together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// How many packets.
    pub packets: u64,
    /// Their IP lengths together.
    pub bytes: Bytes,
}

/// What one direction of a link did in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionSample {
    /// What came to the link, whether or not it found room.
    pub offered: Carried,
    /// What left the link's transmitter and was not lost on the medium.
    pub delivered: Carried,
    /// Packets that died, by reason, in the order of [`DropReason::ALL`].
    pub dropped: [u32; DropReason::ALL.len()],
    /// What waits at the end of the interval.
    pub queue: Carried,
    /// How long the packet at the head of the queue has waited at the end of the interval; zero
    /// where nothing waits.
    pub queueing_delay: Span,
    /// The longest that a packet which left the queue in this interval had waited, or
    /// `queueing_delay` if that is longer.
    pub longest_queueing_delay: Span,
    /// What the link could have carried; nothing where nobody can say, as on a shared medium.
    pub capacity: Option<Rate>,
}

impl Carried {
    /// One packet more.
    pub(super) fn add(&mut self, bytes: Bytes) {
        self.packets += 1;
        self.bytes = Bytes(self.bytes.get() + bytes.get());
    }
}

impl DirectionSample {
    /// Packets that died.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.iter().map(|&packets| u64::from(packets)).sum()
    }
}
