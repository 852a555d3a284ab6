//! Packets that a capture has in another order than their times.
//!
//! Several queues of a network card, or files joined one after the other, do that. Once a packet is earlier than
//! the one before it, the connection's packets are held for twice the largest disorder seen and taken in the order
//! of their times. The first such packet is taken where it is.

use super::connection::Connection;
use crate::Seen;
use ackord_units::{Span, Time};

/// Packets held at most.
const MOST: usize = 1024;
/// A packet that is earlier than the latest by more than this shows a clock that was set.
pub(super) const LARGEST: Span = Span::from_secs(1);
/// Packets are held for this long at least.
const LEAST: Span = Span::from_millis(1);

/// Packets of a connection on hold, in the order of their times.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    held: Vec<Seen>,
    /// The latest time of a packet, and the largest disorder.
    latest: Time,
    disorder: Span,
}

impl Order {
    /// Holds back after a packet that is earlier by `disorder` than the one before it at `latest`.
    pub(super) fn begin(latest: Time, disorder: Span) -> Box<Order> {
        Box::new(Order { held: Vec::new(), latest, disorder: disorder.max(LEAST) })
    }
}

impl Connection {
    /// Takes a packet of this connection, in the order of time where the capture has another.
    #[inline]
    pub(crate) fn packet(&mut self, seen: &Seen) {
        self.arrived = seen.at;
        match self.order {
            None => self.packet_in_order(seen),
            Some(_) => self.packet_in_disorder(seen),
        }
    }

    #[cold]
    fn packet_in_disorder(&mut self, seen: &Seen) {
        let Some(order) = &mut self.order else { return };
        let (early, late) =
            (order.latest.saturating_since(seen.at), seen.at.saturating_since(order.latest));
        if early > LARGEST || late > LARGEST {
            // The clock was set, or nothing is left to wait for.
            self.release_held(usize::MAX);
            self.packet_in_order(seen);
            if let Some(order) = &mut self.order {
                order.latest = seen.at;
            }
            return;
        }
        if early > Span::ZERO {
            self.faults.get_or_insert_default().backwards.add(1, seen.frame);
        }
        order.disorder = order.disorder.max(early);
        order.latest = order.latest.max(seen.at);
        let place = order.held.partition_point(|held| held.at <= seen.at);
        order.held.insert(place, *seen);
        let wait = order.disorder * 2;
        let old = order.held.partition_point(|held| held.at + wait < order.latest);
        let excess = order.held.len().saturating_sub(MOST);
        self.release_held(old.max(excess));
    }

    /// Takes the earliest packets on hold, at most so many.
    fn release_held(&mut self, most: usize) {
        let Some(order) = &mut self.order else { return };
        let most = most.min(order.held.len());
        let released: Vec<Seen> = order.held.drain(..most).collect();
        released.iter().for_each(|seen| self.packet_in_order(seen));
    }

    /// Takes all packets on hold.
    pub(super) fn release_all(&mut self) {
        self.release_held(usize::MAX);
        self.release_early();
    }
}
