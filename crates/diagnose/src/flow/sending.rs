//! When a sender sent, and what it left unanswered since.

use ackord_units::{Span, Time};

/// How one end sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sending {
    /// When it last sent bytes, and how many.
    pub(crate) last: Time,
    pub(crate) last_len: u32,
    /// When it last sent bytes not seen before.
    pub(crate) last_new: Time,
    /// What had been acknowledged then; how many ACKs have come since, and what the last but one of
    /// them acknowledged.
    una_at_new: u64,
    pub(crate) acks_since: u32,
    una_before: u64,
    /// Most bytes acknowledged per second while it waited so.
    drain_rate: f64,
    /// Mean time between its segments while it kept sending.
    pub(crate) spacing: Span,
}

impl Sending {
    /// An ACK acknowledges more than `una`, which was known before.
    #[inline]
    pub(crate) fn heard_more_than(&mut self, una: u64) {
        self.una_before = una;
        self.acks_since = self.acks_since.saturating_add(1);
    }

    /// It sends so many bytes not seen before, with this much acknowledged; `keeps_on` where bytes are under way
    /// beside them.
    #[inline]
    pub(crate) fn sent_new(&mut self, at: Time, len: u32, una: u64, keeps_on: bool) {
        if keeps_on {
            let gap = at.saturating_since(self.last_new);
            let mean = (self.spacing.as_nanos() * 7 + gap.as_nanos()) / 8;
            self.spacing = Span::from_nanos(mean);
        }
        self.last_new = at;
        self.last_len = len;
        self.una_at_new = una;
        self.acks_since = 0;
    }

    /// Bytes acknowledged that it had answered with nothing, before the last ACK.
    pub(crate) fn drained(&self) -> u64 {
        self.una_before.saturating_sub(self.una_at_new)
    }

    /// The most bytes per second that were acknowledged while it answered nothing, with those until now, and
    /// whether these come at less than most of that rate.
    pub(crate) fn drain(&mut self, at: Time) -> (f64, bool) {
        let gap = at.saturating_since(self.last_new).as_secs_f64();
        let rate = self.drained() as f64 / gap.max(1e-6);
        self.drain_rate = self.drain_rate.max(rate);
        (self.drain_rate, rate < 0.7 * self.drain_rate)
    }
}
