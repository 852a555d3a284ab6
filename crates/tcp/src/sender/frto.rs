//! F-RTO (RFC 5682): was the timeout needed?
//!
//! After the timeout's retransmission no further one leaves; new data does. If what comes back then
//! acknowledges segments that were sent only once, nothing was lost: the path was slow. §2.1 where
//! the peer does not speak SACK, §3.1 where it does.
//!
//! A timeout that repeats before any acknowledgment has come is looked into like the first: only
//! the oldest segment has been sent again. RFC 5682 §2.1 step 1 gives up there, and a pause longer
//! than three timeouts would go undetected.

use super::scoreboard::Sent;
use super::{Forced, Phase, Sender, TimeoutInRecovery};
use crate::congestion::SelectiveAcks;
use crate::loss::Undo;
use crate::trace::Trace;
use crate::words::worded;
use ackord_events::{Sink, SpuriousEvidence};
use ackord_units::{Bytes, Seq};

/// Whether timeouts are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoUse {
    /// They are.
    On,
    /// Each is taken to mean loss.
    Off,
}

worded!(FrtoUse { "on" => On, "off" => Off });

/// Where the algorithm stands, from a timeout on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frto {
    /// Nothing to find out.
    Off,
    /// Step 2: the first segment was sent again, up to `resent`.
    FirstAck { recover: Seq, resent: Seq },
    /// Step 3: up to two new segments were sent after an acknowledgment that advanced.
    SecondAck { recover: Seq },
}

/// An acknowledgment, as far as F-RTO looks at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrtoAck {
    /// SND.UNA after it.
    pub(crate) snd_una: Seq,
    pub(crate) kind: AckKind,
    pub(crate) delivered: OldDelivered,
    /// Highest octet SACKed, plus one.
    pub(crate) highest_sacked: Option<Seq>,
    pub(crate) fresh: FreshData,
    pub(crate) selective_acks: SelectiveAcks,
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

/// Whether something below `recover` that was sent only once is reported for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldDelivered {
    Yes,
    No,
}

/// Whether there is new data that the peer's window lets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreshData {
    Available,
    None,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrtoVerdict {
    /// Nothing to say, or nothing yet.
    Wait,
    /// Send up to two new segments, and retransmit nothing.
    SendNew,
    /// Losses are real: repair them. cwnd has grown to three segments at most by then, as step
    /// 3 a asks.
    Conventional,
    /// Nothing was lost: take everything back.
    Spurious,
}

impl Frto {
    /// Whether retransmissions have to wait.
    #[inline]
    pub(crate) fn is_undecided(self) -> bool {
        self != Frto::Off
    }

    /// An acknowledgment arrived.
    pub(crate) fn on_ack(&mut self, ack: &FrtoAck) -> FrtoVerdict {
        let (next, verdict) = match *self {
            Frto::Off => return FrtoVerdict::Wait,
            Frto::FirstAck { recover, resent } => first(recover, resent, ack),
            Frto::SecondAck { recover } => (Frto::Off, second(recover, ack)),
        };
        if verdict != FrtoVerdict::Wait {
            *self = next;
        }
        verdict
    }
}

/// Step 2.
fn first(recover: Seq, resent: Seq, ack: &FrtoAck) -> (Frto, FrtoVerdict) {
    match ack.kind {
        // Of what was sent again a part is still missing.
        AckKind::Advances if ack.snd_una.before(resent) => (Frto::Off, FrtoVerdict::Conventional),
        AckKind::Sacking => (Frto::Off, FrtoVerdict::Wait),
        AckKind::Duplicate => (Frto::Off, FrtoVerdict::Conventional),
        // Everything outstanding was covered: there is nothing left to send again.
        AckKind::Advances if ack.snd_una.at_or_after(recover) => {
            (Frto::Off, FrtoVerdict::Conventional)
        }
        AckKind::Advances if ack.fresh == FreshData::Available => {
            (Frto::SecondAck { recover }, FrtoVerdict::SendNew)
        }
        // Without new data there is no way to find out without retransmitting.
        AckKind::Advances => (Frto::Off, FrtoVerdict::Conventional),
    }
}

