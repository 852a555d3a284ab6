//! From what was observed to a model that behaves so.
//!
//! A first guess follows from the facts. Then the model runs, its capture is diagnosed with the same
//! code, at the same place, and whatever comes out unlike the observation is corrected: so what the
//! diagnosis sees wrongly it sees wrongly in both. The congestion control is the one that fits best.

use super::allowance::{Allowance, Stopped};
use super::backoff::Backoff;
use super::facts::Facts;
use super::guess::guess;
use super::limit::RateLimit;
use super::model::{LossProcess, Model};
use super::simulate::{SimulateError, captured};
use ackord_diagnose::{Cause, Connection, Trace};
use ackord_measure::stats::{Estimate, estimate, mean};
use rayon::prelude::*;

/// Runs that a fit is judged by, and a prediction.
pub const SEEDS: u64 = 10;
/// Runs between two corrections.
const ROUND_SEEDS: u64 = 4;
/// Corrections at most.
const ROUNDS: usize = 6;
/// A fit that is further off than this predicts nothing, percent. A remedy's prediction is held to be
/// good within 15 % of the time; it cannot be better than the model it is made with.
pub const MOST_ERROR_PERCENT: f64 = 15.0;
/// Where the model's own runs are as far from each other, so many times that.
const MOST_BY_CHANCE: f64 = 2.0;
/// Other congestion controls are tried where the fit is further off than this.
const GOOD_ENOUGH: f64 = 0.06;
/// Another one is taken where it leaves less than this of what the fit is off.
const MUCH_BETTER: f64 = 0.7;
pub(super) const RENO: &str = "\"reno\"";
const BBR: &str = "\"bbr\"";

/// A path that was full for more of the time than this determines the time by its rate.
const MOSTLY_FULL: f64 = 0.8;

/// A model has the stalls of small writes if they take at least this part of their observed share.
const MOST_STALLS: f64 = 0.5;

/// Bound by windows for more of the time than this, the rate that was seen is not the path's.
const MUCH_BOUND: f64 = 0.2;

/// A model of one connection, and how well it holds.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The scenario, as `ackord run` takes it.
    pub scenario_toml: String,
    /// How far the simulated time of the transfer is from the observed one, percent.
    pub error_percent: f64,
    /// The observed time, without what applications waited, s; of the part that is simulated.
    pub observed_s: f64,
    /// Of the observed time, what closing took when everything was delivered: 0 to 1. No remedy gains there.
    pub closing: f64,
    /// The simulated time, over [`SEEDS`] runs.
    pub simulated_s: Estimate,
    /// Retransmitted segments, observed and simulated, percent of all.
    pub retransmitted_percent: [f64; 2],
    /// Mean over the causes of how far their shares of the active time are apart, in all: 0 is alike, 100
    /// has nothing in common.
    pub causes_apart_percent: f64,
    /// What had to be assumed.
    pub remarks: Vec<String>,
    /// The model itself.
    pub model: Model,
    /// Share of the active time by cause, for the choice of remedies.
    pub shares: Vec<(Cause, f64)>,
    /// The rate that no remedy is credited with exceeding.
    pub limit: Option<RateLimit>,
    /// The most that this leaves to gain, percent of the active time.
    pub most_gain_percent: f64,
    /// The range in which the rate of the path may be, as multiples of the model's.
    pub rate_range: [f64; 2],
    /// Whether the model has the observed stalls of small writes, or most of them.
    pub(super) has_stalls: bool,
    /// Simulated times of the transfer without its closing, by seed, s.
    pub(super) plain: Vec<f64>,
}

impl Fit {
    /// Returns how far the simulated time is from the observed one, as a sentence.
    fn how_far(&self) -> String {
        match self.simulated_s.mean / self.observed_s {
            ratio if ratio >= 2.0 => format!("a simulated transfer takes {ratio:.1} times as long"),
            _ => format!("the simulated time is {:.0} % off the observed one", self.error_percent),
        }
    }

    /// The most that is left to gain if the rate is a multiple of the limit, percent of the active time.
    pub(super) fn most_gain_at(&self, factor: f64) -> f64 {
        100.0 - (100.0 - self.most_gain_percent) / factor.max(1.0)
    }
}

