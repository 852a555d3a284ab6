//! What a link that looks ahead has still to tell of its packets.
//!
//! It knows of a packet before that comes, and tells of it when its time has come: late, and in the order in which
//! things happened on the link.

use super::hop::Planned;
use ackord_events::{Event, LinkId, Passed, Sink};
use ackord_units::{Bytes, Time};
use ackord_wire::FlowId;

/// The packets whose transmission is planned, in the same order.
#[derive(Clone, Debug)]
pub(super) struct Untold {
    link: LinkId,
    packets: Vec<Coming>,
    /// How many of them have been told to come.
    come: usize,
    /// How many of those have been told to leave the queue.
    left: usize,
    /// What waits, as far as it has been told.
    waiting: u32,
    waiting_bytes: Bytes,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
struct Coming {
    at: Time,
    flow: FlowId,
}

impl Untold {
    pub(super) fn of(link: LinkId) -> Untold {
        let waiting_bytes = Bytes::ZERO;
        Untold { link, packets: Vec::new(), come: 0, left: 0, waiting: 0, waiting_bytes }
    }

    /// A packet comes, and its transmission is planned.
    #[inline(always)]
    pub(super) fn push(&mut self, at: Time, flow: FlowId) {
        self.packets.push(Coming { at, flow });
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Tells of what happens up to and including `now` to the first `most` packets, of which this is `planned`.
    pub(super) fn tell<S: Sink>(
        &mut self,
        planned: &[Planned],
        (now, most): (Time, usize),
        sink: &mut S,
    ) {
        let come = self.packets[..most].partition_point(|coming| coming.at <= now);
        loop {
            if self.left == self.come {
                self.tell_passed(&planned[..come], sink);
            }
            let next = self.packets.get(self.come).filter(|_| self.come < come).copied();
            let leaves = planned.get(self.left).map(|planned| planned.begins_at);
            let leaves = leaves.filter(|at| self.left < self.come && *at <= now);
            match (next, leaves) {
                // At one instant, what leaves goes first.
                (_, Some(at)) if next.is_none_or(|next| next.at >= at) => {
                    self.tell_left(planned[self.left], sink);
                }
                (Some(next), _) => self.tell_come(next, planned[self.come], sink),
                (None, _) => return,
            }
        }
    }

    /// Nothing waits: tells of the next packets as far as they find the link free.
    #[inline(always)]
    fn tell_passed<S: Sink>(&mut self, planned: &[Planned], sink: &mut S) {
        let next = self.packets[self.come..].iter().zip(&planned[self.come..]);
        let passed = next.clone().take_while(|(coming, planned)| coming.at == planned.begins_at);
        let passed = passed.count();
        let next = next.take(passed).map(|(coming, planned)| {
            let bytes = Bytes(u64::from(planned.ip_len));
            Passed { at: coming.at, flow: coming.flow, bytes }
        });
        sink.emit_all_passed(self.link, next);
        self.come += passed;
        self.left += passed;
    }

    #[inline(always)]
    fn tell_come<S: Sink>(&mut self, coming: Coming, planned: Planned, sink: &mut S) {
        let Coming { at, flow } = coming;
        let (link, bytes) = (self.link, Bytes(u64::from(planned.ip_len)));
        self.come += 1;
        self.waiting += 1;
        self.waiting_bytes += bytes;
        let (queue_packets, queue_bytes) = (self.waiting, self.waiting_bytes);
        sink.emit(at, Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes });
    }

    #[inline(always)]
    fn tell_left<S: Sink>(&mut self, planned: Planned, sink: &mut S) {
        let Coming { at, flow } = self.packets[self.left];
        let (link, bytes) = (self.link, Bytes(u64::from(planned.ip_len)));
        self.left += 1;
        self.waiting -= 1;
        self.waiting_bytes -= bytes;
        let waited = planned.begins_at.saturating_since(at);
        let (queue_packets, queue_bytes) = (self.waiting, self.waiting_bytes);
        sink.emit(
            planned.begins_at,
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes },
        );
    }

    /// Forgets the first packets, of which all is told.
    pub(super) fn forget(&mut self, begun: usize) {
        self.packets.drain(..begun);
        self.come -= begun;
        self.left -= begun;
    }
}
