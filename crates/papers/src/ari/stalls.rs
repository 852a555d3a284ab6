//! Write-write-read: how long a question in two small writes waits, with and without Nagle's
//! algorithm, by policy of the end that acknowledges (§2.3, Fig. 1).

use super::sample::{Outcomes, Runs};
use super::setup::{File, Plan, Policy, set};
use super::transfers::{interval, thousand};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
use ackord_scenario::{Errors, Override};
use serde::Serialize;
use std::ops::Range;

/// What a reply counts as for a history: the file's 2 kB.
const REPLY_BYTES: u64 = 2_000;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    Phone,
    Host,
}

/// The asking end's Nagle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nagle {
    /// Minshall's variant, as in Linux.
    On,
    /// ARI, or TCP_NODELAY.
    Off,
}

/// Who asks, how, and how the other end acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) asks: Asks,
    pub(super) nagle: Nagle,
    /// Of the end that is asked.
    pub(super) policy: Policy,
}

#[derive(Debug)]
pub(super) struct StallPlan(Vec<(Question, Range<usize>)>);

#[derive(Clone, Debug)]
pub(super) struct Stalls(Vec<(Question, Runs)>);

#[derive(Clone, Debug, Serialize)]
pub(super) struct StallData {
    asks: &'static str,
    nagle: &'static str,
    asked_end: &'static str,
    mean_s: Estimate,
    p50_s: f64,
    p95_s: f64,
    p99_s: f64,
    worst_s: f64,
    acks: Estimate,
}

impl Asks {
    fn name(self) -> &'static str {
        match self {
            Asks::Phone => "phone",
            Asks::Host => "host",
        }
    }
}

impl Nagle {
    fn name(self) -> &'static str {
        match self {
            Nagle::On => "on",
            Nagle::Off => "off",
        }
    }
}

impl Question {
    fn changes(self) -> Vec<Override> {
        let sends = match self.asks {
            Asks::Phone => "client",
            Asks::Host => "server",
        };
        let nagle = match self.nagle {
            Nagle::On => "minshall",
            Nagle::Off => "off",
        };
        vec![
            set("flows.questions.sends", sends),
            set("flows.questions.tcp.nagle", nagle),
            set("flows.questions.receiver_tcp.ack", self.policy.ack(REPLY_BYTES)),
            set("flows.questions.receiver_tcp.nagle", self.policy.nagle()),
        ]
    }
}

/// The phone asks an end that does not know ARI; the host asks a phone that may.
fn questions() -> Vec<Question> {
    let stock = [Policy::QuickAck, Policy::Linux, Policy::Immediate];
    let of = |asks, policies: &[Policy]| {
        let each = policies.iter().flat_map(|policy| {
            [Nagle::On, Nagle::Off].map(|nagle| Question { asks, nagle, policy: *policy })
        });
        each.collect::<Vec<_>>()
    };
    let mut questions = of(Asks::Phone, &stock);
    questions.extend(of(Asks::Host, &Policy::ALL));
    questions.extend(of(Asks::Host, &[Policy::AriRoundedDown]));
    questions
}

pub(super) fn plan(plan: &mut Plan, runs: u32) -> Result<StallPlan, Errors> {
    let mut planned = Vec::new();
    for question in questions() {
        planned.push((question, plan.runs(File::WriteWriteRead, &question.changes(), runs)?));
    }
    Ok(StallPlan(planned))
}

pub(super) fn read(plan: &StallPlan, outcomes: &Outcomes) -> Stalls {
    Stalls(plan.0.iter().map(|(question, range)| (*question, outcomes.runs(range))).collect())
}

impl Stalls {
    pub(super) fn of(&self, question: Question) -> &Runs {
        let found = self.0.iter().find(|(known, _)| *known == question);
        &found.expect("the plan has every question that is asked about").1
    }

    pub(super) fn data(&self) -> Vec<StallData> {
        let data = self.0.iter().map(|(question, runs)| {
            let times = runs.times();
            StallData {
                asks: question.asks.name(),
                nagle: question.nagle.name(),
                asked_end: question.policy.name(),
                mean_s: runs.mean(super::sample::Sample::mean_time_s),
                p50_s: times.p50,
                p95_s: times.p95,
                p99_s: times.p99,
                worst_s: times.max,
                acks: runs.mean(|run| run.acks as f64),
            }
        });
        data.collect()
    }

    pub(super) fn table(&self) -> Table {
        let columns = vec![
            Column::words("asks"),
            Column::words("its Nagle"),
            Column::words("the other end"),
            Column::numbers("mean", "ms"),
            Column::numbers("median", "ms"),
            Column::numbers("p95", "ms"),
            Column::numbers("p99", "ms"),
            Column::numbers("worst", "ms"),
            Column::numbers("ACKs of the other end", "per exchange"),
        ];
        let rows = self.0.iter().map(|(question, runs)| {
            let times = runs.times();
            let ms = |seconds: f64| Cell::number(seconds * 1e3, 2);
            vec![
                Cell::text(question.asks.name()),
                Cell::text(question.nagle.name()),
                Cell::text(question.policy.label()),
                interval(thousand(runs.mean(super::sample::Sample::mean_time_s)), 2),
                ms(times.p50),
                ms(times.p95),
                ms(times.p99),
                ms(times.max),
                Cell::number(runs.mean(|run| run.acks as f64 / run.took_s.len() as f64).mean, 2),
            ]
        });
        Table {
            caption: "Write-write-read: 50 B and 50 B, then the reply of 2 kB, every half second"
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }

    /// Mean times by policy of the end that is asked.
    pub(super) fn plot(&self, asks: Asks) -> Plot {
        let id = format!("write-write-read-{}", asks.name());
        let title = format!("Write-write-read, the {} asks", asks.name());
        let mut plot = Plot::new(&id, &title, "the other end acknowledges", "mean time (ms)");
        let of = |nagle| {
            let rows = self.0.iter();
            rows.filter(move |(question, _)| question.asks == asks && question.nagle == nagle)
        };
        let labels = of(Nagle::On).map(|(question, _)| question.policy.label().to_owned());
        plot.x.scale = Scale::Categories(labels.collect());
        for nagle in [Nagle::On, Nagle::Off] {
            let means = of(nagle).map(|(_, runs)| runs.mean(super::sample::Sample::mean_time_s));
            let means: Vec<_> = means.map(thousand).collect();
            let points = means.iter().enumerate().map(|(index, mean)| (index as f64, mean.mean));
            let errors = means.iter().map(|mean| mean.ci95);
            let name = format!("Nagle {}", nagle.name());
            plot = plot.with(PlotSeries::new(&name, Mark::Bars, points).with_errors(errors));
        }
        plot
    }
}
