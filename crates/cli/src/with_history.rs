//! `--history` of runs, simulated and live: values taken before, transfers counted after.

use crate::console::Console;
use crate::errors::Failure;
use crate::history::wall_time;
use ackord_history::{Store, Transfer};
use ackord_scenario::Scenario;
use ackord_study::{HistoryUse, apply_history};
use clap::Args;
use std::path::PathBuf;

/// The history that a run takes part in.
#[derive(Args)]
pub(crate) struct WithHistory {
    /// Take what ARI needs from this history of applications, and count the finished transfers in
    /// it afterwards; made if it is not there (see `ackord history --help`)
    ///
    /// Endpoints whose `ack` or `nagle` is `ari` get the most frequent size and the verdict of
    /// their flow's application, wherever the scenario leaves these knobs at their defaults.
    /// Without this option no history is read or written.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

impl WithHistory {
    /// Changes the scenario as the history says. The store is held only for that moment: other
    /// runs may use it while this one goes on.
    pub(crate) fn apply(
        &self,
        scenario: &mut Scenario,
    ) -> Result<Option<Vec<HistoryUse>>, Failure> {
        let Some(path) = &self.history else { return Ok(None) };
        let histories = Store::open(path)?.list()?.into_iter().collect();
        Ok(Some(apply_history(scenario, &histories, wall_time())))
    }

    /// Counts transfers, if they are to be.
    pub(crate) fn count(
        &self,
        transfers: &[(String, Vec<Transfer>)],
        console: &Console,
    ) -> Result<(), Failure> {
        let Some(path) = &self.history else { return Ok(()) };
        let count: usize = transfers.iter().map(|(_, transfers)| transfers.len()).sum();
        if count > 0 {
            Store::open(path)?.import(transfers, wall_time())?;
        }
        let words = if count == 1 { "finished transfer" } else { "finished transfers" };
        console.remark(&format!("counted {count} {words} in {}", path.display()));
        Ok(())
    }
}
