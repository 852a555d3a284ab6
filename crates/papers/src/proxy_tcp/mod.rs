//! Kang and Jang: Proxy TCP, acknowledgments from a host beside the base station.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paths and their scenario files, boxes, senders |
//! | `sample.rs` | what is taken from each run |
//! | `measured.rs` | what is run, and everything that was measured |
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
mod measured;
mod paths;
mod readings;
mod sample;
mod setup;
mod stock;
mod windows;

use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use ackord_report::Context;
use measured::{Extent, Measured, measure};
use setup::FILES;

/// Reproduces the paper.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), watch)?.report())
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
            .section("Uploads, distance, handovers")
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
             host beside the base station is said to retransmit what the first takes and to hold \
             the sender still through the second, without standing in the path. The paper's \
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
