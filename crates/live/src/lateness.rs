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

    /// Those of another run as well.
    pub(crate) fn add(&mut self, other: &LatenessMeter) {
        // It fails only where a value is beyond a histogram that does not grow.
        let _ = self.nanos.add(&other.nanos);
    }

    /// How many were at most how late, in classes of 1, 2, 5, 10 ... microseconds; without the empty
    /// classes before the first and behind the last that is not.
    pub(crate) fn histogram(&self) -> Vec<(Span, u64)> {
        let steps = |exponent: u32| [1, 2, 5].map(|step| step * 10u64.pow(exponent));
        let edges: Vec<Span> = (0..8).flat_map(steps).map(Span::from_micros).collect();
        let mut counts = vec![0; edges.len()];
        for late in self.nanos.iter_recorded() {
            let value = Span::from_nanos(late.value_iterated_to());
            let class = edges.partition_point(|edge| *edge < value).min(edges.len() - 1);
            counts[class] += late.count_at_value();
        }
        let classes: Vec<_> = edges.into_iter().zip(counts).collect();
        let first = classes.iter().position(|(_, count)| *count > 0).unwrap_or(0);
        let behind = classes.iter().rposition(|(_, count)| *count > 0).map_or(0, |last| last + 1);
        classes[first..behind].to_vec()
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

/// How many budgets late no single packet may be: a standstill of the whole emulator makes few
/// packets late, and is felt by every connection.
const STANDSTILL: u64 = 100;

impl Lateness {
    /// Whether the delays of the emulated path may be believed: 99 % of the packets were within the
    /// budget, and the emulator never stood still.
    pub fn is_within_budget(&self) -> bool {
        self.p99 <= self.budget && self.max / STANDSTILL <= self.budget
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
        assert!(meter(10).report(budget).is_within_budget());
        assert!(!meter(11).report(budget).is_within_budget());
    }

    #[test]
    fn a_standstill_is_not_within_the_budget_though_few_packets_meet_it() {
        let mut stood = meter(0);
        let planned = Time::from_nanos(1_000_000);
        stood.record(planned, planned + Span::from_millis(99));
        assert!(stood.report(Span::from_millis(1)).is_within_budget());
        stood.record(planned, planned + Span::from_millis(102));
        assert!(!stood.report(Span::from_millis(1)).is_within_budget());
    }

    #[test]
    fn every_packet_is_in_one_class_of_the_histogram() {
        let histogram = meter(11).histogram();
        let within = |micros| Span::from_micros(micros);
        // 20 us and 5 ms, which the meter keeps to one part in a thousand.
        let full: Vec<_> = histogram.iter().filter(|(_, count)| *count > 0).collect();
        let total: u64 = histogram.iter().map(|(_, count)| count).sum();
        assert_eq!((full.len(), total, full[0].1, full[1].1), (2, 1_000, 989, 11));
        assert!(full[0].0 >= within(20) && full[0].0 <= within(50), "{histogram:?}");
        assert!(full[1].0 >= within(5_000) && full[1].0 <= within(10_000), "{histogram:?}");
        assert!(histogram.is_sorted_by_key(|(edge, _)| *edge));
        assert_eq!(LatenessMeter::new().histogram(), []);
        let mut both = meter(11);
        both.add(&meter(0));
        let total: u64 = both.histogram().iter().map(|(_, count)| count).sum();
        assert_eq!(total, 2_000);
    }

    #[test]
    fn the_latest_packet_shows_even_if_it_is_alone() {
        let report = meter(1).report(Span::from_millis(1));
        assert!(report.max >= Span::from_millis(5), "{report:?}");
        assert!(report.p50 <= Span::from_micros(21), "{report:?}");
    }
}
