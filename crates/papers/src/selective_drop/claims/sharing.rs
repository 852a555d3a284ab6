//! How Reno and Vegas share a link: Tables 1 and 2, the choice of Q_thresh, and ns-2's runs.

use super::{Findings, Stated, TOLERANCE};
use crate::selective_drop::endpoints::{self, Detail};
use crate::selective_drop::sample::{Sample, Shared};
use crate::selective_drop::setup::{FAIR_PERCENT, FULL_PERCENT, LINKS, PaperShare};
use crate::selective_drop::tables::{Queue, Row};
use crate::selective_drop::{factor, threshold};
use crate::verdict::{Why, above, below, directed, more, value};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant, Direction};

/// So many percentage points less are still as fair.
pub(super) const WITHIN_POINTS: f64 = 3.0;

/// Name, words, unit, the paper's value, how to measure it.
type Number = (&'static str, &'static str, &'static str, f64, fn(&Sample) -> f64);

fn numbers(paper: &PaperShare) -> [Number; 3] {
    [
        ("reno", "Reno's rate", "kbit/s", paper.reno_kbit_s, |s| s.reno.kbit_s),
        ("vegas", "Vegas's rate", "kbit/s", paper.vegas_kbit_s, Sample::vegas_kbit_s),
        ("fairness", "fairness", "%", paper.fairness_percent, Sample::fairness_percent),
    ]
}

pub(super) fn table_1(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for row in rows_of(findings, Queue::DropTail) {
        let (link, ns2) = (row.link, findings.band.link(row.link));
        let (reno, vegas) = windows_of(&row.shared);
        let once = row.shared.at_once;
        for number in numbers(&link.drop_tail) {
            let (name, _, unit, _, pick) = number;
            let why = match name {
                "fairness" => format!(
                    "{:.2} % with both at once, where ns-2 has {:.2} %; cwnd is {reno:.1} packets for \
                     Reno and {vegas:.1} for Vegas on average, behind one queue.",
                    once.fairness_percent(),
                    ns2.fairness_at_once(),
                ),
                _ => format!("{:.2} {unit} with both at once.", pick(&once)),
            };
            let ahead = row.shared.random(|s| s.reno.kbit_s - s.vegas_kbit_s());
            let direction = directed("Reno ahead of Vegas", ahead);
            stated.push(a_number("table1", row, number, direction, why));
        }
    }
    let higher = |a: f64, b: f64| a > b;
    let (row, fairness) =
        worst(rows_of(findings, Queue::DropTail), Sample::fairness_percent, higher);
    stated.push(Stated {
        id: "table1-unfair".to_owned(),
        by: Claimant::Paper,
        what: "drop-tail: fairness on the fairest of the four links is below 20 %".to_owned(),
        unit: "%",
        paper: Some(12.0),
        allowed: Allowed::AtMost { high: 20.0 },
        measured: fairness,
        direction: below("one gets more than twice the other's rate", &fairness, 50.0),
        why: Why::measured(format!(
            "{}; single runs from {:.1} to {:.1} %.",
            row.link.label, fairness.min, fairness.max
        )),
    });
    stated.push(full_use("table1", "drop-tail", rows_of(findings, Queue::DropTail)));
    stated
}

fn a_number(
    table: &str,
    row: &Row,
    (name, words, unit, paper, pick): Number,
    direction: Direction,
    why: String,
) -> Stated {
    Stated {
        id: format!("{table}-{}-{name}", row.link.id),
        by: Claimant::Paper,
        what: format!("{}, {}: {words}", row.link.label, row.queue.label(row.link)),
        unit,
        paper: Some(paper),
        allowed: value(paper, TOLERANCE, "stated beforehand: a tenth"),
        measured: row.shared.random(pick),
        direction,
        why: Why::measured(why),
    }
}

fn full_use<'a>(table: &str, queue: &str, rows: impl Iterator<Item = &'a Row>) -> Stated {
    let rows: Vec<&Row> = rows.collect();
    let used = |row: &&&Row| row.shared.at_once.utilisation_percent;
    let least = rows.iter().min_by(|a, b| used(a).total_cmp(&used(b)));
    let least = least.expect("every queue has its four links");
    let mean = least.shared.random(|sample| sample.utilisation_percent).mean;
    let least_used = Estimate::exact(least.shared.at_once.utilisation_percent);
    Stated {
        id: format!("{table}-full-use"),
        by: Claimant::Paper,
        what: format!("{queue}: the links are fully used (both at once, least of four)"),
        unit: "%",
        paper: Some(100.0),
        allowed: Allowed::AtLeast { low: FULL_PERCENT },
        measured: least_used,
        direction: above("nine tenths of it", &least_used, 90.0),
        why: Why::measured(format!(
            "{}; {mean:.1} % with random starts, when nothing is sent until the first of them. \
             Full means {FULL_PERCENT} %.",
            least.link.label
        )),
    }
}

