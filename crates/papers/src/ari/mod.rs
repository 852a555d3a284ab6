//! Lee, Kim, Lee and Kim 2016: ARI, which acknowledges the start of a phone's transfers at once and
//! turns Nagle's algorithm off.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's numbers, its scenario files, the plan of runs |
//! | `sample.rs` | what is kept of each run |
//! | `transfers.rs` | Tables 1 to 4: times, rates, tails, costs |
//! | `stalls.rs` | write-write-read |
//! | `bulk.rs` | small writes without Nagle, quick-ACK counts by history |
//! | `open.rs` | what the paper leaves open, one detail at a time |
//! | `figures.rs` | Fig. 3 and 4, tails, policies as plots |
//! | `claims/` | the claims, with measured reasons |
//!
//! The path is IEEE 802.11 as its standard has it and the endpoints are what the paper's text says;
//! nothing is tuned to the tables.

mod bulk;
mod claims;
mod figures;
mod open;
mod sample;
mod setup;
mod stalls;
mod transfers;

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_measure::Claim;
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown, Table};
use claims::Findings;
use sample::Outcomes;
use serde::Serialize;
use setup::{Air, Control, File, Plan, RUNS_OF_PAPER, SIZES};
use stalls::Asks;
use transfers::Quantity;

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    /// Runs of every set-up of the tables.
    transfers: u32,
    /// Runs of every write-write-read, of thirty exchanges each.
    stalls: u32,
    /// Runs of everything else.
    others: u32,
}

impl Extent {
    fn of(effort: Effort) -> Extent {
        match effort {
            Effort::Quick => Extent { effort, transfers: RUNS_OF_PAPER, stalls: 3, others: 6 },
            Effort::Full => {
                Extent { effort, transfers: 10 * RUNS_OF_PAPER, stalls: 30, others: 60 }
            }
        }
    }
}

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    runs_of_tables: u32,
    transfers: Vec<transfers::SetupData>,
    write_write_read: Vec<stalls::StallData>,
    bulk: bulk::BulkData,
    left_open: Vec<open::OpenData>,
}

