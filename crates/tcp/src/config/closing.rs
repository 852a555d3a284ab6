//! How a connection closes.

use ackord_units::{Keyword, Knobs, Span};

/// How long a connection waits once it closes, and what may end that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Closing {
    /// How long a connection that nobody reads any more waits for the peer's FIN; for ever when
    /// absent
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(3600),
        source = "RFC 9293 has none; Linux's net.ipv4.tcp_fin_timeout"
    )]
    pub fin_wait_2_timeout: Option<Span>,
    /// Whether a reset may cut TIME-WAIT short
    #[knob(default = "accept", source = "RFC 9293 §3.10.7.4; ignore is the remedy of RFC 1337 §4")]
    pub time_wait_resets: TimeWaitResets,
    /// How long TIME-WAIT lasts (2 MSL)
    #[knob(
        min = Span::ZERO, max = Span::from_secs(240), default = "60 s",
        source = "RFC 9293 §3.6.1 asks for 4 min; 60 s is what common stacks use"
    )]
    pub time_wait: Span,
    /// Which segments TIME-WAIT answers besides a FIN: those outside the window; or all except an empty one that
    /// is next in sequence
    #[knob(
        default = "outside-window",
        source = "RFC 9293 §3.10.7.4; others is Linux's (tcp_timewait_state_process)"
    )]
    pub time_wait_answers: TimeWaitAnswers,
}

/// Which segments TIME-WAIT answers besides a FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TimeWaitAnswers {
    /// Those outside the window (RFC 9293 §3.10.7.4).
    OutsideWindow,
    /// All except an empty one that is next in sequence.
    Others,
}

/// Whether a reset may cut TIME-WAIT short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TimeWaitResets {
    /// It may (RFC 9293 §3.10.7.4).
    Accept,
    /// It is ignored (the first remedy of RFC 1337 §4).
    Ignore,
}
