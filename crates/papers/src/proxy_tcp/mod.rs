//! Kang and Jang: Proxy TCP, acknowledgments from a host beside the base station.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paths and their scenario files, boxes, senders |
//! | `sample.rs` | what is taken from each run |
//! | `readings.rs` | Table 3, and what its error rates can mean |
//! | `fading.rs` | Fig. 6 to 8: sequence numbers, and recovery over forty phases |
//! | `boxes.rs` | Tables 1 and 2 as measured columns |
//! | `detection.rs` | how soon a fade is noticed, and what is mistaken for one |
//! | `stock.rs` | stock Linux senders through an outage |
//! | `kernel.rs` | the same on a real kernel |
//! | `paths.rs` | uploads, wire between box and base station, handovers |
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

use crate::plan::Plan;
use crate::report::{Report, context};
use crate::tables::record;
use crate::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_units::Span;
use sample::Sample;
use setup::{FILES, Id, pairs};

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Extent {
    effort: Effort,
    /// Runs of Table 3 and its readings, and of Fig. 6.
    readings: u32,
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

/// Everything that was measured.
struct Measured {
    extent: Extent,
    total_runs: usize,
    reads: readings::Reads,
    boxes: boxes::Boxes,
    fades: fading::Fades,
    mistaken: detection::Mistaken,
    stock: stock::Stock,
    kernel: Vec<kernel::Beside>,
    windows: windows::Windows,
    paths: paths::Placed,
}

/// Reproduces the paper.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
}

fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let Extent { readings, boxes, lasts, phases, outages, .. } = extent;
    let seeds = boxes.seeds;
    let mut plan = Plan::default();
    let reads =
        plan.each(readings::keys(), |key| [readings::setup(*key, lasts).seeds(readings)])?;
    let errors =
        plan.each(boxes::error_keys(), |key| [boxes::with_errors(*key, lasts).seeds(seeds)])?;
    let deaths = plan.each(pairs(), |pair| boxes::deaths(*pair, boxes, lasts))?;
    let sweeps = plan.each(fading::keys(), |key| fading::setups(*key, phases))?;
    let curves = plan.each(fading::curve_keys(), |key| [fading::curve(*key, lasts)])?;
    let mistaken =
        plan.each(detection::keys(), |key| [detection::setup(*key, lasts).seeds(seeds)])?;
    let out = plan.each(stock::keys(), |key| stock::setups(*key, outages))?;
    let senders = stock::SENDERS.iter().map(|sender| sender.id);
    let clean = plan.each(senders, |sender: &Id| [stock::clean(sender)])?;
    let short = plan.each(windows::keys(), |key| [windows::short(*key, lasts).seeds(readings)])?;
    let wide = plan.each(windows::fade_keys(), |key| windows::fades(*key, phases))?;
    let paths = plan.each(paths::keys(), |key| paths::setups(*key, seeds, phases, lasts))?;
    let outcomes = plan.run(|_, outcome| Sample::of(outcome), watch)?;
    let stock = stock::Stock { outages: outcomes.of(out), clean: outcomes.of(clean) };
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        reads: outcomes.of(reads),
        boxes: boxes::Boxes { errors: outcomes.of(errors), deaths: outcomes.of(deaths) },
        fades: fading::Fades { sweeps: outcomes.of(sweeps), curves: outcomes.of(curves) },
        mistaken: outcomes.of(mistaken),
        kernel: kernel::compare(&stock),
        stock,
        windows: windows::Windows { short: outcomes.of(short), fades: outcomes.of(wide) },
        paths: outcomes.of(paths),
    })
}

impl Measured {
    fn report(&self) -> PaperReport {
        Report::default()
            .table("table-3", readings::table(&self.reads))
            .table("boxes", boxes::table(&self.boxes, &self.fades))
            .table("fades", self.fades.table())
            .table("windows", windows::table(&self.windows))
            .table("detection", detection::table(&self.fades))
            .table("without-fades", detection::mistaken_table(&self.mistaken))
            .table("stock-linux", self.stock.table())
            .table("kernel", kernel::table(&self.kernel))
            .table("uploads", paths::upload_table(&self.paths))
            .table("distance", paths::apart_table(&self.paths))
            .table("hand-overs", paths::handover_table(&self.paths))
            .long_table("phases", self.fades.phases_table())
            .section("Table 3: bit errors")
            .show(["table-3"])
            .section("Tables 1 and 2, measured")
            .show(["boxes"])
            .section("Fig. 6, 7 and 8: fading")
            .show(["fades", "windows"])
            .plots(self.fades.plots())
            .section("Detection")
            .show(["detection", "without-fades"])
            .section("Stock Linux senders")
            .show(["stock-linux", "kernel"])
            .plots([self.stock.plot()])
            .section("Uploads, distance, hand-overs")
            .show(["uploads", "distance", "hand-overs"])
            .section("Scenario files")
            .files(&FILES)
            .finish(
                "proxy-tcp",
                &self.context(),
                claims::claims(self),
                record! {
                    effort: self.extent.effort.id(),
                    readings: readings::data(&self.reads),
                    boxes: boxes::data(&self.boxes),
                    fades: self.fades.data(),
                    without_fades: detection::data(&self.mistaken),
                    stock_linux: self.stock.data(),
                    kernel: &self.kernel,
                    windows: windows::data(&self.windows),
                    elsewhere: paths::data(&self.paths),
                },
            )
    }

    fn context(&self) -> Context {
        let Extent { effort, readings, boxes, lasts, phases, outages } = self.extent;
        let boxes::Extent { seeds, deaths, .. } = boxes;
        let effort = effort.of(
            "Quick: the full reproduction has 20 seeds, 10 deaths of each box and 40 phases.",
            "This is the full reproduction.",
        );
        context(
            "Proxy TCP: acknowledgments from beside the base station",
            "A wireless link damages packets and fades; TCP takes both for congestion. A \
             host beside the base station is said to repair the first and to hold the \
             sender still through the second, without standing in the path. The paper's \
             box, its rivals, and one for stock Linux senders.",
            "Kang and Jang, Proxy TCP ACK, Sogang University",
            vec![
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
        )
    }
}

#[cfg(test)]
mod tests;
