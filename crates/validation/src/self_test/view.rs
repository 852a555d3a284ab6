//! One end of the flow under test as a sender: what it had sent, what of it had arrived, what was
//! acknowledged, at any instant; and what its kernel said.

use super::facts::{Facts, Sent, index};
use ackord_live::TcpInfo;
use ackord_units::Span;
use ackord_wire::{Flags, Side};
use std::collections::BTreeMap;

/// A value that changes at instants.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Vec<(f64, u64)>);

impl Steps {
    /// From then on the value is this one.
    fn set(&mut self, at: f64, value: u64) {
        if self.0.last().is_none_or(|last| last.1 != value) {
            self.0.push((at, value));
        }
    }

    /// From then on it is at least this one.
    fn raise(&mut self, at: f64, value: u64) {
        if self.0.last().is_none_or(|last| last.1 < value) {
            self.0.push((at, value));
        }
    }

    /// At this instant; zero before the first.
    pub(super) fn at(&self, at: f64) -> u64 {
        let after = self.0.partition_point(|step| step.0 <= at);
        after.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    /// When it first was at least this; nothing if it never was.
    pub(super) fn reaches(&self, value: u64) -> Option<f64> {
        let place = self.0.partition_point(|step| step.1 < value);
        self.0.get(place).map(|step| step.0)
    }
}

/// A tick of the kernel's clock, by which its counters rise, s.
const TICK: f64 = 0.004;

/// An end as a sender.
pub(super) struct View<'a> {
    pub(super) side: Side,
    /// Its packets.
    pub(super) sent: &'a [Sent],
    /// Its peer's.
    pub(super) back: &'a [Sent],
    /// The byte after the last sent.
    pub(super) nxt: Steps,
    /// The first byte that it does not know to have arrived.
    pub(super) una: Steps,
    /// How far the peer had it in order.
    pub(super) delivered: Steps,
    /// How far the peer had acknowledged, when it did so.
    pub(super) told: Steps,
    /// The window it was offered last.
    pub(super) window: Steps,
    /// When acknowledgments came.
    pub(super) acks_in: Vec<f64>,
    /// When bytes were sent for the first time, and which.
    pub(super) firsts: Vec<(f64, u64)>,
    /// When bytes were retransmitted, and which.
    pub(super) again: Vec<(f64, u64)>,
    /// What its kernel said.
    pub(super) samples: &'a [(f64, TcpInfo)],
    /// How much its application has wanted to send, where that is known.
    wanted: &'a [(f64, u64)],
}

