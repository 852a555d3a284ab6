//! Nodes and one-way links, and the packets that move over them.
//!
//! | file | what |
//! | --- | --- |
//! | `graph/builder.rs` | [`GraphBuilder`](builder::GraphBuilder): how a graph is put together, and what it refuses |
//! | `graph/conservation.rs` | [`Conservation`]: where every packet is |
//! | `graph/chains.rs` | packets that go through several links in one step |
//! | `graph/foresight.rs` | which links those are |
//! | `graph/junction.rs` | where chains meet |
//! | `graph/proxies.rs` | packets that meet a middlebox, and those it sends |
//!
//! Everything inside happens at its theoretical instant, in order of time, and at one instant in
//! order of link numbers, then of shared media, then of middleboxes; a packet entering at an instant comes after those already on their way.
//! What a graph delivers therefore does not depend on when, or how often, it is polled.

pub(crate) mod builder;
mod chains;
mod conservation;
mod foresight;
mod junction;
mod proxies;

use crate::Schedule;
use crate::link::{ChangeRefused, Hop, Link, LinkChange, LinkStats, MediumId};
use crate::medium::{Medium, MediumContext, MediumStats};
use crate::packets::{Packets, Slot};
use crate::proxy::{Outbox, Place};
use crate::queue::{Queue, QueueDiscipline};
use crate::routes::Routes;
use ackord_events::{DropReason, Event, LinkId, Sink};
use ackord_units::{Span, Time, count};
use ackord_wire::{NodeId, Packet};
use chains::{Arrival, Keeper};
use junction::Junction;
use std::borrow::Borrow;
use std::collections::VecDeque;

pub use conservation::{Conservation, Unbalanced};

/// Nodes, links, routes, and the packets under way.
#[derive(Clone, Debug)]
pub struct Graph {
    links: Vec<Link>,
    /// By link: the same if it is ordinary and the graph looks ahead. Empty if the graph does not.
    hops: Vec<Option<Hop>>,
    /// By link: who keeps what will be at its far end. Empty, too, where that is always the link.
    keepers: Vec<Keeper>,
    /// Where chains of them meet.
    junctions: Vec<Junction>,
    media: Vec<Medium>,
    proxies: Vec<Place>,
    /// What a middlebox sends, until it is sent: kept so that its room is used again.
    outbox: Outbox,
    routes: Routes,
    nodes: usize,
    /// Links by number, then media, then middleboxes or junctions.
    schedule: Schedule,
    packets: Packets,
    /// Deliveries that were due before a packet that has entered since.
    ready: VecDeque<Delivery>,
    injected: u64,
    made: u64,
    absorbed: u64,
    delivered: u64,
    unroutable: u64,
    /// The latest `now` at which a packet entered.
    entered_at: Time,
    /// The link that looks ahead by which the latest packet came.
    landed_by: u32,
}

/// A packet that has reached its destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// When it arrived, which may be before the driver asked.
    pub at: Time,
    /// Where: the packet's destination.
    pub node: NodeId,
    /// The packet.
    pub packet: Packet,
}

impl Graph {
    /// A packet enters at `packet.src`, towards `packet.dst`.
    ///
    /// `now` never goes back, over all calls. Everything due up to `now` happens first; what that
    /// delivers waits for [`Graph::poll_delivery`].
    #[inline]
    pub fn handle_packet<S: Sink>(&mut self, now: Time, packet: impl Borrow<Packet>, sink: &mut S) {
        self.take_in(now, packet.borrow(), sink);
    }

    #[inline(never)]
    fn take_in<S: Sink>(&mut self, now: Time, packet: &Packet, sink: &mut S) {
        if self.schedule.next_at() <= now {
            self.catch_up(now, sink);
        }
        debug_assert!(now >= self.entered_at, "packets enter in order of time");
        self.entered_at = now;
        count(&mut self.injected);
        if packet.src == packet.dst {
            self.ready.push_back(Delivery { at: now, node: packet.dst, packet: *packet });
            return;
        }
        match self.route(packet.src, packet.dst) {
            Some(link) if self.is_hop(link) => self.enter_chain(now, link, packet, sink),
            Some(link) => {
                let slot = self.packets.insert(packet);
                self.take_link(now, link, slot, sink);
            }
            None => self.drop_at_source(now, packet, sink),
        }
    }

    /// Lets everything due up to `now` happen; what that delivers waits.
    #[inline(never)]
    fn catch_up<S: Sink>(&mut self, now: Time, sink: &mut S) {
        while let Some(next) = self.schedule.peek_until(now) {
            if let Some(delivery) = self.step(next, sink) {
                self.ready.push_back(delivery);
            }
        }
    }

