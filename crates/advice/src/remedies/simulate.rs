//! A model run, captured in memory, and diagnosed as an observed connection is.

use super::model::Model;
use ackord_diagnose::{Connection, Options, Reader, Trace, diagnose};
use ackord_scenario::ScenarioFile;
use ackord_study::CaptureFiles;
use ackord_study::{ExecuteError, RunOptions, execute, without_progress};
use std::cell::RefCell;
use std::io::{self, Cursor, Write};
use std::rc::Rc;

/// What a run of a model came to.
pub(crate) struct Ran {
    /// From the start to the delivery of the last byte, without what applications waited; the whole
    /// run where it did not get there, s.
    pub(crate) active_s: f64,
    /// Whether the last byte was delivered.
    pub(crate) done: bool,
    /// The diagnosis of the capture, and its packets, where one was taken.
    pub(crate) seen: Option<(Connection, Trace)>,
}

/// Why a model could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// Its scenario is not sound: a defect.
    #[error("the fitted scenario is not sound: {0}")]
    Unsound(String),
    /// A run went wrong.
    #[error(transparent)]
    Run(#[from] ExecuteError),
    /// The capture has nothing in it, or cannot be read: a defect.
    #[error("the capture of the fitted scenario tells nothing")]
    Nothing,
}

/// Runs without a capture.
pub(crate) fn timed(model: &Model, seed: u64) -> Result<Ran, SimulateError> {
    let scenario = ScenarioFile::new("fitted.toml", model.toml(Some(seed)))
        .check()
        .map_err(|errors| SimulateError::Unsound(errors.to_string()))?;
    let outcome = execute(&scenario, RunOptions::summary_only(seed), &mut without_progress)?;
    Ok(ran(model, &outcome, None))
}

/// Runs with a capture where the model has it taken.
pub(crate) fn captured(model: &Model, seed: u64) -> Result<Ran, SimulateError> {
    let scenario = ScenarioFile::new("fitted.toml", model.toml(Some(seed)))
        .check()
        .map_err(|errors| SimulateError::Unsound(errors.to_string()))?;
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let mut files = InMemory { wanted: model.capture().1, bytes: Rc::clone(&bytes) };
    let options = RunOptions { captures: Some(&mut files), ..RunOptions::summary_only(seed) };
    let outcome = execute(&scenario, options, &mut without_progress)?;
    let bytes = bytes.take();
    let seen = read(bytes).ok_or(SimulateError::Nothing)?;
    Ok(ran(model, &outcome, Some(seen)))
}

fn ran(
    model: &Model,
    outcome: &ackord_study::RunOutcome,
    seen: Option<(Connection, Trace)>,
) -> Ran {
    let flow = &outcome.summary.flows[0];
    let whole = flow.completion_s.unwrap_or(model.duration_s);
    Ran { active_s: (whole - model.pauses_s()).max(1e-6), done: flow.completion_s.is_some(), seen }
}

/// The connection with the most bytes in a capture, with its packets.
pub(crate) fn read(bytes: Vec<u8>) -> Option<(Connection, Trace)> {
    let again = bytes.clone();
    let nobody = &mut ackord_diagnose::without_progress;
    let reader = |bytes| Reader::from_reader("fitted", Box::new(Cursor::new(bytes)), 0).ok();
    let (first, _) = diagnose(vec![reader(bytes)?], &Options::default(), nobody).ok()?;
    let id = first.connections.first()?.id;
    let options = Options { points_of: crate::ends_of(&first, &[id]), ..Options::default() };
    let (mut diagnosis, mut traces) = diagnose(vec![reader(again)?], &options, nobody).ok()?;
    let trace = if traces.is_empty() { Trace::default() } else { traces.swap_remove(0) };
    (!diagnosis.connections.is_empty()).then(|| (diagnosis.connections.swap_remove(0), trace))
}

/// Keeps one capture point's file, and drops the others.
struct InMemory {
    wanted: &'static str,
    bytes: Rc<RefCell<Vec<u8>>>,
}

impl CaptureFiles for InMemory {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        if name == self.wanted {
            return Ok(Box::new(Shared(Rc::clone(&self.bytes))));
        }
        Ok(Box::new(io::sink()))
    }
}

struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
