//! Lee, Lee and Kim 2015: a delayed-ACK timeout that follows the gaps between segments.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the scenario files, the policies compared, the senders |
//! | `sample.rs` | what is taken from each run |
//! | `shape.rs` | how a run went over time: gaps, seconds, what follows a reduction; the times in Fig. 4 and 7 |
//! | `simulation.rs` | §4: cwnd, ACKs and time for each timeout; Fig. 5 and 6 |
//! | `arrivals.rs` | Fig. 4: arrivals where messages are written, and where all is written at once |
//! | `ns3.rs` | ns-3's runs of the same |
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
mod ns3;
mod phone_tables;
mod phones;
mod readings;
mod sample;
mod setup;
mod shape;
mod simulation;
#[cfg(test)]
mod tests;

use crate::plan::Plan;
use crate::report::{Report, context};
use crate::tables::record;
use crate::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_units::Span;
use ns3::Band;
use sample::Sample;
use setup::{DELAYED, FILES, Growth, LINUX};
use simulation::{Simulations, Writes};

/// How many runs of each set-up.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    simulation: u32,
    /// Of each step of a fit.
    fit: u32,
    phones: u32,
    gains: u32,
    ato: u32,
    /// Length of the phones' runs; the paper's 30 s.
    phone: Span,
    /// Length of the workloads that have no end.
    work: Span,
}

impl Extent {
    fn of(effort: Effort) -> Extent {
        let [simulation, fit, phones, gains, ato] =
            effort.of([20, 3, 5, 3, 2], [100, 30, 40, 20, 10]);
        let (phone, work) = (Span::from_secs(30), Span::from_secs(effort.of(10, 20)));
        Extent { effort, simulation, fit, phones, gains, ato, phone, work }
    }
}

/// Everything that was measured.
struct Measured {
    extent: Extent,
    total_runs: usize,
    band: Band,
    simulations: Simulations,
    phones: phones::Phones,
    gains: gains::Gains,
    ato: ato::Atos,
}

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

/// The share of the runs that the fits are.
const FITS: f64 = 0.3;

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let (fits, runs_of_fits) = fit::fits(&extent, &|share| watch(FITS * share))?;
    let simulation = extent.simulation;
    let mut plan = Plan::default();
    let damaged = plan.each(simulation::keys(), |key| [simulation::damaged(*key, simulation)])?;
    let clean = plan.each(simulation::keys(), |key| [simulation::clean(*key, simulation)])?;
    let phones = plan.each(phones::keys(), |key| [phones::setup(*key, &fits, &extent)])?;
    let gains =
        plan.each(gains::keys(), |key| [gains::setup(*key, extent.work).seeds(extent.gains)])?;
    let ato = plan.each(ato::keys(), |key| [ato::setup(*key, extent.phone).seeds(extent.ato)])?;
    let outcomes = plan.run(Sample::of, &|share| watch(FITS + (1.0 - FITS) * share))?;
    Ok(Measured {
        extent,
        total_runs: runs_of_fits + plan.jobs.len(),
        band: Band::embedded(),
        simulations: Simulations { damaged: outcomes.of(damaged), clean: outcomes.of(clean) },
        phones: phones::Phones { runs: outcomes.of(phones), fits },
        gains: outcomes.of(gains),
        ato: outcomes.of(ato),
    })
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
             worth of octets (RFC 5681 §4.2)."
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
