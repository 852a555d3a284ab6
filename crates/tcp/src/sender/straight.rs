//! The straight way of what is as expected, which is most of what comes and leaves (header prediction,
//! Jacobson 1990): an acknowledgment that moves SND.UNA and says nothing else, and a full-sized segment
//! of new data, while no recovery is under way and nothing gives reason for one.
//!
//! Both do what `ack_in.rs` and `next.rs` would do, without asking what can only be answered by no. Senders
//! that have to do more for every segment (samples, order of time, tail probes, pacing, offload, marks) do
//! not come here.

use super::peers_window::Offer;
use super::sent::Sent;
use super::{FinProgress, Marks, Sender};
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, Sink};
use ackord_units::{Bytes, Seq, Time};

/// What there is to send, as far as it can be told at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing.
    Nothing,
    /// New data that the congestion window keeps back.
    HeldBack,
    /// A full-sized segment of new data, and more behind it.
    FullSized,
    /// Whatever [`Sender::next_segment`] says.
    Other,
}

impl Sender {
    /// Whether nothing that this sender is made of has to hear of every segment.
    pub(super) fn is_plain(&self) -> bool {
        self.tail.is_none()
            && self.board.delivery.is_none()
            && !self.board.keeps_time_order()
            && !self.detection.hears_every_ack()
            && self.marks == Marks::Off
            && !self.pacer.is_active()
            && !self.packet.is_in_use()
            && self.usage.keeps_no_account()
            && self.sizes.max_window().is_none()
    }

    /// Whether such a sender is in no recovery, and doubts nothing.
    #[inline]
    fn is_undisturbed(&self) -> bool {
        self.plain
            && self.recovery.is_undisturbed()
            && self.board.is_undisturbed()
            && !self.frto.is_undecided()
    }

    /// Whether an acknowledgment without options, of `ack` and with this window, is one for
    /// [`Sender::on_plain_ack`].
    #[inline]
    pub(crate) fn expects_ack(&self, ack: Seq, window: u32) -> bool {
        ack.after(self.queue.snd_una())
            && ack.at_or_before(self.queue.snd_nxt())
            && window == self.peer_window.size()
            && window > 0
            && self.is_undisturbed()
            && !self.undo.awaits_first_ack()
    }

    /// New data is acknowledged by a segment that says nothing else, with this TSecr if it carries one.
    #[inline(always)]
    pub(crate) fn on_plain_ack<S: Sink>(
        &mut self,
        t: &mut Trace<'_, S>,
        seq: Seq,
        ack: Seq,
        echo: Option<u32>,
    ) {
        self.persist.on_answer();
        self.peer_window.on_same_window(seq, ack);
        let flight_before = self.queue.flight_size();
        let acked = Bytes(u64::from(ack.since(self.queue.snd_una())));
        let taken_off = self.board.acknowledge(ack, |_| {});
        let bytes = self.queue.acknowledge(ack, self.board.is_empty());
        let stream_offset = Bytes(self.queue.una_offset());
        t.emit(|endpoint| Event::AckAdvanced { endpoint, bytes, stream_offset });
        self.sample_rtt(t, &taken_off, echo);
        self.timer.on_advance();
        self.recovery.set_delivered(Bytes(taken_off.newly_delivered));
        self.recovery.on_advance(t.now, false, Bytes::ZERO);
        self.recovery.forget_duplicates();
        let sample = self.sample_of(t.now, &taken_off, acked, flight_before);
        if self.board.is_empty() {
            self.timer.stop();
        } else {
            self.timer.start(t.now);
        }
        self.congestion.on_ack(t.now, &sample);
        self.emit_window(t, CwndReason::Ack);
        self.queue.grow_buffer(|| self.congestion.cwnd());
    }

    /// Whether a segment without SACK blocks that acknowledges `ack` says nothing to a sender that has nothing
    /// outstanding, as all say that a peer sends to which nothing is sent.
    #[inline]
    pub(crate) fn expects_no_ack(&self, ack: Seq, window: u32) -> bool {
        self.plain
            && self.recovery.is_open()
            && self.board.is_empty()
            && ack == self.queue.snd_una()
            && window == self.peer_window.size()
    }

    /// Such a segment came.
    #[inline]
    pub(crate) fn on_nothing_acknowledged(&mut self, seq: Seq) {
        self.persist.on_answer();
        let (ack, window) = (self.queue.snd_una(), self.peer_window.size());
        self.peer_window.update(Offer { seq, ack, window }, ack);
    }

    /// What there is to send, by the least one has to look at.
    #[inline(always)]
    pub(crate) fn next_at_a_glance(&self) -> Next {
        if !self.has_something_to_send() {
            return Next::Nothing;
        }
        // No FIN, nor the first after an idle time.
        let ordinary = self.is_undisturbed()
            && self.has_full()
            && self.queue.fin() == FinProgress::Open
            && !self.board.is_empty();
        if !ordinary {
            return Next::Other;
        }
        if self.has_room_for_full() { Next::FullSized } else { Next::HeldBack }
    }

    /// Whether a full-sized segment is to be sent into the peer's window, which does not end what was written.
    #[inline(always)]
    fn has_full(&self) -> bool {
        let full = self.sizes.smss();
        self.queue.unsent() > full && Bytes(u64::from(self.peer_window.room(&self.queue))) >= full
    }

    /// Whether the congestion window has room for one.
    #[inline(always)]
    fn has_room_for_full(&self) -> bool {
        let fits = self.congestion.cwnd() + self.recovery.beyond_cwnd();
        self.queue.flight_size() + self.sizes.smss() <= fits
    }

    /// Whether [`Sender::next_at_a_glance`] says [`Next::HeldBack`] after [`Sender::send_full`]: what else it asks for has
    /// not changed.
    #[inline(always)]
    pub(crate) fn is_held_back_now(&self) -> bool {
        self.has_full() && !self.has_room_for_full()
    }

    /// Sends what [`Next::FullSized`] has announced: its sequence number and its length.
    #[inline(always)]
    pub(crate) fn send_full(&mut self, now: Time) -> (Seq, u32) {
        let (seq, full) = (self.queue.snd_nxt(), self.sizes.smss());
        let payload = full.get() as u32;
        if self.queue.flight_size() + full > self.congestion.cwnd() {
            self.recovery.on_limited_sent(full);
        }
        self.usage.on_sent(now);
        self.board.push(Sent::first(seq, payload, false, now));
        self.queue.on_sent(payload, false);
        self.timer.on_sent(now, self.queue.snd_nxt());
        if self.timer.at().is_none() {
            self.restart_rto(now);
        }
        self.persist.on_data_sent();
        (seq, payload)
    }
}