/// Why nothing could be fitted.
#[derive(Debug, thiserror::Error)]
pub enum WhyNot {
    /// No data was seen.
    #[error("the connection carried no data to speak of")]
    NoData,
    /// Round trip or rate are not known.
    #[error(
        "the capture shows neither its round trip nor its rate: it has one direction only, or too few packets"
    )]
    NoPath,
    /// A window bound it, and what the path could carry beyond is not known.
    #[error(
        "a window held it below what the path can carry, and the capture does not show how much that is"
    )]
    UnknownCapacity,
    /// The capture is not whole.
    #[error("{0:.0} % of the time belongs to what the capture does not show")]
    Artefacts(f64),
    /// Something that has no model.
    #[error("{0:.0} % of the time goes to {cause}, which is not modelled", cause = .1.title())]
    NotModelled(f64, Cause),
    /// The receiving application reads slowly, and nothing on the path helps that.
    #[error(
        "{0:.0} % of the time the receiver's window was closed: its application reads slowly, and that only it can change"
    )]
    SlowReader(f64),
    /// The model does not behave as was observed.
    #[error("no model fits: {}", .0.how_far())]
    BadFit(Box<Fit>),
    /// A run failed.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

impl From<Stopped> for WhyNot {
    fn from(stopped: Stopped) -> WhyNot {
        WhyNot::Simulate(SimulateError::Stopped(stopped))
    }
}

impl WhyNot {
    /// Whether the caller has stopped the prediction.
    pub fn is_stopped(&self) -> bool {
        matches!(self, WhyNot::Simulate(SimulateError::Stopped(_)))
    }
}

/// Fits a path, its ends and their applications to a connection.
///
/// # Errors
/// [`WhyNot`].
pub fn fit(connection: &Connection, allowance: &Allowance<'_>) -> Result<Fit, WhyNot> {
    fit_traced(connection, None, allowance)
}

/// Fits a connection with its packets, which show more of the path and of the applications.
///
/// # Errors
/// [`WhyNot`].
pub fn fit_traced(
    connection: &Connection,
    trace: Option<&Trace>,
    allowance: &Allowance<'_>,
) -> Result<Fit, WhyNot> {
    fit_facts(&Facts::of(connection, trace), allowance)
}

pub(super) fn fit_facts(facts: &Facts, allowance: &Allowance<'_>) -> Result<Fit, WhyNot> {
    refuse(facts)?;
    let bound = facts.share(&[Cause::ReceiverWindow, Cause::SendBuffer, Cause::WindowGrowth]);
    if facts.capacity.is_none() && bound > MUCH_BOUND && facts.stalls.is_none() {
        return Err(WhyNot::UnknownCapacity);
    }
    let mut remarks = Vec::new();
    let (guess, rate_range) = guess(facts, &mut remarks);
    let mut best = fitted(guess, facts, allowance)?;
    if best.model.rivals > 0 {
        for rivals in [2, 4, 8] {
            best = better(best, facts, allowance, |model| model.rivals = rivals)?;
        }
        remarks.push(format!(
            "{} other flows fill the same queue: CUBIC, by assumption",
            best.model.rivals
        ));
    }
    // A sender that backs off as CUBIC or Reno does is no BBR, however well that fits.
    let may_be_bbr = !matches!(facts.backoff, Some(Backoff::Cubic | Backoff::Half));
    if best.off > GOOD_ENOUGH && may_be_bbr {
        best = better(best, facts, allowance, |model| model.congestion = BBR.to_owned())?;
    }
    match best.model.congestion.as_str() {
        BBR => remarks.push("BBR at the sender fits best".to_owned()),
        RENO => remarks.push("losses halve what is in flight: Reno at the sender".to_owned()),
        _ => {}
    }
    if best.model.reordering.is_some() {
        let no_rack = |model: &mut Model| model.detection = Some("\"fixed\"".to_owned());
        best = better(best, facts, allowance, no_rack)?;
        if best.model.detection.is_some() {
            remarks.push("a sender without RACK fits best".to_owned());
        }
    }
    finish(facts, best.model, (remarks, rate_range), allowance)
}

/// Another model, if it fits much better.
fn better(
    best: Tried,
    facts: &Facts,
    allowance: &Allowance<'_>,
    change: impl FnOnce(&mut Model),
) -> Result<Tried, WhyNot> {
    let mut model = best.model.clone();
    change(&mut model);
    let tried = fitted(model, facts, allowance)?;
    // Runs of either model scatter: closer by less than that is no better.
    let differ = best.off - tried.off > tried.scatter + best.scatter;
    Ok(if differ && tried.off < MUCH_BETTER * best.off { tried } else { best })
}

fn refuse(facts: &Facts) -> Result<(), WhyNot> {
    if facts.bytes[0] == 0 {
        return Err(WhyNot::NoData);
    }
    if facts.rtt_s <= 0.0 || (facts.rate <= 0.0 && facts.stalls.is_none()) {
        return Err(WhyNot::NoPath);
    }
    let percent = |cause| 100.0 * facts.share(&[cause]);
    if percent(Cause::CaptureArtefact) > 10.0 {
        return Err(WhyNot::Artefacts(percent(Cause::CaptureArtefact)));
    }
    if percent(Cause::ZeroWindow) > 10.0 {
        return Err(WhyNot::SlowReader(percent(Cause::ZeroWindow)));
    }
    for cause in [Cause::Policer, Cause::Shaper, Cause::AckPath, Cause::SynLoss] {
        if percent(cause) > 20.0 {
            return Err(WhyNot::NotModelled(percent(cause), cause));
        }
    }
    Ok(())
}

