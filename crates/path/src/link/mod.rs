//! One direction of a link: a queue, a transmitter of a fixed rate, a propagation delay, a medium.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs`, `config.rs` | the link and its configuration |
//! | `propagation.rs` | how long packets travel, and whether in order |
//! | `transmitter.rs` | what happens before a packet is on the wire |
//! | `ahead.rs` | the same for ordinary links: all is known when a packet comes |
//! | `hop.rs` | such links where the graph looks ahead: all is known before a packet comes |
//! | `untold.rs` | what those tell, late |
//! | `arrival.rs` | what happens after that |
//! | `telling.rs` | the events of both |
//! | `change.rs` | changes to a link in the course of a run |
//! | `serializer.rs` | how long a packet's transmission takes |
//! | `wire.rs` | the packets whose transmission has begun |
//! | `extras.rs` | what a link may have beside all this, and in which order it acts |
//! | `outage.rs` | [`Outage`]: times in which a link is out |
//! | `windows.rs`, `sojourn.rs` | [`Windows`], [`Sojourn`]: which times those are |
//! | `bucket.rs` | [`TokenBucket`]: what a policer drops by, and a [`Shaper`] holds back by |
//! | `pace/` | [`Pace`]: transmitters that are not of one rate |
//! | `loss.rs`, `gilbert.rs` | [`LossModel`]: what the medium loses |
//! | `corruption.rs` | [`Corruption`], [`Duplication`]: what it damages, and what arrives twice |
//! | `jitter.rs` | [`Jitter`]: a propagation delay that is drawn at random |
//! | `stats.rs` | [`LinkStats`]: plain counters, always on |
//!
//! The transmitter is lazy. It keeps the instant at which it becomes free, and catches up whenever
//! the link is looked at: each packet leaves the queue at the exact instant the one before it was
//! out, then sits on the wire until it arrives. So a packet costs one event, its arrival.
//!
//! *A queue with packets in it implies packets on the wire*: the one being transmitted is there,
//! and it arrives no earlier than its transmission ends, which is when the next one leaves the
//! queue. The next arrival is therefore always the head of the wire.
//!
//! Where packets may overtake one another that does not hold: the next one out may arrive before
//! everything that is on the wire. Nor does it where a transmitter may have to wait for something
//! else than the packet before, such as the end of an outage. Such a link is also due whenever its
//! transmitter becomes free with packets waiting, so a packet that waited costs two events there.
//!
//! At the same instant the transmitter goes first: a packet that arrives just as a place in the
//! queue becomes free finds it free.

mod ahead;
mod arrival;
mod bucket;
mod change;
mod config;
mod corruption;
mod extras;
mod gilbert;
mod hop;
mod jitter;
mod loss;
mod outage;
mod pace;
mod propagation;
mod serializer;
mod sojourn;
mod stats;
mod telling;
mod transmitter;
mod untold;
mod windows;
mod wire;

use crate::packets::Slot;
use crate::queue::{DropList, Queue, QueueDiscipline};
use crate::routes::Row;
use ackord_events::LinkId;
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use extras::Extras;
use propagation::Propagation;
use serializer::Serializer;
use std::collections::VecDeque;
use wire::Wire;

pub use bucket::{Shaper, TokenBucket};
pub use change::{ChangeRefused, LinkChange};
pub use config::{LinkConfig, MediumId};
pub use corruption::{CaughtBy, Corruption, Duplication};
pub use gilbert::{Changes, GilbertConfig, GilbertElliott};
pub(crate) use hop::{Beyond, Hop, Load, Pass};
pub use jitter::{DelayDistribution, DelayShape, Jitter, JitterConfig, PacketOrder, Redraw};
pub use loss::{ErrorRate, LossModel, LossProcess};
pub use outage::{Outage, OutageEffect};
pub use pace::Pace;
pub use pace::cellular::{Cellular, CellularConfig, Request};
pub(crate) use pace::opportunities::OPPORTUNITY_BYTES;
pub use pace::opportunities::Opportunities;
pub use pace::steps::{RateSteps, RateStepsConfig};
pub use sojourn::{Sojourn, SojournShape};
pub use stats::{DropCounts, LinkStats};
pub use windows::{Window, Windows};

