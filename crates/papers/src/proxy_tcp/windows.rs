//! What the paper leaves open about its fades: the sender's window, and when the box acknowledges in the mobile's
//! name (once the link has faded, or also after every duplicate). Each both ways, through Fig. 6, 7 and 8.

use super::fading::{FADES, figure_6, phase};
use super::sample::Sample;
use super::setup::{BIT_ERRORS, FADING, Id, PAYLOAD_BYTES, boxed, lasting};
use crate::cells::{Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_scenario::Override;
use ackord_units::Span;
use serde::Serialize;

/// Packets: ns-2's default, which fills the path without a queue, and one that never binds.
pub(super) const WINDOWS: [u32; 2] = [20, 1_000];
/// None, and the paper's box in both readings.
pub(super) const BOXES: [&str; 3] = ["none", "paper", "duplicates"];

/// A window and a box.
pub(super) type Key = (u32, Id);

#[derive(Clone, Debug)]
pub(super) struct Windows {
    /// Fig. 6, by seed.
    pub(super) short: Cells<Key, Sample>,
    /// By length of the fade in seconds, phase by phase.
    pub(super) fades: Cells<(Key, f64), Sample>,
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    WINDOWS.into_iter().flat_map(|window| BOXES.map(|middle| (window, middle)))
}

pub(super) fn fade_keys() -> impl Iterator<Item = (Key, f64)> {
    keys().flat_map(|key| FADES.map(|(lasts_s, _)| (key, lasts_s)))
}

fn width(window: u32) -> Vec<Override> {
    vec![set("tcp.max_window", window.to_string())]
}

pub(super) fn short((window, middle): Key, lasts: Span) -> Setup {
    lasting(lasts, BIT_ERRORS, width(window)).with(figure_6(middle))
}

pub(super) fn fades(
    ((window, middle), lasts_s): (Key, f64),
    phases: u32,
) -> impl Iterator<Item = Setup> {
    (0..phases).map(move |number| {
        let changes = [width(window), boxed(middle).changes(), phase(number, lasts_s)].concat();
        Setup::new(FADING, changes).seeds(1).with_series()
    })
}

/// The paper's box in one of its readings beside no box, with the same window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    pub(super) all: &'a Windows,
    pub(super) window: u32,
    pub(super) middle: Id,
}

impl<'a> Beside<'a> {
    /// Fig. 6, with the box and without.
    pub(super) fn short(self) -> [&'a Runs<Sample>; 2] {
        [self.middle, "none"].map(|middle| self.all.short.of(&(self.window, middle)))
    }

    /// The phases of a fade of this length, with the box and without.
    pub(super) fn fade(self, lasts_s: f64) -> [&'a Runs<Sample>; 2] {
        [self.middle, "none"].map(|middle| self.all.fades.of(&((self.window, middle), lasts_s)))
    }

    /// By how many packets the box is ahead after Fig. 6's five seconds, seed by seed.
    pub(super) fn packets_ahead(self) -> Estimate {
        let [with, without] = self.short();
        with.less(without, |run| run.delivered_bytes as f64 / PAYLOAD_BYTES)
    }

    /// From the end of a fade of this length until data came again as fast as without a box before it, phase by
    /// phase: with the box, and without.
    pub(super) fn old_rate_s(self, lasts_s: f64) -> [Vec<f64>; 2] {
        let [_, none] = self.fade(lasts_s);
        self.fade(lasts_s).map(|runs| {
            let pairs = runs.0.iter().zip(&none.0);
            pairs.map(|(run, none)| run.rate_reached_s(none.rate_before())).collect()
        })
    }
}

pub(super) fn data(all: &Windows) -> Vec<impl Serialize> {
    let data = |(window, middle): Key| {
        let each = |pick: fn(&Sample) -> f64| {
            FADES.map(|(lasts_s, _)| all.fades.of(&((window, middle), lasts_s)).mean(pick))
        };
        record! {
            window_packets: window,
            middle_box: middle,
            fig_6_mbit_s: all.short.of(&(window, middle)).goodput(),
            fade_s: FADES.map(|(lasts_s, _)| lasts_s),
            goodput_mbit_s: each(Sample::goodput_mbit_s),
            rate_back_s: each(Sample::rate_back_s),
        }
    };
    keys().map(data).collect()
}

pub(super) fn table(all: &Windows) -> Table {
    rows(keys())
        .count(("window", "packets"), |(window, _)| *window)
        .words("middlebox", |(_, middle)| boxed(middle).label)
        .mean(("Fig. 6", "Mbit/s"), 3, |key| all.short.of(key).goodput())
        .each(FADES, |table, (lasts_s, _)| {
            let runs = |key: &Key| all.fades.of(&(*key, lasts_s));
            table.mean((&format!("{lasts_s} s out"), "Mbit/s"), 3, |key| runs(key).goodput()).mean(
                ("rate back", "s"),
                2,
                |key| runs(key).mean(Sample::rate_back_s),
            )
        })
        .titled(
            "What the paper leaves open about its fades: the sender's window, and whether the box \
             also acknowledges after every duplicate (ns-2 Reno; goodput over the run, mean over \
             seeds or phases)",
        )
}
