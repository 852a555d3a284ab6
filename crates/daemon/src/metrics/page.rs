//! A page of metrics, written one after another as OpenMetrics text.
//!
//! Not there: labels of unbounded number, such as a metric per connection; it is for who writes the page not to
//! have them.

use crate::status::{Compared, Process};
use crate::{BUCKETS_US, DelayStatus, Finding, Severity};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, MetricEncoder, NoLabelSet, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;

pub use prometheus_client::registry::Unit;

/// The labels of a value; none has none.
pub type Labels<'a> = Vec<(&'static str, &'a str)>;
/// Values of a metric, each with labels.
pub type Values<'a, V> = Vec<(Labels<'a>, V)>;

/// A metric's name, what it is, and its unit, which ends the name.
#[derive(Debug)]
pub struct Metric(pub &'static str, pub &'static str, pub Option<Unit>);

/// A page as text. `fill` writes to it; before every name stands the prefix, like `ackord_gateway`.
pub fn page<F>(prefix: &str, fill: F) -> String
where
    F: Fn(&mut Page<'_, '_>) -> fmt::Result + Send + Sync + 'static,
{
    let mut registry = Registry::with_prefix(prefix);
    registry.register_collector(Box::new(Told(fill)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("a string takes everything");
    text
}

struct Told<F>(F);

impl<F> fmt::Debug for Told<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Told")
    }
}

impl<F> Collector for Told<F>
where
    F: Fn(&mut Page<'_, '_>) -> fmt::Result + Send + Sync + 'static,
{
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(&mut Page(&mut encoder))
    }
}

/// What metrics are written to.
///
/// # Errors
/// None of its methods fails before what it writes to does, and a string takes everything.
#[derive(Debug)]
pub struct Page<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Page<'_, '_> {
    /// What every daemon tells of its process.
    pub fn process(&mut self, process: &Process) -> fmt::Result {
        let info = Metric("build_info", "The version that runs: 1", None);
        self.gauges(info, vec![(vec![("version", process.version.as_str())], 1.0)])?;
        let uptime = Metric("uptime", "How long it has run", Some(Unit::Seconds));
        self.gauge(uptime, process.uptime_s)?;
        let memory = Metric("resident_memory", "Memory it occupies", Some(Unit::Bytes));
        self.gauge(memory, process.resident_bytes as f64)?;
        let age = Metric("heartbeat_age", "How long ago its loop came round", Some(Unit::Seconds));
        self.gauge(age, process.heartbeat_ms / 1e3)?;
        let worst =
            Metric("heartbeat_age_max", "The longest that took so far", Some(Unit::Seconds));
        self.gauge(worst, process.heartbeat_worst_ms / 1e3)?;
        let reloads = Metric("reloads", "Configurations read anew and taken", None);
        self.counter(reloads, process.reloads)
    }

    /// How many findings there are of each severity.
    pub fn findings(&mut self, health: &[Finding]) -> fmt::Result {
        let of = |severity| health.iter().filter(|one| one.severity == severity).count();
        let findings = Severity::ALL.map(|one| (vec![("severity", one.name())], of(one) as f64));
        self.gauges(Metric("health_findings", "What `status` finds", None), findings.into())
    }

    /// A value of the moment.
    pub fn gauge(&mut self, metric: Metric, value: f64) -> fmt::Result {
        self.gauges(metric, vec![(vec![], value)])
    }

    /// A count since the start.
    pub fn counter(&mut self, metric: Metric, value: u64) -> fmt::Result {
        self.counters(metric, vec![(vec![], value)])
    }

    /// Values of the moment, told apart by labels.
    pub fn gauges(&mut self, metric: Metric, values: Values<'_, f64>) -> fmt::Result {
        self.write(metric, MetricType::Gauge, values, |mut to, value| to.encode_gauge(&value))
    }

    /// Counts or sums since the start, told apart by labels.
    pub fn counters<V: EncodeCounterValue>(
        &mut self,
        metric: Metric,
        values: Values<'_, V>,
    ) -> fmt::Result {
        self.write(metric, MetricType::Counter, values, |mut to, value| {
            to.encode_counter::<NoLabelSet, V, f64>(&value, None)
        })
    }

    /// Distributions of delays, told apart by labels.
    pub fn histograms(&mut self, metric: Metric, values: Values<'_, &DelayStatus>) -> fmt::Result {
        let distribution = |delays: &DelayStatus| {
            let mut below = 0;
            let up_to = delays.up_to.iter().copied().chain([delays.count]);
            let within =
                up_to.map(|count| count.saturating_sub(std::mem::replace(&mut below, count)));
            let mut within: Vec<u64> = within.collect();
            within.resize(BUCKETS_US.len() + 1, 0);
            Distribution { bounds_us: &BUCKETS_US, within, sum_s: delays.sum_s }
        };
        let values = values.into_iter().map(|(labels, delays)| (labels, distribution(delays)));
        self.distributions(metric, values.collect())
    }

    /// Distributions of times, told apart by labels.
    pub fn distributions(
        &mut self,
        metric: Metric,
        values: Values<'_, Distribution<'_>>,
    ) -> fmt::Result {
        self.write(metric, MetricType::Histogram, values, |mut to, it| {
            // The last bucket has no bound.
            let ends = it.bounds_us.iter().map(|bound| *bound as f64 / 1e6).chain([f64::INFINITY]);
            let buckets: Vec<_> = ends.zip(it.within.iter().copied()).collect();
            let count = it.within.iter().sum();
            to.encode_histogram::<NoLabelSet>(it.sum_s, count, &buckets, None)
        })
    }

    fn write<V>(
        &mut self,
        Metric(name, help, unit): Metric,
        kind: MetricType,
        values: Values<'_, V>,
        write: impl Fn(MetricEncoder<'_>, V) -> fmt::Result,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in values {
            match labels.is_empty() {
                // Alone, and without braces that have nothing in them.
                true => return write(metric, value),
                false => write(metric.encode_family(&labels)?, value)?,
            }
        }
        Ok(())
    }
}

/// How many times were no longer than each bound and longer than the one before it.
#[derive(Debug)]
pub struct Distribution<'a> {
    /// The bounds, us.
    pub bounds_us: &'a [u64],
    /// One count for each bound, and one for what is longer than all.
    pub within: Vec<u64>,
    /// Sum of all times, s.
    pub sum_s: f64,
}

/// Means and their intervals, of treated connections and of those left alone: values of two gauges.
#[derive(Clone, Debug, Default)]
pub struct Compare<'a> {
    /// The means.
    pub means: Values<'a, f64>,
    /// Half the widths of their 95 % intervals, where these are known.
    pub halves: Values<'a, f64>,
}

impl<'a> Compare<'a> {
    /// Adds both groups, with the labels of a group (`treated`, `control`), each value times a factor.
    pub fn add(
        &mut self,
        labels: &impl Fn(&'static str) -> Labels<'a>,
        both: &Compared,
        factor: f64,
    ) {
        for (group, estimate) in [("treated", both.treated), ("control", both.control)] {
            if estimate.samples > 0 {
                self.means.push((labels(group), estimate.mean * factor));
            }
            self.halves.extend(estimate.ci95.map(|half| (labels(group), half * factor)));
        }
    }
}
