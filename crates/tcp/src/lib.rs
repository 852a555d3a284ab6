//! The TCP endpoint, sans-IO: it holds no payload bytes, reads no clock, draws no randomness.
//!
//! | folder | what |
//! | --- | --- |
//! | `connection/` | [`Connection`]: the state machine, one file per input and output |
//! | `sender/`, `receiver/` | its two halves: scoreboard, windows, timers; reassembly, acknowledgment |
//! | `congestion/` | how much may be outstanding: Reno, Tahoe, Westwood+, Vegas, CUBIC, BBR |
//! | `loss/` | when is a segment lost |
//! | `recovery/` | how much may be sent during recovery: Tahoe, Reno, NewReno, SACK with PRR |
//! | `ack/` | when to acknowledge |
//! | `nagle.rs` | whether a small segment waits |
//! | `ecn.rs` | explicit congestion notification: agreement, codepoints, the receiver's echo |
//! | `rtt.rs` | round-trip time and the retransmission timeout |
//! | `registry/` | every choice with its knobs, and how it is built |
//!
//! The five choices are separate traits, picked by value; each gets facts and returns a decision,
//! and only the connection changes its state.
//!
//! Not modelled: telling the application of urgent data (it is delivered in its place), path MTU
//! discovery.

pub mod ack;
mod config;
pub mod congestion;
mod connection;
mod ecn;
pub mod loss;
mod mode;
pub mod nagle;
mod plug_in;
mod receiver;
pub mod recovery;
pub mod registry;
mod rtt;
mod sender;
mod trace;
mod ts_clock;

pub use config::{
    AnswerLimit, Buffers, ClosedWindow, Closing, Config, CwndUse, DuplicateReports, GiveUp,
    IdleRestart, InitialWindowBound, Keepalive, Mechanisms, MissingTimestamps, Offers, Pacing,
    RepeatedSyn, Retries, Sending, ShrunkWindow, SynWithFin, TimeWaitAnswers, TimeWaitResets,
    TimeoutInRecovery, WindowLimits,
};
pub use connection::{
    AgreedOptions, CloseReason, Connection, OutstandingSegments, Polled, RecoveryState, Snapshot,
    Stats, reset_for,
};
pub use ecn::{EcnUse, MarkSeen, Outbound};
pub use mode::{MODE, Mode};
pub use receiver::PayloadPlace;
pub use rtt::{RtoBounds, RttEstimator, Variance, Window};
pub use sender::offload_rate;
pub use ts_clock::TimestampEcho;
