//! Lee, Lee and Kim 2015: a delayed-ACK timeout that follows the gaps between segments.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the scenario files, the policies compared, the senders |
//! | `sample.rs` | what is taken from each run |
//! | `measured.rs` | what is run, and everything that was measured |
//! | `shape.rs` | how a run went over time: gaps, seconds, what follows a reduction; the times in Fig. 4 and 7 |
//! | `simulation.rs` | §4: cwnd, ACKs and time for each timeout; Fig. 5 and 6 |
//! | `arrivals.rs` | Fig. 4: arrivals where messages are written, and where all is written at once |
//! | `ns3.rs` | ns-3's runs of the same |
//! | `paper_tables.rs` | Tables 1 and 2 as the paper has them |
//! | `readings.rs` | §5: what the paper leaves open about the phones' path |
//! | `fit.rs` | what is free in each reading, fitted to the original timeout's throughput |
//! | `phones.rs` | Tables 1 and 2 in every reading |
//! | `phone_tables.rs` | the same as tables |
//! | `gains.rs` | every policy on nine workloads, over `delayed` and over `linux` |
//! | `ato.rs` | §3.2: what the gain `a` does |
//! | `claims/` | the claims, with measured reasons |
//!
//! Nothing is tuned to a gain of the paper: the Wi-Fi path is fixed by the standard and by the gaps in the paper's
//! Fig. 7. Where a reading leaves something free it is fitted to what the original timeout got, and to nothing else.

mod arrivals;
mod ato;
mod claims;
mod fit;
mod gains;
mod measured;
mod ns3;
mod paper_tables;
mod phone_tables;
mod phones;
mod readings;
mod sample;
mod setup;
mod shape;
mod simulation;
#[cfg(test)]
mod tests;

use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use ackord_report::Context;
use measured::{Extent, Measured, measure};
use setup::{DELAYED, FILES, Growth, LINUX};
use simulation::Writes;

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

impl Measured {
    fn report(&self) -> PaperReport {
        let Measured { simulations, band, phones, gains, ato, .. } = self;
        Report::default()
            .table("simulation", simulations.table(band))
            .table("simulation-growth", simulations.growth_table())
            .table("arrivals", arrivals::table(simulations))
            .table("readings", phone_tables::reading_table(phones))
            .table("table-1", phone_tables::table(phones, 1))
            .table("table-2", phone_tables::table(phones, 2))
            .table("phones-cost", phone_tables::cost_table(phones))
            .table("gain-over-delayed", gains::table(gains, DELAYED))
            .table("gain-over-linux", gains::table(gains, LINUX))
            .table("acks", gains::cost_table(gains))
            .table("airtime", gains::air_table(gains))
            .table("ato", ato::table(ato))
            .section("The simulation: §4, Fig. 4 to 6")
            .show(["simulation", "simulation-growth", "arrivals"])
            .plots([5, 6].map(|number| simulations.figure(number)))
            .plots(Growth::ALL.map(|growth| simulations.start_figure(band, growth)))
            .section("The phones: §5, Tables 1 and 2")
            .show(["readings", "table-1", "table-2", "phones-cost"])
            .section("What remains against a stock Linux receiver")
            .plots(Growth::ALL.map(|growth| gains::plot(gains, LINUX, growth)))
            .show(["gain-over-linux", "gain-over-delayed", "acks", "airtime"])
            .section("The gain a: §3.2")
            .show(["ato"])
            .plots([ato::plot(ato)])
            .section("Scenario files")
            .files(&FILES)
            .finish(
                "adaptive-delack",
                &self.context(),
                claims::claims(self),
                record! {
                    effort: self.extent.effort.id(),
                    simulation: simulations.data(Writes::Messages),
                    written_at_once: simulations.data(Writes::AtOnce),
                    tables_1_and_2: phones.data(),
                    gains: gains::data(gains),
                    ato: ato::data(ato),
                },
            )
    }

    fn context(&self) -> Context {
        let Extent { simulation, fit, phones, gains, ato, .. } = self.extent;
        context(
            "Adaptive delayed ACK: a timeout that follows the gaps between segments",
            "A delayed-ACK timeout near the gap between segments is said to make cwnd grow \
             faster and transfers with it. Every number of the paper stands beside ours, and \
             what is left of the gain against a stock Linux receiver.",
            "Lee, Lee and Kim 2015, Regulating Delayed ACK Timeout to Construct High Speed \
             Transmission, KICS",
            vec![
            format!(
                "{} runs: {simulation} of each set-up of §4, {phones} in Tables 1 and 2, {fit} in each step of \
                 a fit, {gains} of each workload and {ato} of each a. Gains are ratios of means over runs \
                 with the same seeds.",
                self.total_runs
            ),
            format!(
                "Beside: {}. The tolerance of the phones' throughput and gains is the 95 % interval of the \
                 paper's own runs.",
                self.band.simulator
            ),
            "In §4 the paper's ACK policies count segments of any size, and `delayed` does not delay the \
             first one, as ns-3 has it; the others, and all elsewhere, count two full-sized segments' \
             worth of bytes (RFC 5681 §4.2)."
                .to_owned(),
            "Workloads: bulk on 10 Mbit/s and 22 ms, clean and lossy (0.5 %), and on the phone's \
             Wi-Fi; messages as in §4; short is 100 kB on a new connection; ping-pong is 200 B and \
             200 B back; write-write is 50 B, 50 B and a reply, with Nagle. `delayed` waits 200 ms."
                .to_owned(),
            "Airtime includes link acknowledgments and the waits for those that do not come; backoff \
             is idle time and does not count."
                .to_owned(),
        ],
        )
    }
}
