//! The delay of an acknowledgment follows the gaps between segments (Lee et al. 2015, Alg. 1).
//!
//! | file | policy |
//! | --- | --- |
//! | `paper.rs` | [`AdaptivePaper`]: the algorithm as published |
//! | `practical.rs` | [`Adaptive`]: bounded, and told apart from gaps that say nothing |

mod paper;
mod practical;

pub use paper::AdaptivePaper;
pub use practical::Adaptive;

use super::delayed::{COUNTS, Counted, EVERY, RFC_CEILING};
use super::{AckConfig, AckPolicy};
use crate::mode::{MODE, Mode};
use ackord_units::{Knobs, Span};

/// Delayed with a timeout that follows the gaps between segments
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "ack", name = "adaptive", source = "Lee et al. 2015 Alg. 1, Eq. 1")]
pub struct AdaptiveConfig {
    #[knob(like = MODE)]
    mode: Mode,
    /// Weight of the newest gap
    #[knob(min = 0.0, max = 1.0, default = "0.1", source = "Lee et al. 2015 §3.2")]
    pub a: f64,
    /// Timeout to start from in paper mode; practical mode waits for nothing until a gap is known
    #[knob(
        min = Span::ZERO, max = Span::from_secs(10), default = "200 ms",
        source = "Lee et al. 2015 §1: the fixed timeout of Windows"
    )]
    initial_ato: Span,
    /// Shortest wait; practical mode
    #[knob(
        min = Span::ZERO, max = RFC_CEILING, default = "1 ms",
        source = "this project: a timer tick of common kernels"
    )]
    pub ato_min: Span,
    /// Longest wait, and no wait at all where the next segment is expected later; practical mode
    #[knob(
        min = Span::ZERO, max = RFC_CEILING, default = "40 ms",
        source = "this project: no longer than a stock Linux kernel; RFC 5681 §4.2 allows 500 ms"
    )]
    pub ato_max: Span,
    /// Longer gaps are pauses and do not enter the average; the retransmission timeout when absent;
    /// practical mode
    #[knob(min = Span::from_micros(1), max = Span::from_secs(60), source = "this project")]
    pub idle: Option<Span>,
    #[knob(like = EVERY)]
    every: u64,
    /// What `every` counts: a full-sized segment's worth of bytes, or any data segment; paper mode
    #[knob(like = COUNTS)]
    counts: Counted,
}

impl AckConfig for AdaptiveConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        match self.mode {
            Mode::Paper => {
                let policy = AdaptivePaper::new(self.a, self.initial_ato, self.every);
                Box::new(policy.counting(self.counts))
            }
            Mode::Practical => Box::new(Adaptive::new(AdaptiveConfig {
                ato_min: self.ato_min.min(self.ato_max),
                ..*self
            })),
        }
    }
}

/// Eq. 1 of Lee et al. 2015: `(1 - a) * old + a * new`, rounded to the nanosecond.
fn average(a: f64, old: Span, new: Span) -> Span {
    let nanos = (1.0 - a) * old.as_nanos() as f64 + a * new.as_nanos() as f64;
    Span::from_nanos(nanos.round() as u64)
}
