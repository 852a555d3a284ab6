//! The one vocabulary of what happened in a run.
//!
//! Endpoints and path elements describe what they do as [`Event`]s to a [`Sink`]; measures fold
//! them, captures write them. Handlers are generic over the sink, so with [`NoSink`] the calls
//! compile to nothing.
//!
//! | file | what |
//! | --- | --- |
//! | `event.rs` | every event, one struct-like variant each |
//! | `kinds.rs` | what their fields choose from: states, kinds, reasons |
//! | `sink.rs` | [`Sink`], [`NoSink`], fan-out to two sinks, a recorder for tests |
//!
//! Order: the events of one endpoint or one link come in order of time. Across links a dequeue may
//! be told late (a FIFO link works out its departures when it is next looked at), never early.

mod event;
mod kinds;
mod sink;

pub use event::{EndpointId, Event, LinkId, ProxyId};
pub use kinds::{
    AccessOutcome, CwndReason, DropReason, LossReason, ProxyAct, ProxySending, RecoveryKind,
    RefusalAnswer, RefusalReason, SegmentKind, SpuriousEvidence, TapPoint, TcpState,
};
pub use sink::{NoSink, Passed, Recorder, Sink, Stamped, Waited};
