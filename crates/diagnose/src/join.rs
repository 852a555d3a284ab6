//! Connections that stand in two captures, taken at two places.
//!
//! The capture nearer to whoever sends most is the one that is accounted for: there nothing is hidden
//! of what the sender did. From the other one is known how many packets were lost between the two.
//!
//! Not modelled: the difference of the two clocks; delays of each direction by itself.

use crate::Address;
use crate::flow::Connection;
use ackord_units::Span;
use std::collections::BTreeMap;

/// Captures whose distances to the sender differ by less were taken at one place.
const SAME_PLACE: Span = Span::from_micros(20);

/// What makes a connection the same: its ends, and the first octet of its client.
type Identity = ([Address; 2], u32);

/// All connections of all places, each once.
pub(crate) fn join(places: Vec<Vec<Connection>>) -> Vec<Connection> {
    let alone = places.len() < 2;
    let mut joined: Vec<Connection> = Vec::new();
    let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
    for connection in places.into_iter().flatten() {
        let identity = (connection.ends, connection.halves[0].first_number());
        match known.get(&identity).filter(|_| !alone) {
            Some(place) if joined[*place].overlaps(&connection) => {
                let before = &mut joined[*place];
                let (mut near, far) = match connection.is_nearer_than(before) {
                    true => (connection, &*before),
                    false => (before.clone(), &connection),
                };
                near.elsewhere = Some([0, 1].map(|side: usize| far.halves[side].packets));
                *before = near;
            }
            _ => {
                known.insert(identity, joined.len());
                joined.push(connection);
            }
        }
    }
    joined
}

impl Connection {
    /// Whether both were there at some time.
    fn overlaps(&self, other: &Connection) -> bool {
        self.began <= other.last && other.began <= self.last
    }

    /// Whether this was captured nearer to whoever sends most; at the same place, whether it has more.
    fn is_nearer_than(&self, other: &Connection) -> bool {
        let distance = |one: &Connection| one.halves[self.sender()].to.least;
        let packets = |one: &Connection| one.halves.iter().map(|half| half.packets).sum::<u64>();
        match (distance(self), distance(other)) {
            (Some(this), Some(other)) if this.abs_diff(other) > SAME_PLACE => this < other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => packets(self) > packets(other),
        }
    }
}
