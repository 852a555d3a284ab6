//! Acknowledgments held back while all is well, to keep the sender's retransmission timer quiet
//! while the link is away. Only a box in the path can do this.
//!
//! What is held back delays the sender, so no more is held than costs nothing: what stands in the
//! wireless queue, half of it, and an eighth of what is outstanding. When the mobile falls silent one
//! goes on at a time, with a window of zero, as the sender is not to send into the dead link; each
//! starts its timer anew. When the mobile is heard, the rest goes with the windows they had.

use super::super::Outbox;
use ackord_units::{Span, Time};
use ackord_wire::Packet;
use std::collections::VecDeque;

/// How a reserve is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveConfig {
    /// The most acknowledgments that are held back; none turns it off.
    pub most: usize,
    /// From one release to the next while the mobile is silent.
    pub release_every: Span,
}

/// The acknowledgments of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Reserve {
    held: VecDeque<Packet>,
    /// When the sender last got an acknowledgment.
    passed_at: Time,
}

impl Reserve {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// An acknowledgment went on by itself.
    pub(super) fn passed(&mut self, now: Time) {
        self.passed_at = now;
    }

    /// Keeps one back, and lets the oldest go that are too many.
    pub(super) fn keep(&mut self, now: Time, packet: &Packet, most: usize, out: &mut Outbox) {
        self.held.push_back(*packet);
        while self.held.len() > most {
            if let Some(oldest) = self.held.pop_front() {
                self.passed_at = now;
                out.release(oldest);
            }
        }
    }

    /// Lets all go, in order, and `last` after them.
    pub(super) fn empty_before(&mut self, now: Time, last: &Packet, out: &mut Outbox) {
        self.passed_at = now;
        self.held.drain(..).for_each(|packet| out.release(packet));
        out.release(*last);
    }

    /// When the next is to go although nothing came.
    pub(super) fn due_at(&self, every: Span) -> Option<Time> {
        (!self.held.is_empty()).then(|| self.passed_at + every)
    }

    /// Lets one go; with a window of zero if that is to be `closed`: if the sender is not to send.
    pub(super) fn release_one(&mut self, now: Time, closed: bool, out: &mut Outbox) {
        let Some(mut packet) = self.held.pop_front() else { return };
        if closed && let Some(segment) = &mut packet.tcp {
            segment.window = 0;
        }
        self.passed_at = now;
        out.release(packet);
    }
}
