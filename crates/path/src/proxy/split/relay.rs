//! One connection of the hosts, as two.

use super::config::{Endpoints, SplitConfig};
use super::half::{Guise, Half, Peer};
use crate::proxy::{Heading, Outbox, ProxyStats};
use ackord_events::NoSink;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Flags, Packet, Segment, Side};

/// The two connections that stand for one.
#[derive(Clone, Debug)]
pub(super) struct Relay {
    /// Towards the host that opened; the side that host is.
    opener: Half,
    opener_is: Side,
    /// Towards the other.
    accepter: Half,
    limit: Option<Bytes>,
    /// How long what is over is remembered.
    memory: Span,
    /// When it is forgotten, once both connections are over.
    forgotten_at: Option<Time>,
    /// What it had in the counters when it was last looked at.
    counted: Held,
}

/// What a relay adds to the box's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) bytes: Bytes,
    pub(super) acknowledged_early: Bytes,
}

/// Where a relay stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// Something may still happen.
    Running,
    /// Both connections are over; it waits for old duplicates.
    Over,
    /// It may be forgotten.
    Forgotten,
}

impl Relay {
    /// A host opens a connection: its half answers in the other host's name, and the other half
    /// opens one of its own. `syn` has not been handed to it yet.
    pub(super) fn open(
        now: Time,
        packet: &Packet,
        syn: &Segment,
        heading: Heading,
        config: &SplitConfig,
    ) -> Relay {
        let (near, far) = match heading {
            Heading::Mobile => (Peer::Fixed, Peer::Mobile),
            Heading::Fixed => (Peer::Mobile, Peer::Fixed),
        };
        let made = |peer| {
            let Endpoints { config, mechanisms } = config.endpoints(peer);
            (config, mechanisms)
        };
        let near_iss = initial_sequence(syn.seq, 0x9e37_79b9);
        let far_iss = initial_sequence(syn.seq, 0x85eb_ca6b);
        let opener = Half::listen(made(near), near, Guise::answering(packet), near_iss);
        let mut accepter = Half::listen(made(far), far, Guise::of(packet), far_iss);
        accepter.connection.open(now, &mut NoSink);
        let memory = config.memory();
        Relay {
            opener,
            opener_is: packet.from,
            accepter,
            limit: config.buffer,
            memory,
            forgotten_at: None,
            counted: Held::default(),
        }
    }

    /// A segment from one of the hosts.
    pub(super) fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) {
        let half =
            if packet.from == self.opener_is { &mut self.opener } else { &mut self.accepter };
        if half.has_failed() {
            half.refuse(segment, out);
        } else {
            half.handle_segment(now, segment, packet.ecn);
        }
        self.work(now, stats, out);
    }

    /// Its time has come.
    pub(super) fn handle_deadline(&mut self, now: Time, stats: &mut ProxyStats, out: &mut Outbox) {
        self.opener.handle_deadline(now);
        self.accepter.handle_deadline(now);
        self.work(now, stats, out);
    }

    /// Data, FINs and resets go over, and what may leave leaves.
    fn work(&mut self, now: Time, stats: &mut ProxyStats, out: &mut Outbox) {
        let (opener, accepter) = (&mut self.opener, &mut self.accepter);
        accepter.relay_from(opener, self.limit);
        opener.relay_from(accepter, self.limit);
        if opener.has_failed() && !accepter.is_closed() {
            accepter.connection.abort();
        } else if accepter.has_failed() && !opener.is_closed() {
            opener.connection.abort();
        }
        opener.send(now, stats, out);
        accepter.send(now, stats, out);
        let over = opener.is_over() && accepter.is_over();
        if over && self.forgotten_at.is_none() {
            // What was acknowledged and not delivered is not delivered any more.
            let lost = accepter.acknowledged_early(opener) + opener.acknowledged_early(accepter);
            stats.acknowledged_lost += lost;
            self.forgotten_at = Some(now + self.memory);
        }
        let held = self.held();
        let more = |now: Bytes, was: Bytes, all: Bytes| all + now - was;
        stats.set_cached(more(held.bytes, self.counted.bytes, stats.cached));
        let early = more(
            held.acknowledged_early,
            self.counted.acknowledged_early,
            stats.acknowledged_early,
        );
        stats.set_acknowledged_early(early);
        self.counted = held;
    }

    /// What it holds, both ways. What is left of a connection that is over is nobody's any more.
    fn held(&self) -> Held {
        if self.opener.is_over() && self.accepter.is_over() {
            return Held::default();
        }
        let (opener, accepter) = (&self.opener, &self.accepter);
        Held {
            bytes: accepter.held(opener) + opener.held(accepter),
            acknowledged_early: accepter.acknowledged_early(opener)
                + opener.acknowledged_early(accepter),
        }
    }

    /// When it wants to be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        let halves = [self.opener.connection.deadline(), self.accepter.connection.deadline()];
        halves.into_iter().chain([self.forgotten_at]).flatten().min()
    }

    /// Where it stands at `now`.
    pub(super) fn life(&self, now: Time) -> Life {
        match self.forgotten_at {
            Some(at) if at <= now => Life::Forgotten,
            _ if self.opener.is_over() && self.accepter.is_over() => Life::Over,
            _ => Life::Running,
        }
    }

    /// What it had in the counters, which it leaves now.
    pub(super) fn counted(&self) -> Held {
        self.counted
    }
}

/// An initial sequence number, from the one in the SYN that opened the connection: the box draws
/// no chance, and those of a run differ as its hosts' do. The two halves' have nothing to do with
/// each other nor with the hosts', as those of two sockets would.
fn initial_sequence(syn: Seq, which: u32) -> Seq {
    let mixed = (syn.0 ^ which).wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    Seq(mixed ^ (mixed >> 16))
}

/// Whether a segment opens a connection.
pub(super) fn opens(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST)
}
