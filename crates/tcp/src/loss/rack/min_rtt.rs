//! The least round-trip time of the last minutes (RFC 8985 §6.2 step 1).
//!
//! Two buckets of half the window each: the answer covers between half and the whole of it, which
//! is enough for a value that changes only when the path does.

use ackord_units::{Span, Time};

/// A minimum that forgets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowedMin {
    current: Option<Bucket>,
    previous: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    since: Time,
    least: Span,
}

/// RFC 8985 leaves the length open; five minutes is what Linux has (net.ipv4.tcp_min_rtt_wlen).
const WINDOW: Span = Span::from_secs(300);

impl WindowedMin {
    /// Takes a sample.
    pub(crate) fn on_sample(&mut self, now: Time, sample: Span) {
        match &mut self.current {
            Some(bucket) if now.saturating_since(bucket.since) < WINDOW / 2 => {
                bucket.least = bucket.least.min(sample);
            }
            current => {
                // After a pause longer than the window the old bucket says nothing either.
                let recent = current.filter(|old| now.saturating_since(old.since) < WINDOW);
                self.previous = recent.map(|bucket| bucket.least);
                *current = Some(Bucket { since: now, least: sample });
            }
        }
    }

    /// The least sample, if there was one.
    pub(crate) fn get(&self) -> Option<Span> {
        let least = self.current.map(|bucket| bucket.least)?;
        Some(self.previous.map_or(least, |previous| previous.min(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn a_minimum_lasts_for_half_the_window_at_least_and_is_forgotten_after_it() {
        let mut min = WindowedMin::default();
        assert_eq!(min.get(), None);
        min.on_sample(at(0), Span::from_millis(10));
        min.on_sample(at(149), Span::from_millis(90));
        assert_eq!(min.get(), Some(Span::from_millis(10)));
        min.on_sample(at(151), Span::from_millis(80));
        assert_eq!(min.get(), Some(Span::from_millis(10)));
        min.on_sample(at(302), Span::from_millis(85));
        assert_eq!(min.get(), Some(Span::from_millis(80)));
    }

    #[test]
    fn a_pause_forgets_everything() {
        let mut min = WindowedMin::default();
        min.on_sample(at(0), Span::from_millis(10));
        min.on_sample(at(400), Span::from_millis(90));
        assert_eq!(min.get(), Some(Span::from_millis(90)));
    }
}
