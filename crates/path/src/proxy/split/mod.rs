//! Split connections: the box ends the fixed host's TCP connection in the mobile's name and opens
//! one of its own to the mobile in the fixed host's name (I-TCP, Bakre and Badrinath 1995; MTCP,
//! Yavatkar and Bhagawat 1994).
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Split`]: the box, its connections by flow |
//! | `config.rs` | what it is made of |
//! | `relay.rs` | one connection of the hosts, as two: data, FINs and resets go over |
//! | `half.rs` | one of the two: a [`Connection`](ackord_tcp::Connection) in another's name |
//! | `selective_repeat.rs` | what a sender on the wireless hop does that knows no congestion |
//!
//! Each half is an ordinary endpoint with timers, windows and options of its own; what one has
//! received in order is written into the other. So the fixed host is acknowledged as soon as the
//! *box* has its data, which the mobile may never get: the acknowledgment has lost its meaning, and
//! that is what the counters of [`ProxyStats`] show. The fixed host's SYN is answered before the
//! mobile has been asked; if the mobile refuses, or stays silent for as long as the wireless half
//! tries, the fixed host's connection is reset.
//!
//! Without a limit the box holds whatever the wired path brings faster than the wireless one takes
//! it, as the papers have it. With one, both halves announce no more than is free of it, so a
//! connection holds at most twice the limit (once each way) and its sender waits.
//!
//! If the box dies, what it held is gone and the hosts' sequence numbers do not agree: neither
//! takes the other's segments, each answers them with acknowledgments that the other cannot take
//! either, and the connection ends when somebody's patience does.
//!
//! Not modelled: handing a connection over to another base station, and the calls by which the
//! papers' mobile host asks for one to be split (here the box sees every SYN pass). Payload: the
//! endpoints count bytes and hold none, so packets of the box carry [`NO_PAYLOAD`]; a driver with
//! real bytes would have to keep those of absorbed packets by stream offset
//! ([`PayloadPlace`](ackord_tcp::PayloadPlace)) until the other half has them
//! acknowledged, and fill them into what that half sends
//! ([`Connection::send_offset`](ackord_tcp::Connection::send_offset)). A SYN that repeats, with the
//! same hosts and ports, a connection whose state is kept is that connection's.
//!
//! [`NO_PAYLOAD`]: super::NO_PAYLOAD

mod config;
mod half;
mod knobs;
mod relay;
mod selective_repeat;

use super::{Heading, InPath, Middlebox, Outbox, ProxyStats, Verdict};
use crate::Schedule;
use ackord_units::Time;
use ackord_wire::{FlowId, Packet};
use relay::{Life, Relay, opens};
use std::collections::BTreeMap;

pub use config::SplitConfig;
pub use knobs::{ITcpKnobs, MtcpKnobs};
pub use selective_repeat::{Hop, SelectiveRepeat};

/// A box that splits the connections that are opened through it.
#[derive(Clone, Debug)]
pub struct Split {
    config: SplitConfig,
    stats: ProxyStats,
    /// Where in `relays` a flow's is.
    places: BTreeMap<FlowId, u32>,
    relays: Vec<Option<(FlowId, Relay)>>,
    free: Vec<u32>,
    /// When which relay is due.
    timers: Schedule,
}

impl Split {
    /// A box that knows nothing yet.
    pub fn new(config: SplitConfig) -> Split {
        Split {
            config,
            stats: ProxyStats::default(),
            places: BTreeMap::new(),
            relays: Vec::new(),
            free: Vec::new(),
            timers: Schedule::new(0),
        }
    }

    /// The place of the relay that a packet is for, if it has one or gets one.
    fn place_for(&mut self, now: Time, packet: &Packet, heading: Heading) -> Option<u32> {
        let segment = packet.tcp.as_ref()?;
        let known = self.places.get(&packet.flow).copied();
        if !opens(segment) {
            return known;
        }
        match known.map(|place| (place, self.life(place, now))) {
            Some((place, Life::Running)) => return Some(place),
            // A new connection of the same hosts and ports.
            Some((place, _)) => self.forget(place),
            None => {}
        }
        if self.places.len() >= self.config.flows as usize && !self.forget_one_that_is_over(now) {
            self.stats.flows_refused += 1;
            return None;
        }
        let relay = Relay::open(now, packet, segment, heading, &self.config);
        Some(self.keep(packet.flow, relay))
    }

    fn keep(&mut self, flow: FlowId, relay: Relay) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.relays.push(None);
            self.timers.grow(self.relays.len());
            (self.relays.len() - 1) as u32
        });
        self.relays[place as usize] = Some((flow, relay));
        self.places.insert(flow, place);
        self.stats.set_flows(self.places.len());
        place
    }

    fn forget(&mut self, place: u32) {
        if let Some((flow, relay)) = self.relays[place as usize].take() {
            self.places.remove(&flow);
            self.free.push(place);
            self.timers.clear(place);
            let held = relay.counted();
            self.stats.cached -= held.bytes;
            self.stats.acknowledged_early -= held.acknowledged_early;
            self.stats.set_flows(self.places.len());
        }
    }

    /// Makes room for a connection; answers whether there is.
    fn forget_one_that_is_over(&mut self, now: Time) -> bool {
        let over =
            self.places.values().copied().find(|&place| self.life(place, now) != Life::Running);
        if let Some(place) = over {
            self.forget(place);
        }
        over.is_some()
    }

    fn life(&self, place: u32, now: Time) -> Life {
        let relay = self.relays[place as usize].as_ref();
        relay.map_or(Life::Forgotten, |(_, relay)| relay.life(now))
    }

    /// After a relay has done something: its timer, or its end.
    fn settle(&mut self, now: Time, place: u32) {
        if self.life(place, now) == Life::Forgotten {
            return self.forget(place);
        }
        if let Some((_, relay)) = &self.relays[place as usize] {
            // A timer may lie in the past: then it is due now.
            self.timers.set(place, relay.deadline().map_or(Time::NEVER, |at| at.max(now)));
        }
    }
}

impl Middlebox for Split {
    fn deadline(&self) -> Option<Time> {
        self.timers.peek().map(|(at, _)| at)
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        // One at a time: it is called again as long as one is due.
        let Some((_, place)) = self.timers.peek().filter(|(at, _)| *at <= now) else { return };
        if let Some((_, relay)) = &mut self.relays[place as usize] {
            relay.handle_deadline(now, &mut self.stats, out);
        }
        self.settle(now, place);
    }

    fn splits(&self) -> bool {
        true
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl InPath for Split {
    fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        self.stats.seen += 1;
        let Some(segment) = &packet.tcp else { return Verdict::Forward };
        let Some(place) = self.place_for(now, packet, heading) else { return Verdict::Forward };
        if let Some((_, relay)) = &mut self.relays[place as usize] {
            relay.handle(now, packet, segment, &mut self.stats, out);
        }
        self.stats.absorbed += 1;
        self.settle(now, place);
        Verdict::Absorb
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}
