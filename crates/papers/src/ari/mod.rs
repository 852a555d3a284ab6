//! Lee, Kim, Lee and Kim 2016: ARI, which acknowledges the start of a phone's transfers at once and
//! turns Nagle's algorithm off.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's numbers, its scenario files |
//! | `sample.rs` | what is taken from each run |
//! | `measured.rs` | what is run, and everything that was measured |
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
mod measured;
mod open;
mod sample;
mod setup;
mod stalls;
mod transfers;

use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use ackord_report::Context;
use measured::{Extent, Measured, measure};
use setup::{Air, Control, FILES, SIZES};
use stalls::Asks;
use transfers::Quantity;

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

impl Measured {
    fn report(&self) -> PaperReport {
        let Measured { extent, transfers, stalls, nagle, counts, open, .. } = self;
        let table = |caption, what| transfers::table(caption, transfers, what);
        let cost = |caption, air| transfers::cost_table(caption, transfers, air);
        let policies = |control, air| figures::policies(transfers, control, air);
        let slow = Control::ALL.into_iter().flat_map(|control| {
            let sizes = 0..SIZES.len();
            let each = sizes.map(move |size| figures::fluctuation(transfers, control, size));
            each.chain([figures::tail(transfers, control)])
        });
        Report::default()
            .table("table-1", table("Table 1: time, CUBIC", (Quantity::Time, Control::Cubic)))
            .table("table-2", table("Table 2: time, Reno", (Quantity::Time, Control::Reno)))
            .table("table-3", table("Table 3: rate, CUBIC", (Quantity::Rate, Control::Cubic)))
            .table("table-4", table("Table 4: rate, Reno", (Quantity::Rate, Control::Reno)))
            .table("times-against-rates", transfers::paper_table())
            .table("tails", transfers::tail_table(transfers))
            .table(
                "cost",
                cost("What each ACK policy changes, and what it costs", Air::Quiet),
            )
            .table("distant", cost("The same with a host 20 ms away", Air::Distant))
            .table("against-linux", transfers::against_linux_table(transfers))
            .table("write-write-read", stalls::table(stalls))
            .table("small-writes", bulk::nagle_table(nagle))
            .table("history", bulk::count_table(counts))
            .table("left-open", open::table(open))
            .section("Times and rates: Tables 1 to 4")
            .show(["table-1", "table-2", "table-3", "table-4", "times-against-rates"])
            .section("What acknowledging more often does, and costs")
            .plots(Control::ALL.map(|control| policies(control, Air::Quiet)))
            .show(["cost"])
            .plots([policies(Control::Reno, Air::Distant)])
            .show(["distant", "against-linux"])
            .section("Sudden slow transfers: Fig. 3 and 4")
            .show(["tails"])
            .plots(slow)
            .section("Write-write-read")
            .show(["write-write-read"])
            .plots(Asks::ALL.map(|asks| stalls::plot(stalls, asks)))
            .section("Bulk, and the history")
            .show(["small-writes", "history"])
            .section("What the paper leaves open")
            .show(["left-open"])
            .section("Scenario files")
            .files(&FILES)
            .finish(
                "ari",
                &self.context(),
                claims::claims(self),
                record! {
                    effort: extent.effort.id(),
                    runs_of_tables: extent.transfers,
                    transfers: transfers::data(transfers),
                    write_write_read: stalls::data(stalls),
                    bulk: record! { nagle: bulk::data(nagle), quick_ack_counts: bulk::data(counts) },
                    left_open: open::data(open),
                },
            )
    }

    fn context(&self) -> Context {
        let Extent { effort, transfers, stalls, others } = self.extent;
        let effort = effort.of(
            "Quick: the full reproduction makes ten times as many.",
            "This is the full reproduction.",
        );
        context(
            "ARI: quick acknowledgments and no Nagle for a phone's short transfers",
            "A phone that acknowledges the first segments of each transfer at once, and \
             does not hold back small ones, is said to get 0.1 to 1 MB faster and never \
             suddenly slowly. Every number of the paper stands beside ours.",
            "Lee, Kim, Lee and Kim 2016, TCP Algorithm Improvement for Smartphone Data \
             Transmissions, J. KICS",
        vec![
            format!(
                "{} runs: {} transfers of every set-up of the tables (the paper made 30), {} runs \
                 of 30 exchanges of every write-write-read, {} of everything else, with the same \
                 seeds everywhere. {effort}",
                self.total_runs, transfers, stalls, others
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
        ],
        )
    }
}

#[cfg(test)]
mod tests;
