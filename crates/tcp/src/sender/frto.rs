//! F-RTO (RFC 5682): was the timeout needed?
//!
//! After the timeout's retransmission no further one leaves; new data does. If what comes back then
//! acknowledges segments that were sent only once, nothing was lost: the path was slow. §2.1 where
//! the peer does not speak SACK, §3.1 where it does.
//!
//! A timeout that repeats before any acknowledgment has come is looked into like the first: only
//! the oldest segment has been retransmitted. RFC 5682 §2.1 step 1 gives up there, and a pause longer
//! than three timeouts would go undetected.

use super::sent::Sent;
use super::{Phase, Sender};
use crate::loss::Undo;
use crate::trace::Trace;
use ackord_events::{Sink, SpuriousEvidence};
use ackord_units::{Bytes, Seq};

/// Whether timeouts are looked into, where that stands, and how much new data it may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frto {
    is_on: bool,
    step: Step,
    allowance: Bytes,
}

/// Where the algorithm stands, from a timeout on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing to find out.
    Off,
    /// Step 2: the first segment was retransmitted, up to `resent`.
    FirstAck { recover: Seq, resent: Seq },
    /// Step 3: up to two new segments were sent after an acknowledgment that advanced.
    SecondAck { recover: Seq },
}

/// An acknowledgment, as far as F-RTO looks at it.
#[derive(Clone, Copy, Debug)]
struct FrtoAck {
    /// SND.UNA after it.
    snd_una: Seq,
    kind: AckKind,
    /// Something below `recover` that was sent only once is reported for the first time.
    old_delivered: bool,
    /// Highest byte SACKed, plus one.
    highest_sacked: Option<Seq>,
    /// There is new data that the peer's window lets out.
    new_data: bool,
    uses_sack: bool,
}

/// Whether an acknowledgment moved SND.UNA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckKind {
    Advances,
    Duplicate,
    /// A duplicate from a peer that would have SACKed, had anything new arrived; or one that is
    /// SACKing.
    Sacking,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrtoVerdict {
    /// Nothing to say, or nothing yet.
    Wait,
    /// Send up to two new segments, and retransmit nothing.
    SendNew,
    /// Losses are real: recover from them. cwnd has grown to three segments at most by then, as step
    /// 3 a asks.
    Conventional,
    /// Nothing was lost: take everything back.
    Spurious,
}

impl Frto {
    pub(super) fn new(is_on: bool) -> Frto {
        Frto { is_on, step: Step::Off, allowance: Bytes::ZERO }
    }

    /// Whether retransmissions have to wait.
    #[inline]
    pub(super) fn is_undecided(&self) -> bool {
        self.step != Step::Off
    }

    /// How much new data may leave meanwhile.
    pub(super) fn allowance(&self) -> Bytes {
        self.allowance
    }

    /// New data has left.
    #[inline]
    pub(super) fn on_sent(&mut self, payload: Bytes) {
        if self.is_undecided() {
            self.allowance = self.allowance.saturating_sub(payload);
        }
    }

    pub(super) fn stop(&mut self) {
        self.step = Step::Off;
    }
}

impl Step {
    /// An acknowledgment arrived.
    fn on_ack(&mut self, ack: &FrtoAck) -> FrtoVerdict {
        let (next, verdict) = match *self {
            Step::Off => return FrtoVerdict::Wait,
            Step::FirstAck { recover, resent } => first(recover, resent, ack),
            Step::SecondAck { recover } => (Step::Off, second(recover, ack)),
        };
        if verdict != FrtoVerdict::Wait {
            *self = next;
        }
        verdict
    }
}

