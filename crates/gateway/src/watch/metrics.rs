//! A status in Prometheus' words, and the small server that is asked for it.
//!
//! Names follow Prometheus' convention: base units, `_total` where something is counted since the start.
//! Each answer is made from what the loop has published; nobody who asks reaches the loop.
//!
//! Not there: a metric per connection (labels of unbounded number), encryption and passwords: the server
//! listens at the loopback interface unless told otherwise.

use super::{BUCKETS_US, Compared, DelayStatus, QueueState, Severity, Shared, Standing, Status};
use oxhttp::model::{Body, Method, Response, StatusCode, header::CONTENT_TYPE};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Before every name.
const PREFIX: &str = "ackord_gateway";
/// Callers at once; more wait.
const CALLERS: usize = 4;
/// How long a caller may dawdle.
const PATIENCE: Duration = Duration::from_secs(5);
/// What `prometheus-client` writes: OpenMetrics 1.0.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers at `listen` as long as the process lives.
///
/// # Errors
/// Where the address is not ours or is taken.
pub fn serve_metrics(listen: SocketAddr, shared: Arc<Shared>) -> io::Result<()> {
    oxhttp::Server::new(move |request| answer(request.method(), request.uri().path(), &shared))
        .bind(listen)
        .with_global_timeout(PATIENCE)
        .with_max_concurrent_connections(CALLERS)
        .spawn()
        .map(drop)
}

fn answer(method: &Method, path: &str, shared: &Shared) -> Response<Body> {
    let (status, kind, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/metrics") => {
            (StatusCode::OK, OPEN_METRICS, metrics(shared.status()))
        }
        (_, "/metrics") => {
            (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET is answered\n".to_owned())
        }
        _ => (StatusCode::NOT_FOUND, "text/plain", "it is at /metrics\n".to_owned()),
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind.parse().expect("a header value"));
    response
}

/// A status as OpenMetrics text.
pub fn metrics(status: Status) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Told(status)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("a string takes everything");
    text
}

/// The labels of a value; none has none.
type Labels<'a> = Vec<(&'static str, &'a str)>;
/// Values of a metric, each with labels.
type Values<'a, V> = Vec<(Labels<'a>, V)>;

/// A metric's name, what it is, and its unit, which ends the name.
struct Metric(&'static str, &'static str, Option<Unit>);

#[derive(Debug)]
struct Told(Status);

impl Collector for Told {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(&mut encoder);
        page.process(&self.0)?;
        page.connections(&self.0)?;
        page.injections(&self.0)?;
        page.rings(&self.0)?;
        page.classes(&self.0)?;
        page.queues(&self.0)
    }
}

/// What is written to.
struct Page<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Page<'_, '_> {
    fn process(&mut self, status: &Status) -> fmt::Result {
        let info = Metric("build_info", "The version that runs: 1", None);
        self.gauges(info, vec![(vec![("version", &status.version)], 1.0)])?;
        let uptime = Metric("uptime", "How long it has run", Some(Unit::Seconds));
        self.gauge(uptime, status.uptime_s)?;
        let memory = Metric("resident_memory", "Memory it occupies", Some(Unit::Bytes));
        self.gauge(memory, status.resident_octets as f64)?;
        let age = Metric("heartbeat_age", "How long ago its loop came round", Some(Unit::Seconds));
        self.gauge(age, status.heartbeat_ms / 1e3)?;
        let worst =
            Metric("heartbeat_age_max", "The longest that took so far", Some(Unit::Seconds));
        self.gauge(worst, status.heartbeat_worst_ms / 1e3)?;
        self.counter(
            Metric("reloads", "Configurations read anew and taken", None),
            status.reloads,
        )?;
        let late = Metric("loop_lateness", "How late its loop came round", Some(Unit::Seconds));
        self.histograms(late, vec![(vec![], &status.loop_lateness)])?;
        let severities = [Severity::Failure, Severity::Warning, Severity::Remark];
        let of = |severity| status.health.iter().filter(|one| one.severity == severity).count();
        let findings = severities.map(|one| (vec![("severity", one.name())], of(one) as f64));
        self.gauges(Metric("health_findings", "What `status` finds", None), findings.into())
    }

