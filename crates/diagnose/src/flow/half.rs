//! One direction of a connection: what one end sends, and what it has heard of the other.

use super::air::Air;
use super::clock::Lateness;
use super::copies::Copies;
use super::counts::Counts;
use super::delay::Delay;
use super::hearing::{Heard, Hearing};
use super::loss::{Drop, MOST_DROPS};
use super::numbers::Numbers;
use super::outstanding::{InFlight, Passing};
use super::phase::Phase;
use super::sending::{BURST, Sending};
use crate::Seen;
use ackord_units::{Span, Time};

/// How long segments are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// What the other end takes at once.
    pub(crate) option: Option<u16>,
    /// Whether segments carry timestamps.
    pub(crate) stamped: bool,
    /// The longest one seen.
    pub(crate) longest: u32,
}

/// A silence that ended with a segment behind a hole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    /// Time at which that segment passed.
    pub(crate) ended: Time,
    /// Beginning and end, as the sender saw them.
    pub(crate) span: (Time, Time),
}

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// Sequence number of byte 0, the SYN.
    anchor: u32,
    anchored: bool,
    /// The byte after the highest one seen.
    pub(crate) next: u64,
    /// Acknowledged, as seen at the capture point.
    pub(crate) una: u64,
    /// When that was acknowledged.
    pub(crate) una_at: Time,
    pub(crate) flight: InFlight,
    pub(crate) hearing: Hearing,
    pub(crate) sending: Sending,
    pub(crate) phase: Phase,
    pub(crate) drops: Vec<Drop>,
    /// Length of the shortest segment that was sent three times and more, longer than all that had arrived, bytes.
    pub(crate) stuck: Option<u32>,
    pub(crate) fin_sent: bool,
    /// The last silence that ended with a segment behind a hole.
    pub(crate) silence: Option<Box<Silence>>,
    /// The byte sent last as a probe of a closed window.
    pub(crate) probed: Option<u64>,
    pub(crate) size: Size,
    /// Shift of the windows that this end advertises.
    pub(crate) scale: Option<u8>,
    /// The round trip between the capture point and this end.
    pub(crate) to: Delay,
    /// Differences between one round-trip time and the next: their sum, and how many.
    pub(crate) jitters: (u64, u32),
    pub(crate) lateness: Lateness,
    /// When its last packet passed.
    pub(crate) last_packet: Time,
    /// Acknowledgment number of its last packet.
    pub(crate) last_ack: u32,
    pub(crate) copies: Copies,
    pub(crate) numbers: Numbers,
    pub(crate) counts: Counts,
    /// Its 802.11 frames, in captures of 802.11.
    pub(crate) air: Option<Box<Air>>,
}

impl Half {
    /// Records a packet's 802.11 frame, if it has one. Returns true if it repeats one on the air that was captured
    /// before.
    #[inline]
    pub(super) fn is_repeated_on_air(&mut self, seen: &Seen, at: Time) -> bool {
        let Some(radio) = &seen.radio else { return false };
        self.air.get_or_insert_default().take(seen, radio, at)
    }

    /// Records that TCP retransmitted the bytes of this packet: their earlier 802.11 frames were lost.
    pub(super) fn given_up_on_air(&mut self, seen: &Seen, at: Time) {
        if let Some(air) = &mut self.air {
            air.retransmitted(seen.seq, seen.payload_len, at);
        }
    }

    /// Where `seq` is in this direction, counted from its SYN.
    #[inline]
    pub(crate) fn offset(&self, seq: u32) -> u64 {
        let next = self.anchor.wrapping_add(self.next as u32);
        let ahead = i64::from(seq.wrapping_sub(next) as i32);
        self.next.saturating_add_signed(ahead)
    }

    /// The first sequence number seen: byte 0 is the SYN's, or the one before what was seen.
    pub(crate) fn anchor(&mut self, seq: u32, syn: bool) {
        if !self.anchored || (syn && self.next <= 1) {
            self.anchored = true;
            self.anchor = if syn { seq } else { seq.wrapping_sub(1) };
            (self.next, self.una, self.hearing.una) = (1, 1, 1);
        }
    }

