//! The gain of each remedy: every observed download simulated with and without it, with the same random numbers.

use super::downloads::{Download, LeftOut, settle};
use super::episodes::Episode;
use super::link::Link;
use super::run::{Variant, read_traced};
use super::{GatewayForecast, LinkFacts, NoForecast, RemedyForecast};
use crate::remedies::LEAST_GAIN_PERCENT;
use crate::remedies::allowance::{Allowance, Stopped};
use crate::remedies::gain::{LEAST_ERROR_PERCENT, together};
use crate::remedies::simulate::SimulateError;
use crate::remedies::table::{BBR_OF_LINUX, PROXY_TCP, SNOOP};
use ackord_diagnose::Reader;
use ackord_measure::stats::{estimate, quantile};
use ackord_units::RandomStream;
use ackord_units::portable::ln;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Fewest downloads that a forecast is made from.
pub const LEAST_DOWNLOADS: usize = 5;
/// A model whose downloads take so much longer or shorter than those observed forecasts nothing, percent.
pub const MOST_OFF_PERCENT: f64 = 30.0;

/// The remedies of a gateway, with what they are in a scenario.
const REMEDIES: [(&str, &str); 2] = [("proxy-tcp", PROXY_TCP), ("snoop", SNOOP)];
/// Congestion controls that a server may have; the first unless another fits much better.
const CONTROLS: [(&str, &str); 3] =
    [("CUBIC", "\"cubic\""), ("Reno", "\"reno\""), ("BBR version 1", BBR_OF_LINUX)];
/// A control that is within this of the observed time fits, or within so many standard errors of it; other ones are
/// not tried.
const FITS: f64 = 0.15;
const BY_CHANCE: f64 = 2.0;
/// Another control is taken if it leaves less than this part of what the first one is off.
const MUCH_BETTER: f64 = 0.5;
/// Rounds that a model is judged by.
const FIT_ROUNDS: u64 = 3;
/// Rounds of a forecast: at least, and at most.
const LEAST_ROUNDS: usize = 6;
const MOST_ROUNDS: usize = 40;
/// A forecast is finished when its standard error is below this, percent.
const EXACT_PERCENT: f64 = 1.0;
/// Data packets of a round at most; of more, episodes are sampled.
const MOST_OF_ROUND: f64 = 80_000.0;

/// Receives the progress of a forecast, 0 to 1.
pub type ForecastProgress<'a> = &'a mut dyn FnMut(f64);

/// Forecasts from a capture at the gateway, given twice, what its remedies gain. A caller that ends the allowance
/// early receives the forecast of the rounds that were simulated.
///
/// # Errors
/// [`NoForecast`].
pub fn forecast(
    capture: [Reader; 2],
    allowance: &Allowance<'_>,
    progress: ForecastProgress<'_>,
) -> Result<GatewayForecast, NoForecast> {
    let (found, traces, no_room) = read_traced(capture, &mut || allowance.go_on())?;
    let mut left_out: BTreeMap<LeftOut, usize> = BTreeMap::new();
    let mut downloads = Vec::new();
    for (connection, trace) in found.connections.iter().zip(&traces) {
        match Download::of(connection, trace) {
            Ok(download) => downloads.push(download),
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    if no_room > 0 {
        left_out.insert(LeftOut::NoRoom, no_room);
    }
    if downloads.len() < LEAST_DOWNLOADS {
        return Err(NoForecast::TooFew(downloads.len()));
    }
    settle(&mut downloads);
    let link = Link::of(&downloads).ok_or(NoForecast::NoRate)?;
    let episodes = sampled(Episode::all(&downloads));
    let model = chosen(&link, &episodes, allowance, progress)?;
    let rounds = rounds(&model, &episodes, allowance, progress)?;
    let mut left: Vec<(String, usize)> =
        left_out.into_iter().map(|(why, count)| (why.words().to_owned(), count)).collect();
    left.sort();
    Ok(GatewayForecast {
        downloads: downloads.len(),
        simulated: episodes.iter().map(|one| one.downloads.len()).sum(),
        rounds: rounds.len(),
        left_out: left,
        observed_s: model.observed_s,
        modelled_s: model.modelled_s,
        congestion_control: model.control.0.to_owned(),
        link: facts(&link, &downloads),
        remedies: remedies(&model, &rounds),
    })
}

/// A model of the link and the senders.
struct Chosen<'a> {
    link: &'a Link,
    control: (&'static str, &'static str),
    /// Mean time of a download in the capture and in the model, s.
    observed_s: f64,
    modelled_s: f64,
}

impl Chosen<'_> {
    /// How far the model's time is from the observed one, as a logarithm of the ratio.
    fn off(&self) -> f64 {
        ln(self.modelled_s / self.observed_s).abs()
    }
}

