//! Lee, Lee and Kim 2015: a delayed-ACK timeout that follows the gaps between segments.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the scenario files, the policies compared, the plan of runs |
//! | `sample.rs` | what is kept of each run |
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

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_measure::Claim;
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown, Table};
use ackord_units::Span;
use arrivals::Writes;
use claims::Findings;
use ns3::Band;
use sample::Outcomes;
use serde::Serialize;
use setup::{DELAYED, File, Growth, LINUX, Plan};

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
        let phone = Span::from_secs(30);
        let [simulation, fit, phones, gains, ato] = match effort {
            Effort::Quick => [20, 3, 5, 3, 2],
            Effort::Full => [100, 30, 40, 20, 10],
        };
        let work = match effort {
            Effort::Quick => Span::from_secs(10),
            Effort::Full => Span::from_secs(20),
        };
        Extent { effort, simulation, fit, phones, gains, ato, phone, work }
    }
}

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    simulation: Vec<simulation::RowData>,
    written_at_once: Vec<simulation::RowData>,
    tables_1_and_2: Vec<phones::RowData>,
    gains: Vec<gains::GainData>,
    ato: Vec<ato::RowData>,
}

/// Everything that was measured, read from the runs.
struct Measured {
    extent: Extent,
    total_runs: usize,
    band: Band,
    simulation: Vec<simulation::Row>,
    at_once: Vec<simulation::Row>,
    phones: Vec<phones::Row>,
    gains: Vec<gains::Row>,
    ato: Vec<ato::Row>,
}

/// Reproduces the paper.
pub(super) fn reproduce(options: Options, watch: &Watch<'_>) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

/// The share of the runs that the fits are.
const FITS: f64 = 0.3;

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let (fits, runs_of_fits) = fit::fits(&extent, &|share| watch(FITS * share))?;
    let mut plan = Plan::default();
    let [messages, at_once] = simulation::plan(&mut plan, extent.simulation)?;
    let phones = phones::plan(&mut plan, &fits, &extent)?;
    let gains = gains::plan(&mut plan, extent.gains, extent.work)?;
    let ato = ato::plan(&mut plan, extent.ato, extent.phone)?;
    let outcomes = Outcomes::of(&plan, &|share| watch(FITS + (1.0 - FITS) * share))?;
    Ok(Measured {
        extent,
        total_runs: runs_of_fits + plan.jobs.len(),
        band: Band::embedded(),
        simulation: simulation::read(&messages, &outcomes),
        at_once: simulation::read(&at_once, &outcomes),
        phones: phones::read(&phones, &outcomes),
        gains: gains::read(&gains, &outcomes),
        ato: ato::read(&ato, &outcomes),
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        let claims = self.claims();
        let tables = self.tables();
        Parts {
            paper: "adaptive-delack",
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
            simulation: &self.simulation,
            at_once: &self.at_once,
            band: &self.band,
            phones: &self.phones,
            ato: &self.ato,
        })
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        vec![
            ("simulation", simulation::table(&self.simulation, &self.band)),
            ("simulation-growth", simulation::growth_table(&self.simulation)),
            (
                "arrivals",
                arrivals::table([
                    (Writes::Messages, self.simulation.as_slice()),
                    (Writes::AtOnce, self.at_once.as_slice()),
                ]),
            ),
            ("readings", phone_tables::reading_table(&self.phones)),
            ("table-1", phone_tables::table(&self.phones, 1)),
            ("table-2", phone_tables::table(&self.phones, 2)),
            ("phones-cost", phone_tables::cost_table(&self.phones)),
            ("gain-over-delayed", gains::table(&self.gains, DELAYED)),
            ("gain-over-linux", gains::table(&self.gains, LINUX)),
            ("acks", gains::cost_table(&self.gains)),
            ("airtime", gains::air_table(&self.gains)),
            ("ato", ato::table(&self.ato)),
        ]
    }

    fn data(&self) -> Data {
        Data {
            effort: match self.extent.effort {
                Effort::Quick => "quick",
                Effort::Full => "full",
            },
            simulation: self.simulation.iter().map(simulation::Row::data).collect(),
            written_at_once: self.at_once.iter().map(simulation::Row::data).collect(),
            tables_1_and_2: self.phones.iter().map(phones::Row::data).collect(),
            gains: self.gains.iter().flat_map(gains::Row::data).collect(),
            ato: self.ato.iter().map(ato::Row::data).collect(),
        }
    }

    fn sections(&self, tables: &[(&'static str, Table)]) -> Vec<Section> {
        let table = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            Block::Table(found.map(|(_, table)| table.clone()).unwrap_or_default())
        };
        let simulated = Section::new("The simulation: §4, Fig. 4 to 6")
            .with(table("simulation"))
            .with(table("simulation-growth"))
            .with(table("arrivals"))
            .with(Block::Plot(simulation::figure(&self.simulation, 5)))
            .with(Block::Plot(simulation::figure(&self.simulation, 6)));
        let starts = Growth::BOTH.map(|growth| {
            Block::Plot(simulation::start_figure(&self.simulation, &self.band, growth))
        });
        let simulated = starts.into_iter().fold(simulated, Section::with);
        let phones = Section::new("The phones: §5, Tables 1 and 2")
            .with(table("readings"))
            .with(table("table-1"))
            .with(table("table-2"))
            .with(table("phones-cost"));
        let mut gains = Section::new("What remains against a stock Linux receiver");
        for growth in Growth::BOTH {
            gains.blocks.push(Block::Plot(gains::plot(&self.gains, LINUX, growth)));
        }
        for name in ["gain-over-linux", "gain-over-delayed", "acks", "airtime"] {
            gains.blocks.push(table(name));
        }
        let ato = Section::new("The gain a: §3.2")
            .with(table("ato"))
            .with(Block::Plot(ato::plot(&self.ato)));
        let mut files = Section::new("Scenario files");
        files.blocks.extend(File::ALL.map(|file| {
            let (path, text) = file.embedded();
            Block::Code { caption: path.to_owned(), text: text.to_owned(), shown: Shown::Folded }
        }));
        vec![simulated, phones, gains, ato, files]
    }

    fn context(&self) -> Context {
        Context {
            title: "Adaptive delayed ACK: a timeout that follows the gaps between segments"
                .to_owned(),
            purpose: "A delayed-ACK timeout near the gap between segments is said to make cwnd grow \
                      faster and transfers with it. Every number of the paper stands beside ours, and \
                      what is left of the gain against a stock Linux receiver."
                .to_owned(),
            source: "Lee, Lee and Kim 2015, Regulating Delayed ACK Timeout to Construct High Speed \
                     Transmission, KICS"
                .to_owned(),
            notes: self.notes(),
            ..Context::default()
        }
    }

    fn notes(&self) -> Vec<String> {
        let Extent { simulation, fit, phones, gains, ato, .. } = self.extent;
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
        ]
    }
}
