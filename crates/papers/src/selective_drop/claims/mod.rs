//! What the paper claims, with our verdicts and the measured facts behind them.
//!
//! A number of the paper's may be off by a tenth; counts have no tolerance.
//!
//! | file | claims about |
//! | --- | --- |
//! | `sharing.rs` | Tables 1 and 2, Q_thresh, ns-2 |
//! | `weights.rs` | unequal shares |
//! | `wider.rs` | every queue beyond the paper's tables |
//! | `windows.rs` | Fig. 2, 3, 6 and 9 |

mod sharing;
mod weights;
mod wider;
mod windows;

use super::cwnd_figures::Windows;
use super::endpoints::Changed;
use super::factor;
use super::fig3::Window;
use super::fig6::Filling;
use super::ns2::{Band, Beside};
use super::tables::Row;
use super::threshold::Tried;
use super::wider::Asked;
use crate::verdict::Stated;
use ackord_measure::Claim;

/// How far a number of the paper may be off.
const TOLERANCE: f64 = 0.1;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) rows: &'a [Row],
    pub(super) tried: &'a [Tried],
    pub(super) factors: &'a [factor::Tried],
    pub(super) changed: &'a [Changed],
    pub(super) windows: &'a [Window],
    pub(super) fillings: &'a [Filling],
    pub(super) beside: &'a [Beside],
    pub(super) fig_2: &'a [Windows],
    pub(super) fig_9: &'a [Windows],
    pub(super) band: &'a Band,
    pub(super) asked: &'a [Asked],
}

/// Every claim, in the order of the paper.
pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = Vec::new();
    stated.extend(sharing::table_1(findings));
    stated.extend(sharing::beside_ns2(findings));
    stated.extend(windows::fig_2(findings));
    stated.extend(windows::fig_3(findings));
    stated.extend(windows::fig_6(findings));
    stated.extend(sharing::table_2(findings));
    stated.extend(sharing::by_equation(findings));
    stated.extend(sharing::thresholds(findings));
    stated.extend(windows::fig_9(findings));
    stated.extend(weights::weights(findings.asked));
    stated.extend(wider::practical(findings.asked));
    stated.extend(wider::future_work(findings.asked));
    stated.into_iter().map(Stated::judged).collect()
}
