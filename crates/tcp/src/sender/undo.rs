//! Repairs that were not needed: how the sender finds out, and what it gives back.
//!
//! Two kinds of evidence are gathered here for every policy. DSACK (RFC 2883): the receiver reports
//! octets it received twice; a repair was spurious if every retransmission it sent is reported
//! (RFC 3708 §4 asks for all of them). Timestamps (RFC 3522): the first acknowledgment of new data
//! after a retransmission echoes a stamp older than that retransmission. What to make of it is
//! for the loss detector to say; a detector may also come to it by a timer of its own.
//!
//! Not modelled: what ACK loss does to DSACK (a lost report leaves a repair standing), and packets
//! duplicated by the network beyond asking that the octets were indeed sent again.

use super::ack_in::{IncomingAck, Marked};
use super::timing::Conservative;
use super::{Forced, Phase, Sender};
use crate::congestion::CongestionEvent;
use crate::loss::{Advance, Aside, Duplicates, MarkEchoed, Spurious, Undo};
use crate::trace::Trace;
use crate::words::worded;
use ackord_events::{CwndReason, Event, RecoveryKind, Sink, SpuriousEvidence};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{SackBlock, SackBlocks};
use std::collections::VecDeque;

/// Whether the acknowledgment that shows a repair to be spurious also lets cwnd grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoGrowth {
    /// It does, by what it covers.
    On,
    /// It only gives back what was taken.
    Off,
}

worded!(UndoGrowth { "on" => On, "off" => Off });

/// Which reports of duplicates are taken in (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateReports {
    /// Those of octets that were sent again lately.
    Own,
    /// None while more duplicates have been reported than segments were ever sent again: something
    /// else on the path makes them. Below that any counts for RACK's reordering window; for the
    /// repair they are about, as above.
    Plausible,
}

worded!(DuplicateReports { "own" => Own, "plausible" => Plausible });

/// What the last repair took, and what is known about whether it was needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    kind: RecoveryKind,
    cwnd: Bytes,
    ssthresh: Bytes,
    flight_size: Bytes,
    /// What it sent again first, and when.
    first_resent: Option<(Seq, Time)>,
    /// Retransmissions of this repair, and those of them not yet reported as duplicates.
    resent: u32,
    unaccounted: u32,
    /// The first new acknowledgment since: what it says about the hole.
    filled: Option<Filled>,
    reduction: Reduction,
    /// SND.MAX, SRTT and RTTVAR when the repair began.
    snd_nxt: Seq,
    estimate: Option<(Span, Span)>,
}

/// Whether the windows come back with a repair that is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    ForLoss,
    /// A mark asks for it too.
    Stands,
}

/// How a hole was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    pub(super) extent_segments: u32,
    pub(super) lateness: Span,
    /// Octets acknowledged.
    pub(super) acked: Bytes,
    pub(super) aside: Aside,
}

/// The repairs of a connection, as far as they may yet prove spurious.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs {
    taken: Option<Taken>,
    /// Number of the present or last repair.
    number: u32,
    /// ssthresh before the last reduction.
    previous_ssthresh: Option<Bytes>,
    resent: VecDeque<Resent>,
    /// Segments ever sent again, probes among them, and duplicates ever reported.
    total_resent: u64,
    total_duplicates: u64,
}

/// A retransmission that may yet be reported as a duplicate.
#[derive(Clone, Copy, Debug)]
struct Resent {
    seq: Seq,
    at: Time,
    /// The repair it was sent for; none for a tail loss probe.
    repair: Option<u32>,
}

impl Repairs {
    /// A segment was sent again at `now`. Reports of it come within about a round trip; `forget`
    /// is how long they are waited for.
    pub(super) fn on_resent(&mut self, now: Time, seq: Seq, forget: Span) {
        self.keep(Resent { seq, at: now, repair: Some(self.number) }, forget);
        if let Some(taken) = &mut self.taken {
            taken.first_resent.get_or_insert((seq, now));
            taken.resent += 1;
            taken.unaccounted += 1;
        }
    }

    /// The last segment was sent again as a tail loss probe.
    pub(super) fn on_probed(&mut self, now: Time, seq: Seq, forget: Span) {
        self.keep(Resent { seq, at: now, repair: None }, forget);
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
        // What was sent again by several repairs in a row is put down to the present one.
        let ours = |resent: &Resent| covers(resent) && resent.repair == Some(self.number);
        let index = self.resent.iter().position(ours);
        let index = index.or_else(|| self.resent.iter().position(covers));
        let Some(index) = index else { return false };
        let of = self.resent.remove(index).and_then(|resent| resent.repair);
        if let Some(taken) = &mut self.taken
            && of == Some(self.number)
        {
            taken.unaccounted = taken.unaccounted.saturating_sub(1);
        }
        true
    }
}

