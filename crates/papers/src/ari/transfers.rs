//! Tables 1 to 4: every size, control, growth rule and policy; times, rates, tails and costs.

use super::sample::{Outcomes, Runs, Sample};
use super::setup::{
    Air, Control, File, Growth, PaperSize, Plan, Policy, RUNS_OF_PAPER, SIZES, Setup,
};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::Errors;
use serde::Serialize;
use std::ops::Range;

#[derive(Debug)]
pub(super) struct TransferPlan(Vec<(Setup, Range<usize>)>);

/// The runs of every set-up.
#[derive(Clone, Debug)]
pub(super) struct Transfers(Vec<(Setup, Runs)>);

/// A set-up as data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SetupData {
    size: &'static str,
    control: &'static str,
    growth: &'static str,
    policy: &'static str,
    air: &'static str,
    time_s: Estimate,
    /// As a clock that shows tenths of a second has it.
    p50_s: f64,
    p95_s: f64,
    p99_s: f64,
    worst_s: f64,
    rate_mbit_s: Estimate,
    acks: Estimate,
    timeouts: Estimate,
    retransmitted: Estimate,
    down_air_s: Estimate,
    up_air_s: Estimate,
}

/// Policies tried on a busy air.
pub(super) const ON_BUSY_AIR: [Policy; 3] = [Policy::QuickAck, Policy::Ari, Policy::Linux];

pub(super) fn plan(plan: &mut Plan, runs: u32) -> Result<TransferPlan, Errors> {
    let mut planned = Vec::new();
    for setup in setups() {
        planned.push((setup, plan.runs(File::Transfers, &setup.changes(), runs)?));
    }
    Ok(TransferPlan(planned))
}

fn setups() -> Vec<Setup> {
    let mut setups = Vec::new();
    for control in Control::ALL {
        for size in 0..SIZES.len() {
            for growth in Growth::ALL {
                let quiet = Policy::ALL.map(|policy| (policy, Air::Quiet));
                let busy = ON_BUSY_AIR.map(|policy| (policy, Air::Busy));
                let busy = busy.into_iter().filter(|_| growth == Growth::PerAck);
                let distant = Policy::ALL.map(|policy| (policy, Air::Distant));
                let distant = distant.into_iter().filter(|_| control == Control::Reno);
                let all = quiet.into_iter().chain(busy).chain(distant);
                setups.extend(all.map(|(policy, air)| Setup {
                    size,
                    control,
                    growth,
                    policy,
                    air,
                }));
            }
        }
    }
    setups
}

pub(super) fn read(plan: &TransferPlan, outcomes: &Outcomes) -> Transfers {
    Transfers(plan.0.iter().map(|(setup, range)| (*setup, outcomes.runs(range))).collect())
}

/// The set-up that the paper describes, for a size and control: a sender that grows per
/// acknowledgment on an air of its own.
pub(super) fn as_described(size: usize, control: Control, policy: Policy) -> Setup {
    Setup { size, control, growth: Growth::PerAck, policy, air: Air::Quiet }
}

impl Transfers {
    pub(super) fn of(&self, setup: Setup) -> &Runs {
        let found = self.0.iter().find(|(known, _)| *known == setup);
        &found.expect("the plan has every set-up that is asked for").1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Setup, &Runs)> {
        self.0.iter().map(|(setup, runs)| (setup, runs))
    }

    pub(super) fn data(&self) -> Vec<SetupData> {
        self.0.iter().map(|(setup, runs)| data(*setup, runs)).collect()
    }
}

