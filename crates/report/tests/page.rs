//! Pages of diagnoses: what stands in them, and what a browser makes of them.

mod common;
#[path = "../examples/made/mod.rs"]
mod made;

use ackord_diagnose::{Diagnosis, Trace};
use ackord_report::document::{Block, Document, Section};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};
use ackord_report::plots::{FlowPlots, WindowUnit};
use ackord_report::{
    PageData, PageDiagnosis, diagnosis_page, interactive, to_html, to_refreshing_html,
};
use ackord_testing::{assert_timely, installed, skipped, timely};
use ackord_units::{Span, Time};
use made::Made;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const FEW: Made = Made { points: 6_000, loss_every: 400 };
const BETTER: Made = Made { points: 6_000, loss_every: 2_000 };
const MANY: Made = Made { points: 100_000, loss_every: 400 };
/// What a redraw of 10^5 points may take in the median; it takes a tenth of that.
const REDRAW_MS: f64 = 200.0;

fn page(diagnoses: &[(&str, &(Diagnosis, Trace))]) -> String {
    let streams: Vec<String> = (0..400).map(|stream| format!("tcp.stream eq {stream}")).collect();
    let diagnoses: Vec<_> = diagnoses
        .iter()
        .map(|(label, (diagnosis, trace))| PageDiagnosis {
            label,
            diagnosis,
            filters: &streams,
            traces: std::slice::from_ref(trace),
        })
        .collect();
    diagnosis_page(&PageData {
        title: "<Upload>",
        version: "0.1.0",
        summary: "",
        remarks: &[],
        notes: &[],
        diagnoses: &diagnoses,
    })
}

/// The JSON of a page, if it has its graph.
fn embedded(html: &str) -> Option<serde_json::Value> {
    let begin = "<script type=\"application/json\" id=\"ackord-data\">";
    let (_, rest) = html.split_once(begin)?;
    let (json, _) = rest.split_once("</script>").expect("the element ends");
    Some(serde_json::from_str(json).expect("JSON"))
}

#[test]
fn a_page_holds_its_data_whatever_names_try() {
    let made = made::diagnosis(FEW, 3);
    let html = page(&[("", &made)]);
    assert!(html.contains("<h1>&lt;Upload&gt;</h1>"));
    assert!(!html.contains("transfer </script>"), "a file's name is no markup");
    let scripts = html.matches("<script").count();
    assert_eq!(scripts, html.matches("</script").count());
    let Some(json) = embedded(&html) else {
        assert!(html.contains("built without Node: no interactive graph; `make ui`"));
        return assert_eq!(scripts, 0);
    };
    assert_eq!(scripts, 2);
    let set = &json["sets"][0];
    assert_eq!(set["diagnosis"]["captures"][0]["name"], "transfer </script><b>.pcapng");
    assert_eq!(set["diagnosis"]["connections"].as_array().expect("a list").len(), 3);
    let columns = &set["traces"][0];
    let points = made.1.points.len();
    for column in ["times", "starts", "lengths", "frames"] {
        assert_eq!(columns[column].as_array().expect("a list").len(), points, "{column}");
    }
    assert_eq!(columns["kinds"].as_str().expect("letters").len(), points);
}