/// Step 2.
fn first(recover: Seq, resent: Seq, ack: &FrtoAck) -> (Step, FrtoVerdict) {
    match ack.kind {
        // Of what was retransmitted a part is still missing.
        AckKind::Advances if ack.snd_una.before(resent) => (Step::Off, FrtoVerdict::Conventional),
        AckKind::Sacking => (Step::Off, FrtoVerdict::Wait),
        AckKind::Duplicate => (Step::Off, FrtoVerdict::Conventional),
        // Everything outstanding was covered: there is nothing left to retransmit.
        AckKind::Advances if ack.snd_una.at_or_after(recover) => {
            (Step::Off, FrtoVerdict::Conventional)
        }
        AckKind::Advances if ack.new_data => (Step::SecondAck { recover }, FrtoVerdict::SendNew),
        // Without new data there is no way to find out without retransmitting.
        AckKind::Advances => (Step::Off, FrtoVerdict::Conventional),
    }
}

/// Step 3. Without SACK an acknowledgment that advances is one of data that was not retransmitted,
/// however far it goes; with SACK (§3.1) one beyond `recover` tells nothing any more.
fn second(recover: Seq, ack: &FrtoAck) -> FrtoVerdict {
    let beyond = ack.uses_sack
        && (ack.snd_una.after(recover) || ack.highest_sacked.is_some_and(|seq| seq.after(recover)));
    match (ack.kind, ack.old_delivered) {
        (AckKind::Duplicate, _) => FrtoVerdict::Conventional,
        // The new data has overtaken what was outstanding: that is gone.
        _ if beyond => FrtoVerdict::Conventional,
        (_, true) => FrtoVerdict::Spurious,
        (AckKind::Sacking, false) => FrtoVerdict::Wait,
        // It covers no more than what was retransmitted: the next one will tell.
        (AckKind::Advances, false) => FrtoVerdict::Wait,
    }
}

impl Sender {
    /// A timeout; `phase` is what went on before it, `repeated` whether no acknowledgment has come
    /// since the last one.
    pub(super) fn begin_frto(&mut self, phase: Phase, repeated: bool, recover: Seq) {
        let doubtful = if self.recovery.timeout_keeps_ssthresh() {
            phase == Phase::Open || repeated
        } else {
            let recovering = match phase {
                Phase::SlowStartRecovery { recover } => self.queue.snd_una().before(recover),
                Phase::Open | Phase::FastRecovery { .. } => false,
            };
            !recovering || repeated && matches!(self.frto.step, Step::FirstAck { .. })
        };
        let looks = self.frto.is_on && doubtful;
        let resent = self.board.oldest().map_or(self.queue.snd_una(), Sent::end);
        self.frto.step = if looks { Step::FirstAck { recover, resent } } else { Step::Off };
        self.frto.allowance = Bytes::ZERO;
    }

