//! What the driver knows about a run and events do not repeat.

use ackord_units::{Bytes, Rate, Span, Time};
use ackord_wire::Side;
use std::collections::BTreeMap;

/// The names behind the numbers that events carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLabels {
    /// One per flow; the index is its `FlowId`.
    pub flows: Vec<FlowLabel>,
    /// One per direction of a link; the index is its `LinkId`.
    pub links: Vec<LinkLabel>,
    /// One per middlebox that is there; the index is its `ProxyId`.
    pub proxies: Vec<ProxyLabel>,
    /// Length of the run as planned.
    pub duration: Span,
    /// Whether links may be out: only then is it worth watching how flows come back.
    pub outages: bool,
}

/// What a flow is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowKind {
    /// A TCP connection.
    #[default]
    Connection,
    /// Datagrams, one way.
    Datagrams,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLabel {
    /// Its name in the scenario.
    pub name: String,
    /// What it is.
    pub kind: FlowKind,
    /// Family to mechanism, e.g. "congestion" to "cubic".
    pub mechanisms: BTreeMap<String, String>,
    /// What its endpoints began with; nothing where they are not TCP's.
    pub profile: Option<ProfileLabel>,
    /// The end that sends the data to be measured.
    pub sends: Side,
    /// How much it has to send, if there is an end to it.
    pub size: Option<Bytes>,
    /// When it starts (the opening SYN, not the first data).
    pub started_at: Time,
}

/// The whole stacks by name that the ends of a flow began with, and where they differ from these.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProfileLabel {
    /// That of the end whose data is measured.
    pub sender: String,
    /// That of the other end.
    pub receiver: String,
    /// Of [`FlowLabel::mechanisms`] those not as in the profile: each with the knobs that differ.
    pub differs: BTreeMap<String, String>,
}

/// A middlebox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyLabel {
    /// Its name in the scenario.
    pub name: String,
    /// Which box it is, with what sets it apart, e.g. "snoop, cache 64 KiB".
    pub kind: String,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkLabel {
    /// Its name in the scenario.
    pub name: String,
    /// Nominal rate; zero stands for a link without one, whose utilisation is unknown.
    pub rate: Rate,
    /// Its queue's name with what sets it apart, e.g. "drop-tail, 50 packets".
    pub queue: String,
}
