//! The window the peer offers (RFC 9293 §3.8.6), and what the sender does when it closes while data
//! is outstanding: a peer hardly ever does that, a middle box may.
//!
//! Not modelled: a retransmission that reaches beyond a window shrunk to less than it is not cut off
//! at the edge.

use super::scoreboard::Sent;
use super::{Forced, IncomingAck, Sender};
use crate::words::worded;
use ackord_units::{Span, Time};

/// Which acknowledgments may take back window that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShrunkWindow {
    /// Each recent one (RFC 9293 §3.10.7.4).
    Recent,
    /// One that acknowledges new data, or closes the window altogether.
    AdvancingOrClosed,
}

worded!(ShrunkWindow { "recent" => Recent, "advancing-or-closed" => AdvancingOrClosed });

/// What watches over what is outstanding while the peer's window is closed, and how that is probed
/// where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedWindow {
    /// The persist timer (RFC 9293 §3.8.6): its probe is the oldest segment, and neither cwnd nor
    /// the retransmission timeout change. With nothing outstanding, a new octet (§3.8.6.1).
    Probe,
    /// The retransmission timer. Each of its expiries lowers ssthresh as a first one does and takes
    /// the place of what could have been given back; the connection is never given up. With nothing
    /// outstanding, an empty segment from below the window.
    Timeout,
}

worded!(ClosedWindow { "probe" => Probe, "timeout" => Timeout });

impl Sender {
    /// Takes in the window of an acknowledgment; true if it is another than before.
    #[inline]
    pub(super) fn update_window(&mut self, now: Time, ack: &IncomingAck<'_>) -> bool {
        if ack.ack.before(self.snd_una) || !self.may_update_window(ack) {
            return false;
        }
        let changed = self.snd_wnd != ack.window;
        self.snd_wnd = ack.window;
        self.max_snd_wnd = self.max_snd_wnd.max(ack.window);
        self.snd_wl1 = ack.seq;
        self.snd_wl2 = ack.ack;
        if changed {
            self.on_changed_window(now);
        }
        changed
    }

    #[inline]
    fn may_update_window(&self, ack: &IncomingAck<'_>) -> bool {
        // What acknowledges more than all before it was sent after them, also as a retransmission
        // with an older sequence number: its window left out, SND.UNA alone would carry the edge
        // beyond what was offered. RFC 9293 §3.10.7.4 does not ask this; Linux does.
        if self.snd_wl1.before(ack.seq) || ack.ack.after(self.snd_una) {
            return true;
        }
        let recent = self.snd_wl1 == ack.seq && self.snd_wl2.at_or_before(ack.ack);
        recent
            && match self.shrunk_window {
                ShrunkWindow::Recent => true,
                ShrunkWindow::AdvancingOrClosed => {
                    ack.ack.after(self.snd_una) || ack.window > self.snd_wnd || ack.window == 0
                }
            }
    }

    fn on_changed_window(&mut self, now: Time) {
        if self.snd_wnd == 0 {
            if !self.board.is_empty() {
                self.hand_over_to_persist(now);
            }
            return;
        }
        self.persist.at = None;
        self.persist.due = false;
        self.persist.probes = 0;
        if self.rto_at.is_none() {
            self.restart_rto(now);
        }
    }

    /// The window is closed with data outstanding: it is probed in the standard way, and what is
    /// outstanding does not time out meanwhile (RFC 9293 §3.8.6: SHLD-17, MUST-35).
    #[inline(never)]
    pub(super) fn hand_over_to_persist(&mut self, now: Time) {
        if self.closed_window == ClosedWindow::Probe && self.rto_at.take().is_some() {
            let interval = self.persist_interval();
            let at = self.timers.expires_at(now, interval);
            self.persist.at.get_or_insert(at);
            if let Some(tail) = &mut self.tail {
                tail.stand_down();
            }
        }
    }

    /// The persist timer expired with data outstanding: its probe is the oldest segment, which
    /// leaves whatever the windows say.
    pub(super) fn probe_with_oldest(&mut self) {
        self.board.mark_oldest_lost();
        self.forced = Forced::Retransmission;
        self.persist.due = false;
    }

    /// Whether the peer's window keeps a retransmission back. While it is closed the oldest segment
    /// serves as a probe, and nothing else is sent again (RFC 9293 §3.8.6: SHLD-16).
    #[inline]
    pub(super) fn window_keeps_back(&self, sent: &Sent) -> bool {
        self.snd_wnd == 0 && sent.seq != self.snd_una
    }

    /// A tail loss probe is due which the window keeps back: the retransmission timer then runs
    /// from when the oldest segment was sent, as in Linux.
    pub(super) fn leave_probe_to_rto(&mut self, now: Time) {
        let due = self.board.oldest().map(|oldest| oldest.sent_at + self.rtt.rto());
        let left = |at: Time| at.saturating_since(now).max(Span::from_millis(1));
        self.rto_at = due.map(|at| self.timers.expires_at(now, left(at)));
    }
}
