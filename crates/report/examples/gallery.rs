//! Draws one plot of each kind and a whole report, to be looked at:
//! `cargo run -p ackord-report --example gallery -- target/gallery`.

#![expect(clippy::disallowed_methods, reason = "the place of a mark in a picture")]

#[path = "../tests/common/mod.rs"]
mod common;

use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};
use ackord_report::{Context, OutputFile, Screen, run_document, run_files, to_terminal, write_all};
use std::path::PathBuf;

#[allow(clippy::disallowed_methods, reason = "an example is a command line of its own")]
fn main() -> Result<(), ackord_report::WriteError> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/gallery".to_owned()));
    for flows in [1, 2, 12] {
        let (summary, series) = common::run(common::Shape { flows, secs: 20 });
        let context = Context {
            title: format!("Gallery: {flows} flows"),
            purpose: "To see what reports look like. The numbers are made up.".to_owned(),
            source: "arithmetic".to_owned(),
            scenario_text: "seed = 7\n".to_owned(),
            notes: vec!["Nothing here was simulated.".to_owned()],
            ..Context::default()
        };
        let document = run_document(&summary, Some(&series), &context);
        println!("{}", to_terminal(&document, Screen { colours: true, ..Screen::NONE }));
        let files = run_files(&summary, Some(&series), &document);
        write_all(&folder.join(format!("flows-{flows}")), &files)?;
    }
    let pictures = [bars(), intervals(), logarithmic(), shapes()];
    let files = pictures.iter().flat_map(|plot| {
        let (svg, png) = (format!("{}.svg", plot.id), format!("{}.png", plot.id));
        [OutputFile::new(svg, plot.to_svg()), OutputFile::new(png, plot.to_png())]
    });
    write_all(&folder, &files.collect::<Vec<_>>())?;
    Ok(())
}

fn bars() -> Plot {
    let links = ["512 kbit/s, 5 ms", "1.5 Mbit/s, 2 ms", "2 Mbit/s, 2 ms", "5 Mbit/s, 2 ms"];
    let row = |name: &str, values: [f64; 4]| {
        PlotSeries::new(name, Mark::Bars, (0..4).map(|i| (i as f64, values[i])))
    };
    let mut plot = Plot::new("bars", "Fairness", "bottleneck", "fairness (%)")
        .with(row("paper, drop-tail", [12.0, 11.26, 11.25, 10.41]))
        .with(row("here, drop-tail", [10.3, 9.0, 8.6, 5.8]).with_errors([Some(2.0); 4]))
        .with(row("paper, selective drop", [91.62, 94.08, 88.14, 96.43]))
        .with(row("here, selective drop", [90.0, 95.0, 92.0, 94.0]).with_errors([Some(4.0); 4]));
    plot.x.scale = Scale::Categories(links.map(str::to_owned).to_vec());
    plot.y.range = Range::Fixed(0.0, 100.0);
    plot
}

fn intervals() -> Plot {
    let curve = |name: &str, knee: f64, mark| {
        let value = move |w: f64| if w < knee { w * 0.95 / knee } else { 0.95 + (w - knee) * 0.02 };
        let points = (1..=30).map(f64::from).map(|window| (window, value(window)));
        PlotSeries::new(name, mark, points)
    };
    Plot::new(
        "intervals",
        "Throughput against window",
        "base window (segments)",
        "throughput (Mbit/s)",
    )
    .with(curve("Reno", 5.0, Mark::LinePoints(Shape::Disc)).with_errors([Some(0.05); 30]))
    .with(curve("Vegas", 9.0, Mark::LinePoints(Shape::Square)).with_errors([Some(0.08); 30]))
    .with(PlotSeries::new("capacity", Mark::Line, [(1.0, 1.5), (30.0, 1.5)]).dashed().coloured(6))
}

fn logarithmic() -> Plot {
    let points = |factor: f64| {
        (0..=40).map(move |i| {
            let loss = 10f64.powf(-6.0 + f64::from(i) / 10.0);
            (loss, factor * 1.22 / loss.sqrt())
        })
    };
    let mut plot = Plot::new("log", "Response function", "loss rate", "window (segments)")
        .with(PlotSeries::new("theory", Mark::Line, points(1.0)).dashed())
        .with(PlotSeries::new("measured", Mark::Points(Shape::Triangle), points(0.9)));
    plot.x.scale = Scale::Log;
    plot.y.scale = Scale::Log;
    plot.y.range = Range::Data;
    plot
}

fn shapes() -> Plot {
    let all = [Shape::Dot, Shape::Disc, Shape::Square, Shape::Triangle, Shape::Cross];
    all.into_iter().enumerate().fold(
        Plot::new("shapes", "Shapes µ ± γ", "x (ms)", "y"),
        |plot, (row, shape)| {
            let points = (0..30).map(|i| (f64::from(i), row as f64 + f64::from(i).sin() / 3.0));
            plot.with(PlotSeries::new(&format!("{shape:?}"), Mark::Points(shape), points))
        },
    )
}
