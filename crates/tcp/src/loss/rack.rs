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

pub(crate) use tlp::{ProbeAck, ProbeFacts, ProbeKind, ProbeOutcome, Report, Tlp};

use super::{
    Delivered, DetectorProfile, DetectorView, Echo, Fixed, Hole, LimitedTransmit, LossConfig,
    LossDetector, LossEvent, LossFacts, LossVerdict, LostRetransmission, Overdue, Spurious,
    TimeScope, Undo,
};
use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::{Keyword, Knobs, Span, Time};
use state::{Circumstances, Delivery, RackState, SentMark, Transmission};

/// RACK-TLP: a segment is lost once a later one has arrived and time for reordering has passed; tail
/// loss probes
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "rack", source = "RFC 8985")]
pub struct RackConfig {
    /// Tail loss probes: after two round trips without an acknowledgment one segment asks for it
    #[knob(default = "on", source = "RFC 8985 §7")]
    pub tlp: bool,
    /// Whether a retransmission that is lost within a fast recovery is only retransmitted, or lowers the
    /// window a second time
    #[knob(
        default = "repeats",
        source = "RFC 5681 §4.3, RFC 8985 §9.3 for reduces; repeats is Linux's"
    )]
    pub lost_retransmission: LostRetransmission,
    /// Whether a report of a duplicate widens the reordering window at any time and every recovery
    /// counts towards narrowing it, or only once reordering has been seen, and only recoveries that
    /// were needed
    #[knob(default = "rfc", source = "RFC 8985 §6.2 step 4; linux is Linux's")]
    pub rules: RackRules,
    /// How long the peer may hold back the acknowledgment of a lone segment: added to the probe timer
    /// then
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1), default = "200 ms",
        source = "RFC 8985 §7.2 (TLP.max_ack_delay); 200 ms as Linux has it"
    )]
    pub max_ack_delay: Span,
    /// What is added to the timer of the reordering window, and to the probe timer where more than one
    /// segment is out
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1), default = "0 ms",
        source = "RFC 8985 §6.2 step 5 and §7.2 add nothing; Linux adds TCP_TIMEOUT_MIN_US"
    )]
    pub timer_slack: Span,
    /// A reduction for which DSACK or timestamps show no loss is taken back
    #[knob(default = "on", source = "RFC 8985 leaves it open; RFC 3708, RFC 4015; Linux does")]
    pub undo: bool,
}

impl LossConfig for RackConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Rack::new(*self))
    }
}

/// What makes of the reordering window more than it is (§6.2 step 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum RackRules {
    /// Any DSACK widens it; sixteen recoveries later that is forgotten.
    Rfc,
    /// DSACKs widen it once reordering has been seen, and only the recoveries count that were needed.
    Linux,
}

/// The loss detector of RFC 8985.
#[derive(Clone, Debug)]
pub struct Rack {
    state: RackState,
    knobs: RackConfig,
    /// Whether recovery was under way when it was last asked.
    in_recovery: bool,
    /// Whether the present recovery has been undone.
    undone: bool,
}

/// §6.2 step 4: what counts until reordering has been seen, and what takes over without SACK.
const DUP_THRESH: u32 = 3;

impl Rack {
    /// A detector that has seen nothing yet.
    pub fn new(knobs: RackConfig) -> Rack {
        Rack { state: RackState::new(DUP_THRESH), knobs, in_recovery: false, undone: false }
    }

    fn note_recovery(&mut self, in_recovery: bool) {
        let counts = !self.undone || self.knobs.rules == RackRules::Rfc;
        if self.in_recovery && !in_recovery && counts {
            self.state.on_recovered();
        }
        self.in_recovery = in_recovery;
    }
}

impl LossDetector for Rack {
    fn profile(&self) -> DetectorProfile {
        DetectorProfile {
            every_ack: true,
            by_time: Some(TimeScope::Everything),
            lost_retransmission: self.knobs.lost_retransmission,
            tail_probe: self.knobs.tlp.then_some(self.knobs.max_ack_delay),
            timer_slack: self.knobs.timer_slack,
        }
    }

    fn view(&self) -> DetectorView {
        DetectorView {
            duplicate_threshold: DUP_THRESH,
            reordering_seen: self.state.has_seen_reordering(),
            overtaken_by: self.state.overtaken_by(),
        }
    }

    /// In disorder what has been SACKed is no longer in the network: as much new data may leave
    /// (RFC 6675 §2's pipe in place of FlightSize).
    fn on_ack(&mut self, _now: Time, facts: &LossFacts) -> LossVerdict {
        if facts.advance.is_some() {
            self.state.on_advance(facts.snd_una);
        }
        LossVerdict::NotYet { beyond_cwnd: facts.sacked }
    }

    fn on_event(&mut self, event: LossEvent) {
        match event {
            LossEvent::Recovery(_) => self.undone = false,
            LossEvent::Dsack { snd_nxt } => {
                if self.knobs.rules == RackRules::Rfc || self.state.has_seen_reordering() {
                    self.state.on_dsack(snd_nxt);
                }
            }
            LossEvent::RetransmissionOverdue => {}
        }
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        // The original came after what had been sent behind it.
        let overtaken = spurious.evidence == SpuriousEvidence::Timestamps
            && spurious.recovery == RecoveryKind::Fast
            && spurious.extent_segments > 0;
        if overtaken && self.knobs.rules == RackRules::Linux {
            self.state.see_reordering();
        }
        if !self.knobs.undo {
            return None;
        }
        self.undone = true;
        if !self.in_recovery && self.knobs.rules == RackRules::Linux {
            // It had been counted as needed.
            self.state.on_recovered_in_vain();
        }
        Some(Undo::Restore)
    }

    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        let fixed = Fixed::new(DUP_THRESH, LimitedTransmit::On);
        Some(Box::new(fixed.with_undo(self.knobs.undo)))
    }

    fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        if let Some(rtt) = delivered.min_rtt {
            self.state.note_handshake(now, rtt);
        }
        let transmission = match (delivered.hole, delivered.echo) {
            (Hole::SentOnce, _) => Transmission::Only,
            (Hole::Retransmitted(_), Echo::Older) => Transmission::EarlierThanRetransmitted,
            (Hole::Retransmitted(_), Echo::Absent | Echo::NotOlder) => Transmission::Retransmitted,
        };
        let mark = SentMark { at: delivered.sent_at, end_seq: delivered.end_seq };
        self.state.on_delivery(now, &Delivery { mark, transmission });
    }

    fn overdue(&mut self, facts: &LossFacts) -> Option<Overdue> {
        self.state.end_of_ack();
        self.note_recovery(facts.recovery.is_some());
        let latest = self.state.latest()?;
        let segments_sacked = facts.sacked.get().div_ceil(facts.smss.get().max(1));
        let window = self.state.reordering_window(&Circumstances {
            in_recovery: self.in_recovery,
            segments_sacked: u32::try_from(segments_sacked).unwrap_or(u32::MAX),
            srtt: facts.srtt,
        });
        let sent_before = Some((latest.at, latest.end_seq));
        Some(Overdue { sent_before, age: self.state.rtt() + window })
    }
}
