//! §4 of the paper: cwnd, acknowledgments and time for each timeout, with ns-3 beside.

use super::ns3::{Band, Errors};
use super::sample::{Outcomes, Sample, over, ratio};
use super::setup::{
    DELAYED_NS3, File, Growth, IMMEDIATE, LINUX, PAPER_NS3, PRACTICAL, Plan, Policy, Runs,
    STATIC_800, STATIC_900, set,
};
use super::shape::growths_after_reductions;
use ackord_measure::Trace;
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use ackord_scenario::Override;
use ackord_study::KeepSeries;
use ackord_units::{Span, Time};
use serde::Serialize;

/// Policies of this section; the first three are the paper's.
const POLICIES: [Policy; 7] =
    [DELAYED_NS3, STATIC_900, STATIC_800, PAPER_NS3, PRACTICAL, LINUX, IMMEDIATE];
/// The receiver's window in Fig. 4.
const FIG4_WINDOW: &str = "32768 B";
/// cwnd after this long without errors tells how fast it grows at the start.
const START: Span = Span::from_secs(1);

#[derive(Debug)]
pub(super) struct SimulationPlan(Vec<(Growth, Policy, Both)>);

/// Runs with errors and without.
type Both = [(Errors, Runs); 2];

/// A policy against a growth rule.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) growth: Growth,
    pub(super) policy: Policy,
    pub(super) damaged: Vec<Sample>,
    pub(super) clean: Vec<Sample>,
    damaged_cwnd: Vec<Trace>,
    clean_cwnd: Vec<Trace>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RowData {
    policy: &'static str,
    growth: Growth,
    runs: usize,
    acks: f64,
    acks_per_data_segment: f64,
    cwnd_mean_bytes: f64,
    cwnd_after_1_s_without_errors_bytes: f64,
    growth_after_retransmission_bytes_s: Option<f64>,
    completion_s: Option<f64>,
    ack_air_percent: Option<f64>,
    without_errors: Vec<Sample>,
    with_errors: Vec<Sample>,
}

