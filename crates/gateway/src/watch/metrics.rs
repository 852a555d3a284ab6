//! A gateway's status in Prometheus' words.
//!
//! Not there: a metric per connection (labels of unbounded number). Subscribers are as many as `[limits] subscribers`
//! allows; the series of one that is no longer among the busiest ends, and continues from its total when it returns.

use super::{
    QueueState, QueueStatus, RateStatus, RingStatus, Shared, Standing, Status, SubscriberStatus,
};
use ackord_daemon::metrics::{Compare, Metric, Page, Unit, page};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Before every name.
const PREFIX: &str = "ackord_gateway";

/// Answers at `listen` as long as the process lives.
///
/// # Errors
/// Where the address is not ours or is taken.
pub fn serve_metrics(listen: SocketAddr, shared: Arc<Shared>) -> io::Result<()> {
    ackord_daemon::metrics::serve_metrics(listen, move || metrics(shared.status()))
}

/// A status as OpenMetrics text.
pub fn metrics(status: Status) -> String {
    page(PREFIX, move |page| {
        process(page, &status)?;
        connections(page, &status)?;
        injections(page, &status)?;
        rings(page, &status)?;
        link(page, &status)?;
        classes(page, &status)?;
        subscribers(page, &status)?;
        queues(page, &status)
    })
}

fn process(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    page.process(&status.process)?;
    let late = Metric("loop_lateness", "How late its loop came round", Some(Unit::Seconds));
    page.histograms(late, vec![(vec![], &status.loop_lateness)])?;
    let refused = Metric("reloads_refused", "Configurations read anew and refused", None);
    page.counter(refused, status.reloads_refused)?;
    page.findings(&status.health)
}

fn connections(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let flows = &status.flows;
    let rest = flows.known.saturating_sub(flows.treated + flows.control);
    let groups = [("treated", flows.treated), ("control", flows.control), ("untreated", rest)]
        .map(|(group, count)| (vec![("group", group)], count as f64));
    page.gauges(Metric("flows", "Connections it knows, by what is done", None), groups.into())?;
    let seen = Metric("flows_seen", "Connections it has known", None);
    page.counter(seen, flows.in_all)?;
    let forgotten = Metric("flows_forgotten", "Connections that made room for others", None);
    page.counter(forgotten, flows.forgotten)?;
    let held = "Connections whose mobile host is held to be out of reach";
    page.gauge(Metric("held_flows", held, None), flows.held as f64)?;
    page.counter(Metric("holds", "How often one was", None), flows.holds)?;
    let mistaken = "Holds during which nothing had been lost";
    page.counter(Metric("false_holds", mistaken, None), flows.false_holds)?;
    let ways = [("to_mobile", status.bytes_to_mobile), ("from_mobile", status.bytes_from_mobile)]
        .map(|(way, bytes)| (vec![("direction", way)], bytes));
    let payload = "TCP payload that passed, of connections that are let pass estimated";
    let payload = Metric("payload", payload, Some(Unit::Bytes));
    page.counters(payload, ways.into())?;
    let unreadable = "Frames it could not understand, which passed";
    page.counter(Metric("unreadable_frames", unreadable, None), status.unreadable)
}

fn injections(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let towards = [("mobile", status.injected_to_mobile), ("fixed", status.injected_to_fixed)]
        .map(|(towards, segments)| (vec![("towards", towards)], segments));
    page.counters(Metric("injected_segments", "Segments injected", None), towards.into())?;
    let refused = status.refused_injections.iter();
    let refused = refused.map(|(why, count)| (vec![("reason", why.as_str())], *count));
    let what = "What was to be injected and was not";
    page.counters(Metric("refused_injections", what, None), refused.collect())?;
    let dropped = "Packets taken out of the path by decision";
    page.counter(Metric("dropped_packets", dropped, None), status.dropped_by_gateway)?;
    let cache = Metric("cache", "Segments kept, headers included", Some(Unit::Bytes));
    page.gauge(cache, status.cached_bytes as f64)?;
    let limit = Metric("cache_limit", "The most it may keep", Some(Unit::Bytes));
    page.gauge(limit, status.cached_bytes_limit as f64)?;
    let late = "From the packet that is the cause to the injection";
    let late = Metric("injection_lateness", late, Some(Unit::Seconds));
    page.histograms(late, vec![(vec![], &status.injection_lateness)])
}

