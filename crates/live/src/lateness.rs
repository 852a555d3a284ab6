//! How late the driver was: planned against actual release of every packet.
//!
//! Inside the path packets move at their theoretical times, so lateness does not add up along it;
//! what is measured here is how much later than that a packet was handed over at its end.

use ackord_units::{Span, Time};
use hdrhistogram::Histogram;

/// Collects how late packets were.
#[derive(Clone, Debug)]
pub(crate) struct LatenessMeter {
    nanos: Histogram<u64>,
}

/// How late packets were, and whether that is still good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Packets measured.
    pub packets: u64,
    /// Half of them were at most this late.
    pub p50: Span,
    /// All but 1 % were at most this late.
    pub p99: Span,
    /// The latest one.
    pub max: Span,
    /// What `p99` may be.
    pub budget: Span,
}

/// Whether the delays of an emulated path may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The driver kept up.
    WithinBudget,
    /// More than 1 % of the packets were released later than the budget allows.
    Untrustworthy,
}

impl LatenessMeter {
    pub(crate) fn new() -> LatenessMeter {
        let minute = 60_000_000_000;
        let mut nanos = Histogram::new_with_bounds(1, minute, 3).expect("constant bounds");
        nanos.auto(true);
        LatenessMeter { nanos }
    }

    /// A packet planned for `planned` was released at `actual`.
    pub(crate) fn record(&mut self, planned: Time, actual: Time) {
        self.nanos.saturating_record(actual.saturating_since(planned).as_nanos());
    }

    pub(crate) fn report(&self, budget: Span) -> Lateness {
        let quantile = |q| Span::from_nanos(self.nanos.value_at_quantile(q));
        Lateness {
            packets: self.nanos.len(),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: Span::from_nanos(self.nanos.max()),
            budget,
        }
    }
}

impl Lateness {
    /// Whether the run was within its budget.
    pub fn trust(&self) -> Trust {
        if self.p99 <= self.budget { Trust::WithinBudget } else { Trust::Untrustworthy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(late_packets: u64) -> LatenessMeter {
        let mut meter = LatenessMeter::new();
        let planned = Time::from_nanos(1_000_000);
        for _ in late_packets..1000 {
            meter.record(planned, planned + Span::from_micros(20));
        }
        for _ in 0..late_packets {
            meter.record(planned, planned + Span::from_millis(5));
        }
        meter
    }

    #[test]
    fn one_percent_of_late_packets_is_within_the_budget_and_more_is_not() {
        let budget = Span::from_millis(1);
        assert_eq!(meter(10).report(budget).trust(), Trust::WithinBudget);
        assert_eq!(meter(11).report(budget).trust(), Trust::Untrustworthy);
    }

    #[test]
    fn the_latest_packet_shows_even_if_it_is_alone() {
        let report = meter(1).report(Span::from_millis(1));
        assert!(report.max >= Span::from_millis(5), "{report:?}");
        assert!(report.p50 <= Span::from_micros(21), "{report:?}");
    }
}
