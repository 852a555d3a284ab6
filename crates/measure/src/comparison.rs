//! Runs of the same scenario with one choice varied, side by side.
//!
//! Each quantity becomes an estimate over the runs in which it is known: a completion time, say,
//! over those runs that completed, and its `runs` says how many these were.

use crate::metric::{Metric, Sheet, Value, on_sheet};
use crate::stats::{Estimate, estimate};
use crate::{FLOW_METRICS, LINK_METRICS, PROXY_METRICS, QUEUE_METRICS, RUN_METRICS};
use crate::{FlowSummary, RunIdentity, RunSummary};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// All variants.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VariantSummary {
    /// The value that sets it apart.
    pub label: String,
    /// How many runs.
    pub runs: u32,
    /// Of whole runs.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// One per connection.
    pub flows: Vec<FlowEstimates>,
    /// One per direction of a link.
    pub links: Vec<LinkEstimates>,
    /// One per middlebox; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyEstimates>,
}

/// One flow over the runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// Family to mechanism.
    pub mechanisms: BTreeMap<String, String>,
    /// What every flow has.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// Its transfers: mean, quantiles and worst of each run; null where the workload has none.
    pub transfers: Option<Estimates>,
    /// How it came back after outages, a run counting with the means of its outages; left out where
    /// the path met none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<Estimates>,
    /// What was acknowledged before the receiver had it; left out where no run had any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_acks: Option<Estimates>,
    /// Where the flow is no connection.
    pub datagrams: Option<Estimates>,
}

/// One direction of a link, with its queue, over the runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// What a link and its queue have.
    #[serde(flatten)]
    pub estimates: Estimates,
}

/// A middlebox over the runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ProxyEstimates {
    /// Its name in the scenario.
    pub name: String,
    /// Which box it is, with what sets it apart.
    pub kind: String,
    /// What a box has.
    #[serde(flatten)]
    pub estimates: Estimates,
}

/// Metrics over the runs, in the order of their sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimates(Vec<Estimated>);

#[derive(Clone, Debug, PartialEq)]
struct Estimated {
    key: &'static str,
    /// In JSON.
    name: &'static str,
    over_runs: Option<Estimate>,
}

impl Estimates {
    /// Those of the metric with this key; nothing if no run knows it, or it is none of these.
    pub fn of(&self, key: &str) -> Option<Estimate> {
        self.0.iter().find(|estimated| estimated.key == key)?.over_runs
    }

    fn over<'a, T>(
        subjects: impl Iterator<Item = &'a T> + Clone,
        metrics: &'static [Metric<T>],
        sheet: Sheet,
    ) -> Estimates {
        Estimates::with(metrics, sheet, |metric| subjects.clone().filter_map(metric.of).collect())
    }

    fn with<T>(
        metrics: &'static [Metric<T>],
        sheet: Sheet,
        known: impl Fn(&Metric<T>) -> Vec<Value>,
    ) -> Estimates {
        let estimated = |(metric, name): (&'static Metric<T>, &'static str)| {
            let known: Vec<f64> = known(metric).into_iter().map(Value::get).collect();
            Estimated { key: metric.key, name, over_runs: estimate(&known) }
        };
        Estimates(on_sheet(metrics, sheet).into_iter().map(estimated).collect())
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for Estimated { name, over_runs, .. } in &self.0 {
            map.serialize_entry(name, over_runs)?;
        }
        map.end()
    }
}

impl VariantSummary {
    /// What these runs, which have the same flows and links, amount to.
    pub fn of(label: &str, runs: &[RunSummary]) -> VariantSummary {
        let first = runs.first();
        let flows = first.map_or(0, |run| run.flows.len());
        let links = first.map_or(0, |run| run.links.len());
        let proxies = first.map_or(0, |run| run.proxies.len());
        VariantSummary {
            label: label.to_owned(),
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            estimates: Estimates::over(runs.iter(), RUN_METRICS, Sheet::Compared),
            flows: (0..flows).map(|flow| FlowEstimates::of(runs, flow)).collect(),
            links: (0..links).map(|link| LinkEstimates::of(runs, link)).collect(),
            proxies: (0..proxies).map(|proxy| ProxyEstimates::of(runs, proxy)).collect(),
        }
    }
}

impl FlowEstimates {
    fn of(runs: &[RunSummary], number: usize) -> FlowEstimates {
        let flows = || runs.iter().filter_map(move |run| run.flows.get(number));
        let part = |sheet, there: fn(&FlowSummary) -> bool| {
            flows().any(there).then(|| Estimates::over(flows(), FLOW_METRICS, sheet))
        };
        let first = flows().next();
        FlowEstimates {
            name: first.map(|flow| flow.name.clone()).unwrap_or_default(),
            mechanisms: first.map(|flow| flow.mechanisms.clone()).unwrap_or_default(),
            estimates: Estimates::with(FLOW_METRICS, Sheet::Compared, |metric| {
                flows().filter_map(|flow| known(flow, (metric.of)(flow)?)).collect()
            }),
            transfers: part(Sheet::ComparedTransfers, |flow| flow.transfers.is_some()),
            outages: part(Sheet::ComparedOutages, |flow| !flow.outages.is_empty()),
            early_acks: part(Sheet::ComparedEarlyAcks, |flow| {
                flow.acknowledged_early_peak_bytes > 0
            }),
            datagrams: part(Sheet::ComparedDatagrams, |flow| flow.datagrams.is_some()),
        }
    }

    /// Of any of its parts: the metric with this key.
    pub fn estimate(&self, key: &str) -> Option<Estimate> {
        let parts = [&self.transfers, &self.outages, &self.early_acks, &self.datagrams];
        let mut parts = parts.into_iter().flatten();
        self.estimates.of(key).or_else(|| parts.find_map(|part| part.of(key)))
    }
}

/// The value, unless it counts segments of what has none.
fn known(flow: &FlowSummary, value: Value) -> Option<Value> {
    let is_count = matches!(value, Value::Count(_));
    (flow.datagrams.is_none() || !is_count).then_some(value)
}

impl LinkEstimates {
    fn of(runs: &[RunSummary], number: usize) -> LinkEstimates {
        let links = runs.iter().filter_map(|run| run.links.get(number));
        let queues = runs.iter().filter_map(|run| run.queues.get(number));
        let mut estimates = Estimates::over(links.clone(), LINK_METRICS, Sheet::Compared);
        estimates.0.extend(Estimates::over(queues, QUEUE_METRICS, Sheet::Compared).0);
        let name = links.clone().next().map(|link| link.name.clone()).unwrap_or_default();
        LinkEstimates { name, estimates }
    }
}

impl ProxyEstimates {
    fn of(runs: &[RunSummary], number: usize) -> ProxyEstimates {
        let proxies = runs.iter().filter_map(|run| run.proxies.get(number));
        let first = proxies.clone().next();
        ProxyEstimates {
            name: first.map(|proxy| proxy.name.clone()).unwrap_or_default(),
            kind: first.map(|proxy| proxy.kind.clone()).unwrap_or_default(),
            estimates: Estimates::over(proxies, PROXY_METRICS, Sheet::Compared),
        }
    }
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
        let goodput = flow.estimate("goodput_bit_s").expect("two runs");
        assert_eq!((goodput.runs, goodput.mean), (2, 750_000.0));
        let completion = flow.estimate("completion_s").expect("one run completed");
        assert_eq!((completion.runs, completion.mean, completion.ci95), (1, 1.0, None));
        assert_eq!(flow.estimate("rtt_mean_ms"), None);
        assert_eq!(flow.estimate("retransmitted_percent"), None);
    }
}
