//! Fig. 3: both flows held to the same base window, from 1 to 30 packets, on 2 Mbit/s and 5 ms.

use super::ns2::Band;
use super::sample::{Run, Sample};
use super::setup::{BASE_WINDOW, FAIR_PERCENT, Much};
use crate::cells::{Cell, Cells};
use crate::plan::{Setup, set};
use crate::tables::{record, rows, series};
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use serde::Serialize;

/// The paper's base windows, in packets.
pub(super) const WINDOWS: std::ops::RangeInclusive<u32> = 1..=30;
/// The paper's link.
pub(super) const RATE_KBIT_S: f64 = 2_000.0;
/// From here on the paper has the link full (§3.1.2: 4 and below do not fill it).
pub(super) const PAPER_FULL_FROM: f64 = 5.0;
/// Up to here it has both flows fair (from 10 on their difference grows).
pub(super) const PAPER_FAIR_UNTIL: f64 = 9.0;

/// By base window.
pub(super) type Windows = Cells<u32, Run>;

pub(super) fn setups(window: u32, much: Much) -> [Setup; 2] {
    much.both(BASE_WINDOW, vec![set("tcp.max_window", window.to_string())])
}

/// The smallest window from which on the link is full.
pub(super) fn full_from(windows: &[Cell<u32, Run>]) -> Option<u32> {
    windows.iter().find(|window| window.is_full()).map(|window| window.key)
}

/// The largest window up to which a measure of fairness stays above the paper's lowest.
pub(super) fn fair_until(
    windows: &[Cell<u32, Run>],
    fairness: impl Fn(&Cell<u32, Run>) -> f64,
) -> u32 {
    let fair = windows.iter().take_while(|window| fairness(window) >= FAIR_PERCENT);
    fair.last().map_or(0, |window| window.key)
}

pub(super) fn data(windows: &Windows) -> Vec<impl Serialize> {
    let data = |window: &Cell<u32, Run>| {
        record! {
            window_packets: window.key,
            at_once: *window.at_once(),
            fairness_percent: window.fairness(),
            total_kbit_s: window.random(Sample::total_kbit_s),
        }
    };
    windows.iter().map(data).collect()
}

pub(super) fn table(windows: &Windows, band: &Band) -> Table {
    rows(&**windows)
        .count(("window", "packets"), |window| window.key)
        .about(("Reno", "kbit/s"), |window| window.at_once().reno.kbit_s)
        .about(("Vegas", "kbit/s"), |window| window.at_once().vegas_kbit_s())
        .about(("sum", "kbit/s"), |window| window.at_once().total_kbit_s())
        .number(("used", "%"), 1, |window| window.at_once().utilisation_percent)
        .number(("fairness at once", "%"), 2, |window| window.at_once().fairness_percent())
        .mean(("random", "%"), 2, |window| window.fairness())
        .number(("ns-2", "%"), 2, |window| band.window_fairness(window.key))
        .titled("Fig. 3: rates and fairness against the base window, 2 Mbit/s, 5 ms")
}

pub(super) fn plots(windows: &Windows, band: &Band) -> [Plot; 2] {
    let x = |window: &Cell<u32, Run>| f64::from(window.key);
    let once = |pick: fn(&Sample) -> f64| {
        windows.iter().map(move |window| (x(window), pick(window.at_once())))
    };
    let mark = Mark::LinePoints;
    let level =
        |name, value| PlotSeries::new(name, Mark::Line, [(1.0, value), (30.0, value)]).dashed();
    let title = "Fig. 3: rates against the base window (both start at once)";
    let axis = "base window (packets)";
    let rates = Plot::new("fig-3-rates", title, axis, "rate (kbit/s)")
        .with(PlotSeries::new("Reno", mark(Shape::Disc), once(|sample| sample.reno.kbit_s)))
        .with(PlotSeries::new("Vegas", mark(Shape::Square), once(Sample::vegas_kbit_s)))
        .with(PlotSeries::new("total", mark(Shape::Triangle), once(Sample::total_kbit_s)))
        .with(level("link", RATE_KBIT_S));
    let random = windows.iter().map(|window| (x(window), window.fairness()));
    let ns2 = windows.iter().filter_map(|one| Some((x(one), band.window_fairness(one.key)?)));
    let title = "Fig. 3: fairness against the base window";
    let mut fairness = Plot::new("fig-3-fairness", title, axis, "fairness (%)")
        .with(PlotSeries::new("at once", mark(Shape::Disc), once(Sample::fairness_percent)))
        .with(series("random starts, 95 %", mark(Shape::Square), random))
        .with(PlotSeries::new("ns-2, at once", mark(Shape::Triangle), ns2))
        .with(level("what the paper calls fair", FAIR_PERCENT));
    fairness.y.range = Range::Fixed(0.0, 100.0);
    [rates, fairness]
}

#[cfg(test)]
mod tests {
    use super::super::sample::{runs, sample};
    use super::*;

    #[test]
    fn the_knees_are_where_the_link_fills_and_where_fairness_ends() {
        let window = |(key, used, vegas): (u32, f64, f64)| {
            let at_once = Sample { utilisation_percent: used, ..sample(1_000.0, vegas) };
            Cell { key, runs: runs(at_once, &[at_once]) }
        };
        let windows = [
            (1, 40.0, 1_000.0),
            (2, 98.9, 990.0),
            (3, 99.0, 882.0),
            (4, 100.0, 880.0),
            (5, 100.0, 950.0),
        ]
        .map(window);
        assert_eq!(full_from(&windows), Some(3));
        let fairness = |window: &Cell<u32, Run>| window.at_once().fairness_percent();
        assert_eq!(fair_until(&windows, fairness), 3, "what comes after an unfair window is late");
        assert_eq!(full_from(&windows[..2]), None);
    }
}
