//! Chae and Choi 2004: a router that drops from whoever has more than its share queued makes TCP Reno
//! and Vegas share a link.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's links and numbers, its scenario files, the plan of runs |
//! | `sample.rs` | what is kept of each run |
//! | `tables.rs` | Tables 1 and 2, with selective drop in three forms |
//! | `ns2.rs` | ns-2's runs of the same links beside ours |
//! | `factor.rs` | Eq. 9 with every factor |
//! | `threshold.rs` | every Q_thresh from 1 to 12 |
//! | `endpoints.rs` | what Table 2 hangs on that the paper does not say |
//! | `fig3.rs`, `fig6.rs` | base windows |
//! | `cwnd_figures.rs` | Fig. 2 and 9 |
//! | `wider.rs` | beyond the paper: its future work and RFC 7928, behind every queue |
//! | `figures.rs` | fairness and delay of every queue as plots |
//! | `claims/` | the claims, with measured reasons |
//!
//! Nothing is tuned to the paper's numbers: the set-up is in the scenario files, each choice with its
//! reason, and what the paper leaves open is shown both ways.

mod claims;
mod cwnd_figures;
mod endpoints;
mod factor;
mod fig3;
mod fig6;
mod figures;
mod ns2;
mod sample;
mod setup;
mod tables;
mod threshold;
mod wider;

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_measure::Claim;
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown, Table};
use ackord_units::Span;
use claims::Findings;
use ns2::Band;
use sample::Outcomes;
use serde::Serialize;
use setup::{File, Plan};
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
        let (tables, others, wider) = match effort {
            Effort::Quick => (20, 5, 3),
            Effort::Full => (60, 20, 8),
        };
        // Every scenario beyond the paper has begun to show what it asks by then.
        let wider_duration = Span::from_secs(if effort == Effort::Quick { 20 } else { 60 });
        Extent { effort, tables, others, wider, duration: Span::from_secs(100), wider_duration }
    }
}

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    random_runs_of_tables: u32,
    random_runs_of_others: u32,
    tables_1_and_2: Vec<tables::RowData>,
    ns2: Vec<ns2::BesideData>,
    thresholds: Vec<threshold::TriedData>,
    factors: Vec<factor::TriedData>,
    details: Vec<endpoints::ChangedData>,
    figure_2: Vec<WindowsData>,
    figure_3: Vec<fig3::WindowData>,
    figure_6: Vec<fig6::FillingData>,
    figure_9: Vec<WindowsData>,
    random_runs_beyond_the_paper: u32,
    beyond_the_paper: Vec<wider::Asked>,
}

#[derive(Serialize)]
struct WindowsData {
    link: &'static str,
    #[serde(flatten)]
    settled: cwnd_figures::Settled,
}

