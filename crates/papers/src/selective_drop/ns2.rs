//! What ns-2 says about the same links (`papers/selective-drop/ns2/band.json`), and our runs of the
//! same set-up beside it.
//!
//! Compared is ns-2 with 40 header bytes on the packets of both flows, as on a real network (its
//! "window 1000, headers equal"; by habit it puts none on Vegas's), and with its start times. It was
//! measured with ns-2 2.35, whose Reno has limited transmit, so ours has it here too.

use super::sample::{Run, Sample, with_headers};
use super::setup::{DROP_TAIL, LINKS, Link, Much, on_link};
use crate::cells::{Cells, over};
use crate::plan::{Setup, set};
use crate::tables::{choices, record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_scenario::Override;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `band.json`, as far as it is used.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Band {
    links: Vec<BandLink>,
    variants: Vec<Variant>,
    window_sweep: Vec<SweepRow>,
    smallest_window: BTreeMap<String, serde_json::Value>,
    pub(super) version: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Variant {
    name: String,
    links: Vec<BandLink>,
}

/// One link in ns-2. Rates are payload.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BandLink {
    name: String,
    nominal: BandRun,
    random_start: BandRuns,
}

#[derive(Clone, Debug, Deserialize)]
struct BandRun {
    reno: f64,
    vegas: f64,
    fairness: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct BandRuns {
    each: Vec<BandStart>,
}

#[derive(Clone, Debug, Deserialize)]
struct BandStart {
    start_s: [f64; 2],
    fairness: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct SweepRow {
    window: u32,
    fairness: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct SmallestRow {
    delay_ms: u32,
    window: u32,
}

/// Which of `band.json`'s set-ups is compared with.
const COMPARED: &str = "window 1000, headers equal";

impl Band {
    /// # Panics
    /// If the embedded file is not what `band.py` writes, which a test asserts.
    pub(super) fn embedded() -> Band {
        let text = include_str!("../../../../papers/selective-drop/ns2/band.json");
        serde_json::from_str(text).expect("band.json is written by band.py")
    }

    pub(super) fn link(&self, link: Link) -> &BandLink {
        let compared = self.variants.iter().find(|variant| variant.name == COMPARED);
        let links = compared.map(|variant| variant.links.iter());
        let found = links.and_then(|mut links| links.find(|found| found.name == link.label));
        found.expect("band.json has the paper's links")
    }

    /// Fairness as ns-2 has it by habit, with no header bytes on Vegas's packets.
    pub(super) fn without_vegas_headers(&self, link: Link) -> Estimate {
        let found = self.links.iter().find(|found| found.name == link.label);
        found.expect("band.json has the paper's links").fairness()
    }

    /// Fairness with both flows held to a base window, both starting at once.
    pub(super) fn window_fairness(&self, packets: u32) -> Option<f64> {
        let row = self.window_sweep.iter().find(|row| row.window == packets);
        row.map(|row| row.fairness)
    }

    /// The smallest window with which one flow fills 2 Mbit/s.
    pub(super) fn smallest_window(&self, access: &str, delay_millis: u32) -> Option<u32> {
        let rows = self.smallest_window.get(&format!("access {access}"))?;
        let rows: Vec<SmallestRow> = serde_json::from_value(rows.clone()).ok()?;
        rows.iter().find(|row| row.delay_ms == delay_millis).map(|row| row.window)
    }
}

impl BandLink {
    pub(super) fn fairness(&self) -> Estimate {
        over(&self.random_start.each.iter().map(|run| run.fairness).collect::<Vec<_>>())
    }

    pub(super) fn fairness_at_once(&self) -> f64 {
        self.nominal.fairness
    }
}

choices! {
    /// The runs on one link.
    Starts {
        /// Both flows at once.
        AtOnce = "at-once";
        /// With ns-2's start times.
        Ns2 = "ns-2";
        /// The same with Vegas's diff rounded as ns-2 rounds it.
        Rounded = "rounded";
    }
}

pub(super) type Key = (Starts, Link);

/// Every link in both simulators.
#[derive(Clone, Debug)]
pub(super) struct Beside<'a> {
    pub(super) link: Link,
    ours: &'a Cells<Key, Run>,
    pub(super) ns2: &'a BandLink,
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    Starts::ALL.into_iter().flat_map(|starts| LINKS.iter().map(move |link| (starts, link)))
}

pub(super) fn setups((starts, link): Key, band: &Band, much: Much) -> Vec<Setup> {
    let on_link = [on_link(link), vec![limited_transmit()]].concat();
    let single = |changes| much.single(DROP_TAIL, changes);
    if starts == Starts::AtOnce {
        return vec![single(on_link)];
    }
    let each = band.link(link).random_start.each.iter().map(|run| {
        let starts_s = ["reno", "vegas"].into_iter().zip(run.start_s);
        let set_start = |(flow, start_s): (&str, f64)| {
            set(&format!("flows.{flow}.start"), format!("{} ms", (start_s * 1e3).round()))
        };
        let rounding = (starts == Starts::Rounded).then(rounding);
        single(on_link.clone()).with(starts_s.map(set_start)).with(rounding)
    });
    each.collect()
}

/// Vegas's thresholds as ns-2 applies them: it rounds diff to a whole number of packets before it
/// compares, so that its alpha 1, beta 3 and gamma 1 act at 0.5, 3.5 and 1.5. Neither Brakmo and
/// Peterson nor the paper's Eq. 4 round.
pub(super) fn rounding() -> Override {
    set("flows.vegas.tcp.congestion", r#"{ kind = "vegas", alpha = 0.5, beta = 3.5, gamma = 1.5 }"#)
}

/// Limited transmit for the Reno sender.
pub(super) fn limited_transmit() -> Override {
    set("flows.reno.tcp.loss", r#"{ kind = "fixed", limited_transmit = "on" }"#)
}

/// Every link in both.
pub(super) fn beside<'a>(ours: &'a Cells<Key, Run>, band: &'a Band) -> Vec<Beside<'a>> {
    LINKS.iter().map(|link| Beside { link, ours, ns2: band.link(link) }).collect()
}

impl Beside<'_> {
    fn mean_fairness(&self, starts: Starts) -> Estimate {
        self.ours.of(&(starts, self.link)).mean(|run| run.sample.fairness_percent())
    }

    pub(super) fn fairness(&self) -> Estimate {
        self.mean_fairness(Starts::Ns2)
    }

    /// The same with Vegas's diff rounded as ns-2 rounds it.
    pub(super) fn fairness_rounded(&self) -> Estimate {
        self.mean_fairness(Starts::Rounded)
    }

    fn at_once(&self) -> &Sample {
        self.ours.of(&(Starts::AtOnce, self.link)).at_once()
    }

    pub(super) fn at_once_percent(&self) -> f64 {
        self.at_once().fairness_percent()
    }
}

pub(super) fn data(all: &[Beside<'_>]) -> Vec<impl Serialize> {
    let data = |beside: &Beside<'_>| {
        let (ours, ns2) = (beside.fairness(), beside.ns2.fairness());
        record! {
            link: beside.link.label,
            ns2_at_once_percent: beside.ns2.fairness_at_once(),
            at_once_percent: beside.at_once_percent(),
            ns2_fairness_percent: ns2,
            fairness_percent: ours,
            fairness_with_rounding_percent: beside.fairness_rounded(),
            mean_difference_percent: 100.0 * (ours.mean - ns2.mean) / ns2.mean,
            inside_band: (ns2.min..=ns2.max).contains(&ours.mean),
        }
    };
    all.iter().map(data).collect()
}

pub(super) fn table(all: &[Beside<'_>]) -> Table {
    let lines = all.iter().flat_map(|beside| {
        let (ns2, here) = (&beside.ns2.nominal, beside.at_once());
        let label = beside.link.label;
        let theirs = [with_headers(ns2.reno), with_headers(ns2.vegas), ns2.fairness];
        let ours = [here.reno.kbit_s, here.vegas_kbit_s(), here.fairness_percent()];
        [(label, "ns-2", theirs, beside.ns2.fairness()), (label, "here", ours, beside.fairness())]
    });
    rows(lines)
        .words("link", |line| line.0)
        .words("whose", |line| line.1)
        .about(("Reno", "kbit/s"), |line| line.2[0])
        .about(("Vegas", "kbit/s"), |line| line.2[1])
        .number(("fairness at once", "%"), 2, |line| line.2[2])
        .mean(("same random starts", "%"), 2, |line| line.3)
        .number(("least", "%"), 2, |line| line.3.min)
        .number(("most", "%"), 2, |line| line.3.max)
        .titled("Drop-tail beside ns-2 (rates with both at once)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_band_has_every_link_twenty_starts_and_both_figures() {
        let band = Band::embedded();
        for link in &LINKS {
            let found = band.link(link);
            assert_eq!(found.random_start.each.len(), 20);
        }
        assert!((1..=30).all(|window| band.window_fairness(window).is_some()));
        let smallest = |access| [1, 3, 5, 10].map(|delay| band.smallest_window(access, delay));
        assert_eq!(smallest("1.5 ms"), [4, 5, 6, 8].map(Some));
    }
}
