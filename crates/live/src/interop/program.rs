//! What an application does on a connection, as a list of steps that our end and the kernel's both
//! understand (`actor.rs` and `peer.py`).

use ackord_units::Span;
use std::fmt;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Sends the next so many bytes of its stream.
    Send(u64),
    /// Receives so many bytes.
    Receive(u64),
    /// Receives until the peer has closed.
    ReceiveToEnd,
    /// Sends and receives at the same time, until both are done.
    Exchange { send: u64, receive: u64 },
    /// Sends back what arrives, so many bytes of it.
    Echo(u64),
    /// Sends back what arrives until the peer has closed.
    EchoToEnd,
    /// Closes its sending side.
    Shut,
    /// Does nothing, and reads nothing.
    Pause(Span),
    /// Waits until everything it has sent is acknowledged.
    Drained,
    /// Aborts the connection.
    Reset,
    /// Receives until the peer aborts.
    AwaitReset,
    /// Closes.
    Close,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Send(bytes) => write!(f, "send {bytes}"),
            Step::Receive(bytes) => write!(f, "receive {bytes}"),
            Step::ReceiveToEnd => f.write_str("receive end"),
            Step::Exchange { send, receive } => write!(f, "exchange {send} {receive}"),
            Step::Echo(bytes) => write!(f, "echo {bytes}"),
            Step::EchoToEnd => f.write_str("echo end"),
            Step::Shut => f.write_str("shut"),
            Step::Pause(span) => write!(f, "pause {}", span.as_nanos() / 1_000_000),
            Step::Drained => f.write_str("drained"),
            Step::Reset => f.write_str("reset"),
            Step::AwaitReset => f.write_str("await-reset"),
            Step::Close => f.write_str("close"),
        }
    }
}
