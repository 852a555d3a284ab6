//! What was found, as tables, as a document and as JSON.

use super::sample::{Sample, gain, over};
use super::{Answer, LiveEffort, LivePapersReport, Measure, Row, SIMULATED_RUNS, Who};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::{OutputFile, data, document_files};
use ackord_study::VERSION;
use serde::Serialize;

#[derive(Serialize)]
struct Results<'a> {
    version: &'static str,
    effort: &'static str,
    /// Runs whose packets were handed over too late to be believed.
    untrustworthy_runs: u32,
    questions: Vec<QuestionData<'a>>,
}

#[derive(Serialize)]
struct QuestionData<'a> {
    id: &'a str,
    paper: &'a str,
    title: &'a str,
    /// What `gain_over_stock` compares.
    compared_by: &'a str,
    unit: &'a str,
    receivers: Vec<ReceiverData<'a>>,
}

#[derive(Serialize)]
struct ReceiverData<'a> {
    id: &'a str,
    label: &'a str,
    /// Whether this end was our TCP, or the kernel's.
    ours: bool,
    live: SideData<'a>,
    simulated: SideData<'a>,
    untrustworthy_runs: u32,
}

#[derive(Serialize)]
struct SideData<'a> {
    measured: Option<Estimate>,
    /// Above 1 is better than the stock kernel on the same side, live or simulated.
    gain_over_stock: Option<Estimate>,
    acks_per_segment: Option<Estimate>,
    runs: &'a [Sample],
}

pub(super) fn report(answers: &[Answer], effort: LiveEffort) -> LivePapersReport {
    let results = Results {
        version: VERSION,
        effort: effort_word(effort),
        untrustworthy_runs: untrustworthy(answers),
        questions: answers.iter().map(Answer::data).collect(),
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

fn effort_word(effort: LiveEffort) -> &'static str {
    match effort {
        LiveEffort::Quick => "quick",
        LiveEffort::Full => "full",
    }
}

fn untrustworthy(answers: &[Answer]) -> u32 {
    answers.iter().flat_map(|answer| &answer.rows).map(|row| row.untrustworthy).sum()
}

fn document(answers: &[Answer], effort: LiveEffort) -> Document {
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
            ("effort".to_owned(), effort_word(effort).to_owned()),
            ("version".to_owned(), VERSION.to_owned()),
        ],
        sections,
    }
}

fn notes(effort: LiveEffort) -> Vec<String> {
    let effort = match effort {
        LiveEffort::Quick => "Quick: fewer questions and runs than a full measurement.",
        LiveEffort::Full => "This is the full measurement.",
    };
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

    fn data(&self) -> QuestionData<'_> {
        let question = &self.question;
        let side = |runs: &'_ [Sample], base: &[Sample]| -> SideData<'_> {
            SideData {
                measured: over(runs, |sample| sample.measured(question.measure)),
                gain_over_stock: gain(runs, base, question.measure),
                acks_per_segment: over(runs, Sample::acks_per_segment),
                runs: &[],
            }
        };
        let receivers = self.rows.iter().map(|row| ReceiverData {
            id: row.receiver.id,
            label: row.receiver.label,
            ours: row.receiver.who == Who::Ours,
            live: SideData { runs: &row.live, ..side(&row.live, &self.base().live) },
            simulated: SideData {
                runs: &row.simulated,
                ..side(&row.simulated, &self.base().simulated)
            },
            untrustworthy_runs: row.untrustworthy,
        });
        QuestionData {
            id: question.id,
            paper: question.paper.name(),
            title: question.title,
            compared_by: question.measure.word(),
            unit: question.measure.unit(),
            receivers: receivers.collect(),
        }
    }

    /// What the receivers are compared by.
    fn table(&self) -> Table {
        let measure = self.question.measure;
        let columns = vec![
            Column::words("receiver"),
            Column::numbers("live", measure.unit()),
            Column::numbers("simulated", measure.unit()),
            Column::numbers("gain live", ""),
            Column::numbers("gain simulated", ""),
            Column::numbers("slowest live", "ms"),
        ];
        let base = self.base();
        let value = |sample: &Sample| sample.measured(measure);
        let slowest = |sample: &Sample| match measure {
            Measure::Exchange => sample.exchange_max_ms.unwrap_or(f64::NAN),
            Measure::Completion | Measure::Goodput => sample.completion_ms,
        };
        let cells = |row: &Row| {
            let slowest = over(&row.live, slowest).filter(|_| measure != Measure::Goodput);
            vec![
                Cell::text(row.receiver.label),
                interval(over(&row.live, value), 2),
                interval(over(&row.simulated, value), 2),
                interval(gain(&row.live, &base.live, measure), 3),
                interval(gain(&row.simulated, &base.simulated, measure), 3),
                Cell::number(slowest.map(|times| times.max), 1),
            ]
        };
        let compared = format!("{}: {}", self.question.paper.name(), measure.word());
        self.table_of(&compared, columns, cells)
    }

    /// What they cost.
    fn cost_table(&self) -> Table {
        let columns = vec![
            Column::words("receiver"),
            Column::numbers("ACKs per segment", "live"),
            Column::numbers("ACKs per segment", "simulated"),
            Column::numbers("airtime of ACKs", "%, live"),
            Column::numbers("sent again", "live"),
            Column::numbers("timeouts", "live"),
            Column::numbers("late p99", "us"),
        ];
        let cells = |row: &Row| {
            let live = |pick: fn(&Sample) -> f64| over(&row.live, pick);
            vec![
                Cell::text(row.receiver.label),
                interval(live(Sample::acks_per_segment), 2),
                interval(over(&row.simulated, Sample::acks_per_segment), 2),
                interval(live(|sample| sample.ack_air_percent.unwrap_or(f64::NAN)), 1),
                Cell::number(live(|sample| sample.retransmitted as f64).map(|it| it.mean), 1),
                Cell::number(live(|sample| sample.timeouts as f64).map(|it| it.mean), 1),
                Cell::number(
                    live(|sample| sample.late_p99_us.unwrap_or(f64::NAN)).map(|it| it.mean),
                    0,
                ),
            ]
        };
        self.table_of("What it costs", columns, cells)
    }

    fn table_of(
        &self,
        caption: &str,
        columns: Vec<Column>,
        cells: impl Fn(&Row) -> Vec<Cell>,
    ) -> Table {
        Table { caption: caption.to_owned(), columns, rows: self.rows.iter().map(cells).collect() }
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
