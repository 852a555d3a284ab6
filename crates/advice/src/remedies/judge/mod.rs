//! Predictions held against stock kernels in simulated time.
//!
//! Each situation runs between kernels as it is, and with its remedy, some seeds each. Of the first run as it
//! is a capture is taken, diagnosed, fitted and predicted from: nothing else of the truth is used.
//!
//! A prediction is right where the predicted time is within [`RIGHT_WITHIN_PERCENT`] of the measured one with
//! the remedy; "nothing to gain" is right where no remedy is offered and none brings as much as a prediction
//! has to promise.
//!
//! Not judged: remedies that a kernel in simulated time cannot have (the agent's acknowledgments).

mod cases;

pub use cases::{Situation, situations};

use super::model::Model;
use super::simulate::{captured, timed};
use super::table::RemedyKind;
use super::{Advice, Allowance, LEAST_GAIN_PERCENT, SimulateError, WhyNot};
use ackord_measure::stats::mean;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::ControlFlow;

/// How near the predicted time has to be, percent of the measured one.
pub const RIGHT_WITHIN_PERCENT: f64 = 15.0;
/// Runs of a situation, without and with its remedy.
pub const SEEDS: u64 = 4;
/// The kernel at both ends.
const KERNEL: &str = "6.12";

/// What is fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The connection's account and its packets.
    Packets,
    /// The account alone.
    Account,
}

/// What became of a situation.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Its name.
    pub name: String,
    /// The remedy that is judged; of a situation without one, the best of those that were tried.
    pub remedy: String,
    /// Whether there is something to gain.
    pub helps: bool,
    /// Measured time as it is: of the captured run, s.
    pub captured_s: f64,
    /// Measured time as it is: mean, s.
    pub without_s: f64,
    /// Measured time with the remedy: mean, s.
    pub with_s: f64,
    /// Measured gain, percent.
    pub measured_percent: f64,
    /// Predicted gain, percent; nothing where it was not offered.
    pub predicted_percent: Option<f64>,
    /// Its 95 % interval.
    pub predicted_ci95: Option<[f64; 2]>,
    /// How far the model is off, percent.
    pub fit_error_percent: Option<f64>,
    /// How far the predicted time is from the measured one, percent of it.
    pub off_percent: Option<f64>,
    /// Whether the prediction is right.
    pub right: bool,
    /// What was said besides.
    pub words: String,
    /// What was fitted.
    pub scenario_toml: Option<String>,
    /// Seconds by cause, as the capture has them.
    pub causes: Vec<(&'static str, f64)>,
}

/// Judges one situation.
///
/// # Errors
/// When a kernel has not been built, or a run goes wrong.
pub fn judge(situation: &Situation, evidence: Evidence) -> Result<Judged, SimulateError> {
    let mut truth = situation.truth.clone();
    truth.kernel = Some(KERNEL.to_owned());
    let unlimited = Allowance::unlimited();
    let first = captured(&truth, 1, &unlimited)?;
    let captured_s = first.active_s;
    let (connection, trace) = first.seen.ok_or(SimulateError::Nothing)?;
    let packets = (evidence == Evidence::Packets).then_some(&trace);
    let go_on = || ControlFlow::Continue(());
    let advice = super::advise(&connection, packets, &Allowance::new(&go_on), &mut |_, _| {});
    let without: Vec<f64> = runs(&truth)?;
    let tried: &[RemedyKind] = match &situation.remedy {
        Some(kind) => &[*kind],
        None => &[RemedyKind::Bbr, RemedyKind::InitialWindow],
    };
    let mut measured: Vec<(RemedyKind, f64)> = Vec::new();
    for kind in tried {
        let with = mean(&runs(&with_remedy(*kind, &truth))?).unwrap_or_default();
        measured.push((*kind, with));
    }
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some((kind, with_s)) = measured.first().copied() else {
        return Err(SimulateError::Nothing);
    };
    let without_s = mean(&without).unwrap_or_default();
    let mut judged = Judged {
        name: situation.name.to_owned(),
        remedy: kind.name().to_owned(),
        helps: situation.remedy.is_some(),
        captured_s,
        without_s,
        with_s,
        measured_percent: 100.0 * (1.0 - with_s / without_s),
        predicted_percent: None,
        predicted_ci95: None,
        fit_error_percent: None,
        off_percent: None,
        right: false,
        words: String::new(),
        scenario_toml: None,
        causes: connection.causes.iter().map(|one| (one.cause.name(), one.seconds)).collect(),
    };
    judged.take(&advice);
    Ok(judged)
}

fn runs(model: &Model) -> Result<Vec<f64>, SimulateError> {
    (1..=SEEDS).into_par_iter().map(|seed| timed(model, seed).map(|ran| ran.active_s)).collect()
}

/// As kernels have it.
fn with_remedy(kind: RemedyKind, truth: &Model) -> Model {
    let mut with = kind.on(truth);
    if kind == RemedyKind::Bbr {
        with.congestion = "\"bbr\"".to_owned();
    }
    with
}

impl Judged {
    fn take(&mut self, advice: &Advice) {
        let nothing = matches!(advice, Advice::NothingToGain(_));
        match advice {
            Advice::NothingToGain(words) => self.words.clone_from(words),
            Advice::Unknown(why) => {
                self.words = why.to_string();
                if let WhyNot::BadFit(fit) = why {
                    self.fit_error_percent = Some(fit.error_percent);
                    self.scenario_toml = Some(fit.scenario_toml.clone());
                }
            }
            Advice::Helps(fit, prediction) => {
                self.fit_error_percent = fit.as_ref().map(|fit| fit.error_percent);
                self.scenario_toml = fit.as_ref().map(|fit| fit.scenario_toml.clone());
                let of = if self.helps { &prediction.tried } else { &prediction.remedies };
                let found = of.iter().find(|one| !self.helps || one.remedy == self.remedy);
                self.predicted_percent = found.map(|one| one.gain_percent);
                self.predicted_ci95 = found.map(|one| one.ci95);
                let offered = prediction.remedies.iter();
                let each = offered.map(|one| format!("{} {:.0} %", one.remedy, one.gain_percent));
                self.words = each.collect::<Vec<_>>().join(", ");
            }
        }
        // What was promised to who took the capture.
        let promised = self.predicted_percent.unwrap_or(0.0);
        let predicted_s = self.captured_s * (1.0 - promised / 100.0);
        let off = 100.0 * (predicted_s / self.with_s - 1.0).abs();
        self.off_percent = Some(off);
        self.right = match self.helps {
            true => self.predicted_percent.is_some() && off <= RIGHT_WITHIN_PERCENT,
            false => nothing && self.measured_percent < LEAST_GAIN_PERCENT,
        };
    }
}
