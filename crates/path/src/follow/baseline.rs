//! The delay of a link while nothing queues in it.

use ackord_units::{Span, Time};

/// Without a delay near the baseline for so long, the link is drained once to measure it anew.
const STALE: Span = Span::from_secs(10);
/// Longest time for which it is drained.
const DRAIN: Span = Span::from_millis(400);
/// The most by which a drain raises the baseline: a half, and a little. What is left of a queue may be in it.
const RISES_BY: (u64, Span) = (2, Span::from_millis(5));

/// The lowest delay, which falls immediately and rises only by what a drain has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Baseline {
    value: Option<Span>,
    /// Last time at which a delay was near it.
    near_at: Time,
    /// End of the drain under way, and the lowest delay in it.
    drain: Option<(Time, Option<Span>)>,
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

    /// Takes in the lowest delay of an interval. `near` is how far above the baseline a delay may be without a queue.
    pub(super) fn observe(&mut self, at: Time, delay: Option<Span>, near: Span) {
        if let Some((until, lowest)) = &mut self.drain {
            *lowest = [*lowest, delay].into_iter().flatten().min();
            let lowest = *lowest;
            let is_near = lowest.zip(self.value).is_some_and(|(low, value)| low <= value + near);
            if is_near || at >= *until {
                let (part, little) = RISES_BY;
                let most = self.value.map_or(Span::MAX, |value| value + value / part + little);
                self.value = lowest.map(|low| low.min(most)).or(self.value);
                (self.drain, self.near_at) = (None, at);
            }
            return;
        }
        let Some(delay) = delay else { return };
        match self.value {
            Some(value) if delay >= value => {
                if delay <= value + near {
                    self.near_at = at;
                }
            }
            _ => (self.value, self.near_at) = (Some(delay), at),
        }
    }

    /// Begins a drain if no delay was near the baseline for long.
    pub(super) fn drain_if_stale(&mut self, at: Time) {
        if self.drain.is_none() && at.saturating_since(self.near_at) >= STALE {
            self.drain = Some((at + DRAIN, None));
        }
    }
}
