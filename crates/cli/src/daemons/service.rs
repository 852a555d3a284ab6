//! What the commands that run a daemon have in common: signals, confinement, and what is told as it begins.

use crate::console::Console;
use crate::errors::Failure;
use ackord_daemon::sandbox::{Confined, SandboxError};
use ackord_daemon::{Undone, Wishes, logs};
use ackord_scenario::Errors;
#[cfg(any(feature = "agent", test))]
use ackord_units::{Span, Time};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
#[cfg(any(feature = "agent", test))]
use std::collections::BTreeMap;
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

/// Reports warnings about a configuration: one line each in the journal of systemd, else with the lines of the file.
pub(crate) fn tell_warnings(warnings: &Errors, console: &Console) {
    match logs::goes_to_the_journal() {
        true => warnings.lines().iter().for_each(|line| tracing::warn!("{line}")),
        false => console.complain(&warnings.render_warnings(console.error_style())),
    }
}

/// Suppresses messages that a daemon repeats, once a second perhaps, while something lasts.
#[cfg(any(feature = "agent", test))]
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: BTreeMap<String, Time>,
}

#[cfg(any(feature = "agent", test))]
impl Repeats {
    /// How long the same message is not logged again.
    const PAUSE: Span = Span::from_secs(600);
    /// Different messages that are remembered.
    const MOST: usize = 64;

    /// Returns whether a message is to be logged: it was not in the last ten minutes.
    pub(crate) fn is_new(&mut self, message: &str, now: Time) -> bool {
        self.last.retain(|_, at| now - *at < Repeats::PAUSE);
        if self.last.contains_key(message) {
            return false;
        }
        if self.last.len() < Repeats::MOST {
            self.last.insert(message.to_owned(), now);
        }
        true
    }
}

/// Tells what came of giving up what a daemon needs not.
pub(crate) fn tell_confined(confined: Result<Confined, SandboxError>) {
    match confined {
        Ok(confined) => tracing::debug!(
            capabilities = confined.capabilities.join(" "),
            filtered = confined.filtered,
            "confined"
        ),
        Err(error) => tracing::warn!(%error, "not confined: {error}"),
    }
}

/// Tells what became of what an earlier process had changed.
pub(crate) fn tell_undone(undone: &Undone) {
    for what in &undone.undone {
        tracing::info!(what, "undone, left by an earlier process: {what}");
    }
    for what in &undone.superseded {
        tracing::info!(what, "changed by another program since, left alone: {what}");
    }
    for what in &undone.left {
        tracing::warn!(what, "left by an earlier process and still there: {what}");
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
    tracing::error!(%error, "not reloaded, the configuration before stays: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_a_repeated_message_again_after_ten_minutes() {
        let mut repeats = Repeats::default();
        let logged = |repeats: &mut Repeats, at| {
            repeats.is_new("no space left", Time::ZERO + Span::from_secs(at))
        };
        let times: Vec<u64> = (0..1_300).filter(|at| logged(&mut repeats, *at)).collect();
        assert_eq!(times, [0, 600, 1_200]);
        assert!(repeats.is_new("another", Time::ZERO + Span::from_secs(1_300)));
    }
}
