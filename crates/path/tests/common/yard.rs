//! A queue by itself: packets go in and come out by hand, and an independent ledger checks it.

use super::packet;
use ackord_events::DropReason;
use ackord_path::registry::{QueueChoice, QueuePlace};
use ackord_path::{Dequeued, DropList, Packets, Queue, QueueContext, QueueDiscipline, Slot};
use ackord_units::{Bytes, Choice, KnobValue, RandomStream, Rate, Span, Time};
use ackord_wire::{Ecn, Packet};
use std::collections::BTreeMap;

/// A queue, its packets, and what is known of them from outside.
pub(crate) struct Yard {
    pub(crate) queue: Queue,
    packets: Packets,
    drops: DropList,
    pub(crate) now: Time,
    next_tag: u64,
    /// Tag to arrival and packet, of all that wait.
    held: BTreeMap<u64, (Time, Packet)>,
    /// The last tag that came out, by flow.
    last_out: BTreeMap<u32, u64>,
    pub(crate) deaths: Vec<(u64, DropReason)>,
    pub(crate) entered: u64,
    pub(crate) left: u64,
}

/// A packet that came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Out {
    pub(crate) flow: u32,
    pub(crate) ip_len: u32,
    pub(crate) tag: u64,
    pub(crate) waited: Span,
    pub(crate) ecn: Ecn,
}

impl Yard {
    pub(crate) fn new(queue: Queue) -> Yard {
        Yard {
            queue,
            packets: Packets::default(),
            drops: DropList::default(),
            now: Time::ZERO,
            next_tag: 0,
            held: BTreeMap::new(),
            last_out: BTreeMap::new(),
            deaths: Vec::new(),
            entered: 0,
            left: 0,
        }
    }

    /// The registered queue of this name with these knobs, on a link of 10 Mbit/s and 10 ms.
    pub(crate) fn registered(name: &str, knobs: &[(&str, KnobValue)]) -> Yard {
        Yard::new(registered(name, knobs))
    }

    pub(crate) fn advance(&mut self, span: Span) {
        self.now += span;
    }

    /// A packet arrives; its number, and why it was refused, if it was.
    pub(crate) fn arrive(&mut self, flow: u32, ip_len: u32) -> Result<u64, DropReason> {
        self.arrive_with(flow, ip_len, Ecn::NotEct)
    }

    pub(crate) fn arrive_with(
        &mut self,
        flow: u32,
        ip_len: u32,
        ecn: Ecn,
    ) -> Result<u64, DropReason> {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.entered += 1;
        let packet = Packet { ecn, ..packet(flow, ip_len, tag) };
        let slot = self.packets.insert(&packet);
        self.held.insert(tag, (self.now, packet));
        let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
        let taken = self.queue.enqueue(self.now, slot, context);
        if let Err(reason) = taken {
            self.bury(slot, reason);
        }
        self.settle();
        taken.map(|()| tag)
    }

    /// The transmitter is free.
    pub(crate) fn depart(&mut self) -> Option<Out> {
        let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
        let waiting = self.queue.length().packets;
        let dequeued = self.queue.dequeue(self.now, context);
        let dropped = self.drops.dropped.len() as u32;
        assert!(
            dequeued.is_some() || waiting == dropped,
            "work-conserving: nothing came out, {waiting} waited, {dropped} were dropped"
        );
        self.settle();
        let Dequeued { slot, waited } = dequeued?;
        let packet = self.packets[slot];
        let (since, entered) = self.held.remove(&packet.tag).expect("what comes out was in");
        assert_eq!(waited, self.now.saturating_since(since), "the wait it tells");
        let last = self.last_out.insert(packet.flow.0, packet.tag);
        assert!(last < Some(packet.tag), "in order of arrival within a flow");
        assert!(
            packet.ecn == entered.ecn || (packet.ecn == Ecn::Ce && entered.ecn != Ecn::NotEct),
            "RFC 3168 §5: {:?} became {:?}",
            entered.ecn,
            packet.ecn
        );
        self.left += 1;
        self.packets.release(slot);
        if self.held.len() < 64 {
            self.check();
        }
        let Packet { flow, ip_len, tag, ecn, .. } = packet;
        Some(Out { flow: flow.0, ip_len, tag, waited, ecn })
    }

    /// Everything that waits, in the order in which it leaves.
    pub(crate) fn drain(&mut self) -> Vec<Out> {
        std::iter::from_fn(|| self.depart()).collect()
    }

    pub(crate) fn marked(&self) -> u64 {
        self.drops.marked
    }

    /// Numbers of the packets that died for this reason.
    pub(crate) fn died_of(&self, reason: DropReason) -> Vec<u64> {
        self.deaths.iter().filter(|death| death.1 == reason).map(|death| death.0).collect()
    }

    fn settle(&mut self) {
        for (slot, reason) in std::mem::take(&mut self.drops.dropped) {
            self.bury(slot, reason);
        }
    }

    fn bury(&mut self, slot: Slot, reason: DropReason) {
        let tag = self.packets[slot].tag;
        self.held.remove(&tag).expect("only what is in can die");
        self.packets.release(slot);
        self.deaths.push((tag, reason));
    }

    /// Every packet is in one place, and the queue knows how much it holds.
    pub(crate) fn check(&self) {
        let held = self.held.len() as u64;
        assert_eq!(self.entered, self.left + self.deaths.len() as u64 + held);
        let bytes: u64 = self.held.values().map(|(_, packet)| u64::from(packet.ip_len)).sum();
        let length = self.queue.length();
        assert_eq!((u64::from(length.packets), length.bytes), (held, Bytes(bytes)));
        assert_eq!(self.packets.len() as u64, held);
    }
}

/// The registered queue of this name with these knobs, on a link of 10 Mbit/s and 10 ms.
pub(crate) fn registered(name: &str, knobs: &[(&str, KnobValue)]) -> Queue {
    let mut choice = QueueChoice::named(name).expect("listed");
    for (knob, value) in knobs {
        choice = choice.with(knob, value.clone());
    }
    let context = QueuePlace {
        rate: Rate::from_mbits_per_sec(10),
        delay: Span::from_millis(10),
        flow_named: &|_| None,
        stream: RandomStream::for_element(1, "links/test/queue"),
    };
    choice.config().build(&context).expect("no flow is named")
}
