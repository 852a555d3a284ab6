//! The question the paper leaves out: against a stock Linux receiver, what remains of the gain?
//!
//! Every policy on every workload, for senders that grow per ACK and per byte. A gain is how much
//! sooner the same work is done, or how much more is done in the same time.

use super::sample::Sample;
use super::setup::{
    DELAYED, Growth, IMMEDIATE, LINUX, PAPER, PHONE, PRACTICAL, Policy, SIMULATION, STATIC, WIRED,
};
use crate::cells::{Cell, Cells};
use crate::plan::{File, Setup, set, set_each};
use crate::tables::{bars, interval, record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Plot, Scale};
use ackord_units::Span;
use serde::Serialize;

const POLICIES: [Policy; 6] = [DELAYED, LINUX, PAPER, PRACTICAL, STATIC, IMMEDIATE];

/// What a gain is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// More in the same time.
    Goodput,
    /// The last byte sooner.
    Completion,
    /// Each exchange sooner.
    Exchange,
}

/// Something to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) id: &'static str,
    label: &'static str,
    file: File,
    changes: &'static [(&'static str, &'static str)],
    measure: Measure,
}

const SHORT: (&str, &str) = ("flows.*.traffic", r#"{ kind = "bulk", size = "100 kB" }"#);

const WORKS: [Work; 9] = [
    Work { id: "bulk-clean", label: "bulk", file: WIRED, changes: &[], measure: Measure::Goodput },
    Work {
        id: "bulk-lossy",
        label: "lossy bulk",
        file: WIRED,
        changes: &[("links.bottleneck.loss", r#"{ kind = "random", per_packet = "0.5 %" }"#)],
        measure: Measure::Goodput,
    },
    Work { id: "bulk-wifi", label: "Wi-Fi", file: PHONE, changes: &[], measure: Measure::Goodput },
    Work {
        id: "bulk-wifi-busy",
        label: "busy Wi-Fi",
        file: PHONE,
        changes: &[("links.air.medium.stations", "2")],
        measure: Measure::Goodput,
    },
    Work {
        id: "paced",
        label: "messages",
        file: SIMULATION,
        changes: &[],
        measure: Measure::Completion,
    },
    Work {
        id: "short-wired",
        label: "short",
        file: WIRED,
        changes: &[SHORT],
        measure: Measure::Completion,
    },
    Work {
        id: "short-wifi",
        label: "short Wi-Fi",
        file: PHONE,
        changes: &[SHORT],
        measure: Measure::Completion,
    },
    Work {
        id: "ping-pong",
        label: "ping-pong",
        file: WIRED,
        changes: &[(
            "flows.*.traffic",
            r#"{ kind = "request", request = "200 B", response = "200 B", gap = "30 ms" }"#,
        )],
        measure: Measure::Exchange,
    },
    Work {
        id: "write-write-read",
        label: "write-write",
        file: WIRED,
        changes: &[("flows.*.traffic", r#"{ kind = "write-write-read", gap = "30 ms" }"#)],
        measure: Measure::Exchange,
    },
];

/// A workload with a growth rule.
pub(super) type Row = (Work, Growth);
/// The same under a policy.
pub(super) type Key = (Row, Policy);
pub(super) type Gains = Cells<Key, Sample>;

fn all() -> impl Iterator<Item = Row> {
    WORKS.into_iter().flat_map(|work| Growth::ALL.map(|growth| (work, growth)))
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    all().flat_map(|row| POLICIES.map(|policy| (row, policy)))
}

pub(super) fn setup(((work, growth), policy): Key, length: Span) -> Setup {
    let length = (work.measure != Measure::Completion).then(|| set("duration", length.to_string()));
    let setup = Setup::new(work.file, set_each(work.changes));
    setup.with([policy.set(), growth.set()]).with(length)
}

/// How much better `policy` does than `base`.
pub(super) fn gain(gains: &Gains, row: Row, policy: Policy, base: Policy) -> Estimate {
    let [ours, theirs] = [policy, base].map(|policy| gains.of(&(row, policy)));
    match row.0.measure {
        Measure::Goodput => ours.over(theirs, |run| run.goodput_mbit_s),
        // What did not finish shows as not a number, and a test refuses it.
        Measure::Completion => theirs.over(ours, |run| run.completion_s),
        Measure::Exchange => theirs.over(ours, |run| run.exchange_ms),
    }
}

pub(super) fn data(gains: &Gains) -> Vec<impl Serialize> {
    let data = |cell: &Cell<Key, Sample>| {
        let (row, policy) = cell.key;
        let [delayed, linux] = [DELAYED, LINUX].map(|base| gain(gains, row, policy, base));
        let air = cell.mean(|run| run.ack_air_percent).mean;
        record! {
            workload: row.0.id,
            growth: row.1,
            policy: policy.id,
            runs: delayed.runs,
            gain_over_delayed: delayed.mean,
            gain_over_delayed_ci95: delayed.ci95,
            gain_over_linux: linux.mean,
            gain_over_linux_ci95: linux.ci95,
            acks_per_data_segment: cell.mean(Sample::acks_per_segment).mean,
            ack_air_percent: air.is_finite().then_some(air),
        }
    };
    gains.iter().map(data).collect()
}

/// Gains over `base`.
pub(super) fn table(gains: &Gains, base: Policy) -> Table {
    let caption =
        format!("Gain over `{}`: goodput, or time saved, as a ratio; 1 is no gain", base.label);
    by_policy(all(), &caption, 3, |row, policy| gain(gains, row, policy, base))
}

/// What the gains cost.
pub(super) fn cost_table(gains: &Gains) -> Table {
    by_policy(all(), "ACKs per data segment, retransmissions included", 3, |row, policy| {
        gains.of(&(row, policy)).mean(Sample::acks_per_segment)
    })
}

/// Airtime of the acknowledgments, on the workloads with Wi-Fi.
pub(super) fn air_table(gains: &Gains) -> Table {
    let wifi = all().filter(|(work, _)| work.file != WIRED);
    by_policy(wifi, "Airtime of the ACKs, percent of the run", 2, |row, policy| {
        gains.of(&(row, policy)).mean(|run| run.ack_air_percent)
    })
}

fn by_policy(
    of: impl Iterator<Item = Row>,
    caption: &str,
    decimals: usize,
    figure: impl Fn(Row, Policy) -> Estimate,
) -> Table {
    rows(of)
        .words("workload", |(work, _)| work.label)
        .words("sender grows", |(_, growth)| growth.label())
        .each(POLICIES, |table, policy| {
            table.cell((policy.label, ""), |row| interval(figure(*row, policy), decimals))
        })
        .titled(caption)
}

/// Gains over `base` as bars, for one growth rule.
pub(super) fn plot(gains: &Gains, base: Policy, growth: Growth) -> Plot {
    let id = format!("gain-over-{}-{}", base.id, growth.id());
    let title = format!("Gain over {}, sender growing {}", base.label, growth.label());
    let mut plot = Plot::new(&id, &title, "", "gain (ratio)");
    plot.x.scale = Scale::Categories(WORKS.map(|work| work.label.to_owned()).to_vec());
    for policy in POLICIES.into_iter().filter(|policy| *policy != base) {
        let of_work = WORKS.map(|work| gain(gains, (work, growth), policy, base));
        plot = plot.with(bars(policy.label, of_work));
    }
    plot
}
