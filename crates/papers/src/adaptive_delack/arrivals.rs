//! Fig. 4 and §4.2: how segments arrive and are acknowledged where an application writes messages, and where all of
//! it is there to be sent.

use super::sample::Sample;
use super::shape::{FIG4_ACKNOWLEDGED_BYTES, FIG4_ARRIVALS_S, Gaps};
use super::simulation::{Simulations, Writes};
use crate::tables::rows;
use ackord_report::document::{Cell, Table};

/// Both with the paper's timeouts, and what Fig. 4 shows.
pub(super) fn table(simulations: &Simulations) -> Table {
    let papers = Writes::ALL.into_iter().flat_map(|writes| simulations.papers(writes));
    let mut table = rows(papers)
        .words("bytes", |row| row.key.writes.label())
        .words("receiver", |row| row.key.policy.label)
        .mean(("ACKs per segment", ""), 2, |row| row.damaged.mean(Sample::acks_per_segment))
        .mean(("median gap", "ms"), 3, |row| row.damaged.mean(|run| run.shape().gaps.median_ms))
        .mean(("0.6 to 1.1 ms", "%"), 1, |row| {
            row.damaged.mean(|run| run.shape().gaps.of_section_4_percent)
        })
        .mean(("last ten", "ms"), 2, |row| row.damaged.mean(|run| run.shape().gaps.last_ten_ms))
        .mean(("at 9.667 s", "kB"), 0, |row| {
            row.damaged.mean(|run| run.shape().delivered_at_fig4_bytes / 1e3)
        })
        .mean(("cwnd mean", "kB"), 2, |row| row.damaged.mean(|run| run.cwnd_mean_bytes / 1e3))
        .mean(("over delayed", ""), 2, |row| row.cwnd_gain_over(simulations.delayed(row)))
        .titled("Arrivals and acknowledgments, with damaged bytes, sender growing per ACK");
    let four = Gaps::of(&FIG4_ARRIVALS_S);
    table.rows.push(vec![
        Cell::text("Fig. 4"),
        Cell::text("not told"),
        Cell::number(1.0, 2),
        Cell::number(four.median_ms, 3),
        Cell::number(four.of_section_4_percent, 1),
        Cell::Missing,
        Cell::number(FIG4_ACKNOWLEDGED_BYTES / 1e3, 0),
        Cell::Missing,
        Cell::Missing,
    ]);
    table
}
