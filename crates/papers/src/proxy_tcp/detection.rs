//! Fading is detected, not known: how soon a box notices a fade, how often it takes something else for
//! one, and what that costs.

use super::fading::{FADES, Fades};
use super::sample::{Outcomes, Sample, Samples};
use super::setup::{BOXES, File, Middle, Plan, Runs, SENDERS, Sender, boxed, errors, set};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use serde::Serialize;

/// The boxes that take a link for faded.
pub(super) const HOLDING: [&str; 4] = ["m-tcp", "paper", "practical", "in-path"];
/// The senders shown.
const SHOWN: [&str; 2] = ["ns2", "linux"];

/// A path without a fade.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) id: &'static str,
    label: &'static str,
    changes: fn() -> Vec<Override>,
}

/// Paths on which every hold is a mistake.
pub(super) static PATHS: [Path; 4] = [
    Path { id: "clean", label: "clean", changes: Vec::new },
    Path { id: "errors", label: "errors, 1/64 KByte", changes: || errors(65_536.0) },
    Path { id: "jumps", label: "delay 20 to 120 ms", changes: jumps },
    Path { id: "short-queue", label: "queue of 10", changes: short_queue },
];

fn jumps() -> Vec<Override> {
    let jitter = "{ kind = \"redraw\", every = \"1 s\", distribution = \"uniform\", \
                  deviation = \"28.9 ms\", floor = \"20 ms\", order = \"kept\" }";
    vec![set("links.air.delay", "70 ms"), set("links.air.jitter", jitter)]
}

fn short_queue() -> Vec<Override> {
    vec![set("links.air.queue.limit", "10 packets")]
}

