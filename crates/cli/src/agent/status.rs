//! `ackord agent status` and `stop`: a running agent as tables, once or again and again, and as JSON; its end.

use super::{Whom, tables};
use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::daemons::standing::ShownArguments;
use crate::daemons::web::Shown;
use crate::errors::Failure;
use ackord_agent::watch;
use ackord_daemon::Severity;
use clap::Args;
use std::cell::Cell;

/// Tell how a running agent stands: applications, what they lose, levers, what these bring
///
/// Health comes first, each finding with what to do. Treated connections are compared with the control group, means with
/// 95 % intervals. The exit code is 1 if no agent answers, and with --exit-code 3 if Health has a failure or a warning. It
/// needs the right to use the control socket, which root has.
#[derive(Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    shown: ShownArguments,
    #[command(flatten)]
    whom: Whom,
    #[command(flatten)]
    warned: WarnedArguments,
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
    let warned = Cell::new(false);
    let request = || {
        let status = watch::status(&arguments.whom.state)?;
        warned.set(status.health.iter().any(|one| one.severity < Severity::Remark));
        Ok(status)
    };
    arguments.shown.show(request, &shown, console)?;
    arguments.warned.end(warned.get())
}

pub(super) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    watch::stop(&arguments.whom.state)?;
    console.remark("it has ended");
    Ok(())
}
