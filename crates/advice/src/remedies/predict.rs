//! The gain of each remedy: applied in the fitted model, and compared with the model as it is, seed by seed.

use super::allowance::Allowance;
use super::facts::Facts;
use super::fit::{Fit, SEEDS, WhyNot, runs};
use super::gain::{Evidence, Gain};
use super::model::Model;
use super::simulate::SimulateError;
use super::stalls::Stalls;
use super::table::{RemedyKind, remedies_for};
use ackord_diagnose::Remedy;
use ackord_measure::stats::{estimate, mean};
use std::collections::BTreeSet;

/// Smaller gains are not offered, percent.
pub const LEAST_GAIN_PERCENT: f64 = 2.0;
/// Causes of less of the active time than this have no remedies tried.
const LEAST_SHARE: f64 = 0.01;
/// Runs at the lowest and at the highest rate that a path may have.
const RATE_SEEDS: u64 = 2;

/// What would help a connection.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// Remedies to offer, best first.
    pub remedies: Vec<Remedy>,
    /// No remedy has a gain.
    pub nothing_to_gain: bool,
    /// All remedies that were tried, best first, with those that are not offered.
    pub tried: Vec<Remedy>,
    /// Assumptions, and what bounds the gains.
    pub remarks: Vec<String>,
    /// Whether the caller stopped before all remedies were tried.
    pub stopped: bool,
}

/// Receives the progress of a prediction: remedies tried and to be tried.
pub type PredictProgress<'a> = &'a mut dyn FnMut(usize, usize);

/// Tries the remedies that may help against the causes of lost time. When the caller stops it, those that
/// were tried so far are returned.
///
/// # Errors
/// When a run fails.
pub fn predict(
    fit: &Fit,
    allowance: &Allowance<'_>,
    progress: PredictProgress<'_>,
) -> Result<Prediction, WhyNot> {
    let mut prediction = Prediction { remarks: fit.remarks.clone(), ..Prediction::default() };
    let kinds = kinds(fit);
    for (number, kind) in kinds.iter().enumerate() {
        progress(number, kinds.len());
        match try_one(fit, *kind, allowance) {
            Ok(tried) => prediction.tried.extend(tried),
            Err(SimulateError::Stopped(_)) => {
                prediction.stopped = true;
                break;
            }
            // Faster than the model was: more packets in the same time.
            Err(SimulateError::TooLarge) => {
                prediction.remarks.push(format!("{}: too large to be simulated", kind.name()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    prediction.settle();
    if let Some(limit) = fit.limit.filter(|_| !prediction.remedies.is_empty()) {
        prediction.remarks.push(limit.words());
    }
    Ok(prediction)
}

impl Prediction {
    /// Puts the best first, and offers those with a gain that is certain to be one.
    pub(super) fn settle(&mut self) {
        self.tried.sort_by(|a, b| b.gain_percent.total_cmp(&a.gain_percent));
        let offered =
            |remedy: &&Remedy| remedy.gain_percent >= LEAST_GAIN_PERCENT && remedy.ci95[0] > 0.0;
        self.remedies = self.tried.iter().filter(offered).cloned().collect();
        self.nothing_to_gain = self.remedies.is_empty();
    }
}

/// Remedies for the causes of the connection, each once.
fn kinds(fit: &Fit) -> Vec<RemedyKind> {
    let causes = fit.shares.iter().filter(|(_, share)| *share >= LEAST_SHARE);
    let all: BTreeSet<RemedyKind> =
        causes.flat_map(|(cause, _)| remedies_for(*cause)).copied().collect();
    all.into_iter().filter(|kind| kind.applies(&fit.model)).collect()
}

/// The times of the transfer by seed, s.
fn times(model: &Model, seeds: u64, allowance: &Allowance<'_>) -> Result<Vec<f64>, SimulateError> {
    Ok(runs(model, seeds, allowance)?.iter().map(super::fit::Run::transfer_s).collect())
}

/// By how much a transfer is shorter, percent, seed by seed.
fn gains(plain: &[f64], with: &[f64]) -> Vec<f64> {
    plain.iter().zip(with).map(|(before, after)| 100.0 * (before - after) / before).collect()
}

fn try_one(
    fit: &Fit,
    kind: RemedyKind,
    allowance: &Allowance<'_>,
) -> Result<Option<Remedy>, SimulateError> {
    let with = times(&kind.on(&fit.model), SEEDS, allowance)?;
    let Some(gain) = estimate(&gains(&fit.plain, &with)) else { return Ok(None) };
    // What helps once helps a long transfer no more than the part of it that is simulated.
    let once = if kind.helps_once() { fit.model.part } else { 1.0 };
    let worth_it = gain.mean >= LEAST_GAIN_PERCENT && fit.rate_range != [1.0, 1.0];
    let at_rates = if worth_it { Some(at_rates(fit, kind, allowance)?) } else { None };
    let [_, fastest] = fit.rate_range;
    let gain = Gain::new(&Evidence {
        percent: once * gain.mean,
        scatter: once * gain.ci95.unwrap_or(100.0),
        at_rates: at_rates.map(|both| both.map(|one| once * one)),
        applies_to: 1.0 - fit.closing,
        error_percent: fit.error_percent,
        most: [fit.most_gain_percent, fit.most_gain_at(fastest)],
    });
    Ok(Some(remedy(kind, &fit.model, gain)))
}

/// Gains at the lowest and the highest rate that the path may have, percent.
fn at_rates(
    fit: &Fit,
    kind: RemedyKind,
    allowance: &Allowance<'_>,
) -> Result<[f64; 2], SimulateError> {
    let mut found = [0.0; 2];
    for (found, factor) in found.iter_mut().zip(fit.rate_range) {
        let mut model = fit.model.clone();
        model.rate_bit_s *= factor;
        let plain = times(&model, RATE_SEEDS, allowance)?;
        let with = times(&kind.on(&model), RATE_SEEDS, allowance)?;
        *found = mean(&gains(&plain, &with)).unwrap_or_default();
    }
    Ok(found)
}

fn remedy(kind: RemedyKind, model: &Model, gain: Gain) -> Remedy {
    Remedy {
        remedy: kind.name().to_owned(),
        gain_percent: gain.percent,
        ci95: gain.ci95,
        r#where: kind.place().to_owned(),
        command: kind.command(model),
    }
}

/// Returns what TCP_NODELAY gives back to a connection with stalls, from its account alone.
pub(super) fn without_delay(facts: &Facts) -> Option<Remedy> {
    let (share, [low, high]) = Stalls::given_back(facts, facts.stalls.as_ref())?;
    let gain = Gain::bounded(100.0 * share, [100.0 * low, 100.0 * high], [100.0, 100.0]);
    // Its command names no rate, so any model will do.
    let model = Model::clean(1e6, facts.rtt_s, facts.bytes[0]);
    Some(remedy(RemedyKind::NoDelay, &model, gain))
}