/// A path, a box and a sender, and their runs.
type Planned = (&'static Path, &'static Middle, &'static Sender, Runs);

#[derive(Debug)]
pub(super) struct DetectionPlan(Vec<Planned>);

/// One box and sender on a path without a fade.
#[derive(Clone, Debug)]
pub(super) struct Mistaken {
    pub(super) path: &'static Path,
    pub(super) middle: &'static Middle,
    pub(super) sender: &'static Sender,
    pub(super) samples: Samples,
}

#[derive(Serialize)]
pub(super) struct MistakenData {
    path: &'static str,
    middle_box: &'static str,
    sender: &'static str,
    holds_per_100_s: Estimate,
    goodput_mbit_s: Estimate,
}

pub(super) fn plan(plan: &mut Plan, seeds: u64) -> Result<DetectionPlan, Errors> {
    let mut planned = Vec::new();
    for path in &PATHS {
        for middle in BOXES.iter().filter(|middle| is_shown(middle.id)) {
            for sender in SENDERS.iter().filter(|sender| SHOWN.contains(&sender.id)) {
                // Without errors unless the path has them.
                let clean = ["links.air.loss", "links.air.reverse.loss"].map(|p| set(p, "none"));
                let clean = if path.id == "errors" { Vec::new() } else { clean.to_vec() };
                let changes =
                    [clean, (path.changes)(), middle.changes(), sender.changes()].concat();
                planned.push((path, middle, sender, plan.add(File::BitErrors, changes, seeds)?));
            }
        }
    }
    Ok(DetectionPlan(planned))
}

fn is_shown(middle: &str) -> bool {
    middle == "none" || HOLDING.contains(&middle)
}

pub(super) fn read(plan: &DetectionPlan, outcomes: &Outcomes) -> Vec<Mistaken> {
    let one = |(path, middle, sender, runs): &Planned| Mistaken {
        path,
        middle,
        sender,
        samples: outcomes.samples(runs),
    };
    plan.0.iter().map(one).collect()
}

/// How soon a box noticed the fades of a sweep, over its phases; nothing where it never did.
pub(super) fn detection(
    fades: &Fades,
    middle: &str,
    sender: &str,
    lasts_s: f64,
) -> Option<Estimate> {
    let phases = &fades.sweep(middle, sender, lasts_s).phases.0;
    let each: Vec<f64> = phases.iter().filter_map(Sample::detection_s).collect();
    estimate(&each)
}

/// What a box on this path cost or brought, percent of the goodput without one, seed by seed.
pub(super) fn worth(all: &[Mistaken], path: &str, middle: &str, sender: &str) -> Estimate {
    let of = |middle: &str| {
        let wanted =
            |one: &&Mistaken| (one.path.id, one.middle.id, one.sender.id) == (path, middle, sender);
        &all.iter().find(wanted).expect("every combination is run").samples.0
    };
    let pairs = of(middle).iter().zip(of("none"));
    let each: Vec<f64> = pairs
        .map(|(with, none)| 100.0 * (with.goodput_mbit_s() / none.goodput_mbit_s() - 1.0))
        .collect();
    estimate(&each).expect("runs")
}

impl Mistaken {
    /// Holds, every one of them a mistake here.
    pub(super) fn holds(&self) -> Estimate {
        self.samples.mean(|run| {
            let holds = run.proxy.as_ref().map_or(0, |proxy| proxy.counters.holds);
            holds as f64 * 100.0 / run.seconds
        })
    }

    pub(super) fn data(&self) -> MistakenData {
        MistakenData {
            path: self.path.id,
            middle_box: self.middle.id,
            sender: self.sender.id,
            holds_per_100_s: self.holds(),
            goodput_mbit_s: self.samples.goodput(),
        }
    }
}

/// How soon fades are noticed.
pub(super) fn table(fades: &Fades) -> Table {
    let mut columns = vec![Column::words("middle box"), Column::words("sender")];
    for (lasts_s, _) in FADES {
        columns.push(Column::numbers(&format!("{lasts_s} s"), "%"));
        columns.push(Column::numbers("after", "ms"));
        columns.push(Column::numbers("false", ""));
    }
    let mut rows = Vec::new();
    for middle in HOLDING {
        for sender in &SENDERS {
            let mut row = vec![Cell::text(boxed(middle).label), Cell::text(sender.label)];
            for (lasts_s, _) in FADES {
                let phases = &fades.sweep(middle, sender.id, lasts_s).phases;
                let found = detection(fades, middle, sender.id, lasts_s);
                let noticed = found.map_or(0, |found| found.runs);
                row.push(Cell::number(100.0 * f64::from(noticed) / phases.0.len() as f64, 0));
                row.push(Cell::number(found.map(|found| found.mean * 1e3), 0));
                row.push(Cell::number(phases.mean(Sample::false_holds).mean, 1));
            }
            rows.push(row);
        }
    }
    Table {
        caption: "Detection: the share of fades that a box noticed while they lasted, how long \
                  after their beginning, and holds that proved wrong in the same run of 15 s"
            .to_owned(),
        columns,
        rows,
    }
}

/// What is taken for a fade that is none, and what that costs.
pub(super) fn mistaken_table(all: &[Mistaken]) -> Table {
    let columns = vec![
        Column::words("path"),
        Column::words("middle box"),
        Column::words("sender"),
        Column::numbers("holds", "per 100 s"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("against none", "%"),
    ];
    let interval = |estimate: Estimate, decimals| Cell::Interval {
        mean: estimate.mean,
        half_width: estimate.ci95,
        decimals,
    };
    let row = |one: &Mistaken| {
        vec![
            Cell::text(one.path.label),
            Cell::text(one.middle.label),
            Cell::text(one.sender.label),
            Cell::number(one.holds().mean, 2),
            interval(one.samples.goodput(), 3),
            interval(worth(all, one.path.id, one.middle.id, one.sender.id), 1),
        ]
    };
    Table {
        caption: "Paths without a fade: every hold is a mistake".to_owned(),
        columns,
        rows: all.iter().map(row).collect(),
    }
}
