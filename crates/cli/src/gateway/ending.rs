//! `ackord gateway reload` and `stop`: what a running gateway is asked to do, and its answer.

use super::status::Whom;
use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use ackord_gateway::watch::{self, Reloaded};
use clap::Args;

/// Have a running gateway read its configuration anew, and print its answer
///
/// Every connection is kept. A file that is not sound changes nothing: the reason is printed with its line, the
/// gateway goes on with the configuration it has, and the exit code is 2.
#[derive(Args)]
pub(crate) struct ReloadArguments {
    #[command(flatten)]
    whom: Whom,
}

/// End a running gateway, and wait until it has undone what it did
///
/// If one was killed, what it left behind is undone and printed.
#[derive(Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(crate) fn reload(arguments: &ReloadArguments, console: &Console) -> Result<(), Failure> {
    match watch::reload(&arguments.whom.socket())? {
        Reloaded::Refused(why) => Err(DaemonFailure::NotReloaded(why).into()),
        Reloaded::Taken(changes) if changes.is_empty() => {
            Ok(console.print("reloaded: nothing is different\n")?)
        }
        Reloaded::Taken(changes) => {
            let lines: String = changes.iter().map(|one| format!("  {one}\n")).collect();
            Ok(console.print(&format!("reloaded:\n{lines}"))?)
        }
    }
}

pub(crate) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    let error = match watch::stop(&arguments.whom.socket()) {
        Ok(()) => {
            console.remark("it has ended");
            return Ok(());
        }
        Err(error) => error,
    };
    if !matches!(error, watch::ControlError::NotRunning { .. }) {
        return Err(error.into());
    }
    let left = |why: String| Failure::from(DaemonFailure::LeftBehind(why));
    let found = watch::clean_up(&arguments.whom.state).map_err(|error| left(error.to_string()))?;
    let Some(undone) = found else { return Err(error.into()) };
    console.remark("no gateway runs here; an earlier one was killed");
    for what in &undone.undone {
        console.remark(&format!("undone: {what}"));
    }
    for what in &undone.superseded {
        console.remark(&format!("changed by another program since, left alone: {what}"));
    }
    if !undone.left.is_empty() {
        return Err(left(undone.left.join("; ")));
    }
    if undone.undone.is_empty() && undone.superseded.is_empty() {
        console.remark("nothing of it is left in the kernel");
    }
    Ok(())
}
