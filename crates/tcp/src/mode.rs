//! Mechanisms of a paper in two forms.

use ackord_units::{Keyword, Knob, KnobKind};

/// Which form of a paper's mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Mode {
    /// With what the paper leaves open worked out, and bounded for use.
    Practical,
    /// To the letter.
    Paper,
}

/// The knob that says which.
pub const MODE: Knob = Knob {
    name: "mode",
    kind: KnobKind::Choice(Mode::WORDS),
    default: "practical",
    doc: "As published (paper), or bounded for use (practical)",
    source: "this project; docs/tcp.md tells where they differ",
};
