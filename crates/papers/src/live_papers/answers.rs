//! What each receiver of a question came to, live and simulated.

use super::kernel::{LiveJob, RunLive};
use super::questions::{Question, Receiver};
use super::sample::Sample;
use ackord_scenario::Errors;
use ackord_study::{ExecuteError, RunOptions, execute, without_progress};

/// Simulated runs for each live one: they cost next to nothing.
pub(super) const SIMULATED_RUNS: u32 = 20;

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
pub(super) struct Answer {
    pub(super) question: Question,
    /// In the order of the question's receivers.
    pub(super) rows: Vec<Row>,
}

/// What a receiver came to.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) receiver: Receiver,
    pub(super) live: Vec<Sample>,
    pub(super) simulated: Vec<Sample>,
    /// Live runs beyond the budget of lateness.
    pub(super) untrustworthy: u32,
}

impl Row {
    pub(super) fn of(receiver: Receiver) -> Row {
        Row { receiver, live: Vec::new(), simulated: Vec::new(), untrustworthy: 0 }
    }

    pub(super) fn run_live<E>(
        &mut self,
        question: &Question,
        seed: u64,
        run_live: &mut RunLive<'_, E>,
    ) -> Result<(), LivePapersError<E>> {
        let scenario = question.scenario(&self.receiver)?;
        let named = scenario.nodes_with_ids().filter(|(_, node)| node.name == question.host);
        let ours = named.filter(|_| self.receiver.ours).map(|(id, _)| id).collect();
        let job = LiveJob { scenario: &scenario, seed, ours };
        let taken = run_live(&job).map_err(LivePapersError::Live)?;
        let late_us = taken.late_p99.as_secs_f64() * 1e6;
        self.live.push(Sample::of(&taken.summary, Some(late_us)));
        self.untrustworthy += u32::from(!taken.within_budget);
        Ok(())
    }

    /// The same with the `linux` profile where the kernel was.
    pub(super) fn simulate<E>(&mut self, question: &Question) -> Result<(), LivePapersError<E>> {
        let scenario = question.scenario(&self.receiver)?;
        for seed in 1..=u64::from(SIMULATED_RUNS) {
            let options = RunOptions::summary_only(seed);
            let outcome = execute(&scenario, options, &mut without_progress)?;
            self.simulated.push(Sample::of(&outcome.summary, None));
        }
        Ok(())
    }
}
