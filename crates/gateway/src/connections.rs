//! Who talks to whom through the gateway: bounded, the one that was quiet longest forgotten first.
//!
//! A connection of which only one side was heard beyond its SYN is a stranger, and strangers make room before
//! anybody else does: a flood of SYNs, or of segments that nobody answers, drives out no living connection.

use crate::config::FlowFacts;
use crate::control::is_control;
use crate::{
    Budget, Hiding, Interface, LinkHeader, OpenedFrom, Openings, Pace, Progress, Recoveries, Store,
};
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::{Endpoints, FlowId};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The two ends of a connection, by where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The end behind the LAN interface.
    pub mobile: SocketAddr,
    /// The end behind the WAN interface.
    pub fixed: SocketAddr,
}

impl Key {
    /// Of a packet that goes towards this interface.
    pub fn towards(interface: Interface, endpoints: Endpoints) -> Key {
        match interface {
            Interface::Lan(_) => Key { mobile: endpoints.dst, fixed: endpoints.src },
            Interface::Wan => Key { mobile: endpoints.src, fixed: endpoints.dst },
        }
    }

    /// Addresses and ports of a packet towards this interface.
    pub fn endpoints(self, towards: Interface) -> Endpoints {
        match towards {
            Interface::Lan(_) => Endpoints { src: self.fixed, dst: self.mobile },
            Interface::Wan => Endpoints { src: self.mobile, dst: self.fixed },
        }
    }
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// TCP payload towards the mobile host, bytes; an estimate of what passed while it was let pass.
    pub bytes_to_mobile: u64,
    /// TCP payload from it.
    pub bytes_from_mobile: u64,
    /// Segments injected towards the mobile host.
    pub injected_to_mobile: u64,
    /// And towards the fixed one.
    pub injected_to_fixed: u64,
    /// What a box wanted to inject and could not: its bytes were gone, or the budget was spent.
    pub refused: u64,
    /// The number after its SYN, towards the mobile host and from it.
    pub first_after_syn: [Option<Seq>; 2],
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// Its number, by which a box knows it.
    pub flow: FlowId,
    /// Its ends.
    pub key: Key,
    /// What rules are told of it.
    pub facts: FlowFacts,
    /// Which of the engine's classes it is in.
    pub class: usize,
    /// What stands before its packets as they leave by the WAN interface.
    pub to_wan: Option<LinkHeader>,
    /// And by which LAN interface, with what before them.
    pub to_lan: Option<(u8, LinkHeader)>,
    store: Store,
    /// What may be injected.
    pub budget: Budget,
    /// Injections towards the mobile host, and what they saved.
    pub recoveries: Recoveries,
    /// How fast it is.
    pub pace: Pace,
    /// What happened.
    pub counters: Counters,
    /// How data gets on towards the mobile host.
    pub to_mobile: Progress,
    /// And from it.
    pub from_mobile: Progress,
    /// Whether it is left alone, to be compared with.
    pub is_control: bool,
    /// Which side opened it, if its first SYN was seen.
    pub opened: Option<OpenedFrom>,
    /// Whether its box holds the mobile host to be out of reach.
    pub is_held: bool,
    /// What is known of hiding its duplicate acknowledgments.
    pub hiding: Hiding,
    last_at: Time,
    heard: Heard,
    /// Whether both sides were heard, and the number of the last look.
    age: (bool, u64),
}

/// Which sides were heard beyond the SYN.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    fixed: bool,
    mobile: bool,
}

/// Connections by their ends and by their numbers, at most so many.
#[derive(Debug)]
pub struct Connections {
    known: BTreeMap<Key, Connection>,
    by_flow: BTreeMap<FlowId, Key>,
    /// By their age: those of which one side only was heard make room first, the one looked at longest ago before
    /// the others.
    by_age: BTreeMap<(bool, u64), Key>,
    /// Forgotten, and not yet told.
    gone: Vec<Connection>,
    limits: Limits,
    control_per_mille: u16,
    next_flow: u32,
    looks: u64,
    evicted: u64,
    kept: u64,
    openings: Openings,
}

/// How much may be known, kept and injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections.
    pub connections: usize,
    /// Bytes of one that are kept, headers included, and that it may save up for injections.
    pub bytes_each: Bytes,
    /// Bytes of all that are kept.
    pub bytes_in_all: Bytes,
    /// A connection is forgotten this long after its last packet.
    pub idle_for: Span,
    /// Of a thousand bytes of data that pass towards a mobile host, so many may be injected.
    pub injected_per_mille: u64,
    /// How much may be injected into all connections together.
    pub injected_rate: Rate,
    /// A connection that is faster is let pass.
    pub fast: Rate,
}

impl Connections {
    /// None yet; of a thousand so many are left alone, to be compared with.
    pub fn new(limits: Limits, control_per_mille: u16) -> Connections {
        Connections {
            known: BTreeMap::new(),
            by_flow: BTreeMap::new(),
            by_age: BTreeMap::new(),
            gone: Vec::new(),
            limits,
            control_per_mille,
            next_flow: 0,
            looks: 0,
            evicted: 0,
            kept: 0,
            openings: Openings::default(),
        }
    }

    /// Other limits, and another share that is left alone: for connections that are still to come.
    pub fn change(&mut self, limits: Limits, control_per_mille: u16) {
        (self.limits, self.control_per_mille) = (limits, control_per_mille);
    }

