//! A plot laid out: title, legend above the data (so that it never covers any), grid, axes.

use super::font::Font;
use super::marks::{self, Frame};
use super::scene::{Anchor, Area, Drawn, Ink, Scene, Words};
use super::ticks::Ruler;
use super::{Mark, Plot, PlotSeries, Scale};

const WIDTH: f64 = 900.0;
/// Without the legend's rows after the first.
const HEIGHT: f64 = 420.0;
const TITLE: f64 = 16.0;
const LABEL: f64 = 13.0;
const SMALL: f64 = 12.0;
/// From one line of small words to the next.
const LINE: f64 = 14.0;
/// Space between things.
const GAP: f64 = 8.0;
/// Space at the right, where the last tick's number sticks out.
const RIGHT: f64 = 24.0;
/// A legend lists no more series than this; a reader could not tell more apart.
const LEGEND_ENTRIES: usize = 24;
/// Length of a line in the legend.
const SWATCH: f64 = 24.0;
/// Room for a point or a bar in the legend.
const SMALL_SWATCH: f64 = 12.0;
const LEGEND_ROW: f64 = 19.0;

/// The picture of a plot.
pub(super) fn lay_out(plot: &Plot) -> Scene {
    lay_out_in_frame(plot).0
}

/// The picture of a plot, and where values go in it.
pub(super) fn lay_out_in_frame(plot: &Plot) -> (Scene, Frame) {
    let font = Font::new();
    let legend = Legend::new(plot, &font);
    let xs = plot.series.iter().flat_map(|series| series.points.iter().map(|point| point.x));
    let x = Ruler::new(&plot.x, xs, 9);
    let y = Ruler::new(&plot.y, marks::extents(&plot.series), 6);
    let widest = y.ticks.iter().map(|tick| font.width(&tick.label, SMALL)).fold(0.0, f64::max);
    let left = GAP + LABEL + GAP + widest + GAP;
    let top = GAP + TITLE + GAP + legend.height() + GAP;
    let names = category_lines(plot, &font, WIDTH - left - RIGHT);
    let more_lines = names.iter().map(|lines| lines.len().saturating_sub(1)).max().unwrap_or(0);
    let below_names = more_lines as f64 * LINE;
    let bottom = GAP + SMALL + below_names + GAP + LABEL + GAP;
    let height = HEIGHT + (legend.height() - LEGEND_ROW).max(0.0) + below_names;
    let data_area =
        Area { x: left, y: top, width: WIDTH - left - RIGHT, height: height - top - bottom };
    let mut scene = Scene {
        title: plot.title.clone(),
        width: WIDTH,
        height,
        data_area,
        below: Vec::new(),
        data: Vec::new(),
        above: Vec::new(),
    };
    let frame = Frame { x, y, area: data_area };
    draw_grid(&mut scene, &frame, plot);
    scene.data = marks::draw(&plot.series, &frame);
    draw_axes(&mut scene, &frame);
    match names.is_empty() {
        true => draw_tick_labels(&mut scene, &frame, &font),
        false => draw_categories(&mut scene, &frame, &names),
    }
    draw_words(&mut scene, plot, below_names);
    legend.draw(&mut scene, GAP + TITLE + GAP);
    (scene, frame)
}

fn draw_grid(scene: &mut Scene, frame: &Frame, plot: &Plot) {
    let paper = Area { x: 0.0, y: 0.0, width: scene.width, height: scene.height };
    scene.below.push(Drawn::Rectangle { area: paper, ink: Ink::Paper });
    let area = frame.area;
    let grid = |points| Drawn::Line { points, ink: Ink::Grid, width: 1.0, dashed: false };
    // On a log axis only the named ticks; lines for all of them would be a mesh.
    for tick in frame.y.ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let Some(y) = frame.y_of(tick.value) else { continue };
        scene.below.push(grid(vec![(area.x, y), (area.x + area.width, y)]));
    }
    if matches!(plot.x.scale, Scale::Categories(_)) {
        return;
    }
    for tick in frame.x.ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let Some(x) = frame.x_of(tick.value) else { continue };
        scene.below.push(grid(vec![(x, area.y), (x, area.y + area.height)]));
    }
}

