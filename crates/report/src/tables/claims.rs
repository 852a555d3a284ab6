//! The tables of a paper's claims, and why they came out as they did.

use crate::document::{Cell, Column, Table, decimals_for};
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
    let words = ["id", "by", "what", "unit"].map(Column::words);
    let limits = ["paper", "low", "high", "tolerance"].map(|name| Column::numbers(name, ""));
    let direction = [
        Column::words("tolerance from"),
        Column::words("direction"),
        Column::numbers("direction measured", ""),
        Column::numbers("direction 95 %", ""),
    ];
    let found = ["measured", "95 %", "runs"].map(|name| Column::numbers(name, ""));
    let verdict =
        [Column::words("verdict"), Column::numbers("runs to decide", ""), Column::words("why")];
    let columns = words.into_iter().chain(limits).chain(direction).chain(found).chain(verdict);
    let rows = claims.iter().map(|claim| {
        let exact = |value: Option<f64>| Cell::text(value.map_or(String::new(), |v| v.to_string()));
        let finite = |value: f64| exact(Some(value).filter(|value| value.is_finite()));
        let (low, high) = claim.allowed.bounds();
        let (tolerance, from) = match &claim.allowed {
            Allowed::Value { tolerance, tolerance_from, .. } => {
                (Some(*tolerance), &**tolerance_from)
            }
            _ => (None, ""),
        };
        let direction = &claim.direction;
        vec![
            Cell::text(&claim.id),
            Cell::text(claim.by.name()),
            Cell::text(&claim.what),
            Cell::text(&claim.unit),
            exact(claim.paper),
            finite(low),
            finite(high),
            exact(tolerance),
            Cell::text(from),
            Cell::text(&direction.what),
            finite(direction.measured),
            exact(direction.ci95),
            finite(claim.measured),
            exact(claim.ci95),
            Cell::Count(u64::from(claim.runs)),
            Cell::Verdict(claim.verdict),
            claim.runs_to_decide.map_or(Cell::Missing, Cell::Count),
            Cell::text(&claim.why),
        ]
    });
    Table { caption: String::new(), columns: columns.collect(), rows: rows.collect() }
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
