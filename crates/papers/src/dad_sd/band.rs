//! What ns-2 says about the same path (`papers/dad-sd/ns2/band.json`), beside ours.

use super::curves::{Curve, curve};
use super::setup::{INTERVALS, Interval, tau};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use serde::{Deserialize, Serialize};

/// `band.json`, as far as it is used.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Band {
    senders: Vec<BandSender>,
    pub(super) version: String,
}

#[derive(Clone, Debug, Deserialize)]
struct BandSender {
    name: String,
    curves: Vec<BandCurve>,
}

#[derive(Clone, Debug, Deserialize)]
struct BandCurve {
    interval_ms: u64,
    points: Vec<BandPoint>,
}

#[derive(Clone, Debug, Deserialize)]
struct BandPoint {
    tau: f64,
    goodput_mbit_s: BandEstimate,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct BandEstimate {
    pub(super) mean: f64,
    pub(super) ci95: f64,
}

/// Which of our policies stands beside which of ns-2's senders.
pub(super) static BESIDE: [(&str, &str); 5] = [
    ("reno", "reno"),
    ("newreno", "newreno"),
    ("sack", "sack"),
    ("fixed-10", "newreno-10"),
    ("fixed-30", "newreno-30"),
];

/// A point of ours beside ns-2's.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) policy: &'static str,
    pub(super) label: &'static str,
    pub(super) interval: Interval,
    pub(super) tenths: u32,
    pub(super) ours: Estimate,
    pub(super) ns2: BandEstimate,
}

#[derive(Serialize)]
pub(super) struct ComparedData {
    policy: &'static str,
    interval_ms: u64,
    tau: f64,
    ours_mbit_s: f64,
    ns2_mbit_s: f64,
    difference_percent: f64,
}

impl Band {
    /// # Panics
    /// If the embedded file is not what `band.py` writes, which a test asserts.
    pub(super) fn embedded() -> Band {
        let text = include_str!("../../../../papers/dad-sd/ns2/band.json");
        serde_json::from_str(text).expect("band.json is written by band.py")
    }

    pub(super) fn point(
        &self,
        name: &str,
        interval: Interval,
        tenths: u32,
    ) -> Option<BandEstimate> {
        let sender = self.senders.iter().find(|sender| sender.name == name)?;
        let curve = sender.curves.iter().find(|curve| curve.interval_ms == interval.millis)?;
        let point = curve.points.iter().find(|point| (point.tau - tau(tenths)).abs() < 1e-6)?;
        Some(point.goodput_mbit_s)
    }
}

impl Compared {
    /// Ours above (or, negative, below) ns-2's, in per cent of it.
    pub(super) fn difference_percent(&self) -> Estimate {
        let BandEstimate { mean, ci95 } = self.ns2;
        let ns2 = Estimate { ci95: Some(ci95), ..Estimate::exact(mean) };
        self.ours.over(&ns2).plus(-1.0).times(100.0)
    }

    pub(super) fn data(&self) -> ComparedData {
        ComparedData {
            policy: self.policy,
            interval_ms: self.interval.millis,
            tau: tau(self.tenths),
            ours_mbit_s: self.ours.mean,
            ns2_mbit_s: self.ns2.mean,
            difference_percent: self.difference_percent().mean,
        }
    }
}

/// Every point that both have.
pub(super) fn compare(band: &Band, curves: &[Curve]) -> Vec<Compared> {
    let mut compared = Vec::new();
    for interval in INTERVALS {
        for (policy, name) in BESIDE {
            let curve = curve(curves, policy, interval);
            let beside = |(tenths, ours): (u32, Estimate)| {
                let ns2 = band.point(name, interval, tenths)?;
                let (policy, label) = (curve.policy.id, curve.policy.label);
                Some(Compared { policy, label, interval, tenths, ours, ns2 })
            };
            compared.extend(curve.goodputs().filter_map(beside));
        }
    }
    compared
}

pub(super) fn table(compared: &[Compared], interval: Interval) -> Table {
    let columns = vec![
        Column::words("sender"),
        Column::numbers("tau", ""),
        Column::numbers("ns-2", "Mbit/s"),
        Column::numbers("ours", "Mbit/s"),
        Column::numbers("difference", "%"),
    ];
    let row = |point: &Compared| {
        vec![
            Cell::text(point.label),
            Cell::number(tau(point.tenths), 1),
            Cell::Interval { mean: point.ns2.mean, half_width: Some(point.ns2.ci95), decimals: 3 },
            super::curves::interval_cell(point.ours),
            Cell::number(point.difference_percent().mean, 1),
        ]
    };
    Table {
        caption: format!("ns-2 beside ours, delay redrawn every {} ms", interval.millis),
        columns,
        rows: compared.iter().filter(|point| point.interval == interval).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::setup::TAUS;
    use super::*;

    #[test]
    fn the_band_has_every_point_of_the_figures() {
        let band = Band::embedded();
        for interval in INTERVALS {
            for (_, name) in BESIDE {
                for tenths in TAUS {
                    let point = band.point(name, interval, tenths).expect(name);
                    // No more than the hop carries, and within a tenth of itself.
                    assert!(point.mean < 2.93 && point.ci95 < 0.1 * point.mean + 0.02, "{point:?}");
                }
            }
        }
    }
}