fn data(setup: Setup, runs: &Runs) -> SetupData {
    let times = runs.times();
    SetupData {
        size: SIZES[setup.size].label,
        control: setup.control.name(),
        growth: setup.growth.name(),
        policy: setup.policy.name(),
        air: setup.air.name(),
        time_s: runs.mean(Sample::time_s),
        p50_s: times.p50,
        p95_s: times.p95,
        p99_s: times.p99,
        worst_s: times.max,
        rate_mbit_s: runs.mean(Sample::first_rate_mbit_s),
        acks: runs.mean(|run| run.acks as f64),
        timeouts: runs.mean(|run| run.timeouts as f64),
        retransmitted: runs.mean(|run| run.retransmitted as f64),
        down_air_s: runs.mean(|run| run.down_air_s),
        up_air_s: runs.mean(|run| run.up_air_s),
    }
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
pub(super) fn table(caption: &str, transfers: &Transfers, what: (Quantity, Control)) -> Table {
    let (quantity, control) = what;
    let unit = quantity.unit();
    let columns = vec![
        Column::words("size"),
        Column::numbers("Linux: paper", unit),
        Column::numbers("here", unit),
        Column::numbers("ARI: paper", unit),
        Column::numbers("here", unit),
        Column::numbers("change: paper", "%"),
        Column::numbers("here", "%"),
    ];
    let line = |(index, size): (usize, &PaperSize)| {
        let [paper, paper_ari] = quantity.paper(size, control);
        let runs = |policy| transfers.of(as_described(index, control, policy));
        let (base, ari) = (runs(Policy::QuickAck), runs(Policy::Ari));
        let mean = |runs: &Runs| interval(runs.mean(|sample| quantity.of(sample)), 3);
        vec![
            Cell::text(size.label),
            Cell::number(paper, 3),
            mean(base),
            Cell::number(paper_ari, 3),
            mean(ari),
            Cell::number(100.0 * (paper_ari / paper - 1.0), 1),
            interval(ari.change_percent(base, |sample| quantity.of(sample)), 1),
        ]
    };
    let caption = caption.to_owned();
    Table { caption, columns, rows: SIZES.iter().enumerate().map(line).collect() }
}

/// Median, tail and worst of the times, with the slowest of thirty over the median.
pub(super) fn tail_table(transfers: &Transfers) -> Table {
    let columns = vec![
        Column::words("size"),
        Column::words("control"),
        Column::words("path"),
        Column::words("phone"),
        Column::numbers("mean", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("p95", "ms"),
        Column::numbers("p99", "ms"),
        Column::numbers("worst", "ms"),
        Column::numbers("slowest of 30", "%"),
    ];
    let shown = transfers
        .iter()
        .filter(|(setup, _)| setup.growth == Growth::PerAck && ON_BUSY_AIR.contains(&setup.policy));
    let rows = shown.map(|(setup, runs)| {
        let times = runs.times();
        let ms = |seconds: f64| Cell::number(seconds * 1e3, 1);
        let slowest = runs.slowest_over_median(RUNS_OF_PAPER);
        vec![
            Cell::text(SIZES[setup.size].label),
            Cell::text(setup.control.label()),
            Cell::text(setup.air.name()),
            Cell::text(setup.policy.label()),
            ms(times.mean),
            ms(times.p50),
            ms(times.p95),
            ms(times.p99),
            ms(times.max),
            interval(percent(slowest), 0),
        ]
    });
    Table {
        caption:
            "Times of the transfers, host growing per acknowledgment; the slowest of thirty as \
                  a share of the median rate"
                .to_owned(),
        columns,
        rows: rows.collect(),
    }
}

/// ARI against a stock Linux kernel as measured: what remains of its gain.
pub(super) fn against_linux_table(transfers: &Transfers) -> Table {
    let columns = vec![
        Column::words("size"),
        Column::words("host"),
        Column::words("path"),
        Column::numbers("Linux", "ms"),
        Column::numbers("ARI (paper)", "%"),
        Column::numbers("(practical)", "%"),
        Column::numbers("ACKs: Linux", ""),
        Column::numbers("(paper)", ""),
        Column::numbers("(practical)", ""),
    ];
    let shown = transfers
        .iter()
        .filter(|(setup, _)| setup.policy == Policy::Linux && setup.air != Air::Busy);
    let rows = shown.map(|(setup, linux)| {
        let of = |policy| transfers.of(Setup { policy, ..*setup });
        let (ari, practical) = (of(Policy::Ari), of(Policy::AriHistory));
        let change = |runs: &Runs| interval(runs.change_percent(linux, Sample::time_s), 1);
        let acks = |runs: &Runs| Cell::number(runs.mean(|run| run.acks as f64).mean, 0);
        vec![
            Cell::text(SIZES[setup.size].label),
            Cell::text(format!("{}, {}", setup.control.label(), setup.growth.name())),
            Cell::text(setup.air.name()),
            interval(thousand(linux.mean(Sample::time_s)), 1),
            change(ari),
            change(practical),
            acks(linux),
            acks(ari),
            acks(practical),
        ]
    });
    Table {
        caption: "ARI against Linux (measured): changes of the time, and acknowledgments"
            .to_owned(),
        columns,
        rows: rows.collect(),
    }
}

/// What each policy gains against Linux as the paper has it and what it costs, for the smallest and
/// the largest transfers and both growth rules.
pub(super) fn cost_table(caption: &str, transfers: &Transfers, air: Air) -> Table {
    let columns = vec![
        Column::words("size"),
        Column::words("host"),
        Column::words("phone"),
        Column::numbers("time", "ms"),
        Column::numbers("change", "%"),
        Column::numbers("ACKs", ""),
        Column::numbers("air of data", "ms"),
        Column::numbers("air of ACKs", "ms"),
        Column::numbers("air in use", "%"),
    ];
    let ends = [0, SIZES.len() - 1];
    let shown =
        transfers.iter().filter(|(setup, _)| setup.air == air && ends.contains(&setup.size));
    let rows = shown.map(|(setup, runs)| {
        let base = transfers.of(Setup { policy: Policy::QuickAck, ..*setup });
        let change = if setup.policy == Policy::QuickAck {
            Cell::Missing
        } else {
            interval(runs.change_percent(base, Sample::time_s), 1)
        };
        vec![
            Cell::text(SIZES[setup.size].label),
            Cell::text(format!("{}, {}", setup.control.label(), setup.growth.name())),
            Cell::text(setup.policy.label()),
            interval(thousand(runs.mean(Sample::time_s)), 1),
            change,
            Cell::number(runs.mean(|run| run.acks as f64).mean, 0),
            Cell::number(runs.mean(|run| run.down_air_s).mean * 1e3, 1),
            Cell::number(runs.mean(|run| run.up_air_s).mean * 1e3, 1),
            Cell::number(runs.mean(Sample::air_percent).mean, 1),
        ]
    });
    Table { caption: caption.to_owned(), columns, rows: rows.collect() }
}

/// The paper's two measurements beside each other: what its times say of its rates.
pub(super) fn paper_table() -> Table {
    let columns = vec![
        Column::words("size"),
        Column::words("host and phone"),
        Column::numbers("time in the paper", "s"),
        Column::numbers("size over time", "Mbit/s"),
        Column::numbers("rate in the paper", "Mbit/s"),
        Column::numbers("size over rate", "s"),
    ];
    let mut rows = Vec::new();
    for size in &SIZES {
        let megabits = size.bytes as f64 * 8.0 / 1e6;
        for control in Control::ALL {
            let both = control.of(&size.time_s).into_iter().zip(control.of(&size.rate_mbit_s));
            for ((time, rate), ari) in both.zip(["", ", ARI"]) {
                rows.push(vec![
                    Cell::text(size.label),
                    Cell::text(format!("{}{ari}", control.label())),
                    Cell::number(time, 3),
                    Cell::number(megabits / time, 2),
                    Cell::number(rate, 3),
                    Cell::number(megabits / rate, 3),
                ]);
            }
        }
    }
    Table {
        caption: "The paper's times against its rates (1 MB taken as 10^6 B)".to_owned(),
        columns,
        rows,
    }
}

/// An estimate with so many decimals.
pub(super) fn interval(estimate: Estimate, decimals: usize) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals }
}

/// An estimate in a unit a thousand times smaller.
pub(super) fn thousand(estimate: Estimate) -> Estimate {
    estimate.times(1e3)
}

/// A share as a percentage.
pub(super) fn percent(estimate: Estimate) -> Estimate {
    estimate.times(100.0)
}