    /// The next packet that has reached its destination at or before `now`. To be asked until it
    /// answers nothing.
    pub fn poll_delivery<S: Sink>(&mut self, now: Time, sink: &mut S) -> Option<Delivery> {
        if let Some(delivery) = self.ready.pop_front() {
            count(&mut self.delivered);
            return Some(delivery);
        }
        while let Some(next) = self.schedule.peek_until(now) {
            if let Some(delivery) = self.step(next, sink) {
                count(&mut self.delivered);
                return Some(delivery);
            }
        }
        None
    }

    /// The packet that comes next by the way of the latest, and so is among the next to be delivered. Only where links that
    /// look ahead keep those on their last way.
    #[inline]
    pub fn next_behind(&self) -> Option<&Packet> {
        self.hops.get(self.landed_by as usize)?.as_ref()?.next_to_land()
    }

    /// The earliest instant at which [`Graph::poll_delivery`] may have something to do.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let next_at = match self.ready.front() {
            Some(delivery) => delivery.at,
            None => self.schedule.next_at(),
        };
        (next_at != Time::NEVER).then_some(next_at)
    }

    /// Lets every transmitter catch up with `now`, so that events and counters are complete. For
    /// the end of a run, after the last delivery up to `now` has been polled.
    pub fn settle<S: Sink>(&mut self, now: Time, sink: &mut S) {
        for link in &mut self.links {
            link.run_until(now, &mut self.packets, sink);
        }
        self.settle_hops(now, sink);
    }

    /// Returns whether a link would take a change.
    ///
    /// # Errors
    /// Why it would not.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn check_change(&self, link: LinkId, change: &LinkChange) -> Result<(), ChangeRefused> {
        self.links[link.0 as usize].check_change(change)
    }

    /// Makes a change to a link at `now`, after everything due up to `now` has happened and before anything later has.
    ///
    /// # Errors
    /// If the link refuses it, which then stays as it is.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn change_link<S: Sink>(
        &mut self,
        now: Time,
        link: LinkId,
        change: LinkChange,
        sink: &mut S,
    ) -> Result<(), ChangeRefused> {
        let of = &mut self.links[link.0 as usize];
        of.run_until(now, &mut self.packets, sink);
        of.change(now, change)
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many links there are, numbered from zero.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// A link's counters.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn link_stats(&self, link: LinkId) -> &LinkStats {
        self.links[link.0 as usize].stats()
    }

    /// A link's queue.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn queue(&self, link: LinkId) -> &Queue {
        self.links[link.0 as usize].queue()
    }

    /// How long a link's transmitter has been sending up to `now`, the part of the transmission
    /// under way included. Exact after [`Graph::settle`] at the same `now`; never more than `now`.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn busy_for(&self, link: LinkId, now: Time) -> Span {
        let of = &self.links[link.0 as usize];
        match of.medium() {
            None => of.busy_for(now),
            Some(medium) => {
                let beyond = self.media[medium.0 as usize].link_still_busy_for(link, now);
                of.stats().busy_for.saturating_sub(beyond)
            }
        }
    }

    /// A medium's counters.
    ///
    /// # Panics
    /// If there is no such medium.
    pub fn medium_stats(&self, medium: MediumId) -> &MediumStats {
        self.media[medium.0 as usize].stats()
    }

    /// How long a medium has been taken up to `now`, by whomever; never more than `now`.
    ///
    /// # Panics
    /// If there is no such medium.
    pub fn medium_busy_for(&self, medium: MediumId, now: Time) -> Span {
        let medium = &self.media[medium.0 as usize];
        medium.stats().busy_for.saturating_sub(medium.still_busy_for(now))
    }

    /// Works on the earliest thing due: a packet comes out of its link, and goes on or is there.
    // Where a simulation spends its time: one body without calls for a whole hop.
    #[inline(always)]
    fn step<S: Sink>(&mut self, (at, due): (Time, u32), sink: &mut S) -> Option<Delivery> {
        if due as usize >= self.links.len() {
            self.step_other(at, due as usize - self.links.len(), sink);
            return None;
        }
        let slot = match self.keepers.get(due as usize) {
            None | Some(Keeper::Wire) => self.take_arrival(at, due, sink)?,
            Some(Keeper::Hop) => return self.land(at, due),
            Some(Keeper::Junction(number)) => match self.arrive(at, due, *number) {
                Arrival::AtDestination(delivery) => return Some(delivery),
                Arrival::UnderWay(slot) => slot,
                Arrival::OnWire => self.take_arrival(at, due, sink)?,
            },
        };
        let link = &self.links[due as usize];
        let (node, onward) = (link.to(), link.onward());
        if let Some(LinkId(watcher)) = link.watcher() {
            let packet = &self.packets[slot];
            self.links[watcher as usize].queue_mut().observe_reverse(at, packet);
        }
        let dst = slot.dst;
        if dst == node {
            if slot.is_damaged {
                return self.discard(at, due, slot, sink);
            }
            if let Some(next) = self.links[due as usize].next_to_arrive() {
                self.packets.fetch(next);
            }
            return Some(Delivery { at, node, packet: self.packets.release(slot) });
        }
        match self.routes.follow(onward, dst) {
            Some(link) if self.proxies.is_empty() => self.take_link(at, link, slot, sink),
            Some(link) => self.meet_proxy(at, node, (due, link), slot, sink),
            None => {
                let packets = &mut self.packets;
                self.links[due as usize].drop(at, slot, DropReason::NoRoute, packets, sink);
            }
        }
        None
    }

    /// The packet that comes out of a link now, unless that loses it.
    #[inline(always)]
    fn take_arrival<S: Sink>(&mut self, at: Time, due: u32, sink: &mut S) -> Option<Slot> {
        let link = &mut self.links[due as usize];
        let arrived = link.take_arrival(at, &mut self.packets, sink);
        self.schedule.set(due, link.due_at().unwrap_or(Time::NEVER));
        arrived
    }

    /// Whether a link is ordinary and the graph looks ahead.
    #[inline]
    fn is_hop(&self, link: u32) -> bool {
        matches!(self.hops.get(link as usize), Some(Some(_)))
    }

    #[inline(always)]
    fn take_link<S: Sink>(&mut self, now: Time, link: u32, slot: Slot, sink: &mut S) {
        if self.is_hop(link) {
            return self.join_chain(now, link, slot, sink);
        }
        let accepted = self.links[link as usize].accept(now, slot, &mut self.packets, sink);
        self.look_after(now, link, accepted.due_at);
    }

    /// A link has been given a packet.
    #[inline(always)]
    fn look_after(&mut self, now: Time, link: u32, due_at: Option<Time>) {
        if let Some(due_at) = due_at {
            self.schedule.set(link, due_at);
        }
        if !self.media.is_empty() {
            self.wake_medium(now, link);
        }
    }

    /// A packet may have joined the queue of a link that waits for a medium.
    fn wake_medium(&mut self, now: Time, link: u32) {
        let of = &self.links[link as usize];
        let Some(medium) = of.medium().filter(|_| of.has_waiting()) else { return };
        self.media[medium.0 as usize].wake(now, link);
        self.schedule_medium(medium.0 as usize);
    }

    /// A medium, a middlebox or a junction is due.
    #[inline(never)]
    fn step_other<S: Sink>(&mut self, now: Time, other: usize, sink: &mut S) {
        match other.checked_sub(self.media.len()) {
            None => self.step_medium(now, other, sink),
            Some(junction) if self.proxies.is_empty() => {
                self.step_junction(now, junction / 2, sink)
            }
            Some(proxy) => self.step_proxy(now, proxy, sink),
        }
    }

    /// A medium does what is due, and puts packets on the wires of its links.
    fn step_medium<S: Sink>(&mut self, now: Time, medium: usize, sink: &mut S) {
        let of = &mut self.media[medium];
        of.run(
            now,
            &mut MediumContext { links: &mut self.links, packets: &mut self.packets, sink },
        );
        for link in of.links() {
            let due_at = self.links[link as usize].due_at();
            self.schedule.set(link, due_at.unwrap_or(Time::NEVER));
        }
        self.schedule_medium(medium);
    }

    fn schedule_medium(&mut self, medium: usize) {
        let id = self.links.len() + medium;
        self.schedule.set(id as u32, self.media[medium].due_at());
    }

    /// A host finds that a checksum does not hold.
    #[cold]
    fn discard<S: Sink>(
        &mut self,
        now: Time,
        came_by: u32,
        slot: Slot,
        sink: &mut S,
    ) -> Option<Delivery> {
        let reason = DropReason::BadChecksum;
        self.links[came_by as usize].drop(now, slot, reason, &mut self.packets, sink);
        None
    }

    /// The first link of a packet from `src`. Only here may the nodes be unknown.
    #[inline]
    fn route(&self, src: NodeId, dst: NodeId) -> Option<u32> {
        if (dst.0 as usize) < self.nodes { self.routes.next(src, dst) } else { None }
    }

    #[cold]
    fn drop_at_source<S: Sink>(&mut self, now: Time, packet: &Packet, sink: &mut S) {
        count(&mut self.unroutable);
        let reason = DropReason::NoRoute;
        sink.emit(now, Event::PacketDropped { link: LinkId::NONE, packet, reason });
    }
}
