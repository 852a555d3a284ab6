//! What the commands that run a daemon have in common: signals, confinement, and what is told as it begins.

use crate::console::Console;
use crate::errors::Failure;
use ackord_daemon::sandbox::{Confined, SandboxError};
use ackord_daemon::{Undone, Wishes};
use ackord_scenario::Errors;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Hears signals from now on.
pub(crate) fn listen() -> Result<Arc<Wishes>, Failure> {
    let wishes = Arc::new(Wishes::default());
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::Signals)?;
    let heard = Arc::clone(&wishes);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGHUP => heard.reload.store(true, Ordering::Relaxed),
                _ => heard.stop.store(true, Ordering::Relaxed),
            }
        }
    });
    Ok(wishes)
}

/// Tells what came of giving up what a daemon needs not.
pub(crate) fn tell_confined(confined: Result<Confined, SandboxError>) {
    match confined {
        Ok(confined) => tracing::debug!(
            capabilities = confined.capabilities.join(" "),
            filtered = confined.filtered,
            "confined"
        ),
        Err(error) => tracing::warn!(%error, "not confined"),
    }
}

/// Tells what became of what an earlier process had changed.
pub(crate) fn tell_undone(undone: &Undone) {
    for what in &undone.undone {
        tracing::info!(what, "undone, left by an earlier process");
    }
    for what in &undone.superseded {
        tracing::info!(what, "changed by somebody else since, left alone");
    }
    for what in &undone.left {
        tracing::warn!(what, "left by an earlier process and still there");
    }
}

/// Tells why a configuration was not taken: where that is the file, with its lines, which belong into no field.
pub(crate) fn tell_not_reloaded(
    error: &impl fmt::Display,
    file: Option<&Errors>,
    console: &Console,
) {
    if let Some(errors) = file {
        console.complain(&errors.render(console.error_style()));
    }
    tracing::error!(%error, "not reloaded: the configuration of before goes on");
}
