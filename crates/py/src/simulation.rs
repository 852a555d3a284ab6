//! A run in steps: to a time, read, changed, continued.

use crate::algorithms::{Session, uses_python};
use crate::errors::{bad_input, failed, unknown_name, with_cause};
use crate::observers::{Observers, Observing};
use crate::run::Run;
use crate::scenario::Checked;
use crate::states::{FlowState, LinkState};
use crate::watch::Watch;
use ackord_events::{NoSink, Sink};
use ackord_report::EventLog;
use ackord_scenario::{Override, Transport, Way};
use ackord_study::{Progress, RunChangeError, SteppedRun};
use ackord_tcp::congestion::Steering;
use ackord_units::{Bytes, Rate, Span, Time};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

/// A run in steps. One thread at a time may use it, and no callback of its own.
#[pyclass(frozen, module = "ackord._ackord")]
pub(crate) struct Stepped {
    checked: Py<Checked>,
    /// None once it was finished, or an algorithm in Python has failed.
    run: Mutex<Option<SteppedRun>>,
    observers: Mutex<Arc<Observers>>,
}

/// A time or a span: a text with its unit, or seconds.
#[derive(FromPyObject)]
pub(crate) enum Seconds {
    Text(String),
    Number(f64),
}

impl Seconds {
    fn span(&self, what: &str) -> PyResult<Span> {
        /// Ten years.
        const MOST_S: f64 = 315_360_000.0;
        match self {
            Seconds::Text(text) => {
                text.parse().map_err(|error| bad_input(format!("`{what}` is {text:?}: {error}")))
            }
            Seconds::Number(seconds) if (0.0..=MOST_S).contains(seconds) => {
                Ok(Span::from_nanos((seconds * 1e9).round() as u64))
            }
            Seconds::Number(seconds) => Err(bad_input(format!(
                "`{what}` is {seconds}: seconds from 0 to {MOST_S}, or a text such as \"2 s\", are allowed"
            ))),
        }
    }
}

#[pymethods]
impl Stepped {
    #[new]
    #[pyo3(signature = (checked, seed, series, events=None))]
    fn new(
        py: Python<'_>,
        checked: Py<Checked>,
        seed: Option<u64>,
        series: bool,
        events: Option<PathBuf>,
    ) -> PyResult<Stepped> {
        let of = checked.get();
        let scenario = &of.scenario;
        let events = events.as_deref().map(EventLog::create).transpose().map_err(with_cause)?;
        let file = of.file.clone();
        let session = Session::begin(scenario);
        let begin = (file, scenario.as_ref().clone());
        let run = SteppedRun::new(begin, seed.unwrap_or(scenario.seed), series, events);
        session.end(py)?;
        let run = Mutex::new(Some(run.map_err(failed)?));
        Ok(Stepped { checked, run, observers: Mutex::default() })
    }

    /// Present time, in simulated seconds.
    #[getter]
    fn time_s(&self) -> PyResult<f64> {
        self.read(|run| Ok(run.now().as_secs_f64()))
    }

    /// True if nothing more can happen.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.read(|run| Ok(run.is_over()))
    }

    /// Runs everything up to and including a time.
    fn run_until(
        &self,
        py: Python<'_>,
        until: Seconds,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let mut slot = self.lock()?;
        let now = there(&mut slot)?.now();
        let until = Time::ZERO + until.span("until")?;
        if until < now {
            return Err(bad_input(format!("`until` is {until}: the simulation is at {now}")));
        }
        self.advance(py, &mut slot, until, progress)
    }

    /// Runs everything up to and including the present and this long after it.
    fn run_for(&self, py: Python<'_>, span: Seconds, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut slot = self.lock()?;
        let until = there(&mut slot)?.now() + span.span("span")?;
        self.advance(py, &mut slot, until, progress)
    }

    /// Makes changes from the present on: values at paths, as texts.
    fn change(&self, py: Python<'_>, changes: Vec<(String, String)>) -> PyResult<()> {
        let overrides = changes.into_iter().map(|(path, value)| Override::new(path, value));
        let changed = self.observed(py, |run, observer| run.change(overrides, observer))?;
        changed.map_err(|error| match error {
            RunChangeError::Unsound(errors) => crate::errors::unsound(py, &errors),
            RunChangeError::Refused { .. } => bad_input(error),
        })
    }

    /// Sets the windows of a flow's sender in place of its congestion control.
    fn steer(
        &self,
        py: Python<'_>,
        flow: &str,
        cwnd: u64,
        ssthresh: Option<u64>,
        pacing_rate: Option<u64>,
    ) -> PyResult<()> {
        let flow = self.read(|run| connection(run, flow))?;
        let ssthresh = ssthresh.map_or(Bytes::MAX, Bytes);
        let pacing_rate = pacing_rate.map(Rate::from_bits_per_sec);
        let steering = Steering { cwnd: Bytes(cwnd), ssthresh, pacing_rate };
        self.observed(py, |run, observer| run.steer(flow, steering, observer))
    }

    /// Changes so far: time, path and value of each.
    #[getter]
    fn changes(&self) -> PyResult<Vec<(f64, String, String)>> {
        self.read(|run| {
            let changes = run.changes().iter();
            Ok(changes.map(|it| (it.at_s, it.key.clone(), it.value.clone())).collect())
        })
    }

    /// Returns the state of a flow that is a connection.
    fn flow(&self, name: &str) -> PyResult<FlowState> {
        self.read(|run| Ok(FlowState::of(run, connection(run, name)?)))
    }

    /// Names of the flows that are connections.
    #[getter]
    fn connections(&self) -> PyResult<Vec<String>> {
        self.read(|run| {
            let flows = run.scenario().flows.iter();
            let tcp = flows.filter(|flow| flow.transport() == Transport::Tcp);
            Ok(tcp.map(|flow| flow.name.clone()).collect())
        })
    }

    /// Names of the directions of links.
    #[getter]
    fn directions(&self) -> PyResult<Vec<String>> {
        self.read(|run| Ok(directions(run).map(|(name, _)| name).collect()))
    }

    /// Returns the state of a direction of a link.
    fn link(&self, name: &str) -> PyResult<LinkState> {
        self.read(|run| match directions(run).find(|(known, _)| known == name) {
            Some((known, (index, way))) => Ok(LinkState::from((known, run.link_state(index, way)))),
            None => {
                let names: Vec<_> = directions(run).map(|(name, _)| name).collect();
                Err(unknown_name("link", name, names.iter().map(String::as_str)))
            }
        })
    }

    /// Calls `function` with each event of this name from the present on.
    fn observe(&self, event: &str, function: Py<PyAny>) -> PyResult<()> {
        let run = self.lock()?;
        let Some(run) = run.as_ref() else { return Err(ended()) };
        let mut observers = self.observers.lock().unwrap_or_else(|held| held.into_inner());
        *observers = Arc::new(observers.with(run.scenario(), event, function)?);
        Ok(())
    }

    /// Ends the run where it stands, or after it has run to its end, and returns its outcome.
    fn finish(&self, py: Python<'_>, to_end: bool, progress: Option<Py<PyAny>>) -> PyResult<Run> {
        let mut slot = self.lock()?;
        let end = Time::ZERO + there(&mut slot)?.scenario().duration;
        if to_end {
            self.advance(py, &mut slot, end, progress)?;
        }
        let run = slot.take().ok_or_else(ended)?;
        let observers = self.observers();
        let mut observing = Observing::new(&observers);
        let finished = run.finish(&mut observing);
        observing.done()?;
        let (outcome, events) = finished.map_err(failed)?;
        events.map_or(Ok(()), |mut events| events.finish()).map_err(with_cause)?;
        Ok(Run::simulated(outcome, self.checked.get()))
    }
}

