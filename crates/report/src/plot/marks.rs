//! Lines, steps, points, bars and error bars as shapes.
//!
//! Long lines are thinned to the first, lowest, highest and last place in each column of pixels,
//! and clouds to one point per pixel: the picture stays the same and the file small.

use super::scene::{Area, Drawn, Ink, PALETTE};
use super::ticks::Ruler;
use super::tiles;
use super::{Mark, PlotPoint, PlotSeries, Shape};
use std::collections::BTreeSet;

pub(super) const LINE_WIDTH: f64 = 1.5;
/// Columns per unit of width in which lines are thinned; two, for the PNG's finer pixels.
const COLUMNS_PER_UNIT: f64 = 2.0;

/// Where values go.
pub(super) struct Frame {
    pub(super) x: Ruler,
    pub(super) y: Ruler,
    pub(super) area: Area,
}

impl Frame {
    pub(super) fn x_of(&self, value: f64) -> Option<f64> {
        self.x.place(value).map(|place| self.area.x + place * self.area.width)
    }

    pub(super) fn y_of(&self, value: f64) -> Option<f64> {
        self.y.place(value).map(|place| self.area.y + (1.0 - place) * self.area.height)
    }

    fn at(&self, point: &PlotPoint) -> Option<(f64, f64)> {
        Some((self.x_of(point.x)?, self.y_of(point.y)?))
    }
}

/// Every vertical value that has to fit, ends of intervals included.
pub(super) fn extents(series: &[PlotSeries]) -> impl Iterator<Item = f64> + '_ {
    series
        .iter()
        .flat_map(|series| &series.points)
        .flat_map(|point| point.interval.unwrap_or([point.y; 2]))
}

/// The shapes of all series.
pub(super) fn draw(series: &[PlotSeries], frame: &Frame) -> Vec<Drawn> {
    let rows = bar_rows(series);
    let mut shapes = Vec::new();
    for (number, series) in series.iter().enumerate() {
        let ink = Ink::Series(series.colour.unwrap_or(number));
        let line =
            |points| Drawn::Line { points, ink, width: LINE_WIDTH, dashed: is_dashed(series, ink) };
        match series.mark {
            Mark::Line => shapes.extend(lines(series, frame).into_iter().map(line)),
            Mark::Steps => shapes.push(line(thinned(steps(series, frame)))),
            Mark::Points(shape) => shapes.extend(points(series, frame, shape, ink)),
            Mark::LinePoints(shape) => {
                shapes.extend(lines(series, frame).into_iter().map(line));
                shapes.extend(points(series, frame, shape, ink));
            }
            Mark::Bars => shapes.extend(bars(series, frame, rows[number], ink)),
            Mark::Tiles => shapes.extend(tiles::draw(series, frame)),
        }
        if series.mark != Mark::Bars {
            shapes.extend(
                series
                    .points
                    .iter()
                    .filter_map(|point| error_bar(point, frame.x_of(point.x)?, frame, ink))
                    .flatten(),
            );
        }
    }
    shapes
}

/// Whether a series' line is broken: as asked for, or because its colour has been used before.
pub(super) fn is_dashed(series: &PlotSeries, ink: Ink) -> bool {
    let again = matches!(ink, Ink::Series(number) if number >= PALETTE.len());
    series.dashed || again
}

/// Runs of points that can be shown, as lines; what cannot be shown breaks the line.
fn lines(series: &PlotSeries, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
    let mut runs = vec![Vec::new()];
    for point in &series.points {
        match (frame.at(point), runs.last_mut()) {
            (Some(place), Some(run)) => run.push(place),
            _ => runs.push(Vec::new()),
        }
    }
    runs.into_iter().filter(|run| run.len() > 1).map(thinned).collect()
}

/// The corners of a value that holds until the next one.
fn steps(series: &PlotSeries, frame: &Frame) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for (x, y) in series.points.iter().filter_map(|point| frame.at(point)) {
        match corners.as_mut_slice() {
            // The value goes on as it was: its line grows.
            [.., before, last] if last.1 == y && before.1 == y => last.0 = x,
            [.., last] if last.1 != y => {
                let foot = (x, last.1);
                corners.extend([foot, (x, y)]);
            }
            _ => corners.push((x, y)),
        }
    }
    corners
}

/// The first, lowest, highest and last place in each column of pixels, in their order.
fn thinned(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let column = |place: &(f64, f64)| (place.0 * COLUMNS_PER_UNIT).floor() as i64;
    let mut kept = Vec::new();
    for run in places.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let lowest = (0..run.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..run.len()).max_by(by_height).unwrap_or(0);
        let chosen = BTreeSet::from([0, lowest, highest, run.len() - 1]);
        kept.extend(chosen.into_iter().map(|number| run[number]));
    }
    kept
}