/// A model with how far it is off: the time, as a share of it.
struct Tried {
    model: Model,
    off: f64,
    /// Standard error of that.
    scatter: f64,
}

/// What simulated captures show, on average; losses are those outside of outages.
struct Means {
    active: f64,
    /// Active times by seed, s.
    times: Vec<f64>,
    /// The same without closing.
    transfers: Vec<f64>,
    lost: f64,
    events: f64,
    rate: f64,
    queue: f64,
    repeated: f64,
    shares: [f64; Cause::ALL.len()],
}

/// Runs, compares, corrects; the best of all rounds.
fn fitted(mut model: Model, facts: &Facts, allowance: &Allowance<'_>) -> Result<Tried, WhyNot> {
    let mut best: Option<(f64, Tried)> = None;
    for _ in 0..ROUNDS {
        let means = match simulated(&model, ROUND_SEEDS, allowance) {
            // A correction went too far.
            Err(SimulateError::TooLarge | SimulateError::Nothing) if best.is_some() => break,
            means => means?,
        };
        let part = model.part;
        let off = (means.active / (facts.active_s * part) - 1.0).abs();
        let others = unlike(&means, facts, part);
        let score = off + 0.3 * others;
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            let scatter = standard_error(&means.times) / (facts.active_s * part);
            best = Some((score, Tried { model: model.clone(), off, scatter }));
        }
        if off < 0.02 && others < 0.1 {
            break;
        }
        correct(&mut model, &means, facts, part);
    }
    best.map(|(_, tried)| tried).ok_or(WhyNot::NoData)
}

fn standard_error(times: &[f64]) -> f64 {
    let std_dev = estimate(times).and_then(|estimate| estimate.std_dev).unwrap_or(0.0);
    std_dev / (times.len().max(1) as f64).sqrt()
}

/// How far retransmissions are off, as a share.
fn unlike(means: &Means, facts: &Facts, part: f64) -> f64 {
    let expected = facts.repeated * part;
    (means.repeated - expected).abs() / expected.max(means.repeated).max(20.0)
}

fn correct(model: &mut Model, means: &Means, facts: &Facts, part: f64) {
    let ratio = |wanted: f64, got: f64, bound: f64| {
        if wanted > 0.0 && got > 0.0 { (wanted / got).clamp(1.0 / bound, bound) } else { 1.0 }
    };
    let slow = means.active / (facts.active_s * part);
    match &mut model.loss {
        LossProcess::None => {}
        LossProcess::Random { share } => {
            // Few losses tell little of the rate; the time they took tells more.
            let trust = 0.6 * facts.lost_beside / (facts.lost_beside + 30.0);
            let by_count = ratio(facts.lost_beside * part, means.lost, 2.0);
            let by_time = ratio(1.0, slow, 1.5);
            *share = (*share * (trust * by_count + (1.0 - trust) * by_time)).clamp(1e-6, 0.5);
        }
        LossProcess::Bursts { good_s, bad_s } => {
            let by_count = ratio(means.events, facts.events_beside * part, 2.0);
            *good_s *= 0.6 * by_count + 0.4 * ratio(slow, 1.0, 1.5);
            let each = |lost: f64, events: f64| lost / events.max(1.0);
            let each = ratio(
                each(facts.lost_beside, facts.events_beside),
                each(means.lost, means.events),
                1.5,
            );
            *bad_s *= each;
        }
    }
    let bound = model.receive_buffer.is_some() || model.send_buffer.is_some();
    if let Some(bytes) = &mut model.receive_buffer {
        *bytes = (*bytes as f64 * ratio(slow, 1.0, 1.3)) as u64;
    }
    if let Some(bytes) = &mut model.send_buffer {
        *bytes = (*bytes as f64 * ratio(slow, 1.0, 1.3)) as u64;
    }
    if let Some((_, by_s)) = &mut model.reordering {
        *by_s *= ratio(facts.repeated * part + 1.0, means.repeated + 1.0, 1.5);
    }
    if facts.on(&[Cause::FastRecovery]) > 0.0 && model.rivals == 0 {
        model.buffer =
            ((model.buffer as f64 * ratio(facts.queue_s, means.queue, 1.5)) as u64).max(3);
    }
    let full = facts.share(&[Cause::PathLimited, Cause::QueueingOwn]);
    if full > MOSTLY_FULL && !bound {
        // The time is that of the bytes at the rate. The highest rate of a round trip may be that of ACKs
        // that were held up and released together.
        model.rate_bit_s *= ratio(slow, 1.0, 1.25);
    } else if full > 0.3 && !bound {
        model.rate_bit_s *= ratio(facts.rate, means.rate, 1.1);
    }
}

