//! Fig. 2 and 9: cwnd of both flows over time, without and with selective drop.

use super::sample::{PAYLOAD_BYTES, Run};
use super::setup::Link;
use super::tables::{Queue, Rows, of_queue};
use crate::tables::record;
use ackord_measure::{Point, Trace};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range};
use ackord_units::{Span, Time};
use serde::Serialize;

/// Slow start and its overshoot are over.
const SETTLED_AFTER: Span = Span::from_secs(5);

/// One link's windows in the run with both flows at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows<'a> {
    pub(super) link: Link,
    queue: Queue,
    run: &'a Run,
    end: Time,
}

/// What is read off the curves, in packets, from five seconds on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    pub(super) reno_max: f64,
    pub(super) reno_mean: f64,
    pub(super) vegas_max: f64,
    pub(super) vegas_mean: f64,
}

/// The windows of the rows with this queue, in the order of the links.
pub(super) fn windows(rows: &Rows, queue: Queue, duration: Span) -> Vec<Windows<'_>> {
    let end = Time::ZERO + duration;
    let of = of_queue(rows, queue);
    of.map(|row| Windows { link: row.key.1, queue, run: &row.runs.0[0], end }).collect()
}

pub(super) fn data(windows: &[Windows<'_>]) -> Vec<impl Serialize> {
    let data = |windows: &Windows<'_>| {
        let Settled { reno_max, reno_mean, vegas_max, vegas_mean } = windows.settled();
        record! {
            link: windows.link.label,
            reno_max: reno_max,
            reno_mean: reno_mean,
            vegas_max: vegas_max,
            vegas_mean: vegas_mean,
        }
    };
    windows.iter().map(data).collect()
}

impl Windows<'_> {
    pub(super) fn settled(&self) -> Settled {
        let [reno, vegas] = [&self.run.cwnd[0], &self.run.cwnd[1]];
        Settled {
            reno_max: most(reno),
            reno_mean: mean(reno, self.end),
            vegas_max: most(vegas),
            vegas_mean: mean(vegas, self.end),
        }
    }

    /// `figure` is 2 or 9.
    pub(super) fn plot(&self, figure: u32) -> Plot {
        let link = self.link;
        let queue = self.queue.label_on(link);
        let id = format!("fig-{figure}-{}", link.id);
        let title = format!("Fig. {figure}: congestion windows on {} ({queue})", link.label);
        // Reno's teeth under selective drop are too many to be told apart over the whole run.
        let whole = self.end.as_secs_f64();
        let shown = if figure == 9 { whole.min(20.0) } else { whole };
        let curve = |trace: &Trace| {
            let last = trace.points().last().map(|last| Point { at: self.end, value: last.value });
            let points = trace.points().iter().copied().chain(last);
            points.map(|p| (p.at.as_secs_f64(), p.value / PAYLOAD_BYTES)).collect::<Vec<_>>()
        };
        let mut plot = Plot::new(&id, &title, "time (s)", "cwnd (packets)")
            .with(PlotSeries::new("Reno", Mark::Steps, curve(&self.run.cwnd[0])))
            .with(PlotSeries::new("Vegas", Mark::Steps, curve(&self.run.cwnd[1])));
        plot.x.range = Range::Fixed(0.0, shown);
        plot
    }
}

fn settled_points(trace: &Trace) -> Vec<Point> {
    let from = Time::ZERO + SETTLED_AFTER;
    let held = trace.value_at(from).map(|value| Point { at: from, value });
    let after = trace.points().iter().copied().filter(|point| point.at > from);
    held.into_iter().chain(after).collect()
}

fn most(trace: &Trace) -> f64 {
    let points = settled_points(trace);
    points.iter().map(|point| point.value / PAYLOAD_BYTES).fold(0.0, f64::max)
}

/// Mean over time of a value that holds until it changes. Where a trace was thinned to its outline
/// this is the mean of the outline.
fn mean(trace: &Trace, end: Time) -> f64 {
    let points = settled_points(trace);
    let ends = points.iter().skip(1).map(|point| point.at).chain([end]);
    let area: f64 = points
        .iter()
        .zip(ends)
        .map(|(point, until)| point.value * until.saturating_since(point.at).as_secs_f64())
        .sum();
    let from = points.first().map_or(end, |point| point.at);
    area / PAYLOAD_BYTES / end.saturating_since(from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(points: &[(u64, f64)]) -> Trace {
        let point = |&(second, packets): &(u64, f64)| Point {
            at: Time::ZERO + Span::from_secs(second),
            value: packets * PAYLOAD_BYTES,
        };
        Trace::exact(points.iter().map(point).collect())
    }

    #[test]
    fn what_settles_forgets_the_first_seconds_but_not_the_value_they_leave() {
        let curve = trace(&[(0, 2.0), (1, 90.0), (4, 8.0), (81, 3.0)]);
        assert_eq!(most(&curve), 8.0);
        let end = Time::ZERO + Span::from_secs(100);
        assert!((mean(&curve, end) - (76.0 * 8.0 + 19.0 * 3.0) / 95.0).abs() < 1e-9);
    }
}
