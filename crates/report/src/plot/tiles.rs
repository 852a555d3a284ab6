//! Heat maps: a tile per point, the darker the larger its value, with the value in it where it fits.

use super::PlotSeries;
use super::marks::Frame;
use super::scene::{Anchor, Area, Drawn, Ink, Words};
use crate::document::decimals_for;

/// Tiles narrower than this have no number in them.
const LEAST_WIDTH: f64 = 46.0;
/// Nor have lower ones.
const LEAST_HEIGHT: f64 = 16.0;
const SIZE: f64 = 12.0;
/// Between tiles.
const SEAM: f64 = 1.0;

pub(super) fn draw(series: &PlotSeries, frame: &Frame) -> Vec<Drawn> {
    let values = || series.points.iter().filter_map(|point| point.value);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    let mut shapes = Vec::new();
    for point in &series.points {
        let Some(value) = point.value else { continue };
        let across = frame.x_of(point.x - 0.5).zip(frame.x_of(point.x + 0.5));
        let upright = frame.y_of(point.y + 0.5).zip(frame.y_of(point.y - 0.5));
        let Some(((left, right), (top, bottom))) = across.zip(upright) else { continue };
        let (width, height) = (right - left - SEAM, bottom - top - SEAM);
        // Where all are alike none stands out.
        let share = if most > least { (value - least) / (most - least) } else { 0.0 };
        let shade = (share * 255.0).round() as u8;
        let area = Area { x: left, y: top, width, height };
        shapes.push(Drawn::Rectangle { area, ink: Ink::Tile(shade) });
        if width >= LEAST_WIDTH && height >= LEAST_HEIGHT {
            shapes.push(Drawn::Text(Words {
                x: left + width / 2.0,
                y: top + height / 2.0 + SIZE * 0.36,
                text: format!("{value:.*}", decimals_for(value)),
                size: SIZE,
                anchor: Anchor::Middle,
                ink: Ink::OnTile(shade),
                upright: false,
            }));
        }
    }
    shapes
}
