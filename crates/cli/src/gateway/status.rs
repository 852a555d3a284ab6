//! `ackord gateway status`: a running gateway as tables, once or again and again, and as JSON.

use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::daemons::standing::{self, ShownArguments, estimate, section};
use crate::daemons::web::{Sample, Shown, Value};
use crate::errors::Failure;
use ackord_gateway::SOCKET;
use ackord_gateway::config::GatewayConfig;
use ackord_gateway::watch::{
    self, ClassStatus, Compared, DelayStatus, FlowStatus, QueueState, QueueStatus, Severity,
    Standing, Status, SubscriberStatus,
};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_units::Span;
use clap::Args;
use std::cell;
use std::path::PathBuf;

/// Subscribers in the table; `--json` has all that `[limits] subscribers` allows.
const SHOWN_SUBSCRIBERS: usize = 20;

/// Which gateway is asked.
#[derive(Args)]
pub(crate) struct Whom {
    /// The state directory of the gateway
    #[arg(long, value_name = "DIRECTORY", default_value = GatewayConfig::STATE)]
    pub(super) state: PathBuf,
}

impl Whom {
    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join(SOCKET)
    }
}

/// Tell how a running gateway stands: connections, remedies at work, what they bring, health
///
/// Health comes first, each finding with what to do. *The link* is the verdict: what the whole link does in turns with
/// remedies and in turns without, since the start or the last reload, with 95 % intervals. *Remedies* compares single
/// connections with the control group; both share the link, so that difference is no gain of the link. The exit code is 1
/// if no gateway answers, and with --exit-code 3 if Health has a failure or a warning. It needs the right to use the
/// control socket, which root has.
#[derive(Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    shown: ShownArguments,
    #[command(flatten)]
    whom: Whom,
    #[command(flatten)]
    warned: WarnedArguments,
}

pub(crate) fn status(arguments: &StatusArguments, console: &Console) -> Result<(), Failure> {
    let warned = cell::Cell::new(false);
    let ask = || {
        let status = watch::status(&arguments.whom.socket())?;
        warned.set(status.health.iter().any(|one| one.severity < Severity::Remark));
        Ok(status)
    };
    arguments.shown.show(
        ask,
        &Shown { at_s: |status| status.process.at_unix_s, document, samples },
        console,
    )?;
    arguments.warned.end(warned.get())
}

