//! Recoveries that were not needed: how the sender finds out, and what it gives back.
//!
//! Two kinds of evidence are gathered here for every policy. DSACK (RFC 2883): the receiver reports
//! bytes it received twice; a recovery was spurious if every retransmission it sent is reported
//! (RFC 3708 §4 asks for all of them). Timestamps (RFC 3522): the first acknowledgment of new data
//! after a retransmission echoes a stamp older than that retransmission. What to make of it is
//! for the loss detector to say; a detector may also come to it by a timer of its own.
//!
//! Not modelled: what ACK loss does to DSACK (a lost report leaves a recovery standing), and packets
//! duplicated by the network beyond asking that the bytes were indeed retransmitted.

use super::{IncomingAck, Sender};
use crate::config::{Config, DuplicateReports};
use crate::congestion::CongestionEvent;
use crate::loss::{AckContext, Advance, Duplicates, Spurious, Undo};
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, RecoveryKind, Sink, SpuriousEvidence};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::SackBlock;
use std::collections::VecDeque;

/// What the last recovery took, and what is known about whether it was needed.
#[derive(Clone, Copy, Debug)]
struct Taken {
    kind: RecoveryKind,
    cwnd: Bytes,
    ssthresh: Bytes,
    flight_size: Bytes,
    /// What it retransmitted first, and when.
    first_resent: Option<(Seq, Time)>,
    /// Retransmissions of this recovery, and those of them not yet reported as duplicates.
    resent: u32,
    unaccounted: u32,
    /// The first new acknowledgment since: what it says about the hole.
    filled: Option<Filled>,
    /// A mark asks for the reduction too: the windows do not come back when it is undone.
    reduction_stands: bool,
    /// SND.MAX, SRTT and RTTVAR when the recovery began.
    snd_nxt: Seq,
    estimate: Option<(Span, Span)>,
}

/// How a hole was filled.
#[derive(Clone, Copy, Debug)]
struct Filled {
    extent_segments: u32,
    missing_for: Span,
    /// Bytes acknowledged.
    acked: Bytes,
    context: AckContext,
}

/// The recoveries of a connection, as far as they may yet prove spurious.
#[derive(Clone, Debug)]
pub(super) struct UndoState {
    /// Whether the acknowledgment that shows a recovery to be spurious also lets cwnd grow.
    lets_cwnd_grow: bool,
    duplicate_reports: DuplicateReports,
    taken: Option<Taken>,
    /// Number of the present or last recovery.
    number: u32,
    /// ssthresh before the last reduction.
    previous_ssthresh: Option<Bytes>,
    resent: VecDeque<Resent>,
    /// Segments ever retransmitted, probes among them, and duplicates ever reported.
    total_resent: u64,
    total_duplicates: u64,
}

/// A retransmission that may yet be reported as a duplicate.
#[derive(Clone, Copy, Debug)]
struct Resent {
    seq: Seq,
    at: Time,
    /// The recovery it was sent for; none for a tail loss probe.
    recovery: Option<u32>,
}

impl UndoState {
    pub(super) fn new(config: &Config) -> UndoState {
        UndoState {
            lets_cwnd_grow: config.sending.undo_growth,
            duplicate_reports: config.sending.duplicate_reports,
            taken: None,
            number: 0,
            previous_ssthresh: None,
            resent: VecDeque::new(),
            total_resent: 0,
            total_duplicates: 0,
        }
    }

    /// Whether the first acknowledgment of what the last recovery retransmitted is still to come.
    #[inline]
    pub(super) fn awaits_first_ack(&self) -> bool {
        self.taken
            .as_ref()
            .is_some_and(|taken| taken.first_resent.is_some() && taken.filled.is_none())
    }

    /// Whether the acknowledgment that shows a recovery to be spurious also lets cwnd grow.
    pub(super) fn lets_cwnd_grow(&self) -> bool {
        self.lets_cwnd_grow
    }

    /// A segment was retransmitted at `now`. Reports of it come within about a round trip; `forget`
    /// is how long they are waited for.
    pub(super) fn on_resent(&mut self, now: Time, seq: Seq, forget: Span) {
        self.keep(Resent { seq, at: now, recovery: Some(self.number) }, forget);
        if let Some(taken) = &mut self.taken {
            taken.first_resent.get_or_insert((seq, now));
            taken.resent += 1;
            taken.unaccounted += 1;
        }
    }

    /// The last segment was retransmitted as a tail loss probe.
    pub(super) fn on_probed(&mut self, now: Time, seq: Seq, forget: Span) {
        self.keep(Resent { seq, at: now, recovery: None }, forget);
    }

    fn keep(&mut self, resent: Resent, forget: Span) {
        let at = resent.at;
        self.total_resent += 1;
        while self.resent.front().is_some_and(|old| at.saturating_since(old.at) > forget) {
            self.resent.pop_front();
        }
        self.resent.push_back(resent);
    }

