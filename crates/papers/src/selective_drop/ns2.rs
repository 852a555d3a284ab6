//! What ns-2 says about the same links (`papers/selective-drop/ns2/band.json`), and our runs of the
//! same set-up beside it.
//!
//! Compared is ns-2 with 40 header bytes on the packets of both flows, as on a real network (its
//! "window 1000, headers equal"; by habit it puts none on Vegas's), and with its start times. It was
//! measured with ns-2 2.35, whose Reno has limited transmit, so ours has it here too.

use super::fig6::Access;
use super::sample::{Outcomes, Sample, with_headers};
use super::setup::{File, LINKS, PaperLink, Plan, on_link, set};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
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

    pub(super) fn link(&self, link: &PaperLink) -> &BandLink {
        let compared = self.variants.iter().find(|variant| variant.name == COMPARED);
        let links = compared.map(|variant| variant.links.iter());
        let found = links.and_then(|mut links| links.find(|found| found.name == link.label));
        found.expect("band.json has the paper's links")
    }

    /// Fairness as ns-2 has it by habit, with no header bytes on Vegas's packets.
    pub(super) fn without_vegas_headers(&self, link: &PaperLink) -> Estimate {
        let found = self.links.iter().find(|found| found.name == link.label);
        found.expect("band.json has the paper's links").fairness()
    }

    /// Fairness with both flows held to a base window, both starting at once.
    pub(super) fn window_fairness(&self, packets: u32) -> Option<f64> {
        let row = self.window_sweep.iter().find(|row| row.window == packets);
        row.map(|row| row.fairness)
    }

    /// The smallest window with which one flow fills 2 Mbit/s.
    pub(super) fn smallest_window(&self, access: Access, delay_millis: u32) -> Option<u32> {
        let name = match access.delay {
            "1 ms" => "access 1 ms",
            _ => "access 1.5 ms",
        };
        let rows: Vec<SmallestRow> =
            serde_json::from_value(self.smallest_window.get(name)?.clone()).ok()?;
        rows.iter().find(|row| row.delay_ms == delay_millis).map(|row| row.window)
    }
}

impl BandLink {
    fn of(&self, pick: fn(&BandStart) -> f64) -> Estimate {
        let values: Vec<f64> = self.random_start.each.iter().map(pick).collect();
        estimate(&values).expect("band.json has random starts")
    }

    pub(super) fn fairness(&self) -> Estimate {
        self.of(|run| run.fairness)
    }

    pub(super) fn fairness_at_once(&self) -> f64 {
        self.nominal.fairness
    }
}

#[derive(Debug)]
pub(super) struct Ns2Plan(Vec<LinkPlan>);

/// The runs on one link: both at once, ns-2's start times, and these with ns-2's rounding.
#[derive(Debug)]
struct LinkPlan {
    link: usize,
    at_once: usize,
    each: Vec<usize>,
    rounded: Vec<usize>,
}

/// One link in both simulators.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    pub(super) link: &'static PaperLink,
    at_once: Sample,
    each: Vec<Sample>,
    rounded: Vec<Sample>,
    ns2: BandLink,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct BesideData {
    link: &'static str,
    ns2_at_once_percent: f64,
    at_once_percent: f64,
    ns2_fairness_percent: Estimate,
    fairness_percent: Estimate,
    fairness_with_rounding_percent: Estimate,
    mean_difference_percent: f64,
    inside_band: bool,
}