/// Captured runs of so many seeds.
fn simulated(model: &Model, seeds: u64, allowance: &Allowance<'_>) -> Result<Means, SimulateError> {
    let runs = runs(model, seeds, allowance)?;
    let times: Vec<f64> = runs.iter().map(|run| run.active_s).collect();
    let of = |value: &dyn Fn(&Facts) -> f64| {
        mean(&runs.iter().map(|run| value(&run.facts)).collect::<Vec<_>>()).unwrap_or_default()
    };
    let mut shares = [0.0; Cause::ALL.len()];
    for cause in Cause::ALL {
        shares[cause.index()] = of(&|facts| facts.share(&[cause]));
    }
    // What looks like an outage in a model without one is chance.
    let whole = model.outages.is_empty();
    Ok(Means {
        active: mean(&times).unwrap_or_default(),
        transfers: runs.iter().map(Run::transfer_s).collect(),
        times,
        lost: of(&|facts| if whole { facts.lost } else { facts.lost_beside }),
        events: of(&|facts| if whole { facts.events } else { facts.events_beside }),
        rate: of(&|facts| facts.rate),
        queue: of(&|facts| facts.queue_s),
        repeated: of(&|facts| facts.repeated),
        shares,
    })
}

/// One captured run.
pub(super) struct Run {
    facts: Facts,
    /// As [`active_s`](super::facts::active_s); the whole run, if the transfer was not finished.
    active_s: f64,
}

impl Run {
    /// The active time without its closing, s.
    pub(super) fn transfer_s(&self) -> f64 {
        (self.active_s - self.facts.closing_s).max(1e-6)
    }
}

/// Captured runs of the seeds from 1.
pub(super) fn runs(
    model: &Model,
    seeds: u64,
    allowance: &Allowance<'_>,
) -> Result<Vec<Run>, SimulateError> {
    let one = |seed| {
        let ran = captured(model, seed, allowance)?;
        let (connection, trace) = ran.seen.ok_or(SimulateError::Nothing)?;
        let facts = Facts::of(&connection, Some(&trace));
        let active_s = if ran.done { facts.active_s } else { ran.active_s };
        Ok(Run { facts, active_s })
    };
    (1..=seeds).into_par_iter().map(one).collect()
}

/// Judges the model by more runs.
fn finish(
    facts: &Facts,
    model: Model,
    (remarks, rate_range): (Vec<String>, [f64; 2]),
    allowance: &Allowance<'_>,
) -> Result<Fit, WhyNot> {
    let means = simulated(&model, SEEDS, allowance)?;
    let part = model.part;
    let observed_s = facts.active_s * part;
    let simulated_s = estimate(&means.times).ok_or(WhyNot::NoData)?;
    let error_percent = 100.0 * (simulated_s.mean / observed_s - 1.0).abs();
    let busy = |cause: &Cause| !matches!(cause, Cause::ClientIdle | Cause::ServerIdle);
    let apart: f64 = Cause::ALL
        .iter()
        .filter(|cause| busy(cause))
        .map(|cause| (means.shares[cause.index()] - facts.share(&[*cause])).abs())
        .sum();
    let percent = |repeated: f64, part: f64| 100.0 * repeated / (facts.segments * part).max(1.0);
    let stalls = Cause::NagleDelayedAck;
    let has_stalls = means.shares[stalls.index()] >= MOST_STALLS * facts.share(&[stalls]);
    let shares = Cause::ALL.iter().map(|cause| (*cause, facts.share(&[*cause])));
    let fit = Fit {
        scenario_toml: model.toml(None),
        error_percent,
        observed_s,
        closing: (facts.closing_s / facts.active_s).clamp(0.0, 1.0),
        simulated_s,
        retransmitted_percent: [
            percent(facts.repeated * part, part),
            percent(means.repeated, part),
        ],
        causes_apart_percent: 50.0 * apart,
        remarks,
        shares: shares.collect(),
        model,
        limit: facts.limit,
        most_gain_percent: facts.most_gain_percent(),
        rate_range,
        has_stalls,
        plain: means.transfers,
    };
    // One observation of a path that is left to chance is off by chance, too.
    let by_chance = 100.0 * fit.simulated_s.std_dev.unwrap_or_default() / observed_s;
    let most = MOST_ERROR_PERCENT.max(by_chance.min(MOST_BY_CHANCE * MOST_ERROR_PERCENT));
    match error_percent > most {
        true => Err(WhyNot::BadFit(Box::new(fit))),
        false => Ok(fit),
    }
}
