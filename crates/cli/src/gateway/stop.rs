//! `ackord gateway stop`: a running gateway ended, or what is left of one undone.

use super::SocketArguments;
use crate::console::Console;
use crate::errors::Failure;
use ackord_gateway::Journal;
use ackord_gateway::watch::{self, ControlError};
use clap::Args;

/// End a running gateway, and wait until it has undone what it did
///
/// Where none runs but one was ended by force, what it left behind is undone.
#[derive(Args)]
pub(super) struct StopArguments {
    #[command(flatten)]
    socket: SocketArguments,
}

pub(super) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    let socket = &arguments.socket.socket;
    match watch::stop(socket) {
        Err(error @ ControlError::NotRunning { .. }) => {
            let state = socket.parent().unwrap_or(socket);
            let undone = Journal::clean_up(state).unwrap_or_default();
            for what in undone.undone.iter() {
                console.remark(&format!("undone: {what}\n"));
            }
            if undone.undone.is_empty() { Err(error.into()) } else { Ok(()) }
        }
        other => Ok(other?),
    }
}