/// The messages of §4.1, and the same octets written at once: then every segment is full, as in Fig. 4.
pub(super) fn plan(
    plan: &mut Plan,
    runs: u32,
) -> Result<[SimulationPlan; 2], ackord_scenario::Errors> {
    let at_once = [
        set("flows.flow.traffic", r#"{ kind = "bulk", size = "1040 kB" }"#),
        set("tcp.receive_buffer", FIG4_WINDOW),
    ];
    let every = Growth::BOTH.into_iter().flat_map(|growth| POLICIES.map(|policy| (growth, policy)));
    let papers = POLICIES[..3].iter().map(|policy| (Growth::PerAck, *policy));
    Ok([rows(plan, every, &[], runs)?, rows(plan, papers, &at_once, runs)?])
}

fn rows(
    plan: &mut Plan,
    of: impl Iterator<Item = (Growth, Policy)>,
    also: &[Override],
    runs: u32,
) -> Result<SimulationPlan, ackord_scenario::Errors> {
    let mut rows = Vec::new();
    for (growth, policy) in of {
        let mut both = Vec::new();
        for errors in [Errors::Yes, Errors::No] {
            let mut changes = vec![policy.set(), growth.set()];
            changes.extend_from_slice(also);
            // Without errors only the contention on the air tells one seed from another.
            let runs = match errors {
                Errors::Yes => runs,
                Errors::No => runs.min(5),
            };
            if errors == Errors::No {
                changes.push(set("links.wired.loss", "none"));
            }
            both.push((errors, plan.runs(File::Simulation, &changes, runs, KeepSeries::Yes)?));
        }
        let both = both.try_into().expect("with errors and without");
        rows.push((growth, policy, both));
    }
    Ok(SimulationPlan(rows))
}

pub(super) fn read(plan: &SimulationPlan, outcomes: &Outcomes) -> Vec<Row> {
    let row = |(growth, policy, both): &(Growth, Policy, Both)| {
        let [(_, damaged), (_, clean)] = both;
        Row {
            growth: *growth,
            policy: *policy,
            damaged: outcomes.samples(damaged),
            clean: outcomes.samples(clean),
            damaged_cwnd: outcomes.cwnd(damaged),
            clean_cwnd: outcomes.cwnd(clean),
        }
    };
    plan.0.iter().map(row).collect()
}

/// The rows of the paper's own three timeouts, growing per ACK.
pub(super) fn papers(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let is_papers = |row: &&Row| POLICIES[..3].contains(&row.policy);
    rows.iter().filter(|row| row.growth == Growth::PerAck).filter(is_papers)
}

/// The row of a policy.
pub(super) fn find(rows: &[Row], policy: Policy, growth: Growth) -> &Row {
    let found = rows.iter().find(|row| row.policy == policy && row.growth == growth);
    found.expect("every policy is run with both growth rules")
}

impl Row {
    /// cwnd one second after the start, without errors.
    pub(super) fn cwnd_at_start(&self) -> Estimate {
        let at = Time::ZERO + START;
        let values: Vec<f64> =
            self.clean_cwnd.iter().filter_map(|trace| trace.value_at(at)).collect();
        estimate(&values).expect("cwnd is known from the first second on")
    }

    /// By how many bytes a second cwnd grows in the half second after each reduction, in the runs
    /// in which that half second has no other one; over all runs.
    pub(super) fn growth_after_loss(&self) -> Option<Estimate> {
        let means = self.damaged_cwnd.iter().filter_map(|trace| {
            let each = growths_after_reductions(trace);
            ackord_measure::stats::mean(&each)
        });
        estimate(&means.collect::<Vec<_>>())
    }

    pub(super) fn cwnd_gain_over(&self, base: &Row) -> Estimate {
        ratio((&self.damaged, &base.damaged), |sample| sample.cwnd_mean_bytes)
    }

    /// How much sooner the last byte arrives: the base's time over this one's.
    pub(super) fn speed_over(&self, base: &Row) -> Estimate {
        ratio((&base.damaged, &self.damaged), |sample| sample.completion_s.unwrap_or(f64::NAN))
    }

    pub(super) fn data(&self) -> RowData {
        let completion = over(&self.damaged, |sample| sample.completion_s.unwrap_or(f64::NAN)).mean;
        let air = over(&self.damaged, |sample| sample.ack_air_percent.unwrap_or(0.0)).mean;
        RowData {
            policy: self.policy.id,
            growth: self.growth,
            runs: self.damaged.len(),
            acks: over(&self.damaged, |sample| sample.acks as f64).mean,
            acks_per_data_segment: over(&self.damaged, Sample::acks_per_segment).mean,
            cwnd_mean_bytes: over(&self.damaged, |sample| sample.cwnd_mean_bytes).mean,
            cwnd_after_1_s_without_errors_bytes: self.cwnd_at_start().mean,
            growth_after_retransmission_bytes_s: self.growth_after_loss().map(|rate| rate.mean),
            completion_s: completion.is_finite().then_some(completion),
            ack_air_percent: Some(air),
            without_errors: self.clean.clone(),
            with_errors: self.damaged.clone(),
        }
    }
}

/// §4 with ns-3 beside.
pub(super) fn table(rows: &[Row], band: &Band) -> Table {
    let columns = vec![
        Column::words("sender grows"),
        Column::words("receiver"),
        Column::numbers("ACKs", ""),
        Column::numbers("in ns-3", ""),
        Column::numbers("cwnd mean", "kB"),
        Column::numbers("in ns-3", "kB"),
        Column::numbers("over delayed", ""),
    ];
    let cells = |row: &Row| {
        let base = find(rows, DELAYED_NS3, row.growth);
        let of = |pick: fn(&Sample) -> f64, decimals| interval(&over(&row.damaged, pick), decimals);
        let ns3 = ns3_timeout(row).and_then(|timeout| band.setup(timeout, Errors::Yes));
        vec![
            Cell::text(row.growth.label()),
            Cell::text(row.policy.label),
            of(|sample| sample.acks as f64, 0),
            Cell::number(ns3.map(|setup| setup.acks().mean), 0),
            of(|sample| sample.cwnd_mean_bytes / 1e3, 2),
            Cell::number(ns3.map(|setup| setup.cwnd_mean_bytes().mean / 1e3), 2),
            interval(&row.cwnd_gain_over(base), 2),
        ]
    };
    let caption = "Acknowledgments and cwnd, with damaged bytes (1e-5)";
    Table { caption: caption.to_owned(), columns, rows: rows.iter().map(cells).collect() }
}

/// How fast cwnd grows, and what it is good for.
pub(super) fn growth_table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::words("sender grows"),
        Column::words("receiver"),
        Column::numbers("cwnd at 1 s", "kB"),
        Column::numbers("growth after loss", "kB/s"),
        Column::numbers("all there after", "s"),
        Column::numbers("airtime of ACKs", "%"),
    ];
    let cells = |row: &Row| {
        let of = |pick: fn(&Sample) -> f64, decimals| interval(&over(&row.damaged, pick), decimals);
        vec![
            Cell::text(row.growth.label()),
            Cell::text(row.policy.label),
            Cell::number(row.cwnd_at_start().mean / 1e3, 1),
            Cell::number(row.growth_after_loss().map(|rate| rate.mean / 1e3), 2),
            of(|sample| sample.completion_s.unwrap_or(f64::NAN), 3),
            of(|sample| sample.ack_air_percent.unwrap_or(f64::NAN), 2),
        ]
    };
    let caption = "Growth of cwnd: one second after the start without errors, and in the half \
                   second after a reduction";
    Table { caption: caption.to_owned(), columns, rows: rows.iter().map(cells).collect() }
}

