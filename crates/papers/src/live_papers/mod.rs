//! The two phone papers on a real kernel: what a user of stock Linux gains, and where nothing.
//!
//! ```text
//! questions ─► the same scenario, seed by seed ─┬─► live: stock kernels, or our TCP at one end
//!                                               └─► simulated: the `linux` profile in their place
//!                                                   ─► report
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `questions.rs` | paths, workloads, receivers |
//! | `kernel.rs` | a live run as the questions want it |
//! | `sample.rs` | what is kept of a run, and estimates |
//! | `report.rs` | tables, document, JSON |
//!
//! The simulator takes no clock and no kernel; how a live run is done is handed in, so that what
//! is asked and how it is told can be tested without one.
//!
//! Not modelled: a phone's processor and its power saving, which a real phone has and a network
//! namespace has not.

mod kernel;
mod questions;
mod report;
mod sample;

use ackord_measure::RunSummary;
use ackord_report::OutputFile;
use ackord_report::document::Document;
use ackord_scenario::{Errors, Scenario};
use ackord_study::{ExecuteError, RunOptions, execute, without_progress};
use ackord_units::Span;
use ackord_wire::NodeId;
use questions::{Measure, Question, Receiver, Who, questions};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

pub use kernel::on_this_kernel;
pub use sample::Sample;

/// A paper whose experiment can be repeated on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivePaper {
    /// Lee, Lee and Kim 2015: the adaptive delayed ACK.
    AdaptiveDelack,
    /// Lee et al. 2016: ARI.
    Ari,
}

impl LivePaper {
    /// Both.
    pub const ALL: [LivePaper; 2] = [LivePaper::AdaptiveDelack, LivePaper::Ari];

    /// As a user writes it, and as the folder below `papers/` is called.
    pub const fn name(self) -> &'static str {
        match self {
            LivePaper::AdaptiveDelack => "adaptive-delack",
            LivePaper::Ari => "ari",
        }
    }

    /// The paper of this name.
    pub fn find(name: &str) -> Option<LivePaper> {
        LivePaper::ALL.into_iter().find(|paper| paper.name() == name)
    }
}

/// A live run to be made.
#[derive(Clone, Debug)]
pub struct LiveJob<'a> {
    /// What to run.
    pub scenario: &'a Scenario,
    /// With which seed.
    pub seed: u64,
    /// The hosts whose TCP is ours; all others are the kernel's.
    pub ours: BTreeSet<NodeId>,
}

/// What a live run came to.
#[derive(Clone, Debug)]
pub struct LiveTaken {
    /// Folded from the same events as a simulated run's.
    pub summary: RunSummary,
    /// All but 1 % of its packets were handed over at most this late.
    pub late_p99: Span,
    /// Whether that was within the budget.
    pub within_budget: WithinBudget,
}

/// Whether a run's timing may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithinBudget {
    /// It may.
    Yes,
    /// The driver was late too often.
    No,
}

