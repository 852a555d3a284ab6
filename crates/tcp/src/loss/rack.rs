//! RACK-TLP (RFC 8985): a segment is lost once another one, sent later, has arrived and some time
//! for reordering has passed; tail loss probes ask for acknowledgments where none come.
//!
//! | file | what |
//! | --- | --- |
//! | `rack/state.rs` | the latest delivery and the reordering window (§6.2) |
//! | `rack/min_rtt.rs` | the least round-trip time of the last minutes |
//! | `rack/tlp.rs` | when a probe is due and what its acknowledgment tells (§7); the sender runs it |
//!
//! It needs SACK; where the peer does not speak it, three duplicate acknowledgments take over.

mod min_rtt;
mod state;
mod tlp;

pub(crate) use tlp::{Outstanding, ProbeAck, ProbeFacts, ProbeKind, ProbeOutcome, Report, Tlp};

use super::{
    ByTime, Delivered, Doubt, Echo, Fixed, Hole, Horizon, LimitedTransmit, LossDetector,
    LossVerdict, LostRetransmission, Spurious, Stage, Undo,
};
use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::{Bytes, Seq, Span, Time};
use state::{Circumstances, Delivery, RackState, Repairing, SentMark, Transmission};

/// What can be chosen of RACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackKnobs {
    /// Tail loss probes, and what is added to their timer for a lone segment
    /// (TLP.max_ack_delay, §7.2); none if absent.
    pub tail_probe: Option<Span>,
    /// What the timer of the reordering window, and that of a probe for more than a segment, add.
    pub timer_slack: Span,
    /// What becomes of a reduction for which there was no loss.
    pub undo: UndoReductions,
    /// What widens the reordering window, and what narrows it again.
    pub rules: RackRules,
    /// What a lost retransmission means for the window.
    pub lost_retransmission: LostRetransmission,
}

/// What makes of the reordering window more than it is (§6.2 step 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackRules {
    /// Any DSACK widens it; sixteen repairs later that is forgotten.
    Rfc,
    /// DSACKs widen it once reordering has been seen, and only the repairs count that were needed.
    Linux,
}

/// Whether a spurious repair's reduction is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoReductions {
    /// It is, as Linux does; RFC 8985 leaves it to others (RFC 4015, RFC 3708).
    On,
    /// It stays.
    Off,
}

/// The loss detector of RFC 8985.
#[derive(Clone, Debug)]
pub struct Rack {
    state: RackState,
    knobs: RackKnobs,
    /// Whether something was being repaired when it was last asked.
    repairing: Repairing,
    /// Whether the present repair has been undone.
    repair: RepairWas,
}

/// What has become known of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepairWas {
    Needed,
    Undone,
}

/// §6.2 step 4: what counts until reordering has been seen, and what takes over without SACK.
const DUP_THRESH: u32 = 3;

impl Rack {
    /// A detector that has seen nothing yet.
    pub fn new(knobs: RackKnobs) -> Rack {
        Rack {
            state: RackState::new(DUP_THRESH),
            knobs,
            repairing: Repairing::No,
            repair: RepairWas::Needed,
        }
    }

    /// In disorder what has been SACKed is no longer in the network: as much new data may leave
    /// (RFC 6675 §2's pipe in place of FlightSize).
    fn meanwhile(doubt: &Doubt) -> LossVerdict {
        LossVerdict::NotYet { beyond_cwnd: doubt.sacked }
    }

    fn note_stage(&mut self, stage: Stage) {
        let repairing = match stage {
            Stage::Open => Repairing::No,
            Stage::Repairing(_) => Repairing::Yes,
        };
        if self.repairing == Repairing::Yes && repairing == Repairing::No {
            let counts = self.repair == RepairWas::Needed || self.knobs.rules == RackRules::Rfc;
            if counts {
                self.state.on_recovered();
            }
        }
        self.repairing = repairing;
    }
}

impl LossDetector for Rack {
    fn on_duplicate_ack(&mut self, _now: Time, doubt: &Doubt) -> LossVerdict {
        Rack::meanwhile(doubt)
    }

    fn duplicate_threshold(&self) -> u32 {
        DUP_THRESH
    }

    fn on_new_ack(&mut self, _now: Time, doubt: &Doubt, _advance: &super::Advance) -> LossVerdict {
        self.state.on_advance(doubt.snd_una);
        Rack::meanwhile(doubt)
    }

    fn on_repair(&mut self, _now: Time, _kind: RecoveryKind) {
        self.repair = RepairWas::Needed;
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        // The original came after what had been sent behind it.
        let overtaken = spurious.evidence == SpuriousEvidence::Timestamps
            && spurious.repair == RecoveryKind::Fast
            && spurious.extent_segments > 0;
        if overtaken && self.knobs.rules == RackRules::Linux {
            self.state.see_reordering();
        }
        match self.knobs.undo {
            UndoReductions::On => {
                self.repair = RepairWas::Undone;
                if self.repairing == Repairing::No && self.knobs.rules == RackRules::Linux {
                    // It had been counted as needed.
                    self.state.on_recovered_in_vain();
                }
                Some(Undo::Restore)
            }
            UndoReductions::Off => None,
        }
    }

    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        let fixed = Fixed::new(DUP_THRESH, LimitedTransmit::On);
        Some(Box::new(fixed.with_undo(self.knobs.undo)))
    }

    fn overtaken_by(&self) -> Bytes {
        self.state.overtaken_by()
    }

    fn by_time(&mut self) -> Option<&mut dyn ByTime> {
        Some(self)
    }
}

impl ByTime for Rack {
    fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        if let Some(rtt) = delivered.min_rtt {
            self.state.note_handshake(now, rtt);
        }
        let transmission = match (delivered.hole, delivered.echo) {
            (Hole::SentOnce, _) => Transmission::Only,
            (Hole::Resent(_), Echo::Older) => Transmission::EarlierThanResent,
            (Hole::Resent(_), Echo::Absent | Echo::NotOlder) => Transmission::Resent,
        };
        let mark = SentMark { at: delivered.sent_at, end_seq: delivered.end_seq };
        self.state.on_delivery(now, &Delivery { mark, transmission });
    }

    fn on_dsack(&mut self, snd_nxt: Seq) {
        if self.knobs.rules == RackRules::Rfc || self.state.has_seen_reordering() {
            self.state.on_dsack(snd_nxt);
        }
    }

    fn has_seen_reordering(&self) -> bool {
        self.state.has_seen_reordering()
    }

    fn horizon(&mut self, doubt: &Doubt) -> Horizon {
        self.state.end_of_ack();
        self.note_stage(doubt.stage);
        let Some(latest) = self.state.latest() else { return Horizon::Unknown };
        let segments_sacked = doubt.sacked.get().div_ceil(doubt.smss.get().max(1));
        let window = self.state.reordering_window(&Circumstances {
            repairing: self.repairing,
            segments_sacked: u32::try_from(segments_sacked).unwrap_or(u32::MAX),
            srtt: doubt.srtt,
        });
        Horizon::Overdue {
            sent_before: Some((latest.at, latest.end_seq)),
            age: self.state.rtt() + window,
        }
    }

    fn tail_probe(&self) -> Option<Span> {
        self.knobs.tail_probe
    }

    fn timer_slack(&self) -> Span {
        self.knobs.timer_slack
    }

    fn lost_retransmission(&self) -> LostRetransmission {
        self.knobs.lost_retransmission
    }
}
