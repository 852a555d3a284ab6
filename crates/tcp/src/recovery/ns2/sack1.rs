//! Agent/TCP/Sack1: a count of what is in the network (`pipe_`), and every hole below what was
//! reported is retransmitted as soon as that count allows, whatever the threshold.
//!
//! `pipe_` begins at what is outstanding less the duplicates that began the recovery, falls by one
//! for every acknowledgment, whatever it says, by one more for a partial one (`partial_ack_` off),
//! and rises by one for what is sent; the retransmission that begins the recovery is not counted.
//! Outside recovery the scoreboard is emptied by every acknowledgment of new data and by the timer.

use crate::recovery::{
    Entry, Flight, Ns2NewReno, Recovery, RecoveryAck, RecoveryDecision, RecoveryProfile, Reentry,
};
use ackord_units::Bytes;

/// Scoreboard recovery by a count of packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns2Sack1 {
    /// In segments; it may fall below zero.
    pipe: i64,
    /// The retransmission that begins the recovery has not left yet.
    first_pending: bool,
}

impl Recovery for Ns2Sack1 {
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile {
            reentry: Reentry::BeyondRecover,
            forgets_sacked: true,
            hole_threshold: Some(1),
            ..RecoveryProfile::STANDARD
        }
    }

    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        Some(Box::new(Ns2NewReno::default()))
    }

    fn enter(&mut self, entry: &Entry) {
        let Entry { flight, duplicate_acks, .. } = *entry;
        let outstanding = flight.flight_size.get() / flight.smss.get();
        self.pipe = outstanding as i64 - i64::from(duplicate_acks);
        self.first_pending = true;
    }

    fn on_arrival(&mut self) {
        self.pipe -= 1;
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        self.pipe -= i64::from(ack.partial);
        RecoveryDecision::Continue
    }

    fn on_sent(&mut self, _bytes: Bytes) {
        if !std::mem::take(&mut self.first_pending) {
            self.pipe += 1;
        }
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        let cwnd = (flight.cwnd.get() / flight.smss.get()) as i64;
        flight.smss * u64::try_from(cwnd - self.pipe).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLIGHT: Flight = Flight {
        flight_size: Bytes(10_000),
        sacked: Bytes(3000),
        pipe: Bytes(7000),
        cwnd: Bytes(5000),
        ssthresh: Bytes(5000),
        smss: Bytes(1000),
    };

    #[test]
    fn the_fast_retransmit_is_not_counted_and_every_acknowledgment_is() {
        let mut sack = Ns2Sack1::default();
        sack.enter(&Entry { flight: FLIGHT, duplicate_acks: 3, delivered: Bytes::ZERO });
        sack.on_sent(Bytes(1000));
        sack.on_arrival();
        sack.on_arrival();
        assert_eq!(sack.allowance(&FLIGHT), Bytes::ZERO, "five of five");
        sack.on_arrival();
        assert_eq!(sack.allowance(&FLIGHT), Bytes(1000));
        sack.on_sent(Bytes(1000));
        assert_eq!(sack.allowance(&FLIGHT), Bytes::ZERO);
    }
}