/// Step 3. Without SACK an acknowledgment that advances is one of data that was not sent again,
/// however far it goes; with SACK (§3.1) one beyond `recover` tells nothing any more.
fn second(recover: Seq, ack: &FrtoAck) -> FrtoVerdict {
    let selective = ack.selective_acks == SelectiveAcks::Agreed;
    let beyond = selective
        && (ack.snd_una.after(recover) || ack.highest_sacked.is_some_and(|seq| seq.after(recover)));
    match (ack.kind, ack.delivered) {
        (AckKind::Duplicate, _) => FrtoVerdict::Conventional,
        // The new data has overtaken what was outstanding: that is gone.
        _ if beyond => FrtoVerdict::Conventional,
        (_, OldDelivered::Yes) => FrtoVerdict::Spurious,
        (AckKind::Sacking, OldDelivered::No) => FrtoVerdict::Wait,
        // It covers no more than what was sent again: the next one will tell.
        (AckKind::Advances, OldDelivered::No) => FrtoVerdict::Wait,
    }
}

impl Sender {
    /// A timeout; `phase` is what went on before it, `repeated` whether no acknowledgment has come
    /// since the last one.
    pub(super) fn begin_frto(&mut self, phase: Phase, repeated: bool, recover: Seq) {
        let doubtful = match self.timeout_in_recovery {
            TimeoutInRecovery::Keeps => phase == Phase::Open || repeated,
            TimeoutInRecovery::Reduces => {
                let repairing = match phase {
                    Phase::SlowStartRecovery { recover } => self.snd_una.before(recover),
                    Phase::Open | Phase::FastRecovery { .. } => false,
                };
                !repairing || repeated && matches!(self.frto, Frto::FirstAck { .. })
            }
        };
        let looks = self.frto_use == FrtoUse::On && doubtful;
        let resent = self.board.oldest().map_or(self.snd_una, Sent::end);
        self.frto = if looks { Frto::FirstAck { recover, resent } } else { Frto::Off };
        self.frto_allowance = Bytes::ZERO;
    }