/// Every so manyth episode, so that a round has no more packets than [`MOST_OF_ROUND`].
fn sampled(episodes: Vec<Episode<'_>>) -> Vec<Episode<'_>> {
    let packets: f64 = episodes.iter().map(Episode::packets).sum();
    let step = (packets / MOST_OF_ROUND).ceil().max(1.0) as usize;
    episodes.into_iter().step_by(step).collect()
}

/// Returns the model with the congestion control that reproduces the observed times.
fn chosen<'a>(
    link: &'a Link,
    episodes: &[Episode<'_>],
    allowance: &Allowance<'_>,
    progress: ForecastProgress<'_>,
) -> Result<Chosen<'a>, NoForecast> {
    let mut best = fitted(link, CONTROLS[0], episodes, allowance)?;
    progress(0.1);
    let first_off = best.off();
    if first_off > FITS.max(BY_CHANCE * scatter(episodes)) {
        for control in CONTROLS.into_iter().skip(1) {
            let other = fitted(link, control, episodes, allowance)?;
            if other.off() < MUCH_BETTER * first_off && other.off() < best.off() {
                best = other;
            }
        }
    }
    progress(0.2);
    let percent = 100.0 * (best.modelled_s / best.observed_s - 1.0);
    match percent.abs() > MOST_OFF_PERCENT {
        true => Err(NoForecast::BadFit { percent, control: best.control.0 }),
        false => Ok(best),
    }
}

/// Returns the standard error of the mean observed time, as a share of it.
fn scatter(episodes: &[Episode<'_>]) -> f64 {
    let times: Vec<f64> = episodes.iter().map(Episode::time_s).collect();
    let Some(found) = estimate(&times) else { return 0.0 };
    found.std_dev.unwrap_or(0.0) / (times.len() as f64).sqrt() / found.mean
}

fn fitted<'a>(
    link: &'a Link,
    control: (&'static str, &'static str),
    episodes: &[Episode<'_>],
    allowance: &Allowance<'_>,
) -> Result<Chosen<'a>, SimulateError> {
    let variant = Variant { link, proxy: None, control: control.1 };
    let work: Vec<(u64, &Episode<'_>)> =
        (0..FIT_ROUNDS).flat_map(|round| seeds(round, episodes)).collect();
    let times: Result<Vec<f64>, SimulateError> = work
        .par_iter()
        .map(|(seed, episode)| variant.time_at_gateway(episode, *seed, allowance))
        .collect();
    let downloads: usize = episodes.iter().map(|one| one.downloads.len()).sum();
    let observed: f64 = episodes.iter().map(Episode::time_s).sum();
    Ok(Chosen {
        link,
        control,
        observed_s: observed / downloads as f64,
        modelled_s: times?.iter().sum::<f64>() / (FIT_ROUNDS as usize * downloads) as f64,
    })
}

/// The episodes of a round, each with its seed.
fn seeds<'a, 'b>(
    round: u64,
    episodes: &'a [Episode<'b>],
) -> impl Iterator<Item = (u64, &'a Episode<'b>)> {
    episodes.iter().enumerate().map(move |(at, one)| (1 + round * 100_000 + at as u64, one))
}

/// Mean times of users without a remedy and with each, s.
type Round = [f64; 1 + REMEDIES.len()];

