//! Fig. 3 and 4 (the rate of every transfer) and the tail of the times as plots.

use super::sample::{Runs, Sample};
use super::setup::{Air, Control, Growth, Policy, RUNS_OF_PAPER, SIZES, Setup};
use super::transfers::{ON_BUSY_AIR, Transfers};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};

/// Fig. 3 (CUBIC) or 4 (Reno): the rate of thirty transfers of one size.
pub(super) fn fluctuation(transfers: &Transfers, control: Control, size: usize) -> Plot {
    let figure = match control {
        Control::Cubic => 3,
        Control::Reno => 4,
    };
    let Labels { id, title } = Labels::of(figure, control, size);
    let mut plot = Plot::new(&id, &title, "transfer", "rate (Mbit/s)");
    let growth = Growth::PerAck;
    for (number, policy) in [Policy::QuickAck, Policy::Ari].into_iter().enumerate() {
        for air in Air::NEAR {
            let runs = transfers.of(Setup { size, control, growth, policy, air });
            let rates = runs.0.iter().take(RUNS_OF_PAPER as usize).map(Sample::first_rate_mbit_s);
            let points = rates.enumerate().map(|(index, rate)| (index as f64 + 1.0, rate));
            let name = format!("{}, {} air", policy.label(), air.name());
            let shape = if number == 0 { Shape::Disc } else { Shape::Square };
            let series = PlotSeries::new(&name, Mark::LinePoints(shape), points).coloured(number);
            plot = plot.with(if air == Air::Busy { series.dashed() } else { series });
        }
    }
    plot.y.range = Range::FromZero;
    plot
}

struct Labels {
    id: String,
    title: String,
}

impl Labels {
    fn of(figure: u32, control: Control, size: usize) -> Labels {
        let size = &SIZES[size];
        Labels {
            id: format!("fig-{figure}-{}", size.id),
            title: format!(
                "Fig. {figure}: thirty transfers of {}, {}",
                size.label,
                control.label()
            ),
        }
    }
}

/// What share of the transfers of 1 MB took longer, on a quiet and a busy air.
pub(super) fn tail(transfers: &Transfers, control: Control) -> Plot {
    let id = format!("tail-{}", control.name());
    let title = format!("Transfers of 1 MB that take longer, {}", control.label());
    let mut plot = Plot::new(&id, &title, "time (s)", "share of the transfers (%)");
    let size = SIZES.len() - 1;
    for (number, policy) in ON_BUSY_AIR.into_iter().enumerate() {
        for air in Air::NEAR {
            let setup = Setup { size, control, growth: Growth::PerAck, policy, air };
            let name = format!("{}, {} air", policy.label(), air.name());
            let points = longer(transfers.of(setup));
            let series = PlotSeries::new(&name, Mark::Steps, points).coloured(number);
            plot = plot.with(if air == Air::Busy { series.dashed() } else { series });
        }
    }
    plot.y.range = Range::FromZero;
    plot
}

/// The share of transfers that took longer than each time.
fn longer(runs: &Runs) -> Vec<(f64, f64)> {
    let mut times: Vec<f64> = runs.0.iter().map(Sample::time_s).collect();
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
    let id = format!("policies-{}-{}", air.name(), control.name());
    let place = if air == Air::Distant { "host 20 ms away" } else { "quiet air" };
    let title = format!("Time against that of Linux (paper), {}, {place}", control.label());
    let mut plot = Plot::new(&id, &title, "size", "change of the mean time (%)");
    plot.x.scale = Scale::Categories(SIZES.map(|size| size.label.to_owned()).to_vec());
    let others = [Policy::Ari, Policy::AriHistory, Policy::Linux, Policy::Immediate];
    for policy in others {
        let changes = (0..SIZES.len()).map(|size| {
            let setup = |policy| Setup { size, control, growth: Growth::PerAck, policy, air };
            let base = transfers.of(setup(Policy::QuickAck));
            transfers.of(setup(policy)).change_percent(base, Sample::time_s)
        });
        let changes: Vec<_> = changes.collect();
        let points = changes.iter().enumerate().map(|(index, change)| (index as f64, change.mean));
        let errors = changes.iter().map(|change| change.ci95);
        plot = plot.with(PlotSeries::new(policy.label(), Mark::Bars, points).with_errors(errors));
    }
    plot.y.range = Range::Data;
    plot
}
