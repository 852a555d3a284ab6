//! NewReno's fast recovery (RFC 6582): a partial acknowledgment shows the next loss, which is
//! retransmitted without waiting for duplicates, one per round trip.

use super::{
    Entry, Flight, PartialAckTimer, Recovery, RecoveryAck, RecoveryConfig, RecoveryDecision,
    RecoveryExit, RecoveryProfile,
};
use ackord_units::{Bytes, Keyword, Knob, KnobKind, Knobs};

pub(super) const PARTIAL_ACK_TIMER: Knob = Knob {
    name: "partial_ack_timer",
    kind: KnobKind::Choice(PartialAckTimer::WORDS),
    default: "first",
    doc: "Which partial acknowledgments restart the retransmission timer where the peer does not speak \
          SACK: the first of a recovery, or each",
    source: "RFC 6582 §4; each is Linux's",
};

/// Fast recovery that retransmits on partial acknowledgments
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "newreno", source = "RFC 6582")]
pub struct NewRenoConfig {
    #[knob(like = PARTIAL_ACK_TIMER)]
    partial_ack_timer: PartialAckTimer,
}

impl RecoveryConfig for NewRenoConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(NewReno::new(self.partial_ack_timer))
    }
}

/// Fast recovery that goes on until everything outstanding at the loss is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    /// What cwnd counts for beyond, or short of, ssthresh.
    inflation: i64,
    timer: PartialAckTimer,
}

impl NewReno {
    /// A recovery whose partial acknowledgments restart the timer or not.
    pub fn new(timer: PartialAckTimer) -> NewReno {
        NewReno { inflation: 0, timer }
    }

    fn inflated(&self, cwnd: Bytes) -> Bytes {
        Bytes(cwnd.get().saturating_add_signed(self.inflation))
    }
}

impl Recovery for NewReno {
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile { partial_ack_timer: self.timer, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, entry: &Entry) {
        self.inflation = (entry.flight.smss * u64::from(entry.duplicate_acks)).get() as i64;
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        if !ack.partial {
            self.inflation += ack.flight.smss.get() as i64;
            return RecoveryDecision::Continue;
        }
        // RFC 6582 §3.2 step 3: deflate by the data acknowledged, then add back one segment if
        // it was at least that much. Where duplicates were lost on their way, that leaves less than
        // ssthresh: the new data that they would have let out has not left.
        let Flight { cwnd, smss, .. } = ack.flight;
        let deflated = self.inflated(cwnd).saturating_sub(ack.acked);
        let added = if ack.acked >= smss { smss } else { Bytes::ZERO };
        self.inflation = (deflated + added).get() as i64 - cwnd.get() as i64;
        RecoveryDecision::RetransmitOldest
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        self.inflated(flight.cwnd).saturating_sub(flight.flight_size)
    }

    fn exit(&self, flight: &Flight) -> RecoveryExit {
        // RFC 6582 §3.2 step 3 (1): min (ssthresh, max (FlightSize, SMSS) + SMSS).
        let bound = flight.flight_size.max(flight.smss) + flight.smss;
        RecoveryExit { cwnd_at_most: Some(bound), grows: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMSS: Bytes = Bytes(1_000);

    fn flight(segments: u64) -> Flight {
        Flight {
            flight_size: SMSS * segments,
            sacked: Bytes::ZERO,
            pipe: SMSS * segments,
            cwnd: SMSS * 5,
            ssthresh: SMSS * 5,
            smss: SMSS,
        }
    }

    fn after(duplicates: u64, acked: u64, flight_size: u64) -> Bytes {
        let mut newreno = NewReno::new(PartialAckTimer::First);
        newreno.enter(&Entry { flight: flight(10), duplicate_acks: 3, delivered: Bytes::ZERO });
        let (delivered, new_losses) = (SMSS, false);
        for _ in 3..duplicates {
            let (acked, flight) = (Bytes::ZERO, flight(10));
            newreno.on_ack(&RecoveryAck { partial: false, acked, delivered, new_losses, flight });
        }
        let (acked, flight) = (SMSS * acked, flight(flight_size));
        newreno.on_ack(&RecoveryAck { partial: true, acked, delivered, new_losses, flight });
        newreno.allowance(&flight)
    }

    /// RFC 6582 §3.2 step 3: cwnd 5 + 8, less 8, plus 1, of which 2 are outstanding.
    #[test]
    fn a_partial_acknowledgment_deflates_by_what_it_covers_less_a_segment() {
        assert_eq!(after(8, 8, 2), SMSS * 4);
    }

    /// The same with five of the eight duplicates lost on their way: 5 + 3 - 8 + 1.
    #[test]
    fn a_partial_acknowledgment_takes_off_what_lost_duplicates_did_not_add() {
        assert_eq!(after(3, 8, 1), Bytes::ZERO);
        assert_eq!(after(3, 9, 0), SMSS, "never below nothing");
    }
}
