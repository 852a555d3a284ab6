//! What a transmitter is asked, and what it answers.

use ackord_events::DropReason;
use ackord_units::{Span, Time};

/// Whether a packet has been waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) enum Asks {
    /// It has just come and found the transmitter free.
    Fresh,
    /// It comes out of the queue.
    FromQueue,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct Sent {
    /// When it is out.
    pub(in crate::link) out_at: Time,
    /// When it is on its way: later, where what went before holds it back.
    pub(in crate::link) released_at: Time,
    /// When the next one may be sent.
    pub(in crate::link) free_at: Time,
    /// How much of the transmitter's time it took, all of it before `busy_until`.
    pub(in crate::link) takes: Span,
    pub(in crate::link) busy_until: Time,
    /// Why it is lost, if it is.
    pub(in crate::link) fate: Option<DropReason>,
}

impl Sent {
    /// At one rate, from the first bit to the last.
    pub(in crate::link) fn evenly(from: Time, takes: Span) -> Sent {
        let out_at = from + takes;
        let (released_at, free_at, busy_until) = (out_at, out_at, out_at);
        Sent { out_at, released_at, free_at, takes, busy_until, fate: None }
    }
}
