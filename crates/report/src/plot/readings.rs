//! The values of a plot with their places in its picture, so that a page can show them beside the pointer.

use super::draw;
use super::marks::{self, Frame};
use super::{Axis, Mark, Plot, PlotPoint, Scale};
use crate::document::Cell;
use serde::Serialize;
use std::collections::BTreeSet;

/// What can be read off a plot: as `ui/src/pictures.ts` takes it.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Readings {
    /// What the axes show.
    x: String,
    y: String,
    /// Names of the series.
    series: Vec<String>,
    /// By point: its series, its place in the picture in tenths of a pixel, its values as words.
    points: Vec<(usize, i64, i64, String, String)>,
}

/// Returns the values that are seen in a plot. Of points of one series that lie on each other, the first is there.
pub(crate) fn readings(plot: &Plot) -> Readings {
    let (_, frame) = draw::lay_out_in_frame(plot);
    let mut points = Vec::new();
    let bars = marks::bar_rows(&plot.series);
    for (number, series) in plot.series.iter().enumerate() {
        let mut taken = BTreeSet::new();
        for point in &series.points {
            let Some((x, y)) = place(&frame, series.mark, point, bars[number]) else { continue };
            let inside = x >= frame.area.x - 1.0 && x <= frame.area.x + frame.area.width + 1.0;
            if inside && taken.insert((x.round() as i64, y.round() as i64)) {
                let (across, upright) = words(plot, series.mark, point);
                let tenths = |value: f64| (value * 10.0).round() as i64;
                points.push((number, tenths(x), tenths(y), across, upright));
            }
        }
    }
    let series = plot.series.iter().map(|series| series.name.clone()).collect();
    Readings { x: plot.x.label.clone(), y: plot.y.label.clone(), series, points }
}

/// Where a point is; of a bar the middle of its end.
fn place(frame: &Frame, mark: Mark, point: &PlotPoint, row: marks::BarRow) -> Option<(f64, f64)> {
    let (x, y) = (frame.x_of(point.x)?, frame.y_of(point.y)?);
    match mark {
        Mark::Bars => Some((marks::bar_middle(frame, x, row), y)),
        _ => Some((x, y)),
    }
}

fn words(plot: &Plot, mark: Mark, point: &PlotPoint) -> (String, String) {
    let across = value(&plot.x, point.x);
    match (mark, point.value, point.interval) {
        (Mark::Tiles, Some(shade), _) => {
            (format!("{across}, {}", value(&plot.y, point.y)), Cell::about(shade).show())
        }
        (_, _, Some([low, high])) if high > low => {
            let [low, high] = [low, high].map(|end| Cell::about(end).show());
            (across, format!("{} ({low} to {high})", value(&plot.y, point.y)))
        }
        _ => (across, value(&plot.y, point.y)),
    }
}

/// A value of an axis: its word, or its number.
fn value(axis: &Axis, value: f64) -> String {
    match &axis.scale {
        Scale::Categories(names) => {
            names.get(value.round() as usize).cloned().unwrap_or_else(|| Cell::about(value).show())
        }
        Scale::Linear | Scale::Log => Cell::about(value).show(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlotSeries;
    use super::*;

    #[test]
    fn points_and_bars_are_read_where_they_are_drawn() {
        let mut plot = Plot::new("p", "P", "queue", "goodput (Mbit/s)");
        plot.x.scale = Scale::Categories(vec!["fifo".to_owned(), "fq".to_owned()]);
        let bars = |name: &str, y| {
            PlotSeries::new(name, Mark::Bars, [(0.0, y), (1.0, 2.0 * y)])
                .with_errors([Some(0.5), None])
        };
        let plot = plot.with(bars("reno", 1.0)).with(bars("cubic", 2.0));
        let found = readings(&plot);
        let words: Vec<_> = found
            .points
            .iter()
            .map(|(series, _, _, x, y)| (*series, x.as_str(), y.as_str()))
            .collect();
        let expected = [
            (0, "fifo", "1.000 (0.5000 to 1.500)"),
            (0, "fq", "2.000"),
            (1, "fifo", "2.000 (1.500 to 2.500)"),
            (1, "fq", "4.000"),
        ];
        assert_eq!(words, expected);
        // Bars of one category stand side by side, the higher value higher.
        let (_, reno_x, reno_y, ..) = found.points[0];
        let (_, cubic_x, cubic_y, ..) = found.points[2];
        assert!(reno_x < cubic_x && cubic_y < reno_y, "{found:?}");
    }
}
