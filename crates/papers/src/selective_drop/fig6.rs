//! Fig. 6: the smallest base window with which one sender fills 2 Mbit/s, for four delays.
//!
//! The text does not say how many senders Fig. 5 has, nor its access delays. It is one: two senders
//! fill the link with about half the window each, as Fig. 3 shows. Both access delays are run with
//! which ns-2 was measured.

use super::ns2::Band;
use super::sample::{Outcomes, Sample};
use super::setup::{FULL_PERCENT, File, Plan, set};
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Shape};
use ackord_scenario::Errors;
use serde::Serialize;

/// Windows tried.
const WINDOWS: std::ops::RangeInclusive<u32> = 1..=12;

/// A delay of the bottleneck with the paper's smallest window.
#[derive(Clone, Copy, Debug)]
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

#[derive(Debug)]
pub(super) struct Fig6Plan(Vec<(Access, Delay, Vec<usize>)>);

/// One delay with one access delay.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    pub(super) access: Access,
    pub(super) delay: Delay,
    /// By window, from 1 on.
    runs: Vec<Sample>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct FillingData {
    access_delay: &'static str,
    delay_ms: u32,
    paper_packets: u32,
    smallest_window_packets: Option<u32>,
    equation_7_packets: u32,
    ns2_packets: Option<u32>,
    used_percent_by_window: Vec<f64>,
}

pub(super) fn plan(plan: &mut Plan) -> Result<Fig6Plan, Errors> {
    let mut fillings = Vec::new();
    for access in ACCESSES {
        for delay in DELAYS {
            let mut runs = Vec::new();
            for window in WINDOWS {
                let changes = [
                    set("links.bottleneck.delay", format!("{} ms", delay.millis)),
                    set("links.reno-access.delay", access.delay),
                    set("links.receiver-access.delay", access.delay),
                    set("tcp.max_window", window.to_string()),
                ];
                runs.push(plan.single(File::SmallestWindow, &changes)?);
            }
            fillings.push((access, delay, runs));
        }
    }
    Ok(Fig6Plan(fillings))
}

pub(super) fn read(plan: &Fig6Plan, outcomes: &Outcomes) -> Vec<Filling> {
    let filling = |(access, delay, runs): &(Access, Delay, Vec<usize>)| Filling {
        access: *access,
        delay: *delay,
        runs: runs.iter().map(|index| outcomes.sample(*index)).collect(),
    };
    plan.0.iter().map(filling).collect()
}

impl Filling {
    /// The smallest window that fills the link.
    pub(super) fn smallest(&self) -> Option<u32> {
        let full = |sample: &Sample| sample.utilisation_percent >= FULL_PERCENT;
        WINDOWS.zip(&self.runs).find(|(_, sample)| full(sample)).map(|(window, _)| window)
    }

    /// The smallest whole window above `2 tau BW / (8 L_D) + 1` (Eq. 7), with tau the delay of the
    /// bottleneck alone, as the paper has it, T_ACK zero and packets of 1040 B.
    pub(super) fn by_equation_7(&self) -> u32 {
        let bits = 2.0 * f64::from(self.delay.millis) * 1e-3 * 2e6;
        (bits / (8.0 * 1_040.0) + 1.0).floor() as u32 + 1
    }

    pub(super) fn data(&self, band: &Band) -> FillingData {
        FillingData {
            access_delay: self.access.label,
            delay_ms: self.delay.millis,
            paper_packets: self.delay.paper_packets,
            smallest_window_packets: self.smallest(),
            equation_7_packets: self.by_equation_7(),
            ns2_packets: band.smallest_window(self.access, self.delay.millis),
            used_percent_by_window: self.runs.iter().map(|run| run.utilisation_percent).collect(),
        }
    }
}

pub(super) fn table(fillings: &[Filling], band: &Band) -> Table {
    let columns = vec![
        Column::words("access delay"),
        Column::numbers("bottleneck delay", "ms"),
        Column::numbers("paper", "packets"),
        Column::numbers("here", "packets"),
        Column::numbers("ns-2", "packets"),
        Column::numbers("Eq. 7", "packets"),
    ];
    let count = |packets: Option<u32>| packets.map_or(Cell::Missing, |p| Cell::Count(u64::from(p)));
    let line = |filling: &Filling| {
        vec![
            Cell::text(filling.access.label),
            Cell::Count(u64::from(filling.delay.millis)),
            Cell::Count(u64::from(filling.delay.paper_packets)),
            count(filling.smallest()),
            count(band.smallest_window(filling.access, filling.delay.millis)),
            Cell::Count(u64::from(filling.by_equation_7())),
        ]
    };
    Table {
        caption: "Fig. 6: the smallest window that fills 2 Mbit/s".to_owned(),
        columns,
        rows: fillings.iter().map(line).collect(),
    }
}

/// Use of the link against the window, for the access delay of the other experiments.
pub(super) fn plot(fillings: &[Filling]) -> Plot {
    let title = "Fig. 6: one sender with a base window on 2 Mbit/s (access 1 ms)";
    let mut plot = Plot::new("fig-6", title, "base window (packets)", "link used (%)");
    let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Dot];
    let of_access = fillings.iter().filter(|filling| filling.access == ACCESSES[0]);
    for (filling, shape) in of_access.zip(shapes) {
        let points = WINDOWS.zip(&filling.runs);
        let points = points.map(|(window, run)| (f64::from(window), run.utilisation_percent));
        let name = format!("{} ms", filling.delay.millis);
        plot = plot.with(PlotSeries::new(&name, Mark::LinePoints(shape), points));
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_7_by_hand() {
        let window = |millis| {
            let delay = Delay { millis, paper_packets: 0 };
            Filling { access: ACCESSES[0], delay, runs: Vec::new() }.by_equation_7()
        };
        // 2 * 1 ms * 2 Mbit/s are 4000 bit or 0.48 packets, so W > 1.48; 10 ms: 4.8, W > 5.8.
        assert_eq!([1, 3, 5, 10].map(window), [2, 3, 4, 6]);
    }
}
