//! Where a box may stand and what may cross it besides the paper's download: uploads, a stretch of wire
//! between box and base station, and a mobile host that goes over to another base station.
//!
//! A hand-over is to a base station like the first, with a box that knows nothing: the same link after a
//! gap, and the same box begun anew. What the first base station had for the mobile host is lost, or
//! forwarded when the gap is over. Beside that: the same with a box that was handed all that the first
//! one knew.

use super::sample::{Outcomes, Sample, Samples};
use super::setup::{File, Middle, Plan, Runs, SENDERS, Sender, boxed, set};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use serde::Serialize;

/// The senders shown.
pub(super) const SHOWN: [&str; 2] = ["ns2", "linux"];
/// Boxes through which an upload goes.
pub(super) const UPLOADED: [&str; 7] =
    ["none", "snoop", "i-tcp", "mtcp", "m-tcp", "paper", "practical"];
/// Boxes that stand apart from the base station or are changed for others.
pub(super) const MOVED: [&str; 5] = ["none", "snoop", "m-tcp", "paper", "practical"];
/// The wire between box and base station, one way, ms; its other part is what is left of 20.
pub(super) const APART_MS: [u32; 4] = [0, 1, 5, 20];
/// Both wires together, one way, ms.
const WIRE_MS: u32 = 20;
/// How long the mobile host hears neither base station, ms: a re-association, and one with a search.
pub(super) const GAPS_MS: [u32; 2] = [100, 300];
/// What becomes of what the first base station had for it.
pub(super) const LEFT_BEHIND: [&str; 2] = ["loses", "holds"];
/// The first moment of a hand-over, and from one to the next, ms: as the fades are spread.
const FIRST_MS: u32 = 4_000;
const STEP_MS: u32 = 50;

/// What the second base station's box knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Knows {
    /// Nothing.
    Nothing,
    /// What the first one knew.
    All,
}

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Upload,
    /// So many milliseconds before the base station.
    Apart(u32),
    /// A gap of so many milliseconds, what becomes of packets, and what the second box knows.
    Handover(u32, &'static str, Knows),
}

#[derive(Debug)]
pub(super) struct PathPlan(Vec<Planned>);

#[derive(Debug)]
struct Planned {
    place: Place,
    middle: &'static Middle,
    sender: &'static Sender,
    runs: Vec<Runs>,
}

/// One place, box and sender.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) place: Place,
    pub(super) middle: &'static Middle,
    pub(super) sender: &'static Sender,
    pub(super) samples: Samples,
}

#[derive(Serialize)]
pub(super) struct PlacedData {
    setup: String,
    middle_box: &'static str,
    sender: &'static str,
    goodput_mbit_s: Estimate,
    new_data_s: Option<Estimate>,
}

pub(super) fn plan(plan: &mut Plan, seeds: u64, phases: u32) -> Result<PathPlan, Errors> {
    let mut planned = Vec::new();
    for sender in SENDERS.iter().filter(|sender| SHOWN.contains(&sender.id)) {
        for middle in UPLOADED.map(boxed) {
            let changes = [middle.changes(), sender.changes()].concat();
            let runs = vec![plan.add(File::Upload, changes, seeds)?];
            planned.push(Planned { place: Place::Upload, middle, sender, runs });
        }
        for middle in MOVED.map(boxed) {
            for apart in APART_MS {
                let changes = [away(middle, apart), sender.changes()].concat();
                let runs = vec![plan.add(File::Distance, changes, seeds)?];
                planned.push(Planned { place: Place::Apart(apart), middle, sender, runs });
            }
            for place in handovers() {
                let one = |number| {
                    let changes = [middle.changes(), sender.changes(), over(place, number)];
                    plan.add(File::Handover, changes.concat(), 1)
                };
                let runs = (0..phases).map(one).collect::<Result<_, _>>()?;
                planned.push(Planned { place, middle, sender, runs });
            }
        }
    }
    Ok(PathPlan(planned))
}

/// Every kind of hand-over.
fn handovers() -> Vec<Place> {
    let mut all = Vec::new();
    for gap in GAPS_MS {
        for left in LEFT_BEHIND {
            all.extend([Knows::Nothing, Knows::All].map(|knows| Place::Handover(gap, left, knows)));
        }
    }
    all
}

fn away(middle: &Middle, apart_ms: u32) -> Vec<Override> {
    vec![
        set("proxies.site.proxy", middle.proxy),
        set("links.backhaul.delay", format!("{apart_ms} ms")),
        set("links.wired.delay", format!("{} ms", WIRE_MS - apart_ms)),
    ]
}

/// A hand-over that begins in one of the phases.
fn over(place: Place, number: u32) -> Vec<Override> {
    let Place::Handover(gap, left, knows) = place else { return Vec::new() };
    let from = FIRST_MS + STEP_MS * number;
    let outage = format!(
        "{{ kind = \"schedule\", from = [\"{from} ms\"], for = [\"{gap} ms\"], does = \"{left}\" }}"
    );
    // A box that was handed everything is as one that stays: it dies when all is over.
    let (dies, restarts) = match knows {
        Knows::Nothing => (format!("{from} ms"), format!("{} ms", from + gap)),
        Knows::All => ("14.999 s".to_owned(), "15 s".to_owned()),
    };
    vec![
        set("links.air.outage", outage),
        set("proxies.base.dies", dies),
        set("proxies.base.restarts", restarts),
    ]
}

