//! What is noted of each loss while it is being recovered.

use ackord_units::{Span, Time};

/// The least retransmission timeout of Linux, with a margin.
pub(crate) const LINUX_TIMER: Span = Span::from_millis(190);

/// How the sender came to retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// By acknowledgments (RFC 5681, 6675, 8985).
    Acks,
    /// By its timer (RFC 6298), or a tail loss probe (RFC 8985 §7).
    Timer,
}

/// One loss and its recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) side: u8,
    /// When the first retransmission passed.
    pub(crate) at: Time,
    /// When the last acknowledgment before it had been heard.
    pub(crate) silent_since: Time,
    /// The longest time in which nothing was sent or heard, before it and until it was recovered.
    pub(crate) silence: Span,
    /// When it was recovered.
    pub(crate) over: Time,
    pub(crate) trigger: Trigger,
    /// Timeouts during the recovery.
    pub(crate) timeouts: u16,
    /// Bytes retransmitted.
    pub(crate) bytes: u64,
    /// Segments retransmitted; those retransmitted more than once.
    pub(crate) retransmitted: u32,
    pub(crate) again: u32,
    /// Segments and bytes under way when it began; those of them that had been sacked.
    pub(crate) under_way: u32,
    pub(crate) under_way_bytes: u64,
    pub(crate) sacked: u32,
    /// Reports of bytes that arrived twice (RFC 2883), and retransmissions of what had been acknowledged
    /// at the capture point.
    pub(crate) unneeded: u32,
    /// The first acknowledgment after the first retransmission was for the original (RFC 3522), or came
    /// too early to be for the retransmission.
    pub(crate) early: bool,
    /// Bytes sent once only that the first acknowledgment after the first retransmission reports: they had
    /// arrived, and nobody had heard of it.
    pub(crate) unheard: Option<u64>,
    /// Packets of its sender that were lost before the capture point meanwhile, by their numbers; zero where
    /// its host does not count per socket.
    pub(crate) skipped: u32,
    /// Segments that were under way at most in the round trips before it.
    pub(crate) window: u32,
    /// The last round-trip time before it, or the longest of segments that were sent with those lost.
    pub(crate) rtt: Span,
    /// Whether the sender had nothing new to send while it recovered.
    pub(crate) tail: bool,
}

impl Loss {
    /// Returns true if nothing but a FIN was repeated.
    pub(crate) fn is_closing(&self) -> bool {
        self.bytes == 0 && self.skipped == 0
    }

    /// Nothing was sent or heard for this long while it was recovered.
    pub(crate) fn silent(&mut self, silence: Span) {
        self.silence = self.silence.max(silence);
    }

    /// A round-trip time while it is recovered: of segments that were sent with those lost.
    pub(crate) fn measured(&mut self, at: Time, rtt: Span) {
        if at.saturating_since(self.at) * 3 < rtt {
            self.rtt = self.rtt.max(rtt);
        }
    }

    /// Returns the number of segments retransmitted more than once, with those lost before the capture point.
    pub(crate) fn repeated(&self) -> u32 {
        let unseen = self.skipped > 1 && self.trigger == Trigger::Timer;
        self.again + u32::from(unseen)
    }

    /// Returns the number of different segments that were retransmitted.
    pub(crate) fn distinct(&self) -> u32 {
        self.retransmitted.saturating_sub(self.repeated())
    }
}

/// Losses kept of a connection; further ones count towards the last.
pub(crate) const MOST_LOSSES: usize = 4096;

/// A packet that was dropped: retransmitted later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop {
    /// When it was sent, or should have passed.
    pub(crate) at: Time,
    /// Its first byte.
    pub(crate) from: u64,
    /// Bytes of payload that had been seen in its direction before it.
    pub(crate) before: u64,
    /// The number of the loss.
    pub(crate) loss: u32,
    /// Its bytes that are among those seen: zero if it was dropped before the capture point.
    pub(crate) seen: u32,
    /// Full segments that had passed in the same burst before it.
    pub(crate) burst: u8,
}

/// Dropped packets kept of a direction.
pub(crate) const MOST_DROPS: usize = 8192;

/// A recovery under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    pub(crate) loss: u32,
    /// It is over when this byte is acknowledged.
    pub(crate) until: u64,
    /// When the first retransmission passed, and the byte after it.
    pub(crate) first: Time,
    pub(crate) first_to: u64,
    /// Its TSval.
    pub(crate) stamp: Option<u32>,
}