impl<'a> View<'a> {
    pub(super) fn of(facts: &'a Facts, side: Side, main: Side) -> View<'a> {
        let (me, peer) = (index(side), 1 - index(side));
        let mut view = View {
            side,
            sent: &facts.packets[me],
            back: &facts.packets[peer],
            nxt: Steps::default(),
            una: Steps::default(),
            delivered: Steps::default(),
            told: Steps::default(),
            window: Steps::default(),
            acks_in: Vec::new(),
            firsts: Vec::new(),
            again: Vec::new(),
            samples: &facts.samples[me],
            wanted: if side == main { &facts.wanted } else { &[] },
        };
        view.follow_sending();
        view.follow_arrivals();
        view.follow_acknowledgments();
        view
    }

    fn follow_sending(&mut self) {
        let mut highest = 0;
        for packet in self.sent.iter().filter(|packet| packet.to > packet.from) {
            if packet.to > highest {
                highest = packet.to;
                self.nxt.raise(packet.at, packet.to);
                if packet.payload > 0 || packet.flags.contains(Flags::FIN) {
                    self.firsts.push((packet.at, packet.from));
                }
            } else {
                self.again.push((packet.at, packet.from));
            }
        }
    }

    fn follow_arrivals(&mut self) {
        let arrived = |packet: &&Sent| packet.to > packet.from && packet.arrived.is_some();
        let mut arrivals: Vec<&Sent> = self.sent.iter().filter(arrived).collect();
        arrivals
            .sort_by(|a, b| a.arrived.partial_cmp(&b.arrived).unwrap_or(std::cmp::Ordering::Equal));
        let (mut next, mut beyond) = (0, BTreeMap::<u64, u64>::new());
        for packet in arrivals {
            let end = beyond.entry(packet.from).or_default();
            *end = packet.to.max(*end);
            while let Some(first) = beyond.first_entry().filter(|first| *first.key() <= next) {
                next = next.max(first.remove());
            }
            self.delivered.raise(packet.arrived.unwrap_or(packet.at), next);
        }
    }

    fn follow_acknowledgments(&mut self) {
        for packet in self.back.iter().filter(|packet| packet.flags.contains(Flags::ACK)) {
            self.told.raise(packet.at, packet.ack);
        }
        // A SYN offers a window, too.
        let says = Flags::ACK | Flags::SYN;
        let arrived =
            |packet: &&Sent| packet.flags.bits() & says.bits() != 0 && packet.arrived.is_some();
        let mut arrivals: Vec<&Sent> = self.back.iter().filter(arrived).collect();
        arrivals
            .sort_by(|a, b| a.arrived.partial_cmp(&b.arrived).unwrap_or(std::cmp::Ordering::Equal));
        let mut highest = 0;
        for packet in arrivals {
            let at = packet.arrived.unwrap_or(packet.at);
            if packet.flags.contains(Flags::ACK) {
                self.acks_in.push(at);
            }
            self.una.raise(at, packet.ack);
            if packet.ack >= highest {
                highest = packet.ack;
                self.window.set(at, packet.window);
            }
        }
    }

    /// The last sample before this instant, and the first after it.
    pub(super) fn around(&self, at: f64) -> [Option<&(f64, TcpInfo)>; 2] {
        let after = self.samples.partition_point(|sample| sample.0 <= at);
        [after.checked_sub(1).map(|last| &self.samples[last]), self.samples.get(after)]
    }

    /// Whether the application had written more than had been sent.
    pub(super) fn unsent(&self, at: f64) -> bool {
        let waits = |sample: &(f64, TcpInfo)| sample.1.notsent.get() > 0;
        match self.around(at) {
            [Some(before), Some(after)] => match (waits(before), waits(after)) {
                (true, true) => true,
                (false, false) => false,
                // It was sent in between: until the first bytes were.
                (true, false) => self.sends_between(at, after.0),
                // It was written in between: not before the last that could be sent were.
                (false, true) => !self.sends_between(at, after.0),
            },
            [Some(one), None] | [None, Some(one)] => waits(one),
            [None, None] => false,
        }
    }

    fn sends_between(&self, from: f64, to: f64) -> bool {
        let next = self.firsts.partition_point(|first| first.0 <= from);
        self.firsts.get(next).is_some_and(|first| first.0 <= to)
    }

    /// Whether its application wants to send more than it has sent: written, or without room to be.
    pub(super) fn has_more(&self, at: f64) -> bool {
        let after = self.wanted.partition_point(|wanted| wanted.0 <= at);
        let wanted = after.checked_sub(1).map_or(0, |last| self.wanted[last].1);
        // The SYN has a number, too.
        wanted > self.nxt.at(at).saturating_sub(1) || self.unsent(at)
    }

    /// Whether it has something to say: wanted and not sent, or sent and not arrived.
    pub(super) fn is_active(&self, at: f64) -> bool {
        self.delivered.at(at) < self.nxt.at(at) || self.has_more(at)
    }

    /// Whether it waits for an acknowledgment.
    pub(super) fn waits_for_ack(&self, at: f64) -> bool {
        self.una.at(at) < self.nxt.at(at)
    }

    /// The next time it sends what it has not sent before.
    pub(super) fn next_first(&self, at: f64) -> Option<f64> {
        let next = self.firsts.partition_point(|first| first.0 <= at);
        self.firsts.get(next).map(|first| first.0)
    }

    /// What share of the time around this instant the kernel counted so. It counts in its own ticks.
    pub(super) fn share_of(&self, at: f64, counted: impl Fn(&TcpInfo) -> Span) -> f64 {
        let place = |at: f64| self.samples.partition_point(|sample| sample.0 <= at);
        let before = place(at - TICK).checked_sub(1).map(|last| &self.samples[last]);
        let after = self.samples.get(place(at + TICK));
        let (Some(before), Some(after)) = (before, after) else { return 0.0 };
        let rose = counted(&after.1).as_secs_f64() - counted(&before.1).as_secs_f64();
        rose / (after.0 - before.0).max(1e-6)
    }

    /// The last acknowledgment before this instant.
    pub(super) fn last_ack_before(&self, at: f64) -> Option<f64> {
        let after = self.acks_in.partition_point(|ack| *ack < at);
        after.checked_sub(1).map(|last| self.acks_in[last])
    }
}
