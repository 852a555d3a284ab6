//! When a connection is given up, and how a silent peer is watched.

use ackord_units::{Keyword, Knobs, Span};

/// How often, and for how long, a peer that does not answer is tried (RFC 9293 §3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Retries {
    /// Timeouts in a row after which the connection is given up
    #[knob(
        name = "max_retransmissions",
        min = 1,
        max = 255,
        unit = "times",
        default = "15",
        source = "RFC 9293 §3.8.3 (R2)"
    )]
    pub max: u32,
    /// Timeouts of a SYN after which opening is given up; max_retransmissions when absent
    #[knob(
        name = "syn_retransmissions",
        min = 1,
        max = 255,
        unit = "times",
        source = "RFC 9293 §3.8.3 asks for three minutes at least"
    )]
    pub syn: Option<u32>,
    /// Timeouts of a SYN-ACK after which the connection is forgotten; max_retransmissions when
    /// absent
    #[knob(
        name = "syn_ack_retransmissions",
        min = 1,
        max = 255,
        unit = "times",
        source = "RFC 9293 §3.8.3"
    )]
    pub syn_ack: Option<u32>,
    /// The first timeouts of a SYN that do not double the next one
    #[knob(
        name = "syn_linear_timeouts",
        min = 0,
        max = 255,
        unit = "times",
        default = "0",
        source = "RFC 6298 §5.5 doubles each; Linux's net.ipv4.tcp_syn_linear_timeouts"
    )]
    pub syn_linear: u32,
    /// Timeouts in a row after which the application is told that delivery is in trouble
    #[knob(
        name = "r1_retransmissions",
        min = 1,
        max = 255,
        unit = "times",
        default = "3",
        source = "RFC 9293 §3.8.3 (R1)"
    )]
    pub r1: u32,
    /// How long data may stay unacknowledged before the connection is given up; as long as
    /// max_retransmissions allows when absent. Looked at when a timer expires; a closed window
    /// whose probes are answered does not count
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(86_400),
        source = "RFC 9293 §3.9.1.2, RFC 5482 §2"
    )]
    pub user_timeout: Option<Span>,
    /// What a peer hears when an open connection is given up because it does not answer: a reset,
    /// or nothing. Keepalive ends with a reset in any case
    #[knob(
        default = "reset",
        source = "RFC 9293 §3.8.3 says \"close\"; reset is BSD's, silence is Linux's"
    )]
    pub give_up: GiveUp,
}

/// What a peer hears of a connection that is given up because it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum GiveUp {
    /// A reset, in case it hears again.
    Reset,
    /// Nothing: it finds out when it sends something.
    Silence,
}

/// How a silent peer is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Keepalive {
    /// Whether a peer that is silent for long is probed
    #[knob(
        name = "keepalive",
        default = "off",
        source = "RFC 9293 §3.8.4 (off by default: MUST-25)"
    )]
    pub wanted: bool,
    /// Silence after which the first keepalive probe leaves
    #[knob(
        name = "keepalive_idle", min = Span::from_millis(1), max = Span::from_secs(604_800), default = "7200 s",
        source = "RFC 9293 §3.8.4 (two hours at least by default: MUST-28)"
    )]
    pub idle: Span,
    /// From one keepalive probe to the next
    #[knob(
        name = "keepalive_interval", min = Span::from_millis(1), max = Span::from_secs(86_400), default = "75 s",
        source = "4.4BSD's and Linux's, RFC 9293 names none"
    )]
    pub interval: Span,
    /// Keepalive probes without an answer after which the connection is given up
    #[knob(
        name = "keepalive_probes",
        min = 1,
        max = 255,
        unit = "probes",
        default = "9",
        source = "Linux's; RFC 9293 §3.8.4 asks for more than one (MUST-29)"
    )]
    pub probes: u32,
}
