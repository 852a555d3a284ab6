//! Agent/TCP/Newreno: a partial acknowledgment deflates the window into cwnd itself
//! (`partial_window_deflation_`), which is not given back at the end (`exit_recovery_fix_` off);
//! an acknowledgment lets out two segments at most during recovery.

use crate::recovery::{
    Entry, Flight, Recovery, RecoveryAck, RecoveryDecision, RecoveryExit, RecoveryProfile, Reentry,
};
use ackord_units::Bytes;

/// What an acknowledgment may let out during recovery.
const MOST_PER_ACK: u64 = 2;

/// NewReno's fast recovery with ns-2's deflation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns2NewReno {
    /// dupwnd_, in segments.
    inflation: u64,
    /// What partial acknowledgments have taken from cwnd, in segments.
    taken: u64,
    /// Segments that may still leave for this acknowledgment.
    burst_left: u64,
}

impl Ns2NewReno {
    /// cwnd without what was taken from it: one segment at least.
    fn cwnd(&self, flight: &Flight) -> Bytes {
        flight.cwnd.saturating_sub(flight.smss * self.taken).max(flight.smss)
    }
}

impl Recovery for Ns2NewReno {
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile { reentry: Reentry::BeyondRecover, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, entry: &Entry) {
        self.inflation = u64::from(entry.duplicate_acks);
        self.taken = 0;
        // The fast retransmit itself comes on top.
        self.burst_left = MOST_PER_ACK + 1;
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        if !ack.partial {
            self.inflation += 1;
            self.burst_left = MOST_PER_ACK;
            return RecoveryDecision::Continue;
        }
        let acked = ack.acked.get().div_ceil(ack.flight.smss.get());
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            let cwnd = ack.flight.cwnd.get() / ack.flight.smss.get();
            self.taken = (self.taken + acked - self.inflation).min(cwnd.saturating_sub(1));
            self.inflation = 1;
        }
        self.burst_left = MOST_PER_ACK + 1;
        RecoveryDecision::RetransmitOldest
    }

    fn on_sent(&mut self, _bytes: Bytes) {
        self.burst_left = self.burst_left.saturating_sub(1);
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        let window = self.cwnd(flight) + flight.smss * self.inflation;
        window.saturating_sub(flight.flight_size).min(flight.smss * self.burst_left)
    }

    fn exit(&self, flight: &Flight) -> RecoveryExit {
        let cwnd_at_most = (self.taken > 0).then(|| self.cwnd(flight));
        RecoveryExit { cwnd_at_most, grows: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(acked_segments: u64) -> RecoveryAck {
        RecoveryAck {
            partial: acked_segments > 0,
            acked: Bytes(1000 * acked_segments),
            delivered: Bytes(1000),
            new_losses: false,
            flight: Flight {
                flight_size: Bytes(10_000),
                sacked: Bytes::ZERO,
                pipe: Bytes(10_000),
                cwnd: Bytes(10_000),
                ssthresh: Bytes(10_000),
                smss: Bytes(1000),
            },
        }
    }

    fn entry(duplicate_acks: u32) -> Entry {
        Entry { flight: partial(0).flight, duplicate_acks, delivered: Bytes::ZERO }
    }

    #[test]
    fn a_partial_acknowledgment_of_more_than_the_inflation_takes_the_rest_from_cwnd() {
        let mut newreno = Ns2NewReno::default();
        newreno.enter(&entry(3));
        assert_eq!(newreno.on_ack(&partial(2)), RecoveryDecision::RetransmitOldest);
        assert_eq!((newreno.inflation, newreno.taken), (2, 0), "one is put back");
        newreno.on_ack(&partial(6));
        assert_eq!((newreno.inflation, newreno.taken), (1, 4));
        assert_eq!(newreno.exit(&partial(0).flight).cwnd_at_most, Some(Bytes(6000)));
        newreno.on_ack(&partial(40));
        assert_eq!(newreno.exit(&partial(0).flight).cwnd_at_most, Some(Bytes(1000)));
    }

    #[test]
    fn two_segments_leave_for_an_acknowledgment_however_open_the_window() {
        let mut newreno = Ns2NewReno::default();
        newreno.enter(&entry(30));
        newreno.on_ack(&partial(0));
        assert_eq!(newreno.allowance(&partial(0).flight), Bytes(2000));
        newreno.on_sent(Bytes(1000));
        newreno.on_sent(Bytes(1000));
        assert_eq!(newreno.allowance(&partial(0).flight), Bytes::ZERO);
    }
}
