//! Which segment leaves next.

use super::scoreboard::Sent;
use super::{ClosedWindow, CwndUse, Fin, FinProgress, Forced, Persist, Phase, Sender};
use crate::ack::Push;
use crate::congestion::LossAnswer;
use crate::loss::ProbeKind;
use crate::nagle::SmallSegment;
use crate::recovery::{Flight, Rescue};
use ackord_events::SegmentKind;
use ackord_units::{Bytes, Seq, Time};

/// A segment to be sent, without its acknowledgment and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: Seq,
    pub(crate) payload: u32,
    pub(crate) fin: Fin,
    /// It ends what the application has written so far.
    pub(crate) push: Push,
    pub(crate) kind: SegmentKind,
}

/// What keeps new data from leaving.
enum NewData {
    Ready(Outgoing),
    /// The peer's window is too small and nothing is outstanding: only a probe can help.
    WindowClosed,
    Wait,
}

/// What may keep new data back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// cwnd, Nagle and the peer's window.
    Windows,
    /// The peer's window: a probe may exceed cwnd by a segment (RFC 8985 §7.3).
    PeersWindow,
}

impl Sender {
    /// The next segment, which is then on its way. `room` is what fits into a segment beside the
    /// options it is going to carry.
    pub(crate) fn next_segment(&mut self, now: Time, room: Bytes) -> Option<Outgoing> {
        if self.pacer.holds(now) {
            return None;
        }
        if self.probe_is_ready()
            && let Some(probe) = self.probe_segment(now, room)
        {
            return Some(probe);
        }
        // While a timeout is looked into, only the first segment is sent again.
        let held = self.frto.is_undecided() && self.forced == Forced::No;
        if !held && let Some(lost) = self.board.next_lost() {
            let len = Bytes(u64::from(lost.seq_len()));
            let kept_back = self.forced == Forced::No && self.allowance() < len;
            if kept_back || self.window_keeps_back(&lost) {
                self.forced = Forced::No;
                return None;
            }
            return Some(self.retransmit(now, lost));
        }
        self.forced = Forced::No;
        match self.new_data(room, Gate::Windows) {
            NewData::Ready(_) if self.defers(now, room) => None,
            NewData::Ready(outgoing) => {
                let outgoing = self.packed(outgoing, room);
                Some(self.send_new(now, outgoing))
            }
            NewData::WindowClosed => self.probe(now),
            NewData::Wait => self.last_resort(now),
        }
    }

    /// What the congestion window, or the repair, lets out now.
    #[inline]
    fn allowance(&self) -> Bytes {
        if self.phase == Phase::Open {
            let cwnd = self.congestion.cwnd() + self.beyond_cwnd;
            let fits = || cwnd.saturating_sub(self.flight_size());
            return self.marks.allowance().unwrap_or_else(fits);
        }
        self.allowance_in_repair()
    }

    /// Apart, so that the ordinary case asks for no more than it needs.
    #[inline(never)]
    fn allowance_in_repair(&self) -> Bytes {
        let flight = self.flight();
        let Flight { pipe, cwnd, .. } = flight;
        match self.phase {
            Phase::FastRecovery { .. } => match self.congestion.loss_answer() {
                // Without SACK pipe does not fall with what arrives, so that cwnd alone says
                // nothing: the recovery sender's inflation does.
                LossAnswer::OwnWindow if self.uses_sack => cwnd.saturating_sub(pipe),
                _ => self.recovery.allowance(&flight),
            },
            Phase::SlowStartRecovery { .. } if self.frto.is_undecided() => self.frto_allowance,
            Phase::Open | Phase::SlowStartRecovery { .. } => cwnd.saturating_sub(pipe),
        }
    }