/// The timeout that ns-3 was run with, for the paper's own three.
fn ns3_timeout(row: &Row) -> Option<f64> {
    let timeouts = [(DELAYED_NS3, 200.0), (STATIC_900, 0.9), (STATIC_800, 0.8)];
    let found = timeouts.into_iter().find(|(policy, _)| *policy == row.policy);
    found.filter(|_| row.growth == Growth::PerAck).map(|(_, timeout)| timeout)
}

pub(super) fn interval(estimate: &Estimate, decimals: usize) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals }
}

/// Fig. 5 and 6: the first run with errors, the paper's small timeout against 200 ms.
pub(super) fn figure(rows: &[Row], number: u32) -> Plot {
    let small = if number == 5 { STATIC_900 } else { STATIC_800 };
    let title = format!("Fig. {number}: cwnd with a timeout of {} and of 200 ms", small.label);
    let mut plot = Plot::new(&format!("fig-{number}"), &title, "time (s)", "cwnd (kB)");
    for policy in [DELAYED_NS3, small] {
        let row = find(rows, policy, Growth::PerAck);
        plot = plot.with(PlotSeries::new(policy.label, Mark::Steps, curve(&row.damaged_cwnd[0])));
    }
    plot.x.range = Range::Fixed(0.0, 8.4);
    plot
}

/// The start without errors, both growth rules, with ns-3.
pub(super) fn start_figure(rows: &[Row], band: &Band, growth: Growth) -> Plot {
    let title = format!("cwnd at the start without errors, growing {}", growth.label());
    let id = format!("start-{}", growth.word());
    let mut plot = Plot::new(&id, &title, "time (s)", "cwnd (kB)");
    for (colour, policy) in [DELAYED_NS3, STATIC_900, STATIC_800].into_iter().enumerate() {
        let row = find(rows, policy, growth);
        let first = curve(&row.clean_cwnd[0]).into_iter().take_while(|(at, _)| *at <= 1.0);
        let ours = PlotSeries::new(policy.label, Mark::Steps, first.collect::<Vec<_>>());
        plot = plot.with(ours.coloured(colour));
        let ns3 = ns3_timeout(row).and_then(|timeout| band.setup(timeout, Errors::No));
        if let Some(setup) = ns3 {
            let points = setup.first_run_cwnd_bytes.iter().take(10).enumerate();
            let points = points.map(|(index, bytes)| ((index + 1) as f64 / 10.0, bytes / 1e3));
            let name = format!("{}, ns-3", policy.label);
            let series = PlotSeries::new(&name, Mark::Points(Shape::Disc), points);
            plot = plot.with(series.coloured(colour));
        }
    }
    plot.x.range = Range::Fixed(0.0, 1.0);
    plot
}

fn curve(trace: &Trace) -> Vec<(f64, f64)> {
    trace.points().iter().map(|point| (point.at.as_secs_f64(), point.value / 1e3)).collect()
}
