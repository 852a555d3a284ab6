//! Who talks to whom through the gateway: bounded, the one that was quiet longest forgotten first.

use crate::control::is_control;
use crate::{Budget, Interface, LinkHeader, Store};
use ackord_units::{Bytes, Seq, Time};
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
            Interface::Lan => Key { mobile: endpoints.dst, fixed: endpoints.src },
            Interface::Wan => Key { mobile: endpoints.src, fixed: endpoints.dst },
        }
    }

    /// Addresses and ports of a packet towards this interface.
    pub fn endpoints(self, towards: Interface) -> Endpoints {
        match towards {
            Interface::Lan => Endpoints { src: self.fixed, dst: self.mobile },
            Interface::Wan => Endpoints { src: self.mobile, dst: self.fixed },
        }
    }
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// TCP payload towards the mobile host, octets.
    pub octets_to_mobile: u64,
    /// TCP payload from it.
    pub octets_from_mobile: u64,
    /// Segments injected towards the mobile host.
    pub injected_to_mobile: u64,
    /// And towards the fixed one.
    pub injected_to_fixed: u64,
    /// What a box wanted to inject and could not: its octets were gone, or the budget was spent.
    pub refused: u64,
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// Its number, by which a box knows it.
    pub flow: FlowId,
    /// Its ends.
    pub key: Key,
    /// What stands before its packets as they leave by the WAN interface.
    pub to_wan: Option<LinkHeader>,
    /// And by the LAN interface.
    pub to_lan: Option<LinkHeader>,
    store: Store,
    /// What may be injected.
    pub budget: Budget,
    /// What happened.
    pub counters: Counters,
    /// Whether it is left alone, to be compared with.
    pub is_control: bool,
    last_at: Time,
    touched: u64,
}

/// Connections by their ends and by their numbers, at most so many.
#[derive(Debug)]
pub struct Connections {
    known: BTreeMap<Key, Connection>,
    by_flow: BTreeMap<FlowId, Key>,
    /// By the number of the last look at each: the first is the one that was quiet longest.
    by_age: BTreeMap<u64, Key>,
    limits: Limits,
    control_per_mille: u16,
    next_flow: u32,
    looks: u64,
    forgotten: u64,
    kept: u64,
}

/// How much may be known.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections.
    pub connections: usize,
    /// Octets of one that are kept, headers included, and that it may save up for injections.
    pub octets_each: Bytes,
    /// Octets of all that are kept.
    pub octets_in_all: Bytes,
}

impl Connections {
    /// None yet; of a thousand so many are left alone, to be compared with.
    pub fn new(limits: Limits, control_per_mille: u16) -> Connections {
        Connections {
            known: BTreeMap::new(),
            by_flow: BTreeMap::new(),
            by_age: BTreeMap::new(),
            limits,
            control_per_mille,
            next_flow: 0,
            looks: 0,
            forgotten: 0,
            kept: 0,
        }
    }

    /// The connection of a packet that passes; made known if it is not. Where there is no room the one that
    /// was quiet longest is forgotten.
    pub fn touch(&mut self, now: Time, key: Key) -> &mut Connection {
        self.looks += 1;
        let look = self.looks;
        if !self.known.contains_key(&key) {
            self.make_room();
            let flow = FlowId(self.next_flow);
            self.next_flow = self.next_flow.wrapping_add(1);
            self.by_flow.insert(flow, key);
            let new = Connection {
                flow,
                key,
                to_wan: None,
                to_lan: None,
                store: Store::default(),
                budget: Budget::new(self.limits.octets_each),
                counters: Counters::default(),
                is_control: is_control(key, self.control_per_mille),
                last_at: now,
                touched: look,
            };
            self.known.insert(key, new);
        }
        let connection = self.known.get_mut(&key).expect("it was there, or is now");
        self.by_age.remove(&connection.touched);
        self.by_age.insert(look, key);
        (connection.touched, connection.last_at) = (look, now);
        connection
    }

