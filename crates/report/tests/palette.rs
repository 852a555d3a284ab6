//! Colours of series: how they contrast with the page and with each other, for readers with and without all cones.
//!
//! Contrast is WCAG 2.1's ratio of relative luminances. Colours are compared in OKLab (Ottosson 2020) as they are, and
//! as readers without one kind of cones see them (Machado, Oliveira and Fernandes 2009, severity 1).

#![expect(clippy::disallowed_methods, reason = "colours are compared with tolerance")]

use ackord_report::plot::{Mark, Plot, PlotSeries};

type Colour = [f64; 3];
type Matrix = [[f64; 3]; 3];

/// Least contrast of a line with its background (WCAG 2.1, 1.4.11), and of words (1.4.3).
const LINES: f64 = 3.0;
const WORDS: f64 = 4.5;
/// Least distance of two colours in OKLab: five just noticeable differences.
const APART: f64 = 0.1;

const STYLE: &str = include_str!("../assets/report.css");

const CONES: [(&str, Matrix); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// The themes of the style: light, dark, print.
fn themes() -> Vec<(&'static str, &'static str)> {
    let names = ["light", "dark", "print"];
    let blocks: Vec<_> = STYLE.split(":root {").skip(1).collect();
    assert_eq!(blocks.len(), names.len());
    let inside = |block: &'static str| block.split('}').next().unwrap_or_default();
    names.into_iter().zip(blocks.into_iter().map(inside)).collect()
}

fn variable(block: &str, name: &str) -> Colour {
    let (_, rest) = block.split_once(&format!("--{name}: #")).unwrap_or_else(|| panic!("--{name}"));
    parsed(&rest[..6])
}

fn parsed(digits: &str) -> Colour {
    let number = u32::from_str_radix(digits, 16).expect("hexadecimal digits");
    [16, 8, 0].map(|shift| linear(f64::from(number >> shift & 0xFF) / 255.0))
}

fn linear(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn contrast(one: Colour, other: Colour) -> f64 {
    let luminance = |[r, g, b]: Colour| 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

fn times(matrix: &Matrix, colour: Colour) -> Colour {
    matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
}

fn oklab(colour: Colour) -> Colour {
    let cones = times(
        &[
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ],
        colour.map(|part| part.clamp(0.0, 1.0)),
    );
    times(
        &[
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ],
        cones.map(f64::cbrt),
    )
}

fn distance(one: Colour, other: Colour) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn every_series_contrasts_with_the_page_in_each_theme() {
    for (theme, block) in themes() {
        let paper = variable(block, "paper");
        for number in 0..7 {
            let found = contrast(variable(block, &format!("s{number}")), paper);
            assert!(found >= LINES, "s{number} in the {theme} theme: {found:.2}");
        }
    }
}

#[test]
fn words_contrast_with_the_page_in_each_theme() {
    for (theme, block) in themes() {
        for paper in ["paper", "panel"].map(|name| variable(block, name)) {
            for name in ["words", "faint", "holds", "differs", "fails"] {
                let found = contrast(variable(block, name), paper);
                assert!(found >= WORDS, "{name} in the {theme} theme: {found:.2}");
            }
        }
    }
}

#[test]
fn every_two_series_are_apart_for_all_readers() {
    for (theme, block) in themes() {
        let colours: Vec<_> = (0..7).map(|number| variable(block, &format!("s{number}"))).collect();
        for (cones, matrix) in &CONES {
            let seen: Vec<_> = colours.iter().map(|colour| oklab(times(matrix, *colour))).collect();
            for (number, one) in seen.iter().enumerate() {
                for (other, two) in seen.iter().enumerate().skip(number + 1) {
                    let found = distance(*one, *two);
                    let pair = format!("s{number} and s{other} in the {theme} theme, {cones}");
                    assert!(found >= APART, "{pair}: {found:.3}");
                }
            }
        }
    }
}

#[test]
fn a_picture_by_itself_has_the_colours_of_the_light_page() {
    let series = |number: usize| {
        let points = [(0.0, number as f64), (1.0, 2.0)];
        PlotSeries::new(&number.to_string(), Mark::Line, points)
    };
    let plot = (0..7).map(series).fold(Plot::new("p", "P", "x", "y"), Plot::with);
    let svg = plot.to_svg();
    let (_, light) = themes()[0];
    for number in 0..7 {
        let (_, rest) =
            svg.split_once(&format!("class=\"l-s{number}\" stroke=\"#")).expect("drawn");
        assert_eq!(parsed(&rest[..6]), variable(light, &format!("s{number}")), "s{number}");
    }
}

/// The measures themselves, against published numbers.
#[test]
fn contrast_and_distance_are_as_published() {
    assert!((contrast(parsed("ffffff"), parsed("000000")) - 21.0).abs() < 1e-9);
    // WCAG's example of a grey that just passes for words.
    assert!((contrast(parsed("767676"), parsed("ffffff")) - 4.54).abs() < 0.01);
    let white = oklab(parsed("ffffff"));
    assert!((white[0] - 1.0).abs() < 1e-6 && white[1].abs() < 1e-6, "{white:?}");
    // The palette of Okabe and Ito has two blues and an orange that fail here.
    assert!(contrast(parsed("e69f00"), parsed("ffffff")) < LINES);
}