pub(super) fn beside_ns2(findings: &Findings<'_>) -> Vec<Stated> {
    let stated = findings.beside.iter().map(|beside| {
        let (here, ns2) = (beside.fairness(), beside.ns2().fairness());
        let off = here.over(&ns2).plus(-1.0).times(100.0);
        Stated {
            id: format!("ns2-{}-fairness", beside.link.id),
            by: Claimant::Project,
            what: format!("{}, drop-tail: mean fairness off ns-2's", beside.link.label),
            unit: "%",
            paper: None,
            allowed: Allowed::Between { low: -100.0 * TOLERANCE, high: 100.0 * TOLERANCE },
            measured: off,
            direction: below("unfair, too", &here, 50.0),
            why: Why::measured(format!(
                "ns-2's mean is {:.2} %, ours {:.2} % ({:+.0} % off it with Vegas's diff rounded as \
                 ns-2 rounds it); with both at once ns-2 has {:.2} % and we {:.2} %. Without headers on \
                 Vegas's packets ns-2's own mean is {:.2} %. Compared: {}, 40 header bytes on both flows, \
                 limited transmit, window 1000, its start times.",
                ns2.mean,
                here.mean,
                100.0 * (beside.fairness_rounded().mean / ns2.mean - 1.0),
                beside.ns2().fairness_at_once(),
                beside.at_once_percent(),
                findings.band.without_vegas_headers(beside.link).mean,
                findings.band.version,
            )),
        }
    });
    stated.collect()
}

pub(super) fn table_2(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    let drop_tail: Vec<&Row> = rows_of(findings, Queue::DropTail).collect();
    for row in rows_of(findings, Queue::PaperThreshold) {
        let (link, paper) = (row.link, row.link.selective_drop);
        let before = drop_tail.iter().find(|other| other.link.id == link.id);
        let before = before.expect("every queue has its four links").shared.fairness();
        for number in numbers(&paper) {
            let why = match number.0 {
                "fairness" => why_fair(findings, row),
                _ => {
                    let once = number.4(&row.shared.at_once);
                    format!("{once:.2} kbit/s with both at once; {}", in_flight(&row.shared))
                }
            };
            let fairer = more("fairer than drop-tail", &row.shared.fairness(), &before);
            stated.push(a_number("table2", row, number, fairer, why));
        }
    }
    let lower = |a: f64, b: f64| a < b;
    let queue = Queue::PaperThreshold;
    let (row, fairness) = worst(rows_of(findings, queue), Sample::fairness_percent, lower);
    stated.push(Stated {
        id: "table2-fair".to_owned(),
        by: Claimant::Paper,
        what: "the paper's Q_thresh: fairness is above 88 % on the least fair link".to_owned(),
        unit: "%",
        paper: Some(FAIR_PERCENT),
        allowed: Allowed::AtLeast { low: FAIR_PERCENT },
        measured: fairness,
        direction: above("nobody gets more than twice the other's rate", &fairness, 50.0),
        why: Why::measured(why_least_fair(findings, queue, row)),
    });
    stated.push(full_use("table2", "the paper's Q_thresh", rows_of(findings, queue)));
    stated
}

/// Why one has more than the other: behind one queue, rates are as what is in flight.
fn in_flight(shared: &Shared) -> String {
    let reno = shared.random(|sample| sample.reno.in_flight_packets).mean;
    let vegas = shared.random(|sample| sample.vegas_of(|vegas| vegas.in_flight_packets)).mean;
    let cwnd = windows_of(shared).0;
    let recoveries = shared.mean_count(|sample| sample.reno.fast_recoveries);
    format!(
        "{reno:.2} packets of Reno are in flight on average and {vegas:.2} of Vegas. Reno's cwnd is \
         {cwnd:.2}, of which only whole packets leave, and {recoveries:.0} recoveries a run hold it."
    )
}

fn why_fair(findings: &Findings<'_>, row: &Row) -> String {
    let dropped = row.shared.mean_count(|s| s.vegas.map_or(0, |vegas| vegas.dropped_packets));
    let others = Detail::ALL.map(|d| endpoints::fairness(findings.changed, d, row.link));
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    let most = others.iter().copied().fold(0.0, f64::max);
    format!(
        "{:.2} % at once; {} Vegas loses {dropped:.0} packets a run. It hangs on details the paper \
         leaves open: {least:.0} to {most:.0} % with the six others tried.",
        row.shared.at_once.fairness_percent(),
        in_flight(&row.shared),
    )
}

