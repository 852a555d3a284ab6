//! Runs of the same scenario with one choice varied, side by side.
//!
//! Each quantity becomes an estimate over the runs in which it is known: a completion time, say,
//! over those runs that completed, and its `runs` says how many these were.

use crate::stats::{Estimate, estimate};
use crate::{FlowSummary, ProxySummary, QueueSummary, RunIdentity, RunSummary, TransferSummary};
use serde::Serialize;
use std::collections::BTreeMap;

/// All variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Hash of the scenario that was varied, its first seed, and the program's version.
    #[serde(flatten)]
    pub identity: RunIdentity,
    /// What was varied, e.g. "flows.congestion".
    pub varied: String,
    /// One per value, in the order given.
    pub variants: Vec<VariantSummary>,
}

/// The runs of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantSummary {
    /// The value that sets it apart.
    pub label: String,
    /// How many runs.
    pub runs: u32,
    /// Goodput of all flows together, bit/s.
    pub total_goodput_bit_s: Option<Estimate>,
    /// Jain's index.
    pub jain_index: Option<Estimate>,
    /// Smallest goodput over largest, in percent.
    pub min_max_percent: Option<Estimate>,
    /// One per connection.
    pub flows: Vec<FlowEstimates>,
    /// One per direction of a link.
    pub links: Vec<LinkEstimates>,
    /// One per middle box; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyEstimates>,
}

/// One connection over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// Family to mechanism.
    pub mechanisms: BTreeMap<String, String>,
    /// As in a run's summary.
    pub goodput_bit_s: Option<Estimate>,
    /// Retransmissions as a share of the segments sent, in percent.
    pub retransmitted_percent: Option<Estimate>,
    /// As in a run's summary.
    pub timeouts: Option<Estimate>,
    /// As in a run's summary.
    pub acks_sent: Option<Estimate>,
    /// As in a run's summary; over the runs that completed.
    pub completion_s: Option<Estimate>,
    /// Mean round-trip time of a run.
    pub mean_rtt_ms: Option<Estimate>,
    /// As in a run's summary.
    pub cwnd_mean_bytes: Option<Estimate>,
    /// Its transfers; null where the workload has none.
    pub transfers: Option<TransferEstimates>,
    /// How it came back after outages; left out where the path met none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<OutageEstimates>,
    /// What was acknowledged before the receiver had it; left out where no run had any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_acks: Option<EarlyEstimates>,
    /// Where the flow is no connection.
    pub datagrams: Option<DatagramEstimates>,
}

/// How a connection came back after outages, over the runs; a run counts with the means of its
/// outages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutageEstimates {
    /// Outages that the path met.
    pub outages: Option<Estimate>,
    /// From an outage's end to the first data.
    pub first_data_s: Option<Estimate>,
    /// From an outage's end to the return of the rate.
    pub rate_back_s: Option<Estimate>,
}

/// Octets acknowledged before the receiver had them, over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EarlyEstimates {
    /// As in a run's summary.
    pub peak_bytes: Option<Estimate>,
    /// As in a run's summary.
    pub undelivered_bytes: Option<Estimate>,
}

/// A middle box over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProxyEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// Which box it is, with what sets it apart.
    pub kind: String,
    /// As in a run's summary.
    pub data_sent: Option<Estimate>,
    /// As in a run's summary.
    pub acks_sent: Option<Estimate>,
    /// As in a run's summary.
    pub absorbed: Option<Estimate>,
    /// As in a run's summary.
    pub peak_cached_bytes: Option<Estimate>,
    /// As in a run's summary.
    pub holds: Option<Estimate>,
    /// As in a run's summary.
    pub false_holds: Option<Estimate>,
    /// Mean time from an outage's beginning to the hold.
    pub mean_detection_ms: Option<Estimate>,
}

/// One flow of datagrams over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DatagramEstimates {
    /// As in a run's summary.
    pub lost_percent: Option<Estimate>,
    /// Mean one-way delay.
    pub mean_delay_ms: Option<Estimate>,
    /// 99th percentile of the one-way delay.
    pub p99_delay_ms: Option<Estimate>,
}

/// The transfers of one connection over the runs: mean, quantiles and worst of each run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferEstimates {
    /// How many were complete.
    pub completed: Option<Estimate>,
    /// Mean time.
    pub mean_ms: Option<Estimate>,
    /// Median time.
    pub p50_ms: Option<Estimate>,
    /// 95th percentile of the time.
    pub p95_ms: Option<Estimate>,
    /// 99th percentile of the time.
    pub p99_ms: Option<Estimate>,
    /// Longest time.
    pub max_ms: Option<Estimate>,
    /// Mean rate.
    pub mean_rate_bit_s: Option<Estimate>,
}

