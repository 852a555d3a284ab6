//! What segments are answered that are refused, incomplete or come again.

use ackord_units::{Keyword, Knobs, Span};

/// How many acknowledgments may answer segments without data that were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct AnswerLimit {
    /// How many segments without data that are refused may be answered within
    /// challenge_ack_interval: challenges, and what lies outside the window
    #[knob(
        name = "challenge_ack_limit",
        min = 1,
        max = 1_000_000,
        unit = "answers",
        default = "10",
        source = "RFC 5961 §7's example"
    )]
    pub most: u32,
    /// The interval that challenge_ack_limit speaks of; zero lifts the limit
    #[knob(
        name = "challenge_ack_interval", min = Span::ZERO, max = Span::from_secs(3600), default = "5 s",
        source = "RFC 5961 §7's example"
    )]
    pub per: Span,
}

/// What becomes of a segment without a timestamp where both ends have agreed on timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum MissingTimestamps {
    /// It is taken in; PAWS and round-trip samples do without it.
    Accept,
    /// It is dropped, and its sender is told nothing (RFC 7323 §3.2).
    Drop,
}

/// What becomes of a SYN that also carries FIN, at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum SynWithFin {
    /// It opens a connection; the FIN is left to be retransmitted (RFC 9293 §3.10.7.2).
    Accept,
    /// It is dropped without an answer.
    Drop,
}

/// What answers a SYN that comes again before the handshake is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum RepeatedSyn {
    /// An acknowledgment, as any segment outside the window (RFC 9293 §3.10.7.4); the SYN-ACK
    /// waits for its timer.
    Acknowledged,
    /// The SYN-ACK again, and its timer starts anew.
    #[keyword = "syn-ack"]
    SynAckAgain,
}
