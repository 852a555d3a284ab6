//! Packets that go through chains of ordinary links in one step.
//!
//! What becomes of a packet on an ordinary link is known when it comes there (`link/ahead.rs`). Where all packets of
//! the next link come from this one, the order in which they come there is known too: so the packet is given to that
//! link at once, and only its arrival at the end of the chain is scheduled. What is delivered, and when, and what links
//! count is the same; what they would tell on the way would be told too early, and so is not told at all.

use super::{Delivery, Graph};
use crate::link::{Beyond, Hop, Link};
use crate::packets::Slot;
use ackord_events::{DropReason, NoSink};
use ackord_units::Time;
use ackord_wire::{NodeId, Packet};

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
    Several,
}

/// Where a packet that goes through a chain stops short of its destination.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// At the far end of a link, then, where it is looked at again.
    FarEnd(Time),
    /// At a link that will have no room for it then.
    FullQueue(Time),
}

impl Graph {
    /// From now on packets go through chains of ordinary links in one step, of which sinks are told nothing: for runs
    /// of which only the end is of interest. What links have counted is exact after [`Graph::settle`]; what waits in
    /// their queues cannot be asked for.
    ///
    /// `ways` are all sources and destinations of packets that will enter: a packet between others would come to links
    /// out of turn. Of no effect where there are middleboxes, which may send anything.
    ///
    /// # Panics
    /// If a packet has entered already.
    pub fn look_ahead(&mut self, ways: &[(NodeId, NodeId)]) {
        assert_eq!(self.injected + self.made, 0, "no packet is under way");
        if !self.proxies.is_empty() {
            return;
        }
        let feeders = self.feeders(ways);
        let is_fed = |link: u32| match feeders[link as usize] {
            Feeder::Link(by) => self.links[link as usize].is_planned() && self.may_feed(by),
            Feeder::None | Feeder::Host | Feeder::Several => false,
        };
        let fed: Vec<_> = (0..self.links.len() as u32).map(is_fed).collect();
        let beyond = self.beyond(ways, &fed);
        let ends = |beyond: &&Option<Beyond>| matches!(beyond, Some(Beyond::Destination));
        // A damaged packet is not delivered.
        let keep = beyond.iter().filter(ends).count() <= MOST_KEEPERS
            && !self.links.iter().any(Link::may_damage);
        let hops = self.links.iter().zip(beyond).map(|(link, beyond)| {
            let kept = keep && link.watcher().is_none();
            let known = beyond.filter(|beyond| kept || !matches!(beyond, Beyond::Destination));
            Hop::of(link, known.unwrap_or(Beyond::Unknown))
        });
        self.hops = hops.collect();
    }