    /// RFC 6675 §4 NextSeg rules (3) and (4), when nothing that is lost and nothing new can leave:
    /// a hole that too little was SACKed above, or else, once in a recovery, the tail, above which
    /// nothing can be SACKed.
    fn last_resort(&mut self, now: Time) -> Option<Outgoing> {
        let Phase::FastRecovery { recover, .. } = self.phase else { return None };
        if !self.uses_sack || self.snd_wnd == 0 || self.allowance() < self.smss {
            return None;
        }
        if let Some(hole) = self.board.resend_next_hole(now) {
            return Some(self.sent_again(now, hole));
        }
        // Where the detector has tail loss probes, those look after the tail.
        let rescues = self.recovery.rescue() == Rescue::Once && self.tail.is_none();
        if !rescues || self.snd_una.at_or_before(self.rescue_rxt) {
            return None;
        }
        let tail = self.board.resend_highest(now)?;
        self.rescue_rxt = recover;
        Some(self.sent_again(now, tail))
    }

    fn retransmit(&mut self, now: Time, lost: Sent) -> Outgoing {
        self.board.resend_next_lost(now);
        self.sent_again(now, lost)
    }

    /// A segment has been put on its way once more.
    fn sent_again(&mut self, now: Time, lost: Sent) -> Outgoing {
        self.forced = Forced::No;
        self.last_sent_at = Some(now);
        self.repairs.on_resent(now, lost.seq, self.rtt.rto() * 2);
        if self.board.keeps_time_order() {
            self.watch_sent(now);
        }
        self.validation.on_resent(lost.payload);
        self.recovery.on_sent(Bytes(u64::from(lost.seq_len())));
        self.marks.on_sent(Bytes(u64::from(lost.payload)));
        self.after_data_left(now, Bytes(u64::from(lost.payload)));
        if self.rto_at.is_none() {
            self.restart_rto(now);
        }
        Outgoing {
            seq: lost.seq,
            payload: lost.payload,
            fin: lost.fin,
            push: lost.push,
            kind: SegmentKind::Retransmission,
        }
    }

    /// A tail loss probe (RFC 8985 §7.3): new data if there is some, or else the last segment.
    #[inline(never)]
    fn probe_segment(&mut self, now: Time, room: Bytes) -> Option<Outgoing> {
        if let NewData::Ready(outgoing) = self.new_data(room, Gate::PeersWindow) {
            let outgoing = self.send_new(now, outgoing);
            self.after_probe(ProbeKind::New);
            return Some(outgoing);
        }
        let Some(Sent { seq, payload, fin, push, .. }) = self.board.resend_last(now) else {
            // It has arrived, or is known to be lost: nothing is left to probe with.
            self.forget_probe();
            return None;
        };
        self.last_sent_at = Some(now);
        self.after_probe(ProbeKind::Retransmission);
        self.repairs.on_probed(now, seq, self.rtt.rto() * 2);
        self.after_data_left(now, Bytes(u64::from(payload)));
        let kind = SegmentKind::Retransmission;
        Some(Outgoing { seq, payload, fin, push, kind })
    }

    #[inline(always)]
    fn new_data(&self, room: Bytes, gate: Gate) -> NewData {
        let unsent = self.written - self.nxt_offset;
        let fin_waits = self.fin == FinProgress::Queued;
        if unsent == 0 && !fin_waits {
            return NewData::Wait;
        }
        let edge = self.snd_una + self.snd_wnd;
        let window = if edge.after(self.snd_nxt) { edge.since(self.snd_nxt) } else { 0 };
        let full = self.smss.min(room).get();
        let payload = unsent.min(full).min(u64::from(window)) as u32;
        let all = u64::from(payload) == unsent;
        let idle = self.board.is_empty();
        let stuck = || if idle { NewData::WindowClosed } else { NewData::Wait };
        if window == 0 && !(idle && unsent == 0) {
            return stuck();
        }
        let fin = if all && fin_waits { Fin::Yes } else { Fin::No };
        if u64::from(payload) < full && fin == Fin::No {
            // RFC 9293 §3.8.6.2.1: a small segment leaves if it is all there is and Nagle lets
            // it, or if it is half of the largest window the peer ever offered.
            let worth_it = if all {
                gate == Gate::PeersWindow || self.nagle.may_send(&self.small())
            } else {
                payload >= self.max_snd_wnd / 2
            };
            if !worth_it {
                return if all { NewData::Wait } else { stuck() };
            }
        }
        let budget = match gate {
            Gate::Windows => self.budget(),
            Gate::PeersWindow => self.below_max_window(),
        };
        if budget < Bytes(u64::from(payload)) {
            return NewData::Wait;
        }
        NewData::Ready(Outgoing {
            seq: self.snd_nxt,
            payload,
            fin,
            push: if all && payload > 0 { Push::Set } else { Push::Clear },
            kind: SegmentKind::New,
        })
    }

