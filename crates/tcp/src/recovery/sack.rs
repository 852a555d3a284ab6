//! Scoreboard recovery (RFC 6675), with or without proportional rate reduction (`prr.rs`).

use super::newreno::PARTIAL_ACK_TIMER;
use super::{
    Delivered, Entry, Flight, NewReno, PartialAckTimer, Prr, Recovery, RecoveryAck, RecoveryConfig,
    RecoveryDecision, RecoveryProfile,
};
use ackord_units::{Bytes, Knobs};

/// Scoreboard recovery, paced by proportional rate reduction
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "sack", source = "RFC 6675, RFC 9937")]
pub struct SackConfig {
    /// Proportional rate reduction; off: pipe below cwnd as RFC 6675 §5 has it
    #[knob(default = "on", source = "RFC 9937 §6")]
    prr: bool,
    #[knob(like = PARTIAL_ACK_TIMER)]
    partial_ack_timer: PartialAckTimer,
}

impl RecoveryConfig for SackConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(SackRecovery::new(self.prr).with_timer(self.partial_ack_timer))
    }
}

/// Recovery by the scoreboard's pipe.
#[derive(Clone, Copy, Debug)]
pub struct SackRecovery {
    /// Whether the reduction is spread over the round trip (RFC 9937), or pipe held below cwnd at once
    /// (RFC 6675 §5).
    prr: bool,
    /// What the recovery does that takes its place without SACK.
    timer: PartialAckTimer,
    reduction: Prr,
}

impl SackRecovery {
    /// A recovery with or without proportional rate reduction.
    pub fn new(prr: bool) -> SackRecovery {
        SackRecovery {
            prr,
            timer: PartialAckTimer::First,
            reduction: Prr::begin(Bytes::ZERO, false),
        }
    }

    /// The same, with this behaviour of NewReno in its place where the peer does not speak SACK.
    pub fn with_timer(self, timer: PartialAckTimer) -> SackRecovery {
        SackRecovery { timer, ..self }
    }

    fn reduce_proportionally(&mut self, ack: &RecoveryAck) {
        let Flight { pipe, ssthresh, smss, .. } = ack.flight;
        let safe = ack.acked > Bytes::ZERO && !ack.new_losses;
        self.reduction.on_ack(Delivered {
            bytes: ack.delivered,
            safe,
            target: ssthresh,
            pipe,
            smss,
        });
    }
}

impl Recovery for SackRecovery {
    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        // RFC 6675 §5 has nothing to go by then; RFC 6582 is what is left.
        Some(Box::new(NewReno::new(self.timer)))
    }

    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile { spreads_reduction: self.prr, rescues: true, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, entry: &Entry) {
        let Entry { flight, delivered, .. } = *entry;
        // RFC 9937 §6.1: RecoverFS is what had not been delivered before this acknowledgment.
        let outstanding = flight.flight_size.saturating_sub(flight.sacked) + delivered;
        self.reduction = Prr::begin(outstanding.max(flight.smss), false);
        if delivered > Bytes::ZERO {
            // §6.2 counts this acknowledgment too; it shows a loss, and so is not safe.
            let (partial, acked, new_losses) = (false, Bytes::ZERO, true);
            let ack = RecoveryAck { partial, acked, delivered, new_losses, flight };
            self.reduce_proportionally(&ack);
        }
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        self.reduce_proportionally(ack);
        RecoveryDecision::Continue
    }

    fn on_sent(&mut self, bytes: Bytes) {
        self.reduction.on_sent(bytes);
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        if self.prr { self.reduction.allowance() } else { flight.cwnd.saturating_sub(flight.pipe) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMSS: u64 = 1000;

    fn flight(pipe_segments: u64) -> Flight {
        Flight {
            flight_size: Bytes(20 * SMSS),
            sacked: Bytes::ZERO,
            pipe: Bytes(pipe_segments * SMSS),
            cwnd: Bytes(10 * SMSS),
            ssthresh: Bytes(10 * SMSS),
            smss: Bytes(SMSS),
        }
    }

    fn entry(pipe_segments: u64, delivered: u64) -> Entry {
        let delivered = Bytes(delivered * SMSS);
        Entry { flight: flight(pipe_segments), duplicate_acks: 3, delivered }
    }

    fn sacked_one(pipe_segments: u64) -> RecoveryAck {
        RecoveryAck {
            partial: false,
            acked: Bytes::ZERO,
            delivered: Bytes(SMSS),
            new_losses: false,
            flight: flight(pipe_segments),
        }
    }

    /// RFC 9937 §6: while pipe is above ssthresh, half of what is delivered may be sent.
    #[test]
    fn one_segment_leaves_for_every_two_delivered() {
        let mut sack = SackRecovery::new(true);
        sack.enter(&entry(20, 0));
        let mut sent = 0;
        for delivered in 1..=10 {
            let pipe = 20 - delivered + sent;
            sack.on_ack(&sacked_one(pipe));
            while sack.allowance(&flight(pipe)) >= Bytes(SMSS) {
                sack.on_sent(Bytes(SMSS));
                sent += 1;
            }
        }
        assert_eq!(sent, 5);
    }

    #[test]
    fn without_prr_nothing_leaves_until_pipe_is_below_cwnd() {
        let mut sack = SackRecovery::new(false);
        sack.enter(&entry(20, 0));
        sack.on_ack(&sacked_one(19));
        assert_eq!(sack.allowance(&flight(19)), Bytes::ZERO);
        assert_eq!(sack.allowance(&flight(9)), Bytes(SMSS));
    }

    /// RFC 9937 §6.1, §6.2: twenty outstanding, of which the third report shows the loss; this one
    /// counts, the two before do not.
    #[test]
    fn the_acknowledgment_that_begins_recovery_is_counted() {
        let mut sack = SackRecovery::new(true);
        let flight = Flight { sacked: Bytes(3 * SMSS), ..flight(16) };
        sack.enter(&Entry { flight, duplicate_acks: 3, delivered: Bytes(SMSS) });
        assert_eq!(
            (sack.reduction.recover_flight, sack.reduction.delivered),
            (Bytes(18 * SMSS), Bytes(SMSS))
        );
        // CEIL (1000 * 10 / 18), the fast retransmit, which leaves in any case.
        assert_eq!(sack.allowance(&flight), Bytes(556));
    }

    /// A burst of losses that leaves less than ssthresh in the network is made up for at once, by
    /// what the acknowledgment delivered.
    #[test]
    fn a_recovery_that_begins_below_ssthresh_sends_what_was_delivered() {
        let mut sack = SackRecovery::new(true);
        let flight = Flight { sacked: Bytes(3 * SMSS), ..flight(4) };
        sack.enter(&Entry { flight, duplicate_acks: 1, delivered: Bytes(3 * SMSS) });
        assert_eq!(sack.allowance(&flight), Bytes(3 * SMSS));
    }
}
