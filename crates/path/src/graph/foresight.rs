//! What a graph that looks ahead knows of its links.

use super::Graph;
use super::chains::Keeper;
use super::junction::Junction;
use crate::link::{Beyond, Hop, Link};
use ackord_units::Span;
use ackord_wire::NodeId;

/// Up to so many links keep the packets that are on their way to their destinations. Where there are more, one place
/// keeps all: hundreds of rings take more of a processor's cache than one.
const MOST_KEEPERS: usize = 32;

/// Where a link's packets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    /// There are none.
    None,
    Host,
    Link(u32),
    /// Several links.
    Links,
    /// Hosts and links.
    Both,
}

impl Feeder {
    fn and(self, other: Feeder) -> Feeder {
        match (self, other) {
            (Feeder::None, one) | (one, Feeder::None) => one,
            (one, two) if one == two => one,
            (Feeder::Host | Feeder::Both, _) | (_, Feeder::Host | Feeder::Both) => Feeder::Both,
            (Feeder::Link(_) | Feeder::Links, Feeder::Link(_) | Feeder::Links) => Feeder::Links,
        }
    }
}

/// How packets come to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// By themselves, each when it comes.
    Events,
    /// From one link, which tells of them ahead.
    Chain,
    /// From several that do.
    Junction,
}

impl Graph {
    /// From now on packets go through chains of ordinary links in one step, for sinks that do not
    /// [need order](ackord_events::Sink::needs_order): what such a link tells comes in order, but late. What links have
    /// counted is exact after [`Graph::settle`], and told by then, to one sink or to others of its kind; what waits in
    /// their queues cannot be asked for, and nothing is told of their taps.
    ///
    /// `ways` are all sources and destinations of packets that will enter: a packet between others would come to links
    /// out of turn. Of no effect where there are middleboxes, which may send anything, or links that damage packets, which
    /// hosts drop and nobody can tell before.
    ///
    /// # Panics
    /// If a packet has entered already.
    pub fn look_ahead(&mut self, ways: &[(NodeId, NodeId)]) {
        assert_eq!(self.injected + self.made, 0, "no packet is under way");
        if !self.proxies.is_empty() || self.links.iter().any(Link::may_damage) {
            return;
        }
        let (entries, beyond) = self.foresee(ways);
        let junctions = numbers(&entries);
        self.keepers = self.keepers(&beyond, &self.behind(ways, &entries, &junctions));
        let first_id = (self.links.len() + self.media.len()) as u32;
        let (mut hops, mut made) = (Vec::new(), Vec::new());
        for (number, link) in self.links.iter().enumerate() {
            let beyond = match (beyond[number], self.keepers[number]) {
                (None, _) | (Some(Beyond::Destination), Keeper::Wire | Keeper::Junction(_)) => {
                    Beyond::Unknown
                }
                (Some(beyond), _) => beyond,
            };
            // Neither told ahead of its packets nor able to tell: it gains nothing.
            let is_alone = entries[number] == Entry::Events && matches!(beyond, Beyond::Unknown);
            let hop = if is_alone { None } else { Hop::of(link, beyond, junctions[number]) };
            hops.push(hop);
            if let (Some(junction), Some(delay)) = (junctions[number], link.planned_delay()) {
                made.push(Junction::new(first_id + 2 * junction, number as u32, delay));
            }
        }
        self.schedule.grow(first_id as usize + 2 * made.len());
        (self.hops, self.junctions) = (hops, made);
    }

    /// Who keeps what will be at the far ends of links, by what it meets there and the junction it has come by.
    fn keepers(&self, beyond: &[Option<Beyond>], behind: &[Option<u32>]) -> Vec<Keeper> {
        let links = || self.links.iter().zip(beyond.iter().zip(behind));
        let may_keep = |link: &Link, (beyond, behind): (&Option<Beyond>, &Option<u32>)| {
            let is_end = matches!(beyond, Some(Beyond::Destination));
            is_end && behind.is_none() && link.is_planned() && link.watcher().is_none()
        };
        let keep = links().filter(|(link, what)| may_keep(link, *what)).count() <= MOST_KEEPERS;
        let keeper = |(link, what): (&Link, (&Option<Beyond>, &Option<u32>))| match what {
            (Some(_), Some(junction)) => Keeper::Junction(*junction),
            _ if keep && may_keep(link, what) => Keeper::Hop,
            _ => Keeper::Wire,
        };
        links().map(keeper).collect()
    }

