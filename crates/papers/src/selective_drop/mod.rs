//! Chae and Choi 2004: a router that drops from whoever has more than its share queued makes TCP Reno
//! and Vegas share a link.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's links and numbers, its scenario files |
//! | `sample.rs` | what is taken from each run |
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
mod ns2;
mod sample;
mod setup;
mod tables;
mod threshold;
mod wider;

use crate::cells::Cells;
use crate::plan::Plan;
use crate::report::{Report, context};
use crate::tables::record;
use crate::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_units::Span;
use cwnd_figures::Windows;
use ns2::Band;
use sample::Run;
use setup::{FILES, Much};
use tables::Queue;

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    /// Runs with random start times of every set-up of the tables.
    tables: u32,
    /// The same of the other experiments.
    others: u32,
    /// Runs of every scenario beyond the paper, behind every queue.
    wider: u32,
    /// Length of every run of the paper's.
    duration: Span,
    /// Length of those beyond it.
    wider_duration: Span,
}

impl Extent {
    fn of(effort: Effort) -> Extent {
        let (tables, others, wider) = effort.of((20, 5, 3), (60, 20, 8));
        // Every scenario beyond the paper has begun to show what it asks by then.
        let wider_duration = Span::from_secs(effort.of(20, 60));
        Extent { effort, tables, others, wider, duration: Span::from_secs(100), wider_duration }
    }
}

/// Everything that was measured.
struct Measured {
    extent: Extent,
    total_runs: usize,
    band: Band,
    rows: tables::Rows,
    ns2: Cells<ns2::Key, Run>,
    tried: threshold::Tried,
    factors: threshold::Factors,
    changed: endpoints::Changed,
    windows: fig3::Windows,
    fillings: Cells<fig6::Key, Run>,
    asked: Vec<wider::Asked>,
}

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let band = Band::embedded();
    let [tables, others] =
        [extent.tables, extent.others].map(|random| Much { random, duration: extent.duration });
    let mut plan = Plan::default();
    let rows = plan.each(tables::keys(), |key| tables::setups(*key, tables))?;
    let ns2 = plan.each(ns2::keys(), |key| ns2::setups(*key, &band, tables))?;
    let tried = plan.each(threshold::keys(), |key| threshold::setups(*key, others))?;
    let judged = plan.each(threshold::factor_keys(), |key| threshold::judged(*key, others))?;
    let chosen_by =
        plan.each(threshold::factor_keys(), |key| [threshold::chosen_by(*key, others)])?;
    let changed = plan.each(endpoints::keys(), |key| endpoints::setups(*key, others))?;
    let windows = plan.each(fig3::WINDOWS, |window| fig3::setups(*window, others))?;
    let fillings = plan.each(fig6::keys(), |key| fig6::setups(*key, others))?;
    let outcomes = plan.run(Run::of, &|share| watch(share / 2.0))?;
    let asked = wider::ask(extent.wider, extent.wider_duration, &|share| watch(0.5 + share / 2.0))?;
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        band,
        rows: outcomes.of(rows),
        ns2: outcomes.of(ns2),
        tried: outcomes.of(tried),
        factors: threshold::Factors {
            judged: outcomes.of(judged),
            chosen_by: outcomes.of(chosen_by),
        },
        changed: outcomes.of(changed),
        windows: outcomes.of(windows),
        fillings: outcomes.of(fillings),
        asked,
    })
}

impl Measured {
    fn windows_behind(&self, queue: Queue) -> Vec<Windows<'_>> {
        cwnd_figures::windows(&self.rows, queue, self.extent.duration)
    }

    fn report(&self) -> PaperReport {
        let (extent, band) = (&self.extent, &self.band);
        let beside = ns2::beside(&self.ns2, band);
        let selective = [Queue::PaperThreshold, Queue::ByEquation, Queue::Practical];
        let fig_2 = self.windows_behind(Queue::DropTail);
        let fig_9 = self.windows_behind(Queue::PaperThreshold);
        let mut report = Report::default()
            .table("table-1", tables::table("Table 1: drop-tail", &self.rows, &[Queue::DropTail]))
            .table("table-2", tables::table("Table 2: selective drop", &self.rows, &selective))
            .table("cost", tables::cost_table(&self.rows))
            .table("ns-2", ns2::table(&beside))
            .table("figure-3", fig3::table(&self.windows, band))
            .table("figure-6", fig6::table(&self.fillings, band))
            .table("thresholds", threshold::table(&self.tried))
            .table("factors", self.factors.table())
            .table("details", endpoints::table(&self.rows, &self.changed));
        for asked in &self.asked {
            report = report.table(asked.question.id, asked.table());
        }
        report = report
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
