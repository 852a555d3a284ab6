//! Packets that are damaged on the way, and packets that arrive twice.
//!
//! Where damage is noticed makes a difference: a link layer with a check of its own drops the
//! packet at the far end of the link; without one it is carried on, takes its time on every link
//! behind, and the host discards it because a checksum does not hold.
//!
//! Not modelled: which bits are damaged, and so routers that discard a packet with a damaged IP
//! header, checksums that hold by chance (1 in 65 536), and captures of damaged packets, which show
//! them as they were. Who could notice: nobody but a reader of captures.

use super::loss::{ErrorRate, Odds};
use ackord_units::{Keyword, RandomStream, Ratio};

/// Who notices that a packet is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum CaughtBy {
    /// The host it is for, which discards it.
    Host,
    /// The link's far end, which drops it there.
    Link,
}

/// Damage to packets.
#[derive(Clone, Debug)]
pub struct Corruption {
    odds: Odds,
    caught_by: CaughtBy,
}

impl Corruption {
    /// Damage at `rate`, drawn from `stream`.
    pub fn new(rate: ErrorRate, caught_by: CaughtBy, stream: RandomStream) -> Corruption {
        Corruption { odds: Odds::new(rate, stream), caught_by }
    }

    /// Who will notice that this packet is damaged, if it is.
    pub(super) fn draw(&mut self, ip_len: u32) -> Option<CaughtBy> {
        self.odds.draw(ip_len).then_some(self.caught_by)
    }
}

/// Packets that arrive twice.
#[derive(Clone, Debug)]
pub struct Duplication {
    share: Ratio,
    stream: RandomStream,
}

impl Duplication {
    /// Each packet arrives twice with this probability, drawn from `stream`.
    pub fn new(share: Ratio, stream: RandomStream) -> Duplication {
        Duplication { share, stream }
    }

    /// Whether a packet arrives twice.
    pub(super) fn draw(&mut self) -> bool {
        self.stream.chance(self.share)
    }
}
