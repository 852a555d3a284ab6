//! What a sender has heard of the other end: acknowledgments reach it some time after they passed the capture
//! point.

use super::connection::Connection;
use super::half::Half;
use ackord_units::{Span, Time};
use std::collections::VecDeque;

/// An acknowledgment on its way to the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// When what the sender does about it passes the capture point.
    pub(crate) due: Time,
    pub(crate) ack: u64,
    /// The byte at which the window ends; nothing where the scale is unknown.
    pub(crate) edge: Option<u64>,
    pub(crate) frame: u64,
    /// Its TSval, which the sender echoes once it has heard it.
    pub(crate) stamp: Option<u32>,
    /// The TSval that it echoes.
    pub(crate) echo: Option<u32>,
    /// It reports bytes that arrived twice (RFC 2883).
    pub(crate) dsack: bool,
    /// It reports bytes behind a hole (RFC 2018).
    pub(crate) sack: bool,
}

/// What the sender of one direction knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hearing {
    /// Acknowledged, as the sender knows.
    pub(crate) una: u64,
    /// Where the receiver's window ends, as the sender knows; nothing where the scale is unknown.
    edge: Option<u64>,
    /// Largest window heard, bytes.
    pub(crate) widest: u64,
    /// When it last heard something, and when it last heard of bytes not acknowledged before.
    pub(crate) last: Time,
    pub(crate) last_more: Time,
    /// What was acknowledged and where the window ended during the longest silence since it last sent,
    /// and how long that was.
    waiting: (u64, Option<u64>),
    waited: Span,
    /// On the way, in order.
    queue: VecDeque<Heard>,
}

impl Hearing {
    /// The next acknowledgment to be heard.
    #[inline]
    pub(crate) fn next(&self) -> Option<Heard> {
        self.queue.front().copied()
    }

    /// Takes that from the way.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        self.queue.pop_front();
    }

    /// An acknowledgment is on its way. It does not overtake the one before it.
    #[inline]
    pub(crate) fn under_way(&mut self, heard: Heard) {
        let due = self.queue.back().map_or(heard.due, |last| last.due.max(heard.due));
        // Most short connections have one ACK on the way at a time; a `VecDeque` would begin with room for four.
        if self.queue.capacity() == 0 {
            self.queue.reserve_exact(1);
        }
        self.queue.push_back(Heard { due, ..heard });
    }

    /// The sender hears this; new bytes were last sent at `last_new`. Whether it acknowledges more than was known.
    #[inline]
    pub(crate) fn hear(&mut self, heard: &Heard, last_new: Time) -> bool {
        self.silent_until(heard.due, last_new);
        self.last = heard.due;
        // A window of unknown scale says nothing, also of the one before.
        self.edge = heard.edge;
        self.widest = self.widest.max(heard.edge.map_or(0, |edge| edge.saturating_sub(heard.ack)));
        let is_more = heard.ack > self.una;
        if is_more {
            self.last_more = heard.due;
        }
        self.una = self.una.max(heard.ack);
        is_more
    }

    /// Notes what stood while nothing was heard until now.
    #[inline]
    fn silent_until(&mut self, at: Time, last_new: Time) {
        let first = self.last <= last_new;
        let silence = at.saturating_since(self.last.max(last_new));
        if first || silence > self.waited {
            self.waiting = (self.una, self.edge);
            self.waited = silence;
        }
    }

    /// Returns the longest silence since it last sent new bytes.
    pub(crate) fn longest_silence(&self) -> Span {
        self.waited
    }

    /// Returns the byte at which the receiver's window ends, if the scale is known.
    #[inline]
    pub(crate) fn edge(&self) -> Option<u64> {
        self.edge
    }

    /// Returns what was acknowledged and where the window ended during the longest silence until `now` of a
    /// sender that last sent new bytes at `last_new`.
    pub(crate) fn waited_with(&self, last_new: Time, now: Time) -> (u64, Option<u64>) {
        let lately = now.saturating_since(self.last) > self.waited;
        match self.last > last_new && !lately {
            true => self.waiting,
            false => (self.una, self.edge),
        }
    }
}

impl Connection {
    /// Whoever echoes a timestamp has heard what carried it.
    #[inline]
    pub(super) fn has_heard(&mut self, side: usize, echo: u32, at: Time) {
        while let Some(heard) = self.halves[side].hearing.next() {
            let ahead = heard.stamp.map_or(-1, |stamp| echo.wrapping_sub(stamp) as i32);
            if ahead < 0 {
                return;
            }
            self.halves[side].hearing.arrived();
            self.heard(side, &Heard { due: heard.due.min(at), ..heard });
            // Of several with this timestamp, the first has certainly arrived.
            if ahead == 0 {
                return;
            }
        }
    }

    /// What has reached its sender by now.
    #[inline]
    pub(super) fn hear(&mut self, at: Time) {
        loop {
            let due = |half: &Half| half.hearing.next().map(|heard| heard.due);
            let sender = match (due(&self.halves[0]), due(&self.halves[1])) {
                (None, None) => return,
                (Some(_), None) => 0,
                (None, Some(_)) => 1,
                (Some(client), Some(server)) => usize::from(server < client),
            };
            match self.halves[sender].hearing.next() {
                Some(heard) if heard.due <= at => {
                    self.halves[sender].hearing.arrived();
                    self.heard(sender, &heard);
                }
                _ => return,
            }
        }
    }

    /// The sender knows of this acknowledgment.
    pub(super) fn heard(&mut self, sender: usize, heard: &Heard) {
        let half = &mut self.halves[sender];
        let before = half.silent_since();
        half.hear(heard);
        if let Some(recovery) = self.recoveries[sender] {
            let silence = heard.due.saturating_since(before);
            self.losses[recovery.loss as usize].silent(silence);
        }
        if self.recoveries[sender].is_some() || heard.dsack {
            self.heard_in_recovery(sender, heard);
        }
    }
}
