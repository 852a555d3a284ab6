//! How Reno and Vegas share a link: Tables 1 and 2, the choice of Q_thresh, and ns-2's runs.

use crate::cells::{Cell, Runs};
use crate::claims::{
    Stated, TENTH, above, at_least, at_most, below, between, directed, listed, more, paper,
    project, tenth,
};
use crate::selective_drop::endpoints::Detail;
use crate::selective_drop::measured::Measured;
use crate::selective_drop::ns2;
use crate::selective_drop::sample::{Run, Sample};
use crate::selective_drop::setup::{FAIR_PERCENT, FULL_PERCENT, LINKS, PaperShare};
use crate::selective_drop::tables::{Key, Queue, Rows, of_queue, worst};
use crate::selective_drop::threshold::{self, Factors, Tried};
use ackord_measure::Direction;
use ackord_measure::stats::Estimate;

/// So many percentage points less are still as fair.
pub(super) const WITHIN_POINTS: f64 = 3.0;
/// What a share is not, where it is only somewhat unfair.
pub(super) const NO_TWICE: &str = "nobody gets more than twice the other's rate";

/// Name, words, unit, the paper's value, how to measure it.
type Number = (&'static str, &'static str, &'static str, f64, fn(&Sample) -> f64);

fn numbers(paper: &PaperShare) -> [Number; 3] {
    [
        ("reno", "Reno's rate", "kbit/s", paper.reno_kbit_s, |s| s.reno.kbit_s),
        ("vegas", "Vegas's rate", "kbit/s", paper.vegas_kbit_s, Sample::vegas_kbit_s),
        ("fairness", "fairness", "%", paper.fairness_percent, Sample::fairness_percent),
    ]
}

pub(super) fn table_1(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for row in of_queue(&measured.rows, Queue::DropTail) {
        let (link, ns2) = (row.key.1, measured.band.link(row.key.1));
        let [reno, vegas] = cwnd_of(row);
        for number in numbers(&link.drop_tail) {
            let (name, _, unit, _, pick) = number;
            let why = match name {
                "fairness" => format!(
                    "{:.2} % with both at once, where ns-2 has {:.2} %; cwnd is {reno:.1} packets for \
                     Reno and {vegas:.1} for Vegas on average, behind one queue.",
                    row.at_once().fairness_percent(),
                    ns2.fairness_at_once(),
                ),
                _ => format!("{:.2} {unit} with both at once.", pick(row.at_once())),
            };
            let ahead = row.random(|s| s.reno.kbit_s - s.vegas_kbit_s());
            let direction = directed("Reno ahead of Vegas", ahead);
            stated.push(a_number("table1", row, number, direction, why));
        }
    }
    let (row, fairness) = worst(&measured.rows, Queue::DropTail, |a, b| a > b);
    let what = "drop-tail: fairness on the fairest of the four links is below 20 %";
    stated.push(
        paper("table1-unfair", what, "%", fairness, at_most(20.0))
            .published(12.0)
            .below("one gets more than twice the other's rate", 50.0)
            .why(format!(
                "{}; single runs from {:.1} to {:.1} %.",
                row.key.1.label, fairness.min, fairness.max
            )),
    );
    stated.push(full_use("table1", "drop-tail", &measured.rows, Queue::DropTail));
    stated
}

fn a_number(
    table: &str,
    row: &Cell<Key, Run>,
    (name, words, unit, published, pick): Number,
    direction: Direction,
    why: String,
) -> Stated {
    let (queue, link) = row.key;
    let id = format!("{table}-{}-{name}", link.id);
    let what = format!("{}, {}: {words}", link.label, queue.label_on(link));
    paper(id, what, unit, row.random(pick), tenth(published)).claims(direction).why(why)
}

fn full_use(table: &str, name: &str, rows: &Rows, queue: Queue) -> Stated {
    let used = |row: &Cell<Key, Run>| row.at_once().utilisation_percent;
    let least = of_queue(rows, queue).min_by(|a, b| used(a).total_cmp(&used(b)));
    let least = least.expect("every queue has its four links");
    let mean = least.used_percent().mean;
    let what = format!("{name}: the links are fully used (both at once, least of four)");
    let id = format!("{table}-full-use");
    paper(id, what, "%", Estimate::exact(used(least)), at_least(FULL_PERCENT))
        .published(100.0)
        .above("nine tenths of it", 90.0)
        .why(format!(
            "{}; {mean:.1} % with random starts, when nothing is sent until the first of them. \
             Full means {FULL_PERCENT} %.",
            least.key.1.label
        ))
}

pub(super) fn beside_ns2(measured: &Measured) -> Vec<Stated> {
    let band = &measured.band;
    let stated = ns2::beside(&measured.ns2, band).into_iter().map(|beside| {
        let (here, ns2, link) = (beside.fairness(), beside.ns2.fairness(), beside.link);
        let off = here.over(&ns2).plus(-1.0).times(100.0);
        let id = format!("ns2-{}-fairness", link.id);
        let what = format!("{}, drop-tail: mean fairness off ns-2's", link.label);
        project(id, what, "%", off, between(-100.0 * TENTH, 100.0 * TENTH))
            .claims(below("unfair, too", &here, 50.0))
            .why(format!(
                "ns-2's mean is {:.2} %, ours {:.2} % ({:+.0} % off it with Vegas's diff rounded as \
                 ns-2 rounds it); with both at once ns-2 has {:.2} % and we {:.2} %. Without headers on \
                 Vegas's packets ns-2's own mean is {:.2} %. Compared: {}, 40 header bytes on both flows, \
                 limited transmit, window 1000, its start times.",
                ns2.mean,
                here.mean,
                100.0 * (beside.fairness_rounded().mean / ns2.mean - 1.0),
                beside.ns2.fairness_at_once(),
                beside.at_once_percent(),
                band.without_vegas_headers(link).mean,
                band.version,
            ))
    });
    stated.collect()
}

pub(super) fn table_2(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    let queue = Queue::PaperThreshold;
    for row in of_queue(&measured.rows, queue) {
        let link = row.key.1;
        let before = measured.rows.of(&(Queue::DropTail, link)).fairness();
        for number in numbers(&link.selective_drop) {
            let why = match number.0 {
                "fairness" => why_fair(measured, row),
                _ => {
                    let once = number.4(row.at_once());
                    format!("{once:.2} kbit/s with both at once; {}", why_ahead(row))
                }
            };
            let fairer = more("fairer than drop-tail", &row.fairness(), &before);
            stated.push(a_number("table2", row, number, fairer, why));
        }
    }
    let (row, fairness) = worst(&measured.rows, queue, |a, b| a < b);
    let what = "the paper's Q_thresh: fairness is above 88 % on the least fair link";
    stated.push(
        paper("table2-fair", what, "%", fairness, at_least(FAIR_PERCENT))
            .published(FAIR_PERCENT)
            .above(NO_TWICE, 50.0)
            .why(why_least_fair(&measured.rows, row)),
    );
    stated.push(full_use("table2", "the paper's Q_thresh", &measured.rows, queue));
    stated
}

/// Packets of Reno and of Vegas that are in flight on average.
fn in_flight(runs: &Runs<Run>) -> [f64; 2] {
    let reno = runs.random(|sample| sample.reno.in_flight_packets);
    let vegas = runs.random(|sample| sample.vegas_of(|vegas| vegas.in_flight_packets));
    [reno.mean, vegas.mean]
}

/// Why one has more than the other: behind one queue, rates are as what is in flight.
fn why_ahead(runs: &Runs<Run>) -> String {
    let [reno, vegas] = in_flight(runs);
    let [cwnd, _] = cwnd_of(runs);
    let recoveries = runs.random(|sample| sample.reno.fast_recoveries).mean;
    format!(
        "{reno:.2} packets of Reno are in flight on average and {vegas:.2} of Vegas. Reno's cwnd is \
         {cwnd:.2}, of which only whole packets leave, and {recoveries:.0} recoveries a run hold it."
    )
}

fn why_fair(measured: &Measured, row: &Cell<Key, Run>) -> String {
    let dropped = row.random(|s| s.vegas_of(|vegas| vegas.dropped_packets as f64)).mean;
    let others = Detail::ALL.map(|detail| measured.changed.of(&(detail, row.key.1)).fairness());
    let least = others.iter().map(|other| other.mean).fold(f64::INFINITY, f64::min);
    let most = others.iter().map(|other| other.mean).fold(0.0, f64::max);
    format!(
        "{:.2} % at once; {} Vegas loses {dropped:.0} packets a run. It hangs on details the paper \
         leaves open: {least:.0} to {most:.0} % with the six others tried.",
        row.at_once().fairness_percent(),
        why_ahead(row),
    )
}

fn why_least_fair(rows: &Rows, row: &Cell<Key, Run>) -> String {
    let timeouts = row.random(|sample| sample.reno.timeouts).mean;
    let [reno, vegas] = in_flight(row);
    format!(
        "{} % on the four links. On {} {reno:.2} packets of Reno are in flight on average, with \
         {timeouts:.0} timeouts a run, and {vegas:.2} of Vegas.",
        listed(of_queue(rows, row.key.0).map(|row| row.fairness()), 1),
        row.key.1.label
    )
}

/// Eq. 9 says that Q_thresh is proportional to W_best, and not by what.
pub(super) fn by_equation(factors: &Factors) -> Stated {
    let best = factors.best();
    let (link, fairness) = factors.least_fair(best);
    let what = "Q_thresh in proportion to W_best (Eq. 8 and 9, T_ACK 0), one factor for all links: \
                fairness is above 88 % on the least fair link";
    paper("table2-equation-fair", what, "%", fairness, at_least(FAIR_PERCENT))
        .published(FAIR_PERCENT)
        .above(NO_TWICE, 50.0)
        .why(format!(
            "The factor of those tried that serves the least fair link best in as many other random \
             starts is {}: {} % on the four links, least on {}.",
            threshold::factor(best),
            listed(factors.by_link(best).into_iter().map(|(_, fairness)| fairness), 1),
            link.label
        ))
}

pub(super) fn thresholds(tried: &Tried) -> Vec<Stated> {
    let stated = LINKS.iter().filter_map(|link| {
        let (fairest, as_fair) = threshold::best(tried, link)?;
        let (best, chosen) = (fairest.fairness(), tried.of(&(link, link.q_thresh)).fairness());
        let alike: Vec<String> = as_fair.iter().map(u32::to_string).collect();
        let what = format!(
            "{}: with the paper's Q_thresh of {} it is as fair as with the fairest, within \
             {WITHIN_POINTS} points",
            link.label, link.q_thresh
        );
        let id = format!("table2-{}-best-threshold", link.id);
        let claim = paper(id, what, "points", chosen.less(&best), at_least(-WITHIN_POINTS))
            .claims(above(NO_TWICE, &chosen, 50.0))
            .why(format!(
                "Fairness is {:.1} % with {}, the fairest that fills the link, and {:.1} % with the \
                 paper's; intervals do not tell apart: {}.",
                best.mean,
                fairest.key.1,
                chosen.mean,
                alike.join(", ")
            ));
        Some(claim)
    });
    stated.collect()
}

/// Mean cwnd of Reno and of Vegas, in packets.
pub(super) fn cwnd_of(runs: &Runs<Run>) -> [f64; 2] {
    let reno = runs.random(|sample| sample.reno.cwnd_mean_packets);
    let vegas = runs.random(|sample| sample.vegas_of(|vegas| vegas.cwnd_mean_packets));
    [reno.mean, vegas.mean]
}