    fn make_room(&mut self) {
        while self.known.len() >= self.limits.connections.max(1)
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.forgotten += 1;
            self.take(oldest);
        }
    }

    fn take(&mut self, key: Key) -> Option<Connection> {
        let taken = self.known.remove(&key)?;
        self.kept -= taken.store.octets().get();
        self.by_age.remove(&taken.touched);
        self.by_flow.remove(&taken.flow);
        Some(taken)
    }

    /// Forgets a connection that has ended.
    pub fn remove(&mut self, key: Key) -> Option<Connection> {
        self.take(key)
    }

    /// The connection of this number.
    pub fn of_flow(&mut self, flow: FlowId) -> Option<&mut Connection> {
        let key = self.by_flow.get(&flow)?;
        self.known.get_mut(key)
    }

    /// Keeps an IP packet of a connection, whose payload of `len` octets begins at `seq`, as far as there is
    /// room.
    pub fn keep(&mut self, flow: FlowId, seq: Seq, len: u32, packet: &[u8]) {
        let (kept, limits) = (self.kept, self.limits);
        let Some(connection) = self.of_flow(flow) else { return };
        let others = kept - connection.store.octets().get();
        let room = Bytes(limits.octets_in_all.get().saturating_sub(others));
        connection.store.keep(seq, len, packet, limits.octets_each.min(room));
        self.kept = others + connection.store.octets().get();
    }

    /// The mobile host of a connection has everything below `ack`.
    pub fn acknowledge(&mut self, flow: FlowId, ack: Seq) {
        let kept = self.kept;
        let Some(connection) = self.of_flow(flow) else { return };
        let others = kept - connection.store.octets().get();
        connection.store.forget_below(ack);
        self.kept = others + connection.store.octets().get();
    }

    /// Octets of all connections that are kept.
    pub fn kept(&self) -> Bytes {
        Bytes(self.kept)
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

    /// How many had to make room for others.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

impl Connection {
    /// The IP packet with these `len` octets of payload from `seq` on, if it is kept.
    pub fn packet(&self, seq: Seq, len: u32) -> Option<&[u8]> {
        self.store.packet(seq, len)
    }

    /// When its last packet passed.
    pub fn last_at(&self) -> Time {
        self.last_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(port: u16) -> Key {
        Key {
            mobile: SocketAddr::from(([192, 0, 2, 7], port)),
            fixed: SocketAddr::from(([198, 51, 100, 1], 443)),
        }
    }

    #[test]
    fn the_one_that_was_quiet_longest_makes_room() {
        let limits = Limits { connections: 3, octets_each: Bytes(100), octets_in_all: Bytes(150) };
        let mut connections = Connections::new(limits, 0);
        let numbers: Vec<FlowId> =
            (0..3).map(|port| connections.touch(Time::ZERO, key(port)).flow).collect();
        // 0 is heard again, so 1 is the quietest.
        assert_eq!(connections.touch(Time::ZERO, key(0)).flow, numbers[0]);
        let fourth = connections.touch(Time::ZERO, key(3)).flow;
        assert_eq!((connections.len(), connections.forgotten()), (3, 1));
        assert!(connections.of_flow(numbers[1]).is_none());
        assert!(!numbers.contains(&fourth));
        assert_eq!(connections.of_flow(fourth).map(|one| one.key), Some(key(3)));
        assert!(connections.remove(key(0)).is_some() && connections.remove(key(0)).is_none());
        assert_eq!(
            (connections.len(), connections.by_age.len(), connections.by_flow.len()),
            (2, 2, 2)
        );
    }

    #[test]
    fn what_is_kept_is_bounded_each_and_in_all_and_goes_with_its_connection() {
        let limits = Limits { connections: 2, octets_each: Bytes(100), octets_in_all: Bytes(150) };
        let mut connections = Connections::new(limits, 0);
        let flows = [0, 1].map(|port| connections.touch(Time::ZERO, key(port)).flow);
        for flow in flows {
            connections.keep(flow, Seq(0), 40, &[1; 60]);
            connections.keep(flow, Seq(40), 20, &[2; 40]);
        }
        // Of the second one only what is left in all.
        assert_eq!(connections.kept(), Bytes(140));
        let first = connections.of_flow(flows[0]).expect("known");
        assert!(first.packet(Seq(40), 20).is_some() && first.packet(Seq(40), 21).is_none());
        connections.acknowledge(flows[0], Seq(40));
        assert_eq!(connections.kept(), Bytes(80));
        connections.keep(flows[1], Seq(0), 40, &[1; 60]);
        connections.touch(Time::ZERO, key(2));
        assert_eq!((connections.kept(), connections.len()), (Bytes(100), 2));
        connections.remove(key(1));
        assert_eq!(connections.kept(), Bytes::ZERO);
    }

    #[test]
    fn both_directions_have_one_key() {
        let there = key(5).endpoints(Interface::Wan);
        assert_eq!(Key::towards(Interface::Wan, there), key(5));
        assert_eq!(Key::towards(Interface::Lan, there.reversed()), key(5));
        assert_eq!(key(5).endpoints(Interface::Lan), there.reversed());
    }
}
