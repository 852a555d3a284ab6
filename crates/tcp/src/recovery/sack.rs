//! Scoreboard recovery (RFC 6675), with proportional rate reduction (RFC 9937, the successor of
//! RFC 6937): what is sent follows what is delivered, so that the window comes down to ssthresh
//! over the round trip instead of at once.

use super::newreno::PARTIAL_ACK_TIMER;
use super::{
    Entry, Flight, NewReno, PartialAckTimer, Recovery, RecoveryAck, RecoveryConfig,
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
        let prr = if self.prr { Prr::On } else { Prr::Off };
        Box::new(SackRecovery::new(prr).with_timer(self.partial_ack_timer))
    }
}

/// Recovery by the scoreboard's pipe.
#[derive(Clone, Copy, Debug)]
pub struct SackRecovery {
    prr: Prr,
    /// What the recovery does that takes its place without SACK.
    timer: PartialAckTimer,
    /// RecoverFS: bytes in flight when recovery began.
    recover_flight: Bytes,
    /// prr_delivered.
    delivered: Bytes,
    /// prr_out.
    sent: Bytes,
    /// What the last acknowledgment allows, prr_out already taken off.
    send_count: Bytes,
}

/// Whether the reduction is spread over the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prr {
    /// It is (RFC 9937).
    On,
    /// pipe is held below cwnd at once (RFC 6675 §5).
    Off,
}

impl SackRecovery {
    /// A recovery with or without proportional rate reduction.
    pub fn new(prr: Prr) -> SackRecovery {
        SackRecovery {
            prr,
            timer: PartialAckTimer::First,
            recover_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            sent: Bytes::ZERO,
            send_count: Bytes::ZERO,
        }
    }

    /// The same, with this behaviour of NewReno in its place where the peer does not speak SACK.
    pub fn with_timer(self, timer: PartialAckTimer) -> SackRecovery {
        SackRecovery { timer, ..self }
    }

    /// RFC 9937 §6.2, once per acknowledgment.
    fn reduce_proportionally(&mut self, ack: &RecoveryAck) {
        let Flight { pipe, ssthresh, smss, .. } = ack.flight;
        self.delivered += ack.delivered;
        self.send_count = if pipe > ssthresh {
            // CEIL (prr_delivered * ssthresh / RecoverFS) - prr_out
            let due = u128::from(self.delivered.get()) * u128::from(ssthresh.get());
            let due = due.div_ceil(u128::from(self.recover_flight.get().max(1))) as u64;
            Bytes(due).saturating_sub(self.sent)
        } else {
            // Slow-start reduction bound while retransmissions get through, conservative otherwise.
            let mut limit = self.delivered.saturating_sub(self.sent).max(ack.delivered);
            if ack.acked > Bytes::ZERO && !ack.new_losses {
                limit += smss;
            }
            limit.min(ssthresh.saturating_sub(pipe))
        };
        if self.sent == Bytes::ZERO && self.send_count == Bytes::ZERO {
            // The fast retransmit leaves in any case.
            self.send_count = smss;
        }
    }
}

impl Recovery for SackRecovery {
    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        // RFC 6675 §5 has nothing to go by then; RFC 6582 is what is left.
        Some(Box::new(NewReno::new(self.timer)))
    }

    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile {
            spreads_reduction: self.prr == Prr::On,
            rescues: true,
            ..RecoveryProfile::STANDARD
        }
    }

    fn enter(&mut self, entry: &Entry) {
        let Entry { flight, delivered, .. } = *entry;
        // RFC 9937 §6.1: RecoverFS is what had not been delivered before this acknowledgment.
        let outstanding = flight.flight_size.saturating_sub(flight.sacked) + delivered;
        self.recover_flight = outstanding.max(flight.smss);
        self.delivered = Bytes::ZERO;
        self.sent = Bytes::ZERO;
        self.send_count = Bytes::ZERO;
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
        self.sent += bytes;
        self.send_count = self.send_count.saturating_sub(bytes);
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        match self.prr {
            Prr::On => self.send_count,
            Prr::Off => flight.cwnd.saturating_sub(flight.pipe),
        }
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
        let mut sack = SackRecovery::new(Prr::On);
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
        let mut sack = SackRecovery::new(Prr::Off);
        sack.enter(&entry(20, 0));
        sack.on_ack(&sacked_one(19));
        assert_eq!(sack.allowance(&flight(19)), Bytes::ZERO);
        assert_eq!(sack.allowance(&flight(9)), Bytes(SMSS));
    }

    /// RFC 9937 §6.1, §6.2: twenty outstanding, of which the third report shows the loss; this one
    /// counts, the two before do not.
    #[test]
    fn the_acknowledgment_that_begins_recovery_is_counted() {
        let mut sack = SackRecovery::new(Prr::On);
        let flight = Flight { sacked: Bytes(3 * SMSS), ..flight(16) };
        sack.enter(&Entry { flight, duplicate_acks: 3, delivered: Bytes(SMSS) });
        assert_eq!((sack.recover_flight, sack.delivered), (Bytes(18 * SMSS), Bytes(SMSS)));
        // CEIL (1000 * 10 / 18), the fast retransmit, which leaves in any case.
        assert_eq!(sack.allowance(&flight), Bytes(556));
    }

    /// A burst of losses that leaves less than ssthresh in the network is made up for at once, by
    /// what the acknowledgment delivered.
    #[test]
    fn a_recovery_that_begins_below_ssthresh_sends_what_was_delivered() {
        let mut sack = SackRecovery::new(Prr::On);
        let flight = Flight { sacked: Bytes(3 * SMSS), ..flight(4) };
        sack.enter(&Entry { flight, duplicate_acks: 1, delivered: Bytes(3 * SMSS) });
        assert_eq!(sack.allowance(&flight), Bytes(3 * SMSS));
    }
}
