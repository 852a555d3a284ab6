//! How the practical form is set up.

use super::flows::Limits;
use super::reserve::ReserveConfig;
use ackord_units::{Keyword, Span};

/// How the practical form is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PracticalConfig {
    /// How long the mobile may be silent; learnt where nothing is given.
    pub local_timeout: Option<Span>,
    /// From one probe of a faded link to the next.
    pub probe_interval: Span,
    /// When the sender's window is closed.
    pub freeze: Freeze,
    /// The acknowledgments that one in the path holds back; nothing where it stands beside the path.
    pub in_path: Option<ReserveConfig>,
    /// What it may remember.
    pub limits: Limits,
}

/// Whether a hold closes the sender's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Freeze {
    /// Where the connection does not speak SACK.
    WithoutSack,
    /// As in the paper.
    Always,
    /// No.
    Never,
}
