//! Ctrl-C and SIGTERM: the work ends where it stands, and if it cannot, the process ends.

use crate::errors::{Failure, INTERRUPTED};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the work has to notice Ctrl-C, after which it writes what it has.
const TO_NOTICE: Duration = Duration::from_secs(2);
/// How long the work has to end after SIGTERM, even while it writes results: a service manager waits for the process, not for them.
const TO_END: Duration = Duration::from_millis(150);

/// Whether the work is asked to end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<Asked>);

#[derive(Default)]
struct Asked {
    /// A signal has come.
    asked: AtomicBool,
    /// The work has seen it, and is about to end.
    noticed: AtomicBool,
}

/// What happens to work that does not end by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overdue {
    /// The process ends: it only computes, and leaves nothing behind.
    Ends,
    /// It is waited for: it has processes to end, or changes on this machine to undo.
    IsWaitedFor,
}

impl Interrupt {
    /// Listens for Ctrl-C and SIGTERM from now on, for work that only computes.
    ///
    /// The process ends by itself if the work does not notice Ctrl-C within [`TO_NOTICE`], or has not
    /// ended [`TO_END`] after SIGTERM: a run that computes one number for minutes must not keep a
    /// terminal or a service manager waiting.
    pub(crate) fn listen() -> Result<Interrupt, Failure> {
        Interrupt::spawn(|| {}, Overdue::Ends)
    }

    /// Listens for Ctrl-C and SIGTERM from now on, and calls `wake` when one comes: for work that
    /// waits for something else, or has processes to end.
    pub(crate) fn listen_and(wake: impl Fn() + Send + 'static) -> Result<Interrupt, Failure> {
        Interrupt::spawn(wake, Overdue::IsWaitedFor)
    }

    fn spawn(wake: impl Fn() + Send + 'static, overdue: Overdue) -> Result<Interrupt, Failure> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::Signals)?;
        let asked = Arc::new(Asked::default());
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if seen.asked.swap(true, Ordering::SeqCst) {
                    // Asked twice: no patience left for a clean end.
                    end_process();
                }
                if overdue == Overdue::Ends {
                    let asked = Arc::clone(&seen);
                    std::thread::spawn(move || end_if_overdue(signal, &asked));
                }
                wake();
            }
        });
        Ok(Interrupt(asked))
    }

    /// Whether to go on.
    pub(crate) fn check(&self) -> ControlFlow<()> {
        if self.0.asked.load(Ordering::Relaxed) {
            self.0.noticed.store(true, Ordering::Relaxed);
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn end_if_overdue(signal: i32, asked: &Asked) {
    std::thread::sleep(if signal == SIGTERM { TO_END } else { TO_NOTICE });
    if signal == SIGTERM || !asked.noticed.load(Ordering::Relaxed) {
        end_process();
    }
}

/// Ends the process, once the terminal is given back.
fn end_process() -> ! {
    crate::meter::restore();
    std::process::exit(i32::from(INTERRUPTED));
}