#[test]
fn a_page_has_the_tables_with_and_without_its_graph() {
    let html =
        page(&[("before", &made::diagnosis(FEW, 3)), ("after", &made::diagnosis(BETTER, 3))]);
    for told in [
        "before: packets longer than the path can carry",
        "<h2>before: Connections</h2>",
        "<h2>after: 192.0.2.17:51724 to 198.51.100.5:443</h2>",
        "congestion loss, fast recovery",
        "ackord gateway run --remedy snoop",
    ] {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn a_page_refers_to_nothing_outside_itself_and_stays_small() {
    let made = made::diagnosis(FEW, 3);
    let html = page(&[("", &made)]);
    for outside in ["http:", "https:", " src=", " href=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    let data = embedded(&html).map_or(0, |json| json.to_string().len());
    assert!(html.len() - data < 1_000_000, "{} bytes besides the data", html.len() - data);
    let bytes =
        serde_json::to_string(&embedded(&html).map(|json| json["sets"][0]["traces"].clone()))
            .expect("it came from JSON")
            .len();
    assert!(bytes < 24 * made.1.points.len(), "{bytes} bytes of packets");
    assert_eq!(html, page(&[("", &made)]), "the same data, the same bytes");
}

/// A report with two plots over ten seconds, a picture with bars, and a flow whose segments are kept up to 2 s.
fn report() -> String {
    let plot = |id: &str, mark| {
        let points = (0..1_000u32).map(|n| (f64::from(n) / 100.0, f64::from(n % 70)));
        let series = PlotSeries::new("</script>", mark, points).dashed();
        let mut plot = Plot::new(id, "Window", "time (s)", "cwnd (kB)").with(series);
        plot.x.range = Range::Fixed(0.0, 10.0);
        Block::Plot(plot)
    };
    let over_time = Section::new("Over time")
        .with(plot("steps", Mark::Steps))
        .with(plot("crosses", Mark::Points(Shape::Cross)));
    let bars = PlotSeries::new("gains", Mark::Bars, [(0.0, 3.0), (1.0, 5.0)]);
    let mut picture = Plot::new("bars", "Bars", "queue", "goodput (Mbit/s)");
    picture.x.scale = Scale::Categories(vec!["fifo".to_owned(), "fq".to_owned()]);
    let over_time = over_time.with(Block::Plot(picture.with(bars)));
    let (_, mut series) = common::run(common::Shape { flows: 1, secs: 10 });
    let segments = &mut series.flows[0].segments;
    segments.exact_until = Time::ZERO + Span::from_secs(2);
    segments.points.retain(|point| point.at < segments.exact_until);
    let sequence = FlowPlots::of_run(&series).all(WindowUnit::Bytes).swap_remove(1);
    let segments = Section::new("Segments").with(Block::Plot(sequence));
    let title = "Report".to_owned();
    to_html(&Document { title, sections: vec![over_time, segments], ..Document::default() })
}

/// A page that refreshes itself every 100 ms, with a plot over a minute.
fn refreshing() -> String {
    let points = (0..60u32).map(|n| (f64::from(n), f64::from(n)));
    let mut plot = Plot::new("level", "Level", "time (s)", "packets").with(PlotSeries::new(
        "queue",
        Mark::Line,
        points,
    ));
    plot.x.range = Range::Fixed(0.0, 60.0);
    let sections = vec![Section::new("Over time").with(Block::Plot(plot))];
    let document = Document { title: "Status".to_owned(), sections, ..Document::default() };
    to_refreshing_html(&document, Duration::from_millis(100))
}

#[test]
fn plots_over_time_carry_their_data_where_something_draws_it() {
    let html = report();
    let scripts = html.matches("<script").count();
    assert_eq!(scripts, if interactive() { 5 } else { 0 });
    assert_eq!(html.matches("</script").count(), scripts, "names of curves end no script");
    assert_eq!(html.matches("class=\"ackord-plot\"").count(), 4);
}

/// Opens the pages in a browser: `ui/test/page.mjs` says what it looks at.
#[test]
fn a_browser_draws_a_page_and_answers() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    if !installed(&["node", "chromium"]) {
        return;
    }
    if !interactive() || !ui.join("node_modules/playwright-core").exists() {
        return skipped("`make ui` was not run before the build");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let before = made::diagnosis(FEW, 12);
    let pages = [
        ("one.html", page(&[("", &before)])),
        ("two.html", page(&[("before", &before), ("after", &made::diagnosis(BETTER, 12))])),
        ("report.html", report()),
        ("refreshing.html", refreshing()),
        ("many.html", page(&[("", &made::diagnosis(MANY, 1))])),
    ];
    for (name, html) in &pages {
        std::fs::write(folder.path().join(name), html).expect("a fresh folder");
    }
    timely(|| {
        let tried = Command::new("node")
            .arg(ui.join("test/page.mjs"))
            .arg(folder.path())
            .output()
            .expect("node starts");
        let (told, complaint) =
            (String::from_utf8_lossy(&tried.stdout), String::from_utf8_lossy(&tried.stderr));
        assert!(tried.status.success(), "{told}{complaint}");
        println!("{told}");
        let median = told.lines().find_map(|line| line.strip_prefix("redraw median ms "));
        let median: f64 = median.expect("it was measured").parse().expect("a number");
        assert_timely!(median < REDRAW_MS, "a redraw of 10^5 points took {median} ms");
    });
}
