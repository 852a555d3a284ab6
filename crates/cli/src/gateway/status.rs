//! `ackord gateway status` and `stop`: a running gateway asked.

use crate::console::Console;
use crate::errors::Failure;
use ackord_gateway::{Journal, SOCKET, watch};
use clap::Args;
use std::path::PathBuf;

/// Which gateway is asked.
#[derive(Args)]
pub(crate) struct Whom {
    /// The state directory of the gateway
    #[arg(long, value_name = "DIRECTORY", default_value = Journal::DIRECTORY)]
    state: PathBuf,
}

impl Whom {
    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join(SOCKET)
    }
}

/// Show what a running gateway does: connections, remedies at work, health
#[derive(Args)]
#[command(after_help = "For example:\n  ackord gateway status --json")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    whom: Whom,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// End a running gateway, and wait until it has undone what it did
///
/// Where none runs but one was ended by force, what it left behind is undone.
#[derive(Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(crate) fn status(arguments: &StatusArguments, console: &Console) -> Result<(), Failure> {
    let status = watch::status(&arguments.whom.socket())?;
    Ok(console.print(&ackord_report::data::to_json(&status))?)
}

pub(crate) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    match watch::stop(&arguments.whom.socket()) {
        Ok(()) => {
            console.remark("it has ended\n");
            Ok(())
        }
        Err(error @ watch::ControlError::NotRunning { .. }) => {
            let undone = Journal::clean_up(&arguments.whom.state).unwrap_or_default();
            for what in &undone.undone {
                console.remark(&format!("undone: {what}\n"));
            }
            if undone.undone.is_empty() { Err(error.into()) } else { Ok(()) }
        }
        Err(error) => Err(error.into()),
    }
}
