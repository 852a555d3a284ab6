//! §4 of the paper: cwnd, acknowledgments and time for each timeout, with ns-3 beside.

use super::ns3::Band;
use super::sample::Sample;
use super::setup::{
    DELAYED_NS3, Growth, IMMEDIATE, LINUX, PAPER_NS3, PRACTICAL, Policy, SIMULATION, STATIC_800,
    STATIC_900,
};
use super::shape::growths_after_reductions;
use crate::cells::{Cells, Runs, over};
use crate::plan::{Setup, set};
use crate::tables::{choices, record, rows};
use ackord_measure::Trace;
use ackord_measure::stats::{Estimate, estimate, mean};
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use ackord_units::{Span, Time};
use serde::Serialize;

/// Policies of this section; the first three are the paper's.
const POLICIES: [Policy; 7] =
    [DELAYED_NS3, STATIC_900, STATIC_800, PAPER_NS3, PRACTICAL, LINUX, IMMEDIATE];
/// The receiver's window in Fig. 4.
const FIG4_WINDOW: &str = "32768 B";
/// cwnd after this long without errors tells how fast it grows at the start.
const START: Span = Span::from_secs(1);

choices! {
    /// Whether the sender waits for the application or the application for the sender.
    Writes {
        /// A message every 8.32 ms, as §4.1 says.
        Messages = "messages", "written as messages";
        /// Everything at once, so that all segments are full, as in Fig. 4.
        AtOnce = "at-once", "written at once";
    }
}

/// How the sender is fed and grows, and the receiver's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) writes: Writes,
    pub(super) growth: Growth,
    pub(super) policy: Policy,
}

/// The runs with damaged bytes, and without.
pub(super) struct Simulations {
    pub(super) damaged: Cells<Key, Sample>,
    pub(super) clean: Cells<Key, Sample>,
}

/// A policy against a growth rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) key: Key,
    pub(super) damaged: &'a Runs<Sample>,
    pub(super) clean: &'a Runs<Sample>,
}

/// The messages of §4.1, and with the paper's own policies the same bytes written at once: then every segment is full,
/// as in Fig. 4.
pub(super) fn keys() -> impl Iterator<Item = Key> {
    let messages = Growth::ALL
        .into_iter()
        .flat_map(|growth| POLICIES.map(|policy| Key { writes: Writes::Messages, growth, policy }));
    messages.chain(POLICIES.into_iter().take(3).map(|policy| Key {
        writes: Writes::AtOnce,
        growth: Growth::PerAck,
        policy,
    }))
}

