//! Beyond the paper: its links behind every queue, its future work (Telnet, the Web, unequal round
//! trips, many flows of many kinds), the scenarios of RFC 7928, and weights (§4.1).
//!
//! | file | what |
//! | --- | --- |
//! | `wider/questions.rs` | every scenario and every queue |
//!
//! Scenarios are changed in nothing but their bottleneck's queue, the number of flows where that is
//! what is asked, and the length of a run. Every queue has the same capacity and is otherwise as
//! registered.
//!
//! Not compared: ECN (the senders here do not ask for it), queues tuned to a link.

mod questions;

use crate::cells::Runs;
use crate::plan::Plan;
use crate::reproduction::{PaperError, Watch};
use crate::tables::{SHAPES, at_whole_numbers, rows};
use ackord_measure::FlowSummary;
use ackord_measure::stats::{Estimate, estimate, jain_index, min_max_percent, quantile};
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale};
use ackord_study::RunOutcome;
use ackord_units::Span;
use questions::{QUEUES, questions};
use serde::Serialize;
use std::collections::BTreeMap;

pub(super) use questions::Question;

/// What is taken from a run.
#[derive(Clone, Debug)]
struct Taken {
    used_percent: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Goodput of each bulk flow.
    shares: Vec<(String, f64)>,
    dropped: f64,
    marked: f64,
    state_bytes: f64,
    entries: f64,
    /// By group of flows: goodput of one of them in Mbit/s, and the 99th percentile of the times of
    /// their transfers in milliseconds.
    groups: BTreeMap<String, (f64, Option<f64>)>,
}

/// One queue's answer: estimates over the runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Answer {
    pub(super) queue: &'static str,
    pub(super) used_percent: Estimate,
    delay_p50_ms: Estimate,
    pub(super) delay_p99_ms: Estimate,
    pub(super) jain_index: Estimate,
    pub(super) min_max_percent: Estimate,
    dropped_packets: Estimate,
    marked_packets: Estimate,
    state_bytes: Estimate,
    state_entries: Estimate,
    groups: BTreeMap<String, Group>,
}

/// The flows of one group.
#[derive(Clone, Debug, Serialize)]
struct Group {
    goodput_mbit_s: Estimate,
    transfer_p99_ms: Option<Estimate>,
}

/// A question with every queue's answer.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Asked {
    #[serde(skip)]
    pub(super) question: Question,
    id: &'static str,
    answers: Vec<Answer>,
}

/// Asks every queue everything, with this many seeds and runs of this length.
pub(super) fn ask(runs: u32, duration: Span, watch: &Watch<'_>) -> Result<Vec<Asked>, PaperError> {
    let mut plan = Plan::default();
    let keys = questions().flat_map(|question| QUEUES.map(|queue| (question, queue)));
    let planned =
        plan.each(keys, |(question, (_, queue))| [question.setup(queue, duration).seeds(runs)])?;
    let taken = plan.run(|_, outcome| Taken::of(&outcome), watch)?.of(planned);
    let asked = taken.chunk_by(|a, b| a.key.0 == b.key.0).map(|queues| {
        let question = queues[0].key.0;
        let answer = queues.iter().map(|one| Answer::of(one.key.1.0, &question, &one.runs));
        Asked { question, id: question.id, answers: answer.collect() }
    });
    Ok(asked.collect())
}

impl Taken {
    fn of(outcome: &RunOutcome) -> Taken {
        let run = &outcome.summary;
        // The bottleneck stands first in every file.
        let (link, queue, end) = (&run.links[0], &run.queues[0], &outcome.queues[0]);
        // Whoever transfers one thing after the other asks for no share.
        let bulk = |flow: &&FlowSummary| flow.datagrams.is_none() && flow.transfers.is_none();
        let share = |flow: &FlowSummary| (flow.name.clone(), flow.goodput_bit_s);
        let mut groups: BTreeMap<String, Vec<&FlowSummary>> = BTreeMap::new();
        for flow in &run.flows {
            groups.entry(group_of(&flow.name).to_owned()).or_default().push(flow);
        }
        let group = |(name, flows): (String, Vec<&FlowSummary>)| {
            let goodput: f64 = flows.iter().map(|flow| flow.goodput_bit_s).sum();
            let each = flows.iter().filter_map(|flow| flow.transfers.as_ref());
            let times: Vec<f64> =
                each.flat_map(|transfers| &transfers.each).map(|one| one.took_s * 1e3).collect();
            (name, (goodput / flows.len() as f64 / 1e6, quantile(&times, 0.99)))
        };
        Taken {
            used_percent: 100.0 * link.utilisation.unwrap_or(0.0),
            p50_ms: queue.p50_delay_ms.unwrap_or(0.0),
            p99_ms: queue.p99_delay_ms.unwrap_or(0.0),
            shares: run.flows.iter().filter(bulk).map(share).collect(),
            dropped: queue.dropped_packets as f64,
            marked: end.marked as f64,
            state_bytes: end.state.bytes().get() as f64,
            entries: f64::from(end.state.entries),
            groups: groups.into_iter().map(group).collect(),
        }
    }

