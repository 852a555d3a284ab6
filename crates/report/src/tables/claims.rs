//! The tables of a paper's claims, and why they came out as they did.

use crate::document::{Cell, Table, decimals_for};
use crate::table;
use ackord_measure::{Allowed, Claim, Claimant, Verdict};

/// Claims with ours beside them; why they hold or not is [`claim_reasons`].
pub fn claim_table(claims: &[Claim]) -> Table {
    table!(claims.iter(), |claim| {
        let decimals = decimals_for(claim.measured);
        // A number that no chance enters has no interval to be shown.
        let half_width = claim.ci95.filter(|half| *half > 0.0);
        [
            words("claim") => &claim.what,
            words("by") => claim.by.name(),
            words("unit") => &claim.unit,
            numbers("paper", "") => claim.paper,
            words("allowed") => allowed(&claim.allowed),
            numbers("here", "95 % interval") => Cell::Interval { mean: claim.measured, half_width, decimals },
            numbers("runs", "") => claim.runs,
            words("verdict") => Cell::Verdict(claim.verdict),
        ]
    })
}

fn allowed(allowed: &Allowed) -> String {
    let about = |value: f64| Cell::about(value).show();
    match *allowed {
        Allowed::AtLeast { low } => format!("≥ {}", about(low)),
        Allowed::AtMost { high } => format!("≤ {}", about(high)),
        Allowed::Value { value, tolerance, .. } if tolerance <= 0.0 => about(value),
        Allowed::Value { .. } | Allowed::Between { .. } => {
            let (low, high) = allowed.bounds();
            format!("{} to {}", about(low), about(high))
        }
    }
}

/// Claims with everything that their verdicts are made of, number by number, for programs.
pub fn claims_in_full(claims: &[Claim]) -> Table {
    let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let finite = |value: f64| exact(Some(value).filter(|value| value.is_finite()));
    table!(claims, |claim| {
        let (low, high) = claim.allowed.bounds();
        let (tolerance, from) = match &claim.allowed {
            Allowed::Value { tolerance, tolerance_from, .. } => {
                (Some(*tolerance), &**tolerance_from)
            }
            _ => (None, ""),
        };
        let direction = &claim.direction;
        [
            words("id") => &claim.id,
            words("by") => claim.by.name(),
            words("what") => &claim.what,
            words("unit") => &claim.unit,
            numbers("paper", "") => exact(claim.paper),
            numbers("low", "") => finite(low),
            numbers("high", "") => finite(high),
            numbers("tolerance", "") => exact(tolerance),
            words("tolerance from") => from,
            words("direction") => &direction.what,
            numbers("direction measured", "") => finite(direction.measured),
            numbers("direction 95 %", "") => exact(direction.ci95),
            numbers("measured", "") => finite(claim.measured),
            numbers("95 %", "") => exact(claim.ci95),
            numbers("runs", "") => claim.runs,
            words("verdict") => Cell::Verdict(claim.verdict),
            numbers("runs to decide", "") => claim.runs_to_decide,
            words("why") => &claim.why,
        ]
    })
}

/// How many claims of the paper's or of this project's have each verdict, in the order of [`Verdict::ALL`].
pub fn verdicts_of(claims: &[Claim], by: Claimant) -> [usize; 4] {
    Verdict::ALL.map(|verdict| {
        claims.iter().filter(|claim| claim.by == by && claim.verdict == verdict).count()
    })
}

/// Why claims with one of these verdicts hold or not, one per claim.
pub fn claim_reasons(claims: &[Claim], verdicts: &[Verdict]) -> Vec<String> {
    let wanted = claims.iter().filter(|claim| verdicts.contains(&claim.verdict));
    let reason = |claim: &Claim| {
        let runs =
            claim.runs_to_decide.map_or(String::new(), |runs| format!(" (some {runs} runs)"));
        format!("{} {}{runs}: {}", claim.id, claim.verdict.name(), claim.why)
    };
    wanted.filter(|claim| !claim.why.is_empty()).map(reason).collect()
}
