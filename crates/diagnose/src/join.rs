//! Connections that stand in two captures, taken at two places.
//!
//! The capture nearer to whoever sends most is the one that is accounted for: there nothing is hidden
//! of what the sender did. From the other one is known how many packets were lost between the two, and how
//! much longer than the quickest one the others were on their way, in each direction by itself.
//!
//! Not modelled: clocks of which one runs faster; how long the quickest packet took.

use crate::flow::Connection;
use crate::{Address, Between, DelayBetween};
use ackord_units::Span;
use std::collections::BTreeMap;

/// Captures whose distances to the sender differ by less were taken at one place.
const SAME_PLACE: Span = Span::from_micros(20);

/// Of fewer packets no delays are told.
const FEWEST: usize = 10;

/// What makes a connection the same: its ends, and the first byte of its client.
type Identity = ([Address; 2], u32);

/// Returns all connections of all places, each once.
pub(crate) fn join(mut places: Vec<Vec<Connection>>) -> Vec<Connection> {
    if places.len() < 2 {
        return places.pop().unwrap_or_default();
    }
    let mut joined: Vec<Connection> = Vec::new();
    let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
    for connection in places.into_iter().flatten() {
        let identity = (connection.ends, connection.halves[0].first_number());
        match known.get(&identity) {
            Some(place) if joined[*place].overlaps(&connection) => {
                let before = &mut joined[*place];
                let (mut near, far) = match connection.is_nearer_than(before) {
                    true => (connection, &*before),
                    false => (before.clone(), &connection),
                };
                near.between = Some(Box::new(near.between(far)));
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

/// How far delays are above the least of them; nothing where there are too few to say.
fn spread(mut delays: Vec<i64>) -> Option<DelayBetween> {
    if delays.len() < FEWEST {
        return None;
    }
    delays.sort_unstable();
    let above = |part: f64| {
        let place = ((delays.len() - 1) as f64 * part) as usize;
        delays[place].saturating_sub(delays[0]) as f64 / 1e9
    };
    let packets = delays.len() as u64;
    Some(DelayBetween { packets, median_s: above(0.5), p95_s: above(0.95), most_s: above(1.0) })
}

impl Connection {
    /// Whether both were there at some time.
    fn overlaps(&self, other: &Connection) -> bool {
        self.began <= other.last && other.began <= self.last
    }

    /// What became of packets between here and there. Data go there, ACKs come from there.
    fn between(&self, there: &Connection) -> Between {
        let packets = |one: &Connection, side: usize| one.halves[side].counts.packets;
        let delay = |side: usize| {
            let (here, there) = (self.marks.as_ref()?, there.marks.as_ref()?);
            let delays = match side == self.sender() {
                true => here.delays(there, side),
                false => there.delays(here, side),
            };
            spread(delays)
        };
        Between {
            lost: [0, 1].map(|side| packets(self, side).abs_diff(packets(there, side))),
            delay: [0, 1].map(delay),
        }
    }

    /// Whether this was captured nearer to whoever sends most; at the same place, whether it has more.
    fn is_nearer_than(&self, other: &Connection) -> bool {
        let distance = |one: &Connection| one.halves[self.sender()].to.least;
        let packets =
            |one: &Connection| one.halves.iter().map(|half| half.counts.packets).sum::<u64>();
        match (distance(self), distance(other)) {
            (Some(this), Some(other)) if this.abs_diff(other) > SAME_PLACE => this < other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => packets(self) > packets(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_told_above_the_quickest_packet_whatever_the_clocks_differ_by() {
        // The other clock is an hour ahead; one packet of twenty waits 30 ms.
        let hour = 3_600_000_000_000;
        let delays = (0..100)
            .map(|number| hour + if number % 20 == 7 { 30_000_000 } else { 1_000 * number });
        let spread = spread(delays.collect()).expect("enough of them");
        assert_eq!((spread.packets, spread.most_s), (100, 0.03));
        assert!(spread.median_s < 0.0001 && spread.p95_s < 0.0301, "{spread:?}");
        assert_eq!(super::spread(vec![5; FEWEST - 1]), None);
    }
}
