//! The latest sendings that are known to have arrived.

use crate::proxy::{Cached, Lane};
use ackord_units::{Seq, Time};

/// The latest sendings that have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Of what waited in the link's queue.
    pub(super) in_turn: (Time, Seq),
    /// Of what went ahead of it.
    first: (Time, Seq),
}

impl Delivered {
    /// Something that was sent then has arrived. Of things sent at one instant the one further
    /// ahead counts, as a box sends lost segments in order.
    pub(super) fn note(&mut self, lane: Lane, sent: (Time, Seq)) {
        let latest = match lane {
            Lane::Queue => &mut self.in_turn,
            Lane::First => &mut self.first,
        };
        if before(*latest, sent) {
            *latest = sent;
        }
    }

    /// Whether something has arrived that was behind this one.
    pub(super) fn overtook(&self, cached: &Cached) -> bool {
        let sent = (cached.sent_at, cached.segment().seq);
        before(sent, self.in_turn) || (cached.lane == Lane::First && before(sent, self.first))
    }
}

fn before(one: (Time, Seq), other: (Time, Seq)) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1.before(other.1))
}
