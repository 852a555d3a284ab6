//! `ackord agent status` and `stop`: a running agent as tables, once or again and again, and as JSON; its end.

use super::{Whom, tables};
use crate::console::Console;
use crate::daemons::standing::ShownArguments;
use crate::daemons::web::Shown;
use crate::errors::Failure;
use ackord_agent::watch;
use clap::Args;

/// Tell how a running agent stands: applications, what they lose, levers, what these bring
///
/// Treated connections stand beside those left alone, means with 95 % intervals. Health comes first, each finding with
/// what to do. With --watch the tables are drawn anew every second until Ctrl-C.
#[derive(Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    shown: ShownArguments,
    #[command(flatten)]
    whom: Whom,
}

/// End a running agent, and wait until it has taken back what it did
#[derive(Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(super) fn status(arguments: &StatusArguments, console: &Console) -> Result<(), Failure> {
    let at_s = |status: &watch::Status| status.process.at_unix_s;
    let shown = Shown { at_s, document: tables::document, samples: tables::samples };
    arguments.shown.show(|| watch::status(&arguments.whom.state), &shown, console)
}

pub(super) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    watch::stop(&arguments.whom.state)?;
    console.remark("it has ended");
    Ok(())
}
