//! What a sender does about marks that come back (RFC 3168 §6.1.2): the window is reduced once for
//! each window of data, whether marks, losses or both say so, and the next new segment says CWR.
//!
//! A reduction holds until something sent after it is acknowledged: until then marks tell nothing
//! new, cwnd does not grow, and a loss from before is recovered without taking anything more. The
//! RFC asks for no more than that acknowledgments with ECE let nothing grow; Linux holds the window
//! as we do. Under a recovery with proportional rate reduction what leaves follows what is
//! delivered, as in fast recovery: the network is emptied in proportion, instead of at once, and one that
//! holds less than the new window is not filled at once either; cwnd says the new window from the
//! start. Undoing a recovery gives nothing back that a mark of the same window had asked for.
//!
//! Not modelled: §6.1.2's wait for the retransmission timer where cwnd is one segment already (it
//! never falls below two here, save after a timeout).

use super::Sender;
use crate::congestion::{CongestionEvent, LossAnswer, LossResponse};
use crate::recovery::{Delivered, Flight, Prr};
use crate::trace::Trace;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Seq};

/// The sender's part of ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Nothing that leaves may be marked.
    Off,
    On(Reductions),
}

/// The last reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reductions {
    /// What the last one was for, and the next byte to be sent then; nothing once something sent
    /// after it is acknowledged.
    last: Option<(Cause, Seq)>,
    /// CWR has to leave.
    cwr_due: bool,
    /// How the network is emptied down to the new window.
    spread: Option<Prr>,
}

/// What an acknowledgment says to a reduction that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// Bytes of it that are acknowledged cumulatively.
    pub(super) acked: Bytes,
    /// All that it shows to be delivered.
    pub(super) delivered: Bytes,
}

/// What a reduction was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Mark,
    Loss,
}

impl Marks {
    /// New data leaves: whether it says CWR. Nothing if it may not be marked.
    #[inline]
    pub(crate) fn on_new_data(&mut self) -> Option<bool> {
        match self {
            Marks::Off => None,
            Marks::On(reductions) if reductions.cwr_due => {
                reductions.cwr_due = false;
                Some(true)
            }
            Marks::On(_) => Some(false),
        }
    }

    /// The window was reduced, whatever for (RFC 3168 §6.1.2).
    #[inline]
    pub(super) fn on_reduced(&mut self, cause: Cause, snd_nxt: Seq) {
        if let Marks::On(reductions) = self {
            *reductions = Reductions { last: Some((cause, snd_nxt)), cwr_due: true, spread: None };
        }
    }

    /// The reduction that a mark has just brought is spread over the round trip.
    fn spread(&mut self, recover_flight: Bytes) {
        if let Marks::On(reductions) = self {
            reductions.spread = Some(Prr::begin(recover_flight, true));
        }
    }

    /// Bytes were delivered.
    #[inline]
    fn on_delivered(&mut self, arrived: Arrived, flight: &Flight) {
        if let Marks::On(Reductions { spread: Some(spread), .. }) = self
            && arrived.delivered > Bytes::ZERO
        {
            let Flight { pipe, cwnd, smss, .. } = *flight;
            let Arrived { acked, delivered } = arrived;
            let safe = acked > Bytes::ZERO;
            spread.on_ack(Delivered { bytes: delivered, safe, target: cwnd, pipe, smss });
        }
    }

    /// Bytes left.
    #[inline]
    pub(super) fn on_sent(&mut self, bytes: Bytes) {
        if let Marks::On(Reductions { spread: Some(spread), .. }) = self {
            spread.on_sent(bytes);
        }
    }

    /// What a reduction that is under way lets out; nothing where none is.
    #[inline]
    pub(super) fn allowance(&self) -> Option<Bytes> {
        match self {
            Marks::On(Reductions { spread: Some(spread), .. }) => Some(spread.allowance()),
            _ => None,
        }
    }

    /// What a loss took was given back; what a mark took never is.
    pub(super) fn on_undone(&mut self) {
        if let Marks::On(reductions) = self
            && !matches!(reductions.last, Some((Cause::Mark, _)))
        {
            *reductions = Reductions::default();
        }
    }

    /// `snd_una` has moved; whether cwnd may grow by the acknowledgment.
    #[inline]
    pub(super) fn on_advance(&mut self, snd_una: Seq) -> bool {
        let Marks::On(reductions) = self else { return true };
        match reductions.last {
            Some((_, until)) if snd_una.after(until) => {
                reductions.last = None;
                reductions.spread = None;
                true
            }
            Some((Cause::Mark, _)) => false,
            Some((Cause::Loss, _)) | None => true,
        }
    }
}

/// An acknowledgment with ECE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// What was outstanding before it.
    pub(super) flight_size: Bytes,
}

impl Sender {
    /// Data may leave as ECN-capable from now on.
    pub(crate) fn use_marks(&mut self) {
        self.marks = Marks::On(Reductions::default());
    }

    /// Whether a reduction holds that a mark has brought.
    pub(crate) fn is_notified(&self) -> bool {
        matches!(&self.marks, Marks::On(Reductions { last: Some((Cause::Mark, _)), .. }))
    }

    /// An acknowledgment was processed.
    #[inline]
    pub(super) fn note_delivered(&mut self, arrived: Arrived) {
        if self.marks.allowance().is_some() {
            let flight = self.flight();
            self.marks.on_delivered(arrived, &flight);
        }
    }

    /// An acknowledgment with ECE was processed.
    pub(super) fn on_echo<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        Echo { flight_size }: Echo,
    ) {
        let Marks::On(Reductions { last, .. }) = self.marks else { return };
        if last.is_some() || !self.recovery.is_open() || flight_size == Bytes::ZERO {
            // It belongs to a window that was answered.
            self.keep_reduction();
            return;
        }
        let answered = self.flight_size_at_loss(trace.now, flight_size);
        let mark = CongestionEvent::Mark { flight_size: answered };
        self.congestion.on_congestion(trace.now, mark);
        self.marks.on_reduced(Cause::Mark, self.queue.snd_nxt());
        if self.recovery.profile().spreads_reduction
            && self.congestion.loss_answer() == LossAnswer::AsRecovery
        {
            self.marks.spread(flight_size);
        }
        self.keep_reduction();
        self.emit_window(trace, CwndReason::Ecn);
    }

    /// Whether the loss of the oldest segment was answered already, together with a mark of the same
    /// window. A control that answers by slow start, or bounds the recovery by a window of its own, has to be
    /// told all the same.
    pub(super) fn is_answered(&self, response: LossResponse) -> bool {
        self.is_of_marked_window()
            && response == LossResponse::FastRecovery
            && self.congestion.loss_answer() == LossAnswer::AsRecovery
    }

    /// Whether the oldest segment outstanding belongs to a window that a mark has reduced.
    #[inline]
    pub(super) fn is_of_marked_window(&self) -> bool {
        match self.marks {
            Marks::On(Reductions { last: Some((Cause::Mark, until)), .. }) => {
                self.queue.snd_una().before(until)
            }
            _ => false,
        }
    }
}
