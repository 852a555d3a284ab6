//! Stock Linux senders through an outage: every box beside the ideal, on the path on which a real
//! kernel was measured.

use super::sample::{Outcomes, Sample, Samples};
use super::setup::{BOXES, File, Middle, Plan, Runs, Sender, boxed, fades, set};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
use ackord_scenario::Errors;
use serde::Serialize;

/// How long the outages last, seconds, from second 3 on; and the length of every run.
pub(super) const OUTAGES: [f64; 2] = [1.5, 2.5];
const FROM_S: f64 = 3.0;
const RUN_S: f64 = 10.0;
/// Between two phases: as the kernel's runs are spread, a packet's time.
const PHASE_S: f64 = 0.0012;

/// The senders: a stock kernel's, one thing changed at a time.
pub(super) static SENDERS: [Sender; 4] = [
    Sender { id: "cubic", label: "CUBIC", changes: &[] },
    Sender {
        id: "reno",
        label: "Reno",
        // Growth as the kernel's Reno has it.
        changes: &[("tcp.congestion", "{ kind = \"reno\", growth = \"per-segment\" }")],
    },
    Sender { id: "no-timestamps", label: "no timestamps", changes: &[("tcp.timestamps", "off")] },
    Sender {
        id: "no-sack",
        label: "no SACK",
        changes: &[("tcp.sack", "off"), ("tcp.recovery", "newreno")],
    },
];

#[derive(Debug)]
pub(super) struct StockPlan {
    /// Without an outage and without a box, by sender.
    clean: Vec<Runs>,
    outages: Vec<(&'static Middle, &'static Sender, f64, Vec<Runs>)>,
}

/// One box, sender and outage.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) middle: &'static Middle,
    pub(super) sender: &'static Sender,
    pub(super) outage_s: f64,
    pub(super) samples: Samples,
    /// What could be delivered at best, MB.
    pub(super) ideal_mb: f64,
}

#[derive(Serialize)]
pub(super) struct StockData {
    middle_box: &'static str,
    sender: &'static str,
    outage_s: f64,
    delivered_mb: Estimate,
    ideal_mb: f64,
    new_data_s: Estimate,
}

pub(super) fn plan(plan: &mut Plan, phases: u32) -> Result<StockPlan, Errors> {
    let clean = |sender: &Sender| {
        let changes = [sender.changes(), vec![set("links.air.outage", "none")]].concat();
        plan.add(File::StockLinux, changes, 1)
    };
    let clean = SENDERS.iter().map(clean).collect::<Result<_, _>>()?;
    let mut outages = Vec::new();
    for outage_s in OUTAGES {
        for middle in &BOXES {
            for sender in &SENDERS {
                let at = |phase| {
                    let from = FROM_S + PHASE_S * f64::from(phase);
                    let fade = fades(&[(from, outage_s)]);
                    let changes = [middle.changes(), sender.changes(), fade].concat();
                    plan.add(File::StockLinux, changes, 1)
                };
                let runs = (0..phases).map(at).collect::<Result<_, _>>()?;
                outages.push((middle, sender, outage_s, runs));
            }
        }
    }
    Ok(StockPlan { clean, outages })
}

pub(super) fn read(plan: &StockPlan, outcomes: &Outcomes) -> Vec<Stock> {
    let one =
        |(middle, sender, outage_s, runs): &(&'static Middle, &'static Sender, f64, Vec<Runs>)| {
            let clean = SENDERS.iter().position(|known| known.id == sender.id);
            let clean = &plan.clean[clean.expect("one of the list")];
            let clean = outcomes.samples(clean).mean(Sample::delivered_mb).mean;
            Stock {
                middle,
                sender,
                outage_s: *outage_s,
                samples: Samples(runs.iter().flat_map(|runs| outcomes.samples(runs).0).collect()),
                // All of the time that the link is up, at the rate of a run without an outage.
                ideal_mb: clean * (RUN_S - outage_s) / RUN_S,
            }
        };
    plan.outages.iter().map(one).collect()
}

/// The runs of this box, sender and outage.
///
/// # Panics
/// If there are none: every combination is run.
pub(super) fn of<'a>(all: &'a [Stock], middle: &str, sender: &str, outage_s: f64) -> &'a Stock {
    let wanted = |one: &&Stock| {
        (one.middle.id, one.sender.id) == (middle, sender) && one.outage_s == outage_s
    };
    all.iter().find(wanted).expect("every combination is run")
}

impl Stock {
    pub(super) fn delivered(&self) -> Estimate {
        self.samples.mean(Sample::delivered_mb)
    }

    pub(super) fn data(&self) -> StockData {
        StockData {
            middle_box: self.middle.id,
            sender: self.sender.id,
            outage_s: self.outage_s,
            delivered_mb: self.delivered(),
            ideal_mb: self.ideal_mb,
            new_data_s: self.samples.mean(Sample::recovery_s),
        }
    }
}

pub(super) fn table(all: &[Stock]) -> Table {
    let mut columns = vec![Column::words("middle box"), Column::words("sender")];
    for outage_s in OUTAGES {
        columns.push(Column::numbers(&format!("{outage_s} s"), "MB"));
        columns.push(Column::numbers("of the ideal", "%"));
        columns.push(Column::numbers("new data", "s"));
    }
    let mut rows = Vec::new();
    for middle in &BOXES {
        for sender in &SENDERS {
            let mut row = vec![Cell::text(middle.label), Cell::text(sender.label)];
            for outage_s in OUTAGES {
                let stock = of(all, middle.id, sender.id, outage_s);
                let mb = stock.delivered();
                row.push(Cell::number(mb.mean, 2));
                row.push(Cell::number(100.0 * mb.mean / stock.ideal_mb, 0));
                row.push(Cell::number(stock.samples.mean(Sample::recovery_s).mean, 2));
            }
            rows.push(row);
        }
    }
    Table {
        caption:
            "A stock Linux sender through an outage: delivered in 10 s at 10 Mbit/s, 40 ms, of \
                  what a path could carry that is out as a whole (a box that splits connections is \
                  sent more meanwhile)"
                .to_owned(),
        columns,
        rows,
    }
}

/// What every box delivers of the ideal.
pub(super) fn plot(all: &[Stock]) -> Plot {
    let title = "A stock Linux sender through an outage of 2.5 s: delivered, of the ideal";
    let mut plot = Plot::new("stock-linux", title, "middle box", "of the ideal (%)");
    for sender in &SENDERS {
        let bars = BOXES.iter().enumerate().map(|(at, middle)| {
            let stock = of(all, middle.id, sender.id, 2.5);
            (at as f64, 100.0 * stock.delivered().mean / stock.ideal_mb)
        });
        plot = plot.with(PlotSeries::new(sender.label, Mark::Bars, bars));
    }
    let names = BOXES.iter().map(|middle| boxed(middle.id).label.to_owned()).collect();
    plot.x.scale = Scale::Categories(names);
    plot
}
