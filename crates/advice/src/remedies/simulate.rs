//! A model run, captured in memory, and diagnosed as an observed connection is.

use super::allowance::{Allowance, MOST_PACKETS, Stopped};
use super::model::Model;
use ackord_diagnose::{Address, Connection, DiagnoseError, Options, Reader, Seen, Trace, diagnose};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_study::CaptureFiles;
use ackord_study::{Ending, ExecuteError, RunOptions, RunOutcome, execute};
use std::io::{self, Cursor, Write};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes kept of a packet: the headers of IPv4 and TCP with all their options.
const SNAP_LEN: NonZeroU32 = NonZeroU32::new(80).unwrap();

/// The result of a model run.
pub(crate) struct Ran {
    /// Time from the start to the delivery of the last byte, without the pauses of applications; the whole
    /// run if it did not get there, s.
    pub(crate) active_s: f64,
    /// Whether the last byte was delivered.
    pub(crate) done: bool,
    /// The diagnosis of the capture, and its packets, where one was taken.
    pub(crate) seen: Option<(Connection, Trace)>,
}

/// Why a model could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The caller has stopped the prediction.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A run would take more packets, or its capture more bytes, than allowed.
    #[error("a simulation of it would be too large: more than {MOST_PACKETS} packets")]
    TooLarge,
    /// The scenario of a model does not check: a defect, since [`Model::toml`] clamps every value.
    #[error("its path cannot be simulated")]
    Unsound(String),
    /// A run failed.
    #[error("a simulation of its path failed")]
    Run(#[source] ExecuteError),
    /// The capture of a run has no connection in it.
    #[error("nothing was delivered in a simulation of its path")]
    Nothing,
}

/// Runs without a capture. The time is that of the applications, independent of any diagnosis.
pub(crate) fn timed(model: &Model, seed: u64) -> Result<Ran, SimulateError> {
    let options = RunOptions::summary_only(seed);
    let outcome = execute(&scenario_of(model, seed)?, options, &mut |_| ControlFlow::Continue(()))
        .map_err(SimulateError::Run)?;
    Ok(ran(model, &outcome, None))
}

/// Runs with a capture where the model has it taken, and diagnoses it.
pub(crate) fn captured(
    model: &Model,
    seed: u64,
    allowance: &Allowance<'_>,
) -> Result<Ran, SimulateError> {
    allowance.check()?;
    if !allowance.fits(model.packets()) {
        return Err(SimulateError::TooLarge);
    }
    let (outcome, bytes) =
        run_captured(&scenario_of(model, seed)?, model.capture().1, seed, allowance)?;
    let seen = read(&bytes, allowance)?;
    Ok(ran(model, &outcome, Some(seen)))
}

/// Runs a scenario with the capture that has this name.
pub(super) fn run_captured(
    scenario: &Scenario,
    wanted: &'static str,
    seed: u64,
    allowance: &Allowance<'_>,
) -> Result<(RunOutcome, Kept), SimulateError> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let mut files = InMemory { wanted, bytes: Arc::clone(&bytes) };
    let options = RunOptions { captures: Some(&mut files), ..RunOptions::summary_only(seed) };
    let mut progress = |_| allowance.go_on_with(lock(&bytes).len());
    let outcome = execute(scenario, options, &mut progress).map_err(SimulateError::Run)?;
    let bytes = Kept(Arc::new(std::mem::take(&mut *lock(&bytes))));
    if matches!(outcome.ending, Ending::Interrupted(_)) {
        allowance.check()?;
        return Err(SimulateError::TooLarge);
    }
    Ok((outcome, bytes))
}

/// Runs a scenario without a capture.
pub(super) fn run_timed(
    scenario: &Scenario,
    seed: u64,
    allowance: &Allowance<'_>,
) -> Result<RunOutcome, SimulateError> {
    let outcome = execute(scenario, RunOptions::summary_only(seed), &mut |_| allowance.go_on())
        .map_err(SimulateError::Run)?;
    if matches!(outcome.ending, Ending::Interrupted(_)) {
        allowance.check()?;
    }
    Ok(outcome)
}

fn scenario_of(model: &Model, seed: u64) -> Result<Scenario, SimulateError> {
    let file = ScenarioFile::new("fitted.toml", model.toml(Some(seed)));
    file.check().map_err(|errors| SimulateError::Unsound(errors.to_string()))
}

fn ran(model: &Model, outcome: &RunOutcome, seen: Option<(Connection, Trace)>) -> Ran {
    let flow = &outcome.summary.flows[0];
    let whole = flow.completion_s.unwrap_or(model.duration_s);
    Ran { active_s: (whole - model.pauses_s()).max(1e-6), done: flow.completion_s.is_some(), seen }
}

/// Returns the connection of the first packet of a capture, which is the observed one, with its packets.
fn read(bytes: &Kept, allowance: &Allowance<'_>) -> Result<(Connection, Trace), SimulateError> {
    let reader = || {
        let input = Box::new(Cursor::new(bytes.clone()));
        Reader::from_reader("fitted", input, 0).map_err(|_| SimulateError::Nothing)
    };
    let points_of = ends(&mut reader()?).into_iter().collect();
    let options = Options { points_of, ..Options::default() };
    let found = diagnose(vec![reader()?], &options, &mut |_| allowance.go_on());
    let (mut diagnosis, mut traces) = found.map_err(|error| match error {
        DiagnoseError::Interrupted => SimulateError::Stopped(Stopped),
        DiagnoseError::Read(_) => SimulateError::Nothing,
    })?;
    if diagnosis.connections.is_empty() || traces.is_empty() {
        return Err(SimulateError::Nothing);
    }
    Ok((diagnosis.connections.swap_remove(0), traces.swap_remove(0)))
}

/// Returns the ends of the connection that the first packet belongs to.
fn ends(reader: &mut Reader) -> Option<[Address; 2]> {
    let mut first: Vec<Seen> = Vec::new();
    reader.read(&mut first, 1).ok()?;
    first.first().map(|seen| [seen.src, seen.dst])
}

/// A finished capture, which is read twice.
#[derive(Clone)]
pub(super) struct Kept(Arc<Vec<u8>>);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Keeps the file of one capture point, and drops the others.
struct InMemory {
    wanted: &'static str,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl CaptureFiles for InMemory {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        if name == self.wanted {
            return Ok(Box::new(Shared(Arc::clone(&self.bytes))));
        }
        Ok(Box::new(io::sink()))
    }

    fn snap_len(&self) -> Option<NonZeroU32> {
        Some(SNAP_LEN)
    }
}

struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> std::sync::MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}
