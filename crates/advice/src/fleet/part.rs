//! One capture of a fleet, diagnosed.

use super::files::FleetFile;
use super::tables::{Read, Tables, tables_of};
use crate::remedies::{Advice, Allowance, advise};
use crate::{connections_to_trace, ends_of, lost_seconds};
use ackord_diagnose::{CaptureRead, DiagnoseError, Diagnosis, Options, Reader, Trace, diagnose};
use ackord_study::{OfJob, Panicked, caught};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How the captures of a fleet are diagnosed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetOptions {
    /// Name of the host at which all captures were taken; without one it is found for each capture.
    pub host: Option<String>,
    /// Whether remedies are predicted for the three connections of each capture that lost most time.
    pub predict: bool,
}

/// Connections of a capture for which remedies are predicted.
const MOST_ADVISED: usize = 3;
/// Share of a connection's duration below which a loss of time is not worth a prediction.
const LEAST_LOST: f64 = 0.01;

/// What a capture adds to a data set.
#[derive(Clone, Debug)]
pub struct FleetPart {
    /// Name of its files.
    pub name: String,
    /// Its rows.
    pub tables: Tables,
    /// Why the capture could not be read, if it could not.
    pub error: Option<String>,
}

/// The caller stopped the work.
struct Stopped;

/// Diagnoses a capture on `threads` threads and returns its rows; nothing if `progress` stopped it. A capture that
/// cannot be read, or makes the program panic, gets a row with the reason.
pub fn fleet_part(
    file: &FleetFile,
    options: &FleetOptions,
    threads: usize,
    progress: &mut OfJob<'_>,
) -> Option<FleetPart> {
    let found = match &file.refused {
        Some(why) => Ok(Err(format!("{}: {why}", file.name()))),
        None => caught(|| read(file, options, threads, progress))
            .unwrap_or_else(|Panicked(why)| Ok(Err(format!("{}: {PANICKED}: {why}", file.name())))),
    };
    match found {
        Ok(Ok(diagnosis)) => Some(FleetPart {
            name: file.part_name(options),
            tables: tables_of(file, options, Read::Diagnosed(&diagnosis)),
            error: None,
        }),
        Ok(Err(why)) => Some(FleetPart {
            name: file.unreadable_name(),
            tables: tables_of(file, options, Read::Failed(&why)),
            error: Some(why),
        }),
        Err(Stopped) => None,
    }
}

const PANICKED: &str = "the diagnosis panicked, which is a defect of this project";

/// Reads a capture to its end: the diagnosis, or why there is none.
fn read(
    file: &FleetFile,
    options: &FleetOptions,
    threads: usize,
    progress: &mut OfJob<'_>,
) -> Result<Result<Diagnosis, String>, Stopped> {
    let pass = |options: Options, (from, to): (f64, f64), progress: &mut OfJob<'_>| {
        let reader = match Reader::open(&file.path, 0) {
            Ok(reader) => reader,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let options = Options { jobs: threads, ..options };
        let found = diagnose(vec![reader], &options, &mut |share| {
            progress(from + (to - from) * share.unwrap_or(0.0))
        });
        match found {
            Ok(found) => Ok(Ok(found)),
            Err(DiagnoseError::Interrupted) => Err(Stopped),
            Err(DiagnoseError::Read(error)) => Ok(Err(format!("{}: {error}", file.name()))),
        }
    };
    let first = if options.predict { 0.3 } else { 1.0 };
    let mut diagnosis = match pass(Options::default(), (0.0, first), progress)? {
        Ok((diagnosis, _)) => diagnosis,
        Err(why) => return Ok(Err(why)),
    };
    if let [CaptureRead { frames: 0, damage: Some(why), .. }] = &diagnosis.captures[..] {
        return Ok(Err(format!("{}: {why}", file.name())));
    }
    let chosen = if options.predict { worth_advice(&diagnosis) } else { Vec::new() };
    if chosen.is_empty() {
        return Ok(Ok(diagnosis));
    }
    let points = Options { points_of: ends_of(&diagnosis, &chosen), ..Options::default() };
    let traces = match pass(points, (first, 0.6), progress)? {
        Ok((_, traces)) => traces,
        Err(why) => return Ok(Err(why)),
    };
    advise_each(&mut diagnosis, &traces, &chosen, progress)?;
    Ok(Ok(diagnosis))
}

/// Predicts remedies for the connections of these numbers. Their work is bounded by the allowance of each.
fn advise_each(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    chosen: &[u32],
    progress: &mut OfJob<'_>,
) -> Result<(), Stopped> {
    let done = AtomicUsize::new(0);
    let progress = Mutex::new(progress);
    let go_on = || {
        let share = done.load(Ordering::Relaxed) as f64 / chosen.len() as f64;
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress(0.6 + 0.4 * share)
    };
    let allowance = Allowance::new(&go_on);
    for id in chosen {
        let Some(connection) = diagnosis.connections.iter_mut().find(|one| one.id == *id) else {
            continue;
        };
        let trace = traces.iter().find(|trace| trace.connection == *id);
        if let Advice::Helps(_, prediction) = advise(connection, trace, &allowance, &mut |_, _| {})
        {
            connection.remedies = prediction.remedies;
        }
        if allowance.is_stopped() {
            return Err(Stopped);
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The connections for which remedies are predicted.
fn worth_advice(diagnosis: &Diagnosis) -> Vec<u32> {
    let lost = |id: &u32| {
        let connection = diagnosis.connections.iter().find(|connection| connection.id == *id);
        connection.is_some_and(|one| lost_seconds(one) >= LEAST_LOST * one.duration_s)
    };
    connections_to_trace(diagnosis, None, MOST_ADVISED).into_iter().filter(lost).collect()
}
