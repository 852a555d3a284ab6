//! What a link is made of.

use super::bucket::TokenBucket;
use super::corruption::{Corruption, Duplication};
use super::jitter::Jitter;
use super::loss::LossModel;
use super::outage::Outage;
use super::pace::Pace;
use crate::queue::Queue;
use ackord_units::{Rate, Span};
use ackord_wire::NodeId;

/// The medium of a graph that a link may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumId(pub u32);

/// What a link is made of.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// The node whose packets it takes.
    pub from: NodeId,
    /// The node it leads to.
    pub to: NodeId,
    /// How fast the transmitter is; not zero.
    pub rate: Rate,
    /// When the transmitter sends, where that is not `rate`.
    pub pace: Option<Pace>,
    /// Propagation delay, from the end of a packet's transmission to its arrival.
    pub delay: Span,
    /// How the delay is drawn, in place of `delay`; nothing for a delay that never changes.
    pub jitter: Option<Jitter>,
    /// What drops packets before the queue; nothing for a link that takes all that come.
    pub policer: Option<TokenBucket>,
    /// What waits for the transmitter.
    pub queue: Queue,
    /// When it is out and what that does; nothing for a link that never is.
    pub outage: Option<Outage>,
    /// What the medium loses; nothing for a perfect medium.
    pub loss: Option<LossModel>,
    /// What it damages; nothing for a link that delivers packets as they were.
    pub corruption: Option<Corruption>,
    /// What arrives twice; nothing where every packet arrives once.
    pub duplication: Option<Duplication>,
    /// The medium it shares, which then does the transmitting at `rate`; nothing for a link with a
    /// transmitter of its own.
    pub medium: Option<MediumId>,
    /// Whether captures are taken at its two ends: whether it tells of every packet that enters and
    /// leaves it, by [`LinkIn`](ackord_events::TapPoint::LinkIn) and
    /// [`LinkOut`](ackord_events::TapPoint::LinkOut) events.
    pub tap: bool,
}
