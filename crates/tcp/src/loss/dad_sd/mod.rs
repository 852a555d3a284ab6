//! TCP-DAD-SD: a smoothed threshold with a detection timer (Park et al. 2008).
//!
//! | file | mode |
//! | --- | --- |
//! | `paper.rs` | what the paper says, in two readings |
//! | `practical.rs` | the same idea for a sender that has SACK, DSACK and timestamps |
//! | `retransmitted.rs` | practical mode: when a retransmitted segment is lost once more |
//! | `smoothed.rs` | mean and deviation of what has been observed |
//! | `overtaken.rs` | since when a segment has been overtaken |

mod overtaken;
mod paper;
mod practical;
mod retransmitted;
mod smoothed;

pub use paper::{DadSdPaper, PaperUndo};
pub use practical::DadSd;

use super::dad::FLOOR;
use super::{LossConfig, LossDetector};
use crate::mode::{MODE, Mode};
use ackord_units::{Knobs, Span};

/// TCP-DAD-SD: a smoothed threshold with a detection timer
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "dad-sd", source = "Park et al. 2008")]
pub struct DadSdConfig {
    /// As we would have it (extent and reordering delay, mean and deviations, SACK, DSACK, timestamps,
    /// exact undo), or what the paper says
    #[knob(like = MODE, source = "Park et al. 2008 Table 1, Eq. 1-3 for paper")]
    mode: Mode,
    /// Weight of what was known against the reordering just seen
    #[knob(
        min = 0.0,
        max = 1.0,
        default = "0.5",
        source = "ours: the paper gives no value; after a reset to 3 the threshold has to find back within \
                  a few events, for every real loss resets it"
    )]
    alpha: f64,
    /// In paper mode: double cwnd after a spurious fast retransmit only, or on every verified
    /// reordering
    #[knob(
        default = "text",
        source = "Park et al. 2008 §3.1 for text, Table 1 lines 13-18 for literal-table"
    )]
    undo: PaperUndo,
    #[knob(like = FLOOR)]
    floor: u32,
    /// In practical mode, with SACK: tail loss probes as rack sends them
    #[knob(
        default = "on",
        source = "RFC 8985 §7; the paper leaves a lost tail to the retransmission timer"
    )]
    tlp: bool,
}

impl LossConfig for DadSdConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        match self.mode {
            Mode::Practical => Box::new(DadSd::new(self.alpha, self.tlp.then_some(MAX_ACK_DELAY))),
            Mode::Paper => Box::new(DadSdPaper::new(self.alpha, self.undo, self.floor)),
        }
    }
}

/// How long a peer may hold back the acknowledgment of a lone segment: the default of rack's knob.
const MAX_ACK_DELAY: Span = Span::from_millis(200);
