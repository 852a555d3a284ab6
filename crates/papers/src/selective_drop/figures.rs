//! Plots that are not the paper's: fairness with its intervals, and queueing delay, of every queue.

use super::sample::Sample;
use super::setup::LINKS;
use super::tables::{Queue, Row};
use ackord_measure::stats::Estimate;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};

fn of_queue(rows: &[Row], queue: Queue, pick: impl Fn(&Sample) -> f64 + Copy) -> Vec<Estimate> {
    let rows = rows.iter().filter(|row| row.queue == queue);
    rows.map(|row| row.shared.random(pick)).collect()
}

fn by_link(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    values.into_iter().enumerate().map(|(index, value)| (index as f64, value)).collect()
}

fn links(mut plot: Plot) -> Plot {
    plot.x.scale = Scale::Categories(LINKS.iter().map(|link| link.label.to_owned()).collect());
    plot
}

/// Fairness of every queue on every link, the paper's beside ours.
pub(super) fn fairness_plot(rows: &[Row]) -> Plot {
    let title = "Fairness of Reno and Vegas (random starts, 95 % intervals)";
    let paper = |name, values: Vec<f64>| PlotSeries::new(name, Mark::Bars, by_link(values));
    let here = |name, queue| {
        let estimates = of_queue(rows, queue, Sample::fairness_percent);
        let bars = PlotSeries::new(name, Mark::Bars, by_link(estimates.iter().map(|e| e.mean)));
        bars.with_errors(estimates.iter().map(|e| e.ci95))
    };
    let drop_tail = LINKS.iter().map(|link| link.drop_tail.fairness_percent).collect();
    let selective = LINKS.iter().map(|link| link.selective_drop.fairness_percent).collect();
    let mut plot = Plot::new("fairness", title, "bottleneck", "fairness (%)")
        .with(paper("paper, drop-tail", drop_tail))
        .with(here("drop-tail", Queue::DropTail))
        .with(paper("paper, its Q_thresh", selective))
        .with(here("its Q_thresh", Queue::PaperThreshold))
        .with(here("Eq. 8 and 9", Queue::ByEquation))
        .with(here("practical", Queue::Practical));
    plot.y.range = Range::Fixed(0.0, 100.0);
    links(plot)
}

/// Mean queueing delay of every queue on every link.
pub(super) fn delay_plot(rows: &[Row]) -> Plot {
    let title = "Mean wait in the bottleneck's queue (random starts)";
    let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Cross];
    let mut plot = Plot::new("delay", title, "bottleneck", "wait (ms)");
    for (queue, shape) in Queue::ALL.into_iter().zip(shapes) {
        let estimates = of_queue(rows, queue, |sample| sample.queue_mean_ms);
        let name = match queue {
            Queue::PaperThreshold => "the paper's Q_thresh".to_owned(),
            other => other.label(&LINKS[0]),
        };
        let points = by_link(estimates.iter().map(|estimate| estimate.mean));
        plot = plot.with(PlotSeries::new(&name, Mark::Points(shape), points));
    }
    plot.y.scale = Scale::Log;
    plot.y.range = Range::Data;
    links(plot)
}
