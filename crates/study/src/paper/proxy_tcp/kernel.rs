//! A real kernel on the path of `stock-linux.toml`, beside ours. There the box knows of the outage
//! without delay; here it has to notice.

use super::stock::{OUTAGES, Stock, of};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use serde::{Deserialize, Serialize};

/// Measured by `scripts/linux-outage.py`.
const FIGURES: &str = include_str!("../../../../../papers/proxy-tcp/kernel/outages.json");

#[derive(Deserialize)]
struct Figures {
    kernel: String,
    setups: Vec<Setup>,
}

#[derive(Deserialize)]
struct Setup {
    congestion: String,
    timestamps: bool,
    sack: bool,
    help: String,
    outage_s: f64,
    mbytes: Spread,
}

#[derive(Deserialize)]
struct Spread {
    runs: Vec<f64>,
}

/// What the kernel's box does, and the box here that does the like.
static PAIRS: [(&str, &str, &str); 3] = [
    ("none", "none", "nothing"),
    ("freeze", "paper", "a window of zero in the outage"),
    ("replay", "practical", "repeats what was cached when it is over"),
];

/// Its senders by the names they have here: congestion, timestamps, SACK.
static SENDERS: [(&str, &str, bool, bool); 4] = [
    ("cubic", "cubic", true, true),
    ("reno", "reno", true, true),
    ("no-timestamps", "cubic", false, true),
    ("no-sack", "cubic", true, false),
];

/// One set-up on both.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Beside {
    pub(super) sender: &'static str,
    pub(super) middle: &'static str,
    does: &'static str,
    pub(super) outage_s: f64,
    pub(super) kernel_mb: Estimate,
    pub(super) ours_mb: Estimate,
}

impl Beside {
    /// How much more is delivered here than there.
    pub(super) fn off_percent(&self) -> Estimate {
        self.ours_mb.over(&self.kernel_mb).plus(-1.0).times(100.0)
    }
}

/// The kernel's version.
pub(super) fn version() -> String {
    figures().kernel
}

fn figures() -> Figures {
    serde_json::from_str(FIGURES).expect("a file of this project, read by its tests")
}

/// Every set-up that was measured on both.
pub(super) fn compare(stock: &[Stock]) -> Vec<Beside> {
    let figures = figures();
    let mut all = Vec::new();
    for (sender, congestion, timestamps, sack) in SENDERS {
        for (help, middle, does) in PAIRS {
            for outage_s in OUTAGES {
                let wanted = |setup: &&Setup| {
                    (setup.congestion.as_str(), setup.help.as_str()) == (congestion, help)
                        && (setup.timestamps, setup.sack) == (timestamps, sack)
                        && setup.outage_s == outage_s
                };
                let Some(found) = figures.setups.iter().find(wanted) else { continue };
                all.push(Beside {
                    sender,
                    middle,
                    does,
                    outage_s,
                    kernel_mb: estimate(&found.mbytes.runs).expect("a set-up has runs"),
                    ours_mb: of(stock, middle, sender, outage_s).delivered(),
                });
            }
        }
    }
    all
}

pub(super) fn table(all: &[Beside]) -> Table {
    let columns = vec![
        Column::words("sender"),
        Column::words("the kernel's box"),
        Column::words("ours"),
        Column::numbers("outage", "s"),
        Column::numbers("kernel", "MB"),
        Column::numbers("ours", "MB"),
        Column::numbers("off", "%"),
    ];
    let row = |one: &Beside| {
        vec![
            Cell::text(one.sender),
            Cell::text(one.does),
            Cell::text(one.middle),
            Cell::number(one.outage_s, 1),
            Cell::number(one.kernel_mb.mean, 2),
            Cell::number(one.ours_mb.mean, 2),
            Cell::number(one.off_percent().mean, 0),
        ]
    };
    Table {
        caption: format!(
            "{} beside `profile = \"linux\"`: delivered in 10 s. The kernel's box is told of the \
             outage, ours notices it; docs/linux-outage.md has the same box on both",
            version()
        ),
        columns,
        rows: all.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_can_be_read_and_stay_below_what_the_link_carries() {
        let figures = figures();
        assert!(figures.kernel.starts_with("Linux "), "{}", figures.kernel);
        for setup in figures.setups.iter().filter(|setup| setup.outage_s > 0.0) {
            let most = 10.0 * (10.0 - setup.outage_s) / 8.0;
            let found = estimate(&setup.mbytes.runs).expect("runs");
            assert!(found.mean <= most, "{} {}", setup.help, found.mean);
        }
    }
}
