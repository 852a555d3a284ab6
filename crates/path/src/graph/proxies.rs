//! Packets that meet a middlebox at a router, and those that boxes send.

use super::Graph;
use crate::packets::Slot;
use crate::proxy::{Lane, Made, Outbox, ProxyStats, Turn, Verdict};
use ackord_events::{DropReason, Event, ProxyId, Sink};
use ackord_units::{Time, count};
use ackord_wire::NodeId;

impl Graph {
    /// A middlebox's counters: of the one that is there, or of the one that died.
    ///
    /// # Panics
    /// If there is no such box.
    pub fn proxy_stats(&self, proxy: ProxyId) -> &ProxyStats {
        self.proxies[proxy.0 as usize].stats()
    }

    /// How many middleboxes there are, numbered from zero.
    pub fn proxies(&self) -> usize {
        self.proxies.len()
    }

    /// Takes a middlebox away at `now`, or puts one there that knows nothing.
    ///
    /// # Panics
    /// If there is no such box.
    pub fn switch_proxy<S: Sink>(
        &mut self,
        now: Time,
        proxy: ProxyId,
        is_there: bool,
        sink: &mut S,
    ) {
        let index = proxy.0 as usize;
        match self.proxies[index].switch(is_there) {
            Turn::Restarted => sink.emit(now, Event::ProxyRestarted { proxy }),
            _ => sink.emit(now, Event::ProxyFailed { proxy }),
        }
        self.schedule_proxy(index);
    }

    /// A packet is at `node`, came by one link and would leave by another: the box there, if any,
    /// has its say.
    #[inline(never)]
    pub(super) fn meet_proxy<S: Sink>(
        &mut self,
        now: Time,
        node: NodeId,
        (came_by, leaves_by): (u32, u32),
        slot: Slot,
        sink: &mut S,
    ) {
        let met = self.proxies.iter().enumerate().find_map(|(index, place)| {
            let heading = place.heading(came_by, leaves_by).filter(|_| place.at == node);
            heading.map(|heading| (index, heading))
        });
        // A damaged packet says nothing that a box could rely on.
        let Some((index, heading)) = met.filter(|_| !slot.is_damaged) else {
            return self.take_link(now, leaves_by, slot, sink);
        };
        let mut outbox = std::mem::take(&mut self.outbox);
        let packet = self.packets[slot];
        match self.proxies[index].handle(now, &packet, heading, &mut outbox) {
            Verdict::Forward => self.leave_box(now, index, (leaves_by, slot, Lane::Queue), sink),
            Verdict::Rewrite(packet) => {
                debug_assert_eq!(packet.dst, slot.dst, "a rewritten packet keeps its destination");
                self.packets.release(slot);
                let slot = self.packets.insert(&packet);
                self.leave_box(now, index, (leaves_by, slot, Lane::Queue), sink);
            }
            Verdict::Absorb => {
                self.packets.release(slot);
                count(&mut self.absorbed);
                let proxy = ProxyId(index as u32);
                sink.emit(now, Event::ProxyAbsorbed { proxy, packet: &packet });
            }
        }
        self.empty_outbox(now, index, &mut outbox, sink);
        self.outbox = outbox;
        self.schedule_proxy(index);
    }

    /// A packet leaves a box by a link, ahead of those that wait for it or behind them. The box is
    /// told if the link's queue refuses this very packet.
    fn leave_box<S: Sink>(
        &mut self,
        now: Time,
        index: usize,
        (link, slot, lane): (u32, Slot, Lane),
        sink: &mut S,
    ) {
        if !self.proxies[index].leads_to_mobile(link) {
            return self.take_link(now, link, slot, sink);
        }
        let packet = self.packets[slot];
        let (at_link, packets) = (&mut self.links[link as usize], &mut self.packets);
        let accepted = match lane {
            Lane::First => at_link.accept_first(now, slot, packets, sink),
            Lane::Queue => at_link.accept(now, slot, packets, sink),
        };
        self.look_after(now, link, accepted.due_at);
        if accepted.taken.is_err() {
            self.proxies[index].handle_refused(now, &packet);
        }
    }

    /// A middlebox does what is due.
    pub(super) fn step_proxy<S: Sink>(&mut self, now: Time, index: usize, sink: &mut S) {
        let mut outbox = std::mem::take(&mut self.outbox);
        let turn = self.proxies[index].take_turn(now, &mut outbox);
        let proxy = ProxyId(index as u32);
        match turn {
            Turn::Called => {}
            Turn::Died => sink.emit(now, Event::ProxyFailed { proxy }),
            Turn::Restarted => sink.emit(now, Event::ProxyRestarted { proxy }),
        }
        self.empty_outbox(now, index, &mut outbox, sink);
        self.outbox = outbox;
        self.schedule_proxy(index);
    }

    fn schedule_proxy(&mut self, index: usize) {
        let id = self.links.len() + self.media.len() + index;
        self.schedule.set(id as u32, self.proxies[index].due_at());
    }

    /// Tells and sends what the box put there, in order.
    fn empty_outbox<S: Sink>(
        &mut self,
        now: Time,
        index: usize,
        outbox: &mut Outbox,
        sink: &mut S,
    ) {
        let proxy = ProxyId(index as u32);
        for note in outbox.notes.drain(..) {
            sink.emit(now, Event::ProxyActed { proxy, flow: note.flow, act: note.act });
        }
        for (packet, made) in outbox.sent.drain(..) {
            let packet = &packet;
            sink.emit(
                now,
                match made {
                    Made::New(what) | Made::First(what) => Event::ProxySent { proxy, packet, what },
                    Made::Released => Event::ProxyReleased { proxy, packet },
                },
            );
            count(&mut self.made);
            match self.route(self.proxies[index].at, packet.dst) {
                Some(link) => {
                    let slot = self.packets.insert(packet);
                    let lane = match made {
                        Made::First(_) => Lane::First,
                        Made::New(_) | Made::Released => Lane::Queue,
                    };
                    self.leave_box(now, index, (link, slot, lane), sink);
                }
                None => {
                    count(&mut self.unroutable);
                    let reason = DropReason::NoRoute;
                    let link = ackord_events::LinkId::NONE;
                    sink.emit(now, Event::PacketDropped { link, packet, reason });
                }
            }
        }
    }
}