fn document(status: &Status) -> Document {
    let up = Span::from_secs(status.process.uptime_s as u64).to_string();
    let sections = [
        Some(standing::health(&status.health)),
        Some(connections(status)),
        link(status),
        remedies(&status.classes),
        section("Queues", queues(&status.queues)),
        rates(&status.queues),
        Some(interfaces(status)),
        section("Mobile hosts", subscribers(&status.subscribers)),
        section("Connections with most data", flows(&status.top_flows)),
    ];
    Document {
        title: "Gateway".to_owned(),
        purpose: String::new(),
        facts: standing::facts(&status.process, up),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns what graphs show over time.
fn samples(status: &Status) -> Vec<Sample> {
    let sample = |graph, line: String, value| Sample { graph, line, value };
    let payload = ("TCP payload", "Mbit/s");
    let count = |graph, line: &str, count: f64| sample(graph, line.to_owned(), Value::Count(count));
    let mbits = |bytes: u64| bytes as f64 * 8.0 / 1e6;
    let injected = ("Injected segments", "segments/s");
    let known = ("Connections", "connections");
    let level = |graph, line: &str, level: f64| sample(graph, line.to_owned(), Value::Level(level));
    let mut samples = vec![
        count(payload, "to mobile hosts", mbits(status.bytes_to_mobile)),
        count(payload, "from mobile hosts", mbits(status.bytes_from_mobile)),
        count(injected, "to mobile hosts", status.injected_to_mobile as f64),
        count(injected, "to fixed hosts", status.injected_to_fixed as f64),
        level(known, "known", status.flows.known as f64),
        level(known, "treated", status.flows.treated as f64),
        level(known, "held", status.flows.held as f64),
    ];
    let queued = status.queues.iter().map(|queue| {
        let line = queue.interface.clone();
        sample(("Queued packets", "packets"), line, Value::Level(queue.queued_packets as f64))
    });
    samples.extend(queued);
    let rates = status.queues.iter().map(|queue| {
        let line = queue.interface.clone();
        sample(("Rate of the queue", "Mbit/s"), line, Value::Level(queue.rate_bit_s as f64 / 1e6))
    });
    samples.extend(rates);
    samples
}

fn connections(status: &Status) -> Section {
    let table = table!([&status.flows], |flows| [
        numbers("known", "") => flows.known,
        numbers("treated", "") => flows.treated,
        numbers("left alone", "") => flows.control,
        numbers("held now", "") => flows.held,
        numbers("holds", "") => flows.holds,
        numbers("of them false", "") => flows.false_holds,
        numbers("injected", "segments") => status.injected_segments,
        numbers("refused", "segments") => status.refused_in_all(),
        numbers("dropped", "packets") => status.dropped_by_gateway,
        numbers("kept", "MB") => status.cached_bytes as f64 / 1e6,
        numbers("forgotten", "") => flows.forgotten,
    ]);
    let refused = status.refused_injections.iter().filter(|(_, count)| **count > 0);
    let refused = table!(refused, |(why, count)| [
        words("why segments were refused") => why,
        numbers("segments", "") => *count,
    ]);
    let section = Section::new("Connections").with(Block::Table(table));
    match refused.rows.is_empty() {
        true => section,
        false => section.with(Block::Table(refused)),
    }
}

/// What remedies do to the link as a whole.
fn link(status: &Status) -> Option<Section> {
    let link = status.link?;
    let table = table!(link.changes(), |(of, by)| [
        words("of the whole link") => of,
        numbers("change by remedies", "%") => standing::change(by),
    ]);
    let now = if link.treated_now { "with remedies" } else { "without remedies" };
    let caption = format!(
        "turns with remedies beside turns without, 95 % intervals of {} blocks of turns; the present turn is {now}",
        link.blocks
    );
    Some(Section::new("The link").with(Block::Table(table.captioned(caption))))
}

/// Who is treated, and what that is worth; nothing without a rule.
fn remedies(classes: &[ClassStatus]) -> Option<Section> {
    let who = table!(classes, |class| {
        let standing = match &class.standing {
            Standing::AtWork => "at work".to_owned(),
            Standing::StoodDown { why, .. } => format!("stood down: {why}"),
        };
        [
            words("rule") => &class.name,
            words("remedy") => &class.remedy,
            numbers("treated", "") => class.treated,
            numbers("left alone", "") => class.control,
            numbers("injected", "segments") => class.injected_segments,
            words("standing") => standing,
        ]
    });
    let worth = table!(classes, |class| {
        let Compared { treated, control, difference } = class.goodput_bit_s;
        let stalled = class.stalled_percent;
        [
            words("rule") => &class.name,
            numbers("goodput treated", "Mbit/s") => estimate(treated, 1e6),
            numbers("left alone", "Mbit/s") => estimate(control, 1e6),
            numbers("gain", "Mbit/s") => difference.map(|one| standing::difference(one, 1e6)),
            numbers("stalled treated", "%") => estimate(stalled.treated, 1.0),
            numbers("left alone", "%") => estimate(stalled.control, 1.0),
        ]
    })
    .captioned(
        "while something was unacknowledged; treated beside those left alone. Both share the link: what the treated \
         take, the others lose, so this is no gain of the link",
    );
    Some(section("Remedies", who)?.with(Block::Table(worth)))
}

fn queues(queues: &[QueueStatus]) -> Table {
    table!(queues, |queue| {
        let state = match &queue.state {
            QueueState::Steering => "at work".to_owned(),
            QueueState::Forwarding { why } => format!("the kernel forwards past it: {why}"),
        };
        [
            words("interface") => &queue.interface,
            words("queue") => &queue.discipline,
            numbers("rate", "Mbit/s") => queue.rate_bit_s as f64 / 1e6,
            numbers("sent", "packets") => queue.packets,
            numbers("waiting", "packets") => queue.queued_packets,
            numbers("dropped", "packets") => queue.drops.values().sum::<u64>(),
            numbers("marked", "packets") => queue.marked,
            numbers("delay p50", "ms") => delay(&queue.delay, |delay| delay.p50_us / 1e3),
            numbers("p99", "ms") => delay(&queue.delay, |delay| delay.p99_us / 1e3),
            words("state") => state,
        ]
    })
}

/// Rates that follow the link, with their last changes; nothing where every rate is constant.
fn rates(queues: &[QueueStatus]) -> Option<Section> {
    let follows = || queues.iter().filter_map(|queue| Some((queue, queue.follows.as_ref()?)));
    let rates = table!(follows(), |(queue, rate)| [
        words("interface") => &queue.interface,
        numbers("decided", "Mbit/s") => mbits(rate.decided_bit_s),
        words("applied") => if rate.applied { "yes" } else { "no (dry run)" },
        numbers("lowest", "Mbit/s") => mbits(rate.min_bit_s),
        numbers("highest", "Mbit/s") => mbits(rate.max_bit_s),
        numbers("delivered", "Mbit/s") => mbits(rate.delivered_bit_s),
        numbers("delay", "ms") => rate.delay_ms,
        numbers("baseline", "ms") => rate.baseline_ms,
        words("now") => &rate.reason,
    ]);
    let changes =
        follows().flat_map(|(queue, rate)| rate.changes.iter().map(move |change| (queue, change)));
    let changes = table!(changes, |(queue, change)| [
        words("interface") => &queue.interface,
        numbers("ago", "s") => Cell::number(change.ago_s, 1),
        words("reason") => &change.reason,
        numbers("from", "Mbit/s") => mbits(change.from_bit_s),
        numbers("to", "Mbit/s") => mbits(change.to_bit_s),
        numbers("within", "s") => Cell::number(change.took_s, 2),
        numbers("delay", "ms") => change.delay_ms,
        numbers("delivered", "Mbit/s") => mbits(change.delivered_bit_s),
    ])
    .captioned("the last changes of the rate; the delay is that behind the queue");
    let section = section("Rates that follow the link", rates)?;
    Some(if changes.rows.is_empty() { section } else { section.with(Block::Table(changes)) })
}

fn mbits(bit_s: u64) -> f64 {
    bit_s as f64 / 1e6
}

fn delay(delay: &DelayStatus, figure: impl Fn(&DelayStatus) -> f64) -> Option<f64> {
    (delay.count > 0).then(|| figure(delay))
}

fn interfaces(status: &Status) -> Section {
    let rings = table!(&status.rings, |ring| [
        words("interface") => &ring.interface,
        words("side") => &ring.side,
        numbers("observed", "packets") => ring.packets.saturating_sub(ring.lost),
        numbers("lost", "packets") => ring.lost,
    ]);
    let late = [
        ("an injection after its cause", &status.injection_lateness),
        ("the loop", &status.loop_lateness),
    ];
    let late = table!(late, |(what, late)| [
        words("how late") => what,
        numbers("times", "") => late.count,
        numbers("p50", "us") => delay(late, |late| late.p50_us),
        numbers("p99", "us") => delay(late, |late| late.p99_us),
        numbers("longest", "us") => delay(late, |late| late.max_us),
    ]);
    Section::new("Observing").with(Block::Table(rings)).with(Block::Table(late))
}

/// Lists the busiest subscribers, at most [`SHOWN_SUBSCRIBERS`].
fn subscribers(subscribers: &[SubscriberStatus]) -> Table {
    let shown = subscribers.iter().take(SHOWN_SUBSCRIBERS);
    let table = table!(shown, |one| [
        words("address") => one.address.to_string(),
        numbers("connections", "") => one.flows,
        numbers("treated", "") => one.treated,
        numbers("rate down", "Mbit/s") => Cell::number(one.rate_to_mobile_bit_s / 1e6, 2),
        numbers("rate up", "Mbit/s") => Cell::number(one.rate_from_mobile_bit_s / 1e6, 2),
        numbers("round trip", "ms") => one.rtt_ms.map(|rtt| Cell::number(rtt, 1)),
        numbers("stalled", "%") => one.stalled_percent.map(|share| Cell::number(share, 1)),
        numbers("down", "MB") => one.bytes_to_mobile as f64 / 1e6,
        numbers("up", "MB") => one.bytes_from_mobile as f64 / 1e6,
        numbers("injected", "segments") => one.injected_segments,
    ]);
    table.captioned(
        "the busiest first; rates, round trips (between the gateway and the host) and stalls over the last 10 to 20 s, \
         the rest since the gateway first observed the address",
    )
}

fn flows(flows: &[FlowStatus]) -> Table {
    table!(flows, |flow| {
        let held = if flow.held { ", held" } else { "" };
        [
            words("mobile host") => flow.mobile.to_string(),
            words("fixed host") => flow.fixed.to_string(),
            words("rule") => &flow.class,
            words("group") => format!("{}{held}", flow.group.name()),
            numbers("down", "MB") => flow.bytes_to_mobile as f64 / 1e6,
            numbers("up", "MB") => flow.bytes_from_mobile as f64 / 1e6,
            numbers("injected", "segments") => flow.injected_segments,
            numbers("kept", "kB") => flow.cached_bytes as f64 / 1e3,
            numbers("quiet", "s") => Cell::number(flow.quiet_s, 1),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_daemon::status::Process;
    use ackord_gateway::watch::{
        Estimate, Finding, Group, LinkStatus, RateChangeStatus, RateStatus, RingStatus,
    };
    use ackord_report::{Screen, to_terminal};

    fn shown(status: &Status) -> String {
        to_terminal(&document(status), Screen::NONE)
    }

    #[test]
    fn a_gateway_that_has_just_begun_is_told_without_empty_tables() {
        let process = Process { version: "1.2.3".to_owned(), ..Process::default() };
        let text = shown(&Status { process, ..Status::default() });
        assert!(text.starts_with("Gateway\nversion 1.2.3 ·"), "{text}");
        assert!(text.contains("Nothing is amiss.") && text.contains("Observing"), "{text}");
        assert!(!text.contains("Remedies") && !text.contains("Queues"), "{text}");
    }

    use ackord_daemon::status::Change;

    #[test]
    fn the_link_is_compared_by_turns_and_what_is_not_known_is_named() {
        let change = Change { mean: -1.04, low: -3.0, high: 1.02 };
        let link = LinkStatus {
            treated_now: true,
            blocks: 12,
            delivered_percent: Some(change),
            ..LinkStatus::default()
        };
        let text = shown(&Status { link: Some(link), ..Status::default() });
        assert!(text.contains("-1.0 [-3.0, +1.0]") && text.contains("not yet known"), "{text}");
        assert!(text.contains("12 blocks") && text.contains("with remedies"), "{text}");
    }

    #[test]
    fn shows_the_rate_that_follows_the_link_and_its_last_changes() {
        let change = RateChangeStatus {
            ago_s: 0.4,
            reason: "bloat".to_owned(),
            from_bit_s: 20_000_000,
            to_bit_s: 6_500_000,
            delay_ms: Some(61.5),
            ..RateChangeStatus::default()
        };
        let rate = RateStatus {
            decided_bit_s: 7_000_000,
            reason: "raise".to_owned(),
            baseline_ms: Some(18.25),
            changes: vec![change],
            ..RateStatus::default()
        };
        let follows = Some(rate);
        let queue =
            QueueStatus { interface: "wwan0".to_owned(), follows, ..QueueStatus::default() };
        let text = shown(&Status { queues: vec![queue], ..Status::default() });
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["no (dry run)", "18.25", "raise", "0.4 bloat 20.00 6.500", "61.50"] {
            assert!(words.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_is_amiss_comes_first_and_what_stood_down_says_why() {
        let mean = |mean| Estimate { samples: 20, mean, ci95: Some(0.5e6) };
        let (treated, control) = (mean(2e6), mean(4e6));
        let difference = Some(mean(-2e6));
        let status = Status {
            health: vec![Finding {
                severity: Severity::Warning,
                what: "packets were lost".to_owned(),
                advice: "Give it a processor.".to_owned(),
            }],
            classes: vec![ClassStatus {
                name: "phones".to_owned(),
                remedy: "proxy-tcp".to_owned(),
                goodput_bit_s: Compared { treated, control, difference },
                standing: Standing::StoodDown { since_unix_s: 1.0, why: "it harms".to_owned() },
                ..ClassStatus::default()
            }],
            queues: vec![QueueStatus {
                interface: "wlan0".to_owned(),
                state: QueueState::Forwarding { why: "no heartbeat".to_owned() },
                ..QueueStatus::default()
            }],
            rings: vec![RingStatus {
                interface: "eth0".to_owned(),
                side: "wan".to_owned(),
                packets: 10,
                lost: 3,
                one_by_one: false,
            }],
            top_flows: vec![FlowStatus {
                mobile: "192.0.2.7:50000".parse().expect("one"),
                fixed: "198.51.100.1:443".parse().expect("one"),
                class: "phones".to_owned(),
                group: Group::Treated,
                bytes_to_mobile: 1_500_000,
                bytes_from_mobile: 0,
                injected_segments: 4,
                refused_injections: 0,
                cached_bytes: 0,
                held: true,
                quiet_s: 2.0,
            }],
            ..Status::default()
        };
        let text = shown(&status);
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("- warning: packets were lost. Give it a processor."), "{text}");
        for part in
            ["2.00 ± 0.50", "4.00 ± 0.50", "-2.00 ± 0.50", "wlan0", "treated, held", "1.500"]
        {
            assert!(words.contains(part), "{part} in {text}");
        }
        assert!(words.contains("stood down: it harms"), "{text}");
        assert!(words.contains("eth0 wan 7 3"), "{text}");
    }
}
