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

use super::measured::Measured;
use crate::claims::Stated;

/// Every claim, in the order of the paper.
pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = stalls::nagle(measured);
    stated.extend(tables::values(&measured.transfers));
    stated.extend(tables::changes(&measured.transfers));
    stated.extend(tables::distant(&measured.transfers));
    stated.extend(tails::tails(&measured.transfers));
    stated.extend(stalls::bulk(measured));
    stated
}
