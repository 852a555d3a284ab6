//! Where every packet is.

use super::Graph;
use crate::link::DropCounts;
use crate::medium::Medium;
use ackord_events::DropReason;

/// Where every packet that ever entered is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Packets that hosts sent.
    pub injected: u64,
    /// Packets that middleboxes sent, those included that they had absorbed before, and second
    /// copies that links made.
    pub made: u64,
    /// Packets handed to the driver at their destination.
    pub delivered: u64,
    /// Packets that died, by reason.
    pub dropped: DropCounts,
    /// Packets that ended in middleboxes, or wait there.
    pub absorbed: u64,
    /// Packets in queues, on wires, or waiting to be polled, counted where they are.
    pub in_flight: u64,
}

/// Packets have appeared or vanished: a defect of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} packets entered and {} were made on the way, but {} were delivered, {} dropped, {} absorbed \
     and {} are under way",
    .0.injected, .0.made, .0.delivered, .0.dropped.total(), .0.absorbed, .0.in_flight
)]
pub struct Unbalanced(pub Box<Conservation>);

impl Conservation {
    /// Whether the packets that entered are all accounted for.
    pub fn check(&self) -> Result<(), Unbalanced> {
        let found = self.delivered + self.dropped.total() + self.absorbed + self.in_flight;
        if found == self.injected + self.made { Ok(()) } else { Err(Unbalanced(Box::new(*self))) }
    }
}

impl Graph {
    /// Where every packet is.
    ///
    /// # Panics
    /// If a packet has no slot or a slot no packet: a defect of this crate.
    pub fn conservation(&self) -> Conservation {
        let mut dropped = DropCounts::default();
        let (mut on_links, mut duplicated) = (0, 0);
        for link in &self.links {
            dropped.add(&link.stats().drops);
            on_links += link.in_flight();
            duplicated += link.stats().duplicated;
        }
        on_links += self.not_on_links();
        on_links += self.media.iter().map(Medium::held).sum::<u64>();
        assert_eq!(on_links, self.packets.len() as u64, "every packet has one slot");
        let in_flight = on_links + self.on_last_way() + self.ready.len() as u64;
        for _ in 0..self.unroutable {
            dropped.count(DropReason::NoRoute);
        }
        Conservation {
            injected: self.injected,
            made: self.made + duplicated,
            delivered: self.delivered,
            dropped,
            absorbed: self.absorbed,
            in_flight,
        }
    }
}
