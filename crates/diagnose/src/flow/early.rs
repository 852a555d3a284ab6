//! Acknowledgments that the capture has before the data they acknowledge.
//!
//! Several queues of a network card, or two capture points joined, put an ACK some microseconds before its
//! data. It is held until the data arrive, or for [`HOLD`]: then the capture lacks the data.

use super::connection::{Connection, Setup};
use crate::Seen;
use ackord_units::Span;
use ackord_wire::Flags;

/// An ACK is held for this long at most.
const HOLD: Span = Span::from_micros(500);
/// Packets held at most.
const MOST: usize = 32;
/// ACKs for bytes further ahead than this have not been overtaken.
const FAR: u64 = 1 << 20;

impl Connection {
    /// Takes a packet of this connection, after those held before it.
    #[inline]
    pub(super) fn packet_in_order(&mut self, seen: &Seen) {
        if self.early.is_empty() && !self.acknowledges_unseen(seen) {
            self.take(seen);
        } else {
            self.packet_among_early(seen);
        }
    }

    /// Returns true if the packet acknowledges bytes that the capture does not have yet.
    #[inline]
    fn acknowledges_unseen(&self, seen: &Seen) -> bool {
        if !seen.flags.contains(Flags::ACK) || seen.flags.contains(Flags::SYN) {
            return false;
        }
        let half = &self.halves[usize::from(seen.src == self.ends[0])];
        if !half.is_anchored() || self.setup == Setup::SynSent {
            return false;
        }
        let ahead = half.offset(seen.ack).saturating_sub(half.next);
        ahead > 0 && ahead <= FAR
    }

    #[cold]
    fn packet_among_early(&mut self, seen: &Seen) {
        while let Some(first) = self.early.first().copied() {
            if seen.at.saturating_since(first.at) <= HOLD && self.early.len() < MOST {
                break;
            }
            self.early.remove(0);
            self.take(&first);
        }
        // Packets of one end stay in order.
        let behind = self.early.iter().any(|held| held.src == seen.src);
        if behind || self.acknowledges_unseen(seen) {
            self.early.push(*seen);
            return;
        }
        self.take(seen);
        while let Some(first) = self.early.first().copied() {
            if self.acknowledges_unseen(&first) {
                break;
            }
            self.early.remove(0);
            // Its time is not before that of the data.
            self.take(&Seen { at: first.at.max(seen.at), ..first });
        }
    }

    /// Takes the packets that are still held.
    pub(super) fn release_early(&mut self) {
        for held in std::mem::take(&mut self.early) {
            self.take(&held);
        }
    }
}
