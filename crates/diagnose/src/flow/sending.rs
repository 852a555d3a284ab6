//! When a sender sent, and what it left unanswered since.

use super::outstanding::Passing;
use ackord_units::{Span, Time};

/// Segments of a burst that are counted apart.
pub(crate) const BURST: usize = 64;
/// A pause between bursts is longer than this, and than this part of the round trip.
const PAUSE: Span = Span::from_millis(1);
const PAUSE_PART: u64 = 8;

/// How one end sends.
#[derive(Clone, Debug, Default)]
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
    /// Bytes of payload that passed, with retransmissions; those of the burst that is passing.
    passed: u64,
    burst: u32,
    /// `passed` and `burst` when it last sent bytes not seen before.
    at_new: (u64, u32),
    /// Segments that passed since the first loss, by the number of full segments before them in their burst.
    pub(crate) bursts: Option<Box<[u32; BURST]>>,
}

impl Sending {
    /// Takes `len` bytes of payload that pass at `at`, in segments of `mss` bytes on a path of this round trip.
    #[inline]
    pub(crate) fn pass(&mut self, at: Time, len: u32, (mss, trip): (u32, Span)) -> Passing {
        if is_pause(self.last, at, trip) {
            self.burst = 0;
        }
        let burst = segments(self.burst, mss);
        if let Some(bursts) = &mut self.bursts
            && let Some(passed) = bursts.get_mut(usize::from(burst))
        {
            *passed += 1;
        }
        let passing = Passing { at, before: self.passed as u32, burst };
        self.passed += u64::from(len);
        self.burst = self.burst.saturating_add(len);
        passing
    }

    /// Returns when a packet that is missing at `at` should have passed: behind the burst of the last new bytes, or
    /// now.
    pub(crate) fn missed(&self, at: Time, (mss, trip): (u32, Span)) -> Passing {
        let (at, (passed, burst)) = match is_pause(self.last_new, at, trip) {
            true => (self.last_new, self.at_new),
            false => (at, (self.passed, self.burst)),
        };
        Passing { at, before: passed as u32, burst: segments(burst, mss) }
    }

    /// Returns the full count of which `before` is the lower 32 bits; at most 4 GiB have passed since.
    pub(crate) fn unwrapped(&self, before: u32) -> u64 {
        self.passed - u64::from((self.passed as u32).wrapping_sub(before))
    }

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
        self.at_new = (self.passed, self.burst);
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

/// Returns true if another burst begins at `at`.
#[inline]
fn is_pause(last: Time, at: Time, trip: Span) -> bool {
    let pause = Span::from_nanos(trip.as_nanos() / PAUSE_PART).max(PAUSE);
    at.saturating_since(last) > pause
}

/// Returns how many full segments these bytes are.
#[inline]
fn segments(bytes: u32, mss: u32) -> u8 {
    (bytes / mss.max(1)).min(u32::from(u8::MAX)) as u8
}