/// One direction of a link, with its queue, over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// As in a run's summary.
    pub utilisation: Option<Estimate>,
    /// As in a run's summary.
    pub mean_delay_ms: Option<Estimate>,
    /// As in a run's summary.
    pub p99_delay_ms: Option<Estimate>,
    /// As in a run's summary.
    pub dropped_packets: Option<Estimate>,
}

impl VariantSummary {
    /// What these runs, which have the same flows and links, amount to.
    pub fn of(label: &str, runs: &[RunSummary]) -> VariantSummary {
        let over = |pick: &dyn Fn(&RunSummary) -> Option<f64>| over(runs, pick);
        let goodput = |run: &RunSummary| run.flows.iter().map(|flow| flow.goodput_bit_s).sum();
        let first = runs.first();
        let flows = first.map_or(0, |run| run.flows.len());
        let links = first.map_or(0, |run| run.links.len());
        let proxies = first.map_or(0, |run| run.proxies.len());
        VariantSummary {
            label: label.to_owned(),
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            total_goodput_bit_s: over(&|run| Some(goodput(run))),
            jain_index: over(&|run| run.fairness.jain_index),
            min_max_percent: over(&|run| run.fairness.min_max_percent),
            flows: (0..flows).map(|flow| FlowEstimates::of(runs, flow)).collect(),
            links: (0..links).map(|link| LinkEstimates::of(runs, link)).collect(),
            proxies: (0..proxies).map(|proxy| ProxyEstimates::of(runs, proxy)).collect(),
        }
    }
}

impl FlowEstimates {
    fn of(runs: &[RunSummary], number: usize) -> FlowEstimates {
        let over = |pick: fn(&FlowSummary) -> Option<f64>| {
            over(runs, &|run| run.flows.get(number).and_then(pick))
        };
        let any = |has: fn(&FlowSummary) -> bool| {
            runs.iter().any(|run| run.flows.get(number).is_some_and(has))
        };
        let first = runs.first().and_then(|run| run.flows.get(number));
        FlowEstimates {
            name: first.map(|flow| flow.name.clone()).unwrap_or_default(),
            mechanisms: first.map(|flow| flow.mechanisms.clone()).unwrap_or_default(),
            goodput_bit_s: over(|flow| Some(flow.goodput_bit_s)),
            retransmitted_percent: over(FlowSummary::retransmitted_percent),
            timeouts: over(|flow| connection(flow).map(|flow| flow.timeouts as f64)),
            acks_sent: over(|flow| connection(flow).map(|flow| flow.acks_sent as f64)),
            completion_s: over(|flow| flow.completion_s),
            mean_rtt_ms: over(|flow| flow.rtt.map(|rtt| rtt.mean_ms)),
            cwnd_mean_bytes: over(|flow| flow.cwnd_mean_bytes),
            transfers: TransferEstimates::of(runs, number),
            outages: any(|flow| !flow.outages.is_empty()).then(|| OutageEstimates {
                outages: over(|flow| Some(flow.outages.len() as f64)),
                first_data_s: over(|flow| Some(flow.recovery_times()?.first_data_s?.0)),
                rate_back_s: over(|flow| Some(flow.recovery_times()?.rate_back_s?.0)),
            }),
            early_acks: any(|flow| flow.acknowledged_early_peak_bytes > 0).then(|| {
                EarlyEstimates {
                    peak_bytes: over(|flow| Some(flow.acknowledged_early_peak_bytes as f64)),
                    undelivered_bytes: over(|flow| {
                        Some(flow.acknowledged_undelivered_bytes as f64)
                    }),
                }
            }),
            datagrams: first.and_then(|flow| flow.datagrams).map(|_| DatagramEstimates {
                lost_percent: over(|flow| flow.datagrams?.lost_percent),
                mean_delay_ms: over(|flow| Some(flow.datagrams?.one_way_delay?.mean_ms)),
                p99_delay_ms: over(|flow| Some(flow.datagrams?.one_way_delay?.p99_ms)),
            }),
        }
    }
}

/// The flow, if it is a connection.
fn connection(flow: &FlowSummary) -> Option<&FlowSummary> {
    flow.datagrams.is_none().then_some(flow)
}

