//! Kang and Jang: Proxy TCP, acknowledgments from a host beside the base station.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paths and their scenario files, boxes, senders, the plan of runs |
//! | `sample.rs` | what is kept of each run |
//! | `readings.rs` | Table 3, and what its error rates can mean |
//! | `fading.rs` | Fig. 6 to 8: sequence numbers, and recovery over forty phases |
//! | `boxes.rs` | Tables 1 and 2 as measured columns |
//! | `detection.rs` | how soon a fade is noticed, and what is mistaken for one |
//! | `stock.rs` | stock Linux senders through an outage |
//! | `kernel.rs` | the same on a real kernel |
//! | `paths.rs` | uploads, wire between box and base station, hand-overs |
//! | `windows.rs` | the same fades with both windows and both readings of the box |
//! | `claims/` | the claims, with measured reasons |
//!
//! Nothing is tuned to the paper's numbers. It leaves open the packet length, the window, the
//! queues, how long the proxy waits before it takes a fade for one, and what its bit error rate
//! counts: each choice is in a scenario file with its reason, or shown both ways.

mod boxes;
mod claims;
mod detection;
mod fading;
mod kernel;
mod paths;
mod readings;
mod sample;
mod setup;
mod stock;
mod windows;

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown, Table};
use ackord_units::Span;
use sample::Outcomes;
use serde::Serialize;
use setup::{FILES, Plan};

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    /// Runs of Table 3 and its readings, and of Fig. 6.
    readings: u64,
    boxes: boxes::Extent,
    /// Length of the runs with bit errors.
    lasts: Span,
    /// Moments at which a fade begins.
    phases: u32,
    /// Moments at which a stock Linux sender's path goes out.
    outages: u32,
}

impl Extent {
    fn of(effort: Effort) -> Extent {
        match effort {
            Effort::Quick => Extent {
                effort,
                readings: 4,
                boxes: boxes::Extent { seeds: 3, deaths: 2, death_run_s: 40.0 },
                lasts: Span::from_secs(50),
                phases: 8,
                outages: 1,
            },
            Effort::Full => Extent {
                effort,
                readings: 20,
                boxes: boxes::Extent { seeds: 10, deaths: 10, death_run_s: 40.0 },
                lasts: Span::from_secs(100),
                phases: 40,
                outages: 10,
            },
        }
    }
}

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    readings: Vec<readings::ReadData>,
    boxes: Vec<boxes::BoxData>,
    fades: Vec<fading::SweepData>,
    without_fades: Vec<detection::MistakenData>,
    stock_linux: Vec<stock::StockData>,
    kernel: Vec<kernel::Beside>,
    windows: Vec<windows::WindowedData>,
    elsewhere: Vec<paths::PlacedData>,
}

/// Everything that was measured, read from the runs.
struct Measured {
    extent: Extent,
    total_runs: usize,
    reads: Vec<readings::Read>,
    boxes: Vec<boxes::Measured>,
    fades: fading::Fades,
    mistaken: Vec<detection::Mistaken>,
    stock: Vec<stock::Stock>,
    kernel: Vec<kernel::Beside>,
    windows: Vec<windows::Windowed>,
    paths: Vec<paths::Placed>,
}