fn draw_axes(scene: &mut Scene, frame: &Frame) {
    let Area { x: left, y: top, width, height } = frame.area;
    let (right, bottom) = (left + width, top + height);
    let line = |points| Drawn::Line { points, ink: Ink::Axis, width: 1.0, dashed: false };
    scene.above.push(line(vec![(left, top), (left, bottom), (right, bottom)]));
    for tick in &frame.y.ticks {
        let Some(y) = frame.y_of(tick.value) else { continue };
        scene.above.push(line(vec![(left - 4.0, y), (left, y)]));
        scene.above.push(tick_label(left - GAP, y + SMALL * 0.36, &tick.label, Anchor::End));
    }
    for tick in &frame.x.ticks {
        let Some(x) = frame.x_of(tick.value) else { continue };
        scene.above.push(line(vec![(x, bottom), (x, bottom + 4.0)]));
    }
}

/// Draws the numbers, or the categories' names in one line, below the x axis.
fn draw_tick_labels(scene: &mut Scene, frame: &Frame, font: &Font) {
    let Area { y: top, width, height, .. } = frame.area;
    let bottom = top + height;
    // Labels that would run into each other give way.
    let named: Vec<_> = frame.x.ticks.iter().filter(|tick| !tick.label.is_empty()).collect();
    let widest = named.iter().map(|tick| font.width(&tick.label, SMALL)).fold(1.0, f64::max) + GAP;
    let every = (widest * named.len() as f64 / (width + widest)).ceil().max(1.0) as usize;
    for tick in named.into_iter().step_by(every) {
        let Some(x) = frame.x_of(tick.value) else { continue };
        let y = bottom + GAP + SMALL;
        scene.above.push(tick_label(x, y, &tick.label, Anchor::Middle));
    }
}

/// Draws the names of categories in several lines below the x axis.
fn draw_categories(scene: &mut Scene, frame: &Frame, names: &[Vec<String>]) {
    let bottom = frame.area.y + frame.area.height;
    for (place, lines) in names.iter().enumerate() {
        let Some(x) = frame.x_of(place as f64) else { continue };
        for (number, line) in lines.iter().enumerate() {
            let y = bottom + GAP + SMALL + number as f64 * LINE;
            scene.above.push(tick_label(x, y, line, Anchor::Middle));
        }
    }
}

/// Returns the names of categories in lines short enough for their share of `width`; nothing if all fit in one line,
/// or if a word is too long.
fn category_lines(plot: &Plot, font: &Font, width: f64) -> Vec<Vec<String>> {
    let Scale::Categories(names) = &plot.x.scale else { return Vec::new() };
    let room = width / names.len().max(1) as f64 - GAP;
    let fits = |text: &str| font.width(text, SMALL) <= room;
    let too_long = names.iter().flat_map(|name| name.split(' ')).any(|word| !fits(word));
    if too_long || names.iter().all(|name| fits(name)) {
        return Vec::new();
    }
    let wrap = |name: &String| {
        let mut lines: Vec<String> = Vec::new();
        for word in name.split(' ') {
            match lines.last_mut() {
                Some(last) if fits(&format!("{last} {word}")) => *last += &format!(" {word}"),
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    };
    names.iter().map(wrap).collect()
}

fn tick_label(x: f64, y: f64, text: &str, anchor: Anchor) -> Drawn {
    let (text, ink) = (text.to_owned(), Ink::FaintWords);
    Drawn::Text(Words { x, y, text, size: SMALL, anchor, ink, upright: false })
}

fn draw_words(scene: &mut Scene, plot: &Plot, below_names: f64) {
    let area = scene.data_area;
    let mut put = |x, y, text: &str, size, anchor, upright| {
        let (text, ink) = (text.to_owned(), Ink::Words);
        scene.above.push(Drawn::Text(Words { x, y, text, size, anchor, ink, upright }));
    };
    let (middle_x, middle_y) = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    put(area.x, GAP + TITLE * 0.9, &plot.title, TITLE, Anchor::Start, false);
    let under = area.y + area.height + GAP + SMALL + below_names + GAP + LABEL * 0.8;
    put(middle_x, under, &plot.x.label, LABEL, Anchor::Middle, false);
    put(GAP + LABEL * 0.9, middle_y, &plot.y.label, LABEL, Anchor::Middle, true);
    if plot.series.iter().all(|series| series.points.is_empty()) {
        put(middle_x, middle_y, "no data", LABEL, Anchor::Middle, false);
    }
}

/// The legend: rows of entries above the data.
struct Legend<'a> {
    rows: Vec<Vec<Entry<'a>>>,
}

struct Entry<'a> {
    series: &'a PlotSeries,
    colour: usize,
    name: String,
    width: f64,
}

