//! Middleboxes: elements at a router between a fixed host and a mobile one, which see both
//! directions of the connections that cross a wireless link.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`OnPath`] and [`InPath`], what a middlebox may do, and [`Proxy`], either |
//! | `outbox.rs` | [`Outbox`]: what it sends by itself, and what it tells |
//! | `stats.rs` | [`ProxyStats`]: counters |
//! | `place.rs` | where one stands in a graph, and when it dies |
//! | `cache.rs` | [`SegmentCache`]: data kept for local retransmission, of bounded size |
//! | `proxy_tcp/` | Proxy TCP, as its paper has it and for use |
//! | `observed.rs` | [`Observed`]: what a passer-by knows of one connection |
//! | `flows.rs` | [`Flows`]: the connections a box knows, at most so many |
//! | `recovery/` | [`LocalRecovery`]: what the wireless link has lost, and sending it again |
//! | `snoop/` | [`Snoop`] |
//! | `m_tcp/` | [`MTcp`] |
//! | `script.rs` | for tests: packets in, packets out |
//! | `split/` | [`Split`]: two connections in place of one |
//!
//! A box never reads a clock: it is told the time and names the instant at which it wants to be
//! called again. It holds no payload: a packet that repeats another's data carries that packet's
//! [`tag`](ackord_wire::Packet::tag), by which a driver could find the bytes.
//!
//! There are two kinds, and the difference is in the types. What stands [beside](OnPath) the path
//! gets a copy of every packet and gives back nothing, so it cannot hold up, change or remove one;
//! it can only send packets of its own. What stands [in the path](InPath) decides what becomes of
//! each. Either may die: packets then pass as if it had never been there, and what it knew, cached
//! or held is gone.
//!
//! Not modelled: the time a box takes to think, and the network between a box beside the path and
//! the router it watches (a LAN, whose delay is some microseconds).

mod cache;
mod flows;
mod observed;
mod outbox;
mod place;
mod recovery;
#[cfg(test)]
mod script;
mod standing;
mod stats;

mechanisms! {
    /// Middleboxes.
    pub enum ProxyChoice: dyn ProxyKnobs {
        mod split => ITcp(ITcpKnobs), Mtcp(MtcpKnobs);
        mod snoop => Snoop(SnoopKnobs);
        mod m_tcp => MTcp(MTcpKnobs);
        pub mod proxy_tcp => ProxyTcp(ProxyTcpKnobs);
    }
}

/// The boxes that leave connections whole: what they know may be lost at any time.
pub fn whole() -> &'static [Mechanism] {
    static WHOLE: LazyLock<Vec<Mechanism>> = LazyLock::new(|| {
        let splits = |mechanism: &&Mechanism| {
            ProxyChoice::named(mechanism.name).is_some_and(|proxy| proxy.config().splits())
        };
        ProxyChoice::MECHANISMS.iter().filter(|one| !splits(one)).copied().collect()
    });
    &WHOLE
}

/// What every middlebox's knobs lead to.
pub trait ProxyKnobs {
    /// The box, knowing nothing.
    fn build(&self) -> Proxy;

    /// Whether it ends the connections that cross it. What one that leaves them whole knows may be lost
    /// at any time.
    fn splits(&self) -> bool {
        false
    }
}

use ackord_units::{Choice, Mechanism, Time, mechanisms};
use ackord_wire::{FlowId, Packet};
use std::fmt::Debug;
use std::sync::LazyLock;

pub use cache::{Cached, Lane, Mark, Repeater, SegmentCache};
pub use flows::{Flows, Kept};
pub use m_tcp::{MTcp, MTcpConfig};
pub use observed::{MobileAck, Observed};
pub use outbox::{Made, Note, Outbox};
pub use place::{Lifetime, ProxyConfig};
pub(crate) use place::{Place, Turn};
pub use recovery::{
    Answer, Inference, LocalRecovery, LocalRecoveryConfig, Stored, WirelessRoundTrip,
};
pub use snoop::{Snoop, SnoopConfig, Suppress};
pub use split::{Hop, SelectiveRepeat, Split, SplitConfig};
pub use standing::Standing;
pub use stats::ProxyStats;

