//! What ns-2 says about the same path (`papers/dad-sd/ns2/band.json`), beside ours.

use super::curves::{Points, curve};
use super::sample::Run;
use super::setup::{INTERVALS, Interval, Place, tau};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
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
struct BandEstimate {
    mean: f64,
    ci95: f64,
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
    pub(super) place: Place,
    pub(super) ours: Estimate,
    pub(super) ns2: Estimate,
}

impl Band {
    /// # Panics
    /// If the embedded file is not what `band.py` writes, which a test asserts.
    pub(super) fn embedded() -> Band {
        let text = include_str!("../../../../papers/dad-sd/ns2/band.json");
        serde_json::from_str(text).expect("band.json is written by band.py")
    }

    pub(super) fn point(&self, name: &str, interval: Interval, tenths: u32) -> Option<Estimate> {
        let sender = self.senders.iter().find(|sender| sender.name == name)?;
        let curve = sender.curves.iter().find(|curve| curve.interval_ms == interval.millis)?;
        let point = curve.points.iter().find(|point| (point.tau - tau(tenths)).abs() < 1e-6)?;
        let BandEstimate { mean, ci95 } = point.goodput_mbit_s;
        Some(Estimate { ci95: Some(ci95), ..Estimate::exact(mean) })
    }
}

impl Compared {
    /// Ours above (or, negative, below) ns-2's, in per cent of it.
    pub(super) fn difference_percent(&self) -> Estimate {
        self.ours.over(&self.ns2).plus(-1.0).times(100.0)
    }
}

/// Every point that both have.
pub(super) fn compare(band: &Band, points: &Points) -> Vec<Compared> {
    let mut compared = Vec::new();
    for interval in INTERVALS {
        for (policy, name) in BESIDE {
            compared.extend(curve(points, policy, interval).0.iter().filter_map(|point| {
                let ns2 = band.point(name, interval, point.key.tenths)?;
                Some(Compared { place: point.key, ours: point.mean(Run::goodput), ns2 })
            }));
        }
    }
    compared
}

pub(super) fn data(compared: &[Compared]) -> Vec<impl Serialize> {
    let data = |point: &Compared| {
        record! {
            policy: point.place.policy.id,
            interval_ms: point.place.interval.millis,
            tau: point.place.tau(),
            ours_mbit_s: point.ours.mean,
            ns2_mbit_s: point.ns2.mean,
            difference_percent: point.difference_percent().mean,
        }
    };
    compared.iter().map(data).collect()
}

pub(super) fn table(compared: &[Compared], interval: Interval) -> Table {
    rows(compared.iter().filter(|point| point.place.interval == interval))
        .words("sender", |point| point.place.policy.label)
        .number(("tau", ""), 1, |point| point.place.tau())
        .mean(("ns-2", "Mbit/s"), 3, |point| point.ns2)
        .mean(("ours", "Mbit/s"), 3, |point| point.ours)
        .number(("difference", "%"), 1, |point| point.difference_percent())
        .titled(format!("ns-2 beside ours, delay redrawn every {} ms", interval.millis))
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
                    assert!(
                        point.mean < 2.93 && point.ci95 < Some(0.1 * point.mean + 0.02),
                        "{point:?}"
                    );
                }
            }
        }
    }
}