    fn connections(&mut self, status: &Status) -> fmt::Result {
        let rest = status.flows.saturating_sub(status.treated + status.control);
        let groups =
            [("treated", status.treated), ("control", status.control), ("untreated", rest)]
                .map(|(group, flows)| (vec![("group", group)], flows as f64));
        self.gauges(Metric("flows", "Connections it knows, by what is done", None), groups.into())?;
        let seen = Metric("flows_seen", "Connections it has known", None);
        self.counter(seen, status.flows_in_all)?;
        let forgotten = Metric("flows_forgotten", "Connections that made room for others", None);
        self.counter(forgotten, status.forgotten_connections)?;
        let held = "Connections whose mobile host is held to be out of reach";
        self.gauge(Metric("held_flows", held, None), status.held as f64)?;
        self.counter(Metric("holds", "How often one was", None), status.holds)?;
        let mistaken = "Holds during which nothing had been lost";
        self.counter(Metric("false_holds", mistaken, None), status.false_holds)?;
        let ways =
            [("to_mobile", status.octets_to_mobile), ("from_mobile", status.octets_from_mobile)]
                .map(|(way, octets)| (vec![("direction", way)], octets));
        let payload = "TCP payload that passed, of connections that are let pass estimated";
        let payload = Metric("payload", payload, Some(Unit::Bytes));
        self.counters(payload, ways.into())?;
        let unreadable = "Frames it could not understand, which passed";
        self.counter(Metric("unreadable_frames", unreadable, None), status.unreadable)
    }

    fn injections(&mut self, status: &Status) -> fmt::Result {
        let towards = [("mobile", status.injected_to_mobile), ("fixed", status.injected_to_fixed)]
            .map(|(towards, segments)| (vec![("towards", towards)], segments));
        self.counters(Metric("injected_segments", "Segments injected", None), towards.into())?;
        let refused = status.refused_injections.iter();
        let refused = refused.map(|(why, count)| (vec![("reason", why.as_str())], *count));
        let what = "What was to be injected and was not";
        self.counters(Metric("refused_injections", what, None), refused.collect())?;
        let dropped = "Packets taken out of the path by decision";
        self.counter(Metric("dropped_packets", dropped, None), status.dropped_by_gateway)?;
        let cache = Metric("cache", "Segments kept, headers included", Some(Unit::Bytes));
        self.gauge(cache, status.cached_octets as f64)?;
        let limit = Metric("cache_limit", "The most it may keep", Some(Unit::Bytes));
        self.gauge(limit, status.cached_octets_limit as f64)?;
        let late = "From the packet that is the cause to the injection";
        let late = Metric("injection_lateness", late, Some(Unit::Seconds));
        self.histograms(late, vec![(vec![], &status.injection_lateness)])
    }

    fn rings(&mut self, status: &Status) -> fmt::Result {
        let labels = |ring: usize| {
            let ring = &status.rings[ring];
            vec![("interface", ring.interface.as_str()), ("side", ring.side.as_str())]
        };
        let each = |count: fn(&super::RingStatus) -> u64| {
            status.rings.iter().enumerate().map(|(at, ring)| (labels(at), count(ring))).collect()
        };
        let heard = "Packets heard or lost, without those that need not be heard";
        let heard = Metric("ring_packets", heard, None);
        self.counters(heard, each(|ring| ring.packets))?;
        let lost = Metric("ring_lost_packets", "Packets that passed unobserved", None);
        self.counters(lost, each(|ring| ring.lost))
    }

    fn classes(&mut self, status: &Status) -> fmt::Result {
        let mut flows = Vec::new();
        let mut injected = Vec::new();
        let mut at_work = Vec::new();
        let mut goodput = Compare::default();
        let mut stalled = Compare::default();
        for class in &status.classes {
            let labels = || vec![("class", class.name.as_str()), ("remedy", class.remedy.as_str())];
            let grouped = |group| [labels(), vec![("group", group)]].concat();
            flows.push((grouped("treated"), class.treated as f64));
            flows.push((grouped("control"), class.control as f64));
            injected.push((labels(), class.injected_segments));
            at_work.push((labels(), f64::from(u8::from(class.standing == Standing::AtWork))));
            goodput.add(&grouped, &class.goodput_bit_s, 1.0);
            stalled.add(&grouped, &class.stalled_percent, 0.01);
        }
        self.gauges(Metric("class_flows", "Connections of a rule", None), flows)?;
        let segments = "Segments injected for a rule";
        self.counters(Metric("class_injected_segments", segments, None), injected)?;
        let standing = "Whether a rule's remedy is at work (1) or has stood down (0)";
        self.gauges(Metric("class_at_work", standing, None), at_work)?;
        let rate = || Some(Unit::Other("bits_per_second".to_owned()));
        self.gauges(
            Metric("class_goodput", "Goodput of a connection, mean", rate()),
            goodput.means,
        )?;
        let half = "Half the width of its 95 % interval";
        self.gauges(Metric("class_goodput_ci95", half, rate()), goodput.halves)?;
        let ratio = || Some(Unit::Other("ratio".to_owned()));
        let share = "Share of its life that a connection stood still, mean";
        self.gauges(Metric("class_stalled", share, ratio()), stalled.means)?;
        self.gauges(Metric("class_stalled_ci95", half, ratio()), stalled.halves)
    }

