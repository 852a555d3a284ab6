//! Progress and Ctrl-C while the interpreter is released.

use crate::algorithms::{has_raised, note_share, take_raised};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the interpreter is asked about signals and told of progress.
const EVERY: Duration = Duration::from_millis(50);

/// What a run calls every now and then, from whatever thread.
pub(crate) struct Watch {
    told: Option<Py<PyAny>>,
    state: Mutex<State>,
}

struct State {
    last: Instant,
    /// What was raised meanwhile: it ends the run.
    raised: Option<PyErr>,
}

impl Watch {
    /// Tells `told` the share that is done, if anybody wants to hear it.
    pub(crate) fn new(told: Option<Py<PyAny>>) -> Watch {
        Watch { told, state: Mutex::new(State { last: Instant::now(), raised: None }) }
    }

    /// Whether to go on.
    pub(crate) fn at(&self, share: f64) -> ControlFlow<()> {
        note_share(share);
        if has_raised() {
            if let Some(raised) = Python::attach(take_raised) {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.raised.get_or_insert(raised);
            }
            return ControlFlow::Break(());
        }
        // Another thread is calling the interpreter at this moment.
        let Ok(mut state) = self.state.try_lock() else { return ControlFlow::Continue(()) };
        if state.raised.is_some() {
            return ControlFlow::Break(());
        }
        if state.last.elapsed() < EVERY && share < 1.0 {
            return ControlFlow::Continue(());
        }
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match &self.told {
                Some(told) => told.call1(py, (share,)).map(drop),
                None => Ok(()),
            }
        });
        state.last = Instant::now();
        match asked {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                state.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// Whether something was raised.
    pub(crate) fn has_raised(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.raised.is_some())
    }

    /// Raises what was raised meanwhile.
    pub(crate) fn done(self) -> PyResult<()> {
        let state = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.raised.map_or(Ok(()), Err)
    }
}
