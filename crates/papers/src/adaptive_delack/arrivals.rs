//! Fig. 4 and §4.2: how segments arrive and are acknowledged where an application writes messages, and where all of
//! it is there to be sent.

use super::sample::{Sample, over};
use super::setup::{DELAYED_NS3, Growth};
use super::shape::{FIG4_ACKNOWLEDGED_BYTES, FIG4_ARRIVALS_S, Gaps, Shape};
use super::simulation::{self, Row, interval};
use ackord_report::document::{Cell, Column, Table};

/// Whether the sender waits for the application or the application for the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Writes {
    /// A message every 8.32 ms, as §4.1 says.
    Messages,
    /// Everything at once, so that all segments are full, as in Fig. 4.
    AtOnce,
}

impl Writes {
    pub(super) fn word(self) -> &'static str {
        match self {
            Writes::Messages => "messages",
            Writes::AtOnce => "at-once",
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Writes::Messages => "written as messages",
            Writes::AtOnce => "written at once",
        }
    }
}

/// Both with the paper's timeouts, and what Fig. 4 shows.
pub(super) fn table(sets: [(Writes, &[Row]); 2]) -> Table {
    let columns = vec![
        Column::words("octets"),
        Column::words("receiver"),
        Column::numbers("ACKs per segment", ""),
        Column::numbers("median gap", "ms"),
        Column::numbers("0.6 to 1.1 ms", "%"),
        Column::numbers("last ten", "ms"),
        Column::numbers("at 9.667 s", "kB"),
        Column::numbers("cwnd mean", "kB"),
        Column::numbers("over delayed", ""),
    ];
    let cells = |writes: Writes, rows: &[Row], row: &Row| {
        let of = |pick: fn(&Shape) -> f64, decimals| {
            interval(&over(&row.damaged, |sample| pick(sample.shape())), decimals)
        };
        let base = simulation::find(rows, DELAYED_NS3, Growth::PerAck);
        vec![
            Cell::text(writes.label()),
            Cell::text(row.policy.label),
            interval(&over(&row.damaged, Sample::acks_per_segment), 2),
            of(|shape| shape.gaps.median_ms, 3),
            of(|shape| shape.gaps.of_section_4_percent, 1),
            of(|shape| shape.gaps.last_ten_ms, 2),
            of(|shape| shape.delivered_at_fig4_bytes / 1e3, 0),
            interval(&over(&row.damaged, |sample| sample.cwnd_mean_bytes / 1e3), 2),
            interval(&row.cwnd_gain_over(base), 2),
        ]
    };
    let mut lines = Vec::new();
    for (writes, rows) in sets {
        let papers = simulation::papers(rows);
        lines.extend(papers.map(|row| cells(writes, rows, row)));
    }
    let four = Gaps::of(&FIG4_ARRIVALS_S);
    lines.push(vec![
        Cell::text("Fig. 4"),
        Cell::text("not told"),
        Cell::number(Some(1.0), 2),
        Cell::number(Some(four.median_ms), 3),
        Cell::number(Some(four.of_section_4_percent), 1),
        Cell::Missing,
        Cell::number(Some(FIG4_ACKNOWLEDGED_BYTES / 1e3), 0),
        Cell::Missing,
        Cell::Missing,
    ]);
    let caption = "Arrivals and acknowledgments, with damaged bytes, sender growing per ACK";
    Table { caption: caption.to_owned(), columns, rows: lines }
}