    fn queues(&mut self, status: &Status) -> fmt::Result {
        let labels = |at: usize| {
            let queue = &status.queues[at];
            vec![("interface", queue.interface.as_str()), ("discipline", &queue.discipline)]
        };
        let queues = || status.queues.iter().enumerate();
        let gauges = |value: fn(&super::QueueStatus) -> f64| {
            queues().map(|(at, queue)| (labels(at), value(queue))).collect()
        };
        let counters = |value: fn(&super::QueueStatus) -> u64| {
            queues().map(|(at, queue)| (labels(at), value(queue))).collect()
        };
        let steering = "Whether packets go through it (1) or past it (0)";
        self.gauges(
            Metric("queue_steering", steering, None),
            gauges(|queue| f64::from(u8::from(queue.state == QueueState::Steering))),
        )?;
        let rate = Unit::Other("bits_per_second".to_owned());
        let rate = Metric("queue_rate", "The rate it is served with", Some(rate));
        self.gauges(rate, gauges(|queue| queue.rate_bit_s as f64))?;
        let sent = Metric("queue_packets", "Packets that left it", None);
        self.counters(sent, counters(|queue| queue.packets))?;
        let octets = Metric("queue_sent", "Octets that left it", Some(Unit::Bytes));
        self.counters(octets, counters(|queue| queue.octets))?;
        let marked = Metric("queue_marked_packets", "Packets it marked (ECN)", None);
        self.counters(marked, counters(|queue| queue.marked))?;
        let waiting = Metric("queue_waiting_packets", "Packets in it", None);
        self.gauges(waiting, gauges(|queue| queue.queued_packets as f64))?;
        let waiting = Metric("queue_waiting", "Octets in it", Some(Unit::Bytes));
        self.gauges(waiting, gauges(|queue| queue.queued_octets as f64))?;
        let drops = queues().flat_map(|(at, queue)| {
            let reasons = queue.drops.iter();
            reasons.map(move |(why, count)| {
                ([labels(at), vec![("reason", why.as_str())]].concat(), *count)
            })
        });
        let drops = drops.collect();
        self.counters(Metric("queue_dropped_packets", "Packets it dropped", None), drops)?;
        let delay = Metric("queue_delay", "How long packets were in it", Some(Unit::Seconds));
        self.histograms(delay, queues().map(|(at, queue)| (labels(at), &queue.delay)).collect())
    }

    fn gauge(&mut self, metric: Metric, value: f64) -> fmt::Result {
        self.gauges(metric, vec![(vec![], value)])
    }

    fn counter(&mut self, metric: Metric, value: u64) -> fmt::Result {
        self.counters(metric, vec![(vec![], value)])
    }

    fn gauges(&mut self, metric: Metric, values: Values<'_, f64>) -> fmt::Result {
        self.write(metric, MetricType::Gauge, values, |mut to, value| to.encode_gauge(&value))
    }

    fn counters(&mut self, metric: Metric, values: Values<'_, u64>) -> fmt::Result {
        self.write(metric, MetricType::Counter, values, |mut to, value| {
            to.encode_counter::<NoLabelSet, u64, f64>(&value, None)
        })
    }

    fn histograms(&mut self, metric: Metric, values: Values<'_, &DelayStatus>) -> fmt::Result {
        self.write(metric, MetricType::Histogram, values, |mut to, delays| {
            let mut below = 0;
            // The last bucket has no bound.
            let ends = BUCKETS_US.iter().map(|bound| *bound as f64 / 1e6).chain([f64::INFINITY]);
            let up_to = delays.up_to.iter().copied().chain([delays.count]);
            let up_to = if delays.up_to.is_empty() {
                vec![0; BUCKETS_US.len() + 1]
            } else {
                up_to.collect()
            };
            let within = ends.zip(up_to).map(|(end, count)| {
                let within = count.saturating_sub(below);
                below = count;
                (end, within)
            });
            let buckets: Vec<_> = within.collect();
            to.encode_histogram::<NoLabelSet>(delays.sum_s, delays.count, &buckets, None)
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

/// Means and their intervals, of treated connections and of those left alone.
#[derive(Default)]
struct Compare<'a> {
    means: Values<'a, f64>,
    halves: Values<'a, f64>,
}

impl<'a> Compare<'a> {
    fn add(&mut self, labels: &impl Fn(&'static str) -> Labels<'a>, both: &Compared, factor: f64) {
        for (group, estimate) in [("treated", both.treated), ("control", both.control)] {
            if estimate.samples > 0 {
                self.means.push((labels(group), estimate.mean * factor));
            }
            self.halves.extend(estimate.ci95.map(|half| (labels(group), half * factor)));
        }
    }
}

#[cfg(test)]
mod tests;
