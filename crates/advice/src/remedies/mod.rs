//! What would help a connection that a capture shows, and what it would gain.
//!
//! ```text
//! Connection ─► fit ─► a scenario that behaves so ─► predict: each remedy, seed by seed ─► gains
//! before, after ─► verify: whether the gain came
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `allowance.rs` | [`Allowance`]: how much work a prediction may do |
//! | `facts.rs` | what the connection showed, from its account and its packets |
//! | `backoff.rs` | how losses reduce what is in flight: which congestion control |
//! | `limit.rs` | [`RateLimit`]: the rate that no remedy exceeds |
//! | `stalls.rs` | small writes that wait for each other |
//! | `model.rs` | path, ends, applications |
//! | `guess.rs` | a first model, from the facts |
//! | `fit.rs` | [`fit`], [`fit_traced`]: a model, corrected until it behaves as was observed |
//! | `ranges.rs`, `scenario.rs` | the model as a scenario file, which is always sound |
//! | `simulate.rs` | a model run, its capture diagnosed |
//! | `table.rs` | [`RemedyKind`]: for which cause, where, by which command, what it is in a model |
//! | `gain.rs` | a gain with its interval, bounded by the rate |
//! | `predict.rs` | [`predict`]: the gain of each remedy |
//! | `gateway/` | [`gateway`]: the gain of a gateway's remedies, for all downloads that passed it |
//! | `verify.rs` | [`verify`]: captures of before and after |
//! | `judge/` | [`judge`]: predictions compared with stock kernels |
//!
//! Not modelled: policers and shapers, lost acknowledgments, a rate that changes. Such a connection has no
//! prediction, and the answer states why.

mod allowance;
mod backoff;
mod facts;
mod fit;
mod gain;
pub mod gateway;
mod guess;
pub mod judge;
mod limit;
mod model;
mod predict;
mod ranges;
mod scenario;
mod simulate;
mod stalls;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use allowance::{Allowance, MOST_PACKETS, Stopped};
pub use fit::{Fit, MOST_ERROR_PERCENT, SEEDS, WhyNot, fit, fit_traced};
pub use limit::{LimitKind, RateLimit};
pub use model::{LossProcess, Model, Outage, Place, Traffic};
pub use predict::{LEAST_GAIN_PERCENT, PredictProgress, Prediction, predict};
pub use simulate::SimulateError;
pub use table::{RemedyKind, remedies_for};
pub use verify::{GainVerdict, Verification, connections_to_verify, verify};

use ackord_diagnose::{Cause, Connection, Remedy, Trace};
use facts::Facts;

/// The answer for one connection.
#[derive(Debug)]
pub enum Advice {
    /// These would help. Without a fit, the gain follows from the account of the connection alone.
    Helps(Option<Box<Fit>>, Prediction),
    /// Nothing to gain here: no remedy that was tried helps, or no time was lost.
    NothingToGain(String),
    /// No prediction, and why.
    Unknown(WhyNot),
}

/// Connections that lost less of their active time than this have no remedies tried, percent.
const LEAST_LOST_PERCENT: f64 = 2.0;

/// Fits a model to `connection` and predicts what would help it, as far as `allowance` permits.
pub fn advise(
    connection: &Connection,
    trace: Option<&Trace>,
    allowance: &Allowance<'_>,
    progress: PredictProgress<'_>,
) -> Advice {
    let facts = Facts::of(connection, trace);
    let helped: f64 = connection
        .causes
        .iter()
        .filter(|share| !remedies_for(share.cause).is_empty())
        .map(|share| share.seconds)
        .fold(0.0, |sum, seconds| sum + seconds);
    let percent = 100.0 * helped / facts.active_s;
    if connection.bytes > 0 && percent < LEAST_LOST_PERCENT {
        return Advice::NothingToGain(format!(
            "a remedy could save {percent:.1} % of the time at most"
        ));
    }
    let found = fit::fit_facts(&facts, allowance)
        .and_then(|fit| predict(&fit, allowance, progress).map(|prediction| (fit, prediction)));
    let (fit, mut prediction) = match found {
        Ok((fit, prediction)) => (Some(Box::new(fit)), prediction),
        Err(why) => match direct(&facts, &why) {
            Some(prediction) => (None, prediction),
            None if matches!(why, WhyNot::SlowReader(_)) => {
                return Advice::NothingToGain(why.to_string());
            }
            None => return Advice::Unknown(why),
        },
    };
    let has_stalls = fit.as_ref().is_some_and(|fit| fit.has_stalls);
    name_no_delay(&facts, has_stalls, &mut prediction);
    if !prediction.nothing_to_gain {
        return Advice::Helps(fit, prediction);
    }
    if prediction.stopped {
        return Advice::Unknown(Stopped.into());
    }
    let tried: Vec<&str> = prediction.tried.iter().map(|one| one.remedy.as_str()).collect();
    let tried = if tried.is_empty() { "no remedy".to_owned() } else { tried.join(", ") };
    Advice::NothingToGain(format!("tried, without a certain gain: {tried}"))
}

/// What TCP_NODELAY gives back where there is no model, if stalls take time.
fn direct(facts: &Facts, why: &WhyNot) -> Option<Prediction> {
    let worth_it = facts.share(&[Cause::NagleDelayedAck]) >= 0.01 * LEAST_GAIN_PERCENT;
    let remedy = predict::without_delay(facts).filter(|_| worth_it)?;
    let remarks = vec![format!("{DIRECT}; {why}")];
    let stopped = why.is_stopped();
    let mut prediction =
        Prediction { tried: vec![remedy], remarks, stopped, ..Prediction::default() };
    prediction.settle();
    Some(prediction)
}

/// Adds what TCP_NODELAY gives back where stalls take time and no model with these stalls has it.
fn name_no_delay(facts: &Facts, has_stalls: bool, prediction: &mut Prediction) {
    let worth_it = facts.share(&[Cause::NagleDelayedAck]) >= 0.01 * LEAST_GAIN_PERCENT;
    let is_it = |one: &Remedy| one.remedy == RemedyKind::NoDelay.name();
    if !worth_it || prediction.tried.iter().any(|one| is_it(one) && has_stalls) {
        return;
    }
    if prediction.remarks.iter().any(|remark| remark.starts_with(DIRECT)) {
        return;
    }
    if let Some(remedy) = predict::without_delay(facts) {
        prediction.tried.retain(|one| !is_it(one));
        prediction.tried.push(remedy);
        prediction.remarks.push(DIRECT.to_owned());
        prediction.settle();
    }
}

/// How a gain without a model is found.
const DIRECT: &str =
    "the gain of nodelay is the time of the stalls, less the time that the path needs";
