//! The delay of an acknowledgment follows the gaps between segments (Lee et al. 2015, Alg. 1).
//!
//! | file | policy |
//! | --- | --- |
//! | `paper.rs` | [`AdaptivePaper`]: the algorithm as published |
//! | `practical.rs` | [`Adaptive`]: bounded, and told apart from gaps that say nothing |

mod paper;
mod practical;

pub use paper::AdaptivePaper;
pub use practical::{Adaptive, AdaptiveKnobs};

use ackord_units::Span;

/// Eq. 1 of Lee et al. 2015: `(1 - a) * old + a * new`, rounded to the nanosecond.
fn average(a: f64, old: Span, new: Span) -> Span {
    let nanos = (1.0 - a) * old.as_nanos() as f64 + a * new.as_nanos() as f64;
    Span::from_nanos(nanos.round() as u64)
}
