//! Whether a predicted gain came: captures from before and after, of the same kind of transfer.
//!
//! Compared is the active time per byte, connection by connection: transfers may be of unlike length, as
//! long as they are not of unlike kind.

use super::facts::active_s;
use super::predict::LEAST_GAIN_PERCENT;
use ackord_diagnose::{Connection, Diagnosis, Remedy};
use ackord_measure::stats::{ci95_half_width, mean};
use ackord_measure::welch::welch;
use serde::Serialize;

/// Connections of less than this share of the median bytes are of another kind.
const KIND: f64 = 4.0;
/// With fewer connections than this on a side there is no interval.
const LEAST: usize = 2;

/// Whether it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GainVerdict {
    /// The measured interval and the predicted one overlap, or are less apart than is worth an offer, and the
    /// measured one is above zero.
    Came,
    /// All of the measured interval is below the predicted one.
    Less,
    /// All of it is above.
    More,
    /// Too few connections, or an interval too wide: it includes zero and the prediction.
    CannotBeTold,
}

/// What was predicted and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The remedy whose prediction is judged.
    pub remedy: Option<String>,
    /// Predicted gain, percent of the time.
    pub predicted_percent: Option<f64>,
    /// Its 95 % interval: how its simulations scatter, how far its models are off, and how connections differ
    /// where not all have one.
    pub predicted_ci95: Option<[f64; 2]>,
    /// For how many connections of before it was predicted.
    pub predicted_for: usize,
    /// Measured gain, percent of the time.
    pub measured_percent: Option<f64>,
    /// Its 95 % interval (Welch), where there are two connections on each side.
    pub measured_ci95: Option<[f64; 2]>,
    /// Connections before and after.
    pub connections: [usize; 2],
    /// Whether it came.
    pub verdict: GainVerdict,
    /// The same in words.
    pub words: String,
}

/// Holds what was predicted in `before` against what `after` shows. With the name of a remedy, that one's
/// prediction; without, the best.
pub fn verify(before: &Diagnosis, after: &Diagnosis, remedy: Option<&str>) -> Verification {
    let (of_before, of_after) = comparable(before, after);
    let rates = |of: &[&Connection]| of.iter().map(|one| per_byte(one)).collect::<Vec<_>>();
    let (old, new) = (rates(&of_before), rates(&of_after));
    let predicted = predicted(&of_before, remedy);
    let (measured_percent, measured_ci95) = measured(&old, &new);
    let mut verification = Verification {
        remedy: predicted.as_ref().map(|one| one.remedy.clone()),
        predicted_percent: predicted.as_ref().map(|one| one.percent),
        predicted_ci95: predicted.as_ref().map(|one| one.ci95),
        predicted_for: predicted.as_ref().map_or(0, |one| one.connections),
        measured_percent,
        measured_ci95,
        connections: [old.len(), new.len()],
        verdict: GainVerdict::CannotBeTold,
        words: String::new(),
    };
    verification.judge();
    verification
}

impl Verification {
    fn judge(&mut self) {
        let Some(measured) = self.measured_percent else {
            self.words = "no connections of the same kind before and after".to_owned();
            return;
        };
        let Some([low, high]) = self.measured_ci95 else {
            self.words = format!(
                "measured {measured:.1} %, from too few connections for an interval: {LEAST} on each side at least"
            );
            return;
        };
        let Some([least, most]) = self.predicted_ci95 else {
            self.words =
                format!("measured {measured:.1} % [{low:.1}, {high:.1}]; nothing was predicted");
            return;
        };
        // As little apart as nobody would be offered.
        let alike = (measured - self.predicted_percent.unwrap_or_default()).abs();
        let overlap = (low <= most && high >= least) || alike < LEAST_GAIN_PERCENT;
        self.verdict = match overlap {
            true if low > 0.0 => GainVerdict::Came,
            true => GainVerdict::CannotBeTold,
            false if high < least => GainVerdict::Less,
            false => GainVerdict::More,
        };
        let verdict = match self.verdict {
            GainVerdict::Came => "the predicted gain came",
            GainVerdict::Less => "less than predicted",
            GainVerdict::More => "more than predicted",
            GainVerdict::CannotBeTold => "cannot be told: capture more connections",
        };
        self.words = format!(
            "{verdict}: measured {measured:.1} % [{low:.1}, {high:.1}], predicted {:.1} % [{least:.1}, {most:.1}]",
            self.predicted_percent.unwrap_or_default()
        );
    }
}