/// The D-SACK block of an acknowledgment (RFC 2883 §4): the first one, if it lies below the
/// cumulative acknowledgment or within the second.
#[inline]
pub(super) fn dsack_block(blocks: &SackBlocks, ack: Seq) -> Option<SackBlock> {
    let [first, rest @ ..] = blocks.as_slice() else { return None };
    let within = |second: &SackBlock| {
        first.start.at_or_after(second.start) && first.end.at_or_before(second.end)
    };
    (first.start.before(ack) || rest.first().is_some_and(within)).then_some(*first)
}

impl Sender {
    /// A repair is about to reduce the window.
    pub(super) fn remember(&mut self, kind: RecoveryKind) {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        self.repairs.number = self.repairs.number.wrapping_add(1);
        self.repairs.previous_ssthresh = Some(ssthresh);
        self.repairs.taken = Some(Taken {
            kind,
            cwnd,
            ssthresh,
            flight_size: self.flight_size(),
            first_resent: None,
            resent: 0,
            unaccounted: 0,
            filled: None,
            reduction: Reduction::ForLoss,
            snd_nxt: self.snd_nxt,
            estimate: self.rtt.srtt().zip(self.rtt.rttvar()),
        });
    }

    /// A mark asks for what the last repair took: undoing that gives no window back.
    pub(super) fn keep_reduction(&mut self) {
        let ssthresh = self.congestion.ssthresh();
        self.repairs.previous_ssthresh = Some(ssthresh);
        if let Some(taken) = &mut self.repairs.taken {
            taken.cwnd = taken.cwnd.min(ssthresh);
            taken.ssthresh = taken.ssthresh.min(ssthresh);
            taken.flight_size = taken.flight_size.min(ssthresh);
            taken.reduction = Reduction::Stands;
        }
    }

