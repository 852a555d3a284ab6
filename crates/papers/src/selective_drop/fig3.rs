//! Fig. 3: both flows held to the same base window, from 1 to 30 packets, on 2 Mbit/s and 5 ms.

use super::ns2::Band;
use super::sample::{Outcomes, Sample, Shared};
use super::setup::{FAIR_PERCENT, FULL_PERCENT, File, Plan, Variation, set};
use super::tables::interval;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use serde::Serialize;

/// The paper's windows.
const WINDOWS: std::ops::RangeInclusive<u32> = 1..=30;
/// The paper's link.
pub(super) const RATE_KBIT_S: f64 = 2_000.0;
/// From here on the paper has the link full (§3.1.2: 4 and below do not fill it).
pub(super) const PAPER_FULL_FROM: f64 = 5.0;
/// Up to here it has both flows fair (from 10 on their difference grows).
pub(super) const PAPER_FAIR_UNTIL: f64 = 9.0;

#[derive(Debug)]
pub(super) struct Fig3Plan(Vec<(u32, Variation)>);

/// One base window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) packets: u32,
    pub(super) shared: Shared,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct WindowData {
    window_packets: u32,
    at_once: Sample,
    fairness_percent: Estimate,
    total_kbit_s: Estimate,
}

pub(super) fn plan(plan: &mut Plan) -> Result<Fig3Plan, Errors> {
    let mut windows = Vec::new();
    for window in WINDOWS {
        let changes = [set("tcp.max_window", window.to_string())];
        windows.push((window, plan.variation(File::BaseWindow, &changes, KeepSeries::No)?));
    }
    Ok(Fig3Plan(windows))
}

pub(super) fn read(plan: &Fig3Plan, outcomes: &Outcomes) -> Vec<Window> {
    let window = |(packets, variation): &(u32, Variation)| Window {
        packets: *packets,
        shared: outcomes.shared(variation),
    };
    plan.0.iter().map(window).collect()
}

impl Window {
    pub(super) fn data(&self) -> WindowData {
        WindowData {
            window_packets: self.packets,
            at_once: self.shared.at_once,
            fairness_percent: self.shared.fairness(),
            total_kbit_s: self.shared.random(Sample::total_kbit_s),
        }
    }

    fn fills(&self) -> bool {
        self.shared.at_once.utilisation_percent >= FULL_PERCENT
    }
}

/// The smallest window from which on the link is full.
pub(super) fn full_from(windows: &[Window]) -> Option<u32> {
    windows.iter().find(|window| window.fills()).map(|window| window.packets)
}

/// The largest window up to which a measure of fairness stays above the paper's lowest.
pub(super) fn fair_until(windows: &[Window], fairness: impl Fn(&Window) -> f64) -> u32 {
    let fair = windows.iter().take_while(|window| fairness(window) >= FAIR_PERCENT);
    fair.last().map_or(0, |window| window.packets)
}

pub(super) fn table(windows: &[Window], band: &Band) -> Table {
    let columns = vec![
        Column::numbers("window", "packets"),
        Column::numbers("Reno", "kbit/s"),
        Column::numbers("Vegas", "kbit/s"),
        Column::numbers("sum", "kbit/s"),
        Column::numbers("used", "%"),
        Column::numbers("fairness at once", "%"),
        Column::numbers("random", "%"),
        Column::numbers("ns-2", "%"),
    ];
    let line = |window: &Window| {
        let once = &window.shared.at_once;
        vec![
            Cell::Count(u64::from(window.packets)),
            Cell::about(once.reno.kbit_s),
            Cell::about(once.vegas_kbit_s()),
            Cell::about(once.total_kbit_s()),
            Cell::number(once.utilisation_percent, 1),
            Cell::number(once.fairness_percent(), 2),
            interval(window.shared.fairness(), 2),
            Cell::number(band.window_fairness(window.packets), 2),
        ]
    };
    Table {
        caption: "Fig. 3: rates and fairness against the base window, 2 Mbit/s, 5 ms".to_owned(),
        columns,
        rows: windows.iter().map(line).collect(),
    }
}

pub(super) fn plots(windows: &[Window], band: &Band) -> Vec<Plot> {
    let x = |window: &Window| f64::from(window.packets);
    let rate = |pick: fn(&Sample) -> f64| {
        windows.iter().map(move |window| (x(window), pick(&window.shared.at_once)))
    };
    let mark = Mark::LinePoints;
    let link = [(1.0, RATE_KBIT_S), (30.0, RATE_KBIT_S)];
    let title = "Fig. 3: rates against the base window (both start at once)";
    let axis = "base window (packets)";
    let rates = Plot::new("fig-3-rates", title, axis, "rate (kbit/s)")
        .with(PlotSeries::new("Reno", mark(Shape::Disc), rate(|sample| sample.reno.kbit_s)))
        .with(PlotSeries::new("Vegas", mark(Shape::Square), rate(Sample::vegas_kbit_s)))
        .with(PlotSeries::new("total", mark(Shape::Triangle), rate(Sample::total_kbit_s)))
        .with(PlotSeries::new("link", Mark::Line, link).dashed());
    let random: Vec<Estimate> = windows.iter().map(|window| window.shared.fairness()).collect();
    let means = windows.iter().zip(&random).map(|(window, estimate)| (x(window), estimate.mean));
    let ns2 = windows
        .iter()
        .filter_map(|window| Some((x(window), band.window_fairness(window.packets)?)));
    let once = rate(Sample::fairness_percent);
    let fair = [(1.0, FAIR_PERCENT), (30.0, FAIR_PERCENT)];
    let title = "Fig. 3: fairness against the base window";
    let mut fairness = Plot::new("fig-3-fairness", title, axis, "fairness (%)")
        .with(PlotSeries::new("at once", mark(Shape::Disc), once))
        .with(
            PlotSeries::new("random starts, 95 %", mark(Shape::Square), means)
                .with_errors(random.iter().map(|estimate| estimate.ci95)),
        )
        .with(PlotSeries::new("ns-2, at once", mark(Shape::Triangle), ns2))
        .with(PlotSeries::new("what the paper calls fair", Mark::Line, fair).dashed());
    fairness.y.range = Range::Fixed(0.0, 100.0);
    vec![rates, fairness]
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    fn window(packets: u32, used: f64, vegas: f64) -> Window {
        let at_once = Sample { utilisation_percent: used, ..sample(1_000.0, vegas) };
        Window { packets, shared: Shared { at_once, random: vec![at_once] } }
    }

    #[test]
    fn the_knees_are_where_the_link_fills_and_where_fairness_ends() {
        let windows = [
            window(1, 40.0, 1_000.0),
            window(2, 98.9, 990.0),
            window(3, 99.0, 882.0),
            window(4, 100.0, 880.0),
            window(5, 100.0, 950.0),
        ];
        assert_eq!(full_from(&windows), Some(3));
        let fairness = |window: &Window| window.shared.at_once.fairness_percent();
        assert_eq!(fair_until(&windows, fairness), 3, "what comes after an unfair window is late");
        assert_eq!(full_from(&windows[..2]), None);
    }
}
