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