/// Reproduces the paper.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let mut plan = Plan { lasts: Some(extent.lasts), ..Plan::default() };
    let reads = readings::plan(&mut plan, extent.readings)?;
    let boxes = boxes::plan(&mut plan, extent.boxes)?;
    let fades = fading::plan(&mut plan, extent.phases)?;
    let mistaken = detection::plan(&mut plan, extent.boxes.seeds)?;
    let stock = stock::plan(&mut plan, extent.outages)?;
    let windows = windows::plan(&mut plan, extent.phases, extent.readings)?;
    let paths = paths::plan(&mut plan, extent.boxes.seeds, extent.phases)?;
    let outcomes = Outcomes::of(&plan, watch)?;
    let stock = stock::read(&stock, &outcomes);
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        reads: readings::read(&reads, &outcomes),
        boxes: boxes::read(&boxes, &outcomes),
        fades: fading::read(&fades, &outcomes),
        mistaken: detection::read(&mistaken, &outcomes),
        kernel: kernel::compare(&stock),
        windows: windows::read(&windows, &outcomes),
        paths: paths::read(&paths, &outcomes),
        stock,
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        let claims = claims::claims(&claims::Findings {
            reads: &self.reads,
            boxes: &self.boxes,
            fades: &self.fades,
            mistaken: &self.mistaken,
            stock: &self.stock,
            kernel: &self.kernel,
            windows: &self.windows,
            paths: &self.paths,
        });
        let tables = vec![
            ("table-3", readings::table(&self.reads)),
            ("boxes", boxes::table(&self.boxes, &self.fades)),
            ("fades", self.fades.table()),
            ("windows", windows::table(&self.windows)),
            ("detection", detection::table(&self.fades)),
            ("without-fades", detection::mistaken_table(&self.mistaken)),
            ("stock-linux", stock::table(&self.stock)),
            ("kernel", kernel::table(&self.kernel)),
            ("uploads", paths::upload_table(&self.paths)),
            ("distance", paths::apart_table(&self.paths)),
            ("hand-overs", paths::handover_table(&self.paths)),
        ];
        Parts {
            paper: "proxy-tcp",
            claims,
            sections: self.sections(&tables),
            context: self.context(),
            data: self.data(),
            long_tables: vec![("phases", self.fades.phases_table())],
            tables,
        }
        .report()
    }

    fn data(&self) -> Data {
        Data {
            effort: match self.extent.effort {
                Effort::Quick => "quick",
                Effort::Full => "full",
            },
            readings: self.reads.iter().map(readings::Read::data).collect(),
            boxes: self.boxes.iter().map(|one| one.data(&self.boxes)).collect(),
            fades: self.fades.sweeps.iter().map(fading::Sweep::data).collect(),
            without_fades: self.mistaken.iter().map(detection::Mistaken::data).collect(),
            stock_linux: self.stock.iter().map(stock::Stock::data).collect(),
            kernel: self.kernel.clone(),
            windows: self.windows.iter().map(windows::Windowed::data).collect(),
            elsewhere: self.paths.iter().map(paths::Placed::data).collect(),
        }
    }

    fn sections(&self, tables: &[(&'static str, Table)]) -> Vec<Section> {
        let table = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            Block::Table(found.map(|(_, table)| table.clone()).unwrap_or_default())
        };
        let mut fading =
            Section::new("Fig. 6, 7 and 8: fading").with(table("fades")).with(table("windows"));
        fading.blocks.extend(self.fades.plots().into_iter().map(Block::Plot));
        let mut files = Section::new("Scenario files");
        for (_, path, text) in FILES {
            let (caption, text) = (path.to_owned(), text.to_owned());
            files.blocks.push(Block::Code { caption, text, shown: Shown::Folded });
        }
        vec![
            Section::new("Table 3: bit errors").with(table("table-3")),
            Section::new("Tables 1 and 2, measured").with(table("boxes")),
            fading,
            Section::new("Detection").with(table("detection")).with(table("without-fades")),
            Section::new("Stock Linux senders")
                .with(table("stock-linux"))
                .with(table("kernel"))
                .with(Block::Plot(stock::plot(&self.stock))),
            Section::new("Uploads, distance, hand-overs")
                .with(table("uploads"))
                .with(table("distance"))
                .with(table("hand-overs")),
            files,
        ]
    }

    fn context(&self) -> Context {
        let Extent { effort, readings, boxes, lasts, phases, outages } = self.extent;
        let boxes::Extent { seeds, deaths, .. } = boxes;
        let effort = match effort {
            Effort::Quick => {
                "Quick: the full reproduction has 20 seeds, 10 deaths of each box and 40 phases."
            }
            Effort::Full => "This is the full reproduction.",
        };
        Context {
            title: "Proxy TCP: acknowledgments from beside the base station".to_owned(),
            purpose: "A wireless link damages packets and fades; TCP takes both for congestion. A \
                      host beside the base station is said to repair the first and to hold the \
                      sender still through the second, without standing in the path. The paper's \
                      box, its rivals, and one for stock Linux senders."
                .to_owned(),
            source: "Kang and Jang, Proxy TCP ACK, Sogang University".to_owned(),
            notes: vec![
                format!(
                    "{} runs: {readings} seeds of {lasts} for Table 3, {seeds} for each box and \
                     sender, {deaths} deaths of each box, {phases} phases of each fade, {outages} of the \
                     stock Linux senders' outages. {effort}",
                    self.total_runs
                ),
                "Goodput is payload delivered in order over the length of the run. New data after \
                 a fade is the first delivered in order after its end. Bytes count as acknowledged \
                 early when the sender has their acknowledgment and the mobile's application could \
                 not have them yet."
                    .to_owned(),
            ],
            ..Context::default()
        }
    }
}

#[cfg(test)]
mod tests;
