//! The question the paper leaves out: against a stock Linux receiver, what remains of the gain?
//!
//! Every policy on every workload, for senders that grow per ACK and per byte. A gain is how much
//! sooner the same work is done, or how much more is done in the same time.

use super::sample::{Outcomes, Sample, over, ratio};
use super::setup::{
    DELAYED, File, Growth, IMMEDIATE, LINUX, PAPER, PRACTICAL, Plan, Policy, Runs, STATIC, set,
};
use super::simulation::interval;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
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
    Work {
        id: "bulk-clean",
        label: "bulk",
        file: File::Wired,
        changes: &[],
        measure: Measure::Goodput,
    },
    Work {
        id: "bulk-lossy",
        label: "lossy bulk",
        file: File::Wired,
        changes: &[("links.bottleneck.loss", r#"{ kind = "random", per_packet = "0.5 %" }"#)],
        measure: Measure::Goodput,
    },
    Work {
        id: "bulk-wifi",
        label: "Wi-Fi",
        file: File::Phone,
        changes: &[],
        measure: Measure::Goodput,
    },
    Work {
        id: "bulk-wifi-busy",
        label: "busy Wi-Fi",
        file: File::Phone,
        changes: &[("links.air.medium.stations", "2")],
        measure: Measure::Goodput,
    },
    Work {
        id: "paced",
        label: "messages",
        file: File::Simulation,
        changes: &[],
        measure: Measure::Completion,
    },
    Work {
        id: "short-wired",
        label: "short",
        file: File::Wired,
        changes: &[SHORT],
        measure: Measure::Completion,
    },
    Work {
        id: "short-wifi",
        label: "short Wi-Fi",
        file: File::Phone,
        changes: &[SHORT],
        measure: Measure::Completion,
    },
    Work {
        id: "ping-pong",
        label: "ping-pong",
        file: File::Wired,
        changes: &[(
            "flows.*.traffic",
            r#"{ kind = "request", request = "200 B", response = "200 B", gap = "30 ms" }"#,
        )],
        measure: Measure::Exchange,
    },
    Work {
        id: "write-write-read",
        label: "write-write",
        file: File::Wired,
        changes: &[("flows.*.traffic", r#"{ kind = "write-write-read", gap = "30 ms" }"#)],
        measure: Measure::Exchange,
    },
];

#[derive(Debug)]
pub(super) struct GainsPlan(Vec<(Work, Growth, PolicyRuns)>);

type PolicyRuns = Vec<(Policy, Runs)>;

/// A workload with a growth rule, under every policy.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) work: Work,
    pub(super) growth: Growth,
    by_policy: Vec<(Policy, Vec<Sample>)>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct GainData {
    workload: &'static str,
    growth: Growth,
    policy: &'static str,
    runs: u32,
    gain_over_delayed: f64,
    gain_over_delayed_ci95: Option<f64>,
    gain_over_linux: f64,
    gain_over_linux_ci95: Option<f64>,
    acks_per_data_segment: f64,
    ack_air_percent: Option<f64>,
}

pub(super) fn plan(plan: &mut Plan, runs: u32, length: Span) -> Result<GainsPlan, Errors> {
    let mut rows = Vec::new();
    for (work, growth) in WORKS.into_iter().flat_map(|work| Growth::BOTH.map(|g| (work, g))) {
        let mut by_policy = Vec::new();
        for policy in POLICIES {
            let mut changes: Vec<_> =
                work.changes.iter().map(|(path, value)| set(path, *value)).collect();
            changes.extend([policy.set(), growth.set()]);
            if work.measure != Measure::Completion {
                changes.push(set("duration", length.to_string()));
            }
            by_policy.push((policy, plan.runs(work.file, &changes, runs, KeepSeries::No)?));
        }
        rows.push((work, growth, by_policy));
    }
    Ok(GainsPlan(rows))
}

pub(super) fn read(plan: &GainsPlan, outcomes: &Outcomes) -> Vec<Row> {
    let row = |(work, growth, by_policy): &(Work, Growth, PolicyRuns)| Row {
        work: *work,
        growth: *growth,
        by_policy: by_policy
            .iter()
            .map(|(policy, runs)| (*policy, outcomes.samples(runs)))
            .collect(),
    };
    plan.0.iter().map(row).collect()
}

impl Row {
    fn samples(&self, policy: Policy) -> &[Sample] {
        let found = self.by_policy.iter().find(|(known, _)| *known == policy);
        found.map(|(_, samples)| samples.as_slice()).expect("every policy is run")
    }

    /// How much better `policy` does than `base`.
    pub(super) fn gain(&self, policy: Policy, base: Policy) -> Estimate {
        let (ours, theirs) = (self.samples(policy), self.samples(base));
        match self.work.measure {
            Measure::Goodput => ratio((ours, theirs), |sample| sample.goodput_mbit_s),
            Measure::Completion => ratio((theirs, ours), |sample| time(sample.completion_s)),
            Measure::Exchange => ratio((theirs, ours), |sample| time(sample.exchange_ms)),
        }
    }

    pub(super) fn data(&self) -> Vec<GainData> {
        let of = |policy: &Policy| {
            let (delayed, linux) = (self.gain(*policy, DELAYED), self.gain(*policy, LINUX));
            let samples = self.samples(*policy);
            let air = over(samples, |sample| sample.ack_air_percent.unwrap_or(f64::NAN)).mean;
            GainData {
                workload: self.work.id,
                growth: self.growth,
                policy: policy.id,
                runs: delayed.runs,
                gain_over_delayed: delayed.mean,
                gain_over_delayed_ci95: delayed.ci95,
                gain_over_linux: linux.mean,
                gain_over_linux_ci95: linux.ci95,
                acks_per_data_segment: over(samples, Sample::acks_per_segment).mean,
                ack_air_percent: air.is_finite().then_some(air),
            }
        };
        POLICIES.iter().map(of).collect()
    }
}

/// A time that has to be there: what did not finish shows as not a number, and a test refuses it.
fn time(of: Option<f64>) -> f64 {
    of.unwrap_or(f64::NAN)
}

/// Gains over `base`.
pub(super) fn table(rows: &[Row], base: Policy) -> Table {
    let cell = |row: &Row, policy: Policy| interval(&row.gain(policy, base), 3);
    let caption =
        format!("Gain over `{}`: goodput, or time saved, as a ratio; 1 is no gain", base.label);
    by_policy(rows, &caption, &cell)
}

/// What the gains cost.
pub(super) fn cost_table(rows: &[Row]) -> Table {
    let cell = |row: &Row, policy: Policy| {
        interval(&over(row.samples(policy), Sample::acks_per_segment), 3)
    };
    by_policy(rows, "ACKs per data segment, retransmissions included", &cell)
}

/// Airtime of the acknowledgments, on the workloads with Wi-Fi.
pub(super) fn air_table(rows: &[Row]) -> Table {
    let wifi: Vec<Row> = rows.iter().filter(|row| row.work.file != File::Wired).cloned().collect();
    let cell = |row: &Row, policy: Policy| {
        let air = |sample: &Sample| sample.ack_air_percent.unwrap_or(f64::NAN);
        interval(&over(row.samples(policy), air), 2)
    };
    by_policy(&wifi, "Airtime of the ACKs, percent of the run", &cell)
}

fn by_policy(rows: &[Row], caption: &str, cell: &dyn Fn(&Row, Policy) -> Cell) -> Table {
    let mut columns = vec![Column::words("workload"), Column::words("sender grows")];
    columns.extend(POLICIES.map(|policy| Column::numbers(policy.label, "")));
    let cells = |row: &Row| {
        let mut cells = vec![Cell::text(row.work.label), Cell::text(row.growth.label())];
        cells.extend(POLICIES.map(|policy| cell(row, policy)));
        cells
    };
    Table { caption: caption.to_owned(), columns, rows: rows.iter().map(cells).collect() }
}

/// Gains over `base` as bars, for one growth rule.
pub(super) fn plot(rows: &[Row], base: Policy, growth: Growth) -> Plot {
    let rows: Vec<_> = rows.iter().filter(|row| row.growth == growth).collect();
    let id = format!("gain-over-{}-{}", base.id, growth.word());
    let title = format!("Gain over {}, sender growing {}", base.label, growth.label());
    let mut plot = Plot::new(&id, &title, "", "gain (ratio)");
    plot.x.scale = Scale::Categories(rows.iter().map(|row| row.work.label.to_owned()).collect());
    for policy in POLICIES.into_iter().filter(|policy| *policy != base) {
        let gains: Vec<_> = rows.iter().map(|row| row.gain(policy, base)).collect();
        let points = gains.iter().enumerate().map(|(at, gain)| (at as f64, gain.mean));
        let series = PlotSeries::new(policy.label, Mark::Bars, points.collect::<Vec<_>>());
        plot = plot.with(series.with_errors(gains.iter().map(|gain| gain.ci95)));
    }
    plot
}
