//! Which segment leaves next.

use super::persist::override_timeout;
use super::sent::Sent;
use super::{FinProgress, Phase, Sender};
use crate::congestion::LossAnswer;
use crate::loss::ProbeKind;
use crate::nagle::SmallSegment;
use crate::recovery::Flight;
use ackord_events::SegmentKind;
use ackord_units::{Bytes, Seq, Time};

/// A segment to be sent, without its acknowledgment and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: Seq,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    /// Whether it carries PSH: it ends what the application has written so far, or a packet of several segments.
    pub(crate) push: bool,
    pub(crate) kind: SegmentKind,
}

/// What keeps new data from leaving.
enum NewData {
    Ready(Outgoing),
    /// The peer's window is too small and nothing is outstanding: only a probe can help.
    WindowClosed,
    Wait,
}

/// What becomes of the next segment that is known to be lost.
enum NextLost {
    Ready(Sent),
    /// The windows have no room for it.
    HeldBack,
    Nothing,
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
        match self.next_lost() {
            NextLost::Ready(lost) => return Some(self.retransmit(now, lost)),
            NextLost::HeldBack => {
                self.recovery.unforce();
                return None;
            }
            NextLost::Nothing => self.recovery.unforce(),
        }
        match self.new_data(room, Gate::Windows) {
            NewData::Ready(_) if self.defers(now, room) => None,
            NewData::Ready(outgoing) => {
                self.send_new(now, &outgoing);
                Some(self.packed(outgoing, room))
            }
            NewData::WindowClosed => self.probe(now),
            NewData::Wait => self.last_resort(now),
        }
    }

    /// The next segment that is known to be lost, and whether it may be sent now.
    fn next_lost(&mut self) -> NextLost {
        // While a timeout is looked into, only the first segment is retransmitted.
        if self.frto.is_undecided() && !self.recovery.is_forced() {
            return NextLost::Nothing;
        }
        let Some(lost) = self.board.next_lost() else { return NextLost::Nothing };
        let len = Bytes(u64::from(lost.seq_len()));
        let has_room = self.recovery.is_forced() || self.allowance() >= len;
        if has_room && !self.window_keeps_back(&lost) {
            NextLost::Ready(lost)
        } else {
            NextLost::HeldBack
        }
    }

    /// Whether the segment after `sent` is sent right after it: of what is lost after a retransmission, of new data
    /// otherwise.
    pub(super) fn is_followed(&mut self, sent: &Outgoing, room: Bytes) -> bool {
        if sent.kind == SegmentKind::Retransmission {
            let next = sent.seq + sent.payload;
            return matches!(self.next_lost(), NextLost::Ready(lost) if lost.seq == next);
        }
        let next = self.new_data(room, Gate::Windows);
        matches!(next, NewData::Ready(next) if next.payload > 0)
    }

    /// What the congestion window, or the recovery, lets out now.
    #[inline]
    fn allowance(&self) -> Bytes {
        if self.recovery.is_open() {
            let cwnd = self.congestion.cwnd() + self.recovery.beyond_cwnd();
            let fits = || cwnd.saturating_sub(self.queue.flight_size());
            return self.marks.allowance().unwrap_or_else(fits);
        }
        self.allowance_in_recovery()
    }

    /// Apart, so that the ordinary case asks for no more than it needs.
    #[inline(never)]
    fn allowance_in_recovery(&self) -> Bytes {
        let flight = self.flight();
        let Flight { pipe, cwnd, .. } = flight;
        match self.recovery.phase() {
            Phase::FastRecovery { .. } => match self.congestion.loss_answer() {
                // Without SACK pipe does not fall with what arrives, so that cwnd alone says
                // nothing: the recovery's inflation does.
                LossAnswer::OwnWindow if self.peer.sack() => cwnd.saturating_sub(pipe),
                _ => self.recovery.allowance(&flight),
            },
            Phase::SlowStartRecovery { .. } if self.frto.is_undecided() => self.frto.allowance(),
            Phase::Open | Phase::SlowStartRecovery { .. } => cwnd.saturating_sub(pipe),
        }
    }

    /// RFC 6675 §4 NextSeg rules (3) and (4), when nothing that is lost and nothing new can leave:
    /// a hole that too little was SACKed above, or else, once in a recovery, the tail, above which
    /// nothing can be SACKed.
    fn last_resort(&mut self, now: Time) -> Option<Outgoing> {
        let Phase::FastRecovery { recover, .. } = self.recovery.phase() else { return None };
        if !self.peer.sack() || self.peer_window.is_closed() || self.allowance() < self.sizes.smss()
        {
            return None;
        }
        if let Some(hole) = self.board.resend_next_hole(now) {
            return Some(self.retransmitted(now, hole));
        }
        // Where the detector has tail loss probes, those look after the tail.
        if self.tail.is_some() || !self.recovery.may_rescue(self.queue.snd_una()) {
            return None;
        }
        let tail = self.board.resend_highest(now)?;
        self.recovery.on_rescued(recover);
        Some(self.retransmitted(now, tail))
    }

    fn retransmit(&mut self, now: Time, lost: Sent) -> Outgoing {
        self.board.resend_next_lost(now);
        self.retransmitted(now, lost)
    }

    /// A segment has been put on its way once more.
    fn retransmitted(&mut self, now: Time, lost: Sent) -> Outgoing {
        self.recovery.unforce();
        self.usage.on_sent(now);
        self.undo.on_resent(now, lost.seq, self.timer.rtt().rto() * 2);
        if self.board.keeps_time_order() {
            self.watch_sent(now);
        }
        self.usage.validation_mut().on_resent(lost.payload);
        self.recovery.on_sent(Bytes(u64::from(lost.seq_len())));
        self.marks.on_sent(Bytes(u64::from(lost.payload)));
        self.after_data_left(now, Bytes(u64::from(lost.payload)));
        if self.timer.at().is_none() {
            self.restart_rto(now);
        }
        let Sent { seq, payload, fin, push, .. } = lost;
        let kind = SegmentKind::Retransmission;
        self.packed(Outgoing { seq, payload, fin, push, kind }, Bytes::MAX)
    }

    /// A tail loss probe (RFC 8985 §7.3): new data if there is some, or else the last segment.
    #[inline(never)]
    fn probe_segment(&mut self, now: Time, room: Bytes) -> Option<Outgoing> {
        if let NewData::Ready(outgoing) = self.new_data(room, Gate::PeersWindow) {
            self.send_new(now, &outgoing);
            self.after_probe(ProbeKind::New);
            return Some(outgoing);
        }
        let Some(Sent { seq, payload, fin, push, .. }) = self.board.resend_last(now) else {
            // It has arrived, or is known to be lost: nothing is left to probe with.
            self.forget_probe();
            return None;
        };
        self.usage.on_sent(now);
        self.after_probe(ProbeKind::Retransmission);
        self.undo.on_probed(now, seq, self.timer.rtt().rto() * 2);
        self.after_data_left(now, Bytes(u64::from(payload)));
        let kind = SegmentKind::Retransmission;
        Some(Outgoing { seq, payload, fin, push, kind })
    }

    #[inline(always)]
    fn new_data(&self, room: Bytes, gate: Gate) -> NewData {
        let unsent = self.queue.unsent().get();
        let fin_waits = self.queue.fin() == FinProgress::Queued;
        if unsent == 0 && !fin_waits {
            return NewData::Wait;
        }
        let window = self.peer_window.room(&self.queue);
        let full = self.sizes.smss().min(room).get();
        let payload = unsent.min(full).min(u64::from(window)) as u32;
        let all = u64::from(payload) == unsent;
        let idle = self.board.is_empty();
        let stuck = || if idle { NewData::WindowClosed } else { NewData::Wait };
        if window == 0 && !(idle && unsent == 0) {
            return stuck();
        }
        let fin = all && fin_waits;
        if u64::from(payload) < full && !fin {
            // RFC 9293 §3.8.6.2.1: a small segment leaves if it is all there is and Nagle lets
            // it, or if it is half of the largest window the peer ever offered.
            let worth_it = if all {
                gate == Gate::PeersWindow || self.nagle.may_send(&self.small())
            } else {
                payload >= self.peer_window.max() / 2
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
            seq: self.queue.snd_nxt(),
            payload,
            fin,
            push: all && payload > 0 && self.queue.pushes_end(),
            kind: SegmentKind::New,
        })
    }

    fn small(&self) -> SmallSegment {
        SmallSegment { snd_una: self.queue.snd_una(), snd_nxt: self.queue.snd_nxt() }
    }

    /// What cwnd and the fixed bound, if there is one, let out of new data.
    pub(super) fn budget(&self) -> Bytes {
        self.allowance().min(self.below_max_window())
    }

    /// What the fixed bound lets out.
    fn below_max_window(&self) -> Bytes {
        self.sizes
            .max_window()
            .map_or(Bytes::MAX, |most| most.saturating_sub(self.queue.flight_size()))
    }

    fn send_new(&mut self, now: Time, outgoing: &Outgoing) {
        let Outgoing { seq, payload, fin, push, .. } = *outgoing;
        let bytes = Bytes(u64::from(payload));
        if self.recovery.is_open() && self.queue.flight_size() + bytes > self.congestion.cwnd() {
            self.recovery.on_limited_sent(bytes);
        }
        self.note_restart_from_idle(now);
        self.usage.on_sent(now);
        self.board.push(Sent { push, ..Sent::first(seq, payload, fin, now) });
        if self.board.goes_by_time_alone() {
            self.watch_sent(now);
        }
        self.queue.on_sent(payload, fin);
        self.timer.on_sent(now, self.queue.snd_nxt());
        let (smss, congestion) = (self.sizes.smss(), &self.congestion);
        self.usage.note(&self.queue, |flight| flight + smss > congestion.cwnd());
        if bytes < smss {
            self.nagle.on_small_sent(self.queue.snd_nxt());
        }
        self.recovery.on_sent(bytes);
        self.marks.on_sent(bytes);
        self.after_data_left(now, bytes);
        self.frto.on_sent(bytes);
        if self.timer.at().is_none() {
            self.restart_rto(now);
        }
        if self.tail.is_some() {
            self.arm_probe(now);
        }
        self.persist.on_data_sent();
    }

    /// The window is closed (or too small to be worth a segment) and nothing is outstanding:
    /// arm the persist timer, or send its probe (RFC 9293 §3.8.6.1).
    fn probe(&mut self, now: Time) -> Option<Outgoing> {
        let room = self.peer_window.room(&self.queue);
        let rto = self.timer.rtt().rto();
        if !self.persist.take_due() {
            let timer = &self.timer;
            self.persist.arm(|persist| {
                let wait = if room > 0 { override_timeout(rto) } else { persist.interval(rto) };
                timer.expires_at(now, wait)
            });
            return None;
        }
        if room > 0 {
            // The override of RFC 9293 §3.8.6.2.1: what fits leaves after all. It is no probe.
            self.persist.on_override();
            let payload = room.min(self.queue.unsent().get() as u32);
            let (seq, kind) = (self.queue.snd_nxt(), SegmentKind::New);
            let small = Outgoing { seq, payload, fin: false, push: true, kind };
            self.send_new(now, &small);
            return Some(small);
        }
        let next = self.timer.expires_at(now, self.persist.interval(rto));
        // Linux asks with an old number and nothing at all (tcp_xmit_probe_skb).
        let old = self.persist.leaves_it_to_rto();
        self.persist.on_probe_sent(next, !old);
        Some(Outgoing {
            seq: if old { self.queue.snd_una() - 1 } else { self.queue.snd_nxt() },
            payload: u32::from(!old),
            fin: false,
            push: false,
            kind: SegmentKind::WindowProbe,
        })
    }
}
