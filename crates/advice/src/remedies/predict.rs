//! What each remedy would gain: switched on in the fitted model, seed by seed beside it.
//!
//! An interval tells how runs of the model scatter. How far the model itself is off is the fit's error; where
//! nothing is left to chance, an interval may have no width at all.

use super::fit::{Fit, SEEDS, WhyNot};
use super::model::Model;
use super::simulate::{SimulateError, timed};
use super::table::{RemedyKind, remedies_for};
use ackord_diagnose::Remedy;
use ackord_measure::stats::estimate;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Less is not offered, percent.
pub const LEAST_GAIN_PERCENT: f64 = 2.0;
/// Causes of less of the active time than this are left alone.
const LEAST_SHARE: f64 = 0.01;

/// What would help a connection.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// What would, best first.
    pub remedies: Vec<Remedy>,
    /// Nothing would: there is nothing to gain here.
    pub nothing_to_gain: bool,
    /// All that was tried, best first, with what is not offered.
    pub tried: Vec<Remedy>,
    /// What has to be known to judge it.
    pub remarks: Vec<String>,
}

/// How far predicting has come: remedies tried and to be tried. `Break` ends it.
pub type PredictProgress<'a> = &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Tries the remedies that may help against what was seen.
///
/// # Errors
/// When a run goes wrong.
pub fn predict(fit: &Fit, progress: PredictProgress<'_>) -> Result<Prediction, WhyNot> {
    let mut prediction = Prediction { remarks: fit.remarks.clone(), ..Prediction::default() };
    let kinds = kinds(fit);
    let plain = times(&fit.model)?;
    for (number, kind) in kinds.iter().enumerate() {
        if progress(number, kinds.len()).is_break() {
            prediction.remarks.push("stopped before all remedies were tried".to_owned());
            break;
        }
        prediction.tried.extend(try_one(&fit.model, *kind, &plain)?);
    }
    prediction.tried.sort_by(|a, b| b.gain_percent.total_cmp(&a.gain_percent));
    let offered =
        |remedy: &&Remedy| remedy.gain_percent >= LEAST_GAIN_PERCENT && remedy.ci95[0] > 0.0;
    prediction.remedies = prediction.tried.iter().filter(offered).cloned().collect();
    prediction.nothing_to_gain = prediction.remedies.is_empty();
    Ok(prediction)
}

/// Those of the causes seen, each once.
fn kinds(fit: &Fit) -> Vec<RemedyKind> {
    let seen = fit.shares.iter().filter(|(_, share)| *share >= LEAST_SHARE);
    let all: BTreeSet<RemedyKind> =
        seen.flat_map(|(cause, _)| remedies_for(*cause)).copied().collect();
    all.into_iter().filter(|kind| kind.applies(&fit.model)).collect()
}

/// The time of the transfer by seed, s.
fn times(model: &Model) -> Result<Vec<f64>, SimulateError> {
    let one = |seed| timed(model, seed).map(|ran| ran.active_s);
    (1..=SEEDS).into_par_iter().map(one).collect()
}

fn try_one(
    model: &Model,
    kind: RemedyKind,
    plain: &[f64],
) -> Result<Option<Remedy>, SimulateError> {
    let with = times(&kind.on(model))?;
    let gains: Vec<f64> =
        plain.iter().zip(&with).map(|(before, after)| 100.0 * (before - after) / before).collect();
    let Some(gain) = estimate(&gains) else { return Ok(None) };
    let half = gain.ci95.unwrap_or(f64::INFINITY);
    Ok(Some(Remedy {
        remedy: kind.name().to_owned(),
        gain_percent: gain.mean,
        ci95: [gain.mean - half, gain.mean + half],
        r#where: kind.place().to_owned(),
        command: kind.command(model),
    }))
}
