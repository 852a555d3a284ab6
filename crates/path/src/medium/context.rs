//! What a medium works on, and what it counts.

use crate::link::Link;
use crate::packets::Packets;
use ackord_events::Sink;
use ackord_units::Span;

/// Counters of a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumStats {
    /// How often it was taken, by whomever; a collision counts once.
    pub accesses: u64,
    /// Of those, how often by two or more at once.
    pub collisions: u64,
    /// How long it was taken. The last time may still be under way; see
    /// [`Graph::medium_busy_for`](crate::Graph::medium_busy_for).
    pub busy_for: Span,
}

/// What a medium works on: every link of the graph, of which it touches its own.
pub(crate) struct MediumContext<'a, S: Sink> {
    pub(crate) links: &'a mut [Link],
    pub(crate) packets: &'a mut Packets,
    pub(crate) sink: &'a mut S,
}