impl<'a> Legend<'a> {
    fn new(plot: &'a Plot, font: &Font) -> Legend<'a> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut left_out = 0;
        for (number, series) in plot.series.iter().enumerate() {
            // Series of one name (the same event in several flows) share their entry.
            if series.name.is_empty() || entries.iter().any(|entry| entry.name == series.name) {
                continue;
            }
            if entries.len() == LEGEND_ENTRIES {
                left_out += 1;
                continue;
            }
            let name = shortened(&series.name);
            let width = swatch(series.mark) + 6.0 + font.width(&name, SMALL) + 2.0 * GAP;
            entries.push(Entry { series, colour: series.colour.unwrap_or(number), name, width });
        }
        if let Some(last) = entries.last_mut().filter(|_| left_out > 0) {
            last.name = format!("{} and {left_out} more", last.name);
            last.width += font.width(" and 000 more", SMALL);
        }
        Legend { rows: into_rows(entries, WIDTH - 100.0) }
    }

    fn height(&self) -> f64 {
        self.rows.len() as f64 * LEGEND_ROW
    }

    fn draw(&self, scene: &mut Scene, top: f64) {
        for (number, row) in self.rows.iter().enumerate() {
            let middle = top + (number as f64 + 0.5) * LEGEND_ROW;
            let mut x = scene.data_area.x;
            for entry in row {
                entry.draw(scene, x, middle);
                x += entry.width;
            }
        }
    }
}

impl Entry<'_> {
    fn draw(&self, scene: &mut Scene, x: f64, y: f64) {
        let ink = Ink::Series(self.colour);
        let swatch = swatch(self.series.mark);
        let (is_line, shape) = match self.series.mark {
            Mark::Line | Mark::Steps => (true, None),
            Mark::LinePoints(shape) => (true, Some(shape)),
            Mark::Points(shape) => (false, Some(shape)),
            Mark::Bars | Mark::Tiles => {
                let area = Area { x, y: y - 5.0, width: swatch, height: 10.0 };
                scene.above.push(Drawn::Rectangle { area, ink });
                (false, None)
            }
        };
        if is_line {
            let (points, width) = (vec![(x, y), (x + swatch, y)], marks::LINE_WIDTH + 0.5);
            let dashed = marks::is_dashed(self.series, ink);
            scene.above.push(Drawn::Line { points, ink, width, dashed });
        }
        if let Some(shape) = shape {
            scene.above.push(Drawn::Point { x: x + swatch / 2.0, y, shape, ink });
        }
        scene.above.push(Drawn::Text(Words {
            x: x + swatch + 6.0,
            y: y + SMALL * 0.36,
            text: self.name.clone(),
            size: SMALL,
            anchor: Anchor::Start,
            ink: Ink::Words,
            upright: false,
        }));
    }
}

fn swatch(mark: Mark) -> f64 {
    match mark {
        Mark::Line | Mark::Steps | Mark::LinePoints(_) => SWATCH,
        Mark::Points(_) | Mark::Bars | Mark::Tiles => SMALL_SWATCH,
    }
}

fn into_rows(entries: Vec<Entry<'_>>, width: f64) -> Vec<Vec<Entry<'_>>> {
    let mut rows: Vec<Vec<Entry<'_>>> = Vec::new();
    let mut room = 0.0;
    for entry in entries {
        if rows.is_empty() || entry.width > room {
            rows.push(Vec::new());
            room = width;
        }
        room -= entry.width;
        if let Some(row) = rows.last_mut() {
            row.push(entry);
        }
    }
    rows
}

fn shortened(name: &str) -> String {
    const MOST: usize = 60;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}