/// The tag of packets that boxes make and that carry no data: the driver has no bytes for them.
pub const NO_PAYLOAD: u64 = u64::MAX;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// Towards the mobile host, over the wireless link.
    Mobile,
    /// From the mobile host, towards the fixed one.
    Fixed,
}

/// What becomes of a packet that met a box in the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It goes on.
    Forward,
    /// It goes on with other contents, to the same destination.
    Rewrite(Packet),
    /// It ends here. A box that wants to send it later [releases](Made::Released) it then.
    Absorb,
}

/// What every middlebox does.
pub trait Middlebox: Debug + Send {
    /// When it wants to be called, if nothing comes first.
    fn deadline(&self) -> Option<Time>;

    /// Its time has come: `now` is at or after [`Middlebox::deadline`].
    fn handle_deadline(&mut self, now: Time, out: &mut Outbox);

    /// A packet that it passed on or sent towards the mobile hosts found no room in the queue of
    /// the link there. Only queues that refuse what arrives tell.
    fn handle_refused(&mut self, _now: Time, _packet: &Packet) {}

    /// Nothing more of this connection will pass, or nothing that should be thought of as the same.
    fn forget(&mut self, _flow: FlowId) {}

    /// Whether it ends the connections that cross it: what comes out has sequence numbers of its
    /// own.
    fn splits(&self) -> bool {
        false
    }

    /// Its counters.
    fn stats(&self) -> &ProxyStats;
}

/// A box beside the path: it sees copies.
pub trait OnPath: Middlebox {
    /// A packet passed. It is on its way already: what goes to `out` comes after it.
    fn observe(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox);

    /// Itself, for graphs that are copied and for boxes that begin anew.
    fn boxed_clone(&self) -> Box<dyn OnPath>;
}

/// A box in the path: every packet waits for what it says.
pub trait InPath: Middlebox {
    /// Decides about a packet. What goes to `out` comes after the packet, if that goes on.
    fn handle(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox)
    -> Verdict;

    /// Itself, for graphs that are copied and for boxes that begin anew.
    fn boxed_clone(&self) -> Box<dyn InPath>;
}

/// A middlebox of either kind.
#[derive(Debug)]
pub enum Proxy {
    /// It sees copies and cannot touch what passes.
    OnPath(Box<dyn OnPath>),
    /// It decides about every packet.
    InPath(Box<dyn InPath>),
}

impl Clone for Proxy {
    fn clone(&self) -> Proxy {
        match self {
            Proxy::OnPath(proxy) => Proxy::OnPath(proxy.boxed_clone()),
            Proxy::InPath(proxy) => Proxy::InPath(proxy.boxed_clone()),
        }
    }
}

impl Proxy {
    /// A packet passes.
    pub fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        match self {
            Proxy::OnPath(proxy) => {
                proxy.observe(now, packet, heading, out);
                Verdict::Forward
            }
            Proxy::InPath(proxy) => proxy.handle(now, packet, heading, out),
        }
    }

    /// Its time has come.
    pub fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        match self {
            Proxy::OnPath(proxy) => proxy.handle_deadline(now, out),
            Proxy::InPath(proxy) => proxy.handle_deadline(now, out),
        }
    }

    /// A packet towards the mobile hosts found no room.
    pub fn handle_refused(&mut self, now: Time, packet: &Packet) {
        match self {
            Proxy::OnPath(proxy) => proxy.handle_refused(now, packet),
            Proxy::InPath(proxy) => proxy.handle_refused(now, packet),
        }
    }

    /// Nothing more of this connection will pass.
    pub fn forget(&mut self, flow: FlowId) {
        match self {
            Proxy::OnPath(proxy) => proxy.forget(flow),
            Proxy::InPath(proxy) => proxy.forget(flow),
        }
    }

    /// Whether it ends the connections that cross it.
    pub fn splits(&self) -> bool {
        match self {
            Proxy::OnPath(proxy) => proxy.splits(),
            Proxy::InPath(proxy) => proxy.splits(),
        }
    }

    /// When it wants to be called.
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Proxy::OnPath(proxy) => proxy.deadline(),
            Proxy::InPath(proxy) => proxy.deadline(),
        }
    }

    /// Its counters.
    pub fn stats(&self) -> &ProxyStats {
        match self {
            Proxy::OnPath(proxy) => proxy.stats(),
            Proxy::InPath(proxy) => proxy.stats(),
        }
    }
}