    /// An acknowledgment after a timeout that is being looked into.
    pub(super) fn look_into_timeout<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        kind: AckKind,
        delivered: OldDelivered,
    ) {
        if !self.frto.is_undecided() {
            return;
        }
        let verdict = self.frto.on_ack(&FrtoAck {
            snd_una: self.snd_una,
            kind,
            delivered,
            highest_sacked: self.board.highest_sacked(),
            fresh: self.fresh_data(),
            selective_acks: self.selective_acks(),
        });
        match verdict {
            FrtoVerdict::Wait => {}
            FrtoVerdict::SendNew => self.frto_allowance = self.smss * 2,
            // Without SACK the new segments fill the pipe for good: one repair has to leave.
            FrtoVerdict::Conventional if kind == AckKind::Duplicate => {
                self.forced = Forced::Retransmission;
            }
            FrtoVerdict::Conventional => {}
            FrtoVerdict::Spurious => self.timeout_was_spurious(trace),
        }
    }

    /// A full segment of new data, so that nothing else holds it back.
    fn fresh_data(&self) -> FreshData {
        let unsent = Bytes(self.written - self.nxt_offset);
        let edge = self.snd_una + self.snd_wnd;
        let window = if edge.after(self.snd_nxt) { edge.since(self.snd_nxt) } else { 0 };
        if unsent >= self.smss && Bytes(u64::from(window)) >= self.smss {
            FreshData::Available
        } else {
            FreshData::None
        }
    }

    /// §4 leaves the response open: the detector may have one of its own; else all is given back.
    fn timeout_was_spurious<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let evidence = SpuriousEvidence::FRto;
        let undo = self.ask_about_spurious(trace.now, evidence).unwrap_or(Undo::Restore);
        self.undo(trace, undo, evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECOVER: Seq = Seq(10_000);

    fn ack(snd_una: u32, kind: AckKind, delivered: OldDelivered) -> FrtoAck {
        let fresh = FreshData::Available;
        let selective_acks = SelectiveAcks::Agreed;
        let (snd_una, highest_sacked) = (Seq(snd_una), None);
        FrtoAck { snd_una, kind, delivered, highest_sacked, fresh, selective_acks }
    }

    fn waiting() -> Frto {
        Frto::FirstAck { recover: RECOVER, resent: Seq(1_000) }
    }

    fn after_new_data() -> Frto {
        let mut frto = waiting();
        let verdict = frto.on_ack(&ack(1_000, AckKind::Advances, OldDelivered::No));
        assert_eq!(verdict, FrtoVerdict::SendNew);
        frto
    }

    #[test]
    fn two_acknowledgments_that_advance_show_a_spurious_timeout() {
        let mut frto = after_new_data();
        let second = ack(2_000, AckKind::Advances, OldDelivered::Yes);
        assert_eq!(frto.on_ack(&second), FrtoVerdict::Spurious);
        assert_eq!(frto, Frto::Off);
    }

    #[test]
    fn a_duplicate_in_either_step_means_loss() {
        let duplicate = ack(0, AckKind::Duplicate, OldDelivered::No);
        assert_eq!(waiting().on_ack(&duplicate), FrtoVerdict::Conventional);
        assert_eq!(after_new_data().on_ack(&duplicate), FrtoVerdict::Conventional);
    }

    #[test]
    fn an_acknowledgment_of_everything_or_no_new_data_ends_it_undecided() {
        let all = ack(10_000, AckKind::Advances, OldDelivered::Yes);
        assert_eq!(waiting().on_ack(&all), FrtoVerdict::Conventional);
        let fresh = FreshData::None;
        let nothing_new = FrtoAck { fresh, ..ack(1_000, AckKind::Advances, OldDelivered::No) };
        assert_eq!(waiting().on_ack(&nothing_new), FrtoVerdict::Conventional);
    }

    #[test]
    fn with_sack_a_report_of_old_data_is_spurious_and_one_of_new_data_is_not() {
        let mut old = after_new_data();
        let sacks = |highest, delivered| FrtoAck {
            highest_sacked: Some(Seq(highest)),
            ..ack(1_000, AckKind::Sacking, delivered)
        };
        assert_eq!(old.on_ack(&sacks(5_000, OldDelivered::Yes)), FrtoVerdict::Spurious);
        let mut new = after_new_data();
        let overtaken = sacks(11_000, OldDelivered::No);
        assert_eq!(new.on_ack(&overtaken), FrtoVerdict::Conventional);
        let mut nothing = after_new_data();
        let verdict = nothing.on_ack(&sacks(5_000, OldDelivered::No));
        assert_eq!((verdict, nothing.is_undecided()), (FrtoVerdict::Wait, true));
    }

    /// §2.1 step 2 a: an acknowledgment of half of what was sent again says nothing.
    #[test]
    fn an_acknowledgment_of_a_part_of_the_retransmission_ends_it_undecided() {
        let part = ack(500, AckKind::Advances, OldDelivered::No);
        assert_eq!(waiting().on_ack(&part), FrtoVerdict::Conventional);
    }

    /// §2.1 step 3 b: it acknowledges data that was not sent again, and the new data as well.
    #[test]
    fn without_sack_an_acknowledgment_beyond_all_of_the_old_data_is_proof_too() {
        let all = |selective_acks| FrtoAck {
            selective_acks,
            ..ack(12_000, AckKind::Advances, OldDelivered::Yes)
        };
        let mut basic = after_new_data();
        assert_eq!(basic.on_ack(&all(SelectiveAcks::Absent)), FrtoVerdict::Spurious);
        let mut enhanced = after_new_data();
        assert_eq!(enhanced.on_ack(&all(SelectiveAcks::Agreed)), FrtoVerdict::Conventional);
    }

    #[test]
    fn with_sack_the_first_step_waits_for_an_advance() {
        let mut frto = waiting();
        let sacking = ack(0, AckKind::Sacking, OldDelivered::No);
        assert_eq!(frto.on_ack(&sacking), FrtoVerdict::Wait);
        assert_eq!(frto, waiting());
    }
}
