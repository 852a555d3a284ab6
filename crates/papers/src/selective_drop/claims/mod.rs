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

use super::measured::Measured;
use super::tables::Queue;
use crate::claims::Stated;

/// Every claim, in the order of the paper.
pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = sharing::table_1(measured);
    stated.extend(sharing::beside_ns2(measured));
    stated.push(windows::fig_2(&measured.windows_behind(Queue::DropTail)));
    stated.extend(windows::fig_3(measured));
    stated.extend(windows::fig_6(measured));
    stated.extend(sharing::table_2(measured));
    stated.push(sharing::by_equation(&measured.factors));
    stated.extend(sharing::thresholds(&measured.tried));
    stated.extend(windows::fig_9(measured));
    stated.extend(weights::weights(&measured.asked));
    stated.extend(wider::practical(&measured.asked));
    stated.extend(wider::future_work(&measured.asked));
    stated
}
