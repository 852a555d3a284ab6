//! Who else sends to the same receiver, and who has how much.
//!
//! Connections to one address share its access link. Where the capture shows several at a time, what
//! they get together is what the link carries, and each one's share of it can be told.
//!
//! Not modelled: connections of more than a day; a bottleneck shared by connections to different addresses.

use super::path::Path;
use super::policer::{Policed, Shared};
use crate::account::Stretch;
use crate::flow::Connection;
use ackord_units::{Span, Time};
use std::collections::BTreeMap;

/// Rates are summed over slots of this length, s.
const SLOT: f64 = 0.1;
/// Shares are taken over this many slots around an instant.
const AROUND: usize = 5;
/// Connections of fewer bytes than this are not worth a place.
const LEAST: u64 = 50_000;
/// Longer connections would take slots without end.
const LONGEST: Span = Span::from_secs(86_400);
/// A link is not out while others have this part of the most it carries.
const SERVED: f64 = 0.25;
/// A connection has a part in a slot from this share of it on.
const PART: f64 = 0.01;

/// What a link carried together.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Bytes by slot since the first.
    first: usize,
    total: Vec<f64>,
    flows: Vec<u16>,
    /// How long the queue stood that some of them measured, s.
    queue: Vec<f64>,
    /// Most bytes in the slots around an instant.
    most: f64,
    /// The policer that they share, if their losses are those of one.
    policer: Option<Shared>,
}

/// All connections that share a receiver with others at the same time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    /// By receiver, in order of time.
    groups: BTreeMap<[u8; 16], Vec<Group>>,
}

/// What a connection has around an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Its part of all that was carried.
    pub(super) own: f64,
    /// How many had a part.
    pub(super) flows: u16,
    /// How long packets waited at least, by what others measured, s.
    pub(super) queue: f64,
    /// All that was carried, as a part of the most that ever was.
    pub(super) full: f64,
}

fn slot(seconds: f64) -> usize {
    (seconds / SLOT) as usize
}

/// Whether its slots take no more memory than is worth it.
fn is_short(connection: &Connection) -> bool {
    connection.last.saturating_since(connection.began) <= LONGEST
}

/// Bytes of one direction by slot, from the first on.
fn slots(connection: &Connection, side: usize) -> (usize, Vec<f64>) {
    let seconds = |at: Time| at.as_nanos() as f64 / 1e9;
    let first = slot(seconds(connection.began));
    let mut bytes = vec![0.0; slot(seconds(connection.last)) - first + 1];
    let of_side = |stretch: &&Stretch| usize::from(stretch.side) == side && stretch.seen.acked > 0;
    for stretch in connection.account.stretches().iter().filter(of_side) {
        let (from, to) = (slot(seconds(stretch.from)) - first, slot(seconds(stretch.to)) - first);
        let each = stretch.seen.acked as f64 / (to - from + 1) as f64;
        bytes[from..=to].iter_mut().for_each(|slot| *slot += each);
    }
    (first, bytes)
}

fn around(bytes: &[f64], at: usize) -> f64 {
    let from = at.saturating_sub(AROUND);
    bytes[from.min(bytes.len())..(at + AROUND).min(bytes.len())].iter().sum()
}

impl Sharing {
    pub(crate) fn of(connections: &[Connection]) -> Sharing {
        let large = |connection: &&Connection| {
            let bytes = connection.halves.iter().map(|half| half.counts.bytes).max();
            bytes >= Some(LEAST) && is_short(connection)
        };
        let mut by_receiver: BTreeMap<[u8; 16], Vec<&Connection>> = BTreeMap::new();
        for connection in connections.iter().filter(large) {
            let receiver = connection.ends[1 - connection.sender()].ip;
            by_receiver.entry(receiver).or_default().push(connection);
        }
        let groups = by_receiver.into_iter().map(|(receiver, all)| (receiver, groups(all)));
        Sharing { groups: groups.filter(|(_, groups)| !groups.is_empty()).collect() }
    }

    /// Returns what a policer did to this connection that it shares with others.
    pub(super) fn policed(&self, connection: &Connection) -> Option<&Policed> {
        let receiver = connection.ends[1 - connection.sender()].ip;
        let groups = self.groups.get(&receiver)?;
        groups.iter().filter_map(|group| group.policer.as_ref()?.policed(connection)).next()
    }

