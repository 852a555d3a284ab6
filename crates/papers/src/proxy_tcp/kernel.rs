//! The same boxes before a stock kernel's sender, in simulated time, beside the `linux` profile on the same path.
//!
//! `papers/proxy-tcp/kernel/simulated.json` is what `scripts/proxy-kernel.py` writes: both ends are kernels, path
//! and box are the simulation's, phase by phase.

use super::sample::Sample;
use super::setup::Id;
use super::stock::{OUTAGES, SENDERS, Stock};
use crate::tables::rows;
use ackord_measure::stats::{Estimate, estimate, ratio};
use ackord_report::document::Table;
use serde::{Deserialize, Serialize};

const FIGURES: &str = include_str!("../../../../papers/proxy-tcp/kernel/simulated.json");

/// The boxes that were put before the kernel.
pub(super) const BOXES: [&str; 4] = ["none", "snoop", "paper", "practical"];

#[derive(Deserialize)]
struct Figures {
    kernel: String,
    /// Which of `stock.rs` the kernel was put through, in the order of `mbytes`.
    phases: Vec<usize>,
    setups: Vec<Setup>,
}

#[derive(Deserialize)]
struct Setup {
    sender: String,
    #[serde(rename = "box")]
    middle: String,
    outage_s: f64,
    /// Delivered, phase by phase.
    mbytes: Vec<f64>,
}

/// One set-up on both.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Beside {
    pub(super) sender: &'static str,
    pub(super) middle: &'static str,
    pub(super) outage_s: f64,
    pub(super) kernel_mb: Estimate,
    pub(super) ours_mb: Estimate,
    /// How much more is delivered here than there, per cent.
    pub(super) off_percent: Estimate,
    /// What the kernel delivers of the ideal, per cent.
    pub(super) kernel_of_ideal_percent: Estimate,
}

/// The kernel's release.
pub(super) fn version() -> String {
    figures().kernel
}

fn figures() -> Figures {
    serde_json::from_str(FIGURES).expect("a file of this project, read by its tests")
}

/// Every set-up that the kernel was put through.
pub(super) fn compare(stock: &Stock) -> Vec<Beside> {
    let figures = figures();
    let mut all = Vec::new();
    for sender in &SENDERS {
        for middle in BOXES {
            for outage_s in OUTAGES {
                let wanted = |setup: &&Setup| {
                    (setup.sender.as_str(), setup.middle.as_str()) == (sender.id, middle)
                        && setup.outage_s == outage_s
                };
                let found = figures.setups.iter().find(wanted);
                all.extend(found.map(|found| {
                    beside(&figures.phases, found, stock, (middle, sender.id, outage_s))
                }));
            }
        }
    }
    all
}

fn beside(
    phases: &[usize],
    kernel: &Setup,
    stock: &Stock,
    (middle, sender, outage_s): (Id, Id, f64),
) -> Beside {
    let kernel_mb = estimate(&kernel.mbytes).expect("a set-up has runs");
    // Phase by phase; a quick reproduction has the first one only.
    let each = stock.of(middle, sender, outage_s).each(Sample::delivered_mb);
    let pairs = phases.iter().zip(&kernel.mbytes);
    let (same, theirs): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(phase, mb)| Some((*each.get(*phase)?, *mb))).unzip();
    let ours_mb = estimate(&same).expect("the first phase is always run");
    let times = ratio(&same, &theirs).expect("they are pairs");
    Beside {
        sender,
        middle,
        outage_s,
        kernel_mb,
        ours_mb,
        off_percent: times.plus(-1.0).times(100.0),
        kernel_of_ideal_percent: kernel_mb.times(100.0 / stock.ideal_mb(sender, outage_s)),
    }
}

pub(super) fn table(all: &[Beside]) -> Table {
    rows(all)
        .words("sender", |one| one.sender)
        .words("middlebox", |one| one.middle)
        .number(("outage", "s"), 1, |one| one.outage_s)
        .mean(("kernel", "MB"), 2, |one| one.kernel_mb)
        .number(("of the ideal", "%"), 0, |one| one.kernel_of_ideal_percent)
        .mean(("ours", "MB"), 2, |one| one.ours_mb)
        .mean(("off", "%"), 1, |one| one.off_percent)
        .titled(format!(
            "{} in simulated time beside `profile = \"linux\"`, the same box before both: delivered in \
             10 s",
            version()
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_can_be_read_and_stay_below_what_the_link_carries() {
        let figures = figures();
        assert!(figures.kernel.starts_with("Linux "), "{}", figures.kernel);
        assert_eq!(figures.setups.len(), SENDERS.len() * BOXES.len() * OUTAGES.len());
        assert_eq!(figures.phases.first(), Some(&0), "what a quick reproduction has");
        for setup in &figures.setups {
            let most = 10.0 * (10.0 - setup.outage_s) / 8.0;
            let found = estimate(&setup.mbytes).expect("runs");
            assert_eq!(setup.mbytes.len(), figures.phases.len());
            assert!(found.max <= most, "{} {} {}", setup.sender, setup.middle, found.max);
        }
    }
}