impl Stepped {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<SteppedRun>>> {
        self.run.try_lock().map_err(|_| {
            failed("the simulation is running: it can be read and changed between steps, not in a callback")
        })
    }

    fn read<T>(&self, read: impl FnOnce(&SteppedRun) -> PyResult<T>) -> PyResult<T> {
        self.lock()?.as_ref().map_or_else(|| Err(ended()), read)
    }

    fn observers(&self) -> Arc<Observers> {
        Arc::clone(&self.observers.lock().unwrap_or_else(|held| held.into_inner()))
    }

    /// Calls `act`, which may cause events, with the run and the observers.
    fn observed<T>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut SteppedRun, &mut Observing<'_>) -> T,
    ) -> PyResult<T> {
        let mut slot = self.lock()?;
        let run = there(&mut slot)?;
        let observers = self.observers();
        let mut observing = Observing::new(&observers);
        let session = Session::begin(&self.checked.get().scenario);
        let answer = act(run, &mut observing);
        end(py, session, &mut slot)?;
        observing.done()?;
        Ok(answer)
    }

    /// Runs to `until`. Releases the interpreter unless an observer or an algorithm in Python needs it.
    fn advance(
        &self,
        py: Python<'_>,
        slot: &mut Option<SteppedRun>,
        until: Time,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let run = there(slot)?;
        let observers = self.observers();
        let watch = Watch::new(progress);
        let scenario = &self.checked.get().scenario;
        if observers.is_empty() && !uses_python(scenario) {
            py.detach(|| go(run, until, &mut NoSink, &watch));
            return watch.done();
        }
        let mut observing = Observing::new(&observers);
        let session = Session::begin(scenario);
        // An exception of a callback ends the step at the next slice, as that of an algorithm does.
        let raised = observing.flag();
        run.run_until(until, &mut observing, &mut |at| match raised.get() {
            true => ControlFlow::Break(()),
            false => watch.at(at.share()),
        });
        end(py, session, slot)?;
        observing.done()?;
        watch.done()
    }
}

fn go<S: Sink>(run: &mut SteppedRun, until: Time, observer: &mut S, watch: &Watch) {
    run.run_until(until, observer, &mut |at: Progress| watch.at(at.share()));
}

/// Ends a session, and raises the exception of its algorithm if there is one; the run has ended then.
fn end(py: Python<'_>, session: Session, slot: &mut Option<SteppedRun>) -> PyResult<()> {
    let ended = session.end(py);
    if ended.is_err() {
        *slot = None;
    }
    ended
}

fn there(slot: &mut Option<SteppedRun>) -> PyResult<&mut SteppedRun> {
    slot.as_mut().ok_or_else(ended)
}

fn ended() -> PyErr {
    failed("the simulation has ended: it was finished, or an algorithm has failed")
}

/// Returns the index of a flow that is a connection.
fn connection(run: &SteppedRun, name: &str) -> PyResult<usize> {
    let flows = &run.scenario().flows;
    let tcp = || flows.iter().filter(|flow| flow.transport() == Transport::Tcp);
    match flows.iter().position(|flow| flow.name == name) {
        Some(index) if flows[index].transport() == Transport::Tcp => Ok(index),
        Some(_) => Err(bad_input(format!(
            "flow `{name}` sends datagrams: only TCP has windows and round-trip times"
        ))),
        None => Err(unknown_name("flow", name, tcp().map(|flow| flow.name.as_str()))),
    }
}

/// Returns the directions of links with their names.
fn directions(run: &SteppedRun) -> impl Iterator<Item = (String, (usize, Way))> {
    run.scenario().links.iter().enumerate().flat_map(|(index, link)| {
        [Way::Forward, Way::Reverse].map(|way| (link.direction_name(way), (index, way)))
    })
}