fn rings(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let labels = |ring: usize| {
        let ring = &status.rings[ring];
        vec![("interface", ring.interface.as_str()), ("side", ring.side.as_str())]
    };
    let each = |count: fn(&RingStatus) -> u64| {
        status.rings.iter().enumerate().map(|(at, ring)| (labels(at), count(ring))).collect()
    };
    let heard = "Packets heard or lost, without those that need not be heard";
    let heard = Metric("ring_packets", heard, None);
    page.counters(heard, each(|ring| ring.packets))?;
    let lost = Metric("ring_lost_packets", "Packets that passed unobserved", None);
    page.counters(lost, each(|ring| ring.lost))
}

fn classes(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
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
    page.gauges(Metric("class_flows", "Connections of a rule", None), flows)?;
    let segments = "Segments injected for a rule";
    page.counters(Metric("class_injected_segments", segments, None), injected)?;
    let standing = "Whether a rule's remedy is at work (1) or has stood down (0)";
    page.gauges(Metric("class_at_work", standing, None), at_work)?;
    let rate = || Some(Unit::Other("bits_per_second".to_owned()));
    page.gauges(Metric("class_goodput", "Goodput of a connection, mean", rate()), goodput.means)?;
    let half = "Half the width of its 95 % interval";
    page.gauges(Metric("class_goodput_ci95", half, rate()), goodput.halves)?;
    let ratio = || Some(Unit::Other("ratio".to_owned()));
    let share = "Share of its life that a connection stood still, mean";
    page.gauges(Metric("class_stalled", share, ratio()), stalled.means)?;
    page.gauges(Metric("class_stalled_ci95", half, ratio()), stalled.halves)
}

/// What turns of the whole link show.
fn link(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let Some(link) = &status.link else { return Ok(()) };
    let now = "Whether remedies are at work in the present turn (1) or not (0)";
    page.gauges(
        Metric("link_treated", now, None),
        vec![(vec![], f64::from(u8::from(link.treated_now)))],
    )?;
    let blocks = "Complete blocks of turns with remedies and without";
    page.gauges(Metric("link_blocks", blocks, None), vec![(vec![], link.blocks as f64)])?;
    let known = || link.changes().into_iter().filter_map(|(of, change)| Some((of, change?)));
    let bounds = known().flat_map(|(of, change)| {
        let each = [("mean", change.mean), ("low", change.low), ("high", change.high)];
        each.map(|(bound, percent)| (vec![("of", of), ("bound", bound)], 0.01 * percent))
    });
    let ratio = Unit::Other("ratio".to_owned());
    let change = "Change of the whole link by remedies: mean, and the ends of its 95 % interval";
    page.gauges(Metric("link_change", change, Some(ratio)), bounds.collect::<Vec<_>>())
}

fn subscribers(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let addresses: Vec<String> =
        status.subscribers.iter().map(|one| one.address.to_string()).collect();
    let all = || addresses.iter().map(String::as_str).zip(&status.subscribers);
    let labels = |address| vec![("mobile", address)];
    let gauges = |value: fn(&SubscriberStatus) -> Option<f64>| {
        all().filter_map(|(address, one)| Some((labels(address), value(one)?))).collect()
    };
    let counters = |value: fn(&SubscriberStatus) -> u64| {
        all().map(|(address, one)| (labels(address), value(one))).collect()
    };
    let seconds = |value: fn(&SubscriberStatus) -> f64| {
        all().map(|(address, one)| (labels(address), value(one))).collect()
    };
    let payload = all().flat_map(|(address, one)| {
        [("to_mobile", one.bytes_to_mobile), ("from_mobile", one.bytes_from_mobile)]
            .map(|(direction, bytes)| (vec![("mobile", address), ("direction", direction)], bytes))
    });
    let what = "TCP payload of a mobile host that passed";
    page.counters(Metric("subscriber_payload", what, Some(Unit::Bytes)), payload.collect())?;
    let known = Metric("subscriber_flows", "Known connections of a mobile host", None);
    page.gauges(known, gauges(|one| Some(one.flows as f64)))?;
    let what = "Segments injected into connections of a mobile host";
    let injected = Metric("subscriber_injected_segments", what, None);
    page.counters(injected, counters(|one| one.injected_segments))?;
    let what =
        "Time in which data towards a mobile host was unacknowledged, summed over connections";
    let active = Metric("subscriber_active", what, Some(Unit::Seconds));
    page.counters::<f64>(active, seconds(|one| one.active_s))?;
    let what = "Part of that time in stalls of half a second or more";
    let stalled = Metric("subscriber_stalled", what, Some(Unit::Seconds));
    page.counters::<f64>(stalled, seconds(|one| one.stalled_s))?;
    let what = "Mean round trip between the gateway and a mobile host, over the last 10 to 20 s";
    let rtt = Metric("subscriber_rtt", what, Some(Unit::Seconds));
    page.gauges(rtt, gauges(|one| one.rtt_ms.map(|rtt| rtt / 1e3)))
}