impl TransferEstimates {
    fn of(runs: &[RunSummary], number: usize) -> Option<TransferEstimates> {
        let of_run = |run: &RunSummary| run.flows.get(number)?.transfers.clone();
        let transfers: Vec<TransferSummary> = runs.iter().filter_map(of_run).collect();
        if transfers.is_empty() {
            return None;
        }
        let over = |pick: fn(&TransferSummary) -> Option<f64>| {
            estimate(&transfers.iter().filter_map(pick).collect::<Vec<_>>())
        };
        Some(TransferEstimates {
            completed: over(|run| Some(run.completed as f64)),
            mean_ms: over(|run| Some(run.time_ms?.mean)),
            p50_ms: over(|run| Some(run.time_ms?.p50)),
            p95_ms: over(|run| Some(run.time_ms?.p95)),
            p99_ms: over(|run| Some(run.time_ms?.p99)),
            max_ms: over(|run| Some(run.time_ms?.max)),
            mean_rate_bit_s: over(|run| Some(run.rate_bit_s?.mean)),
        })
    }
}

impl ProxyEstimates {
    fn of(runs: &[RunSummary], number: usize) -> ProxyEstimates {
        let over = |pick: fn(&ProxySummary) -> Option<f64>| {
            over(runs, &|run| run.proxies.get(number).and_then(pick))
        };
        let first = runs.first().and_then(|run| run.proxies.get(number));
        ProxyEstimates {
            name: first.map(|proxy| proxy.name.clone()).unwrap_or_default(),
            kind: first.map(|proxy| proxy.kind.clone()).unwrap_or_default(),
            data_sent: over(|proxy| Some(proxy.counters.data_sent as f64)),
            acks_sent: over(|proxy| Some(proxy.counters.acks_sent as f64)),
            absorbed: over(|proxy| Some(proxy.counters.absorbed as f64)),
            peak_cached_bytes: over(|proxy| Some(proxy.counters.peak_cached_bytes as f64)),
            holds: over(|proxy| Some(proxy.counters.holds as f64)),
            false_holds: over(|proxy| Some(proxy.counters.false_holds as f64)),
            mean_detection_ms: over(|proxy| Some(proxy.detection?.mean_ms)),
        }
    }
}

impl LinkEstimates {
    fn of(runs: &[RunSummary], number: usize) -> LinkEstimates {
        let queue = |pick: fn(&QueueSummary) -> Option<f64>| {
            over(runs, &|run| run.queues.get(number).and_then(pick))
        };
        let name = runs.first().and_then(|run| run.links.get(number)).map(|link| link.name.clone());
        LinkEstimates {
            name: name.unwrap_or_default(),
            utilisation: over(runs, &|run| run.links.get(number)?.utilisation),
            mean_delay_ms: queue(|queue| queue.mean_delay_ms),
            p99_delay_ms: queue(|queue| queue.p99_delay_ms),
            dropped_packets: queue(|queue| Some(queue.dropped_packets as f64)),
        }
    }
}

fn over(runs: &[RunSummary], pick: &dyn Fn(&RunSummary) -> Option<f64>) -> Option<Estimate> {
    let known: Vec<_> = runs.iter().filter_map(pick).collect();
    estimate(&known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowLabel, RunLabels, Summary};
    use ackord_events::{EndpointId, Event, Sink};
    use ackord_units::{Bytes, Span, Time};
    use ackord_wire::{FlowId, Side};

    fn run_delivering(bytes: u64) -> RunSummary {
        let label = FlowLabel {
            name: "a".to_owned(),
            kind: crate::FlowKind::Connection,
            mechanisms: BTreeMap::new(),
            profile: None,
            sends: Side::Client,
            size: Some(Bytes(125_000)),
            started_at: Time::ZERO,
        };
        let duration = Span::from_secs(1);
        let labels = RunLabels { flows: vec![label], duration, ..RunLabels::default() };
        let mut summary = Summary::new(&labels);
        let endpoint = EndpointId { flow: FlowId(0), side: Side::Server };
        let (bytes, at) = (Bytes(bytes), Time::ZERO + duration);
        summary.emit(at, Event::DataDelivered { endpoint, bytes, stream_offset: bytes });
        summary.finish(RunIdentity::default(), at)
    }

    #[test]
    fn quantities_are_averaged_over_the_runs_that_know_them() {
        let runs = [run_delivering(125_000), run_delivering(62_500)];
        let variant = VariantSummary::of("reno", &runs);
        let flow = &variant.flows[0];
        let goodput = flow.goodput_bit_s.expect("two runs");
        assert_eq!((goodput.runs, goodput.mean), (2, 750_000.0));
        let completion = flow.completion_s.expect("one run completed");
        assert_eq!((completion.runs, completion.mean, completion.ci95), (1, 1.0, None));
        assert_eq!(flow.mean_rtt_ms, None);
        assert_eq!(flow.retransmitted_percent, None);
    }
}
