//! Tables 1 to 4: every size, control, growth rule and policy; times, rates, tails and costs.

use super::sample::Sample;
use super::setup::{Air, Control, Growth, PaperSize, Policy, RUNS_OF_PAPER, SIZES, Transfer};
use crate::cells::{Cell, Cells, Runs};
use crate::tables::{record, rows};
use ackord_report::document::{self, Table};
use serde::Serialize;

/// The runs of every set-up.
pub(super) type Transfers = Cells<Transfer, Sample>;

/// Policies tried on a busy air.
pub(super) const ON_BUSY_AIR: [Policy; 3] = [Policy::QuickAck, Policy::Ari, Policy::Linux];

pub(super) fn keys() -> Vec<Transfer> {
    let mut keys = Vec::new();
    for control in Control::ALL {
        for size in 0..SIZES.len() {
            for growth in Growth::ALL {
                let quiet = Policy::of_transfers().map(|policy| (policy, Air::Quiet));
                let busy = ON_BUSY_AIR.map(|policy| (policy, Air::Busy));
                let busy = busy.into_iter().filter(|_| growth == Growth::PerAck);
                let distant = Policy::of_transfers().map(|policy| (policy, Air::Distant));
                let distant = distant.filter(|_| control == Control::Reno);
                let all = quiet.chain(busy).chain(distant);
                keys.extend(all.map(|(policy, air)| Transfer {
                    size,
                    control,
                    growth,
                    policy,
                    air,
                }));
            }
        }
    }
    keys
}

pub(super) fn data(transfers: &Transfers) -> Vec<impl Serialize> {
    let data = |runs: &Cell<Transfer, Sample>| {
        let (of, times) = (runs.key, runs.times());
        record! {
            size: of.size().label,
            control: of.control,
            growth: of.growth,
            policy: of.policy,
            air: of.air,
            time_s: runs.mean(Sample::time_s),
            p50_s: times.p50,
            p95_s: times.p95,
            p99_s: times.p99,
            worst_s: times.max,
            rate_mbit_s: runs.mean(Sample::first_rate_mbit_s),
            acks: runs.mean(|run| run.acks),
            timeouts: runs.mean(|run| run.timeouts),
            retransmitted: runs.mean(|run| run.retransmitted),
            down_air_s: runs.mean(|run| run.down_air_s),
            up_air_s: runs.mean(|run| run.up_air_s),
        }
    };
    transfers.iter().map(data).collect()
}

/// Which of a run's numbers a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Time,
    Rate,
}

impl Quantity {
    pub(super) fn of(self, sample: &Sample) -> f64 {
        match self {
            Quantity::Time => sample.time_s(),
            Quantity::Rate => sample.first_rate_mbit_s(),
        }
    }

    pub(super) fn paper(self, size: &PaperSize, control: Control) -> [f64; 2] {
        match self {
            Quantity::Time => control.of(&size.time_s),
            Quantity::Rate => control.of(&size.rate_mbit_s),
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Quantity::Time => "s",
            Quantity::Rate => "Mbit/s",
        }
    }
}

/// One of Tables 1 to 4: the paper's numbers and ours, without and with ARI, and the change.
pub(super) fn table(
    caption: &str,
    transfers: &Transfers,
    (quantity, control): (Quantity, Control),
) -> Table {
    let unit = quantity.unit();
    let runs = |size, policy| transfers.of(&Transfer::as_described(size, control, policy));
    let base = |size: &usize| runs(*size, Policy::QuickAck);
    let ari = |size: &usize| runs(*size, Policy::Ari);
    let paper = |size: &usize| quantity.paper(&SIZES[*size], control);
    rows(0..SIZES.len())
        .words("size", |size| SIZES[*size].label)
        .number(("Linux: paper", unit), 3, |size| paper(size)[0])
        .mean(("here", unit), 3, |size| base(size).mean(|run| quantity.of(run)))
        .number(("ARI: paper", unit), 3, |size| paper(size)[1])
        .mean(("here", unit), 3, |size| ari(size).mean(|run| quantity.of(run)))
        .number(("change: paper", "%"), 1, |size| 100.0 * (paper(size)[1] / paper(size)[0] - 1.0))
        .mean(("here", "%"), 1, |size| ari(size).change_percent(base(size), |run| quantity.of(run)))
        .titled(caption)
}

