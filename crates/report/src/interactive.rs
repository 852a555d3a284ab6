//! What `make ui` built, and what it is given: pages that can be zoomed into.
//!
//! A build without it is whole; its pages have tables and pictures only.

use crate::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape, readings};
use crate::segments::PlotSegments;
use serde::Serialize;

/// The script, or nothing.
pub(crate) const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));
/// Its style, or nothing.
pub(crate) const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.css"));

/// What a browser may do with such a page. Whatever names in it may try: nothing is fetched, nothing is sent.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
                                 style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                                 form-action 'none'";

/// Whether pages have their interactive part: whether `make ui` came before the build.
pub const fn interactive() -> bool {
    !SCRIPT.is_empty()
}

/// JSON that ends no script element, whatever stands in its strings.
pub(crate) fn for_script(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("only names are keys").replace('<', "\\u003c")
}

/// As `ui/src/plots.ts` reads it.
#[derive(Serialize)]
struct Embedded<'a> {
    title: &'a str,
    x: Across<'a>,
    y: Upright<'a>,
    /// Left out where the segments say all.
    series: Vec<EmbeddedSeries<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<&'a PlotSegments>,
}

#[derive(Serialize)]
struct Across<'a> {
    label: &'a str,
    from: f64,
    to: f64,
    unit: f64,
}

#[derive(Serialize)]
struct Upright<'a> {
    label: &'a str,
    zero: bool,
    fixed: Option<[f64; 2]>,
    unit: f64,
}

#[derive(Serialize)]
struct EmbeddedSeries<'a> {
    name: &'a str,
    mark: &'static str,
    colour: usize,
    dashed: bool,
    /// Each as the difference to the one before.
    x: Vec<i64>,
    y: Vec<i64>,
}

/// Parts into which what a plot shows of an axis is divided: as many as a reader can zoom into.
const PARTS: f64 = 1e7;

/// What a page's script gets of a plot: its data, if it can be zoomed into, else the values to be shown beside the
/// pointer.
pub(crate) fn script_json(plot: &Plot) -> String {
    plot_json(plot).unwrap_or_else(|| for_script(&readings(plot)))
}

/// The data of a plot that can be zoomed into: lines and points over time, as JSON.
pub(crate) fn plot_json(plot: &Plot) -> Option<String> {
    let Range::Fixed(from, to) = plot.x.range else { return None };
    let over_time =
        plot.x.label.starts_with("time (") && plot.x.scale == Scale::Linear && to > from;
    let plain = plot.series.iter().all(|series| {
        !matches!(series.mark, Mark::Bars | Mark::Tiles)
            && series.points.iter().all(|point| point.interval.is_none())
    });
    if !over_time || !plain || plot.y.scale != Scale::Linear || plot.series.is_empty() {
        return None;
    }
    let points = plot.series.iter().flat_map(|series| &series.points);
    let largest = points.map(|point| point.y.abs()).filter(|y| y.is_finite()).fold(0.0, f64::max);
    let x = Across { label: &plot.x.label, from, to, unit: (to - from) / PARTS };
    let y = Upright {
        label: &plot.y.label,
        zero: plot.y.range == Range::FromZero,
        fixed: match plot.y.range {
            Range::Fixed(low, high) => Some([low, high]),
            _ => None,
        },
        unit: if largest > 0.0 { largest / PARTS } else { 1.0 },
    };
    let segments = plot.segments.as_ref();
    let series = match segments.is_some_and(PlotSegments::are_complete) {
        true => &[][..],
        false => &plot.series[..],
    };
    let series = series.iter().enumerate();
    let series = series.map(|(number, series)| embed(series, number, &x, &y)).collect();
    Some(for_script(&Embedded { title: &plot.title, x, y, series, segments }))
}

fn embed<'a>(series: &'a PlotSeries, number: usize, x: &Across, y: &Upright) -> EmbeddedSeries<'a> {
    let known = |value: f64| value.is_finite();
    let points = series.points.iter().filter(|point| known(point.x) && known(point.y));
    let mut before = 0;
    let (across, upright) = points
        .map(|point| {
            let at = ((point.x - x.from) / x.unit).round() as i64;
            let step = at - before;
            before = at;
            (step, (point.y / y.unit).round() as i64)
        })
        .unzip();
    EmbeddedSeries {
        name: &series.name,
        mark: match series.mark {
            Mark::Line | Mark::LinePoints(_) | Mark::Bars | Mark::Tiles => "line",
            Mark::Steps => "steps",
            Mark::Points(Shape::Dot) => "dots",
            Mark::Points(Shape::Cross) => "crosses",
            Mark::Points(_) => "discs",
        },
        colour: series.colour.unwrap_or(number),
        dashed: series.dashed,
        x: across,
        y: upright,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_script_element_cannot_end_it() {
        let evil = "</script><script>alert(1)</script><!--";
        let json = for_script(&evil);
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).expect("still JSON"), evil);
    }

    #[test]
    fn what_was_built_comes_whole_or_not_at_all() {
        assert_eq!(SCRIPT.is_empty(), STYLE.is_empty());
        // An end of the element in the script itself would cut it short.
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }

    #[test]
    fn lines_over_time_can_be_zoomed_into_and_bars_cannot() {
        let series = |mark| PlotSeries::new("a", mark, [(1.0, 5.0), (3.0, 10.0)]);
        let mut plot = Plot::new("p", "P", "time (s)", "kB").with(series(Mark::Steps));
        assert_eq!(plot_json(&plot), None, "what part of the time is not known");
        plot.x.range = Range::Fixed(0.0, 4.0);
        let json: serde_json::Value =
            serde_json::from_str(&plot_json(&plot).expect("over time")).expect("JSON");
        assert_eq!(json["series"][0]["x"], serde_json::json!([2_500_000, 5_000_000]));
        assert_eq!(json["series"][0]["y"], serde_json::json!([5_000_000, 10_000_000]));
        assert_eq!(plot_json(&plot.clone().with(series(Mark::Bars))), None);
        plot.x.label = "offered load".to_owned();
        assert_eq!(plot_json(&plot), None);
    }
}
