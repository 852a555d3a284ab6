//! Park, Kim, Han, Kwon, Lee and Chung 2008: a smoothed duplicate-acknowledgment threshold lets TCP
//! live with packet reordering.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's path and numbers, its scenario file, the plan of runs |
//! | `policies.rs` | who is compared, as data |
//! | `sample.rs` | what is kept of each run |
//! | `curves.rs` | goodput against tau of every policy, as tables |
//! | `figures.rs` | the same as plots |
//! | `alpha.rs` | the study of alpha |
//! | `bounds.rs` | capacity, Mathis, Padhye |
//! | `band.rs` | ns-2's runs of the same path beside ours |
//! | `claims.rs` | the claims, with measured reasons |
//!
//! Nothing is tuned to the paper's numbers: the set-up is in the scenario file, each choice with its
//! reason, and what the paper leaves open (the recovery under DAD, alpha, what Table 1's listing
//! means) is shown both ways.

mod alpha;
mod band;
mod bounds;
mod claims;
mod curves;
mod figures;
mod policies;
mod sample;
mod setup;

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown, Table};
use ackord_units::Span;
use band::{Band, Compared};
use curves::{Curve, Grid};
use sample::Outcomes;
use serde::Serialize;
use setup::{FILE, INTERVALS, Plan, TAUS};

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    grid: Grid,
    /// tau in tenths, and seeds, of the study of alpha.
    alpha: Grid,
    /// Length of every transfer.
    transfer: Span,
}

impl Extent {
    fn of(effort: Effort) -> Extent {
        match effort {
            Effort::Quick => Extent {
                effort,
                grid: Grid { taus: &[0, 4, 10, 20], seeds: 4 },
                alpha: Grid { taus: &[4, 20], seeds: 3 },
                transfer: Span::from_secs(250),
            },
            Effort::Full => Extent {
                effort,
                grid: Grid { taus: &TAUS, seeds: 20 },
                alpha: Grid { taus: &[4, 10, 20], seeds: 10 },
                transfer: Span::from_secs(1_000),
            },
        }
    }
}

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    seeds: u64,
    transfer_s: f64,
    points: Vec<curves::PointData>,
    alpha: Vec<alpha::SweepData>,
    ns2: Vec<band::ComparedData>,
}

/// Everything that was measured, read from the runs.
struct Measured {
    extent: Extent,
    total_runs: usize,
    band: Band,
    curves: Vec<Curve>,
    sweeps: Vec<alpha::Sweep>,
    compared: Vec<Compared>,
}

/// Reproduces the paper.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), options, watch)?.report())
}

