//! Packets that go through chains of ordinary links in one step.
//!
//! What becomes of a packet on an ordinary link is known when it comes there (`link/ahead.rs`). Where all packets of
//! the next link come from this one, the order in which they come there is known too: so the packet is given to that
//! link at once, and only its arrival at the end of the chain is scheduled. Where chains meet, packets wait until their
//! order is known (`graph/junction.rs`). What is delivered, and when, and what links count and tell is the same; what
//! they tell comes late (`link/untold.rs`).

use super::junction::{Junction, Kept, Passage};
use super::{Delivery, Graph};
use crate::link::{Beyond, Hop, Load, Pass};
use crate::packets::Slot;
use ackord_events::{DropReason, Sink};
use ackord_units::Time;
use ackord_wire::{FlowId, Packet};

/// Where a packet that goes through a chain stops short of its destination.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// At the far end of a link, then, where it is looked at again.
    FarEnd(Time),
    /// At a link that will have no room for it then.
    FullQueue(Time),
    /// Where chains meet, at the junction of this number, then.
    Junction(u32, Time),
}

/// Who keeps packets that will be at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    /// The link.
    Wire,
    /// The link as one that looks ahead: it always leads to their destination.
    Hop,
    /// The junction of this number, by which all of them have come. Now and then the link.
    Junction(u32),
}

/// What comes out of a link.
pub(super) enum Arrival {
    /// What the link keeps itself.
    OnWire,
    AtDestination(Delivery),
    UnderWay(Slot),
}

impl Graph {
    /// A packet enters the graph on an ordinary link.
    #[inline(always)]
    pub(super) fn enter_chain<S: Sink>(
        &mut self,
        now: Time,
        link: u32,
        packet: &Packet,
        sink: &mut S,
    ) {
        let flow = if S::ACTIVE { packet.flow } else { FlowId(0) };
        let load = Load { ip_len: packet.ip_len, dst: packet.dst, flow };
        match self.follow_chain(now, link, load, sink) {
            (link, Ok(at)) => self.launch(link, at, packet),
            (by, Err(Stop::Junction(junction, at))) => {
                let slot = self.packets.insert(packet);
                self.expect(junction, Passage { at, by, slot, lands: false });
            }
            (link, Err(stop)) => {
                let slot = self.packets.insert(packet);
                self.leave_chain(now, link, stop, slot, sink);
            }
        }
    }

    /// A packet that is under way comes to an ordinary link.
    #[inline(never)]
    pub(super) fn join_chain<S: Sink>(&mut self, now: Time, link: u32, slot: Slot, sink: &mut S) {
        match self.follow_chain(now, link, self.load::<S>(slot), sink) {
            (link, Ok(at)) => {
                let packet = self.packets.release(slot);
                self.launch(link, at, &packet);
            }
            (link, Err(stop)) => self.leave_chain(now, link, stop, slot, sink),
        }
    }

    /// What links ask of a packet that is under way.
    #[inline(always)]
    fn load<S: Sink>(&self, slot: Slot) -> Load {
        let flow = if S::ACTIVE { self.packets[slot].flow } else { FlowId(0) };
        Load { ip_len: slot.ip_len, dst: slot.dst, flow }
    }

    /// How far a packet goes from a link that it comes to now: over which link last, and when it is at its destination,
    /// or where else.
    #[inline(always)]
    fn follow_chain<S: Sink>(
        &mut self,
        now: Time,
        mut link: u32,
        load: Load,
        sink: &mut S,
    ) -> (u32, Result<Time, Stop>) {
        let (mut at, dst) = (now, load.dst);
        loop {
            let hop = self.hop(link);
            match hop.pass::<S>(at, load) {
                Pass::Arrives(arrives_at) => at = arrives_at,
                Pass::FullQueue => return (link, Err(Stop::FullQueue(at))),
                Pass::FullPlan => {
                    self.make_room(now, link as usize, sink);
                    continue;
                }
            }
            if let Some(next) = hop.next() {
                link = next;
                continue;
            }
            // Asked for before the rest, which takes longer to tell apart.
            if matches!(hop.beyond(), Beyond::Destination) {
                return (link, Ok(at));
            }
            let stop = match hop.beyond() {
                Beyond::Junction(junction) => Stop::Junction(junction, at),
                Beyond::ByRoute(row) if dst != hop.to() => match self.routes.follow(row, dst) {
                    Some(next) => match self.hop(next).junction() {
                        Some(junction) => Stop::Junction(junction, at),
                        None => {
                            link = next;
                            continue;
                        }
                    },
                    None => Stop::FarEnd(at),
                },
                _ => Stop::FarEnd(at),
            };
            return (link, Err(stop));
        }
    }

    /// A link of a chain.
    #[inline(always)]
    fn hop(&mut self, link: u32) -> &mut Hop {
        let Some(Some(hop)) = self.hops.get_mut(link as usize) else {
            unreachable!("a chain consists of hops")
        };
        hop
    }

    /// A packet will be at its destination, at the far end of this link, which keeps it until then.
    #[inline(always)]
    fn launch(&mut self, link: u32, at: Time, packet: &Packet) {
        if self.hop(link).launch(at, packet) {
            self.schedule.set(link, at);
        }
    }

    /// A packet goes no farther than this for now.
    #[inline(never)]
    fn leave_chain<S: Sink>(&mut self, now: Time, link: u32, stop: Stop, slot: Slot, sink: &mut S) {
        match stop {
            Stop::FarEnd(at) => {
                if !self.keep_at_junction(link, at, slot)
                    && let Some(due_at) = self.links[link as usize].launch_last(at, slot)
                {
                    self.schedule.set(link, due_at);
                }
            }
            Stop::FullQueue(at) => {
                if let Some(Some(hop)) = self.hops.get_mut(link as usize) {
                    hop.refuse(at, slot);
                }
                self.drop_on_hop(now, link as usize, sink);
            }
            Stop::Junction(junction, at) => {
                self.expect(junction, Passage { at, by: link, slot, lands: false });
            }
        }
    }

