//! Pictures of every kind, parsed back.

#![expect(clippy::disallowed_methods, reason = "the place of a mark in a picture")]

use super::*;
use proptest::prelude::*;

fn wave() -> Vec<(f64, f64)> {
    (0..500).map(|i| (f64::from(i) / 10.0, (f64::from(i) / 20.0).sin() * 40.0 + 50.0)).collect()
}

fn every_mark() -> Plot {
    let errors = (0..500).map(|i| (i % 50 == 0).then_some(3.0));
    Plot::new("every-mark", "Every mark", "time (s)", "cwnd (kB)")
        .with(PlotSeries::new("line", Mark::Line, wave()).with_errors(errors))
        .with(PlotSeries::new("steps", Mark::Steps, wave().into_iter().step_by(20)).dashed())
        .with(PlotSeries::new("dots", Mark::Points(Shape::Dot), wave()))
        .with(PlotSeries::new("crosses", Mark::Points(Shape::Cross), [(10.0, 20.0)]))
        .with(PlotSeries::new("discs", Mark::LinePoints(Shape::Disc), [(1.0, 9.0), (2.0, 4.0)]))
        .with(PlotSeries::new("squares", Mark::Points(Shape::Square), [(3.0, 9.0)]))
        .with(PlotSeries::new("triangles", Mark::Points(Shape::Triangle), [(4.0, 9.0)]))
}

fn bars() -> Plot {
    let words = ["512 kbit/s", "1.5 Mbit/s"].map(str::to_owned).to_vec();
    let mut plot = Plot::new("bars", "Bars", "bottleneck", "fairness (%)");
    plot.x.scale = Scale::Categories(words);
    plot.with(PlotSeries::new("paper", Mark::Bars, [(0.0, 12.0), (1.0, 11.26)]))
        .with(PlotSeries::new("here", Mark::Bars, [(0.0, 10.0), (1.0, 13.0)]))
}

fn parsed(svg: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(svg).expect("well-formed XML")
}

fn texts(svg: &str) -> Vec<String> {
    let document = parsed(svg);
    let nodes = document.descendants().filter(|node| node.tag_name().name() == "text");
    nodes.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn a_picture_of_every_mark_parses_and_says_what_it_shows() {
    let svg = every_mark().to_svg();
    let words = texts(&svg);
    for expected in ["Every mark", "time (s)", "cwnd (kB)", "line", "crosses", "triangles"] {
        assert!(words.iter().any(|word| word == expected), "{expected} is not among {words:?}");
    }
}

#[test]
fn the_same_plot_gives_the_same_bytes() {
    assert_eq!(every_mark().to_svg(), every_mark().to_svg());
    assert_eq!(every_mark().to_png(), every_mark().to_png());
}

#[test]
fn a_png_has_twice_the_nominal_size_and_something_on_it() {
    let png = every_mark().to_png();
    let picture = tiny_skia::Pixmap::decode_png(&png).expect("a sound file");
    assert_eq!((picture.width(), picture.height()), (1_800, 840));
    let blue =
        picture.pixels().iter().filter(|p| (p.red(), p.green(), p.blue()) == (0x21, 0x52, 0xA8));
    assert!(blue.count() > 500, "the first series is not to be seen");
}

#[test]
fn titles_and_names_cannot_break_out_of_the_picture() {
    let evil = "</text><script>alert('1')</script>&\u{1}";
    let svg = Plot::new("x", evil, evil, evil)
        .with(PlotSeries::new(evil, Mark::Line, [(0.0, 1.0), (1.0, 2.0)]))
        .to_svg();
    assert!(!svg.contains("<script"));
    parsed(&svg);
}

#[test]
fn nothing_to_draw_says_so() {
    let svg = Plot::new("empty", "Empty", "x", "y").to_svg();
    assert!(texts(&svg).contains(&"no data".to_owned()));
}

#[test]
fn a_heat_map_has_a_tile_per_value_the_darkest_for_the_largest() {
    let words = |words: [&str; 2]| Scale::Categories(words.map(str::to_owned).into());
    let mut plot = Plot::new("map", "Map", "across", "up");
    (plot.x.scale, plot.y.scale) = (words(["a", "b"]), words(["c", "d"]));
    plot.y.range = Range::Data;
    let values = [((0, 0), 1.0), ((1, 0), 2.5), ((1, 1), 5.0)];
    let svg = plot.with(PlotSeries::tiles(values)).to_svg();
    let tiles: Vec<&str> = svg.lines().filter(|line| line.contains("f-tile")).collect();
    assert_eq!(tiles.len(), 3, "{svg}");
    assert!(tiles[0].contains("#eff3ff") && tiles[2].contains("#08306b"), "{tiles:?}");
    for number in [">1.000<", ">2.500<", ">5.000<"] {
        assert!(svg.contains(number), "{number}: {svg}");
    }
}

#[test]
fn bars_stand_side_by_side_on_zero() {
    let svg = bars().to_svg();
    let document = parsed(&svg);
    let attribute = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).expect("a rectangle has it").parse().expect("a number")
    };
    let inner = document.root_element().children().find(|node| node.tag_name().name() == "svg");
    let rectangles: Vec<_> = inner
        .expect("the data area")
        .children()
        .filter(|node| node.tag_name().name() == "rect")
        .collect();
    assert_eq!(rectangles.len(), 4);
    let feet: Vec<_> =
        rectangles.iter().map(|r| attribute(r, "y") + attribute(r, "height")).collect();
    assert!(feet.iter().all(|foot| (foot - feet[0]).abs() < 0.2), "{feet:?}");
    let (first, second) = (&rectangles[0], &rectangles[2]);
    assert!(attribute(first, "x") + attribute(first, "width") <= attribute(second, "x"));
}

#[test]
fn a_long_line_is_thinned_to_what_can_be_seen() {
    let many = (0..1_000_000).map(|i| (f64::from(i), f64::from(i % 1_000)));
    let svg =
        Plot::new("long", "Long", "x", "y").with(PlotSeries::new("saw", Mark::Line, many)).to_svg();
    assert!(svg.len() < 150_000, "{} bytes", svg.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_numbers_the_picture_is_sound(
        points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
        log: bool,
    ) {
        let mut plot = Plot::new("any", "Any", "x", "y")
            .with(PlotSeries::new("line", Mark::LinePoints(Shape::Disc), points.clone()))
            .with(PlotSeries::new("steps", Mark::Steps, points.clone()))
            .with(PlotSeries::new("bars", Mark::Bars, points));
        if log {
            plot.x.scale = Scale::Log;
            plot.y.scale = Scale::Log;
        }
        let svg = plot.to_svg();
        parsed(&svg);
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

proptest! {
    // Rasterising is slow without optimisation.
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn whatever_the_numbers_they_can_be_rasterised(
        points in prop::collection::vec((any::<f64>(), -1e16f64..1e16), 0..20),
    ) {
        let plot = Plot::new("any", "Any", "x", "y")
            .with(PlotSeries::new("line", Mark::LinePoints(Shape::Disc), points.clone()))
            .with(PlotSeries::new("steps", Mark::Steps, points.clone()).dashed())
            .with(PlotSeries::new("bars", Mark::Bars, points));
        prop_assert!(!plot.to_png().is_empty());
    }
}
