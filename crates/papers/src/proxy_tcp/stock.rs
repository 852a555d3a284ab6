//! Stock Linux senders through an outage: every box beside the ideal, on the path on which a real
//! kernel was measured.

use super::sample::Sample;
use super::setup::{BOXES, Id, Pair, STOCK_LINUX, Sender, boxed, fades};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{at_whole_numbers, record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
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

/// The length of an outage in seconds, a box and a sender: a run for each phase.
pub(super) type Key = (f64, Pair);

#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) outages: Cells<Key, Sample>,
    /// Without an outage and without a box, by sender.
    pub(super) clean: Cells<Id, Sample>,
}

fn sender(id: Id) -> &'static Sender {
    SENDERS.iter().find(|sender| sender.id == id).expect("one of the list")
}

fn pairs() -> impl Iterator<Item = Pair> {
    BOXES.iter().flat_map(|middle| SENDERS.iter().map(|sender| (middle.id, sender.id)))
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    OUTAGES.into_iter().flat_map(|outage_s| pairs().map(move |pair| (outage_s, pair)))
}

pub(super) fn clean(of: Id) -> Setup {
    Setup::new(STOCK_LINUX, sender(of).changes()).with([set("links.air.outage", "none")]).seeds(1)
}

pub(super) fn setups((outage_s, (middle, of)): Key, phases: u32) -> impl Iterator<Item = Setup> {
    (0..phases).map(move |phase| {
        let from = FROM_S + PHASE_S * f64::from(phase);
        let changes = [boxed(middle).changes(), sender(of).changes(), fades(&[(from, outage_s)])];
        Setup::new(STOCK_LINUX, changes.concat()).seeds(1)
    })
}

impl Stock {
    pub(super) fn of(&self, middle: Id, sender: Id, outage_s: f64) -> &Runs<Sample> {
        self.outages.of(&(outage_s, (middle, sender)))
    }

    /// What could be delivered at best, MB: all of the time that the link is up, at the rate of a run without an
    /// outage.
    pub(super) fn ideal_mb(&self, sender: Id, outage_s: f64) -> f64 {
        let clean = self.clean.of(&sender).mean(Sample::delivered_mb).mean;
        clean * (RUN_S - outage_s) / RUN_S
    }

    pub(super) fn data(&self) -> Vec<impl Serialize> {
        let data = |one: &Cell<Key, Sample>| {
            let (outage_s, (middle, sender)) = one.key;
            record! {
                middle_box: middle,
                sender: sender,
                outage_s: outage_s,
                delivered_mb: one.mean(Sample::delivered_mb),
                ideal_mb: self.ideal_mb(sender, outage_s),
                new_data_s: one.first_data(),
            }
        };
        self.outages.iter().map(data).collect()
    }

    fn mean_of_ideal_percent(&self, middle: Id, sender: Id, outage_s: f64) -> f64 {
        let delivered: Estimate = self.of(middle, sender, outage_s).mean(Sample::delivered_mb);
        100.0 * delivered.mean / self.ideal_mb(sender, outage_s)
    }

    pub(super) fn table(&self) -> Table {
        rows(pairs())
            .words("middlebox", |(middle, _)| boxed(middle).label)
            .words("sender", |(_, of)| sender(of).label)
            .each(OUTAGES, |table, outage_s| {
                let runs = |pair: &Pair| self.of(pair.0, pair.1, outage_s);
                table
                    .number((&format!("{outage_s} s"), "MB"), 2, |pair| {
                        runs(pair).mean(Sample::delivered_mb)
                    })
                    .number(("of the ideal", "%"), 0, |(middle, sender)| {
                        self.mean_of_ideal_percent(middle, sender, outage_s)
                    })
                    .number(("new data", "s"), 2, |pair| runs(pair).first_data())
            })
            .titled(
                "A stock Linux sender through an outage: delivered in 10 s at 10 Mbit/s, 40 ms, of \
                 what a path could carry that is out as a whole (a box that splits connections is \
                 sent more meanwhile)",
            )
    }

    /// What every box delivers of the ideal.
    pub(super) fn plot(&self) -> Plot {
        let title = "A stock Linux sender through an outage of 2.5 s: delivered, of the ideal";
        let mut plot = Plot::new("stock-linux", title, "middlebox", "of the ideal (%)");
        for sender in &SENDERS {
            let of = BOXES.iter().map(|one| self.mean_of_ideal_percent(one.id, sender.id, 2.5));
            plot = plot.with(PlotSeries::new(sender.label, Mark::Bars, at_whole_numbers(of)));
        }
        plot.x.scale = Scale::Categories(BOXES.iter().map(|one| one.label.to_owned()).collect());
        plot
    }
}