/// Everything that was measured, read from the runs.
struct Measured {
    extent: Extent,
    total_runs: usize,
    transfers: transfers::Transfers,
    stalls: stalls::Stalls,
    bulk: bulk::Bulk,
    open: open::Open,
}

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let mut plan = Plan::default();
    let transfers = transfers::plan(&mut plan, extent.transfers)?;
    let stalls = stalls::plan(&mut plan, extent.stalls)?;
    let bulk = bulk::plan(&mut plan, extent.others)?;
    let open = open::plan(&mut plan, extent.others)?;
    let outcomes = Outcomes::of(&plan, watch)?;
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        transfers: transfers::read(&transfers, &outcomes),
        stalls: stalls::read(&stalls, &outcomes),
        bulk: bulk::read(&bulk, &outcomes),
        open: open::read(&open, &outcomes),
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        let claims = self.claims();
        let tables = self.tables();
        Parts {
            paper: "ari",
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
            transfers: &self.transfers,
            stalls: &self.stalls,
            bulk: &self.bulk,
            open: &self.open,
        })
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        let table = |caption, what| transfers::table(caption, &self.transfers, what);
        vec![
            ("table-1", table("Table 1: time, CUBIC", (Quantity::Time, Control::Cubic))),
            ("table-2", table("Table 2: time, Reno", (Quantity::Time, Control::Reno))),
            ("table-3", table("Table 3: rate, CUBIC", (Quantity::Rate, Control::Cubic))),
            ("table-4", table("Table 4: rate, Reno", (Quantity::Rate, Control::Reno))),
            ("times-against-rates", transfers::paper_table()),
            ("tails", transfers::tail_table(&self.transfers)),
            (
                "cost",
                transfers::cost_table(
                    "What each way of acknowledging changes, and what it costs",
                    &self.transfers,
                    Air::Quiet,
                ),
            ),
            (
                "distant",
                transfers::cost_table(
                    "The same with a host 20 ms away",
                    &self.transfers,
                    Air::Distant,
                ),
            ),
            ("against-linux", transfers::against_linux_table(&self.transfers)),
            ("write-write-read", self.stalls.table()),
            ("small-writes", self.bulk.nagle_table()),
            ("history", self.bulk.count_table()),
            ("left-open", self.open.table()),
        ]
    }

    fn data(&self) -> Data {
        Data {
            effort: match self.extent.effort {
                Effort::Quick => "quick",
                Effort::Full => "full",
            },
            runs_of_tables: self.extent.transfers,
            transfers: self.transfers.data(),
            write_write_read: self.stalls.data(),
            bulk: self.bulk.data(),
            left_open: self.open.data(),
        }
    }

    fn sections(&self, tables: &[(&'static str, Table)]) -> Vec<Section> {
        let table = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            Block::Table(found.map(|(_, table)| table.clone()).unwrap_or_default())
        };
        let mut times = Section::new("Times and rates: Tables 1 to 4");
        times.blocks.extend(["table-1", "table-2", "table-3", "table-4"].map(table));
        times.blocks.push(table("times-against-rates"));
        let mut cost = Section::new("What acknowledging more often does, and costs");
        for control in Control::ALL {
            let plot = figures::policies(&self.transfers, control, Air::Quiet);
            cost.blocks.push(Block::Plot(plot));
        }
        cost.blocks.push(table("cost"));
        let plot = figures::policies(&self.transfers, Control::Reno, Air::Distant);
        cost.blocks.extend([Block::Plot(plot), table("distant"), table("against-linux")]);
        let mut slow = Section::new("Sudden slow transfers: Fig. 3 and 4").with(table("tails"));
        for control in Control::ALL {
            let plots = (0..SIZES.len())
                .map(|size| figures::fluctuation(&self.transfers, control, size))
                .chain([figures::tail(&self.transfers, control)]);
            slow.blocks.extend(plots.map(Block::Plot));
        }
        let mut stalls = Section::new("Write-write-read").with(table("write-write-read"));
        stalls
            .blocks
            .extend([Asks::Phone, Asks::Host].map(|asks| Block::Plot(self.stalls.plot(asks))));
        let bulk = Section::new("Bulk, and the history")
            .with(table("small-writes"))
            .with(table("history"));
        let open = Section::new("What the paper leaves open").with(table("left-open"));
        let mut files = Section::new("Scenario files");
        files.blocks.extend(File::ALL.map(|file| {
            let (path, text) = file.embedded();
            Block::Code { caption: path.to_owned(), text: text.to_owned(), shown: Shown::Folded }
        }));
        vec![times, cost, slow, stalls, bulk, open, files]
    }

    fn context(&self) -> Context {
        Context {
            title: "ARI: quick acknowledgments and no Nagle for a phone's short transfers"
                .to_owned(),
            purpose: "A phone that acknowledges the first segments of each transfer at once, and \
                      does not hold back small ones, is said to get 0.1 to 1 MB faster and never \
                      suddenly slowly. Every number of the paper stands beside ours."
                .to_owned(),
            source: "Lee, Kim, Lee and Kim 2016, TCP Algorithm Improvement for Smartphone Data \
                     Transmissions, J. KICS"
                .to_owned(),
            notes: self.notes(),
            ..Context::default()
        }
    }

    fn notes(&self) -> Vec<String> {
        let effort = match self.extent.effort {
            Effort::Quick => "Quick: the full reproduction makes ten times as many.",
            Effort::Full => "This is the full reproduction.",
        };
        vec![
            format!(
                "{} runs: {} transfers of every set-up of the tables (the paper made 30), {} runs \
                 of 30 exchanges of every write-write-read, {} of everything else, with the same \
                 seeds everywhere. {effort}",
                self.total_runs, self.extent.transfers, self.extent.stalls, self.extent.others
            ),
            "Tolerances: times and rates, 10 %, times at least half of the tenth of a second that the \
             paper's clock shows; changes by ARI, half of the paper's change. Suddenly slow is a rate \
             below half of the median. That a tenth of the frames are damaged is this project's choice, \
             not the paper's."
                .to_owned(),
            "Every mean time of Tables 1 and 2 is a whole number of thirtieths of 0.1 s: thirty \
             times were read from a clock that shows tenths of a second. The rates come from a \
             finer one, and a mean of rates is not the rate of the mean time: a few slow transfers \
             raise the mean time much and lower the mean rate little."
                .to_owned(),
            "Linux (paper) acknowledges two segments at once, then every second one or after 40 ms: \
             the paper's description and baseline. Linux (measured) is the `linux` policy, held to a \
             stock kernel. ARI (paper) is the paper's phone: eight at once, then the same. ARI \
             (practical) takes the size at hand for the history's most frequent one, bounded at 512 \
             segments."
                .to_owned(),
            "The phone receives: its kernel was modified, and the history is of what applications \
             receive. Where the phone sends, its quick acknowledgments have nothing to \
             acknowledge; that reading is among the claims and in the last table."
                .to_owned(),
            "The air is 802.11 at 54 Mbit/s without aggregates, one frame in ten damaged; the \
             paper names neither rate nor standard. The busy air has two more stations that fill \
             it now and then: an assumption, for the paper describes no other users."
                .to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests;
