//! The delay of a link while nothing queues in it.

use ackord_units::{Span, Time};

/// Without a delay near the baseline for so long, the link is drained to measure it anew.
const STALE: Span = Span::from_secs(10);
/// A link that is loaded for so long is drained anyway: the baseline may have been learnt while a queue was there.
const LOADED: Span = Span::from_secs(30);
/// Longest time for which the link is drained.
const DRAIN: Span = Span::from_millis(400);
/// A drain ends if the delay has not fallen for so long.
const FLAT: Span = Span::from_millis(160);
/// A delay has fallen if it has by so much.
const FALL: Span = Span::from_millis(1);
/// The most by which a drain raises the baseline: a half, and a little. What is left of a queue may be in it.
const RISES_BY: (u64, Span) = (2, Span::from_millis(5));

/// The lowest delay, which falls immediately and rises only by what a drain has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Baseline {
    value: Option<Span>,
    /// Last time at which a delay was near it.
    near_at: Time,
    /// Last time at which no queue can have been in a sample.
    free_at: Option<Time>,
    drain: Option<Drain>,
}

#[derive(Clone, Copy, Debug)]
struct Drain {
    until: Time,
    lowest: Option<Span>,
    /// Last time at which the lowest delay fell.
    fell_at: Time,
}

impl Baseline {
    /// The baseline; `None` before the first sample.
    pub(super) fn value(&self) -> Option<Span> {
        self.value
    }

    /// True while the link is drained.
    pub(super) fn is_draining(&self) -> bool {
        self.drain.is_some()
    }

    /// Takes in the lowest delay of an interval. `near` is how far above the baseline a delay may be without a queue,
    /// `is_light` is true if the load was too low for a queue.
    pub(super) fn observe(&mut self, at: Time, delay: Option<Span>, near: Span, is_light: bool) {
        if let Some(drain) = &mut self.drain {
            let is_lower = |low: Span| delay.is_some_and(|delay| delay + FALL <= low);
            if drain.lowest.is_none_or(is_lower) {
                drain.fell_at = at;
            }
            drain.lowest = [drain.lowest, delay].into_iter().flatten().min();
            if at >= drain.until || at.saturating_since(drain.fell_at) >= FLAT {
                let lowest = drain.lowest;
                self.end_drain(at, lowest);
            }
            return;
        }
        let Some(delay) = delay else { return };
        if is_light {
            self.free_at = Some(at);
        }
        match self.value {
            Some(value) if delay > value + near => {}
            Some(value) => {
                self.near_at = at;
                self.value = Some(value.min(delay));
            }
            None => (self.value, self.near_at) = (Some(delay), at),
        }
    }

    fn end_drain(&mut self, at: Time, lowest: Option<Span>) {
        let (part, little) = RISES_BY;
        let most = self.value.map_or(Span::MAX, |value| value + value / part + little);
        self.value = lowest.map(|low| low.min(most)).or(self.value);
        (self.drain, self.near_at, self.free_at) = (None, at, Some(at));
    }

    /// Begins a drain of the loaded link if no delay was near the baseline for long, or if none was free of a queue for
    /// very long. Returns true if it has begun.
    pub(super) fn drain_if_due(&mut self, at: Time) -> bool {
        let is_stale = at.saturating_since(self.near_at) >= STALE;
        let is_doubtful = self.free_at.is_none_or(|free| at.saturating_since(free) >= LOADED);
        let is_due = self.value.is_some() && (is_stale || is_doubtful);
        if is_due && self.drain.is_none() {
            self.drain = Some(Drain { until: at + DRAIN, lowest: None, fell_at: at });
            return true;
        }
        false
    }
}
