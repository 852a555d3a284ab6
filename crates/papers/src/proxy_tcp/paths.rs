//! Where a box may stand and what may cross it besides the paper's download: uploads, a stretch of wire
//! between box and base station, and a mobile host that goes over to another base station.
//!
//! A handover is to a base station like the first, with a box that knows nothing: the same link after a
//! gap, and the same box begun anew. What the first base station had for the mobile host is lost, or
//! forwarded when the gap is over. Beside that: the same with a box that was handed all that the first
//! one knew.

use super::sample::Sample;
use super::setup::{DISTANCE, HANDOVER, Id, Pair, UPLOAD, boxed, lasting, pair, sender};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_scenario::Override;
use ackord_units::Span;
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
/// The first moment of a handover, and from one to the next, ms: as the fades are spread.
const FIRST_MS: u32 = 4_000;
const STEP_MS: u32 = 50;

/// What the second base station's box knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A place, a box and a sender.
pub(super) type Key = (Place, Pair);
pub(super) type Placed = Cells<Key, Sample>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    let moved = APART_MS.map(Place::Apart).into_iter().chain(handovers());
    let moved: Vec<_> = moved.collect();
    SHOWN.into_iter().flat_map(move |sender| {
        let uploads = UPLOADED.map(|middle| (Place::Upload, (middle, sender)));
        let moved =
            MOVED.map(|middle| moved.clone().into_iter().map(move |p| (p, (middle, sender))));
        uploads.into_iter().chain(moved.into_iter().flatten())
    })
}

/// Every kind of handover.
fn handovers() -> impl Iterator<Item = Place> {
    let kinds = GAPS_MS.into_iter().flat_map(|gap| LEFT_BEHIND.map(|left| (gap, left)));
    kinds.flat_map(|(gap, left)| {
        [Knows::Nothing, Knows::All].map(|knows| Place::Handover(gap, left, knows))
    })
}

pub(super) fn setups((place, of): Key, seeds: u32, phases: u32, lasts: Span) -> Vec<Setup> {
    match place {
        Place::Upload => vec![lasting(lasts, UPLOAD, pair(of)).seeds(seeds)],
        Place::Apart(apart_ms) => {
            let changes = vec![
                set("proxies.site.proxy", boxed(of.0).proxy),
                set("links.backhaul.delay", format!("{apart_ms} ms")),
                set("links.wired.delay", format!("{} ms", WIRE_MS - apart_ms)),
            ];
            let setup = lasting(lasts, DISTANCE, changes).with(sender(of.1).changes());
            vec![setup.seeds(seeds)]
        }
        Place::Handover(gap, left, knows) => {
            let phase = |number| {
                let from = FIRST_MS + STEP_MS * number;
                Setup::new(HANDOVER, pair(of)).with(over(from, (gap, left, knows))).seeds(1)
            };
            (0..phases).map(phase).collect()
        }
    }
}

/// A handover that begins then.
fn over(from: u32, (gap, left, knows): (u32, &str, Knows)) -> [Override; 3] {
    let outage = format!(
        "{{ kind = \"schedule\", from = [\"{from} ms\"], for = [\"{gap} ms\"], does = \"{left}\" }}"
    );
    // A box that was handed everything is as one that stays: it dies when all is over.
    let (dies, restarts) = match knows {
        Knows::Nothing => (format!("{from} ms"), format!("{} ms", from + gap)),
        Knows::All => ("14.999 s".to_owned(), "15 s".to_owned()),
    };
    [
        set("links.air.outage", outage),
        set("proxies.base.dies", dies),
        set("proxies.base.restarts", restarts),
    ]
}

/// The runs of this place, box and sender.
pub(super) fn of(all: &Placed, place: Place, middle: Id, sender: Id) -> &Runs<Sample> {
    all.of(&(place, (middle, sender)))
}

/// What a box is worth there, percent of the goodput without one, run by run.
pub(super) fn worth(all: &Placed, place: Place, middle: Id, sender: Id) -> Estimate {
    let [with, none] = [middle, "none"].map(|middle| of(all, place, middle, sender));
    with.over(none, Sample::goodput_mbit_s).plus(-1.0).times(100.0)
}

pub(super) fn data(all: &Placed) -> Vec<impl Serialize> {
    let data = |one: &Cell<Key, Sample>| {
        let (place, (middle, sender)) = one.key;
        let handover = matches!(place, Place::Handover(..));
        let setup = match place {
            Place::Upload => "upload".to_owned(),
            Place::Apart(ms) => format!("{ms} ms apart"),
            Place::Handover(gap, left, knows) => {
                format!("hand-over, {gap} ms, {left}, knows {knows:?}").to_lowercase()
            }
        };
        record! {
            setup: setup,
            middle_box: middle,
            sender: sender,
            goodput_mbit_s: one.goodput(),
            new_data_s: handover.then(|| one.first_data()),
        }
    };
    all.iter().map(data).collect()
}

/// Uploads, by box and sender.
pub(super) fn upload_table(all: &Placed) -> Table {
    rows(UPLOADED)
        .words("middlebox", |middle| boxed(middle).label)
        .each(SHOWN, |table, sender| {
            table
                .mean((sender, "Mbit/s"), 3, |middle| {
                    of(all, Place::Upload, middle, sender).goodput()
                })
                .mean(("against none", "%"), 1, |middle| worth(all, Place::Upload, middle, sender))
        })
        .titled("The mobile host sends, one error in 64 KByte (goodput)")
}

fn moved() -> impl Iterator<Item = Pair> {
    MOVED.into_iter().flat_map(|middle| SHOWN.map(|sender| (middle, sender)))
}

/// A box apart from its base station, by box and sender.
pub(super) fn apart_table(all: &Placed) -> Table {
    rows(moved())
        .words("middlebox", |(middle, _)| boxed(middle).label)
        .words("sender", |(_, sender)| *sender)
        .each(APART_MS, |table, ms| {
            table.mean((&format!("{ms} ms apart"), "Mbit/s"), 3, |(middle, sender)| {
                of(all, Place::Apart(ms), middle, sender).goodput()
            })
        })
        .titled(
            "Wire between the box and the base station, one error in 64 KByte, the whole path as long \
             as ever (goodput)",
        )
}

/// Handovers, by box and sender.
pub(super) fn handover_table(all: &Placed) -> Table {
    let kinds = GAPS_MS.into_iter().flat_map(|gap| LEFT_BEHIND.map(|left| (gap, left)));
    let of_each = kinds.flat_map(|(gap, left)| moved().map(move |pair| (gap, left, pair)));
    rows(of_each)
        .count(("gap", "ms"), |(gap, _, _)| *gap)
        .words("packets left behind", |(_, left, _)| if *left == "loses" { "lost" } else { "late" })
        .words("middlebox", |(_, _, (middle, _))| boxed(middle).label)
        .words("sender", |(_, _, (_, sender))| *sender)
        .each([("new box", Knows::Nothing), ("knows all", Knows::All)], |table, (name, knows)| {
            let runs = |(gap, left, (middle, sender)): &(u32, Id, Pair)| {
                of(all, Place::Handover(*gap, left, knows), middle, sender)
            };
            table
                .mean((&format!("{name}: goodput"), "Mbit/s"), 3, |row| runs(row).goodput())
                .mean(("new data", "s"), 2, |row| runs(row).first_data())
        })
        .titled(
            "A handover to another base station: goodput of 15 s and new data after the gap, with a \
             box there that knows nothing, and with one that was handed everything",
        )
}