    /// By link: the number of the junction that all its packets have come by last.
    fn behind(
        &self,
        ways: &[(NodeId, NodeId)],
        entries: &[Entry],
        junctions: &[Option<u32>],
    ) -> Vec<Option<u32>> {
        let mut behind = junctions.to_vec();
        for (link, next) in ways.iter().flat_map(|way| self.pairs_of(*way)) {
            if entries[next as usize] == Entry::Chain {
                behind[next as usize] = behind[link as usize];
            }
        }
        behind
    }

    /// How packets come to links, and what they meet at their far ends.
    fn foresee(&self, ways: &[(NodeId, NodeId)]) -> (Vec<Entry>, Vec<Option<Beyond>>) {
        let mut entries = self.entries(ways);
        loop {
            let beyond = self.beyond(ways, &entries);
            // The order in which packets come is known only if all that come are.
            let is_known =
                |link: u32| !matches!(beyond[link as usize], None | Some(Beyond::Unknown));
            let mut unknown = Vec::new();
            for (link, next) in ways.iter().flat_map(|way| self.pairs_of(*way)) {
                if entries[next as usize] == Entry::Junction && !is_known(link) {
                    unknown.push(next);
                }
            }
            if unknown.is_empty() {
                return (entries, beyond);
            }
            for link in unknown {
                entries[link as usize] = Entry::Events;
            }
        }
    }

    /// How packets could come to links, as far as links by themselves let it be known.
    fn entries(&self, ways: &[(NodeId, NodeId)]) -> Vec<Entry> {
        let feeders = self.feeders(ways);
        let of = |(link, feeder): (&Link, Feeder)| match (feeder, link.planned_delay()) {
            (Feeder::Link(by), Some(_)) if self.may_feed(by) => Entry::Chain,
            (Feeder::Links, Some(delay)) if delay > Span::ZERO => Entry::Junction,
            _ => Entry::Events,
        };
        let mut entries: Vec<_> = self.links.iter().zip(feeders).map(of).collect();
        for (link, next) in ways.iter().flat_map(|way| self.pairs_of(*way)) {
            // What is there at once could come while others go on.
            let takes_time = self.links[link as usize].planned_delay() > Some(Span::ZERO);
            let entry = &mut entries[next as usize];
            if *entry == Entry::Junction && !(self.may_feed(link) && takes_time) {
                *entry = Entry::Events;
            }
        }
        entries
    }

    /// What packets meet at the far ends of links, by how they come to those after them.
    fn beyond(&self, ways: &[(NodeId, NodeId)], entries: &[Entry]) -> Vec<Option<Beyond>> {
        let mut beyond = vec![None; entries.len()];
        let junctions = numbers(entries);
        let entered = |link: u32| match (entries[link as usize], junctions[link as usize]) {
            (Entry::Chain, _) => Beyond::Link(link),
            (Entry::Junction, Some(junction)) => Beyond::Junction(junction),
            (Entry::Junction | Entry::Events, _) => Beyond::Unknown,
        };
        for way in ways {
            let mut links = self.links_of(*way).peekable();
            while let Some(link) = links.next() {
                let there = links.peek().map_or(Beyond::Destination, |next| entered(*next));
                let row = self.links[link as usize].onward();
                let known: &mut Option<Beyond> = &mut beyond[link as usize];
                *known = Some(known.map_or(there, |known| known.or(there, row)));
            }
        }
        beyond
    }

    /// Where the packets of every link come from.
    fn feeders(&self, ways: &[(NodeId, NodeId)]) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::None; self.links.len()];
        for way in ways {
            let mut from = Feeder::Host;
            for link in self.links_of(*way) {
                let feeder = &mut feeders[link as usize];
                *feeder = feeder.and(from);
                from = Feeder::Link(link);
            }
        }
        feeders
    }

    /// Whether what comes out of a link is known ahead, and nobody looks at it there.
    fn may_feed(&self, link: u32) -> bool {
        let link = &self.links[link as usize];
        link.is_planned() && link.watcher().is_none()
    }

    /// The links that packets take from a node to another.
    fn links_of(&self, (src, dst): (NodeId, NodeId)) -> impl Iterator<Item = u32> + Clone {
        let first = self.routes.next(src, dst);
        std::iter::successors(first, move |link| {
            let link = &self.links[*link as usize];
            if link.to() == dst { None } else { self.routes.follow(link.onward(), dst) }
        })
    }

    /// Every link that they take but the last, with the next one.
    fn pairs_of(&self, way: (NodeId, NodeId)) -> impl Iterator<Item = (u32, u32)> {
        self.links_of(way).zip(self.links_of(way).skip(1))
    }
}

/// By link: the number of the junction before it.
fn numbers(entries: &[Entry]) -> Vec<Option<u32>> {
    let mut next = 0..;
    let junction = |entry: &Entry| (*entry == Entry::Junction).then(|| next.next()).flatten();
    entries.iter().map(junction).collect()
}
