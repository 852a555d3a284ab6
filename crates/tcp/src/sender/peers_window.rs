//! The window the peer offers (RFC 9293 §3.8.6), and what the sender does when it closes while data
//! is outstanding: a peer hardly ever does that, a middlebox may.
//!
//! Not modelled: a retransmission that reaches beyond a window shrunk to less than it is not cut off
//! at the edge.

use super::persist::Persist;
use super::queue::SendQueue;
use super::sent::Sent;
use super::{IncomingAck, Sender};
use crate::config::ShrunkWindow;
use ackord_units::{Seq, Span, Time};

/// What a segment says about the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) seq: Seq,
    pub(super) ack: Seq,
    /// Scaled.
    pub(super) window: u32,
}

/// The window the peer offers, and the segments it came from (RFC 9293 §3.3.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWindow {
    /// SND.WND, scaled.
    size: u32,
    max: u32,
    wl1: Seq,
    wl2: Seq,
    /// The peer's window scale shift.
    scale: u8,
    shrunk: ShrunkWindow,
}

impl PeerWindow {
    pub(super) fn new(shrunk: ShrunkWindow) -> PeerWindow {
        PeerWindow { size: 0, max: 0, wl1: Seq(0), wl2: Seq(0), scale: 0, shrunk }
    }

    /// SND.WND.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.size == 0
    }

    /// The largest it ever was.
    #[inline]
    pub(crate) fn max(&self) -> u32 {
        self.max
    }

    /// The shift of the windows that the peer sends.
    #[inline]
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    pub(super) fn set_scale(&mut self, shift: u8) {
        self.scale = shift;
    }

    /// What it lets out beyond what was sent.
    #[inline]
    pub(super) fn room(&self, queue: &SendQueue) -> u32 {
        let edge = queue.snd_una() + self.size;
        if edge.after(queue.snd_nxt()) { edge.since(queue.snd_nxt()) } else { 0 }
    }

    /// Takes the window of the segment that completes the handshake.
    pub(super) fn first(&mut self, window: u32, seq: Seq, ack: Seq) {
        (self.size, self.max, self.wl1, self.wl2) = (window, window, seq, ack);
    }

    /// New data was acknowledged, and the window is the same as before.
    #[inline]
    pub(super) fn on_same_window(&mut self, seq: Seq, ack: Seq) {
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// Takes in the window of an acknowledgment; true if it is another than before.
    #[inline]
    pub(super) fn update(&mut self, offer: Offer, snd_una: Seq) -> bool {
        if offer.ack.before(snd_una) || !self.may_update(offer, snd_una) {
            return false;
        }
        let Offer { seq, ack, window } = offer;
        let changed = self.size != window;
        self.size = window;
        self.max = self.max.max(window);
        (self.wl1, self.wl2) = (seq, ack);
        changed
    }

    #[inline]
    fn may_update(&self, offer: Offer, snd_una: Seq) -> bool {
        let Offer { seq, ack, window } = offer;
        // What acknowledges more than all before it was sent after them, also as a retransmission
        // with an older sequence number: its window left out, SND.UNA alone would carry the edge
        // beyond what was offered. RFC 9293 §3.10.7.4 does not ask this; Linux does.
        if self.wl1.before(seq) || ack.after(snd_una) {
            return true;
        }
        let recent = self.wl1 == seq && self.wl2.at_or_before(ack);
        recent
            && match self.shrunk {
                ShrunkWindow::Recent => true,
                ShrunkWindow::AdvancingOrClosed => {
                    ack.after(snd_una) || window > self.size || window == 0
                }
            }
    }
}

impl Sender {
    /// Takes in the window of an acknowledgment; true if it is another than before.
    #[inline]
    pub(super) fn update_window(&mut self, now: Time, ack: &IncomingAck<'_>) -> bool {
        let IncomingAck { seq, ack, window, .. } = *ack;
        let offer = Offer { seq, ack, window };
        let changed = self.peer_window.update(offer, self.queue.snd_una());
        if changed {
            self.on_changed_window(now);
        }
        changed
    }

    fn on_changed_window(&mut self, now: Time) {
        if self.peer_window.is_closed() {
            if !self.board.is_empty() {
                self.hand_over_to_persist(now);
            }
            return;
        }
        self.persist.on_opened();
        if self.timer.at().is_none() {
            self.restart_rto(now);
        }
    }

    /// The window is closed with data outstanding: it is probed in the standard way, and what is
    /// outstanding does not time out meanwhile (RFC 9293 §3.8.6: SHLD-17, MUST-35).
    #[inline(never)]
    pub(super) fn hand_over_to_persist(&mut self, now: Time) {
        if !self.persist.leaves_it_to_rto() && self.timer.stop() {
            let timer = &self.timer;
            let due =
                |persist: &Persist| timer.expires_at(now, persist.interval(timer.rtt().rto()));
            self.persist.arm(due);
            if let Some(tail) = &mut self.tail {
                tail.stand_down();
            }
        }
    }

    /// The persist timer expired with data outstanding: its probe is the oldest segment, which
    /// leaves whatever the windows say.
    pub(super) fn probe_with_oldest(&mut self) {
        self.board.mark_oldest_lost();
        self.recovery.force_retransmission();
        self.persist.take_due();
    }

    /// Whether the peer's window keeps a retransmission back. While it is closed the oldest segment
    /// serves as a probe, and nothing else is retransmitted (RFC 9293 §3.8.6: SHLD-16).
    #[inline]
    pub(super) fn window_keeps_back(&self, sent: &Sent) -> bool {
        self.peer_window.is_closed() && sent.seq != self.queue.snd_una()
    }

    /// A tail loss probe is due which the window keeps back: the retransmission timer then runs
    /// from when the oldest segment was sent, as in Linux.
    pub(super) fn leave_probe_to_rto(&mut self, now: Time) {
        let due = self.board.oldest().map(|oldest| oldest.sent_at + self.timer.rtt().rto());
        let left = |at: Time| at.saturating_since(now).max(Span::from_millis(1));
        self.timer.set(due.map(|at| self.timer.expires_at(now, left(at))));
    }
}
