//! Knobs of boxes that cache data and retransmit it over the wireless link.

use super::{Inference, LocalRecoveryConfig};
use crate::proxy::Lane;
use ackord_units::{Bytes, Keyword, Knobs, Span};

/// What such boxes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub(crate) struct LocalKnobs {
    /// Duplicate acknowledgments that mean a loss on the wireless link, where no SACK block tells
    #[knob(
        min = 1,
        max = 100,
        unit = "duplicate ACKs",
        default = "1",
        source = "Balakrishnan et al. 1995 §3: the first"
    )]
    dupacks: u32,
    /// Whether what acknowledgments ask for goes ahead of what waits in the link's queue
    #[knob(default = "high", source = "Balakrishnan et al. 1995 §3: at a higher priority")]
    priority: Priority,
    /// Data kept of one connection; what does not fit passes uncached
    #[knob(
        min = Bytes(1), max = Bytes(1_000_000_000), default = "256 kB",
        source = "this project: twice a full queue of 50 packets and 40 ms at 10 Mbit/s"
    )]
    cache: Bytes,
    /// Connections it keeps something of; further ones pass untouched
    #[knob(
        min = 1,
        max = 1_000_000,
        unit = "connections",
        default = "1024",
        source = "this project"
    )]
    pub(in crate::proxy) flows: usize,
    /// The local retransmission timer, SRTT + 4 RTTVAR of the wireless round trip, is never shorter
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "40 ms",
        source = "Linux's shortest delayed acknowledgment; Balakrishnan et al. 1995 have 40 ms too"
    )]
    timer_min: Span,
    /// The local timer is never longer, and this long before the first measured round trip
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "1 s",
        source = "RFC 6298 §2.1"
    )]
    timer_max: Span,
    /// From one local retransmission in vain to the next
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "200 ms",
        source = "Balakrishnan et al. 1995: the persist timer"
    )]
    persist: Span,
    /// How often a segment is retransmitted because acknowledgments ask for it; after that the sender
    /// has to
    #[knob(
        min = 1,
        max = 1_000,
        unit = "retransmissions",
        default = "10",
        source = "ns-2's Snoop: SNOOP_MAX_RXMIT"
    )]
    tries: u32,
    /// A connection is forgotten this long after its last packet
    #[knob(
        min = Span::from_millis(100), max = Span::from_secs(86_400), default = "60 s",
        source = "this project: the longest a sender waits before it tries again (RFC 6298 §2.5)"
    )]
    pub(in crate::proxy) idle_for: Span,
}

/// Whether what acknowledgments ask for goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum Priority {
    High,
    None,
}

impl LocalKnobs {
    /// How a box recovers that infers losses so.
    pub(in crate::proxy) fn recovery(&self, inference: Inference) -> LocalRecoveryConfig {
        LocalRecoveryConfig {
            cache: self.cache,
            dupacks: self.dupacks,
            timer_min: self.timer_min,
            timer_max: self.timer_max,
            persist: self.persist,
            tries: self.tries,
            inference,
            lane: match self.priority {
                Priority::High => Lane::First,
                Priority::None => Lane::Queue,
            },
        }
    }
}
