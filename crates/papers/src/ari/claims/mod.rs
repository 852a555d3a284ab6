//! What the paper claims, with our verdicts and the measured facts behind them.
//!
//! Tolerances, stated beforehand. Times and rates may be off by a tenth, somewhat less than what a tenth more
//! or fewer damaged frames changes (last table), times at least by half of the tenth of a second that the
//! paper's clock shows. Changes by ARI hold within half of the paper's change. "Suddenly slow" is a rate
//! below half of the median.
//!
//! | file | claims about |
//! | --- | --- |
//! | `tables.rs` | Tables 1 to 4: times, rates, changes |
//! | `tails.rs` | Fig. 3 and 4: no sudden slow transfers |
//! | `stalls.rs` | Nagle, write-write-read, bulk and the history |

mod stalls;
mod tables;
mod tails;

use super::bulk::Bulk;
use super::open::Open;
use super::stalls::Stalls;
use super::transfers::Transfers;
use crate::verdict::Stated;
use ackord_measure::Claim;
use ackord_measure::stats::Estimate;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) transfers: &'a Transfers,
    pub(super) stalls: &'a Stalls,
    pub(super) bulk: &'a Bulk,
    pub(super) open: &'a Open,
}

/// Every claim, in the order of the paper.
pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = Vec::new();
    stated.extend(stalls::nagle(findings));
    stated.extend(tables::values(findings));
    stated.extend(tables::changes(findings));
    stated.extend(tables::distant(findings));
    stated.extend(tails::tails(findings));
    stated.extend(stalls::bulk(findings));
    stated.into_iter().map(Stated::judged).collect()
}

/// "1.23 ± 0.04", or without an interval "1.23".
fn shown(estimate: Estimate, decimals: usize) -> String {
    match estimate.ci95 {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}