    fn small(&self) -> SmallSegment {
        SmallSegment { snd_una: self.snd_una, snd_nxt: self.snd_nxt }
    }

    /// What cwnd and the fixed bound, if there is one, let out of new data.
    pub(super) fn budget(&self) -> Bytes {
        self.allowance().min(self.below_max_window())
    }

    /// What the fixed bound lets out.
    fn below_max_window(&self) -> Bytes {
        self.max_window_segments.map_or(Bytes::MAX, |segments| {
            (self.smss * segments).saturating_sub(self.flight_size())
        })
    }

    fn send_new(&mut self, now: Time, outgoing: Outgoing) -> Outgoing {
        let Outgoing { seq, payload, fin, push, .. } = outgoing;
        if self.phase == Phase::Open && self.flight_size() + Bytes(u64::from(payload)) > self.cwnd()
        {
            self.limited_sent += Bytes(u64::from(payload));
        }
        self.note_restart_from_idle(now);
        self.last_sent_at = Some(now);
        self.board.push(Sent { push, ..Sent::first(seq, payload, fin, now) });
        if self.board.goes_by_time_alone() {
            self.watch_sent(now);
        }
        self.snd_nxt = outgoing.seq + payload + u32::from(fin == Fin::Yes);
        self.time_segment(now);
        self.nxt_offset += u64::from(payload);
        if fin == Fin::Yes {
            self.fin = FinProgress::Sent;
        }
        if self.cwnd_use == CwndUse::HalfInSlowStart {
            self.note_use();
        }
        if Bytes(u64::from(payload)) < self.smss {
            self.nagle.on_small_sent(self.snd_nxt);
        }
        self.recovery.on_sent(Bytes(u64::from(payload)));
        self.marks.on_sent(Bytes(u64::from(payload)));
        self.after_data_left(now, Bytes(u64::from(payload)));
        if self.frto.is_undecided() {
            self.frto_allowance = self.frto_allowance.saturating_sub(Bytes(u64::from(payload)));
        }
        if self.rto_at.is_none() {
            self.restart_rto(now);
        }
        if self.tail.is_some() {
            self.arm_probe(now);
        }
        // Also: the octet of an earlier probe is part of this, and no longer beyond what was sent.
        self.persist = Persist { at: None, due: false, octet_out: false, ..self.persist };
        outgoing
    }

    /// The window is closed (or too small to be worth a segment) and nothing is outstanding:
    /// arm the persist timer, or send its probe (RFC 9293 §3.8.6.1).
    fn probe(&mut self, now: Time) -> Option<Outgoing> {
        let edge = self.snd_una + self.snd_wnd;
        let fits = edge.after(self.snd_nxt);
        if !self.persist.due {
            if self.persist.at.is_none() {
                let wait = if fits { self.override_timeout() } else { self.persist_interval() };
                self.persist.at = Some(self.timers.expires_at(now, wait));
            }
            return None;
        }
        self.persist.due = false;
        if fits {
            // The override of RFC 9293 §3.8.6.2.1: what fits leaves after all. It is no probe, and
            // the next one does not wait longer.
            self.persist.probes = 0;
            let payload = edge.since(self.snd_nxt).min((self.written - self.nxt_offset) as u32);
            let (seq, kind) = (self.snd_nxt, SegmentKind::New);
            let small = Outgoing { seq, payload, fin: Fin::No, push: Push::Set, kind };
            return Some(self.send_new(now, small));
        }
        self.persist.at = Some(self.timers.expires_at(now, self.persist_interval()));
        // Linux asks with an old number and nothing at all (tcp_xmit_probe_skb).
        let old = self.closed_window == ClosedWindow::Timeout;
        self.persist.octet_out = !old;
        Some(Outgoing {
            seq: if old { self.snd_una - 1 } else { self.snd_nxt },
            payload: u32::from(!old),
            fin: Fin::No,
            push: Push::Clear,
            kind: SegmentKind::WindowProbe,
        })
    }
}
