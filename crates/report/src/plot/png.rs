//! A picture written as PNG, at twice its nominal size.

use super::Shape;
use super::font::{Font, Pen};
use super::scene::{Anchor, Area, Drawn, Ink, Scene, Words, radius};
use super::svg::{corners, cross, cut};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke,
    StrokeDash, Transform,
};

const SCALE: f32 = 2.0;

/// The whole file.
pub(super) fn write(scene: &Scene) -> Vec<u8> {
    let pixels = |length: f64| (length as f32 * SCALE).ceil() as u32;
    let pixmap = Pixmap::new(pixels(scene.width), pixels(scene.height));
    let pixmap = pixmap.expect("a picture has a size, and it is far below 2^31 bytes");
    let mut canvas = Canvas { pixmap, mask: None, font: Font::new() };
    scene.below.iter().for_each(|shape| canvas.draw(shape));
    canvas.cut_to(cut(scene.data_area));
    scene.data.iter().for_each(|shape| canvas.draw(shape));
    canvas.mask = None;
    scene.above.iter().for_each(|shape| canvas.draw(shape));
    canvas.pixmap.encode_png().expect("encoding into memory does not fail")
}

struct Canvas {
    pixmap: Pixmap,
    /// What lies outside is not painted.
    mask: Option<Mask>,
    font: Font,
}

impl Canvas {
    fn cut_to(&mut self, area: Area) {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height());
        if let (Some(mask), Some(path)) = (mask.as_mut(), rectangle(area)) {
            mask.fill_path(&path, FillRule::Winding, false, scaled());
        }
        self.mask = mask;
    }

    fn draw(&mut self, shape: &Drawn) {
        match shape {
            Drawn::Line { points, ink, width, dashed } => {
                let dash = dashed.then(|| StrokeDash::new(vec![6.0, 4.0], 0.0)).flatten();
                let line_join = LineJoin::Round;
                let width = *width as f32;
                let stroke = Stroke { width, line_join, dash, ..Stroke::default() };
                self.stroke(line(points, false), *ink, &stroke);
            }
            Drawn::Rectangle { area, ink } => self.fill(rectangle(*area), *ink, scaled()),
            Drawn::Point { x, y, shape, ink } => self.point((*x, *y), *shape, *ink),
            Drawn::Text(words) => self.text(words),
        }
    }

    fn point(&mut self, (x, y): (f64, f64), shape: Shape, ink: Ink) {
        match shape {
            Shape::Dot | Shape::Disc => {
                let disc = PathBuilder::from_circle(x as f32, y as f32, radius(shape) as f32);
                self.fill(disc, ink, scaled());
            }
            Shape::Square | Shape::Triangle => {
                self.fill(line(&corners((x, y), shape), true), ink, scaled());
            }
            Shape::Cross => {
                let [a, b, c, d] = cross((x, y));
                let stroke = Stroke { width: 1.5, line_cap: LineCap::Butt, ..Stroke::default() };
                for ends in [[a, b], [c, d]] {
                    self.stroke(line(&ends, false), ink, &stroke);
                }
            }
        }
    }

    fn text(&mut self, words: &Words) {
        let mut glyphs = Glyphs { path: PathBuilder::new(), offset: 0.0, scale: 1.0 };
        self.font.outline(&words.text, words.size, &mut glyphs);
        let width = self.font.width(&words.text, words.size) as f32;
        let back = match words.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let turned = if words.upright { -90.0 } else { 0.0 };
        let placed = Transform::from_translate(-back, 0.0)
            .post_concat(Transform::from_rotate(turned))
            .post_translate(words.x as f32, words.y as f32)
            .post_concat(scaled());
        self.fill(glyphs.path.finish(), words.ink, placed);
    }

    /// Paints a path; one without extent (an empty text, a bar of height zero) leaves nothing.
    fn fill(&mut self, path: Option<Path>, ink: Ink, transform: Transform) {
        let Some(path) = path else { return };
        let (paint, mask) = (paint(ink), self.mask.as_ref());
        self.pixmap.fill_path(&path, &paint, FillRule::Winding, transform, mask);
    }

    fn stroke(&mut self, path: Option<Path>, ink: Ink, stroke: &Stroke) {
        let Some(path) = path else { return };
        self.pixmap.stroke_path(&path, &paint(ink), stroke, scaled(), self.mask.as_ref());
    }
}

fn scaled() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}

fn paint(ink: Ink) -> Paint<'static> {
    let [_, red, green, blue] = ink.rgb().to_be_bytes();
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(Color::from_rgba8(red, green, blue, u8::MAX));
    paint
}

fn rectangle(area: Area) -> Option<Path> {
    let (x, y, width, height) =
        (area.x as f32, area.y as f32, area.width as f32, area.height as f32);
    Rect::from_xywh(x, y, width, height).map(PathBuilder::from_rect)
}

fn line(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (number, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Turns a font's outlines (y up, font units) into a path (y down, pixels).
struct Glyphs {
    path: PathBuilder,
    offset: f32,
    scale: f32,
}

impl Glyphs {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.offset + x * self.scale, -y * self.scale)
    }
}

impl Pen for Glyphs {
    fn glyph(&mut self, offset: f64, scale: f64) {
        (self.offset, self.scale) = (offset as f32, scale as f32);
    }
}

impl ttf_parser::OutlineBuilder for Glyphs {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
