//! Fig. 6: the smallest base window with which one sender fills 2 Mbit/s, for four delays.
//!
//! The text does not say how many senders Fig. 5 has, nor its access delays. It is one: two senders
//! fill the link with about half the window each, as Fig. 3 shows. Both access delays are run with
//! which ns-2 was measured.

use super::ns2::Band;
use super::sample::Run;
use super::setup::{FULL_PERCENT, Much, SMALLEST_WINDOW};
use crate::cells::{Cell, Cells};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_report::document::{self, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Shape};
use serde::Serialize;

/// Windows tried.
const WINDOWS: std::ops::RangeInclusive<u32> = 1..=12;

/// A delay of the bottleneck with the paper's smallest window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delay {
    pub(super) millis: u32,
    pub(super) paper_packets: u32,
}

/// Chae and Choi 2004 Fig. 6 and the text below it.
const DELAYS: [Delay; 4] = [
    Delay { millis: 1, paper_packets: 4 },
    Delay { millis: 3, paper_packets: 5 },
    Delay { millis: 5, paper_packets: 6 },
    Delay { millis: 10, paper_packets: 8 },
];

/// Delay of both access links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) delay: &'static str,
    /// For people.
    pub(super) label: &'static str,
    /// As in names of claims.
    pub(super) id: &'static str,
}

/// As everywhere else here, and half as much again.
pub(super) const ACCESSES: [Access; 2] = [
    Access { delay: "1 ms", label: "1 ms", id: "access-1ms" },
    Access { delay: "1500 us", label: "1.5 ms", id: "access-1.5ms" },
];

/// One delay with one access delay: a run for each window, from 1 on.
pub(super) type Key = (Access, Delay);
pub(super) type Filling = Cell<Key, Run>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    ACCESSES.into_iter().flat_map(|access| DELAYS.map(|delay| (access, delay)))
}

pub(super) fn setups((access, delay): Key, much: Much) -> impl Iterator<Item = Setup> {
    WINDOWS.map(move |window| {
        let changes = vec![
            set("links.bottleneck.delay", format!("{} ms", delay.millis)),
            set("links.reno-access.delay", access.delay),
            set("links.receiver-access.delay", access.delay),
            set("tcp.max_window", window.to_string()),
        ];
        much.single(SMALLEST_WINDOW, changes)
    })
}

/// The smallest window that fills the link.
pub(super) fn smallest(filling: &Filling) -> Option<u32> {
    let full = |(_, run): &(u32, &Run)| run.sample.utilisation_percent >= FULL_PERCENT;
    WINDOWS.zip(&filling.0).find(full).map(|(window, _)| window)
}

/// The smallest whole window above `2 tau BW / (8 L_D) + 1` (Eq. 7), with tau the delay of the
/// bottleneck alone, as the paper has it, T_ACK zero and packets of 1040 B.
pub(super) fn by_equation_7(delay: Delay) -> u32 {
    let bits = 2.0 * f64::from(delay.millis) * 1e-3 * 2e6;
    (bits / (8.0 * 1_040.0) + 1.0).floor() as u32 + 1
}

pub(super) fn data(fillings: &Cells<Key, Run>, band: &Band) -> Vec<impl Serialize> {
    let data = |filling: &Filling| {
        let (access, delay) = filling.key;
        record! {
            access_delay: access.label,
            delay_ms: delay.millis,
            paper_packets: delay.paper_packets,
            smallest_window_packets: smallest(filling),
            equation_7_packets: by_equation_7(delay),
            ns2_packets: band.smallest_window(access.label, delay.millis),
            used_percent_by_window: filling.each(|run| run.sample.utilisation_percent),
        }
    };
    fillings.iter().map(data).collect()
}

pub(super) fn table(fillings: &Cells<Key, Run>, band: &Band) -> Table {
    use document::Cell;
    let count = |packets: Option<u32>| packets.map_or(Cell::Missing, |p| Cell::Count(u64::from(p)));
    rows(&**fillings)
        .words("access delay", |filling| filling.key.0.label)
        .count(("bottleneck delay", "ms"), |filling| filling.key.1.millis)
        .count(("paper", "packets"), |filling| filling.key.1.paper_packets)
        .cell(("here", "packets"), |filling| count(smallest(filling)))
        .cell(("ns-2", "packets"), |filling| {
            count(band.smallest_window(filling.key.0.label, filling.key.1.millis))
        })
        .count(("Eq. 7", "packets"), |filling| by_equation_7(filling.key.1))
        .titled("Fig. 6: the smallest window that fills 2 Mbit/s")
}

/// Use of the link against the window, for the access delay of the other experiments.
pub(super) fn plot(fillings: &Cells<Key, Run>) -> Plot {
    let title = "Fig. 6: one sender with a base window on 2 Mbit/s (access 1 ms)";
    let mut plot = Plot::new("fig-6", title, "base window (packets)", "link used (%)");
    let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Dot];
    let of_access = fillings.iter().filter(|filling| filling.key.0 == ACCESSES[0]);
    for (filling, shape) in of_access.zip(shapes) {
        let used = filling.each(|run| run.sample.utilisation_percent);
        let name = format!("{} ms", filling.key.1.millis);
        let points = WINDOWS.map(f64::from).zip(used);
        plot = plot.with(PlotSeries::new(&name, Mark::LinePoints(shape), points));
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_7_by_hand() {
        let window = |millis| by_equation_7(Delay { millis, paper_packets: 0 });
        // 2 * 1 ms * 2 Mbit/s are 4000 bit or 0.48 packets, so W > 1.48; 10 ms: 4.8, W > 5.8.
        assert_eq!([1, 3, 5, 10].map(window), [2, 3, 4, 6]);
    }
}