    /// Counts the duplicates of a report. True if our retransmissions can have made them all.
    fn is_plausible(&mut self, block: SackBlock, smss: Bytes) -> bool {
        self.total_duplicates +=
            u64::from(block.end.since(block.start)).div_ceil(smss.get().max(1));
        self.total_duplicates <= self.total_resent
    }

    /// The receiver had `block` twice. True if that was one of our retransmissions.
    fn account(&mut self, block: SackBlock) -> bool {
        let covers =
            |resent: &Resent| resent.seq.at_or_after(block.start) && resent.seq.before(block.end);
        // What was retransmitted by several recoveries in a row is put down to the present one.
        let ours = |resent: &Resent| covers(resent) && resent.recovery == Some(self.number);
        let index = self.resent.iter().position(ours);
        let index = index.or_else(|| self.resent.iter().position(covers));
        let Some(index) = index else { return false };
        let of = self.resent.remove(index).and_then(|resent| resent.recovery);
        if let Some(taken) = &mut self.taken
            && of == Some(self.number)
        {
            taken.unaccounted = taken.unaccounted.saturating_sub(1);
        }
        true
    }
}

impl Sender {
    /// A recovery is about to reduce the window.
    pub(super) fn remember(&mut self, kind: RecoveryKind) {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        self.undo.number = self.undo.number.wrapping_add(1);
        self.undo.previous_ssthresh = Some(ssthresh);
        self.undo.taken = Some(Taken {
            kind,
            cwnd,
            ssthresh,
            flight_size: self.queue.flight_size(),
            first_resent: None,
            resent: 0,
            unaccounted: 0,
            filled: None,
            reduction_stands: false,
            snd_nxt: self.queue.snd_nxt(),
            estimate: self.timer.rtt().srtt().zip(self.timer.rtt().rttvar()),
        });
    }

    /// A mark asks for what the last recovery took: undoing that gives no window back.
    pub(super) fn keep_reduction(&mut self) {
        let ssthresh = self.congestion.ssthresh();
        self.undo.previous_ssthresh = Some(ssthresh);
        if let Some(taken) = &mut self.undo.taken {
            taken.cwnd = taken.cwnd.min(ssthresh);
            taken.ssthresh = taken.ssthresh.min(ssthresh);
            taken.flight_size = taken.flight_size.min(ssthresh);
            taken.reduction_stands = true;
        }
    }

