//! Fading is detected, not known: how soon a box notices a fade, how often it takes something else for
//! one, and what that costs.

use super::fading::{FADES, Fades, pair_columns};
use super::sample::Sample;
use super::setup::{BIT_ERRORS, Id, Pair, SENDERS, boxed, errors, lasting, pair, sender};
use crate::cells::{Cell, Cells, Runs, over, pairs};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::Table;
use ackord_scenario::Override;
use ackord_units::Span;
use serde::Serialize;

/// The boxes that take a link for faded.
pub(super) const HOLDING: [&str; 4] = ["m-tcp", "paper", "practical", "in-path"];
/// The senders shown.
const SHOWN: [&str; 2] = ["ns2", "linux"];

/// A path without a fade.
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

/// A path, a box and a sender.
pub(super) type Key = (Id, Pair);
pub(super) type Mistaken = Cells<Key, Sample>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    let boxes = || ["none"].into_iter().chain(HOLDING);
    let pairs = move || boxes().flat_map(|middle| SHOWN.map(|sender| (middle, sender)));
    PATHS.iter().flat_map(move |path| pairs().map(|pair| (path.id, pair)))
}

pub(super) fn setup((path, of): Key, lasts: Span) -> Setup {
    let path = PATHS.iter().find(|known| known.id == path).expect("one of the list");
    // Without errors unless the path has them.
    let clean = ["links.air.loss", "links.air.reverse.loss"].map(|p| set(p, "none"));
    let clean = if path.id == "errors" { Vec::new() } else { clean.to_vec() };
    lasting(lasts, BIT_ERRORS, [clean, (path.changes)(), pair(of)].concat())
}

/// How soon a box noticed the fades of a sweep, over its phases; nothing where it never did.
pub(super) fn detection(sweep: &Runs<Sample>) -> Option<Estimate> {
    estimate(&sweep.0.iter().filter_map(Sample::detection_s).collect::<Vec<_>>())
}

/// What a box on this path cost or brought, percent of the goodput without one, seed by seed.
pub(super) fn worth(all: &Mistaken, path: Id, (middle, sender): Pair) -> Estimate {
    let goodputs = |middle| all.of(&(path, (middle, sender))).each(Sample::goodput_mbit_s);
    let percent = |with: f64, none: f64| 100.0 * (with / none - 1.0);
    over(&pairs(&goodputs(middle), &goodputs("none"), percent))
}

/// Holds in 100 s, every one of them a mistake on these paths.
pub(super) fn holds(runs: &Runs<Sample>) -> Estimate {
    runs.mean(|run| {
        let holds = run.proxy.as_ref().map_or(0, |proxy| proxy.counters.holds);
        holds as f64 * 100.0 / run.seconds
    })
}

pub(super) fn data(all: &Mistaken) -> Vec<impl Serialize> {
    let data = |one: &Cell<Key, Sample>| {
        let (path, (middle, sender)) = one.key;
        record! {
            path: path,
            middle_box: middle,
            sender: sender,
            holds_per_100_s: holds(one),
            goodput_mbit_s: one.goodput(),
        }
    };
    all.iter().map(data).collect()
}

/// How soon fades are noticed.
pub(super) fn table(fades: &Fades) -> Table {
    let of = HOLDING.into_iter().flat_map(|middle| SENDERS.iter().map(move |s| (middle, s.id)));
    pair_columns(rows(of))
        .each(FADES, |table, (lasts_s, _)| {
            let sweep = |pair: &Pair| fades.sweep(pair.0, pair.1, lasts_s);
            table
                .number((&format!("{lasts_s} s"), "%"), 0, |pair| {
                    let noticed = detection(sweep(pair)).map_or(0, |found| found.runs);
                    100.0 * f64::from(noticed) / sweep(pair).0.len() as f64
                })
                .number(("after", "ms"), 0, |pair| {
                    detection(sweep(pair)).map(|found| found.mean * 1e3)
                })
                .number(("false", ""), 1, |pair| sweep(pair).mean(Sample::false_holds))
        })
        .titled(
            "Detection: the share of fades that a box noticed while they lasted, how long \
             after their beginning, and holds that proved wrong in the same run of 15 s",
        )
}

/// What is taken for a fade that is none, and what that costs.
pub(super) fn mistaken_table(all: &Mistaken) -> Table {
    let path = |id| PATHS.iter().find(|path| path.id == id).map_or("", |path| path.label);
    rows(&**all)
        .words("path", |one| path(one.key.0))
        .words("middlebox", |one| boxed(one.key.1.0).label)
        .words("sender", |one| sender(one.key.1.1).label)
        .number(("holds", "per 100 s"), 2, |one| holds(one))
        .mean(("goodput", "Mbit/s"), 3, |one| one.goodput())
        .mean(("against none", "%"), 1, |one| worth(all, one.key.0, one.key.1))
        .titled("Paths without a fade: every hold is a mistake")
}
