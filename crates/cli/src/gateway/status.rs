//! `ackord gateway status`: a running gateway as tables, once or again and again, and as JSON.

use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::daemons::standing::{self, ShownArguments, estimate, section};
use crate::errors::Failure;
use ackord_gateway::SOCKET;
use ackord_gateway::config::GatewayConfig;
use ackord_gateway::watch::{
    self, Change, ClassStatus, Compared, DelayStatus, FlowStatus, QueueState, QueueStatus,
    Severity, Standing, Status,
};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_units::Span;
use clap::Args;
use std::cell;
use std::path::PathBuf;

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
/// Treated connections stand beside those left alone, means with 95 % intervals. Health comes first, each
/// finding with what to do. With --watch the tables are drawn anew every second until Ctrl-C. With --exit-code the exit
/// code is 3 if Health has a failure or a warning.
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
    arguments.shown.show(ask, document, console)?;
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
        Some(interfaces(status)),
        section("Connections with most data", flows(&status.top_flows)),
    ];
    Document {
        title: "Gateway".to_owned(),
        purpose: String::new(),
        facts: standing::facts(&status.process, up),
        sections: sections.into_iter().flatten().collect(),
    }
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
    let change = |change: Option<Change>| {
        let sign = |percent: f64| format!("{percent:+.1}");
        change.map(|it| format!("{} [{}, {}]", sign(it.mean), sign(it.low), sign(it.high)))
    };
    let table = table!(link.changes(), |(of, by)| [
        words("of the whole link") => of,
        numbers("change by remedies", "%") => change(by).unwrap_or_else(|| "not yet known".to_owned()),
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
    use ackord_gateway::watch::{Estimate, Finding, Group, LinkStatus, RingStatus};
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
