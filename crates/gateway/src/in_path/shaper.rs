//! A queue of `path` and a transmitter of a fixed rate behind it, which lets packets go when their transmission
//! begins.
//!
//! A link of `path` hands a packet over when its last bit is out, since nothing comes after it. Here the real
//! interface comes after it, which takes the time of the transmission again. As there, the transmitter is
//! lazy: packets leave the queue at the instant at which they would have, however late somebody looks.

use ackord_events::DropReason;
use ackord_path::{DropList, Packets, Queue, QueueContext, QueueDiscipline, QueueLength};
use ackord_units::{Rate, Time};
use ackord_wire::Packet;
use std::collections::VecDeque;

/// A queue at a rate.
#[derive(Debug)]
pub(super) struct Shaper {
    queue: Queue,
    rate: Rate,
    /// When the transmitter has finished what it has begun.
    free_at: Time,
    /// The device behind it takes no more.
    is_blocked: bool,
    packets: Packets,
    drops: DropList,
    /// To be sent, in order.
    leaving: VecDeque<Packet>,
    /// Dropped, with why.
    dead: Vec<(Packet, DropReason)>,
}

impl Shaper {
    pub(super) fn new(queue: Queue, rate: Rate) -> Shaper {
        Shaper {
            queue,
            rate,
            free_at: Time::ZERO,
            is_blocked: false,
            packets: Packets::default(),
            drops: DropList::default(),
            leaving: VecDeque::new(),
            dead: Vec::new(),
        }
    }

    /// A packet arrives; what is due before it goes first. It may leave at once.
    pub(super) fn arrive(&mut self, now: Time, packet: &Packet) {
        self.handle_deadline(now);
        let slot = self.packets.insert(packet);
        let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
        let is_idle = !self.is_blocked && self.free_at <= now;
        let taken = match is_idle {
            true => self.queue.pass(now, slot, context),
            false => self.queue.enqueue(now, slot, context).map(|()| None),
        };
        self.bury();
        match taken {
            Ok(Some(slot)) => {
                let packet = self.packets.release(slot);
                self.transmit(now, packet);
            }
            Ok(None) => {}
            Err(reason) => self.dead.push((self.packets.release(slot), reason)),
        }
    }

    fn transmit(&mut self, at: Time, packet: Packet) {
        self.free_at = at + self.rate.time_for(packet.len());
        self.leaving.push_back(packet);
    }

    /// Lets go what is due by now.
    pub(super) fn handle_deadline(&mut self, now: Time) {
        while !self.is_blocked && self.free_at <= now && self.queue.length().packets > 0 {
            let at = self.free_at;
            let Some(packet) = self.dequeue(at) else { break };
            self.transmit(at, packet);
        }
    }

    fn dequeue(&mut self, at: Time) -> Option<Packet> {
        let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
        let dequeued = self.queue.dequeue(at, context);
        self.bury();
        dequeued.map(|dequeued| self.packets.release(dequeued.slot))
    }

    fn bury(&mut self) {
        for (slot, reason) in self.drops.dropped.drain(..) {
            self.dead.push((self.packets.release(slot), reason));
        }
    }