/// Makes a live run.
pub type RunLive<'a, E> = dyn FnMut(&LiveJob<'_>) -> Result<LiveTaken, E> + 'a;

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEffort {
    /// A few questions, few runs: minutes.
    Quick,
    /// Every question, enough runs for intervals.
    Full,
}

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

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum LivePapersError<E> {
    /// A scenario is not sound: a defect of this project.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// A simulated run went wrong: a defect of this project.
    #[error(transparent)]
    Simulated(#[from] ExecuteError),
    /// A live run could not be made.
    #[error("{0}")]
    Live(E),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// A question with what was found.
#[derive(Debug)]
struct Answer {
    question: Question,
    /// In the order of the question's receivers.
    rows: Vec<Row>,
}

/// What a receiver came to.
#[derive(Debug)]
struct Row {
    receiver: Receiver,
    live: Vec<Sample>,
    simulated: Vec<Sample>,
    /// Live runs beyond the budget of lateness.
    untrustworthy: u32,
}

/// Simulated runs for each live one: they cost next to nothing.
const SIMULATED_RUNS: u32 = 20;

/// Asks every question of `papers`. `progress` is told the share that is done, and may stop it.
///
/// # Errors
/// [`LivePapersError::Interrupted`] when `progress` says so, and what a live run says.
pub fn live_papers<E>(
    papers: &[LivePaper],
    effort: LiveEffort,
    run_live: &mut RunLive<'_, E>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<LivePapersReport, LivePapersError<E>> {
    let asked: Vec<Question> = papers
        .iter()
        .flat_map(|paper| questions(*paper))
        .filter(|question| effort == LiveEffort::Full || question.asked_quickly)
        .collect();
    let runs_of = |question: &Question| question.runs[usize::from(effort == LiveEffort::Full)];
    let live_runs = |question: &Question| runs_of(question) * question.receivers.len() as u32;
    let total: u32 = asked.iter().map(live_runs).sum();
    let mut done = 0;
    let mut answers = Vec::new();
    for question in asked {
        let mut rows: Vec<Row> =
            question.receivers.iter().map(|receiver| Row::of(*receiver)).collect();
        // Seed by seed, so that what else the machine does falls upon all receivers alike.
        for seed in 1..=u64::from(runs_of(&question)) {
            for row in &mut rows {
                if progress(f64::from(done) / f64::from(total)).is_break() {
                    return Err(LivePapersError::Interrupted);
                }
                row.run_live(&question, seed, run_live)?;
                done += 1;
            }
        }
        for row in &mut rows {
            row.simulate(&question)?;
        }
        answers.push(Answer { question, rows });
    }
    let _ = progress(1.0);
    Ok(report::report(&answers, effort))
}

impl Row {
    fn of(receiver: Receiver) -> Row {
        Row { receiver, live: Vec::new(), simulated: Vec::new(), untrustworthy: 0 }
    }

    fn run_live<E>(
        &mut self,
        question: &Question,
        seed: u64,
        run_live: &mut RunLive<'_, E>,
    ) -> Result<(), LivePapersError<E>> {
        let scenario = question.scenario(&self.receiver)?;
        let named = scenario.nodes_with_ids().filter(|(_, node)| node.name == question.host);
        let ours = match self.receiver.who {
            Who::Ours => named.map(|(id, _)| id).collect(),
            Who::Kernel => BTreeSet::new(),
        };
        let job = LiveJob { scenario: &scenario, seed, ours };
        let taken = run_live(&job).map_err(LivePapersError::Live)?;
        let late_us = taken.late_p99.as_secs_f64() * 1e6;
        self.live.push(Sample::of(&taken.summary, Some(late_us)));
        self.untrustworthy += u32::from(taken.within_budget == WithinBudget::No);
        Ok(())
    }

    /// The same with the `linux` profile where the kernel was.
    fn simulate<E>(&mut self, question: &Question) -> Result<(), LivePapersError<E>> {
        let scenario = question.scenario(&self.receiver)?;
        for seed in 1..=u64::from(SIMULATED_RUNS) {
            let options = RunOptions::summary_only(seed);
            let outcome = execute(&scenario, options, &mut without_progress)?;
            self.simulated.push(Sample::of(&outcome.summary, None));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simulator in the kernel's place.
    fn simulated(job: &LiveJob<'_>) -> Result<LiveTaken, ExecuteError> {
        let options = RunOptions::summary_only(job.seed);
        let outcome = execute(job.scenario, options, &mut without_progress)?;
        Ok(LiveTaken {
            summary: outcome.summary,
            late_p99: Span::from_micros(40),
            within_budget: WithinBudget::Yes,
        })
    }

    #[test]
    fn with_the_simulator_in_the_kernel_s_place_live_and_simulated_runs_are_the_same() {
        let mut shares = Vec::new();
        let mut progress = |share| {
            shares.push(share);
            ControlFlow::Continue(())
        };
        let papers = [LivePaper::Ari];
        let report = live_papers(&papers, LiveEffort::Quick, &mut simulated, &mut progress);
        let report = report.expect("sound runs");
        let json: serde_json::Value = serde_json::from_str(&report.json).expect("JSON");
        let questions = json["questions"].as_array().expect("questions");
        assert_eq!(questions.len(), 4);
        for question in questions {
            let rows = question["receivers"].as_array().expect("receivers");
            assert_eq!(rows[0]["ours"], false);
            for row in rows {
                let live = row["live"]["runs"].as_array().expect("runs");
                for (live, simulated) in
                    live.iter().zip(row["simulated"]["runs"].as_array().expect("runs"))
                {
                    assert_eq!(live["acks"], simulated["acks"]);
                    assert_eq!(live["completion_ms"], simulated["completion_ms"]);
                }
            }
            let gain = rows[0]["live"]["gain_over_stock"]["mean"].as_f64().expect("a number");
            assert!((gain - 1.0).abs() < 1e-9, "{gain}");
        }
        assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
        assert!(report.files.iter().any(|file| file.path.ends_with("report.html")));
    }

    #[test]
    fn it_stops_when_told_so() {
        let mut stop = |_| ControlFlow::Break(());
        let stopped = live_papers(&LivePaper::ALL, LiveEffort::Quick, &mut simulated, &mut stop);
        assert!(matches!(stopped, Err(LivePapersError::Interrupted)));
    }
}
