//! The departures of one connection that are not acknowledged yet.

use ackord_units::{Seq, Span, Time};
use ackord_wire::{Segment, Timestamps};
use std::collections::VecDeque;

/// Departures of a connection that are remembered at most; later ones are counted and not measured.
const LONGEST: usize = 4096;
/// A receiver acknowledges a segment immediately if a second one arrives (RFC 5681 section 4.2). If the next segment departed
/// no later than this after it, a delayed ACK cannot have held the acknowledgment for longer.
const FOLLOWED: Span = Span::from_millis(5);

/// A segment, or several that offloading has joined, behind the queue.
#[derive(Clone, Copy, Debug)]
struct Departure {
    start: Seq,
    end: Seq,
    /// Departure of the last copy.
    at: Time,
    /// Length of the IP packet.
    bytes: u32,
    /// Copies that departed.
    copies: u32,
    /// TSval of the last copy.
    timestamp: Option<u32>,
    /// Covered by a SACK block.
    sacked: bool,
}

/// The result of an acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Bytes of IP packets newly delivered.
    pub(super) bytes: u64,
    /// Packets newly delivered.
    pub(super) packets: u32,
    /// From the departure of the segment that caused the acknowledgment to the acknowledgment.
    pub(super) sample: Option<Span>,
    /// True if a delayed ACK cannot have prolonged the sample.
    pub(super) is_prompt: bool,
}

/// A longer packet has been joined by offloading.
const FULL: u32 = 1_514;

/// The unacknowledged departures of a connection, in order of sequence numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowRecord {
    departures: VecDeque<Departure>,
    /// Length of its longest packet, at most [`FULL`].
    longest: u32,
    /// The highest sequence number that departed.
    highest: Option<Seq>,
    /// Time of the last departure or acknowledgment.
    pub(super) last_at: Time,
}

/// The kind of a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departed {
    /// New data.
    New,
    /// A copy of data that departed before and was not acknowledged.
    Again,
    /// Not remembered.
    Untracked,
}

impl FlowRecord {
    /// Records the departure of `segment`, whose IP packet has `bytes`.
    pub(super) fn depart(&mut self, now: Time, segment: &Segment, bytes: u32) -> Departed {
        self.last_at = now;
        let (start, end) = (segment.seq, segment.end_seq());
        let timestamp = segment.options.timestamps.map(|Timestamps { value, .. }| value);
        if self.highest.is_some_and(|highest| start.before(highest)) {
            return self.depart_again(now, (start, end), timestamp);
        }
        self.highest = Some(end);
        self.longest = self.longest.max(bytes.min(FULL));
        if self.departures.len() >= LONGEST {
            return Departed::Untracked;
        }
        let departure =
            Departure { start, end, at: now, bytes, copies: 1, timestamp, sacked: false };
        self.departures.push_back(departure);
        Departed::New
    }

    fn depart_again(
        &mut self,
        now: Time,
        (start, end): (Seq, Seq),
        timestamp: Option<u32>,
    ) -> Departed {
        let mut found = Departed::Untracked;
        let is_covered = |one: &&mut Departure| start.before(one.end) && one.start.before(end);
        for one in self.departures.iter_mut().filter(is_covered) {
            (one.at, one.timestamp) = (now, timestamp);
            one.copies += 1;
            if !one.sacked {
                found = Departed::Again;
            }
        }
        found
    }

    /// Takes in an acknowledgment from the mobile host.
    pub(super) fn acknowledge(&mut self, now: Time, segment: &Segment) -> Acknowledged {
        self.last_at = now;
        let echo = segment.options.timestamps.map(|Timestamps { echo, .. }| echo);
        let mut result = self.sack(now, segment);
        let mut last: Option<Departure> = None;
        let mut covered = 0;
        while let Some(one) = self.departures.front().copied()
            && one.start.before(segment.ack)
        {
            let is_whole = one.end.at_or_before(segment.ack);
            if !one.sacked && (is_whole || last.is_none()) {
                covered += one.bytes;
                last = Some(one);
            }
            if !is_whole {
                break;
            }
            self.departures.pop_front();
            if !one.sacked {
                result.bytes += u64::from(one.bytes);
                result.packets += 1;
            }
        }
        // The timestamp identifies the copy of a retransmitted segment (RFC 7323 section 4.1), otherwise none does
        // (Karn's algorithm).
        let is_known = |one: &Departure| {
            one.copies == 1 || one.timestamp.is_some_and(|value| echo == Some(value))
        };
        if let Some(one) = last.filter(is_known) {
            result.sample = Some(now.saturating_since(one.at));
            let next = self.departures.front();
            let is_followed = next.is_some_and(|next| next.at.saturating_since(one.at) <= FOLLOWED);
            // More than one full segment is acknowledged immediately; so is a segment that fills a gap.
            let is_immediate = covered > self.longest || one.copies > 1;
            result.is_prompt = is_immediate || is_followed;
        }
        result
    }

    /// Takes in the SACK blocks. The segment that caused them was out of order, hence acknowledged immediately.
    fn sack(&mut self, now: Time, segment: &Segment) -> Acknowledged {
        let mut result = Acknowledged::default();
        let mut newest: Option<Time> = None;
        for block in segment.options.sack.as_slice() {
            if block.end.at_or_before(segment.ack) {
                // A duplicate (RFC 2883).
                continue;
            }
            for one in &mut self.departures {
                let is_in = one.start.at_or_after(block.start) && one.end.at_or_before(block.end);
                if !is_in || one.sacked {
                    continue;
                }
                one.sacked = true;
                result.bytes += u64::from(one.bytes);
                result.packets += 1;
                if one.copies == 1 {
                    newest = newest.max(Some(one.at));
                }
            }
        }
        if let Some(at) = newest {
            result.sample = Some(now.saturating_since(at));
            result.is_prompt = true;
        }
        result
    }

    /// Packets that departed and are neither acknowledged nor covered by a SACK block.
    pub(super) fn outstanding(&self) -> usize {
        self.departures.iter().filter(|one| !one.sacked).count()
    }
}
