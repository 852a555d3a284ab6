//! Non-congestion robustness: a doubt lasts about a round trip's worth of segments (RFC 4653).
//!
//! When the first segment above a hole arrives, the threshold is set to a share of what is in
//! flight, and until it is reached arrivals let new segments out (Extended Limited Transmit): one
//! for every two in the careful variant, one for each in the aggressive one. The RFC asks for SACK;
//! without it this is RFC 5681 with RFC 3042.
//!
//! Left out: the bursts that RFC 4653 §3.3 avoids by lowering cwnd when a doubt ends in a large
//! acknowledgment; what had been let out meanwhile fills that gap already.

use super::{
    DetectorView, Fixed, LimitedTransmit, LossConfig, LossDetector, LossEvent, LossFacts,
    LossVerdict,
};
use ackord_units::{Bytes, Keyword, Knobs, Time};

const DEFAULT_THRESHOLD: u32 = 3;

/// How much is sent while in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ExtendedLimitedTransmit {
    /// One segment for every two that arrive; the threshold is two thirds of the flight.
    Careful,
    /// One segment for each that arrives; the threshold is half of the flight, so that no more than
    /// half a window extra is sent.
    Aggressive,
}

/// TCP-NCR: a threshold in proportion to what is in flight
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "ncr", source = "RFC 4653")]
pub struct NcrConfig {
    /// While in doubt, a new segment for every two that arrive, or for each
    #[knob(default = "careful", source = "RFC 4653 §3")]
    variant: ExtendedLimitedTransmit,
}

impl LossConfig for NcrConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Ncr::new(self.variant))
    }
}

/// A threshold in proportion to what is in flight.
#[derive(Clone, Copy, Debug)]
pub struct Ncr {
    variant: ExtendedLimitedTransmit,
    threshold: u32,
    /// FlightSizePrev: bytes in flight when the doubt began, while there is one.
    flight_before: Option<Bytes>,
}

impl Ncr {
    /// A detector of this variant.
    pub fn new(variant: ExtendedLimitedTransmit) -> Ncr {
        Ncr { variant, threshold: DEFAULT_THRESHOLD, flight_before: None }
    }
}

impl LossDetector for Ncr {
    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        if facts.advance.is_some() {
            // §3.2: the doubt is over; what is still missing is another, with the flight of now.
            self.flight_before = None;
        }
        if !facts.leave_doubt() {
            return LossVerdict::WAIT;
        }
        if !facts.dsack {
            return Fixed::new(DEFAULT_THRESHOLD, LimitedTransmit::On).on_ack(now, facts);
        }
        let flight = *self.flight_before.get_or_insert(facts.flight_size);
        let segments = (flight.get() / facts.smss.get().max(1)) as u32;
        // RFC 4653 §3.1: DupThresh = max (LT_F * (FlightSizePrev / SMSS), 3).
        let share = match self.variant {
            ExtendedLimitedTransmit::Careful => segments * 2 / 3,
            ExtendedLimitedTransmit::Aggressive => segments / 2,
        };
        self.threshold = share.max(DEFAULT_THRESHOLD);
        if facts.reaches(self.threshold) {
            return LossVerdict::Lost;
        }
        let arrived = u64::from(facts.arrived_above());
        let allowed = match self.variant {
            ExtendedLimitedTransmit::Careful => arrived / 2,
            ExtendedLimitedTransmit::Aggressive => arrived,
        };
        LossVerdict::NotYet { beyond_cwnd: facts.smss * allowed }
    }

    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.threshold)
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::Recovery(_) = event {
            self.flight_before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, advance, facts, ms, not_yet};
    use super::*;

    fn with_sack(arrived: u32) -> LossFacts {
        LossFacts { dsack: true, ..facts(arrived, u64::from(arrived) * 1000) }
    }

    #[test]
    fn careful_waits_for_two_thirds_of_the_flight_and_lets_out_every_other() {
        let mut ncr = Ncr::new(ExtendedLimitedTransmit::Careful);
        for (arrived, out) in [(1, 0), (2, 1), (3, 1), (4, 2), (12, 6)] {
            assert_eq!(ncr.on_duplicate_ack(ms(0), &with_sack(arrived)), not_yet(out));
        }
        // 20 in flight: 13.
        assert_eq!(ncr.on_duplicate_ack(ms(0), &with_sack(13)), LossVerdict::Lost);
    }

    #[test]
    fn aggressive_waits_for_half_of_the_flight_and_lets_out_each() {
        let mut ncr = Ncr::new(ExtendedLimitedTransmit::Aggressive);
        assert_eq!(ncr.on_duplicate_ack(ms(0), &with_sack(9)), not_yet(9));
        assert_eq!(ncr.on_duplicate_ack(ms(0), &with_sack(10)), LossVerdict::Lost);
    }

    #[test]
    fn a_small_flight_and_a_peer_without_sack_are_as_in_rfc_5681() {
        let mut ncr = Ncr::new(ExtendedLimitedTransmit::Careful);
        let small = LossFacts { flight_size: Bytes(4_000), ..with_sack(3) };
        assert_eq!(ncr.on_duplicate_ack(ms(0), &small), LossVerdict::Lost);
        assert_eq!(ncr.on_duplicate_ack(ms(0), &facts(2, 0)), not_yet(2));
        assert_eq!(ncr.on_duplicate_ack(ms(0), &facts(3, 0)), LossVerdict::Lost);
    }

    #[test]
    fn a_doubt_that_ended_leaves_nothing_behind() {
        let mut ncr = Ncr::new(ExtendedLimitedTransmit::Aggressive);
        ncr.on_duplicate_ack(ms(0), &with_sack(5));
        let left = LossFacts { flight_size: Bytes(8_000), ..with_sack(0) };
        assert_eq!(ncr.on_new_ack(ms(1), &left, &advance(5)), LossVerdict::WAIT);
        let next = LossFacts { flight_size: Bytes(8_000), ..with_sack(4) };
        assert_eq!(ncr.on_duplicate_ack(ms(2), &next), LossVerdict::Lost);
    }
}
