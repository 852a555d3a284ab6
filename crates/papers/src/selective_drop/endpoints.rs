//! What Table 2 hangs on that the paper does not say: how "more than Q_thresh" is read, and details
//! of the Reno sender.

use super::ns2::{limited_transmit, rounding};
use super::sample::{Outcomes, Shared};
use super::setup::{File, LINKS, PaperLink, Plan, Variation, on_link, set};
use super::tables::interval;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use ackord_study::KeepSeries;
use serde::Serialize;

/// Something that could be otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Detail {
    /// The newcomer does not count when it is compared with Q_thresh.
    ArrivalNotCounted,
    /// Vegas rounds diff as ns-2 does.
    Rounding,
    /// Two segments may leave on the first two duplicates (RFC 3042).
    LimitedTransmit,
    /// One fast retransmit per window (RFC 6582 §3.2 step 2), the rest left to the timer.
    OncePerWindow,
    /// Partial acknowledgments repair the rest of the window (RFC 6582).
    NewReno,
    /// SACK, delayed acknowledgments, a window of ten packets to begin with.
    Present,
}

impl Detail {
    pub(super) const ALL: [Detail; 6] = [
        Detail::ArrivalNotCounted,
        Detail::Rounding,
        Detail::LimitedTransmit,
        Detail::OncePerWindow,
        Detail::NewReno,
        Detail::Present,
    ];

    fn label(self) -> &'static str {
        match self {
            Detail::ArrivalNotCounted => "the arriving packet does not count",
            Detail::Rounding => "Vegas rounds diff, as in ns-2",
            Detail::LimitedTransmit => "limited transmit",
            Detail::OncePerWindow => "one fast retransmit per window",
            Detail::NewReno => "NewReno",
            Detail::Present => "SACK, delayed ACK, initial window 10",
        }
    }

    fn changes(self) -> Vec<Override> {
        match self {
            Detail::ArrivalNotCounted => {
                vec![set("links.bottleneck.queue.arrival", "does-not-count")]
            }
            Detail::Rounding => vec![rounding()],
            Detail::LimitedTransmit => vec![limited_transmit()],
            Detail::OncePerWindow => {
                vec![set("tcp.recovery", r#"{ kind = "reno", once_per_window = "on" }"#)]
            }
            Detail::NewReno => vec![set("tcp.recovery", "newreno")],
            Detail::Present => vec![
                set("tcp.sack", "on"),
                set("tcp.recovery", "sack"),
                set("tcp.ack", "delayed"),
                set("tcp.initial_window", "10"),
                limited_transmit(),
            ],
        }
    }
}

#[derive(Debug)]
pub(super) struct DetailsPlan(Vec<(Detail, usize, Variation)>);

/// One link with one detail changed.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) detail: Detail,
    pub(super) link: &'static PaperLink,
    pub(super) shared: Shared,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ChangedData {
    detail: Detail,
    link: &'static str,
    q_thresh: u32,
    fairness_percent: Estimate,
    reno_timeouts: Estimate,
}

pub(super) fn plan(plan: &mut Plan) -> Result<DetailsPlan, Errors> {
    let mut changed = Vec::new();
    for detail in Detail::ALL {
        for (index, link) in LINKS.iter().enumerate() {
            let mut changes = on_link(link);
            let threshold = link.q_thresh.to_string();
            changes.push(set("links.bottleneck.queue.threshold", threshold));
            changes.extend(detail.changes());
            let variation = plan.variation(File::SelectiveDrop, &changes, KeepSeries::No)?;
            changed.push((detail, index, variation));
        }
    }
    Ok(DetailsPlan(changed))
}

pub(super) fn read(plan: &DetailsPlan, outcomes: &Outcomes) -> Vec<Changed> {
    let changed = |(detail, link, variation): &(Detail, usize, Variation)| Changed {
        detail: *detail,
        link: &LINKS[*link],
        shared: outcomes.shared(variation),
    };
    plan.0.iter().map(changed).collect()
}

/// The fairness of a link with one detail changed.
pub(super) fn fairness(changed: &[Changed], detail: Detail, link: &PaperLink) -> f64 {
    let found = changed.iter().find(|c| c.detail == detail && c.link.id == link.id);
    found.map_or(f64::NAN, |changed| changed.shared.fairness().mean)
}

impl Changed {
    pub(super) fn data(&self) -> ChangedData {
        ChangedData {
            detail: self.detail,
            link: self.link.label,
            q_thresh: self.link.q_thresh,
            fairness_percent: self.shared.fairness(),
            reno_timeouts: self.shared.random(|sample| sample.reno.timeouts as f64),
        }
    }
}

/// Fairness on each link, as filed and with one detail changed. `filed` is in the order of the
/// links.
pub(super) fn table(filed: &[&Shared], changed: &[Changed]) -> Table {
    let mut columns = vec![Column::words("what is different")];
    columns.extend(LINKS.iter().map(|link| Column::numbers(link.rate, "fairness, %")));
    columns.push(Column::numbers("Reno's timeouts", "per run"));
    let line = |label: &str, runs: Vec<&Shared>| {
        let timeouts: f64 = runs.iter().map(|s| s.mean_count(|sample| sample.reno.timeouts)).sum();
        let mut line = vec![Cell::text(label)];
        line.extend(runs.iter().map(|shared| interval(shared.fairness(), 1)));
        line.push(Cell::number(timeouts / runs.len() as f64, 1));
        line
    };
    let mut paper = vec![Cell::text("paper")];
    let shares = LINKS.iter().map(|link| link.selective_drop.fairness_percent);
    paper.extend(shares.map(|percent| Cell::number(percent, 1)));
    paper.push(Cell::Missing);
    let mut rows = vec![paper, line("nothing: as in the scenario file", filed.to_vec())];
    rows.extend(Detail::ALL.map(|detail| {
        let of_detail = changed.iter().filter(|changed| changed.detail == detail);
        line(detail.label(), of_detail.map(|changed| &changed.shared).collect())
    }));
    Table {
        caption: "What Table 2 hangs on: the paper's Q_thresh, random starts".to_owned(),
        columns,
        rows,
    }
}