fn queues(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let labels = |at: usize| {
        let queue = &status.queues[at];
        vec![("interface", queue.interface.as_str()), ("discipline", &queue.discipline)]
    };
    let queues = || status.queues.iter().enumerate();
    let gauges = |value: fn(&QueueStatus) -> f64| {
        queues().map(|(at, queue)| (labels(at), value(queue))).collect()
    };
    let counters = |value: fn(&QueueStatus) -> u64| {
        queues().map(|(at, queue)| (labels(at), value(queue))).collect()
    };
    let steering = "Whether packets go through it (1) or past it (0)";
    page.gauges(
        Metric("queue_steering", steering, None),
        gauges(|queue| f64::from(u8::from(queue.state == QueueState::Steering))),
    )?;
    let rate = Unit::Other("bits_per_second".to_owned());
    let rate = Metric("queue_rate", "The rate it is served with", Some(rate));
    page.gauges(rate, gauges(|queue| queue.rate_bit_s as f64))?;
    let sent = Metric("queue_packets", "Packets that left it", None);
    page.counters(sent, counters(|queue| queue.packets))?;
    let bytes = Metric("queue_sent", "Bytes that left it", Some(Unit::Bytes));
    page.counters(bytes, counters(|queue| queue.bytes))?;
    let marked = Metric("queue_marked_packets", "Packets it marked (ECN)", None);
    page.counters(marked, counters(|queue| queue.marked))?;
    let waiting = Metric("queue_waiting_packets", "Packets in it", None);
    page.gauges(waiting, gauges(|queue| queue.queued_packets as f64))?;
    let waiting = Metric("queue_waiting", "Bytes in it", Some(Unit::Bytes));
    page.gauges(waiting, gauges(|queue| queue.queued_bytes as f64))?;
    let drops = queues().flat_map(|(at, queue)| {
        let reasons = queue.drops.iter();
        reasons.map(move |(why, count)| {
            ([labels(at), vec![("reason", why.as_str())]].concat(), *count)
        })
    });
    let drops = drops.collect();
    page.counters(Metric("queue_dropped_packets", "Packets it dropped", None), drops)?;
    let delay = Metric("queue_delay", "How long packets were in it", Some(Unit::Seconds));
    page.histograms(delay, queues().map(|(at, queue)| (labels(at), &queue.delay)).collect())?;
    rates(page, status)
}

/// Rates that follow the link behind a queue.
fn rates(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let follows: Vec<(Vec<(&'static str, &str)>, &RateStatus)> = status
        .queues
        .iter()
        .filter_map(|queue| {
            Some((vec![("interface", queue.interface.as_str())], queue.follows.as_ref()?))
        })
        .collect();
    if follows.is_empty() {
        return Ok(());
    }
    let gauges = |value: fn(&RateStatus) -> Option<f64>| -> Vec<_> {
        let each = follows.iter();
        each.filter_map(|(labels, rate)| Some((labels.clone(), value(rate)?))).collect()
    };
    let bits = || Some(Unit::Other("bits_per_second".to_owned()));
    let decided = Metric("queue_rate_decided", "The rate that follows the link", bits());
    page.gauges(decided, gauges(|rate| Some(rate.decided_bit_s as f64)))?;
    let applied = "Whether that rate is applied (1) or only reported (0)";
    let applied = Metric("queue_rate_applied", applied, None);
    page.gauges(applied, gauges(|rate| Some(f64::from(u8::from(rate.applied)))))?;
    let delivered = "The rate that arrived at the mobile hosts";
    let delivered = Metric("queue_link_delivered", delivered, bits());
    page.gauges(delivered, gauges(|rate| Some(rate.delivered_bit_s as f64)))?;
    let delay = "From the departure from the queue to the acknowledgment, as last measured";
    let delay = Metric("queue_link_delay", delay, Some(Unit::Seconds));
    page.gauges(delay, gauges(|rate| rate.delay_ms.map(|millis| millis / 1e3)))?;
    let baseline = "The same while nothing queues in the link";
    let baseline = Metric("queue_link_baseline", baseline, Some(Unit::Seconds));
    page.gauges(baseline, gauges(|rate| rate.baseline_ms.map(|millis| millis / 1e3)))?;
    let decisions = follows.iter().flat_map(|(labels, rate)| {
        let each = rate.decisions.iter();
        each.map(|(why, count)| ([labels.clone(), vec![("reason", why.as_str())]].concat(), *count))
    });
    let decisions = decisions.collect();
    page.counters(Metric("queue_rate_decisions", "Decisions about the rate", None), decisions)
}

#[cfg(test)]
mod tests;
