//! Ctrl-C: the first asks the work to end where it stands, the second ends the process.

use crate::errors::{Failure, INTERRUPTED};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody wants the work to end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for Ctrl-C, and for being asked to terminate, from now on.
    pub(crate) fn listen() -> Result<Interrupt, Failure> {
        Interrupt::listen_and(|| {})
    }

    /// The same, and calls `wake` when it happens: for work that waits for something else.
    pub(crate) fn listen_and(wake: impl Fn() + Send + 'static) -> Result<Interrupt, Failure> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::Signals)?;
        let asked = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if seen.swap(true, Ordering::SeqCst) {
                    // Asked twice: no patience left for a clean end, but the terminal is given back.
                    crate::meter::restore();
                    std::process::exit(i32::from(INTERRUPTED));
                }
                wake();
            }
        });
        Ok(Interrupt(asked))
    }

    /// Whether to go on.
    pub(crate) fn check(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