    /// RFC 3522 §3.2, and what the acknowledgment says about the hole it filled.
    #[inline]
    pub(super) fn look_at_first_new_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        advance: &Advance,
        missing_for: Span,
    ) {
        let Some(taken) = &self.undo.taken else { return };
        let Some((seq, resent_at)) = taken.first_resent else { return };
        if taken.filled.is_none() && self.queue.snd_una().after(seq) {
            self.look_at_filled_hole(trace, ack, advance, (resent_at, missing_for));
        }
    }

    #[inline(never)]
    fn look_at_filled_hole<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        advance: &Advance,
        (resent_at, missing_for): (Time, Span),
    ) {
        let context = self.context(ack);
        let Some(taken) = &mut self.undo.taken else { return };
        let Advance { acked, extent_segments, .. } = *advance;
        taken.filled = Some(Filled { extent_segments, missing_for, acked, context });
        // Step 4: only the first acceptable acknowledgment counts.
        let older = ack
            .echo
            .zip(self.peer.ts_clock())
            .is_some_and(|(echo, clock)| echo != 0 && clock.is_before(echo, resent_at));
        if older {
            self.report_spurious(trace, SpuriousEvidence::Timestamps);
        }
    }

    fn context(&self, ack: &IncomingAck<'_>) -> AckContext {
        let now = self.peer.dsack() && ack.sack.duplicate(ack.ack).is_some();
        AckContext {
            outstanding: self.queue.flight_size(),
            duplicates: match (now, self.undo.total_duplicates) {
                (true, _) => Duplicates::Now,
                (false, 0) => Duplicates::Never,
                (false, _) => Duplicates::Earlier,
            },
            marked: ack.marked,
        }
    }

    /// Takes in the report of a duplicate.
    pub(super) fn on_dsack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, block: SackBlock) {
        let plausible = self.undo.is_plausible(block, self.sizes.smss());
        if !plausible && self.undo.duplicate_reports == DuplicateReports::Plausible {
            return;
        }
        // Whose duplicate it is, is not asked where there are few enough.
        let ours = self.undo.account(block);
        let counts = ours || self.undo.duplicate_reports == DuplicateReports::Plausible;
        let (of_probe, snd_nxt) = (self.is_of_probe(block), self.queue.snd_nxt());
        if counts && !of_probe {
            self.detection.on_dsack(snd_nxt);
        }
        if !ours {
            return;
        }
        let (seq, bytes) = (block.start, Bytes(u64::from(block.end.since(block.start))));
        trace.emit(|endpoint| Event::RetransmissionSpurious { endpoint, seq, bytes });
        // RFC 3708 §4: every retransmission of the recovery has to be accounted for.
        let all = self.undo.taken.is_some_and(|taken| {
            taken.resent > 0 && taken.unaccounted == 0 && taken.filled.is_some()
        });
        if all {
            self.report_spurious(trace, SpuriousEvidence::Dsack);
        }
    }

    /// Asks the detector what to make of a recovery that was not needed, and does it.
    fn report_spurious<S: Sink>(&mut self, trace: &mut Trace<'_, S>, evidence: SpuriousEvidence) {
        if let Some(undo) = self.ask_about_spurious(trace.now, evidence) {
            self.undo_recovery(trace, undo, evidence);
        }
    }

    /// What the detector makes of a recovery that was not needed.
    pub(super) fn ask_about_spurious(
        &mut self,
        now: Time,
        evidence: SpuriousEvidence,
    ) -> Option<Undo> {
        let taken = self.undo.taken?;
        let unfilled = Filled {
            extent_segments: 0,
            missing_for: Span::ZERO,
            acked: Bytes::ZERO,
            context: AckContext {
                outstanding: self.queue.flight_size(),
                duplicates: Duplicates::Never,
                marked: false,
            },
        };
        let filled = taken.filled.unwrap_or(unfilled);
        let spurious = Spurious {
            evidence,
            recovery: taken.kind,
            extent_segments: filled.extent_segments,
            delay: filled.missing_for,
            flight_size: taken.flight_size,
            smss: self.sizes.smss(),
            context: filled.context,
        };
        self.detection.on_spurious(now, &spurious)
    }

    /// cwnd and ssthresh from which the window of before comes back by slow start: FlightSize and
    /// `more`, with pipe_prev of RFC 4015 §3 step 0 for ssthresh.
    fn slow_start_back(&self, taken: &Taken, more: Bytes) -> (Bytes, Bytes) {
        let restart = (self.queue.flight_size() + more).min(taken.cwnd);
        (self.congestion.cwnd().max(restart), taken.flight_size.max(taken.ssthresh))
    }

    /// RFC 4015 §3 step 11: the timer waits for a sample of data that was not sent when it expired
    /// too soon.
    fn be_more_conservative(&mut self, taken: &Taken) {
        self.timer.be_more_conservative(taken.snd_nxt, taken.estimate);
    }

    /// The largest window that could ever be used: beyond it doubling has no end.
    fn largest_window(&self) -> Bytes {
        let peers = Bytes(u64::from(self.peer_window.max()));
        self.sizes.max_window().map_or(peers, |most| peers.min(most))
    }

    /// Gives back what the last recovery took; nothing if it has been given back already.
    pub(super) fn undo_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        undo: Undo,
        evidence: SpuriousEvidence,
    ) {
        let taken = self.undo.taken.take();
        let (cwnd_now, ssthresh_now) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let (cwnd, ssthresh) = match (undo, taken) {
            (Undo::Restore, Some(taken)) => (cwnd_now.max(taken.cwnd), taken.ssthresh),
            (Undo::SlowStartBack, Some(taken)) => self.slow_start_back(&taken, self.sizes.smss()),
            // RFC 4015 §3 step 9.
            (Undo::EifelResponse, Some(taken)) => {
                let acked = taken.filled.map_or(Bytes::ZERO, |filled| filled.acked);
                self.be_more_conservative(&taken);
                self.slow_start_back(&taken, acked.min(self.sizes.initial_window()))
            }
            (Undo::DoubleCwnd, _) => {
                let doubled = (cwnd_now * 2).min(self.largest_window()).max(cwnd_now);
                (doubled, self.undo.previous_ssthresh.unwrap_or(ssthresh_now))
            }
            (Undo::Restore | Undo::SlowStartBack | Undo::EifelResponse, None) => return,
        };
        if !self.recovery.is_open() {
            let kind = self.recovery.phase().kind();
            self.board.revive_lost();
            self.recovery.unforce();
            self.exit_recovery(trace, kind);
        }
        // A real loss in the same window may begin a recovery of its own.
        self.recovery.forget_recover();
        let event = if taken.is_some_and(|taken| taken.reduction_stands) {
            CongestionEvent::Restart { cwnd, ssthresh }
        } else {
            self.marks.on_undone();
            CongestionEvent::Undone { cwnd, ssthresh }
        };
        self.congestion.on_congestion(trace.now, event);
        if let Some(taken) = taken {
            let kind = taken.kind;
            trace.emit(|endpoint| Event::RecoveryUndone { endpoint, kind, evidence });
        }
        self.emit_window(trace, CwndReason::Undo);
    }
}