fn points(series: &PlotSeries, frame: &Frame, shape: Shape, ink: Ink) -> Vec<Drawn> {
    let pixel = |value: f64| (value * COLUMNS_PER_UNIT).round() as i64;
    let mut taken = BTreeSet::new();
    let places = series.points.iter().filter_map(|point| frame.at(point));
    let visible = places.filter(|(x, y)| taken.insert((pixel(*x), pixel(*y))));
    visible.map(|(x, y)| Drawn::Point { x, y, shape, ink }).collect()
}

/// Which row of bars, of how many that stand side by side.
#[derive(Clone, Copy)]
pub(super) struct BarRow {
    row: usize,
    of: usize,
}

/// The rows of bars of all series.
pub(super) fn bar_rows(series: &[PlotSeries]) -> Vec<BarRow> {
    let bars_of = || series.iter().filter(|series| series.mark == Mark::Bars);
    let mut places: Vec<f64> =
        bars_of().flat_map(|series| series.points.iter().map(|point| point.x)).collect();
    places.sort_by(f64::total_cmp);
    // Series that share no place only differ in colour: each bar has the whole width.
    let share_places = places.windows(2).any(|two| two[0] == two[1]);
    let of = if share_places { bars_of().count() } else { 1 };
    let mut row = 0;
    let next = |series: &PlotSeries| {
        let this = BarRow { row, of };
        if series.mark == Mark::Bars {
            row = (row + 1) % of.max(1);
        }
        this
    };
    series.iter().map(next).collect()
}

/// Width of the bars in a row.
fn bar_width(frame: &Frame, row: BarRow) -> f64 {
    unit(frame) * GROUP / row.of.max(1) as f64
}

/// The middle of a bar of the group around `x`.
pub(super) fn bar_middle(frame: &Frame, x: f64, row: BarRow) -> f64 {
    x - unit(frame) * GROUP / 2.0 + bar_width(frame, row) * (row.row as f64 + 0.5)
}

/// Pixels from one group of bars to the next.
fn unit(frame: &Frame) -> f64 {
    frame.x_of(1.0).zip(frame.x_of(0.0)).map_or(0.0, |(one, zero)| one - zero)
}

/// The part of a group's place that bars take.
const GROUP: f64 = 0.72;

fn bars(series: &PlotSeries, frame: &Frame, row: BarRow, ink: Ink) -> Vec<Drawn> {
    let width = bar_width(frame, row);
    let Some(floor) = frame.y_of(frame.y.floor()) else { return Vec::new() };
    let mut shapes = Vec::new();
    for point in &series.points {
        let Some((middle, y)) = frame.at(point) else { continue };
        let x = bar_middle(frame, middle, row) - width / 2.0;
        let area =
            Area { x: x + 1.0, y: y.min(floor), width: width - 2.0, height: (floor - y).abs() };
        shapes.push(Drawn::Rectangle { area, ink });
        let over = error_bar(point, x + width / 2.0, frame, Ink::Words);
        shapes.extend(over.into_iter().flatten());
    }
    shapes
}

/// A vertical line with caps over the interval.
fn error_bar(point: &PlotPoint, x: f64, frame: &Frame, ink: Ink) -> Option<[Drawn; 3]> {
    const CAP: f64 = 4.0;
    let [low, high] = point.interval.filter(|[low, high]| high > low)?;
    // An interval that reaches zero on a log axis ends at the axis.
    let low = frame.y_of(low).unwrap_or(frame.area.y + frame.area.height);
    let high = frame.y_of(high)?;
    let line = |points| Drawn::Line { points, ink, width: 1.2, dashed: false };
    Some([
        line(vec![(x, low), (x, high)]),
        line(vec![(x - CAP, low), (x + CAP, low)]),
        line(vec![(x - CAP, high), (x + CAP, high)]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_its_ends_and_extremes_in_their_order() {
        let heights = [5.0, 9.0, 4.0, 6.0, 1.0, 7.0];
        let places = heights.iter().enumerate().map(|(i, y)| (10.0 + i as f64 / 100.0, *y));
        let kept: Vec<_> = thinned(places.collect()).iter().map(|place| place.1).collect();
        assert_eq!(kept, [5.0, 9.0, 1.0, 7.0]);
        assert_eq!(thinned(vec![(0.0, 1.0), (9.0, 2.0)]), [(0.0, 1.0), (9.0, 2.0)]);
    }
}