    /// When it wants to be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        (!self.is_blocked && self.queue.length().packets > 0).then_some(self.free_at)
    }

    /// The device takes no more: everything waits.
    pub(super) fn block(&mut self) {
        self.is_blocked = true;
    }

    /// It does again. What could not be sent meanwhile is not made up for.
    pub(super) fn unblock(&mut self, now: Time) {
        self.is_blocked = false;
        self.free_at = self.free_at.max(now);
    }

    /// Lets everything go at once.
    pub(super) fn drain(&mut self, now: Time) {
        while self.queue.length().packets > 0 {
            let Some(packet) = self.dequeue(now) else { break };
            self.leaving.push_back(packet);
        }
    }

    /// Another queue, another rate; what waits joins the new one in order.
    pub(super) fn change(&mut self, now: Time, queue: Queue, rate: Rate) {
        let sent_before = self.leaving.len();
        self.drain(now);
        let waiting = self.leaving.split_off(sent_before);
        (self.queue, self.rate) = (queue, rate);
        for packet in waiting {
            let slot = self.packets.insert(&packet);
            let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
            if let Err(reason) = self.queue.enqueue(now, slot, context) {
                self.dead.push((self.packets.release(slot), reason));
            }
            self.bury();
        }
    }

    /// Sends at another rate from the next packet on; the queue stays.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// A packet came the other way.
    pub(super) fn observe_reverse(&mut self, now: Time, packet: &Packet) {
        self.queue.observe_reverse(now, packet);
    }

    pub(super) fn wants_reverse(&self) -> bool {
        self.queue.wants_reverse()
    }

    /// What is to be sent, in order.
    pub(super) fn leaving(&mut self) -> Option<Packet> {
        self.leaving.pop_front()
    }

    /// What was dropped.
    pub(super) fn dead(&mut self) -> Option<(Packet, DropReason)> {
        self.dead.pop()
    }

    pub(super) fn length(&self) -> QueueLength {
        self.queue.length()
    }

    /// Packets marked so far.
    pub(super) fn marked(&self) -> u64 {
        self.drops.marked
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_path::registry::{QueueChoice, QueuePlace};
    use ackord_units::{Choice, RandomStream, Span};
    use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Side};

    const RATE: Rate = Rate::from_mbits_per_sec(12);

    fn queue(name: &str) -> Queue {
        let context = QueuePlace {
            rate: RATE,
            delay: Span::ZERO,
            flow_named: &|_| None,
            stream: RandomStream::for_element(1, "queue"),
        };
        let queue = QueueChoice::named(name).expect("listed");
        queue.config().build(&context).expect("it names no flows")
    }

    fn packet(tag: u64) -> Packet {
        Packet {
            flow: FlowId((tag % 3) as u32),
            from: Side::Server,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 1_500,
            tag,
            tcp: None,
        }
    }

    fn sent(shaper: &mut Shaper) -> Vec<u64> {
        std::iter::from_fn(|| shaper.leaving()).map(|packet| packet.tag).collect()
    }

    #[test]
    fn packets_leave_at_the_rate_when_their_transmission_begins() {
        let mut shaper = Shaper::new(queue("drop-tail"), RATE);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        for tag in 0..4 {
            shaper.arrive(at(10), &packet(tag));
        }
        // 1500 bytes take a millisecond; the first one need not wait.
        assert_eq!((sent(&mut shaper), shaper.deadline()), (vec![0], Some(at(11))));
        // Looked at late: as many as would have gone.
        shaper.handle_deadline(at(12));
        assert_eq!((sent(&mut shaper), shaper.deadline()), (vec![1, 2], Some(at(13))));
        shaper.handle_deadline(at(20));
        assert_eq!((sent(&mut shaper), shaper.deadline()), (vec![3], None));
    }

    #[test]
    fn what_could_not_be_sent_is_not_made_up_for() {
        let mut shaper = Shaper::new(queue("drop-tail"), RATE);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        shaper.block();
        for tag in 0..3 {
            shaper.arrive(at(1), &packet(tag));
        }
        assert_eq!((sent(&mut shaper), shaper.deadline()), (vec![], None));
        shaper.unblock(at(50));
        shaper.handle_deadline(at(50));
        assert_eq!((sent(&mut shaper), shaper.deadline()), (vec![0], Some(at(51))));
    }

    #[test]
    fn every_queue_gives_back_every_packet_also_through_a_change_to_another() {
        for one in QueueChoice::MECHANISMS {
            for other in QueueChoice::MECHANISMS {
                let mut shaper = Shaper::new(queue(one.name), RATE);
                let mut gone = Vec::new();
                for tag in 0..400 {
                    shaper.arrive(Time::from_nanos(tag * 10_000), &packet(tag));
                }
                shaper.change(Time::from_nanos(5_000_000), queue(other.name), RATE);
                shaper.handle_deadline(Time::from_nanos(9_000_000));
                shaper.drain(Time::from_nanos(9_000_000));
                gone.extend(sent(&mut shaper));
                let alive = gone.len();
                gone.extend(std::iter::from_fn(|| shaper.dead()).map(|(packet, _)| packet.tag));
                gone.sort_unstable();
                let (one, other) = (one.name, other.name);
                assert_eq!(gone, (0..400).collect::<Vec<u64>>(), "{one}, {other}");
                assert!(alive > 10 && shaper.packets.is_empty(), "{one}, {other}: {alive}");
            }
        }
    }
}
