//! Goodput against tau as plots: the paper's figures, and who else there is, few curves at a time.

use super::band::{BESIDE, Band};
use super::bounds::{base_rtt_s, capacity_mbit_s, mathis_mbit_s};
use super::curves::{Curve, Points, curve};
use super::setup::{Interval, TAUS, tau};
use crate::tables::{SHAPES, series};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale};

const X: &str = "tau";
const Y: &str = "goodput (Mbit/s)";

/// A plot of some policies: what its file is called, what is above it, and whose curves.
struct Group {
    id: &'static str,
    title: &'static str,
    policies: &'static [&'static str],
}

static GROUPS: [Group; 5] = [
    Group {
        id: "paper",
        title: "TCP-DAD and TCP-DAD-SD beside the senders they are to improve",
        policies: &["reno", "newreno", "sack", "dad", "dad-sd", "dad-sd-literal"],
    },
    Group {
        id: "floor",
        title: "How low the threshold may fall: to 3, or as low as it is led",
        policies: &["newreno", "dad", "dad-sd", "dad-no-floor", "dad-sd-no-floor"],
    },
    Group {
        id: "thresholds",
        title: "DAD-SD beside a fixed threshold",
        policies: &["newreno", "fixed-10", "fixed-30", "dad-sd", "dad-sd-literal", "practical"],
    },
    Group {
        id: "literature",
        title: "Other answers to reordering",
        policies: &["dad-sd", "ba-ewma", "ncr", "dcr", "pr", "eifel"],
    },
    Group {
        id: "modern",
        title: "Practical DAD-SD, RACK-TLP and fixed(30)",
        policies: &[
            "fixed-30-full",
            "practical-full",
            "rack",
            "fixed-30-linux",
            "practical-linux",
            "rack-linux",
        ],
    },
];

/// The figures of one interval.
pub(super) fn plots(points: &Points, interval: Interval) -> Vec<Plot> {
    let plot = |group: &Group| {
        let title =
            format!("Fig. {}: {} (every {} ms)", interval.figure, group.title, interval.millis);
        let id = format!("fig-{}-{}", interval.figure, group.id);
        let mut plot = Plot::new(&id, &title, X, Y);
        for (number, policy) in group.policies.iter().enumerate() {
            plot = plot.with(goodput(curve(points, policy, interval), number));
        }
        plot.with(capacity())
    };
    GROUPS.iter().map(plot).chain([bounds_plot(points, interval)]).collect()
}

fn goodput(curve: Curve<'_>, number: usize) -> PlotSeries {
    let points = curve.goodputs().map(|(tenths, goodput)| (tau(tenths), goodput));
    let mark = Mark::LinePoints(SHAPES[number % SHAPES.len()]);
    series(&curve.place().policy.full_label(), mark, points).coloured(number)
}

fn capacity() -> PlotSeries {
    let ends = [(0.0, capacity_mbit_s()), (2.0, capacity_mbit_s())];
    PlotSeries::new("payload capacity", Mark::Line, ends).dashed().coloured(6)
}

/// Practical DAD-SD and NewReno beside what loss alone would allow.
fn bounds_plot(points: &Points, interval: Interval) -> Plot {
    let title = format!(
        "What the 0.1 % loss alone allows a Reno sender, and what is reached (every {} ms)",
        interval.millis
    );
    let id = format!("fig-{}-bounds", interval.figure);
    let loss_bound = TAUS
        .iter()
        .map(|&tenths| (tau(tenths), mathis_mbit_s(base_rtt_s(tenths)).min(capacity_mbit_s())));
    let mut plot = Plot::new(&id, &title, X, Y);
    for (number, policy) in ["newreno", "dad-sd", "practical", "practical-full"].iter().enumerate()
    {
        plot = plot.with(goodput(curve(points, policy, interval), number));
    }
    plot.with(PlotSeries::new("Mathis, RTT without queue", Mark::Line, loss_bound).dashed())
        .with(capacity())
}

/// ns-2's curves beside ours: points are ns-2's, lines are ours.
pub(super) fn ns2_plot(points: &Points, band: &Band, interval: Interval) -> Plot {
    let title = format!("ns-2 (points) and ours (lines), every {} ms", interval.millis);
    let id = format!("ns-2-{}", interval.millis);
    let mut plot = Plot::new(&id, &title, X, Y);
    plot.y.scale = Scale::Log;
    plot.y.range = Range::Data;
    for (number, (policy, name)) in BESIDE.iter().enumerate() {
        let ours = curve(points, policy, interval);
        let means = ours.goodputs().map(|(tenths, goodput)| (tau(tenths), goodput.mean));
        let label = ours.label();
        plot = plot.with(PlotSeries::new(label, Mark::Line, means).coloured(number));
        let theirs = TAUS
            .iter()
            .filter_map(|&tenths| Some((tau(tenths), band.point(name, interval, tenths)?)));
        let mark = Mark::Points(SHAPES[number % SHAPES.len()]);
        plot = plot.with(series(&format!("{label}, ns-2"), mark, theirs).coloured(number));
    }
    plot
}
