//! A laid-out picture: shapes with places, and their colours.

use super::Shape;

/// A picture of shapes, painted in order.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) title: String,
    pub(super) width: f64,
    pub(super) height: f64,
    /// What data may not be painted outside of.
    pub(super) data_area: Area,
    /// Under the data: background, grid.
    pub(super) below: Vec<Drawn>,
    /// Cut off at the data area.
    pub(super) data: Vec<Drawn>,
    /// Over the data: axes and words.
    pub(super) above: Vec<Drawn>,
}

/// A rectangle, x to the right, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Clone, Debug)]
pub(super) enum Drawn {
    Line { points: Vec<(f64, f64)>, ink: Ink, width: f64, dashed: bool },
    Rectangle { area: Area, ink: Ink },
    Point { x: f64, y: f64, shape: Shape, ink: Ink },
    Text(Words),
}

#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) x: f64,
    /// The baseline.
    pub(super) y: f64,
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) ink: Ink,
    /// Reads upwards.
    pub(super) upright: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A colour by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Paper,
    Words,
    FaintWords,
    Axis,
    Grid,
    Series(usize),
    /// A tile of a heat map, from light to dark.
    Tile(u8),
    /// What is written on such a tile.
    OnTile(u8),
}

/// Colours of series on white paper: those of Okabe and Ito (2008) in order and hue, moved until each has a contrast of
/// 3 to 1 and all remain apart for colour-blind readers; `tests/palette.rs` computes both, for dark pages too.
pub(super) const PALETTE: [u32; 7] =
    [0x2152A8, 0xC43A0F, 0x0D896D, 0xE351AA, 0xB58E16, 0x029AE8, 0x4E4850];

impl Ink {
    /// Red, green and blue on white paper.
    pub(super) fn rgb(self) -> u32 {
        match self {
            Ink::Paper => 0xFFFFFF,
            Ink::Words => 0x1A1A1A,
            Ink::FaintWords => 0x555555,
            Ink::Axis => 0x8A8A8A,
            Ink::Grid => 0xE4E4E4,
            Ink::Series(number) => PALETTE[number % PALETTE.len()],
            Ink::Tile(shade) => shaded(shade),
            Ink::OnTile(shade) if shade > 140 => 0xFFFFFF,
            Ink::OnTile(_) => 0x1A1A1A,
        }
    }

    /// The class under which a page can restyle it.
    pub(super) fn class(self) -> String {
        match self {
            Ink::Paper => "paper".to_owned(),
            Ink::Words => "words".to_owned(),
            Ink::FaintWords => "faint".to_owned(),
            Ink::Axis => "axis".to_owned(),
            Ink::Grid => "grid".to_owned(),
            Ink::Series(number) => format!("s{}", number % PALETTE.len()),
            // The same on every page: a number has to be readable on its tile.
            Ink::Tile(_) => "tile".to_owned(),
            Ink::OnTile(_) => "on-tile".to_owned(),
        }
    }
}

/// From almost white over blue to almost black: of one hue, so that it reads without colours, too.
fn shaded(shade: u8) -> u32 {
    const STOPS: [u32; 3] = [0xEFF3FF, 0x5FA4D3, 0x08306B];
    let place = f64::from(shade) / 255.0 * 2.0;
    let (from, to) = if place < 1.0 { (STOPS[0], STOPS[1]) } else { (STOPS[1], STOPS[2]) };
    let share = if place < 1.0 { place } else { place - 1.0 };
    let part = |shift: u32| {
        let of = |colour: u32| f64::from(colour >> shift & 0xFF);
        ((of(from) + (of(to) - of(from)) * share).round() as u32) << shift
    };
    part(16) | part(8) | part(0)
}

/// Half the size of a point's shape.
pub(super) const fn radius(shape: Shape) -> f64 {
    match shape {
        Shape::Dot => 1.4,
        Shape::Disc | Shape::Square => 3.5,
        Shape::Triangle => 4.2,
        Shape::Cross => 3.2,
    }
}
