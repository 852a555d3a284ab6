//! What would help a connection that a capture shows, and what it would gain.
//!
//! ```text
//! Connection ─► fit ─► a scenario that behaves so ─► predict: each remedy, seed by seed ─► gains
//! before, after ─► verify: whether the gain came
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `facts.rs` | what the connection showed, from its account and its packets |
//! | `model.rs` | path, ends, applications |
//! | `guess.rs` | a first model, from the facts |
//! | `fit.rs` | [`fit`], [`fit_traced`]: a model, corrected until it behaves as was observed |
//! | `scenario.rs` | the model as a scenario file |
//! | `simulate.rs` | a model run, its capture diagnosed |
//! | `table.rs` | [`RemedyKind`]: for which cause, where, by which command, what it is in a model |
//! | `predict.rs` | [`predict`]: the gain of each, or nothing to gain |
//! | `verify.rs` | [`verify`]: captures of before and after |
//! | `judge/` | [`judge`]: predictions held against stock kernels |
//!
//! Not modelled: policers and shapers, lost acknowledgments, a rate that changes; then nothing is
//! predicted, and that is said.

mod facts;
mod fit;
mod guess;
pub mod judge;
mod model;
mod predict;
mod scenario;
mod simulate;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use fit::{Fit, MOST_ERROR_PERCENT, SEEDS, WhyNot, fit, fit_traced};
pub use model::{LossProcess, Model, Outage, Place, Traffic};
pub use predict::{LEAST_GAIN_PERCENT, PredictProgress, Prediction, predict};
pub use simulate::SimulateError;
pub use table::{RemedyKind, remedies_for};
pub use verify::{GainVerdict, Verification, connections_to_verify, expected, verify};

use ackord_diagnose::{Connection, Diagnosis, Trace};
use std::ops::ControlFlow;

/// The answer for one connection.
#[derive(Debug)]
pub enum Advice {
    /// These would help.
    Helps(Box<Fit>, Prediction),
    /// Nothing to gain here: nothing that was tried helps, or nothing was lost.
    NothingToGain(String),
    /// No prediction, and why.
    Unknown(WhyNot),
}

/// Less of the active time than this is not looked into, percent.
const LEAST_LOST_PERCENT: f64 = 2.0;

/// Fits, predicts, and says what comes of it.
///
/// # Errors
/// None: why there is no prediction is an answer, too.
pub fn advise(
    connection: &Connection,
    trace: Option<&Trace>,
    progress: PredictProgress<'_>,
) -> Advice {
    let facts = facts::Facts::of(connection, trace);
    let helped: f64 = connection
        .causes
        .iter()
        .filter(|share| !remedies_for(share.cause).is_empty())
        .map(|share| share.seconds)
        .sum();
    let percent = 100.0 * helped.max(0.0) / facts.active_s;
    if connection.bytes > 0 && percent < LEAST_LOST_PERCENT {
        return Advice::NothingToGain(format!(
            "{percent:.1} % of the time at most could be given back"
        ));
    }
    let fit = match fit_traced(connection, trace) {
        Ok(fit) => fit,
        Err(why @ WhyNot::SlowReader(_)) => return Advice::NothingToGain(why.to_string()),
        Err(why) => return Advice::Unknown(why),
    };
    match predict(&fit, progress) {
        Ok(prediction) if prediction.nothing_to_gain => {
            let tried: Vec<&str> = prediction.tried.iter().map(|one| one.remedy.as_str()).collect();
            let tried = if tried.is_empty() { "no remedy".to_owned() } else { tried.join(", ") };
            Advice::NothingToGain(format!("tried in simulation, without a gain: {tried}"))
        }
        Ok(prediction) => Advice::Helps(Box::new(fit), prediction),
        Err(why) => Advice::Unknown(why),
    }
}

/// Advice for the connections of these numbers: what helps is left in each one's `remedies`. Packets are
/// taken from `traces` where these have them.
pub fn advise_each(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    ids: &[u32],
    progress: PredictProgress<'_>,
) -> Vec<(u32, Advice)> {
    let mut all = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        if progress(number, ids.len()).is_break() {
            break;
        }
        let Some(connection) = diagnosis.connections.iter_mut().find(|one| one.id == *id) else {
            continue;
        };
        let trace = traces.iter().find(|trace| trace.connection == *id);
        let mut go_on = ControlFlow::Continue(());
        let advice = advise(connection, trace, &mut |_, _| {
            go_on = progress(number, ids.len());
            go_on
        });
        connection.remedies = match &advice {
            Advice::Helps(_, prediction) => prediction.remedies.clone(),
            Advice::NothingToGain(_) | Advice::Unknown(_) => Vec::new(),
        };
        all.push((*id, advice));
        if go_on.is_break() {
            break;
        }
    }
    all
}