/// Median, tail and worst of the times, with the slowest of thirty over the median.
pub(super) fn tail_table(transfers: &Transfers) -> Table {
    let shown = transfers
        .iter()
        .filter(|runs| runs.key.growth == Growth::PerAck && ON_BUSY_AIR.contains(&runs.key.policy));
    rows(shown)
        .words("size", |runs| runs.key.size().label)
        .words("control", |runs| runs.key.control.label())
        .words("path", |runs| runs.key.air.id())
        .words("phone", |runs| runs.key.policy.label())
        .number(("mean", "ms"), 1, |runs| runs.times().mean * 1e3)
        .number(("median", "ms"), 1, |runs| runs.times().p50 * 1e3)
        .number(("p95", "ms"), 1, |runs| runs.times().p95 * 1e3)
        .number(("p99", "ms"), 1, |runs| runs.times().p99 * 1e3)
        .number(("worst", "ms"), 1, |runs| runs.times().max * 1e3)
        .mean(("slowest of 30", "%"), 0, |runs| {
            runs.slowest_over_median(RUNS_OF_PAPER).times(100.0)
        })
        .titled(
            "Times of the transfers, host growing per acknowledgment; the slowest of thirty as \
             a share of the median rate",
        )
}

/// ARI against a stock Linux kernel as measured: what remains of its gain.
pub(super) fn against_linux_table(transfers: &Transfers) -> Table {
    let shown = transfers
        .iter()
        .filter(|runs| runs.key.policy == Policy::Linux && runs.key.air != Air::Busy);
    let with = |linux: &Cell<Transfer, _>, policy| transfers.of(&linux.key.with(policy));
    let change = |linux: &Cell<Transfer, Sample>, policy| {
        with(linux, policy).change_percent(linux, Sample::time_s)
    };
    let acks = |runs: &Runs<Sample>| runs.mean(|run| run.acks);
    rows(shown)
        .words("size", |linux| linux.key.size().label)
        .words("host", |linux| linux.key.host())
        .words("path", |linux| linux.key.air.id())
        .mean(("Linux", "ms"), 1, |linux| linux.mean_ms(Sample::time_s))
        .mean(("ARI (paper)", "%"), 1, |linux| change(linux, Policy::Ari))
        .mean(("(practical)", "%"), 1, |linux| change(linux, Policy::AriHistory))
        .number(("ACKs: Linux", ""), 0, |linux| acks(linux))
        .number(("(paper)", ""), 0, |linux| acks(with(linux, Policy::Ari)))
        .number(("(practical)", ""), 0, |linux| acks(with(linux, Policy::AriHistory)))
        .titled("ARI against Linux (measured): changes of the time, and acknowledgments")
}

/// What each policy gains against Linux as the paper has it and what it costs, for the smallest and
/// the largest transfers and both growth rules.
pub(super) fn cost_table(caption: &str, transfers: &Transfers, air: Air) -> Table {
    let ends = [0, SIZES.len() - 1];
    let shown =
        transfers.iter().filter(|runs| runs.key.air == air && ends.contains(&runs.key.size));
    rows(shown)
        .words("size", |runs| runs.key.size().label)
        .words("host", |runs| runs.key.host())
        .words("phone", |runs| runs.key.policy.label())
        .mean(("time", "ms"), 1, |runs| runs.mean_ms(Sample::time_s))
        .cell(("change", "%"), |runs| {
            if runs.key.policy == Policy::QuickAck {
                return document::Cell::Missing;
            }
            let base = transfers.of(&runs.key.with(Policy::QuickAck));
            crate::tables::interval(runs.change_percent(base, Sample::time_s), 1)
        })
        .number(("ACKs", ""), 0, |runs| runs.mean(|run| run.acks))
        .number(("air of data", "ms"), 1, |runs| runs.mean(|run| run.down_air_s).mean * 1e3)
        .number(("air of ACKs", "ms"), 1, |runs| runs.mean(|run| run.up_air_s).mean * 1e3)
        .number(("air in use", "%"), 1, |runs| runs.mean(Sample::air_percent))
        .titled(caption)
}

/// The paper's two measurements beside each other: what its times say of its rates.
pub(super) fn paper_table() -> Table {
    let of_size = |size: &'static PaperSize| {
        Control::ALL.into_iter().flat_map(move |control| {
            let both = control.of(&size.time_s).into_iter().zip(control.of(&size.rate_mbit_s));
            let named = both.zip(["", ", ARI"]);
            named.map(move |(both, ari)| (size, format!("{}{ari}", control.label()), both))
        })
    };
    let megabits = |size: &PaperSize| size.bytes as f64 * 8.0 / 1e6;
    rows(SIZES.iter().flat_map(of_size))
        .words("size", |(size, _, _)| size.label)
        .words("host and phone", |row| row.1.clone())
        .number(("time in the paper", "s"), 3, |(_, _, (time, _))| *time)
        .number(("size over time", "Mbit/s"), 2, |(size, _, (time, _))| megabits(size) / time)
        .number(("rate in the paper", "Mbit/s"), 3, |(_, _, (_, rate))| *rate)
        .number(("size over rate", "s"), 3, |(size, _, (_, rate))| megabits(size) / rate)
        .titled("The paper's times against its rates (1 MB taken as 10^6 B)")
}
