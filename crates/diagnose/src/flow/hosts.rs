//! How hosts number their packets, from all of their connections.
//!
//! Two connections of one host that send at the same time show the kind of counter. If one counter serves both,
//! their numbers are near each other; if each socket has its own, they are unrelated. If the capture has only one
//! connection of a host, regular numbers count as a socket's own under two conditions: the host uses timestamps
//! (hosts with one counter, such as Windows, printers and controllers, do not), and the connection lost bytes at
//! other times, too.
//!
//! Not modelled: a counter per destination with several connections to it of which the capture has one.

use super::Connection;
use ackord_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of two connections are compared if they were seen within this time.
const NEAR: Span = Span::from_secs(5);
/// Numbers this far apart may be of one counter.
const ALIKE: u16 = 512;

/// Comparisons between a direction's numbers and those of the host's other connections.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    alike: u32,
    all: u32,
}

/// A number of a direction (connection and side).
type Sample = (Time, u16, (usize, usize));

/// Decides for every direction whether gaps in its numbers prove losses, and settles its suspected losses.
pub(crate) fn settle_numbers(connections: &mut [Connection]) {
    let compared = compare(connections);
    for (index, connection) in connections.iter_mut().enumerate() {
        let trusted = [0, 1].map(|side| {
            let half = &connection.halves[side];
            let compared = compared.get(&(index, side)).copied().unwrap_or_default();
            let own = compared.all > 0 && compared.alike * 5 <= compared.all;
            let lossy = connection.losses.iter().any(|loss| usize::from(loss.side) == side);
            let alone = compared.all == 0 && half.size.stamped && lossy;
            half.numbers.is_regular() && (own || alone)
        });
        connection.settle_suspects(trusted);
    }
}

/// Compares the numbers of connections whose host has a suspected loss with those of its other connections.
fn compare(connections: &[Connection]) -> BTreeMap<(usize, usize), Compared> {
    let hosts: BTreeSet<[u8; 16]> = connections
        .iter()
        .flat_map(|one| one.sides_with_gaps().map(|side| one.ends[side].ip))
        .collect();
    let mut samples: BTreeMap<[u8; 16], Vec<Sample>> = BTreeMap::new();
    if hosts.is_empty() {
        return BTreeMap::new();
    }
    for (index, connection) in connections.iter().enumerate() {
        for side in [0, 1] {
            let host = connection.ends[side].ip;
            if hosts.contains(&host) {
                let own = connection.halves[side].numbers.samples();
                let own = own.map(|(at, number)| (at, number, (index, side)));
                samples.entry(host).or_default().extend(own);
            }
        }
    }
    let mut compared: BTreeMap<(usize, usize), Compared> = BTreeMap::new();
    for of_host in samples.values_mut() {
        of_host.sort_unstable();
        for pair in of_host.windows(2) {
            let [(before, one, a), (after, other, b)] = [pair[0], pair[1]];
            if a == b || after.saturating_since(before) > NEAR {
                continue;
            }
            let apart = other.wrapping_sub(one).min(one.wrapping_sub(other));
            for direction in [a, b] {
                let compared = compared.entry(direction).or_default();
                compared.all += 1;
                compared.alike += u32::from(apart <= ALIKE);
            }
        }
    }
    compared
}