fn measure(
    extent: Extent,
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<Measured, PaperError> {
    let mut plan = Plan::new(extent.transfer);
    let curve_plan = curves::plan(&mut plan, extent.grid)?;
    let alpha_plan = alpha::plan(&mut plan, extent.alpha.taus, extent.alpha.seeds)?;
    let outcomes = Outcomes::of(&plan, options.journal, watch)?;
    let band = Band::embedded();
    let curves = curves::read(&curve_plan, &outcomes);
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        compared: band::compare(&band, &curves),
        sweeps: alpha::read(&alpha_plan, &outcomes),
        band,
        curves,
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        let findings = claims::Findings {
            curves: &self.curves,
            compared: &self.compared,
            sweeps: &self.sweeps,
        };
        let claims = claims::claims(&findings);
        let tables = self.tables();
        Parts {
            paper: "dad-sd",
            claims,
            sections: self.sections(&tables),
            context: self.context(),
            data: self.data(),
            long_tables: vec![("points", curves::points_table(&self.curves))],
            tables,
        }
        .report()
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        let [fast, slow] = INTERVALS;
        vec![
            ("figure-2", curves::goodput_table(&self.curves, fast)),
            ("figure-3", curves::goodput_table(&self.curves, slow)),
            ("practical-50ms", curves::contest_table(&self.curves, fast)),
            ("practical-250ms", curves::contest_table(&self.curves, slow)),
            ("cost-50ms", curves::cost_table(&self.curves, fast)),
            ("cost-250ms", curves::cost_table(&self.curves, slow)),
            ("bounds-50ms", bounds::table(&self.curves, fast)),
            ("bounds-250ms", bounds::table(&self.curves, slow)),
            ("alpha", alpha::table(&self.sweeps)),
            ("ns-2-50ms", band::table(&self.compared, fast)),
            ("ns-2-250ms", band::table(&self.compared, slow)),
        ]
    }

    fn data(&self) -> Data {
        Data {
            effort: match self.extent.effort {
                Effort::Quick => "quick",
                Effort::Full => "full",
            },
            seeds: self.extent.grid.seeds,
            transfer_s: self.extent.transfer.as_secs_f64(),
            points: self.curves.iter().flat_map(Curve::data).collect(),
            alpha: self.sweeps.iter().map(alpha::Sweep::data).collect(),
            ns2: self.compared.iter().map(Compared::data).collect(),
        }
    }

    fn sections(&self, tables: &[(&'static str, Table)]) -> Vec<Section> {
        let table = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            Block::Table(found.map(|(_, table)| table.clone()).unwrap_or_default())
        };
        let mut sections = Vec::new();
        for (interval, every) in INTERVALS.into_iter().zip(["50ms", "250ms"]) {
            let heading =
                format!("Fig. {}: delay redrawn every {} ms", interval.figure, interval.millis);
            let mut section =
                Section::new(&heading).with(table(&format!("figure-{}", interval.figure)));
            let plots = figures::plots(&self.curves, interval);
            section.blocks.extend(plots.into_iter().map(Block::Plot));
            for name in ["practical", "cost", "bounds"] {
                section.blocks.push(table(&format!("{name}-{every}")));
            }
            sections.push(section);
        }
        let mut alpha = Section::new("Which alpha").with(table("alpha"));
        alpha.blocks.extend(alpha::plots(&self.sweeps).into_iter().map(Block::Plot));
        let mut ns2 = Section::new("ns-2 beside ours");
        for (interval, every) in INTERVALS.into_iter().zip(["50ms", "250ms"]) {
            ns2.blocks.push(table(&format!("ns-2-{every}")));
            ns2.blocks.push(Block::Plot(figures::ns2_plot(&self.curves, &self.band, interval)));
        }
        let mut file = Section::new("Scenario file");
        let (path, text) = (FILE.0.to_owned(), FILE.1.to_owned());
        file.blocks.push(Block::Code { caption: path, text, shown: Shown::Folded });
        sections.extend([alpha, ns2, file]);
        sections
    }

    fn context(&self) -> Context {
        Context {
            title: "TCP-DAD-SD: a smoothed duplicate-acknowledgment threshold".to_owned(),
            purpose: "On a path whose delay changes so that packets overtake one another, a \
                      threshold that follows the reordering is said to keep TCP's throughput, and \
                      a smoothed one to keep more of it. Every policy of the family, and what \
                      succeeded it, on the paper's path."
                .to_owned(),
            source: "Park, Kim, Han, Kwon, Lee, Chung 2008, Smooth Dupthresh Mechanism for \
                     Advanced TCP-DAD, KIPS"
                .to_owned(),
            notes: self.notes(),
            ..Context::default()
        }
    }

    fn notes(&self) -> Vec<String> {
        let Extent { effort, grid, alpha, transfer } = self.extent;
        let effort = match effort {
            Effort::Quick => "Quick: the full reproduction has eleven taus, 20 seeds and 1000 s.",
            Effort::Full => "This is the full reproduction.",
        };
        vec![
            format!(
                "{} runs: transfers of {transfer}, {} seeds at each of {} taus and both intervals, \
                 {} seeds in the study of alpha. {effort}",
                self.total_runs,
                grid.seeds,
                grid.taus.len(),
                alpha.seeds
            ),
            "Goodput is payload delivered over the length of the transfer, start included. \
             Needless retransmissions are those beyond the data packets that died: the simulator \
             knows, a sender does not."
                .to_owned(),
            format!(
                "Endpoints: `ns2` is what the paper used (one acknowledgment per packet, whole \
                 segments, no options); with SACK and timestamps where a policy needs them; \
                 `linux` is a stock kernel's. ns-2's own figures were measured with ns2 {}.",
                self.band.version.trim_start_matches("ns2 ")
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