    /// A measure of how evenly the bulk flows share, each share taken for its weight.
    fn evenly(&self, question: &Question, measure: fn(&[f64]) -> Option<f64>) -> f64 {
        let each = self.shares.iter().map(|(name, share)| share / question.weight(name));
        measure(&each.collect::<Vec<_>>()).unwrap_or(0.0)
    }
}

/// `web` of `web-3`.
fn group_of(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((group, number)) if number.chars().all(|c| c.is_ascii_digit()) => group,
        _ => name,
    }
}

impl Answer {
    fn of(queue: &'static str, question: &Question, runs: &Runs<Taken>) -> Answer {
        let group = |name: &String| {
            let times: Vec<f64> = runs.0.iter().filter_map(|run| run.groups[name].1).collect();
            let goodput_mbit_s = runs.mean(|run| run.groups[name].0);
            (name.clone(), Group { goodput_mbit_s, transfer_p99_ms: estimate(&times) })
        };
        Answer {
            queue,
            used_percent: runs.mean(|run| run.used_percent),
            delay_p50_ms: runs.mean(|run| run.p50_ms),
            delay_p99_ms: runs.mean(|run| run.p99_ms),
            jain_index: runs.mean(|run| run.evenly(question, jain_index)),
            min_max_percent: runs.mean(|run| run.evenly(question, min_max_percent)),
            dropped_packets: runs.mean(|run| run.dropped),
            marked_packets: runs.mean(|run| run.marked),
            state_bytes: runs.mean(|run| run.state_bytes),
            state_entries: runs.mean(|run| run.entries),
            groups: runs.0[0].groups.keys().map(group).collect(),
        }
    }

    /// Goodput of one flow of a group in Mbit/s.
    pub(super) fn goodput_mbit_s(&self, group: &str) -> Option<Estimate> {
        self.groups.get(group).map(|group| group.goodput_mbit_s)
    }

    /// The 99th percentile of the times of a group's transfers, milliseconds.
    pub(super) fn transfer_p99_ms(&self, group: &str) -> Option<Estimate> {
        self.groups.get(group)?.transfer_p99_ms
    }
}

impl Asked {
    /// The answer of the queue of this name.
    pub(super) fn of(&self, queue: &str) -> &Answer {
        let found = self.answers.iter().find(|answer| answer.queue == queue);
        found.expect("every queue is asked")
    }

    /// Every queue's answer.
    #[cfg(test)]
    pub(super) fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// A row per queue.
    pub(super) fn table(&self) -> Table {
        let marks = self.answers.iter().any(|answer| answer.marked_packets.max > 0.0);
        rows(&self.answers)
            .words("queue", |answer| answer.queue)
            .number(("used", "%"), 1, |answer| answer.used_percent)
            .about(("wait p50", "ms"), |answer| answer.delay_p50_ms)
            .about(("p99", "ms"), |answer| answer.delay_p99_ms)
            .number(("min/max", "%"), 1, |answer| answer.min_max_percent)
            .number(("Jain", ""), 3, |answer| answer.jain_index)
            .number(("drops", ""), 0, |answer| answer.dropped_packets)
            .number(("state", "B"), 0, |answer| answer.state_bytes)
            .each(marks.then_some(()), |table, ()| {
                table.number(("marks", ""), 0, |answer| answer.marked_packets)
            })
            .each(&self.answers[0].groups, |table, (name, group)| {
                let unit = if group.transfer_p99_ms.is_some() { "p99, ms" } else { "Mbit/s" };
                table.about((name, unit), |answer| {
                    let group = &answer.groups[name];
                    group.transfer_p99_ms.unwrap_or(group.goodput_mbit_s)
                })
            })
            .titled(self.question.caption())
    }
}

/// Fairness of every queue on the paper's four links.
pub(super) fn plot(asked: &[Asked]) -> Plot {
    let title = "Fairness of Reno and Vegas behind every queue (random starts)";
    let links = asked.iter().filter(|asked| asked.question.is_of_the_paper());
    let mut plot = Plot::new("every-queue", title, "queue", "fairness (%)");
    for (asked, shape) in links.zip(SHAPES) {
        let points =
            at_whole_numbers(asked.answers.iter().map(|answer| answer.min_max_percent.mean));
        plot = plot.with(PlotSeries::new(asked.question.place(), Mark::Points(shape), points));
    }
    // Names as long as those of the tables would leave every second one out.
    let short = |name: &str| match name {
        "selective-drop" => "practical".to_owned(),
        "selective-drop, paper" => "Eq. 8, 9".to_owned(),
        other => other.to_owned(),
    };
    plot.x.scale = Scale::Categories(QUEUES.iter().map(|(name, _)| short(name)).collect());
    plot.y.range = Range::Fixed(0.0, 100.0);
    plot
}
