//! Media that several link directions share: who may transmit when, and what becomes of it.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | what the graph asks of any medium |
//! | `context.rs` | what it works on, and what it counts |
//! | `wifi/` | [`WifiConfig`]: IEEE 802.11 with its contention, link acknowledgments and retries |
//!
//! A link on a medium keeps its queue, delay and loss, but not its transmitter: the medium takes
//! packets out of the queue when its turn comes and says when they will be at the far end. Links
//! without a medium know nothing of all this.
//!
//! A medium has one deadline in the graph's schedule, after those of all links: at one instant
//! packets arrive before a medium moves. It draws random numbers only there, so when and how often
//! a graph is polled changes nothing.

mod context;
pub(crate) mod wifi;

use ackord_events::{LinkId, Sink};
use ackord_units::{Rate, Span, Time};

use wifi::medium::Wifi;

pub(crate) use context::MediumContext;
pub use context::MediumStats;
pub use wifi::config::{Aggregation, Background, OnOff, WifiConfig};

/// What a medium is.
#[derive(Clone, Debug)]
pub enum MediumConfig {
    /// IEEE 802.11.
    Wifi(Box<WifiConfig>),
}

/// A medium at work.
#[derive(Clone, Debug)]
pub(crate) enum Medium {
    Wifi(Box<Wifi>),
}

impl Medium {
    /// A medium for these links, by number and rate, in their order.
    pub(crate) fn new(config: MediumConfig, links: &[(u32, Rate)]) -> Medium {
        match config {
            MediumConfig::Wifi(config) => Medium::Wifi(Box::new(Wifi::new(*config, links))),
        }
    }

    /// When it has something to do.
    pub(crate) fn due_at(&self) -> Time {
        match self {
            Medium::Wifi(wifi) => wifi.due_at(),
        }
    }

    /// The links on it.
    pub(crate) fn links(&self) -> impl Iterator<Item = u32> + '_ {
        match self {
            Medium::Wifi(wifi) => wifi.links(),
        }
    }

    /// A packet waits in the queue of `link`.
    pub(crate) fn wake(&mut self, now: Time, link: u32) {
        match self {
            Medium::Wifi(wifi) => wifi.wake(now, link),
        }
    }

    /// Does what is due at `now`.
    pub(crate) fn run<S: Sink>(&mut self, now: Time, context: &mut MediumContext<'_, S>) {
        match self {
            Medium::Wifi(wifi) => wifi.run(now, context),
        }
    }

    /// Packets that have left a queue and are not on a wire yet.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Medium::Wifi(wifi) => wifi.held(),
        }
    }

    pub(crate) fn stats(&self) -> &MediumStats {
        match self {
            Medium::Wifi(wifi) => wifi.stats(),
        }
    }

    /// How much of the counted time lies beyond `now`.
    pub(crate) fn still_busy_for(&self, now: Time) -> Span {
        match self {
            Medium::Wifi(wifi) => wifi.still_busy_for(now),
        }
    }

    /// The same for one link on it.
    pub(crate) fn link_still_busy_for(&self, link: LinkId, now: Time) -> Span {
        match self {
            Medium::Wifi(wifi) if wifi.transmits(link.0) => wifi.still_busy_for(now),
            Medium::Wifi(_) => Span::ZERO,
        }
    }
}