    /// What packets meet at the far ends of links, of which `fed` are told of them by the link before.
    fn beyond(&self, ways: &[(NodeId, NodeId)], fed: &[bool]) -> Vec<Option<Beyond>> {
        let mut beyond = vec![None; fed.len()];
        for way in ways {
            let mut links = self.links_of(*way).peekable();
            while let Some(link) = links.next() {
                let there = match links.peek() {
                    None => Beyond::Destination,
                    Some(next) if fed[*next as usize] => Beyond::Link(*next),
                    Some(_) => Beyond::Unknown,
                };
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
                let is_first = *feeder == Feeder::None || *feeder == from;
                *feeder = if is_first { from } else { Feeder::Several };
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
    fn links_of(&self, (src, dst): (NodeId, NodeId)) -> impl Iterator<Item = u32> {
        let first = self.routes.next(src, dst);
        std::iter::successors(first, move |link| {
            let link = &self.links[*link as usize];
            if link.to() == dst { None } else { self.routes.follow(link.onward(), dst) }
        })
    }

    /// A packet enters the graph on an ordinary link.
    #[inline(always)]
    pub(super) fn enter_chain(&mut self, now: Time, link: u32, packet: &Packet) {
        match self.follow_chain(now, link, (packet.ip_len, packet.dst)) {
            (link, Ok(at)) => self.launch(link, at, packet),
            (link, Err(stop)) => {
                let slot = self.packets.insert(packet);
                self.leave_chain(now, link, stop, slot);
            }
        }
    }

    /// A packet that is under way comes to an ordinary link.
    #[inline(never)]
    pub(super) fn join_chain(&mut self, now: Time, link: u32, slot: Slot) {
        match self.follow_chain(now, link, (slot.ip_len, slot.dst)) {
            (link, Ok(at)) => {
                let packet = self.packets.release(slot);
                self.launch(link, at, &packet);
            }
            (link, Err(stop)) => self.leave_chain(now, link, stop, slot),
        }
    }

    /// How far a packet of this length and destination goes from a link that it comes to now: over which link last,
    /// and when it is at its destination, or where else.
    #[inline(always)]
    fn follow_chain(
        &mut self,
        now: Time,
        mut link: u32,
        (ip_len, dst): (u32, NodeId),
    ) -> (u32, Result<Time, Stop>) {
        let mut at = now;
        loop {
            let Some(Some(hop)) = self.hops.get_mut(link as usize) else {
                unreachable!("a chain consists of hops")
            };
            let Some(arrives_at) = hop.pass((now, at), ip_len) else {
                return (link, Err(Stop::FullQueue(at)));
            };
            let far_end = (link, Err(Stop::FarEnd(arrives_at)));
            at = arrives_at;
            match hop.beyond() {
                Beyond::Link(next) => link = next,
                Beyond::Destination => return (link, Ok(arrives_at)),
                Beyond::ByRoute(row) if dst != hop.to() => match self.routes.follow(row, dst) {
                    Some(next) => link = next,
                    None => return far_end,
                },
                Beyond::ByRoute(_) | Beyond::Unknown => return far_end,
            }
        }
    }

    /// A packet will be at its destination, at the far end of this link, which keeps it until then.
    #[inline(always)]
    fn launch(&mut self, link: u32, at: Time, packet: &Packet) {
        let Some(Some(hop)) = self.hops.get_mut(link as usize) else {
            unreachable!("a chain consists of hops")
        };
        if hop.launch(at, packet) {
            self.schedule.set(link, at);
        }
    }

    /// A packet goes no farther than this for now.
    #[inline(never)]
    fn leave_chain(&mut self, now: Time, link: u32, stop: Stop, slot: Slot) {
        let place = link as usize;
        match stop {
            Stop::FarEnd(at) => {
                if let Some(due_at) = self.links[place].launch_last(at, slot) {
                    self.schedule.set(link, due_at);
                }
            }
            Stop::FullQueue(at) => {
                if let Some(Some(hop)) = self.hops.get_mut(place) {
                    hop.refuse(at, slot);
                }
                self.drop_on_hop(now, place);
            }
        }
    }

    /// The packet that is at its destination now, if it came on a link that always leads there.
    #[inline(always)]
    pub(super) fn land(&mut self, at: Time, link: u32) -> Option<Delivery> {
        let Some(Some(hop)) = self.hops.get_mut(link as usize) else { return None };
        let Beyond::Destination = hop.beyond() else { return None };
        self.schedule.set(link, hop.lands_after_next().unwrap_or(Time::NEVER));
        let node = hop.to();
        hop.land().map(|packet| Delivery { at, node, packet })
    }

    /// Drops what an ordinary link had no room for up to now.
    #[cold]
    fn drop_on_hop(&mut self, now: Time, link: usize) {
        let Some(Some(hop)) = self.hops.get_mut(link) else { return };
        while let Some((at, slot)) = hop.dropped(now) {
            let reason = DropReason::QueueFull;
            self.links[link].drop(at, slot, reason, &mut self.packets, &mut NoSink);
        }
    }

    /// Lets links that look ahead have counted what they count up to `now`.
    pub(super) fn settle_hops(&mut self, now: Time) {
        for link in 0..self.hops.len() {
            if let Some(hop) = &mut self.hops[link] {
                self.links[link].count_as(hop, now);
                self.drop_on_hop(now, link);
            }
        }
    }

    /// Packets on their way to destinations, which have no slots any more.
    pub(super) fn on_last_way(&self) -> u64 {
        self.hops.iter().flatten().map(Hop::on_its_way).sum()
    }

    /// Packets that links that look ahead are still to drop.
    pub(super) fn to_be_dropped(&self) -> u64 {
        self.hops.iter().flatten().map(|hop| hop.to_be_dropped() as u64).sum()
    }
}
