//! Chae and Choi 2004: a router that drops from whoever has more than its share queued makes TCP Reno
//! and Vegas share a link.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's links and numbers, its scenario files |
//! | `sample.rs` | what is taken from each run |
//! | `measured.rs` | what is run, and everything that was measured |
//! | `tables.rs` | Tables 1 and 2, with selective drop in three forms |
//! | `ns2.rs` | ns-2's runs of the same links beside ours |
//! | `threshold.rs` | every Q_thresh from 1 to 12, and Eq. 9 with every factor |
//! | `endpoints.rs` | what Table 2 hangs on that the paper does not say |
//! | `fig3.rs`, `fig6.rs` | base windows |
//! | `cwnd_figures.rs` | Fig. 2 and 9 |
//! | `wider.rs` | beyond the paper: its future work and RFC 7928, behind every queue |
//! | `claims/` | the claims, with measured reasons |
//!
//! Nothing is tuned to the paper's numbers: the set-up is in the scenario files, each choice with its
//! reason, and what the paper leaves open is shown both ways.

mod claims;
mod cwnd_figures;
mod endpoints;
mod fig3;
mod fig6;
mod measured;
mod ns2;
mod sample;
mod setup;
mod tables;
mod threshold;
mod wider;

use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use ackord_report::Context;
use measured::{Extent, Measured, measure};
use setup::FILES;
use tables::Queue;

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

impl Measured {
    fn tables(&self, beside: &[ns2::Beside<'_>]) -> Report {
        let band = &self.band;
        let selective = [Queue::PaperThreshold, Queue::ByEquation, Queue::Practical];
        let report = Report::default()
            .table("table-1", tables::table("Table 1: drop-tail", &self.rows, &[Queue::DropTail]))
            .table("table-2", tables::table("Table 2: selective drop", &self.rows, &selective))
            .table("cost", tables::cost_table(&self.rows))
            .table("ns-2", ns2::table(beside))
            .table("figure-3", fig3::table(&self.windows, band))
            .table("figure-6", fig6::table(&self.fillings, band))
            .table("thresholds", threshold::table(&self.tried))
            .table("factors", self.factors.table())
            .table("details", endpoints::table(&self.rows, &self.changed));
        let asked = self.asked.iter();
        asked.fold(report, |report, asked| report.table(asked.question.id, asked.table()))
    }

    fn report(&self) -> PaperReport {
        let (extent, band) = (&self.extent, &self.band);
        let beside = ns2::beside(&self.ns2, band);
        let fig_2 = self.windows_behind(Queue::DropTail);
        let fig_9 = self.windows_behind(Queue::PaperThreshold);
        let mut report = self
            .tables(&beside)
            .section("Without selective drop: Table 1 and Fig. 2")
            .show(["table-1", "ns-2"])
            .plots(fig_2.iter().map(|windows| windows.plot(2)))
            .section("Base windows: Fig. 3 and 6")
            .show(["figure-3"])
            .plots(fig3::plots(&self.windows, band))
            .show(["figure-6"])
            .plots([fig6::plot(&self.fillings)])
            .section("With selective drop: Table 2 and Fig. 9")
            .show(["table-2", "cost"])
            .plots([tables::fairness_plot(&self.rows), tables::delay_plot(&self.rows)])
            .plots(fig_9.iter().map(|windows| windows.plot(9)))
            .section("What the paper leaves open")
            .show(["thresholds", "factors"])
            .plots([threshold::plot(&self.tried)])
            .show(["details"])
            .section("Beyond the paper: every queue, its future work, RFC 7928")
            .plots([wider::plot(&self.asked)]);
        for asked in &self.asked {
            report = report.show([asked.question.id]);
        }
        report.section("Scenario files").files(&FILES).finish(
            "selective-drop",
            &self.context(),
            claims::claims(self),
            record! {
                effort: extent.effort.id(),
                random_runs_of_tables: extent.tables,
                random_runs_of_others: extent.others,
                tables_1_and_2: tables::data(&self.rows),
                ns2: ns2::data(&beside),
                thresholds: threshold::data(&self.tried),
                factors: self.factors.data(),
                details: endpoints::data(&self.changed),
                figure_2: cwnd_figures::data(&fig_2),
                figure_3: fig3::data(&self.windows),
                figure_6: fig6::data(&self.fillings, band),
                figure_9: cwnd_figures::data(&fig_9),
                random_runs_beyond_the_paper: extent.wider,
                beyond_the_paper: &self.asked,
            },
        )
    }

    fn context(&self) -> Context {
        let Extent { effort, tables, others, wider, duration, wider_duration } = self.extent;
        let effort = effort.of(
            "Quick: the full reproduction makes three to four times as many.",
            "This is the full reproduction.",
        );
        context(
            "Selective drop: fairness between TCP Reno and Vegas",
            "A router that drops from whoever has more than Q_thresh packets queued is said \
             to make Reno and Vegas share a link fairly at full use. Every number of the \
             paper stands beside ours.",
            "Chae and Choi 2004, A New Queueing Algorithm for Improving Fairness between TCP \
             Flows, KIPS Transactions",
            vec![
                format!(
                    "{} runs of {duration}: every set-up once with both flows at once, as in the paper, and \
                     with start times drawn from the first second ({tables} times in Tables 1 and 2, \
                     {others} times elsewhere). {effort}",
                    self.total_runs
                ),
                "Rates are delivered payload with the 40 header bytes of each packet: the paper's rates \
                 add up to the rate of the link, which payload alone cannot."
                    .to_owned(),
                format!(
                    "Beyond the paper: {wider} run(s) of {wider_duration} of each scenario behind each queue, \
                     all queues of the same capacity and otherwise as registered. Fairness there is among \
                     bulk flows; a wait is in the bottleneck's queue; state is what the queue kept to tell \
                     flows apart, at most."
                ),
                "Delay is the wait in the bottleneck's queue. Fairness is the smaller over the larger \
                 rate (paper §2.3.1)."
                    .to_owned(),
            ],
        )
    }
}

#[cfg(test)]
mod tests;
