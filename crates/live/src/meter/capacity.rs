//! What one direction of a link could have carried in an interval.
//!
//! Not modelled: a cellular hop or a shared medium, whose capacity depends on what is sent.

use super::{METER_INTERVAL, start_of};
use ackord_path::Trace;
use ackord_path::{OPPORTUNITY, RateSteps};
use ackord_scenario::{Direction, Link};
use ackord_units::{Bytes, Rate, Time};
use std::sync::Arc;

/// How the capacity of a direction follows from time.
#[derive(Clone, Debug)]
pub(super) enum Capacity {
    /// Always the same.
    Constant(Rate),
    /// Changes at given times.
    Steps(Box<RateSteps>),
    /// Opportunities of a trace.
    Trace(Opportunities),
    /// Nobody can say.
    Unknown,
}

/// A trace with what has passed by each of its instants.
#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    trace: Arc<Trace>,
    /// Opportunities before the instant of the same index.
    before: Vec<u64>,
}

/// The rate behind the shaper, if there is one.
fn shaped(direction: &Direction) -> Rate {
    let shaper = direction.shaper.as_ref();
    shaper.map_or(direction.rate, |shaper| shaper.config().shaped(direction.rate))
}

impl Capacity {
    pub(super) fn of(link: &Link, direction: &Direction) -> Capacity {
        if let Some(file) = &direction.trace {
            return Capacity::Trace(Opportunities::of(Arc::clone(file.trace())));
        }
        if link.medium.is_some() {
            return Capacity::Unknown;
        }
        match &direction.rate_changes {
            None => Capacity::Constant(shaped(direction)),
            Some(changes) => match changes.config().build(direction.rate) {
                Ok(steps) => Capacity::Steps(Box::new(steps)),
                Err(_) => Capacity::Unknown,
            },
        }
    }

    /// Over the interval of this number. To be asked in order.
    pub(super) fn in_interval(&mut self, number: u64) -> Option<Rate> {
        match self {
            Capacity::Constant(rate) => Some(*rate),
            Capacity::Steps(steps) => Some(steps.rate_at(start_of(number))),
            Capacity::Trace(trace) => {
                let opportunities =
                    trace.before(start_of(number + 1)) - trace.before(start_of(number));
                Some(Bytes(opportunities * OPPORTUNITY.get()).over(METER_INTERVAL))
            }
            Capacity::Unknown => None,
        }
    }
}

impl Opportunities {
    fn of(trace: Arc<Trace>) -> Opportunities {
        let before = trace.instants().iter().scan(0, |passed, instant| {
            let before = *passed;
            *passed += u64::from(instant.count);
            Some(before)
        });
        Opportunities { before: before.collect(), trace }
    }

    /// Opportunities from the start of the run until just before `at`.
    fn before(&self, at: Time) -> u64 {
        // A trace that lasts no time cannot be read.
        let duration = self.trace.duration().as_nanos().max(1);
        let (rounds, into) = (at.as_nanos() / duration, at.as_nanos() % duration);
        let (instants, in_round) = (self.trace.instants(), self.trace.opportunities());
        if into == 0 && rounds > 0 {
            // The seam: the trace's last opportunities are at this very instant.
            let last = instants.last().map_or(0, |last| u64::from(last.count));
            return rounds * in_round - last;
        }
        let passed = instants.partition_point(|instant| instant.at.as_nanos() < into);
        rounds * in_round + self.before.get(passed).copied().unwrap_or(in_round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_of_a_trace_is_what_its_opportunities_carry_around_its_seam() {
        // One opportunity every 40 ms, and the trace begins anew after 120 ms.
        let trace = Trace::parse("40\n80\n120\n").expect("a valid trace");
        let mut capacity = Capacity::Trace(Opportunities::of(Arc::new(trace)));
        let found: Vec<_> = (0..6).map(|number| capacity.in_interval(number)).collect();
        // Before 100 ms: 40, 80. Until 200: 120, 160. Until 300: 200, 240, 280 ...
        let rate = |opportunities: u64| Some(Bytes(opportunities * 1_504).over(METER_INTERVAL));
        assert_eq!(found, [2, 2, 3, 2, 3, 2].map(rate).to_vec());
        let carried: u64 = (0..60)
            .filter_map(|n| capacity.in_interval(n))
            .map(|rate| rate.as_bits_per_sec())
            .sum();
        let mean = carried / 60;
        let theory = 1_504 * 8 * 25;
        assert!(mean.abs_diff(theory) * 100 < theory, "{mean} against {theory}");
    }
}