    /// RFC 3522 §3.2, and what the acknowledgment says about the hole it filled.
    #[inline]
    pub(super) fn look_at_first_new_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        advance: &Advance,
        lateness: Span,
    ) {
        let Some(taken) = &self.repairs.taken else { return };
        let Some((seq, resent_at)) = taken.first_resent else { return };
        if taken.filled.is_none() && self.snd_una.after(seq) {
            self.look_at_filled_hole(trace, ack, advance, (resent_at, lateness));
        }
    }

    #[inline(never)]
    fn look_at_filled_hole<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        advance: &Advance,
        (resent_at, lateness): (Time, Span),
    ) {
        let aside = self.aside(ack);
        let Some(taken) = &mut self.repairs.taken else { return };
        let Advance { acked, extent_segments, .. } = *advance;
        taken.filled = Some(Filled { extent_segments, lateness, acked, aside });
        // Step 4: only the first acceptable acknowledgment counts.
        let older = ack
            .echo
            .zip(self.ts_clock)
            .is_some_and(|(echo, clock)| echo != 0 && clock.is_before(echo, resent_at));
        if older {
            self.report_spurious(trace, SpuriousEvidence::Timestamps);
        }
    }

    fn aside(&self, ack: &IncomingAck<'_>) -> Aside {
        let now = self.reads_dsack && dsack_block(ack.sack, ack.ack).is_some();
        Aside {
            outstanding: self.flight_size(),
            duplicates: match (now, self.repairs.total_duplicates) {
                (true, _) => Duplicates::Now,
                (false, 0) => Duplicates::Never,
                (false, _) => Duplicates::Earlier,
            },
            mark: match ack.marked {
                Marked::Yes => MarkEchoed::Yes,
                Marked::No => MarkEchoed::No,
            },
        }
    }

    /// Takes in the report of a duplicate.
    pub(super) fn on_dsack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, block: SackBlock) {
        let plausible = self.repairs.is_plausible(block, self.smss);
        if !plausible && self.duplicate_reports == DuplicateReports::Plausible {
            return;
        }
        // Whose duplicate it is, is not asked where there are few enough.
        let ours = self.repairs.account(block);
        let counts = ours || self.duplicate_reports == DuplicateReports::Plausible;
        let (of_probe, snd_nxt) = (self.is_of_probe(block), self.snd_nxt);
        if counts
            && !of_probe
            && let Some(by_time) = self.loss.by_time()
        {
            by_time.on_dsack(snd_nxt);
        }
        if !ours {
            return;
        }
        let (seq, bytes) = (block.start, Bytes(u64::from(block.end.since(block.start))));
        trace.emit(|endpoint| Event::RetransmissionSpurious { endpoint, seq, bytes });
        // RFC 3708 §4: every retransmission of the repair has to be accounted for.
        let all = self.repairs.taken.is_some_and(|taken| {
            taken.resent > 0 && taken.unaccounted == 0 && taken.filled.is_some()
        });
        if all {
            self.report_spurious(trace, SpuriousEvidence::Dsack);
        }
    }

    /// Asks the detector what to make of a repair that was not needed, and does it.
    fn report_spurious<S: Sink>(&mut self, trace: &mut Trace<'_, S>, evidence: SpuriousEvidence) {
        if let Some(undo) = self.ask_about_spurious(trace.now, evidence) {
            self.undo(trace, undo, evidence);
        }
    }

    /// What the detector makes of a repair that was not needed.
    pub(super) fn ask_about_spurious(
        &mut self,
        now: Time,
        evidence: SpuriousEvidence,
    ) -> Option<Undo> {
        let taken = self.repairs.taken?;
        let unfilled = Filled {
            extent_segments: 0,
            lateness: Span::ZERO,
            acked: Bytes::ZERO,
            aside: Aside {
                outstanding: self.flight_size(),
                duplicates: Duplicates::Never,
                mark: MarkEchoed::No,
            },
        };
        let filled = taken.filled.unwrap_or(unfilled);
        let spurious = Spurious {
            evidence,
            repair: taken.kind,
            extent_segments: filled.extent_segments,
            lateness: filled.lateness,
            flight_size: taken.flight_size,
            smss: self.smss,
            aside: filled.aside,
        };
        self.loss.on_spurious(now, &spurious)
    }

    /// cwnd and ssthresh from which the window of before comes back by slow start: FlightSize and
    /// `more`, with pipe_prev of RFC 4015 §3 step 0 for ssthresh.
    fn slow_start_back(&self, taken: &Taken, more: Bytes) -> (Bytes, Bytes) {
        let restart = (self.flight_size() + more).min(taken.cwnd);
        (self.congestion.cwnd().max(restart), taken.flight_size.max(taken.ssthresh))
    }

    /// RFC 4015 §3 step 11: the timer waits for a sample of data that was not sent when it struck
    /// too soon.
    fn be_more_conservative(&mut self, taken: &Taken) {
        let granularity = self.rtt.granularity();
        self.conservative = taken.estimate.map(|(srtt, rttvar)| Conservative {
            after: taken.snd_nxt,
            srtt: srtt + granularity * 2,
            rttvar,
        });
    }

    /// The largest window that could ever be used: beyond it doubling has no end.
    fn largest_window(&self) -> Bytes {
        let peers = Bytes(u64::from(self.max_snd_wnd));
        self.max_window_segments.map_or(peers, |segments| peers.min(self.smss * segments))
    }

    /// Gives back what the last repair took; nothing if it has been given back already.
    pub(super) fn undo<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        undo: Undo,
        evidence: SpuriousEvidence,
    ) {
        let taken = self.repairs.taken.take();
        let (cwnd_now, ssthresh_now) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let (cwnd, ssthresh) = match (undo, taken) {
            (Undo::Restore, Some(taken)) => (cwnd_now.max(taken.cwnd), taken.ssthresh),
            (Undo::SlowStartBack, Some(taken)) => self.slow_start_back(&taken, self.smss),
            // RFC 4015 §3 step 9.
            (Undo::EifelResponse, Some(taken)) => {
                let acked = taken.filled.map_or(Bytes::ZERO, |filled| filled.acked);
                self.be_more_conservative(&taken);
                self.slow_start_back(&taken, acked.min(self.initial_window()))
            }
            (Undo::DoubleCwnd, _) => {
                let doubled = (cwnd_now * 2).min(self.largest_window()).max(cwnd_now);
                (doubled, self.repairs.previous_ssthresh.unwrap_or(ssthresh_now))
            }
            (Undo::Restore | Undo::SlowStartBack | Undo::EifelResponse, None) => return,
        };
        if let Phase::FastRecovery { .. } | Phase::SlowStartRecovery { .. } = self.phase {
            let kind = self.phase.kind();
            self.board.revive_lost();
            self.forced = Forced::No;
            self.leave_repair(trace, kind);
        }
        // A real loss in the same window may start a repair of its own.
        self.recover = None;
        let event = match taken {
            Some(Taken { reduction: Reduction::Stands, .. }) => {
                CongestionEvent::Restart { cwnd, ssthresh }
            }
            _ => {
                self.marks.on_undone();
                CongestionEvent::Undone { cwnd, ssthresh }
            }
        };
        self.congestion.on_congestion(trace.now, event);
        if let Some(taken) = taken {
            let kind = taken.kind;
            trace.emit(|endpoint| Event::RepairUndone { endpoint, kind, evidence });
        }
        self.tell_window(trace, CwndReason::Undo);
    }
}