pub(super) fn plan(plan: &mut Plan, band: &Band) -> Result<Ns2Plan, Errors> {
    let mut links = Vec::new();
    for (index, link) in LINKS.iter().enumerate() {
        let mut changes = on_link(link);
        changes.push(limited_transmit());
        let at_once = plan.single(File::DropTail, &changes)?;
        let (mut each, mut rounded) = (Vec::new(), Vec::new());
        for run in &band.link(link).random_start.each {
            let mut changes = changes.clone();
            for (flow, start_s) in ["reno", "vegas"].iter().zip(run.start_s) {
                let start = format!("{} ms", (start_s * 1e3).round());
                changes.push(set(&format!("flows.{flow}.start"), start));
            }
            each.push(plan.single(File::DropTail, &changes)?);
            changes.push(rounding());
            rounded.push(plan.single(File::DropTail, &changes)?);
        }
        links.push(LinkPlan { link: index, at_once, each, rounded });
    }
    Ok(Ns2Plan(links))
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

pub(super) fn read(plan: &Ns2Plan, outcomes: &Outcomes, band: &Band) -> Vec<Beside> {
    let samples = |runs: &[usize]| runs.iter().map(|run| outcomes.sample(*run)).collect();
    let beside = |planned: &LinkPlan| Beside {
        link: &LINKS[planned.link],
        at_once: outcomes.sample(planned.at_once),
        each: samples(&planned.each),
        rounded: samples(&planned.rounded),
        ns2: band.link(&LINKS[planned.link]).clone(),
    };
    plan.0.iter().map(beside).collect()
}

impl Beside {
    pub(super) fn fairness(&self) -> Estimate {
        fairness(&self.each)
    }

    /// The same with Vegas's diff rounded as ns-2 rounds it.
    pub(super) fn fairness_rounded(&self) -> Estimate {
        fairness(&self.rounded)
    }

    pub(super) fn at_once_percent(&self) -> f64 {
        self.at_once.fairness_percent()
    }

    pub(super) fn ns2(&self) -> &BandLink {
        &self.ns2
    }

    /// How far our mean is from ns-2's, in percent of it.
    pub(super) fn mean_difference_percent(&self) -> f64 {
        let ns2 = self.ns2.fairness().mean;
        100.0 * (self.fairness().mean - ns2) / ns2
    }

    fn inside_band(&self) -> bool {
        let band = self.ns2.fairness();
        (band.min..=band.max).contains(&self.fairness().mean)
    }

    pub(super) fn data(&self) -> BesideData {
        BesideData {
            link: self.link.label,
            ns2_at_once_percent: self.ns2.fairness_at_once(),
            at_once_percent: self.at_once_percent(),
            ns2_fairness_percent: self.ns2.fairness(),
            fairness_percent: self.fairness(),
            fairness_with_rounding_percent: self.fairness_rounded(),
            mean_difference_percent: self.mean_difference_percent(),
            inside_band: self.inside_band(),
        }
    }
}

fn fairness(runs: &[Sample]) -> Estimate {
    let values: Vec<f64> = runs.iter().map(Sample::fairness_percent).collect();
    estimate(&values).expect("as many runs as ns-2 has")
}

pub(super) fn table(rows: &[Beside]) -> Table {
    let columns = vec![
        Column::words("link"),
        Column::words("whose"),
        Column::numbers("Reno", "kbit/s"),
        Column::numbers("Vegas", "kbit/s"),
        Column::numbers("fairness at once", "%"),
        Column::numbers("same random starts", "%"),
        Column::numbers("least", "%"),
        Column::numbers("most", "%"),
    ];
    let line = |link: &str, whose: &str, rates: [f64; 2], at_once: f64, random: Estimate| {
        vec![
            Cell::text(link),
            Cell::text(whose),
            Cell::about(rates[0]),
            Cell::about(rates[1]),
            Cell::number(at_once, 2),
            Cell::Interval { mean: random.mean, half_width: random.ci95, decimals: 2 },
            Cell::number(random.min, 2),
            Cell::number(random.max, 2),
        ]
    };
    let lines = rows.iter().flat_map(|row| {
        let (ns2, here) = (&row.ns2, &row.at_once);
        let ns2_rates = [with_headers(ns2.nominal.reno), with_headers(ns2.nominal.vegas)];
        let rates = [here.reno.kbit_s, here.vegas_kbit_s()];
        let label = row.link.label;
        [
            line(label, "ns-2", ns2_rates, ns2.fairness_at_once(), ns2.fairness()),
            line(label, "here", rates, row.at_once_percent(), row.fairness()),
        ]
    });
    Table {
        caption: "Drop-tail beside ns-2 (rates with both at once)".to_owned(),
        columns,
        rows: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fig6::ACCESSES;
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
        assert_eq!(smallest(ACCESSES[1]), [4, 5, 6, 8].map(Some));
    }
}