    /// A packet will come to where chains meet.
    #[inline(always)]
    fn expect(&mut self, junction: u32, passage: Passage) {
        let junction = &mut self.junctions[junction as usize];
        if let Some(due_at) = junction.expect(passage) {
            self.schedule.set(junction.id(), due_at);
        }
    }

    /// Packets go on from a junction: all that come there up to and including `now`.
    pub(super) fn step_junction<S: Sink>(&mut self, now: Time, number: usize, sink: &mut S) {
        let junction = &mut self.junctions[number];
        let (first, going) = (junction.link(), junction.take_until(now));
        self.schedule.set(junction.id(), junction.due_at());
        for &Passage { at: now, slot, .. } in &going {
            match self.follow_chain(now, first, self.load::<S>(slot), sink) {
                (by, Err(Stop::FarEnd(at))) if self.keep_behind_others(number, by, at, slot) => {}
                (link, Err(stop)) => self.leave_chain(now, link, stop, slot, sink),
                (_, Ok(_)) => unreachable!("what has come by a junction is kept there"),
            }
        }
        self.junctions[number].give_back(going);
    }

    /// Whether a junction keeps a packet that will be at the far end of this link later than all it keeps already, as most
    /// will.
    #[inline(always)]
    fn keep_behind_others(&mut self, number: usize, by: u32, at: Time, slot: Slot) -> bool {
        let Some(Some(hop)) = self.hops.get(by as usize) else { return false };
        let lands = hop.is_end_of(slot);
        self.junctions[number].push(Passage { at, by, slot, lands })
    }

    /// Whether a junction keeps a packet that will be at the far end of this link, whatever it passes.
    fn keep_at_junction(&mut self, by: u32, at: Time, slot: Slot) -> bool {
        let place = by as usize;
        let (Keeper::Junction(number), Some(hop)) = (self.keepers[place], &self.hops[place]) else {
            return false;
        };
        let junction = &mut self.junctions[number as usize];
        let kept = junction.keep(Passage { at, by, slot, lands: hop.is_end_of(slot) });
        if kept == Kept::First {
            self.schedule_next(number);
        }
        kept != Kept::Not
    }

    /// When the next of the packets that have gone on from a junction is at the end of its chain.
    #[inline(always)]
    fn schedule_next(&mut self, number: u32) {
        let junction = &self.junctions[number as usize];
        match junction.next() {
            Some(next) => {
                self.packets.fetch(next.slot);
                self.schedule.set_as(junction.id() + 1, next.at, next.by);
            }
            None => self.schedule.clear(junction.id() + 1),
        }
    }

    /// What comes out of a link now, if it has gone on from this junction and was kept there.
    #[inline(always)]
    pub(super) fn arrive(&mut self, at: Time, link: u32, number: u32) -> Arrival {
        let Some(Passage { slot, lands, .. }) = self.junctions[number as usize].take(at, link)
        else {
            return Arrival::OnWire;
        };
        self.schedule_next(number);
        if lands {
            let packet = self.packets.release(slot);
            return Arrival::AtDestination(Delivery { at, node: slot.dst, packet });
        }
        Arrival::UnderWay(slot)
    }

    /// The packet that is at its destination now, on a link that always leads there.
    #[inline(always)]
    pub(super) fn land(&mut self, at: Time, link: u32) -> Option<Delivery> {
        let Some(Some(hop)) = self.hops.get_mut(link as usize) else { return None };
        let landed = hop.land().map(|packet| Delivery { at, node: hop.to(), packet });
        self.schedule.set(link, hop.next_lands_at());
        self.landed_by = link;
        landed
    }

    /// Drops what an ordinary link had no room for up to now.
    #[cold]
    fn drop_on_hop<S: Sink>(&mut self, now: Time, link: usize, sink: &mut S) {
        let Some(Some(hop)) = self.hops.get_mut(link) else { return };
        while let Some((at, slot)) = hop.dropped(now, sink) {
            let reason = DropReason::QueueFull;
            self.links[link].drop(at, slot, reason, &mut self.packets, sink);
        }
    }

    /// An ordinary link has planned as much as it has room for.
    #[cold]
    fn make_room<S: Sink>(&mut self, now: Time, link: usize, sink: &mut S) {
        self.drop_on_hop(now, link, sink);
        if let Some(Some(hop)) = self.hops.get_mut(link) {
            hop.make_room(now, sink);
        }
    }

    /// Lets links that look ahead have counted, and have told, what there is up to `now`.
    pub(super) fn settle_hops<S: Sink>(&mut self, now: Time, sink: &mut S) {
        for junction in 0..self.junctions.len() {
            self.step_junction(now, junction, sink);
        }
        for link in 0..self.hops.len() {
            self.drop_on_hop(now, link, sink);
            if let Some(hop) = &mut self.hops[link] {
                hop.count_until(now, sink);
                hop.tell_waiting(now, sink);
                self.links[link].count_as(hop);
            }
        }
    }

    /// Packets on their way to destinations, which have no slots any more.
    pub(super) fn on_last_way(&self) -> u64 {
        self.hops.iter().flatten().map(Hop::on_its_way).sum()
    }

    /// Packets that links that look ahead are still to drop, and those that junctions keep.
    pub(super) fn not_on_links(&self) -> u64 {
        let to_be_dropped = self.hops.iter().flatten().map(Hop::to_be_dropped);
        to_be_dropped.chain(self.junctions.iter().map(Junction::held)).sum::<usize>() as u64
    }
}
