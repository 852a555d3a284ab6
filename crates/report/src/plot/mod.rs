//! Plots, drawn by this crate itself: the same picture as SVG and as PNG, the same bytes for the
//! same input.
//!
//! | file | what |
//! | --- | --- |
//! | `ticks.rs` | axis ranges and round tick values, linear and logarithmic |
//! | `draw.rs` | a [`Plot`] laid out: title, legend above the data, grid, axes |
//! | `marks.rs` | lines, steps, points, bars and error bars, thinned to what can be seen |
//! | `readings.rs` | the values, for the pointer in a page |
//! | `tiles.rs` | heat maps |
//! | `scene.rs` | the laid-out picture as a list of shapes; colours |
//! | `svg.rs`, `png.rs` | the list written out |
//! | `topology/` | a network as a picture |
//! | `font.rs` | widths and outlines of text |
//!
//! Not modelled: second y axes, time of day on an axis, a legend of a heat map's colours (its title may say what they mean).

mod draw;
mod font;
mod marks;
mod png;
mod readings;
mod scene;
mod svg;
#[cfg(test)]
mod tests;
mod ticks;
mod tiles;
mod topology;

pub(crate) use readings::readings;
pub use topology::{Picture, Topology, TopologyFlow, TopologyLink, TopologyNode};

pub use crate::segments::PlotSegments;
use ackord_measure::stats::amount_interval;

/// A plot as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// File name without extension: lower-case letters, digits, `-`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// What is drawn, first to last, later over earlier.
    pub series: Vec<PlotSeries>,
    /// Segments one by one, for a page that can be zoomed into.
    pub segments: Option<PlotSegments>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, with the unit in parentheses: "time (s)".
    pub label: String,
    /// Linear, logarithmic or categories.
    pub scale: Scale,
    /// How much of it.
    pub range: Range,
}

/// How values become places.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; values of zero and below are left out.
    Log,
    /// The integers from 0 on stand for these words.
    Categories(Vec<String>),
}

/// How much of an axis is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// What the data span.
    Data,
    /// From zero to the largest value.
    FromZero,
    /// Just this; what lies outside is cut off.
    Fixed(f64, f64),
}

/// One curve, cloud or row of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotSeries {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its points; for lines and steps in order of x.
    pub points: Vec<PlotPoint>,
    /// Number in the palette; the series' own number when absent.
    pub colour: Option<usize>,
    /// Whether its line is broken.
    pub dashed: bool,
}

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    /// Horizontal value (for categories, the index).
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Ends of its interval.
    pub interval: Option<[f64; 2]>,
    /// What the colour of a tile stands for.
    pub value: Option<f64>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Straight lines from point to point.
    Line,
    /// A value that holds until the next point.
    Steps,
    /// A shape at each point.
    Points(Shape),
    /// Lines and shapes.
    LinePoints(Shape),
    /// Bars from zero, side by side with those of other series.
    Bars,
    /// A heat map: a tile around each point between integers, the darker the larger its value.
    Tiles,
}

/// Shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A small dot, for clouds.
    Dot,
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A cross, for events that stand out.
    Cross,
}

impl Plot {
    /// An empty plot with linear axes, y from zero.
    pub fn new(id: &str, title: &str, x_label: &str, y_label: &str) -> Plot {
        let axis =
            |label: &str, range| Axis { label: label.to_owned(), scale: Scale::Linear, range };
        Plot {
            id: id.to_owned(),
            title: title.to_owned(),
            x: axis(x_label, Range::Data),
            y: axis(y_label, Range::FromZero),
            series: Vec::new(),
            segments: None,
        }
    }

    /// The same plot with one more series.
    #[must_use]
    pub fn with(mut self, series: PlotSeries) -> Plot {
        self.series.push(series);
        self
    }

    /// The picture as SVG: a whole file, also fit to stand inside HTML. Colours carry classes, so
    /// that a page can restyle them.
    pub fn to_svg(&self) -> String {
        svg::write(&draw::lay_out(self))
    }

    /// The picture as PNG at twice its nominal size of 900 x 420.
    pub fn to_png(&self) -> Vec<u8> {
        png::write(&draw::lay_out(self))
    }
}

impl PlotSeries {
    /// A series drawn with this mark, without error bars.
    pub fn new(name: &str, mark: Mark, points: impl IntoIterator<Item = (f64, f64)>) -> PlotSeries {
        let points = points
            .into_iter()
            .map(|(x, y)| PlotPoint { x, y, interval: None, value: None })
            .collect();
        PlotSeries { name: name.to_owned(), mark, points, colour: None, dashed: false }
    }

    /// A heat map of values, each at its place among categories.
    pub fn tiles(values: impl IntoIterator<Item = ((usize, usize), f64)>) -> PlotSeries {
        let tile = |((x, y), value): ((usize, usize), f64)| PlotPoint {
            x: x as f64,
            y: y as f64,
            interval: None,
            value: Some(value),
        };
        let points = values.into_iter().map(tile).collect();
        let mark = Mark::Tiles;
        PlotSeries { name: String::new(), mark, points, colour: None, dashed: false }
    }

    /// The same series in this colour of the palette.
    #[must_use]
    pub fn coloured(mut self, colour: usize) -> PlotSeries {
        self.colour = Some(colour);
        self
    }

    /// The same series with a broken line.
    #[must_use]
    pub fn dashed(mut self) -> PlotSeries {
        self.dashed = true;
        self
    }

    /// The same series with half widths of intervals, one per point; missing ones stay without.
    #[must_use]
    pub fn with_errors(mut self, errors: impl IntoIterator<Item = Option<f64>>) -> PlotSeries {
        for (point, error) in self.points.iter_mut().zip(errors) {
            point.interval = error.map(|half| [point.y - half, point.y + half]);
        }
        self
    }

    /// The same series of a quantity that cannot be negative with half widths by Student's t, one per point.
    #[must_use]
    pub fn with_amount_errors(
        mut self,
        errors: impl IntoIterator<Item = Option<f64>>,
    ) -> PlotSeries {
        for (point, error) in self.points.iter_mut().zip(errors) {
            point.interval = error.map(|half| amount_interval(point.y, half));
        }
        self
    }
}
