//! Fig. 3 and 4 (the rate of every transfer) and the tail of the times as plots.

use super::sample::Sample;
use super::setup::{Air, Control, Growth, Policy, RUNS_OF_PAPER, SIZES, Transfer};
use super::transfers::{ON_BUSY_AIR, Transfers};
use crate::cells::Runs;
use crate::tables::bars;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};

/// Curves of policies on a quiet and on a busy air.
fn near(
    mut plot: Plot,
    transfers: &Transfers,
    (size, control): (usize, Control),
    policies: &[Policy],
    curve: impl Fn(&Runs<Sample>) -> Vec<(f64, f64)>,
    mark: impl Fn(usize) -> Mark,
) -> Plot {
    for (number, policy) in policies.iter().enumerate() {
        for air in Air::NEAR {
            let transfer = Transfer { air, ..Transfer::as_described(size, control, *policy) };
            let name = format!("{}, {} air", policy.label(), air.id());
            let points = curve(transfers.of(&transfer));
            let series = PlotSeries::new(&name, mark(number), points).coloured(number);
            plot = plot.with(if air == Air::Busy { series.dashed() } else { series });
        }
    }
    plot.y.range = Range::FromZero;
    plot
}

/// Fig. 3 (CUBIC) or 4 (Reno): the rate of thirty transfers of one size.
pub(super) fn fluctuation(transfers: &Transfers, control: Control, size: usize) -> Plot {
    let figure = figure(control);
    let id = format!("fig-{figure}-{}", SIZES[size].id);
    let title =
        format!("Fig. {figure}: thirty transfers of {}, {}", SIZES[size].label, control.label());
    let plot = Plot::new(&id, &title, "transfer", "rate (Mbit/s)");
    let rates = |runs: &Runs<Sample>| {
        let rates = runs.each(Sample::first_rate_mbit_s).into_iter().take(RUNS_OF_PAPER as usize);
        rates.enumerate().map(|(index, rate)| (index as f64 + 1.0, rate)).collect()
    };
    let mark = |number| Mark::LinePoints(if number == 0 { Shape::Disc } else { Shape::Square });
    near(plot, transfers, (size, control), &[Policy::QuickAck, Policy::Ari], rates, mark)
}

/// The figure of a control.
pub(super) fn figure(control: Control) -> u32 {
    match control {
        Control::Cubic => 3,
        Control::Reno => 4,
    }
}

/// What share of the transfers of 1 MB took longer, on a quiet and a busy air.
pub(super) fn tail(transfers: &Transfers, control: Control) -> Plot {
    let id = format!("tail-{}", control.id());
    let title = format!("Transfers of 1 MB that take longer, {}", control.label());
    let plot = Plot::new(&id, &title, "time (s)", "share of the transfers (%)");
    near(plot, transfers, (SIZES.len() - 1, control), &ON_BUSY_AIR, longer, |_| Mark::Steps)
}

/// The share of transfers that took longer than each time.
fn longer(runs: &Runs<Sample>) -> Vec<(f64, f64)> {
    let mut times = runs.each(Sample::time_s);
    times.sort_by(f64::total_cmp);
    let count = times.len() as f64;
    let steps = times.iter().enumerate().map(|(index, time)| {
        let left = count - (index as f64 + 1.0);
        (*time, 100.0 * left / count)
    });
    std::iter::once((times[0], 100.0)).chain(steps).collect()
}

/// Mean times of every size as multiples of Linux's, by policy: what acknowledging more often does.
pub(super) fn policies(transfers: &Transfers, control: Control, air: Air) -> Plot {
    let id = format!("policies-{}-{}", air.id(), control.id());
    let title = format!("Time against that of Linux (paper), {}, {}", control.label(), air.label());
    let mut plot = Plot::new(&id, &title, "size", "change of the mean time (%)");
    plot.x.scale = Scale::Categories(SIZES.map(|size| size.label.to_owned()).to_vec());
    for policy in [Policy::Ari, Policy::AriHistory, Policy::Linux, Policy::Immediate] {
        let changes = (0..SIZES.len()).map(|size| {
            let with = Transfer { size, control, growth: Growth::PerAck, policy, air };
            let base = transfers.of(&with.with(Policy::QuickAck));
            transfers.of(&with).change_percent(base, Sample::time_s)
        });
        plot = plot.with(bars(policy.label(), changes));
    }
    plot.y.range = Range::Data;
    plot
}