    /// An acknowledgment after a timeout that is being looked into.
    pub(super) fn look_into_timeout<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        kind: AckKind,
        old_delivered: bool,
    ) {
        if !self.frto.is_undecided() {
            return;
        }
        let ack = FrtoAck {
            snd_una: self.queue.snd_una(),
            kind,
            old_delivered,
            highest_sacked: self.board.highest_sacked(),
            new_data: self.has_full_segment(),
            uses_sack: self.peer.sack(),
        };
        let verdict = self.frto.step.on_ack(&ack);
        match verdict {
            FrtoVerdict::Wait => {}
            FrtoVerdict::SendNew => self.frto.allowance = self.sizes.smss() * 2,
            // Without SACK the new segments fill the pipe for good: one retransmission has to leave.
            FrtoVerdict::Conventional if kind == AckKind::Duplicate => {
                self.recovery.force_retransmission();
            }
            FrtoVerdict::Conventional => {}
            FrtoVerdict::Spurious => self.timeout_was_spurious(trace),
        }
    }

    /// A full segment of new data, so that nothing else holds it back.
    fn has_full_segment(&self) -> bool {
        let (smss, room) = (self.sizes.smss(), self.peer_window.room(&self.queue));
        self.queue.unsent() >= smss && Bytes(u64::from(room)) >= smss
    }

    /// §4 leaves the response open: the detector may have one of its own; else all is given back.
    fn timeout_was_spurious<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let evidence = SpuriousEvidence::FRto;
        let undo = self.ask_about_spurious(trace.now, evidence).unwrap_or(Undo::Restore);
        self.undo_recovery(trace, undo, evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECOVER: Seq = Seq(10_000);

    fn ack(snd_una: u32, kind: AckKind, old_delivered: bool) -> FrtoAck {
        let (snd_una, highest_sacked) = (Seq(snd_una), None);
        FrtoAck { snd_una, kind, old_delivered, highest_sacked, new_data: true, uses_sack: true }
    }

    fn waiting() -> Step {
        Step::FirstAck { recover: RECOVER, resent: Seq(1_000) }
    }

    fn after_new_data() -> Step {
        let mut frto = waiting();
        let verdict = frto.on_ack(&ack(1_000, AckKind::Advances, false));
        assert_eq!(verdict, FrtoVerdict::SendNew);
        frto
    }

    #[test]
    fn two_acknowledgments_that_advance_show_a_spurious_timeout() {
        let mut frto = after_new_data();
        let second = ack(2_000, AckKind::Advances, true);
        assert_eq!(frto.on_ack(&second), FrtoVerdict::Spurious);
        assert_eq!(frto, Step::Off);
    }

    #[test]
    fn a_duplicate_in_either_step_means_loss() {
        let duplicate = ack(0, AckKind::Duplicate, false);
        assert_eq!(waiting().on_ack(&duplicate), FrtoVerdict::Conventional);
        assert_eq!(after_new_data().on_ack(&duplicate), FrtoVerdict::Conventional);
    }

    #[test]
    fn an_acknowledgment_of_everything_or_no_new_data_ends_it_undecided() {
        let all = ack(10_000, AckKind::Advances, true);
        assert_eq!(waiting().on_ack(&all), FrtoVerdict::Conventional);
        let nothing_new = FrtoAck { new_data: false, ..ack(1_000, AckKind::Advances, false) };
        assert_eq!(waiting().on_ack(&nothing_new), FrtoVerdict::Conventional);
    }

    #[test]
    fn with_sack_a_report_of_old_data_is_spurious_and_one_of_new_data_is_not() {
        let mut old = after_new_data();
        let sacks = |highest, delivered| FrtoAck {
            highest_sacked: Some(Seq(highest)),
            ..ack(1_000, AckKind::Sacking, delivered)
        };
        assert_eq!(old.on_ack(&sacks(5_000, true)), FrtoVerdict::Spurious);
        let mut new = after_new_data();
        let overtaken = sacks(11_000, false);
        assert_eq!(new.on_ack(&overtaken), FrtoVerdict::Conventional);
        let mut nothing = after_new_data();
        let verdict = nothing.on_ack(&sacks(5_000, false));
        assert_eq!((verdict, nothing != Step::Off), (FrtoVerdict::Wait, true));
    }

    /// §2.1 step 2 a: an acknowledgment of half of what was retransmitted says nothing.
    #[test]
    fn an_acknowledgment_of_a_part_of_the_retransmission_ends_it_undecided() {
        let part = ack(500, AckKind::Advances, false);
        assert_eq!(waiting().on_ack(&part), FrtoVerdict::Conventional);
    }

    /// §2.1 step 3 b: it acknowledges data that was not retransmitted, and the new data as well.
    #[test]
    fn without_sack_an_acknowledgment_beyond_all_of_the_old_data_is_proof_too() {
        let all = |uses_sack| FrtoAck { uses_sack, ..ack(12_000, AckKind::Advances, true) };
        let mut basic = after_new_data();
        assert_eq!(basic.on_ack(&all(false)), FrtoVerdict::Spurious);
        let mut enhanced = after_new_data();
        assert_eq!(enhanced.on_ack(&all(true)), FrtoVerdict::Conventional);
    }

    #[test]
    fn with_sack_the_first_step_waits_for_an_advance() {
        let mut frto = waiting();
        let sacking = ack(0, AckKind::Sacking, false);
        assert_eq!(frto.on_ack(&sacking), FrtoVerdict::Wait);
        assert_eq!(frto, waiting());
    }
}
