//! A rate that changes at given times, once or again and again.
//!
//! A transmission under way when the rate changes goes on at the new one: so many bits at the old,
//! the rest at the new. Reckoned in bits times nanoseconds, without rounding until the end.

use super::sent::Sent;
use ackord_units::{Rate, Span, Time};

/// A rate that changes.
#[derive(Clone, Debug)]
pub struct RateSteps {
    config: RateStepsConfig,
    /// The rate that holds.
    rate: Rate,
    /// The change that is next, and when.
    next: usize,
    changes_at: Time,
    /// The start of the period.
    period_at: Time,
}

/// Rates and when they begin to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateStepsConfig {
    /// From the start of the run to the first change; not zero.
    pub at_first: Rate,
    /// When, from the start of the run (or of the period), and which rate from then on; in order,
    /// no rate zero.
    pub changes: Vec<(Span, Rate)>,
    /// After how long the changes begin anew, after the last of them; never when absent. The last
    /// rate holds until the first change of the next period.
    pub every: Option<Span>,
}

impl RateSteps {
    /// A transmitter with these rates.
    pub fn new(config: RateStepsConfig) -> RateSteps {
        let changes_at = config.changes.first().map_or(Time::NEVER, |&(at, _)| Time::ZERO + at);
        let rate = config.at_first;
        RateSteps { config, rate, next: 0, changes_at, period_at: Time::ZERO }
    }

    /// The rate that holds at `at`. To be asked in order of time, of a transmitter that sends
    /// nothing.
    pub fn rate_at(&mut self, at: Time) -> Rate {
        while self.changes_at <= at {
            self.change();
        }
        self.rate
    }

    pub(super) fn send(&mut self, from: Time, ip_len: u32) -> Sent {
        while self.changes_at <= from {
            self.change();
        }
        // What is left, in bits times nanoseconds per second: rate times nanoseconds is the same.
        let mut left = u128::from(ip_len) * 8 * 1_000_000_000;
        let mut at = from;
        let out_at = loop {
            let rate = u128::from(self.rate.as_bits_per_sec());
            let done =
                at + Span::from_nanos(u64::try_from(left.div_ceil(rate)).unwrap_or(u64::MAX / 4));
            if done <= self.changes_at {
                break done;
            }
            left -= rate * u128::from((self.changes_at - at).as_nanos());
            at = self.changes_at;
            self.change();
        };
        Sent::evenly(from, out_at - from)
    }

    fn change(&mut self) {
        self.rate = self.config.changes[self.next].1;
        self.next += 1;
        if self.next == self.config.changes.len() {
            let Some(every) = self.config.every else {
                self.changes_at = Time::NEVER;
                return;
            };
            self.next = 0;
            self.period_at += every;
        }
        self.changes_at = self.period_at + self.config.changes[self.next].0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(every: Option<u64>) -> RateSteps {
        let mbit = Rate::from_mbits_per_sec;
        RateSteps::new(RateStepsConfig {
            at_first: mbit(8),
            changes: vec![(Span::from_millis(10), mbit(1)), (Span::from_millis(20), mbit(8))],
            every: every.map(Span::from_millis),
        })
    }

    #[test]
    fn a_transmission_goes_on_at_the_new_rate() {
        // 8 Mbit/s is 1 byte per us. From 9.5 ms: 500 bytes until 10 ms, 500 more at 8 us each.
        let mut steps = steps(None);
        let sent = steps.send(Time::from_nanos(9_500_000), 1_000);
        assert_eq!(sent.out_at, Time::from_nanos(14_000_000));
        assert_eq!(sent.takes, Span::from_micros(4_500));
        // From 19 ms: 125 bytes at 8 us, the other 875 at 1 us.
        let sent = steps.send(Time::from_nanos(19_000_000), 1_000);
        assert_eq!(sent.out_at, Time::from_nanos(20_875_000));
        // Nothing changes after that.
        let sent = steps.send(Time::from_nanos(1_000_000_000), 1_000);
        assert_eq!(sent.takes, Span::from_millis(1));
    }

    #[test]
    fn the_rate_can_be_asked_without_sending() {
        let (mut steps, mbit) = (steps(Some(30)), Rate::from_mbits_per_sec);
        let asked = [0, 9, 10, 19, 20, 39, 40, 100].map(Span::from_millis);
        let rates = asked.map(|at| steps.rate_at(Time::ZERO + at));
        assert_eq!(rates, [8, 8, 1, 1, 8, 8, 1, 1].map(mbit));
    }

    #[test]
    fn a_period_brings_the_changes_back_and_one_packet_may_see_several() {
        let mut steps = steps(Some(30));
        // 40 ms is 10 ms into the second period, where 1 Mbit/s begins.
        let sent = steps.send(Time::from_nanos(40_000_000), 1_000);
        assert_eq!(sent.takes, Span::from_millis(8));
        // From 60 ms: 10 ms at 1 byte/us, 10 ms at an eighth, 20 ms at 1, 10 at an eighth, ...
        let sent = steps.send(Time::from_nanos(60_000_000), 10_000 + 1_250 + 20_000 + 1_250 + 7);
        assert_eq!(sent.out_at, Time::from_nanos(110_007_000));
    }

    #[test]
    fn the_last_bit_is_rounded_up_once_and_not_at_every_change() {
        let changes =
            (1..100).map(|n| (Span::from_nanos(n * 7), Rate::from_bits_per_sec(3_000_000)));
        let mut steps = RateSteps::new(RateStepsConfig {
            at_first: Rate::from_bits_per_sec(3_000_000),
            changes: changes.collect(),
            every: None,
        });
        let one_rate = Rate::from_bits_per_sec(3_000_000).time_for(ackord_units::Bytes(1_000));
        assert_eq!(steps.send(Time::ZERO, 1_000).takes, one_rate);
    }
}
