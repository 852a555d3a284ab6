//! What is compared of a run, from its summary: the same definitions for both sides.

use super::{Beside, Goals};
use ackord_measure::{FidelityScenario, FlowSummary, RecoveryTimes, RunSummary};

const GOODPUT: &str = "goodput";
/// From the end of an outage to the first data delivered in order.
pub(crate) const FIRST_DATA: &str = "first data after an outage";

/// How far goodput may be off, percent.
pub(super) const GOODPUT_GOAL: f64 = 5.0;
/// Half the width, in percent of the kernel's, below which the 95 % interval of a goodput is narrow enough
/// for no more runs to be made.
pub const GOODPUT_INTERVAL: f64 = 3.0;
/// How far counts of acknowledgments may be off, percent.
pub(super) const ACKS_GOAL: f64 = 10.0;

/// One quantity of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) metric: String,
    pub(super) unit: &'static str,
    pub(super) goal_percent: Option<f64>,
    pub(super) value: f64,
}

/// What is compared of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// In the same order for every run of a scenario.
    pub(super) quantities: Vec<Quantity>,
    /// Times of transfers and exchanges, milliseconds.
    pub(super) times_ms: Vec<f64>,
}

impl Measured {
    /// Of a run's summary. What is not known of a run (the median of no transfer) is not a number.
    pub(super) fn of(run: &RunSummary, goals: Goals) -> Measured {
        let sum = |pick: fn(&FlowSummary) -> f64| run.flows.iter().map(pick).sum::<f64>();
        let plain = |metric: &str, unit, value| Quantity {
            metric: metric.to_owned(),
            unit,
            goal_percent: None,
            value,
        };
        let mut quantities = vec![
            Quantity {
                goal_percent: Some(goals.goodput_percent),
                ..plain(GOODPUT, "Mbit/s", sum(goodput_mbit_s))
            },
            Quantity {
                goal_percent: goals.acks_percent,
                ..plain("pure ACKs", "segments", sum(|flow| flow.acks_sent as f64))
            },
            plain("segments sent", "segments", sum(|flow| flow.segments_sent as f64)),
            plain("retransmitted", "segments", sum(|flow| flow.retransmitted_segments as f64)),
            plain("timeouts", "times", sum(|flow| flow.timeouts as f64)),
            plain("lost on the path", "packets", sum(|flow| flow.packets_dropped as f64)),
        ];
        // The first link is the bottleneck of every scenario of the set, forward the data's way.
        if let Some(delay) = run.queues.first().and_then(|queue| queue.mean_delay_ms) {
            quantities.push(plain("queueing delay", "ms", delay));
        }
        if run.flows.len() > 1 {
            for flow in &run.flows {
                // Flows that compete may be wrong one by one behind a right sum.
                let metric = format!("{GOODPUT} of {}", flow.name);
                quantities.push(Quantity {
                    goal_percent: Some(goals.goodput_percent),
                    ..plain(&metric, "Mbit/s", goodput_mbit_s(flow))
                });
            }
            let jain = run.fairness.jain_index.unwrap_or(f64::NAN);
            quantities.push(plain("Jain's index", "", jain));
        }
        if goals.beside == Beside::Delays {
            quantities.extend(delays(run).map(|(metric, value)| plain(&metric, "ms", value)));
        }
        let times_ms = times_ms(run);
        if run.flows.iter().any(|flow| flow.transfers.is_some()) {
            let at = |q| ackord_measure::stats::quantile(&times_ms, q).unwrap_or(f64::NAN);
            quantities.push(plain("completed", "transfers", times_ms.len() as f64));
            quantities.push(plain("completion median", "ms", at(0.5)));
            quantities.push(plain("completion p90", "ms", at(0.9)));
        }
        Measured { quantities, times_ms }
    }
}

/// Half the width of the widest interval of a goodput, percent of the kernel's: of all flows together or,
/// where they compete, of one. Nothing where none has an interval.
pub(super) fn goodput_half_width(scenario: &FidelityScenario) -> Option<f64> {
    let goodputs = scenario.metrics.iter().filter(|metric| metric.metric.starts_with(GOODPUT));
    let widths = goodputs.filter_map(|metric| metric.ci95).map(|[from, to]| (to - from) / 2.0);
    widths.max_by(f64::total_cmp)
}

/// How long after the end of an outage the first data came, on the mean over flows and outages; the mean
/// round trip of each flow.
fn delays(run: &RunSummary) -> impl Iterator<Item = (String, f64)> {
    let met: Vec<_> = run.flows.iter().flat_map(|flow| &flow.outages).copied().collect();
    let first = RecoveryTimes::of(&met).and_then(|times| times.first_data_s);
    let first = first.map(|(mean, _)| (FIRST_DATA.to_owned(), mean * 1e3));
    let round_trip = |flow: &FlowSummary| {
        Some((format!("round trip of {}", flow.name), flow.rtt.as_ref()?.mean_ms))
    };
    let of_flows: Vec<_> = run.flows.iter().filter_map(round_trip).collect();
    first.into_iter().chain(of_flows)
}

fn times_ms(run: &RunSummary) -> Vec<f64> {
    let transfers = run.flows.iter().filter_map(|flow| flow.transfers.as_ref());
    transfers.flat_map(|transfers| &transfers.each).map(|each| each.took_s * 1e3).collect()
}

/// Of a flow with transfers, what they carried over the time they took: pauses are the
/// application's. Of any other, what its summary says.
fn goodput_mbit_s(flow: &FlowSummary) -> f64 {
    match &flow.transfers {
        Some(transfers) => {
            let took: f64 = transfers.each.iter().map(|each| each.took_s).sum();
            if took > 0.0 { transfers.bytes as f64 * 8.0 / took / 1e6 } else { 0.0 }
        }
        None => flow.goodput_bit_s / 1e6,
    }
}