    /// The connection of a packet that passes; made known if it is not, in the class and by the facts that
    /// `begin` says. Where there is no room another is forgotten.
    pub fn touch(
        &mut self,
        now: Time,
        key: Key,
        begin: impl FnOnce() -> (usize, FlowFacts),
    ) -> &mut Connection {
        self.looks += 1;
        let look = self.looks;
        if !self.known.contains_key(&key) {
            self.make_room();
            let flow = FlowId(self.next_flow);
            self.next_flow = self.next_flow.wrapping_add(1);
            self.by_flow.insert(flow, key);
            let (class, facts) = begin();
            let new = Connection {
                flow,
                key,
                class,
                facts,
                to_wan: None,
                to_lan: None,
                store: Store::default(),
                budget: Budget::new(self.limits.bytes_each),
                recoveries: Recoveries::default(),
                pace: Pace::new(now),
                counters: Counters::default(),
                to_mobile: Progress::default(),
                from_mobile: Progress::default(),
                is_control: is_control(key, self.control_per_mille),
                opened: None,
                is_held: false,
                hiding: Hiding::default(),
                last_at: now,
                heard: Heard::default(),
                age: (false, look),
            };
            self.known.insert(key, new);
        }
        let connection = self.known.get_mut(&key).expect("it was there, or is now");
        self.by_age.remove(&connection.age);
        connection.age.1 = look;
        self.by_age.insert(connection.age, key);
        connection.last_at = now;
        connection
    }

    /// A side was heard beyond its SYN: `towards` the other one.
    pub fn heard(&mut self, key: Key, towards: Interface) {
        let Some(connection) = self.known.get_mut(&key) else { return };
        match towards {
            Interface::Lan(_) => connection.heard.fixed = true,
            Interface::Wan => connection.heard.mobile = true,
        }
        if connection.heard.fixed && connection.heard.mobile && !connection.age.0 {
            self.by_age.remove(&connection.age);
            connection.age.0 = true;
            self.by_age.insert(connection.age, key);
            if let Some(opened) = connection.opened {
                self.openings.count(opened);
            }
        }
    }

    fn make_room(&mut self) {
        while self.known.len() >= self.limits.connections.max(1)
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.evicted += 1;
            self.remove(oldest);
        }
    }

    /// Forgets those of which nothing passed for long.
    pub fn forget_idle(&mut self, now: Time) {
        for both_heard in [false, true] {
            while let Some((_, &key)) =
                self.by_age.range((both_heard, 0)..=(both_heard, u64::MAX)).next()
                && now.saturating_since(self.known[&key].last_at) >= self.limits.idle_for
            {
                self.remove(key);
            }
        }
    }

    /// Forgets a connection.
    pub fn remove(&mut self, key: Key) {
        let Some(gone) = self.known.remove(&key) else { return };
        self.kept -= gone.store.bytes().get();
        self.by_age.remove(&gone.age);
        self.by_flow.remove(&gone.flow);
        self.gone.push(gone);
    }

    /// A connection that was forgotten since this was last asked.
    pub fn next_gone(&mut self) -> Option<Connection> {
        self.gone.pop()
    }

    /// The connection between these ends.
    pub fn of_key(&mut self, key: Key) -> Option<&mut Connection> {
        self.known.get_mut(&key)
    }

    /// The connection of this number.
    pub fn of_flow(&mut self, flow: FlowId) -> Option<&mut Connection> {
        let key = self.by_flow.get(&flow)?;
        self.known.get_mut(key)
    }

    /// Keeps an IP packet of a connection, whose payload of `len` bytes begins at `seq`, if there is
    /// room. Answers whether there was.
    pub fn keep(&mut self, flow: FlowId, seq: Seq, len: u32, packet: &[u8]) -> bool {
        let (kept, limits) = (self.kept, self.limits);
        let Some(connection) = self.of_flow(flow) else { return false };
        let others = kept - connection.store.bytes().get();
        let room = Bytes(limits.bytes_in_all.get().saturating_sub(others));
        let is_kept = connection.store.keep(seq, len, packet, limits.bytes_each.min(room));
        self.kept = others + connection.store.bytes().get();
        is_kept
    }

    /// Nothing of a connection is kept any more.
    pub fn drop_kept(&mut self, flow: FlowId) {
        let Some(connection) = self.of_flow(flow) else { return };
        let bytes = std::mem::take(&mut connection.store).bytes().get();
        self.kept -= bytes;
    }

    /// The mobile host of a connection has everything below `ack`.
    pub fn acknowledge(&mut self, flow: FlowId, ack: Seq) {
        let kept = self.kept;
        let Some(connection) = self.of_flow(flow) else { return };
        let others = kept - connection.store.bytes().get();
        connection.store.forget_below(ack);
        self.kept = others + connection.store.bytes().get();
    }

    /// Bytes of all connections that are kept.
    pub fn kept(&self) -> Bytes {
        Bytes(self.kept)
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.known.values_mut()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.known.values()
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// From which side they were opened.
    pub fn openings(&self) -> Openings {
        self.openings
    }

    /// How many had to make room for others.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }
}

impl Connection {
    /// The IP packet with these `len` bytes of payload from `seq` on, if it is kept.
    pub fn packet(&self, seq: Seq, len: u32) -> Option<&[u8]> {
        self.store.packet(seq, len)
    }

    /// Bytes of it that are kept.
    pub fn kept(&self) -> Bytes {
        self.store.bytes()
    }

    /// Up to where its bytes from `seq` on are kept without a hole.
    pub fn kept_without_hole_from(&self, seq: Seq) -> Seq {
        self.store.without_hole_from(seq)
    }

    /// When its last packet passed.
    pub fn last_at(&self) -> Time {
        self.last_at
    }
}

#[cfg(test)]
mod tests;
