//! Which packet belongs to which connection.

use super::Connection;
use super::connection::Setup;
use super::folding::Folding;
use crate::{Address, Seen};
use ackord_units::Span;
use ackord_wire::Flags;
use std::hash::{BuildHasherDefault, Hasher};

/// Both ends, the lesser first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(Address, Address);

impl Key {
    #[inline]
    fn of(seen: &Seen) -> Key {
        if seen.src <= seen.dst { Key(seen.src, seen.dst) } else { Key(seen.dst, seen.src) }
    }
}

#[expect(clippy::disallowed_types, reason = "looked up only, with a fixed hasher")]
type Places = std::collections::HashMap<Key, u32, BuildHasherDefault<Folding>>;

/// A connection that has closed takes packets for as long; then the same addresses are another.
pub(crate) const LINGER: Span = Span::from_secs(60);

/// The connections of a capture, in order of their first packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    places: Places,
    connections: Vec<Connection>,
    /// The connection of the packet before: the next one is often of the same.
    last: Option<(Key, u32)>,
    /// Keep the packets of connections between these ends, the lesser first.
    points_of: Vec<Key>,
    /// Keep packets to be known again in another capture.
    marked: bool,
}

/// The part of `shards` that the packets of a connection belong to.
pub(crate) fn shard(seen: &Seen, shards: usize) -> usize {
    let Key(low, high) = Key::of(seen);
    let mut hasher = Folding::default();
    for address in [low, high] {
        hasher.write(&address.ip);
        hasher.write_u16(address.port);
    }
    (hasher.finish() >> 32) as usize % shards
}

impl Table {
    pub(crate) fn new(points_of: &[[Address; 2]], marked: bool) -> Table {
        let key = |[one, other]: &[Address; 2]| Key(*one.min(other), *one.max(other));
        Table { points_of: points_of.iter().map(key).collect(), marked, ..Table::default() }
    }

    /// Takes a packet in.
    #[inline]
    pub(crate) fn packet(&mut self, seen: &Seen) {
        let place = self.place(seen);
        self.connections[place].packet(seen);
    }

    /// Returns the place of the connection that a packet belongs to, which may begin with it.
    #[inline]
    pub(crate) fn place(&mut self, seen: &Seen) -> usize {
        let key = Key::of(seen);
        let place = match self.last {
            Some((last, place)) if last == key => Some(place),
            _ => self.places.get(&key).copied(),
        };
        let place = match place {
            Some(place) if !self.is_anew(place, seen) => place,
            _ => self.begin(key, seen),
        };
        self.last = Some((key, place));
        place as usize
    }

    /// The connections, by place.
    pub(crate) fn connections(&mut self) -> &mut [Connection] {
        &mut self.connections
    }

    /// True if packets between the ends of this connection still belong to it, and not to a later one.
    pub(crate) fn is_current(&self, place: usize) -> bool {
        let [client, server] = self.connections[place].ends;
        let key = Key(client.min(server), client.max(server));
        self.places.get(&key) == Some(&(place as u32))
    }

    /// Forgets the connections at places for which `keep` is false. The others keep their order and move up.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (mut places, mut place, mut kept) = (Places::default(), 0, 0);
        let connections = &mut self.connections;
        connections.retain(|connection| {
            let stays = keep(place);
            place += 1;
            if stays {
                let [client, server] = connection.ends;
                // A later connection between the same ends takes the place.
                places.insert(Key(client.min(server), client.max(server)), kept);
                kept += 1;
            }
            stays
        });
        (self.places, self.last) = (places, None);
    }

    /// Whether this packet opens another connection between the same ends.
    #[inline]
    fn is_anew(&self, place: u32, seen: &Seen) -> bool {
        let syn = seen.flags.contains(Flags::SYN) && !seen.flags.contains(Flags::ACK);
        let connection = &self.connections[place as usize];
        let over = || connection.is_over();
        // A repeated or copied SYN has the number of the first.
        let other_number = || {
            let side = usize::from(seen.src != connection.ends[0]);
            connection.halves[side].offset(seen.seq) != 0
        };
        (syn && (over() || connection.setup == Setup::Done) && other_number())
            || (over() && seen.at.saturating_since(connection.arrived) > LINGER)
    }

    fn begin(&mut self, key: Key, seen: &Seen) -> u32 {
        let place = self.connections.len() as u32;
        let mut connection = Connection::begin(seen);
        if self.points_of.contains(&key) {
            connection.points = Some(Vec::new());
        }
        connection.marks = self.marked.then(Box::default);
        self.connections.push(connection);
        self.places.insert(key, place);
        place
    }

    /// All connections.
    pub(crate) fn into_connections(self) -> Vec<Connection> {
        self.connections
    }
}
