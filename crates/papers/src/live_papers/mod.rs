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
//! | `answers.rs` | what each receiver came to, live and simulated |
//! | `kernel.rs` | a live run as the questions want it |
//! | `sample.rs` | what is kept of a run, and estimates |
//! | `report.rs` | tables, document, JSON |
//!
//! The simulator takes no clock and no kernel; how a live run is done is handed in, so that what
//! is asked and how it is told can be tested without one.
//!
//! Not modelled: a phone's processor and its power saving, which a real phone has and a network
//! namespace has not.

mod answers;
mod kernel;
mod questions;
mod report;
mod sample;

use ackord_study::Effort;
use answers::{Answer, Row};
use questions::{Question, questions};
use std::ops::ControlFlow;

pub use answers::LivePapersError;
pub use kernel::{LiveJob, LiveTaken, RunLive, on_this_kernel};
pub use questions::LivePaper;
pub use report::LivePapersReport;
pub use sample::Sample;

/// Asks every question of `papers`. `progress` is told the share that is done, and may stop it.
///
/// # Errors
/// [`LivePapersError::Interrupted`] when `progress` says so, and what a live run says.
pub fn live_papers<E>(
    papers: &[LivePaper],
    effort: Effort,
    run_live: &mut RunLive<'_, E>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<LivePapersReport, LivePapersError<E>> {
    let asked: Vec<Question> = papers
        .iter()
        .flat_map(|paper| questions(*paper))
        .filter(|question| effort == Effort::Full || question.asked_quickly)
        .collect();
    let runs_of = |question: &Question| effort.of(question.runs[0], question.runs[1]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_study::{ExecuteError, RunOptions, execute, without_progress};
    use ackord_units::Span;

    /// The simulator in the kernel's place.
    fn simulated(job: &LiveJob<'_>) -> Result<LiveTaken, ExecuteError> {
        let options = RunOptions::summary_only(job.seed);
        let outcome = execute(job.scenario, options, &mut without_progress)?;
        Ok(LiveTaken {
            summary: outcome.summary,
            late_p99: Span::from_micros(40),
            within_budget: true,
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
        let report = live_papers(&papers, Effort::Quick, &mut simulated, &mut progress);
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
        let stopped = live_papers(&LivePaper::ALL, Effort::Quick, &mut simulated, &mut stop);
        assert!(matches!(stopped, Err(LivePapersError::Interrupted)));
    }
}
