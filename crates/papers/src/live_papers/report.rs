//! What was found, as tables, as a document and as JSON.

use super::answers::{Answer, Row, SIMULATED_RUNS};
use super::questions::Measure;
use super::sample::{Sample, gain, over};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::{OutputFile, data, document_files};
use ackord_study::Effort;
use ackord_study::VERSION;
use serde::Serialize;

/// What came out.
#[derive(Clone, Debug)]
pub struct LivePapersReport {
    /// For people.
    pub document: Document,
    /// For programs: `questions[]`. Ends with a line break.
    pub json: String,
    /// The report, the tables as CSV, the JSON.
    pub files: Vec<OutputFile>,
}

pub(super) fn report(answers: &[Answer], effort: Effort) -> LivePapersReport {
    let results = record! {
        version: VERSION,
        effort: effort.id(),
        untrustworthy_runs: untrustworthy(answers),
        questions: answers.iter().map(Answer::data).collect::<Vec<_>>(),
    };
    let document = document(answers, effort);
    let json = data::to_json(&results);
    let mut files = document_files(&document);
    for answer in answers {
        let id = answer.question.id;
        files.push(data::table_csv(&format!("{id}.csv"), &answer.table()));
        files.push(data::table_csv(&format!("{id}-cost.csv"), &answer.cost_table()));
    }
    files.push(OutputFile::new("live-papers.json", json.clone()));
    LivePapersReport { document, json, files }
}

fn untrustworthy(answers: &[Answer]) -> u32 {
    answers.iter().flat_map(|answer| &answer.rows).map(|row| row.untrustworthy).sum()
}

fn document(answers: &[Answer], effort: Effort) -> Document {
    let live: usize =
        answers.iter().flat_map(|answer| &answer.rows).map(|row| row.live.len()).sum();
    let late = untrustworthy(answers);
    let mut sections = Vec::new();
    if late > 0 {
        let warning = format!(
            "UNTRUSTWORTHY: {late} of {live} live runs handed packets over later than their budget \
             allows. Repeat them on a machine with less to do."
        );
        sections.push(Section::new("Timing").with(Block::Text(warning)));
    }
    for answer in answers {
        let section = Section::new(answer.question.title);
        let tables = [answer.table(), answer.cost_table()].map(Block::Table);
        sections.push(Section { blocks: tables.into(), ..section });
    }
    sections.push(Section::new("Remarks").with(Block::Notes(notes(effort))));
    Document {
        title: "The phone papers on a real kernel".to_owned(),
        purpose: "What does a user of stock Linux gain from an adaptive delayed ACK and from ARI, \
                  with another stock Linux at the far end?"
            .to_owned(),
        facts: vec![
            ("live runs".to_owned(), live.to_string()),
            ("effort".to_owned(), effort.id().to_owned()),
            ("version".to_owned(), VERSION.to_owned()),
        ],
        sections,
    }
}

fn notes(effort: Effort) -> Vec<String> {
    let effort = effort.of(
        "Quick: fewer questions and runs than a full measurement.",
        "This is the full measurement.",
    );
    vec![
        format!(
            "{effort} Means and 95 % intervals over seeds; beside each live number the simulator's \
             with the `linux` profile in the kernels' place, over {SIMULATED_RUNS} seeds."
        ),
        "The kernel is at both ends, or ours at the phone's (or host's) in its place. A gain is over \
         the stock kernel in that place, with the same seeds: above 1 is faster."
            .to_owned(),
        "Senders are Linux of today: cwnd grows by what is acknowledged, however many \
         acknowledgments say so (RFC 3465 without its limit), so that more of them buy little."
            .to_owned(),
    ]
}

impl Answer {
    fn base(&self) -> &Row {
        &self.rows[0]
    }

    fn data(&self) -> impl Serialize {
        let question = &self.question;
        let side = |runs: &[Sample], base: &[Sample]| {
            record! {
                measured: over(runs, |sample| sample.measured(question.measure)),
                gain_over_stock: gain(runs, base, question.measure),
                acks_per_segment: over(runs, Sample::acks_per_segment),
                runs: runs.to_vec(),
            }
        };
        let receiver = |row: &Row| {
            record! {
                id: row.receiver.id,
                label: row.receiver.label,
                ours: row.receiver.ours,
                live: side(&row.live, &self.base().live),
                simulated: side(&row.simulated, &self.base().simulated),
                untrustworthy_runs: row.untrustworthy,
            }
        };
        record! {
            id: question.id,
            paper: question.paper.name(),
            title: question.title,
            compared_by: question.measure.word(),
            unit: question.measure.unit(),
            receivers: self.rows.iter().map(receiver).collect::<Vec<_>>(),
        }
    }

    /// What the receivers are compared by.
    fn table(&self) -> Table {
        let measure = self.question.measure;
        let unit = measure.unit();
        let base = self.base();
        let value = |sample: &Sample| sample.measured(measure);
        let slowest = |sample: &Sample| match measure {
            Measure::Exchange => sample.exchange_max_ms.unwrap_or(f64::NAN),
            Measure::Completion | Measure::Goodput => sample.completion_ms,
        };
        rows(&self.rows)
            .words("receiver", |row| row.receiver.label)
            .cell(("live", unit), |row| interval(over(&row.live, value), 2))
            .cell(("simulated", unit), |row| interval(over(&row.simulated, value), 2))
            .cell(("gain live", ""), |row| interval(gain(&row.live, &base.live, measure), 3))
            .cell(("gain simulated", ""), |row| {
                interval(gain(&row.simulated, &base.simulated, measure), 3)
            })
            .number(("slowest live", "ms"), 1, |row| {
                let slowest = over(&row.live, slowest).filter(|_| measure != Measure::Goodput);
                slowest.map(|times| times.max)
            })
            .titled(format!("{}: {}", self.question.paper.name(), measure.word()))
    }

    /// What they cost.
    fn cost_table(&self) -> Table {
        let live = |row: &&Row, pick: fn(&Sample) -> f64| over(&row.live, pick);
        rows(&self.rows)
            .words("receiver", |row| row.receiver.label)
            .cell(("ACKs per segment", "live"), |row| {
                interval(live(row, Sample::acks_per_segment), 2)
            })
            .cell(("ACKs per segment", "simulated"), |row| {
                interval(over(&row.simulated, Sample::acks_per_segment), 2)
            })
            .cell(("airtime of ACKs", "%, live"), |row| {
                interval(live(row, |run| run.ack_air_percent.unwrap_or(f64::NAN)), 1)
            })
            .number(("retransmitted", "live"), 1, |row| live(row, |run| run.retransmitted as f64))
            .number(("timeouts", "live"), 1, |row| live(row, |run| run.timeouts as f64))
            .number(("late p99", "us"), 0, |row| {
                live(row, |run| run.late_p99_us.unwrap_or(f64::NAN))
            })
            .titled("What it costs")
    }
}

fn interval(estimate: Option<Estimate>, decimals: usize) -> Cell {
    match estimate {
        Some(Estimate { mean, ci95, .. }) if mean.is_finite() => {
            Cell::Interval { mean, half_width: ci95, decimals }
        }
        _ => Cell::Missing,
    }
}
