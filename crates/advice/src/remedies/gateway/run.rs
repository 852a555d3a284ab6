//! Episodes run in simulated time.

use super::downloads::Download;
use super::episodes::{CAPTURE, Episode};
use super::link::Link;
use crate::remedies::allowance::{Allowance, Stopped};
use crate::remedies::simulate::{Kept, SimulateError, run_captured, run_timed};
use ackord_diagnose::{
    Address, Connection, DiagnoseError, Diagnosis, Options, Reader, Seen, Trace, diagnose,
};
use ackord_measure::FlowSummary;
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_study::RunOutcome;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;

/// Packets kept of a capture: 40 to 80 bytes each.
const MOST_KEPT: u64 = 500_000;
/// Packets read at a time.
const BATCH: usize = 4_096;

/// What a run has that is not observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant<'a> {
    pub(super) link: &'a Link,
    /// The middlebox at the gateway.
    pub(super) proxy: Option<&'a str>,
    /// The servers' congestion control.
    pub(super) control: &'a str,
}

impl Variant<'_> {
    fn scenario(&self, episode: &Episode<'_>, seed: u64) -> Result<Scenario, SimulateError> {
        let text = episode.toml(self.link, self.proxy, self.control, seed);
        let file = ScenarioFile::new("gateway.toml", text);
        file.check().map_err(|errors| SimulateError::Unsound(errors.to_string()))
    }

    /// Returns the time of users, from connect() to the last byte, of all downloads of an episode, s.
    pub(super) fn time(
        &self,
        episode: &Episode<'_>,
        seed: u64,
        allowance: &Allowance<'_>,
    ) -> Result<f64, SimulateError> {
        let outcome = run_timed(&self.scenario(episode, seed)?, seed, allowance)?;
        Ok(of_users(episode, &outcome))
    }

    /// Returns the time as the gateway sees it ([`Download::time_s`]), from a capture of the run, s.
    pub(super) fn time_at_gateway(
        &self,
        episode: &Episode<'_>,
        seed: u64,
        allowance: &Allowance<'_>,
    ) -> Result<f64, SimulateError> {
        let scenario = self.scenario(episode, seed)?;
        let (_, capture) = run_captured(&scenario, CAPTURE, seed, allowance)?;
        let (connections, traces) = diagnosed(&capture, allowance)?;
        let seen = connections.iter().zip(&traces);
        let seen = seen.filter_map(|(one, trace)| Download::of(one, trace).ok());
        Ok(seen.map(|download| download.time_s).sum())
    }
}

/// A download that did not finish has taken the whole run.
fn of_users(episode: &Episode<'_>, outcome: &RunOutcome) -> f64 {
    let flows = outcome.summary.flows.iter().zip(episode.pauses_s());
    let time = |(flow, pauses): (&FlowSummary, f64)| {
        flow.completion_s
            .map_or(episode.duration_s() - flow.started_s, |whole| (whole - pauses).max(1e-6))
    };
    flows.map(time).sum()
}

fn diagnosed(
    capture: &Kept,
    allowance: &Allowance<'_>,
) -> Result<(Vec<Connection>, Vec<Trace>), SimulateError> {
    let open = || {
        let input = Box::new(Cursor::new(capture.clone()));
        Reader::from_reader("simulated", input, 0).map_err(|_| SimulateError::Nothing)
    };
    let read = read_traced([open()?, open()?], &mut || allowance.go_on());
    let (found, traces, _) = read.map_err(|error| match error {
        DiagnoseError::Interrupted => SimulateError::Stopped(Stopped),
        DiagnoseError::Read(_) => SimulateError::Nothing,
    })?;
    Ok((found.connections, traces))
}

/// Diagnoses a capture, given twice, with the packets of its connections. Returns also for how many
/// connections there was no room: those after the first [`MOST_KEPT`] packets.
pub(super) fn read_traced(
    [mut first, second]: [Reader; 2],
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Diagnosis, Vec<Trace>, usize), DiagnoseError> {
    let mut pairs: BTreeMap<[Address; 2], u64> = BTreeMap::new();
    let mut ordered = Vec::new();
    let mut batch: Vec<Seen> = Vec::new();
    loop {
        let more = first.read(&mut batch, BATCH)?;
        for seen in batch.drain(..) {
            let ends = [seen.src.min(seen.dst), seen.src.max(seen.dst)];
            let packets = pairs.entry(ends).or_insert(0);
            if *packets == 0 {
                ordered.push(ends);
            }
            *packets += 1;
        }
        if go_on().is_break() {
            return Err(DiagnoseError::Interrupted);
        }
        if !more {
            break;
        }
    }
    let mut kept = 0;
    let all = ordered.len();
    ordered.retain(|ends| {
        kept += pairs[ends];
        kept <= MOST_KEPT
    });
    let left_out = all - ordered.len();
    let options = Options { points_of: ordered, ..Options::default() };
    let (found, traces) = diagnose(vec![second], &options, &mut |_| go_on())?;
    Ok((found, traces, left_out))
}