/// Rounds until the gains are exact enough, or until the caller ends them. The link of each round differs from the
/// model's as far as the number of observed losses and fades leaves open.
fn rounds(
    model: &Chosen<'_>,
    episodes: &[Episode<'_>],
    allowance: &Allowance<'_>,
    progress: ForecastProgress<'_>,
) -> Result<Vec<Round>, NoForecast> {
    let downloads: usize = episodes.iter().map(|one| one.downloads.len()).sum();
    let mut found: Vec<Round> = Vec::new();
    for number in 0..MOST_ROUNDS {
        let round = 1_000 + number as u64;
        let link = model.link.drawn(&mut RandomStream::for_element(round, "link"));
        let work: Vec<(usize, u64, &Episode<'_>)> = (0..=REMEDIES.len())
            .flat_map(|which| seeds(round, episodes).map(move |(seed, one)| (which, seed, one)))
            .collect();
        let time = |(which, seed, episode): &(usize, u64, &Episode<'_>)| {
            let proxy = which.checked_sub(1).map(|which| REMEDIES[which].1);
            let variant = Variant { link: &link, proxy, control: model.control.1 };
            variant.time(episode, *seed, allowance)
        };
        let times: Result<Vec<f64>, SimulateError> = work.par_iter().map(time).collect();
        let times = match times {
            Err(SimulateError::Stopped(_)) if !found.is_empty() => break,
            times => times?,
        };
        let mut sums = [0.0; 1 + REMEDIES.len()];
        for ((which, ..), time) in work.iter().zip(times) {
            sums[*which] += time / downloads as f64;
        }
        found.push(sums);
        progress(0.2 + 0.8 * found.len() as f64 / MOST_ROUNDS as f64);
        let exact = |which: usize| standard_error(&found, which) < EXACT_PERCENT;
        if found.len() >= LEAST_ROUNDS && (1..=REMEDIES.len()).all(exact) {
            break;
        }
    }
    if found.is_empty() { Err(SimulateError::Stopped(Stopped).into()) } else { Ok(found) }
}

/// Gains of each round, percent.
fn gains(rounds: &[Round], which: usize) -> Vec<f64> {
    rounds.iter().map(|round| 100.0 * (1.0 - round[which] / round[0])).collect()
}

fn standard_error(rounds: &[Round], which: usize) -> f64 {
    let std_dev = estimate(&gains(rounds, which)).and_then(|one| one.std_dev);
    std_dev.map_or(f64::INFINITY, |std_dev| std_dev / (rounds.len() as f64).sqrt())
}

fn remedies(model: &Chosen<'_>, rounds: &[Round]) -> Vec<RemedyForecast> {
    let mean =
        |which: usize| rounds.iter().map(|round| round[which]).sum::<f64>() / rounds.len() as f64;
    let off = 100.0 * (model.modelled_s / model.observed_s - 1.0).abs();
    let one = |(at, (name, _)): (usize, &(&'static str, &str))| {
        let (without_s, with_s) = (mean(0), mean(at + 1));
        let percent = 100.0 * (1.0 - with_s / without_s);
        let scatter = estimate(&gains(rounds, at + 1)).and_then(|one| one.std_dev).unwrap_or(100.0);
        let error = together(off, LEAST_ERROR_PERCENT) / 100.0 * (100.0 - percent);
        let half = together(1.96 * scatter, error);
        let ci95 = [percent - half, (percent + half).min(99.9)];
        RemedyForecast {
            remedy: (*name).to_owned(),
            gain_percent: percent,
            ci95,
            without_s,
            with_s,
            nothing_to_gain: percent < LEAST_GAIN_PERCENT,
            certain: ci95[0] > 0.0,
        }
    };
    REMEDIES.iter().enumerate().map(one).collect()
}

fn facts(link: &Link, downloads: &[Download]) -> LinkFacts {
    let wired: Vec<f64> = downloads.iter().map(|one| one.wired_s).collect();
    LinkFacts {
        rate_bit_s: link.rate_bit_s,
        rate_is_shown: link.rate_is_shown,
        round_trip_s: link.air_s,
        round_trip_to_servers_s: quantile(&wired, 0.5).unwrap_or(0.0),
        queue_packets: link.queue,
        loss_percent: 100.0 * link.loss,
        losses: link.losses as u64,
        fades: link.fades.count as u64,
        fade_every_s: (link.fades.count > 0).then_some(link.fades.every_s),
        fade_s: (link.fades.count > 0).then(|| link.fades.mean_s()),
        used_percent: 100.0 * used(link, downloads),
    }
}

/// Share of the link's rate that downloads used while there was one.
fn used(link: &Link, downloads: &[Download]) -> f64 {
    let mut spans: Vec<(f64, f64)> =
        downloads.iter().map(|one| (one.began_s, one.began_s + one.lasted_s)).collect();
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut busy, mut until) = (0.0, f64::NEG_INFINITY);
    for (from, to) in spans {
        busy += (to - from.max(until)).max(0.0);
        until = until.max(to);
    }
    let bits: f64 =
        downloads.iter().flat_map(|one| &one.sent).map(|one| 8.0 * one.bytes as f64).sum();
    if busy > 0.0 { (bits / busy / link.rate_bit_s).min(1.0) } else { 0.0 }
}
