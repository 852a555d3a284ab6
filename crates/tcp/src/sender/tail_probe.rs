//! Runs tail loss probes (RFC 8985 §7) for a detector that asks for them: arms their timer, sends
//! one at a time, and tells congestion control of a loss that only the probe made good.

use super::Sender;
use super::incoming::IncomingAck;
use crate::congestion::{CongestionEvent, LossResponse};
use crate::loss::{ProbeAck, ProbeFacts, ProbeKind, ProbeOutcome, Report, Tlp};
use crate::trace::Trace;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::SackBlock;

/// The probes of a connection.
#[derive(Clone, Debug)]
pub(super) struct TailProbe {
    tlp: Tlp,
    /// When one is due, unless an acknowledgment comes before.
    at: Option<Time>,
    /// A probe is to leave with the next poll.
    ready: bool,
    /// FlightSize when the outstanding one left.
    flight_size: Bytes,
}

impl TailProbe {
    pub(super) fn new(max_ack_delay: Span, timer_slack: Span) -> TailProbe {
        TailProbe {
            tlp: Tlp::new(max_ack_delay, timer_slack),
            at: None,
            ready: false,
            flight_size: Bytes::ZERO,
        }
    }

    pub(super) fn on_rtt_sample(&mut self) {
        self.tlp.on_rtt_sample();
    }

    /// A recovery takes over.
    pub(super) fn stand_down(&mut self) {
        self.tlp.forget();
        self.at = None;
        self.ready = false;
    }
}

/// What an acknowledgment looked like, before the scoreboard took it in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) snd_una_before: Seq,
    pub(super) dsack: Option<SackBlock>,
}

impl Sender {
    /// New data left, or an acknowledgment advanced (§7.2): the timer starts anew, or stops where
    /// something else looks after what is missing.
    pub(super) fn arm_probe(&mut self, now: Time) {
        if self.tail.is_none() {
            return;
        }
        let quiet = self.recovery.is_open() && self.board.sacked() == Bytes::ZERO;
        let (srtt, rto_at) = (self.timer.rtt().srtt(), self.timer.at());
        let lone = self.board.segments() == 1;
        let timer = &self.timer;
        let Some(tail) = &mut self.tail else { return };
        tail.at = rto_at.filter(|_| quiet && tail.tlp.may_probe()).map(|rto_at| {
            let due = tail.tlp.due(&ProbeFacts { now, srtt, lone, rto_at });
            timer.expires_at(now, due.saturating_since(now)).min(rto_at)
        });
    }

    /// The probe timer expired. From here on the retransmission timer watches (§7.3).
    pub(crate) fn on_probe_timer(&mut self, now: Time) {
        if self.peer_window.is_closed() && self.board.segments() > 1 {
            if let Some(tail) = &mut self.tail {
                tail.at = None;
            }
            return self.leave_probe_to_rto(now);
        }
        if let Some(tail) = &mut self.tail {
            tail.at = None;
            if !self.board.is_empty() {
                tail.ready = true;
            }
        }
        self.restart_rto(now);
    }

    /// When the probe timer is due.
    #[inline]
    pub(crate) fn probe_at(&self) -> Option<Time> {
        self.tail.as_ref().and_then(|tail| tail.at)
    }

    /// Whether a probe is to leave now.
    #[inline]
    pub(super) fn probe_is_ready(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.ready)
    }

    /// No probe leaves: an acknowledgment has come before it could, or there is nothing to send.
    pub(super) fn forget_probe(&mut self) {
        if let Some(tail) = &mut self.tail {
            tail.ready = false;
        }
    }

    /// A probe leaves; what it consists of has just been put on the scoreboard.
    pub(super) fn after_probe(&mut self, kind: ProbeKind) {
        let (snd_nxt, flight_size) = (self.queue.snd_nxt(), self.queue.flight_size());
        if let Some(tail) = &mut self.tail {
            tail.tlp.on_probe_sent(snd_nxt, kind);
            tail.at = None;
            tail.ready = false;
            tail.flight_size = flight_size;
        }
    }

    /// Whether a report of a duplicate is about the outstanding probe.
    pub(super) fn is_of_probe(&self, block: SackBlock) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.tlp.probe_end() == Some(block.end))
    }

    /// §7.4.2, for every acknowledgment.
    pub(super) fn look_at_probe<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        seen: Seen,
    ) {
        let Some(tail) = &mut self.tail else { return };
        let plain = ack.ack == seen.snd_una_before && !ack.carries_data && ack.sack.is_empty();
        let report = match seen.dsack {
            Some(block) if tail.tlp.probe_end() == Some(block.end) => Report::ProbeTwice,
            _ if plain => Report::PlainDuplicate,
            _ => Report::Other,
        };
        let outcome = tail.tlp.on_ack(&ProbeAck { ack: ack.ack, report });
        let (flight_size, response) = (tail.flight_size, LossResponse::FastRecovery);
        let made_good = outcome == ProbeOutcome::MadeGood && self.recovery.is_open();
        if made_good && !self.is_answered(response) {
            self.reduce_for_loss(trace.now, flight_size, response, self.queue.snd_nxt());
            let cwnd_at_most = None;
            self.congestion.on_congestion(trace.now, CongestionEvent::Recovered { cwnd_at_most });
            self.emit_window(trace, CwndReason::Recovery);
        }
        if ack.ack.after(seen.snd_una_before) {
            self.forget_probe();
            self.arm_probe(trace.now);
        } else if self.board.sacked() > Bytes::ZERO
            && let Some(tail) = &mut self.tail
        {
            (tail.at, tail.ready) = (None, false);
        }
    }
}