pub(super) fn damaged(key: Key, runs: u32) -> Setup {
    let at_once = [
        set("flows.flow.traffic", r#"{ kind = "bulk", size = "1040 kB" }"#),
        set("tcp.receive_buffer", FIG4_WINDOW),
    ];
    let also = (key.writes == Writes::AtOnce).then_some(at_once);
    let setup = Setup::new(SIMULATION, vec![key.policy.set(), key.growth.set()]);
    setup.with(also.into_iter().flatten()).seeds(runs).with_series()
}

/// Without errors only the contention on the air tells one seed from another.
pub(super) fn clean(key: Key, runs: u32) -> Setup {
    damaged(key, runs.min(5)).with([set("links.wired.loss", "none")])
}

impl Simulations {
    pub(super) fn of(&self, writes: Writes, policy: Policy, growth: Growth) -> Row<'_> {
        let key = Key { writes, growth, policy };
        Row { key, damaged: self.damaged.of(&key), clean: self.clean.of(&key) }
    }

    /// All rows of one way of writing.
    pub(super) fn rows(&self, writes: Writes) -> impl Iterator<Item = Row<'_>> {
        let rows = keys().filter(move |key| key.writes == writes);
        rows.map(|key| self.of(key.writes, key.policy, key.growth))
    }

    /// The rows of the paper's own three timeouts, growing per ACK.
    pub(super) fn papers(&self, writes: Writes) -> impl Iterator<Item = Row<'_>> {
        let policies = POLICIES.into_iter().take(3);
        policies.map(move |policy| self.of(writes, policy, Growth::PerAck))
    }

    /// The same with 200 ms.
    pub(super) fn delayed(&self, of: &Row<'_>) -> Row<'_> {
        self.of(of.key.writes, DELAYED_NS3, of.key.growth)
    }

    pub(super) fn data(&self, writes: Writes) -> Vec<impl Serialize> {
        let data = |row: Row<'_>| {
            let completion = row.damaged.mean(|run| run.completion_s).mean;
            let air = row.damaged.mean(|run| run.ack_air_percent.unwrap_or(0.0)).mean;
            record! {
                policy: row.key.policy.id,
                growth: row.key.growth,
                runs: row.damaged.0.len(),
                acks: row.damaged.mean(|run| run.acks).mean,
                acks_per_data_segment: row.damaged.mean(Sample::acks_per_segment).mean,
                cwnd_mean_bytes: row.damaged.mean(|run| run.cwnd_mean_bytes).mean,
                cwnd_after_1_s_without_errors_bytes: row.cwnd_at_start().mean,
                growth_after_retransmission_bytes_s: row.growth_after_loss().map(|rate| rate.mean),
                completion_s: completion.is_finite().then_some(completion),
                ack_air_percent: Some(air),
                without_errors: row.clean.0.clone(),
                with_errors: row.damaged.0.clone(),
            }
        };
        self.rows(writes).map(data).collect()
    }

    /// §4 with ns-3 beside.
    pub(super) fn table(&self, band: &Band) -> Table {
        let ns3 = |row: &Row<'_>| row.ns3_timeout().and_then(|timeout| band.setup(timeout, true));
        rows(self.rows(Writes::Messages))
            .words("sender grows", |row| row.key.growth.label())
            .words("receiver", |row| row.key.policy.label)
            .mean(("ACKs", ""), 0, |row| row.damaged.mean(|run| run.acks))
            .number(("in ns-3", ""), 0, |row| ns3(row).map(|setup| setup.acks()))
            .mean(("cwnd mean", "kB"), 2, |row| row.damaged.mean(|run| run.cwnd_mean_bytes / 1e3))
            .number(("in ns-3", "kB"), 2, |row| {
                ns3(row).map(|setup| setup.cwnd_mean_bytes().mean / 1e3)
            })
            .mean(("over delayed", ""), 2, |row| row.cwnd_gain_over(self.delayed(row)))
            .titled("Acknowledgments and cwnd, with damaged bytes (1e-5)")
    }

    /// How fast cwnd grows, and what it is good for.
    pub(super) fn growth_table(&self) -> Table {
        rows(self.rows(Writes::Messages))
            .words("sender grows", |row| row.key.growth.label())
            .words("receiver", |row| row.key.policy.label)
            .number(("cwnd at 1 s", "kB"), 1, |row| row.cwnd_at_start().mean / 1e3)
            .number(("growth after loss", "kB/s"), 2, |row| {
                row.growth_after_loss().map(|rate| rate.mean / 1e3)
            })
            .mean(("all there after", "s"), 3, |row| row.damaged.mean(|run| run.completion_s))
            .mean(("airtime of ACKs", "%"), 2, |row| row.damaged.mean(|run| run.ack_air_percent))
            .titled(
                "Growth of cwnd: one second after the start without errors, and in the half \
                 second after a reduction",
            )
    }

    /// Fig. 5 and 6: the first run with errors, the paper's small timeout against 200 ms.
    pub(super) fn figure(&self, number: u32) -> Plot {
        let small = if number == 5 { STATIC_900 } else { STATIC_800 };
        let title = format!("Fig. {number}: cwnd with a timeout of {} and of 200 ms", small.label);
        let mut plot = Plot::new(&format!("fig-{number}"), &title, "time (s)", "cwnd (kB)");
        for policy in [DELAYED_NS3, small] {
            let row = self.of(Writes::Messages, policy, Growth::PerAck);
            let curve = curve(row.damaged.0[0].cwnd());
            plot = plot.with(PlotSeries::new(policy.label, Mark::Steps, curve));
        }
        plot.x.range = Range::Fixed(0.0, 8.4);
        plot
    }

    /// The start without errors, both growth rules, with ns-3.
    pub(super) fn start_figure(&self, band: &Band, growth: Growth) -> Plot {
        let title = format!("cwnd at the start without errors, growing {}", growth.label());
        let id = format!("start-{}", growth.id());
        let mut plot = Plot::new(&id, &title, "time (s)", "cwnd (kB)");
        for (colour, policy) in [DELAYED_NS3, STATIC_900, STATIC_800].into_iter().enumerate() {
            let row = self.of(Writes::Messages, policy, growth);
            let first = curve(row.clean.0[0].cwnd()).take_while(|(at, _)| *at <= 1.0);
            let ours = PlotSeries::new(policy.label, Mark::Steps, first);
            plot = plot.with(ours.coloured(colour));
            let ns3 = row.ns3_timeout().and_then(|timeout| band.setup(timeout, false));
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
}

impl Row<'_> {
    /// cwnd one second after the start, without errors.
    pub(super) fn cwnd_at_start(&self) -> Estimate {
        let known = self.clean.0.iter().filter_map(|run| run.cwnd().value_at(Time::ZERO + START));
        over(&known.collect::<Vec<_>>())
    }

    /// By how many bytes a second cwnd grows in the half second after each reduction, in the runs
    /// in which that half second has no other one; over all runs.
    pub(super) fn growth_after_loss(&self) -> Option<Estimate> {
        let means =
            self.damaged.0.iter().filter_map(|run| mean(&growths_after_reductions(run.cwnd())));
        estimate(&means.collect::<Vec<_>>())
    }

    pub(super) fn cwnd_gain_over(&self, base: Row<'_>) -> Estimate {
        self.damaged.over(base.damaged, |run| run.cwnd_mean_bytes)
    }

    /// How much sooner the last byte arrives: the base's time over this one's.
    pub(super) fn speed_over(&self, base: Row<'_>) -> Estimate {
        base.damaged.over(self.damaged, |run| run.completion_s)
    }

    /// The timeout that ns-3 was run with, for the paper's own three.
    fn ns3_timeout(&self) -> Option<f64> {
        let timeouts = [(DELAYED_NS3, 200.0), (STATIC_900, 0.9), (STATIC_800, 0.8)];
        let found = timeouts.into_iter().find(|(policy, _)| *policy == self.key.policy);
        found.filter(|_| self.key.growth == Growth::PerAck).map(|(_, timeout)| timeout)
    }
}

fn curve(trace: &Trace) -> impl Iterator<Item = (f64, f64)> {
    trace.points().iter().map(|point| (point.at.as_secs_f64(), point.value / 1e3))
}