fn why_least_fair(findings: &Findings<'_>, queue: Queue, row: &Row) -> String {
    let means: Vec<String> =
        rows_of(findings, queue).map(|row| format!("{:.1}", row.shared.fairness().mean)).collect();
    let timeouts = row.shared.mean_count(|sample| sample.reno.timeouts);
    let shared = &row.shared;
    let reno = shared.random(|sample| sample.reno.in_flight_packets).mean;
    let vegas = shared.random(|sample| sample.vegas_of(|vegas| vegas.in_flight_packets)).mean;
    format!(
        "{} % on the four links. On {} {reno:.2} packets of Reno are in flight on average, with \
         {timeouts:.0} timeouts a run, and {vegas:.2} of Vegas.",
        means.join(", "),
        row.link.label
    )
}

/// Eq. 9 says that Q_thresh is proportional to W_best, and not by what.
pub(super) fn by_equation(findings: &Findings<'_>) -> Option<Stated> {
    let best = factor::best(findings.factors)?;
    let (link, fairness) = best.least_fair();
    Some(Stated {
        id: "table2-equation-fair".to_owned(),
        by: Claimant::Paper,
        what: "Q_thresh in proportion to W_best (Eq. 8 and 9, T_ACK 0), one factor for all links: \
               fairness is above 88 % on the least fair link"
            .to_owned(),
        unit: "%",
        paper: Some(FAIR_PERCENT),
        allowed: Allowed::AtLeast { low: FAIR_PERCENT },
        measured: fairness,
        direction: above("nobody gets more than twice the other's rate", &fairness, 50.0),
        why: Why::measured(format!(
            "The factor of those tried that serves the least fair link best in as many other random \
             starts is {}: {} % on the four links, least on {}.",
            best.factor(),
            best.by_link(),
            link.label
        )),
    })
}

pub(super) fn thresholds(findings: &Findings<'_>) -> Vec<Stated> {
    let stated = LINKS.iter().filter_map(|link| {
        let (fairest, as_fair) = threshold::best(findings.tried, link)?;
        let tried = findings.tried.iter().filter(|tried| tried.link.id == link.id);
        let chosen = tried.clone().find(|tried| tried.packets == link.q_thresh)?;
        let (best, with_chosen) = (fairest.shared.fairness(), chosen.shared.fairness());
        let alike: Vec<String> = as_fair.iter().map(|tried| tried.packets.to_string()).collect();
        Some(Stated {
            id: format!("table2-{}-best-threshold", link.id),
            by: Claimant::Paper,
            what: format!(
                "{}: with the paper's Q_thresh of {} it is as fair as with the fairest, within \
                 {WITHIN_POINTS} points",
                link.label, link.q_thresh
            ),
            unit: "points",
            paper: None,
            allowed: Allowed::AtLeast { low: -WITHIN_POINTS },
            measured: with_chosen.less(&best),
            direction: above("nobody gets more than twice the other's rate", &with_chosen, 50.0),
            why: Why::measured(format!(
                "Fairness is {:.1} % with {}, the fairest that fills the link, and {:.1} % with the \
                 paper's; intervals do not tell apart: {}.",
                best.mean,
                fairest.packets,
                with_chosen.mean,
                alike.join(", ")
            )),
        })
    });
    stated.collect()
}

fn rows_of<'a>(findings: &Findings<'a>, queue: Queue) -> impl Iterator<Item = &'a Row> {
    findings.rows.iter().filter(move |row| row.queue == queue)
}

/// The mean over random starts that is least (or most) among the rows of a queue.
fn worst<'a>(
    rows: impl Iterator<Item = &'a Row>,
    pick: fn(&Sample) -> f64,
    worse: fn(f64, f64) -> bool,
) -> (&'a Row, Estimate) {
    let with_estimates = rows.map(|row| (row, row.shared.random(pick)));
    let found = with_estimates.reduce(|a, b| if worse(b.1.mean, a.1.mean) { b } else { a });
    found.expect("every queue has its four links")
}

pub(super) fn windows_of(shared: &Shared) -> (f64, f64) {
    let reno = shared.random(|sample| sample.reno.cwnd_mean_packets);
    let vegas = shared.random(|sample| sample.vegas_of(|vegas| vegas.cwnd_mean_packets));
    (reno.mean, vegas.mean)
}
