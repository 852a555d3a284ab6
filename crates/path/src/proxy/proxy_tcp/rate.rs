//! How fast the wireless link has delivered lately: the pace at which lost data goes out again.
//!
//! The most that was acknowledged per round trip over the last round trips. Acknowledged is not sent: a
//! burst into the wireless queue does not count for more than the link made of it.

use ackord_units::{Bytes, Span, Time};

/// Delivery per second, as acknowledgments tell.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryRate {
    /// Bytes acknowledged in the interval that began at `since`.
    bytes: u64,
    since: Option<Time>,
    /// Of the last whole intervals, in bytes per second.
    last: [u64; INTERVALS],
    next: usize,
}

/// Whole intervals that are remembered: enough for one without a recovery in it.
const INTERVALS: usize = 8;

/// An interval is a round trip, but not shorter: single acknowledgments would be rates by
/// themselves.
const SHORTEST: Span = Span::from_millis(20);

impl DeliveryRate {
    /// So many bytes more are acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Time, octets: u32, round_trip: Span) {
        let since = *self.since.get_or_insert(now);
        let span = now.saturating_since(since);
        if span >= round_trip.max(SHORTEST) {
            let per_second = u128::from(self.bytes) * 1_000_000_000 / u128::from(span.as_nanos());
            self.last[self.next] = u64::try_from(per_second).unwrap_or(u64::MAX);
            self.next = (self.next + 1) % INTERVALS;
            self.bytes = 0;
            self.since = Some(now);
        }
        self.bytes += u64::from(octets);
    }

    /// The link was away: what comes now says nothing of its rate before.
    pub(super) fn interrupt(&mut self) {
        self.since = None;
        self.bytes = 0;
    }

    /// How long the link takes for so much, if anything is known.
    pub(super) fn time_for(&self, bytes: Bytes) -> Option<Span> {
        let most = *self.last.iter().max()?;
        if most == 0 {
            return None;
        }
        let nanos = u128::from(bytes.get()) * 1_000_000_000 / u128::from(most);
        Some(Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// How much the link delivers in a time, if anything is known.
    pub(super) fn in_span(&self, span: Span) -> Bytes {
        let most = *self.last.iter().max().expect("it has eight entries");
        let bytes = u128::from(most) * u128::from(span.as_nanos()) / 1_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_rate_is_that_of_the_best_of_the_last_round_trips() {
        let mut rate = DeliveryRate::default();
        assert_eq!(rate.time_for(Bytes(1_000)), None);
        // 1000 bytes every 4 ms: 250 kB/s. Then a pause, and the same again.
        for step in 0..25 {
            rate.on_acknowledged(at(step * 4), 1_000, Span::from_millis(40));
        }
        rate.interrupt();
        for step in 0..25 {
            rate.on_acknowledged(at(2_000 + step * 4), 1_000, Span::from_millis(40));
        }
        assert_eq!(rate.time_for(Bytes(1_000)), Some(Span::from_millis(4)));
        assert_eq!(rate.in_span(Span::from_millis(8)), Bytes(2_000));
    }

    #[test]
    fn a_jump_of_the_acknowledgment_is_spread_over_its_round_trip() {
        let mut rate = DeliveryRate::default();
        rate.on_acknowledged(at(0), 1_000, Span::from_millis(100));
        rate.on_acknowledged(at(50), 20_000, Span::from_millis(100));
        rate.on_acknowledged(at(100), 1_000, Span::from_millis(100));
        assert_eq!(rate.in_span(Span::from_secs(1)), Bytes(210_000));
    }
}