    /// The sequence number of byte 0.
    pub(crate) fn first_number(&self) -> u32 {
        self.anchor
    }

    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// Bytes under way, as the sender counts.
    #[inline]
    pub(crate) fn under_way(&self) -> u64 {
        self.next.saturating_sub(self.hearing.una)
    }

    /// Segments are of this length when there is enough to send.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        match self.size.option {
            // Timestamps take twelve bytes of it.
            Some(mss) => u32::from(mss.max(64)) - if self.size.stamped { 12 } else { 0 },
            None => self.size.longest.clamp(536, 1460),
        }
    }

    /// One round-trip time differs from the one before by this.
    #[inline]
    pub(crate) fn jitter(&mut self, step: Span) {
        self.jitters =
            (self.jitters.0.saturating_add(step.as_nanos()), self.jitters.1.saturating_add(1));
    }

    /// How long after an acknowledgment its effect is seen.
    #[inline]
    pub(crate) fn lag(&self) -> Span {
        self.to.now
    }

    /// Its sender knows of this acknowledgment.
    pub(crate) fn hear(&mut self, heard: &Heard) {
        let una = self.hearing.una;
        if self.hearing.hear(heard, self.sending.last_new) {
            self.sending.heard_more_than(una);
            self.phase.heard(heard.ack, self.next);
        }
    }

    /// It has sent so many bytes not seen before. How many are under way now.
    pub(crate) fn sent_new(&mut self, at: Time, len: u32) -> u64 {
        let under_way = self.under_way();
        let keeps_on = under_way > u64::from(len) + u64::from(self.mss());
        self.sending.sent_new(at, len, self.hearing.una, keeps_on);
        self.phase.sent(under_way);
        under_way
    }

    /// Takes the packet at the byte `from`, sent at `sent`, as dropped in the loss with this number. `seen` bytes
    /// of it had passed the capture point.
    pub(crate) fn dropped(&mut self, sent: Passing, from: u64, seen: u32, loss: u32) {
        if self.drops.len() < MOST_DROPS {
            let before = self.sending.unwrapped(sent.before);
            self.drops.push(Drop { at: sent.at, from, before, loss, seen, burst: sent.burst });
        }
        self.sending.bursts.get_or_insert_with(|| Box::new([0; BURST]));
    }

    /// Takes a segment of `len` bytes that had been sent `before` so many times.
    pub(crate) fn sent_again(&mut self, len: u32, before: u8) {
        if before >= 2 && u64::from(len) > self.flight.longest_arrived {
            self.stuck = Some(self.stuck.map_or(len, |stuck| stuck.min(len)));
        }
    }

    /// Returns true if full-sized segments never arrived, however often they were sent, and smaller ones did.
    pub(crate) fn is_black_hole(&self) -> bool {
        let arrived = self.flight.longest_arrived;
        let full = self.mss().min(self.size.longest.max(1)) / 2;
        self.stuck.is_some_and(|stuck| u64::from(stuck) > arrived && stuck > full) && arrived > 0
    }

    /// Returns true if `len` bytes from `from` to `to` are a probe: the byte that keeps a connection alive
    /// (RFC 9293 §3.8.4), or one that asks for a closed window (RFC 9293 §3.8.6.1), sent before or not (BSD,
    /// Windows).
    pub(crate) fn is_probe(&mut self, len: u32, from: u64, to: u64) -> bool {
        let closed = || self.hearing.edge().is_some_and(|edge| edge <= from);
        let again = from + 1 == self.next && to == self.next;
        // No retransmission has the last byte alone of a longer segment.
        let alone = self.hearing.una >= to || self.sending.last_len > 1;
        let probe = len == 1 && ((again && (alone || closed())) || (from == self.next && closed()));
        if probe && from == self.next {
            self.probed = Some(from);
        }
        probe
    }

    /// When something was last sent or heard.
    #[inline]
    pub(crate) fn silent_since(&self) -> Time {
        self.hearing.last.max(self.sending.last)
    }
}