    /// Where this connection stands among the others, by slot of its life; nothing where it is alone.
    pub(super) fn shares(&self, connection: &Connection) -> Option<Shares<'_>> {
        let side = connection.sender();
        let groups =
            self.groups.get(&connection.ends[1 - side].ip).filter(|_| is_short(connection))?;
        let ended = slot(connection.last.as_nanos() as f64 / 1e9);
        let group = groups.iter().rfind(|group| group.first <= ended)?;
        let (first, own) = slots(connection, side);
        Some(Shares { group, first, own })
    }
}

impl Group {
    /// Takes in where a connection's round trips show a standing queue.
    fn measure(&mut self, connection: &Connection) {
        let side = connection.sender();
        let path = Path::of(connection, side);
        let stands = |stretch: &&Stretch| usize::from(stretch.side) == side && path.stands(stretch);
        for stretch in connection.account.stretches().iter().filter(stands) {
            let place = |at: Time| slot(at.as_nanos() as f64 / 1e9) - self.first;
            let queue = path.standing(stretch).unwrap_or_default();
            for slot in &mut self.queue[place(stretch.from)..=place(stretch.to)] {
                *slot = slot.max(queue);
            }
        }
    }
}

/// Returns the groups of connections to one receiver: of each that another one overlaps.
fn groups(mut all: Vec<&Connection>) -> Vec<Group> {
    all.sort_by_key(|connection| connection.began);
    let mut ended = Time::ZERO;
    let mut groups: Vec<Vec<&Connection>> = Vec::new();
    for connection in all {
        match groups.last_mut().filter(|_| connection.began <= ended) {
            Some(group) => group.push(connection),
            None => groups.push(vec![connection]),
        }
        ended = ended.max(connection.last);
    }
    groups.iter().filter(|group| group.len() > 1).map(|group| self::group(group)).collect()
}

fn group(all: &[&Connection]) -> Group {
    let slotted: Vec<_> = all.iter().map(|one| slots(one, one.sender())).collect();
    let first = slotted.iter().map(|(first, _)| *first).min().unwrap_or(0);
    let last = slotted.iter().map(|(first, own)| first + own.len()).max().unwrap_or(0);
    let mut group = Group {
        first,
        total: vec![0.0; last - first],
        flows: vec![0; last - first],
        queue: vec![0.0; last - first],
        most: 0.0,
        policer: Shared::of(all),
    };
    for (begins, own) in &slotted {
        for (at, bytes) in own.iter().enumerate() {
            group.total[begins - first + at] += bytes;
        }
    }
    for (begins, own) in &slotted {
        for at in 0..own.len() {
            let place = begins - first + at;
            let part = around(own, at) >= PART * around(&group.total, place);
            group.flows[place] += u16::from(part && own[at] > 0.0);
        }
    }
    for one in all {
        group.measure(one);
    }
    let places = 0..group.total.len();
    group.most = places.map(|at| around(&group.total, at)).fold(0.0, f64::max);
    group
}

/// One connection among the others.
pub(super) struct Shares<'a> {
    group: &'a Group,
    first: usize,
    own: Vec<f64>,
}

impl Shares<'_> {
    /// Returns true if others were served during a stretch at a good part of the link's rate: then the link was
    /// not out.
    pub(super) fn served_others(&self, stretch: &Stretch) -> bool {
        let place = |at: Time| slot(at.as_nanos() as f64 / 1e9);
        let (from, to) = (place(stretch.from), place(stretch.to));
        let bytes = |of: &[f64], first: usize| -> f64 {
            let within = |at: usize| at.checked_sub(first).and_then(|at| of.get(at));
            (from..=to).filter_map(within).sum()
        };
        let others = bytes(&self.group.total, self.group.first) - bytes(&self.own, self.first);
        let full = self.group.most / (2 * AROUND) as f64 * (to - from + 1) as f64;
        others >= SERVED * full && full > 0.0
    }

    /// What it is like in the middle of a stretch; nothing where nobody else sends, and before and after the
    /// lives of all that make the group: a connection too small to be one of them may begin and end outside.
    pub(super) fn at(&self, stretch: &Stretch) -> Option<Share> {
        let middle = (stretch.from.as_nanos() / 2 + stretch.to.as_nanos() / 2) as f64 / 1e9;
        let place = slot(middle).checked_sub(self.group.first)?;
        let queue = *self.group.queue.get(place)?;
        let near = place.saturating_sub(AROUND)..(place + AROUND).min(self.group.flows.len());
        let flows = self.group.flows.get(near)?.iter().copied().max()?;
        let total = around(&self.group.total, place);
        if flows < 2 || total == 0.0 {
            return None;
        }
        let own = around(&self.own, slot(middle).checked_sub(self.first)?) / total;
        Some(Share { own, flows, queue, full: total / self.group.most })
    }
}