/// One direction of a link at work.
// In this order: what every arrival asks for comes first, in as few lines of the processor's cache as it can.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct Link {
    wire: Wire,
    /// What it is due for, kept here because it is asked for at every turn.
    attends: Attends,
    /// Packets in the queue, kept here because it is asked for at every turn.
    waiting: u32,
    to: NodeId,
    tap: bool,
    /// The link whose queue watches what comes out of this one.
    watcher: Option<LinkId>,
    /// Where packets go from there.
    onward: Row,
    /// When the transmitter has finished what it has begun; never, where a medium transmits. Where the link
    /// plans ahead, when it will have finished all that it was given.
    free_at: Time,
    /// Where the link plans ahead and packets wait, when the first of them is transmitted.
    next_at: Time,
    extras: Option<Box<Extras>>,
    serializer: Serializer,
    queue: Queue,
    stats: LinkStats,
    id: LinkId,
    medium: Option<MediumId>,
    propagation: Propagation,
    /// Those of them that go before the others, with when they came.
    first: VecDeque<(Slot, Time)>,
    drops: DropList,
}

/// What a link has to be looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attends {
    /// Arrivals: what the transmitter does in between can be made up for then.
    Arrivals,
    /// Arrivals, and it is known when a packet comes when it will arrive, this long after its transmission.
    PlannedArrivals(Span),
    /// Its transmitter too, whenever it becomes free with packets waiting: the next packet out may
    /// arrive before those on the wire, or there may be none on it.
    TransmitterToo,
}

/// What a link knows of the graph around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The routes of the node it leads to.
    pub(crate) onward: Row,
    /// The opposite link, if its queue watches what comes out of this one.
    pub(crate) watcher: Option<LinkId>,
    /// Whether transmissions can be precomputed: no middlebox sends packets before those that wait, and the link
    /// stays as it is.
    pub(crate) may_plan: bool,
}

impl Link {
    pub(crate) fn new(id: LinkId, mut config: LinkConfig, place: Place) -> Link {
        let propagation = Propagation::new(config.delay, config.jitter.take());
        let extras = Extras::of(&mut config);
        let may_wait = extras.as_ref().is_some_and(|extras| extras.may_wait());
        let attends = match propagation {
            Propagation::Free(_) => Attends::TransmitterToo,
            _ if may_wait => Attends::TransmitterToo,
            Propagation::Constant(delay)
                if extras.is_none() && ahead::is_planned(&config, place) =>
            {
                Attends::PlannedArrivals(delay)
            }
            Propagation::Constant(_) | Propagation::Changed(_) | Propagation::InOrder(_) => {
                Attends::Arrivals
            }
        };
        Link {
            id,
            to: config.to,
            onward: place.onward,
            watcher: place.watcher,
            serializer: Serializer::new(config.rate),
            propagation,
            attends,
            medium: config.medium,
            free_at: if config.medium.is_some() { Time::NEVER } else { Time::ZERO },
            next_at: Time::ZERO,
            waiting: config.queue.length().packets,
            first: VecDeque::new(),
            queue: config.queue,
            extras,
            tap: config.tap,
            wire: Wire::default(),
            drops: DropList::default(),
            stats: LinkStats::default(),
        }
    }

    pub(crate) fn to(&self) -> NodeId {
        self.to
    }

    #[inline]
    pub(crate) fn onward(&self) -> Row {
        self.onward
    }

    #[inline]
    pub(crate) fn watcher(&self) -> Option<LinkId> {
        self.watcher
    }

    pub(crate) fn stats(&self) -> &LinkStats {
        &self.stats
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn queue_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }

    #[inline]
    pub(crate) fn medium(&self) -> Option<MediumId> {
        self.medium
    }

    /// Whether its queue has packets.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Whether its transmitter may have to wait although it is free.
    pub(crate) fn may_wait(config: &LinkConfig) -> bool {
        extras::may_wait(config.outage.as_ref(), config.pace.as_ref())
    }

    /// How long the transmitter has been sending, up to `now`, if it has caught up with `now`. Not
    /// for links on a medium.
    pub(crate) fn busy_for(&self, now: Time) -> Span {
        let until = match &self.extras {
            Some(extras) => extras.busy_until,
            None if self.is_planned() && self.waiting > 0 => self.next_at,
            None => self.free_at,
        };
        self.stats.busy_for.saturating_sub(until.saturating_since(now))
    }

    /// Its propagation delay, if it plans ahead.
    pub(crate) fn planned_delay(&self) -> Option<Span> {
        match self.attends {
            Attends::PlannedArrivals(delay) => Some(delay),
            Attends::Arrivals | Attends::TransmitterToo => None,
        }
    }

    /// Whether packets may come out damaged.
    pub(crate) fn may_damage(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.may_damage())
    }

    /// Packets in the queue and on the wire.
    pub(crate) fn in_flight(&self) -> u64 {
        let beside = if self.is_planned() { 0 } else { self.waiting };
        u64::from(beside) + self.wire.len() as u64
    }
}
