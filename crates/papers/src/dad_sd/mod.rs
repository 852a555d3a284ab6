//! Park, Kim, Han, Kwon, Lee and Chung 2008: a smoothed duplicate-acknowledgment threshold lets TCP
//! live with packet reordering.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the paper's path and numbers, its scenario file |
//! | `policies.rs` | who is compared, as data |
//! | `sample.rs` | what is taken from each run |
//! | `measured.rs` | what is run, and everything that was measured |
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
mod measured;
mod policies;
mod sample;
mod setup;

use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use ackord_report::Context;
use measured::{Extent, Measured, measure};
use setup::{FILE, INTERVALS};

/// Reproduces the paper.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    Ok(measure(Extent::of(options.effort), options, watch)?.report())
}

impl Measured {
    fn report(&self) -> PaperReport {
        let Measured { extent, points, compared, .. } = self;
        let sweeps = alpha::sweeps(&self.alphas);
        let [fast, slow] = INTERVALS;
        let mut report = Report::default()
            .table("figure-2", curves::goodput_table(points, fast))
            .table("figure-3", curves::goodput_table(points, slow))
            .table("practical-50ms", curves::contest_table(points, fast))
            .table("practical-250ms", curves::contest_table(points, slow))
            .table("cost-50ms", curves::cost_table(points, fast))
            .table("cost-250ms", curves::cost_table(points, slow))
            .table("bounds-50ms", bounds::table(points, fast))
            .table("bounds-250ms", bounds::table(points, slow))
            .table("alpha", alpha::table(&sweeps))
            .table("ns-2-50ms", band::table(compared, fast))
            .table("ns-2-250ms", band::table(compared, slow))
            .long_table("points", curves::points_table(points));
        for (interval, every) in [(fast, "50ms"), (slow, "250ms")] {
            let (figure, millis) = (interval.figure, interval.millis);
            let of = |name: &str| format!("{name}-{every}");
            report = report
                .section(&format!("Fig. {figure}: delay redrawn every {millis} ms"))
                .show([&format!("figure-{figure}")])
                .plots(figures::plots(points, interval))
                .show([&of("practical"), &of("cost"), &of("bounds")]);
        }
        report = report.section("Which alpha").show(["alpha"]).plots(alpha::plots(&sweeps));
        report = report.section("ns-2 beside ours");
        for (interval, table) in [(fast, "ns-2-50ms"), (slow, "ns-2-250ms")] {
            let plot = figures::ns2_plot(points, &self.band, interval);
            report = report.show([table]).plots([plot]);
        }
        report.section("Scenario file").files(&[FILE]).finish(
            "dad-sd",
            &self.context(),
            claims::claims(self),
            record! {
                effort: extent.effort.id(),
                seeds: extent.grid.seeds,
                transfer_s: extent.transfer.as_secs_f64(),
                points: curves::data(points),
                alpha: alpha::data(&sweeps),
                ns2: band::data(compared),
            },
        )
    }

    fn context(&self) -> Context {
        let Extent { effort, grid, alpha, transfer } = self.extent;
        let effort = effort.of(
            "Quick: the full reproduction has eleven taus, 20 seeds and 1000 s.",
            "This is the full reproduction.",
        );
        context(
            "TCP-DAD-SD: a smoothed duplicate-acknowledgment threshold",
            "On a path whose delay changes so that packets overtake one another, a \
             threshold that follows the reordering is said to keep TCP's throughput, and \
             a smoothed one to keep more of it. Every policy of the family, and what \
             succeeded it, on the paper's path.",
            "Park, Kim, Han, Kwon, Lee, Chung 2008, Smooth Dupthresh Mechanism for \
             Advanced TCP-DAD, KIPS",
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
            ],
        )
    }
}

#[cfg(test)]
mod tests;
