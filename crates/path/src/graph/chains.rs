//! Packets that go through chains of ordinary links in one step.
//!
//! What becomes of a packet on an ordinary link is known when it comes there (`link/ahead.rs`). Where all packets of
//! the next link come from this one, the order in which they come there is known too: so the packet is given to that
//! link at once, and only its arrival at the end of the chain is scheduled. What is delivered, and when, and what links
//! count is the same; what they would tell on the way would be told too early, and so is not told at all.

use super::Graph;
use crate::link::Hop;
use crate::packets::Slot;
use ackord_events::{DropReason, NoSink};
use ackord_units::Time;
use ackord_wire::NodeId;

/// Where a link's packets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    /// There are none.
    None,
    Host,
    Link(u32),
    Several,
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
        let mut feeds = vec![false; fed.len()];
        let mut leaves_chain = vec![false; fed.len()];
        for way in ways {
            let links: Vec<_> = self.links_of(*way).map(|link| link as usize).collect();
            for pair in links.windows(2) {
                feeds[pair[0]] |= fed[pair[1]];
                leaves_chain[pair[0]] |= !fed[pair[1]];
            }
        }
        let hops = self.links.iter().zip(feeds).zip(leaves_chain);
        self.hops = hops.map(|((link, feeds), leaves)| Hop::of(link, feeds && !leaves)).collect();
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

    /// A packet comes to an ordinary link, and goes as far as is known ahead.
    #[inline(never)]
    pub(super) fn follow_chain(&mut self, now: Time, mut link: u32, slot: Slot) {
        let mut at = now;
        loop {
            let Some(Some(hop)) = self.hops.get_mut(link as usize) else {
                unreachable!("a chain consists of hops")
            };
            let Some(arrives_at) = hop.pass((now, at), slot.ip_len) else {
                hop.refuse(at, slot);
                return self.drop_on_hop(now, link as usize);
            };
            let onward = hop.onward(slot.dst).and_then(|row| self.routes.follow(row, slot.dst));
            let Some(next) = onward else {
                if let Some(due_at) = self.links[link as usize].launch_last(arrives_at, slot) {
                    self.schedule.set(link, due_at);
                }
                return;
            };
            (link, at) = (next, arrives_at);
        }
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

    /// Packets that links that look ahead are still to drop.
    pub(super) fn to_be_dropped(&self) -> u64 {
        self.hops.iter().flatten().map(|hop| hop.to_be_dropped() as u64).sum()
    }
}
