//! What the connection asks of the sending half, and the little that it changes there.

use super::control::Control;
use super::peers_window::PeerWindow;
use super::persist::Persist;
use super::queue::SendQueue;
use super::retransmission_timer::RetransmissionTimer;
use super::scoreboard::Scoreboard;
use super::sent::SentState;
use super::{Phase, Sender};
use crate::congestion::Steering;
use crate::loss::DetectorView;
use crate::nagle::Nagle;
use crate::trace::Trace;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Rate, Seq, Span, Time};

impl Sender {
    #[inline]
    pub(crate) fn queue(&self) -> &SendQueue {
        &self.queue
    }

    #[inline]
    pub(crate) fn peer_window(&self) -> &PeerWindow {
        &self.peer_window
    }

    #[inline]
    pub(crate) fn persist(&self) -> &Persist {
        &self.persist
    }

    #[inline]
    pub(crate) fn timer(&self) -> &RetransmissionTimer {
        &self.timer
    }

    #[inline]
    pub(crate) fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Payload of a full-sized segment, options already taken off.
    #[inline]
    pub(crate) fn smss(&self) -> Bytes {
        self.sizes.smss()
    }

    pub(crate) fn cwnd(&self) -> Bytes {
        self.congestion.cwnd()
    }

    pub(crate) fn ssthresh(&self) -> Bytes {
        self.congestion.ssthresh()
    }

    /// Where it stands with respect to loss.
    pub(crate) fn phase(&self) -> Phase {
        self.recovery.phase()
    }

    /// Duplicate acknowledgments in a row.
    pub(crate) fn duplicate_acks(&self) -> u32 {
        self.recovery.duplicate_acks()
    }

    /// What the loss detector has learnt so far.
    pub(crate) fn detector_view(&self) -> DetectorView {
        self.detection.view()
    }

    /// When the loss detector wants to look again.
    #[inline]
    pub(crate) fn detector_at(&self) -> Option<Time> {
        self.detection.at()
    }

    /// What is in the network and what a reduction that is under way still lets out: cwnd as it
    /// falls to where it is going.
    pub(crate) fn reduced_so_far(&self) -> Option<Bytes> {
        self.marks.allowance().map(|allowance| self.board.pipe() + allowance)
    }

    /// The rate the congestion control asks for, if it does.
    pub(crate) fn control_rate(&self) -> Option<Rate> {
        self.congestion.pacing_rate()
    }

    /// Where each outstanding segment is thought to be, and whether it was retransmitted.
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = (SentState, bool)> {
        self.board.sent.iter().map(|sent| (sent.state, sent.retransmitted))
    }

    /// Another rule for small segments.
    pub(crate) fn set_nagle(&mut self, nagle: Box<dyn Nagle>) {
        self.nagle = nagle;
    }

    /// Replaces the congestion control by these windows.
    pub(crate) fn steer<S: Sink>(&mut self, trace: &mut Trace<'_, S>, steering: Steering) {
        self.congestion = Control::new(Box::new(steering));
        if self.pacer.is_active() || steering.pacing_rate.is_some() {
            self.pacer.start_over(trace.now);
        }
        self.emit_window(trace, CwndReason::Steered);
        self.plain = self.plain && self.is_plain();
    }

    /// As much may be written and not yet acknowledged.
    pub(crate) fn set_send_buffer(&mut self, bytes: Bytes) {
        self.queue.set_buffer(bytes);
    }

    #[inline]
    pub(crate) fn writable(&self) -> Bytes {
        self.queue.writable()
    }

    /// The application has closed.
    pub(crate) fn close(&mut self) {
        self.queue.close();
    }

    pub(crate) fn set_smss(&mut self, smss: Bytes) {
        self.sizes.set_smss(smss);
    }

    /// The shift of the windows that the peer sends.
    pub(crate) fn set_peer_scale(&mut self, shift: u8) {
        self.peer_window.set_scale(shift);
    }

    /// Takes the window of the segment that completes the handshake.
    pub(crate) fn first_window(&mut self, window: u32, seq: Seq, ack: Seq) {
        self.peer_window.first(window, seq, ack);
    }

    pub(crate) fn start_rto(&mut self, now: Time) {
        self.timer.start(now);
    }

    /// The retransmission timer, if it runs, expires by `limit`.
    pub(crate) fn bound_rto(&mut self, limit: Option<Time>) {
        self.timer.bound(limit);
    }

    pub(crate) fn on_syn_sent(&mut self) {
        self.queue.on_syn_sent();
    }

    /// The SYN's timer expired; each of the first ones in a row may leave the timeout as it is.
    pub(crate) fn on_syn_timeout(&mut self, now: Time, linear_timeouts: u32) {
        self.timer.on_syn_timeout(linear_timeouts);
        self.timer.start(now);
    }

    /// Our SYN is acknowledged by `ack`: it took `rtt`, where that can be told, and was lost before
    /// or not.
    pub(crate) fn on_syn_acked(&mut self, ack: Seq, rtt: Option<Span>, lost: bool) {
        self.timer.on_syn_acked(rtt, lost, self.queue.window());
        self.queue.on_syn_acked(ack);
    }

    /// How many probes of a closed window nobody has answered, and for how long.
    pub(crate) fn probe_silence(&mut self, now: Time) -> (u32, Span) {
        self.persist.silence(now)
    }

    /// What waited for its pace may have waited long enough.
    pub(crate) fn on_pacing_timer(&mut self, now: Time) {
        self.pacer.on_deadline(now);
    }

    /// New data leaves: whether it says CWR. Nothing if it may not be marked.
    #[inline]
    pub(crate) fn mark_new_data(&mut self) -> Option<bool> {
        self.marks.on_new_data()
    }
}
