//! A picture written as SVG.
//!
//! Every colour is given twice: as an attribute, so that the file looks right by itself, and as a
//! class, so that a page can restyle it (a style rule outranks an attribute).

use super::Shape;
use super::scene::{Anchor, Area, Drawn, Ink, Scene, Words, radius};
use crate::escape::escaped;
use std::fmt::Write;

/// The whole file.
pub(super) fn write(scene: &Scene) -> String {
    let mut svg = String::new();
    let (width, height, title) = (num(scene.width), num(scene.height), escaped(&scene.title));
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ackord-plot\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n<title>{title}</title>"
    );
    scene.below.iter().for_each(|shape| draw(&mut svg, shape));
    // An inner picture cuts off what lies outside it, and unlike a clip path needs no name that
    // might clash with another plot's on the same page.
    let Area { x, y, width, height } = cut(scene.data_area);
    let (x, y, width, height) = (num(x), num(y), num(width), num(height));
    let _ = writeln!(
        svg,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{x} {y} {width} {height}\">"
    );
    scene.data.iter().for_each(|shape| draw(&mut svg, shape));
    svg.push_str("</svg>\n");
    scene.above.iter().for_each(|shape| draw(&mut svg, shape));
    svg.push_str("</svg>\n");
    svg
}

/// The data area with room for half a point on its rim.
pub(super) fn cut(area: Area) -> Area {
    const RIM: f64 = 4.0;
    Area {
        x: area.x - 1.0,
        y: area.y - RIM,
        width: area.width + 1.0 + RIM,
        height: area.height + 2.0 * RIM,
    }
}

fn draw(svg: &mut String, shape: &Drawn) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Drawn::Line { points, ink, width, dashed } => {
            let dash = if *dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let path = path(points);
            let (paint, width) = (stroke(*ink), num(*width));
            writeln!(
                svg,
                "<path d=\"{path}\" fill=\"none\" {paint} stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dash}/>"
            )
        }
        Drawn::Rectangle { area, ink } => {
            let (x, y, width, height) =
                (num(area.x), num(area.y), num(area.width.max(0.0)), num(area.height));
            let paint = fill(*ink);
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {paint}/>"
            )
        }
        Drawn::Point { x, y, shape, ink } => point(svg, (*x, *y), *shape, *ink),
        Drawn::Text(words) => text(svg, words),
    };
}

fn point(svg: &mut String, (x, y): (f64, f64), shape: Shape, ink: Ink) -> std::fmt::Result {
    let r = radius(shape);
    match shape {
        Shape::Dot | Shape::Disc => {
            let (cx, cy, r, paint) = (num(x), num(y), num(r), fill(ink));
            writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\" {paint}/>")
        }
        Shape::Square | Shape::Triangle => {
            let corners = path(&corners((x, y), shape));
            writeln!(svg, "<path d=\"{corners}Z\" {}/>", fill(ink))
        }
        Shape::Cross => {
            let [a, b, c, d] = cross((x, y));
            let (one, two, paint) = (path(&[a, b]), path(&[c, d]), stroke(ink));
            writeln!(svg, "<path d=\"{one}{two}\" fill=\"none\" {paint} stroke-width=\"1.5\"/>")
        }
    }
}

/// The corners of a square or triangle around a place.
pub(super) fn corners((x, y): (f64, f64), shape: Shape) -> Vec<(f64, f64)> {
    let r = radius(shape);
    match shape {
        Shape::Triangle => {
            vec![(x, y - r), (x + r * 0.87, y + r * 0.5), (x - r * 0.87, y + r * 0.5)]
        }
        _ => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
    }
}

/// The ends of a cross's two strokes.
pub(super) fn cross((x, y): (f64, f64)) -> [(f64, f64); 4] {
    let r = radius(Shape::Cross);
    [(x - r, y - r), (x + r, y + r), (x - r, y + r), (x + r, y - r)]
}

fn text(svg: &mut String, words: &Words) -> std::fmt::Result {
    let anchor = match words.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y, size) = (num(words.x), num(words.y), num(words.size));
    let turn =
        if words.upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (paint, text) = (fill(words.ink), escaped(&words.text));
    writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" {paint}{turn}>\
         {text}</text>"
    )
}

fn fill(ink: Ink) -> String {
    format!("class=\"f-{}\" fill=\"#{:06x}\"", ink.class(), ink.rgb())
}

fn stroke(ink: Ink) -> String {
    format!("class=\"l-{}\" stroke=\"#{:06x}\"", ink.class(), ink.rgb())
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (number, (x, y)) in points.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", num(*x), num(*y));
    }
    path
}

/// A coordinate to a tenth of a pixel, without trailing zeros or a negative zero.
fn num(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, tenth) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    if tenth == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{tenth}") }
}