/// Everything that was measured, read from the runs.
struct Measured {
    extent: Extent,
    total_runs: usize,
    band: Band,
    rows: Vec<tables::Row>,
    beside: Vec<ns2::Beside>,
    tried: Vec<threshold::Tried>,
    factors: Vec<factor::Tried>,
    changed: Vec<endpoints::Changed>,
    windows: Vec<fig3::Window>,
    fillings: Vec<fig6::Filling>,
    fig_2: Vec<cwnd_figures::Windows>,
    fig_9: Vec<cwnd_figures::Windows>,
    asked: Vec<wider::Asked>,
}

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let band = Band::embedded();
    let mut plan = Plan::new(extent.tables, extent.duration);
    let tables = tables::plan(&mut plan)?;
    let beside = ns2::plan(&mut plan, &band)?;
    plan.random_runs = extent.others;
    let tried = threshold::plan(&mut plan)?;
    let factors = factor::plan(&mut plan)?;
    let changed = endpoints::plan(&mut plan)?;
    let windows = fig3::plan(&mut plan)?;
    let fillings = fig6::plan(&mut plan)?;
    let outcomes = Outcomes::of(&plan, &|share| watch(share / 2.0))?;
    let asked = wider::ask(extent.wider, extent.wider_duration, &|share| watch(0.5 + share / 2.0))?;
    let rows = tables::read(&tables, &outcomes);
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        asked,
        beside: ns2::read(&beside, &outcomes, &band),
        tried: threshold::read(&tried, &outcomes),
        factors: factor::read(&factors, &outcomes),
        changed: endpoints::read(&changed, &outcomes),
        windows: fig3::read(&windows, &outcomes),
        fillings: fig6::read(&fillings, &outcomes),
        fig_2: cwnd_figures::read(&rows, Queue::DropTail, &outcomes, extent.duration),
        fig_9: cwnd_figures::read(&rows, Queue::PaperThreshold, &outcomes, extent.duration),
        rows,
        band,
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        let claims = self.claims();
        let tables = self.tables();
        Parts {
            paper: "selective-drop",
            claims,
            sections: self.sections(&tables),
            context: self.context(),
            data: self.data(),
            long_tables: Vec::new(),
            tables,
        }
        .report()
    }

    fn claims(&self) -> Vec<Claim> {
        claims::claims(&Findings {
            rows: &self.rows,
            tried: &self.tried,
            factors: &self.factors,
            changed: &self.changed,
            windows: &self.windows,
            fillings: &self.fillings,
            beside: &self.beside,
            fig_2: &self.fig_2,
            fig_9: &self.fig_9,
            band: &self.band,
            asked: &self.asked,
        })
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        let filed = self.rows.iter().filter(|row| row.queue == Queue::PaperThreshold);
        let filed: Vec<_> = filed.map(|row| &row.shared).collect();
        let selective = [Queue::PaperThreshold, Queue::ByEquation, Queue::Practical];
        let mut tables = vec![
            ("table-1", tables::table("Table 1: drop-tail", &self.rows, &[Queue::DropTail])),
            ("table-2", tables::table("Table 2: selective drop", &self.rows, &selective)),
            ("cost", tables::cost_table(&self.rows)),
            ("ns-2", ns2::table(&self.beside)),
            ("figure-3", fig3::table(&self.windows, &self.band)),
            ("figure-6", fig6::table(&self.fillings, &self.band)),
            ("thresholds", threshold::table(&self.tried)),
            ("factors", factor::table(&self.factors)),
            ("details", endpoints::table(&filed, &self.changed)),
        ];
        tables.extend(self.asked.iter().map(|asked| (asked.question.id, asked.table())));
        tables
    }

    fn data(&self) -> Data {
        let windows = |windows: &[cwnd_figures::Windows]| {
            let data = windows.iter().map(|windows| WindowsData {
                link: windows.row.link.label,
                settled: windows.settled(),
            });
            data.collect()
        };
        Data {
            effort: self.effort_word(),
            random_runs_of_tables: self.extent.tables,
            random_runs_of_others: self.extent.others,
            tables_1_and_2: self.rows.iter().map(tables::Row::data).collect(),
            ns2: self.beside.iter().map(ns2::Beside::data).collect(),
            thresholds: self.tried.iter().map(threshold::Tried::data).collect(),
            factors: self.factors.iter().flat_map(factor::Tried::data).collect(),
            details: self.changed.iter().map(endpoints::Changed::data).collect(),
            figure_2: windows(&self.fig_2),
            figure_3: self.windows.iter().map(fig3::Window::data).collect(),
            figure_6: self.fillings.iter().map(|filling| filling.data(&self.band)).collect(),
            figure_9: windows(&self.fig_9),
            random_runs_beyond_the_paper: self.extent.wider,
            beyond_the_paper: self.asked.clone(),
        }
    }

    fn effort_word(&self) -> &'static str {
        match self.extent.effort {
            Effort::Quick => "quick",
            Effort::Full => "full",
        }
    }

    fn sections(&self, tables: &[(&'static str, Table)]) -> Vec<Section> {
        let table = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            Block::Table(found.map(|(_, table)| table.clone()).unwrap_or_default())
        };
        let plots = |windows: &[cwnd_figures::Windows], figure| {
            let blocks = windows.iter().map(|windows| Block::Plot(windows.plot(figure)));
            blocks.collect::<Vec<_>>()
        };
        let mut fig_3 = Section::new("Base windows: Fig. 3 and 6").with(table("figure-3"));
        let curves = fig3::plots(&self.windows, &self.band);
        fig_3.blocks.extend(curves.into_iter().map(Block::Plot));
        fig_3.blocks.extend([table("figure-6"), Block::Plot(fig6::plot(&self.fillings))]);
        let mut without = Section::new("Without selective drop: Table 1 and Fig. 2");
        without.blocks.extend([table("table-1"), table("ns-2")]);
        without.blocks.extend(plots(&self.fig_2, 2));
        let mut with = Section::new("With selective drop: Table 2 and Fig. 9");
        with.blocks.extend([table("table-2"), table("cost")]);
        with.blocks.push(Block::Plot(figures::fairness_plot(&self.rows)));
        with.blocks.push(Block::Plot(figures::delay_plot(&self.rows)));
        with.blocks.extend(plots(&self.fig_9, 9));
        let open = Section::new("What the paper leaves open")
            .with(table("thresholds"))
            .with(table("factors"))
            .with(Block::Plot(threshold::plot(&self.tried)))
            .with(table("details"));
        let mut beyond = Section::new("Beyond the paper: every queue, its future work, RFC 7928");
        beyond.blocks.push(Block::Plot(wider::plot(&self.asked)));
        beyond.blocks.extend(self.asked.iter().map(|asked| table(asked.question.id)));
        let mut files = Section::new("Scenario files");
        files.blocks.extend(File::ALL.map(|file| {
            let (path, text) = file.embedded();
            Block::Code { caption: path.to_owned(), text: text.to_owned(), shown: Shown::Folded }
        }));
        vec![without, fig_3, with, open, beyond, files]
    }

    fn context(&self) -> Context {
        Context {
            title: "Selective drop: fairness between TCP Reno and Vegas".to_owned(),
            purpose:
                "A router that drops from whoever has more than Q_thresh packets queued is said \
                      to make Reno and Vegas share a link fairly at full use. Every number of the \
                      paper stands beside ours."
                    .to_owned(),
            source:
                "Chae and Choi 2004, A New Queueing Algorithm for Improving Fairness between TCP \
                     Flows, KIPS Transactions"
                    .to_owned(),
            notes: self.notes(),
            ..Context::default()
        }
    }

    fn notes(&self) -> Vec<String> {
        let effort = match self.extent.effort {
            Effort::Quick => "Quick: the full reproduction makes three to four times as many.",
            Effort::Full => "This is the full reproduction.",
        };
        vec![
            format!(
                "{} runs of {}: every set-up once with both flows at once, as in the paper, and \
                 with start times drawn from the first second ({} times in Tables 1 and 2, {} times \
                 elsewhere). {effort}",
                self.total_runs, self.extent.duration, self.extent.tables, self.extent.others
            ),
            "Rates are delivered payload with the 40 header bytes of each packet: the paper's rates \
             add up to the rate of the link, which payload alone cannot."
                .to_owned(),
            format!(
                "Beyond the paper: {} run(s) of {} of each scenario behind each queue, all queues of the \
                 same capacity and otherwise as registered. Fairness there is among bulk flows; a wait \
                 is in the bottleneck's queue; state is what the queue kept to tell flows apart, at \
                 most.",
                self.extent.wider, self.extent.wider_duration
            ),
            "Delay is the wait in the bottleneck's queue. Fairness is the smaller over the larger \
             rate (paper §2.3.1)."
                .to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests;