pub(super) fn read(plan: &PathPlan, outcomes: &Outcomes) -> Vec<Placed> {
    let one = |planned: &Planned| Placed {
        place: planned.place,
        middle: planned.middle,
        sender: planned.sender,
        samples: Samples(planned.runs.iter().flat_map(|runs| outcomes.samples(runs).0).collect()),
    };
    plan.0.iter().map(one).collect()
}

/// The runs of this place, box and sender.
///
/// # Panics
/// If there are none: every combination is run.
pub(super) fn of<'a>(all: &'a [Placed], place: Place, middle: &str, sender: &str) -> &'a Samples {
    let wanted =
        |one: &&Placed| (one.place, one.middle.id, one.sender.id) == (place, middle, sender);
    &all.iter().find(wanted).expect("every combination is run").samples
}

/// What a box is worth there, percent of the goodput without one, run by run.
pub(super) fn worth(all: &[Placed], place: Place, middle: &str, sender: &str) -> Estimate {
    let [with, none] = [middle, "none"].map(|middle| of(all, place, middle, sender));
    with.over(none, Sample::goodput_mbit_s).plus(-1.0).times(100.0)
}

impl Placed {
    pub(super) fn data(&self) -> PlacedData {
        let handover = matches!(self.place, Place::Handover(..));
        PlacedData {
            setup: match self.place {
                Place::Upload => "upload".to_owned(),
                Place::Apart(ms) => format!("{ms} ms apart"),
                Place::Handover(gap, left, knows) => {
                    format!("hand-over, {gap} ms, {left}, knows {knows:?}").to_lowercase()
                }
            },
            middle_box: self.middle.id,
            sender: self.sender.id,
            goodput_mbit_s: self.samples.goodput(),
            new_data_s: handover.then(|| self.samples.mean(Sample::recovery_s)),
        }
    }
}

fn interval(estimate: Estimate, decimals: usize) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals }
}

/// Uploads, by box and sender.
pub(super) fn upload_table(all: &[Placed]) -> Table {
    let mut columns = vec![Column::words("middle box")];
    for sender in SHOWN {
        columns.push(Column::numbers(sender, "Mbit/s"));
        columns.push(Column::numbers("against none", "%"));
    }
    let row = |middle: &str| {
        let mut row = vec![Cell::text(boxed(middle).label)];
        for sender in SHOWN {
            row.push(interval(of(all, Place::Upload, middle, sender).goodput(), 3));
            row.push(interval(worth(all, Place::Upload, middle, sender), 1));
        }
        row
    };
    Table {
        caption: "The mobile host sends, one error in 64 KByte (goodput)".to_owned(),
        columns,
        rows: UPLOADED.map(row).to_vec(),
    }
}

/// A box apart from its base station, by box and sender.
pub(super) fn apart_table(all: &[Placed]) -> Table {
    let mut columns = vec![Column::words("middle box"), Column::words("sender")];
    columns.extend(APART_MS.map(|ms| Column::numbers(&format!("{ms} ms apart"), "Mbit/s")));
    let mut rows = Vec::new();
    for middle in MOVED {
        for sender in SHOWN {
            let mut row = vec![Cell::text(boxed(middle).label), Cell::text(sender)];
            let goodput = |ms| of(all, Place::Apart(ms), middle, sender).goodput();
            row.extend(APART_MS.map(|ms| interval(goodput(ms), 3)));
            rows.push(row);
        }
    }
    Table {
        caption: "Wire between the box and the base station, one error in 64 KByte, the whole path as long \
                  as ever (goodput)"
            .to_owned(),
        columns,
        rows,
    }
}

/// Hand-overs, by box and sender.
pub(super) fn handover_table(all: &[Placed]) -> Table {
    let mut columns = vec![
        Column::numbers("gap", "ms"),
        Column::words("packets left behind"),
        Column::words("middle box"),
        Column::words("sender"),
    ];
    for box_knows in ["new box", "knows all"] {
        columns.push(Column::numbers(&format!("{box_knows}: goodput"), "Mbit/s"));
        columns.push(Column::numbers("new data", "s"));
    }
    let mut rows = Vec::new();
    for gap in GAPS_MS {
        for left in LEFT_BEHIND {
            for (middle, sender) in MOVED.iter().flat_map(|middle| SHOWN.map(|s| (*middle, s))) {
                let mut row = vec![
                    Cell::Count(u64::from(gap)),
                    Cell::text(if left == "loses" { "lost" } else { "late" }),
                    Cell::text(boxed(middle).label),
                    Cell::text(sender),
                ];
                for knows in [Knows::Nothing, Knows::All] {
                    let runs = of(all, Place::Handover(gap, left, knows), middle, sender);
                    row.push(interval(runs.goodput(), 3));
                    row.push(interval(runs.mean(Sample::recovery_s), 2));
                }
                rows.push(row);
            }
        }
    }
    Table {
        caption: "A hand-over to another base station: goodput of 15 s and new data after the gap, with a \
                  box there that knows nothing, and with one that was handed everything"
            .to_owned(),
        columns,
        rows,
    }
}
