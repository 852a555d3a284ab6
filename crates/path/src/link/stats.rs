//! What a link counts: plain numbers, always on.

use ackord_events::DropReason;
use ackord_units::Span;

/// Counters of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets whose transmission has begun, those lost on the medium included.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: u64,
    /// How long their transmissions take together. The last one may still be under way; see
    /// [`Graph::busy_for`](crate::Graph::busy_for).
    pub busy_for: Span,
    /// Packets the queue marked "congestion experienced".
    pub marked: u64,
    /// Propagation delays drawn; none where the delay is constant.
    pub delays_drawn: u64,
    /// Draws below the floor, raised to it.
    pub delays_clipped: u64,
    /// Packets on the wire that one sent later overtook, each counted once.
    pub overtaken: u64,
    /// Packets of which this link made a second one.
    pub duplicated: u64,
    /// Outages that packets have met; one that nobody meets is not counted.
    pub outages_met: u64,
    /// Packets that died here.
    pub drops: DropCounts,
}

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::ALL.len()]);

impl DropCounts {
    /// Packets dropped for this reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Packets dropped.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason with its count, in the order of [`DropReason::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().map(|reason| (reason, self.of(reason)))
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &DropCounts) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_counter() {
        let mut counts = DropCounts::default();
        for (times, reason) in DropReason::ALL.into_iter().enumerate() {
            (0..times).for_each(|_| counts.count(reason));
        }
        let listed: Vec<_> = counts.iter().map(|(_, count)| count).collect();
        assert_eq!(listed, (0..DropReason::ALL.len() as u64).collect::<Vec<_>>());
    }
}