/// Active time for each byte, s.
fn per_byte(connection: &Connection) -> f64 {
    active_s(connection) / connection.bytes.max(1) as f64
}

/// Connections of the same kind on both sides: with bytes near the median of those of before.
fn comparable<'a>(
    before: &'a Diagnosis,
    after: &'a Diagnosis,
) -> (Vec<&'a Connection>, Vec<&'a Connection>) {
    let mut sizes: Vec<u64> = before.connections.iter().map(|one| one.bytes).collect();
    sizes.sort_unstable();
    // Large ones count: among many small ones the median byte, not the median connection.
    let all: u64 = sizes.iter().sum();
    let mut sum = 0;
    let median = sizes.iter().copied().find(|bytes| {
        sum += bytes;
        2 * sum >= all
    });
    let usual = median.unwrap_or(0) as f64;
    let alike = |one: &&Connection| {
        let bytes = one.bytes as f64;
        bytes > 0.0 && bytes >= usual / KIND && bytes <= usual * KIND
    };
    (
        before.connections.iter().filter(alike).collect(),
        after.connections.iter().filter(alike).collect(),
    )
}

/// Of the connections that are compared, those to predict for, `most` at most: evenly from the slowest to
/// the quickest, since those that lost most say too much of what all would gain.
pub fn connections_to_verify(before: &Diagnosis, after: &Diagnosis, most: usize) -> Vec<u32> {
    let (mut of, _) = comparable(before, after);
    of.sort_by(|a, b| per_byte(b).total_cmp(&per_byte(a)).then(a.id.cmp(&b.id)));
    let count = of.len().min(most);
    (0..count).map(|at| of[(2 * at + 1) * of.len() / (2 * count)].id).collect()
}

/// What was predicted for all.
struct Predicted {
    remedy: String,
    percent: f64,
    ci95: [f64; 2],
    connections: usize,
}

/// The prediction that the connections of before have for a remedy: of those that have it, weighted as they
/// weigh in what is measured.
fn predicted(before: &[&Connection], remedy: Option<&str>) -> Option<Predicted> {
    let best = || before.iter().find_map(|one| one.remedies.first()).map(|one| one.remedy.clone());
    let name = remedy.map(str::to_owned).or_else(best)?;
    let of: Vec<(f64, &Remedy)> = before
        .iter()
        .filter_map(|one| {
            let remedy = one.remedies.iter().find(|remedy| remedy.remedy == name)?;
            Some((per_byte(one), remedy))
        })
        .collect();
    let all: f64 = of.iter().map(|(weight, _)| weight).sum();
    let share = |weight: f64| weight / all.max(f64::MIN_POSITIVE);
    let percent = of.iter().map(|(weight, one)| share(*weight) * one.gain_percent).sum();
    let own: f64 = of
        .iter()
        .map(|(weight, one)| (share(*weight) * 0.5 * (one.ci95[1] - one.ci95[0])).powi(2))
        .sum();
    let gains: Vec<f64> = of.iter().map(|(_, one)| one.gain_percent).collect();
    // Of those without a prediction nothing is known but that they are of the same kind.
    let missing = 1.0 - of.len() as f64 / before.len().max(1) as f64;
    let between = missing * ci95_half_width(&gains).unwrap_or_default().powi(2);
    let half = (own + between).sqrt();
    let ci95 = [percent - half, percent + half];
    (!of.is_empty()).then_some(Predicted { remedy: name, percent, ci95, connections: of.len() })
}

/// The gain in percent with its interval: of a quotient of two means that do not depend on each other, each
/// scattering as it does (linear in both, Welch's degrees of freedom).
fn measured(old: &[f64], new: &[f64]) -> (Option<f64>, Option<[f64; 2]>) {
    let (Some(was), Some(is)) = (mean(old), mean(new)) else { return (None, None) };
    let quotient = is / was;
    let gain = 100.0 * (1.0 - quotient);
    if old.len() < LEAST || new.len() < LEAST {
        return (Some(gain), None);
    }
    let above: Vec<f64> = new.iter().map(|one| one / was).collect();
    let below: Vec<f64> = old.iter().map(|one| quotient * one / was).collect();
    let interval = welch(&above, &below, 0.95).map(|found| {
        let half = 50.0 * (found.high - found.low);
        [gain - half, gain + half]
    });
    (Some(gain), interval)
}
