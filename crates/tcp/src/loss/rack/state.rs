//! What RACK knows of the path and of the latest delivery, and what follows from it
//! (RFC 8985 §5.3, §6.2).
//!
//! Pure state: it is told of deliveries and answers with the reordering window; which outstanding
//! segments that condemns is for the scoreboard to find.

use super::min_rtt::WindowedMin;
use ackord_units::{Bytes, Seq, Span, Time};

/// The moment a transmission left: the time, and for those of the same time the sequence number
/// behind its last byte (RACK_sent_after of §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentMark {
    pub(crate) at: Time,
    pub(crate) end_seq: Seq,
}

impl SentMark {
    /// Whether this transmission left after the other one.
    pub(crate) fn is_after(self, other: SentMark) -> bool {
        self.at > other.at || (self.at == other.at && self.end_seq.after(other.end_seq))
    }
}

/// Which transmission of a segment an acknowledgment answers, as far as that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transmission {
    /// It was sent once.
    Only,
    /// It was retransmitted, and nothing shows which of the two arrived.
    Retransmitted,
    /// It was retransmitted, and the timestamp echoed is older than that (RFC 7323 §3).
    EarlierThanRetransmitted,
}

/// A segment that an acknowledgment reports for the first time, cumulatively or selectively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    /// Its latest transmission.
    pub(crate) mark: SentMark,
    pub(crate) transmission: Transmission,
}

/// How far DSACKs have widened the reordering window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widening {
    /// RACK.reo_wnd_mult: quarters of the minimal round trip.
    mult: u32,
    /// RACK.reo_wnd_persist: recoveries after which it is forgotten.
    persist: u32,
    /// RACK.dsack_round: one widening per round trip, until this is acknowledged.
    round: Option<Seq>,
}

/// What decides about the reordering window beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// Whether fast or timeout recovery is under way.
    pub(crate) in_recovery: bool,
    /// Segments selectively acknowledged above SND.UNA (RACK.segs_sacked).
    pub(crate) segments_sacked: u32,
    pub(crate) srtt: Option<Span>,
}

/// RACK's variables.
#[derive(Clone, Debug)]
pub(crate) struct RackState {
    dup_thresh: u32,
    /// RACK.xmit_ts and RACK.end_seq: the latest transmission that is known to have arrived.
    latest: Option<SentMark>,
    /// RACK.rtt: how long it took.
    rtt: Span,
    /// RACK.fack: the highest byte acknowledged in any way, plus one; as of the acknowledgment
    /// before this one, and with what this one adds. Segments of one acknowledgment come in no
    /// order that would tell.
    fack: Option<Seq>,
    fack_next: Option<Seq>,
    /// RACK.reordering_seen: whether a segment was ever delivered after a later one.
    reordering_seen: bool,
    /// Bytes by which a segment was overtaken, at most.
    overtaken_by: u32,
    min_rtt: WindowedMin,
    widening: Widening,
}

/// RFC 8985 §6.2 step 4: recoveries for which a widened window is kept.
const PERSIST_RECOVERIES: u32 = 16;

impl RackState {
    /// `dup_thresh` matters only until reordering has been seen (§6.2 step 4).
    pub(crate) fn new(dup_thresh: u32) -> RackState {
        RackState {
            dup_thresh,
            latest: None,
            rtt: Span::ZERO,
            fack: None,
            fack_next: None,
            reordering_seen: false,
            overtaken_by: 0,
            min_rtt: WindowedMin::default(),
            widening: Widening { mult: 1, persist: 0, round: None },
        }
    }

    /// The handshake's round trip, until data gives a minimum of its own (step 1).
    pub(crate) fn note_handshake(&mut self, now: Time, rtt: Span) {
        if self.min_rtt.get().is_none() {
            self.min_rtt.on_sample(now, rtt);
        }
    }

    /// Steps 1 to 3 for one delivered segment.
    pub(crate) fn on_delivery(&mut self, now: Time, delivery: &Delivery) {
        let rtt = now.saturating_since(delivery.mark.at);
        // Step 1: samples that Karn's rule allows.
        if delivery.transmission == Transmission::Only {
            self.min_rtt.on_sample(now, rtt);
        }
        self.note_latest(rtt, delivery);
        self.note_order(delivery);
    }

    /// Step 2: the latest transmission that arrived. A retransmission counts only if it can have
    /// been this one that was acknowledged.
    fn note_latest(&mut self, rtt: Span, delivery: &Delivery) {
        let credible = match delivery.transmission {
            Transmission::Only => true,
            Transmission::Retransmitted => self.min_rtt.get().is_none_or(|least| rtt >= least),
            Transmission::EarlierThanRetransmitted => false,
        };
        if !credible {
            return;
        }
        self.rtt = rtt;
        if self.latest.is_none_or(|latest| delivery.mark.is_after(latest)) {
            self.latest = Some(delivery.mark);
        }
    }

    /// Step 3: a segment sent once that arrives below the highest one was overtaken.
    fn note_order(&mut self, delivery: &Delivery) {
        let end = delivery.mark.end_seq;
        if let Some(fack) = self.fack.filter(|fack| end.before(*fack))
            && delivery.transmission == Transmission::Only
        {
            self.reordering_seen = true;
            self.overtaken_by = self.overtaken_by.max(fack.since(end));
        }
        self.fack_next = Some(self.fack_next.map_or(end, |highest| highest.max(end)));
    }

    /// An acknowledgment has been taken in whole, or there was none.
    pub(crate) fn end_of_ack(&mut self) {
        self.fack = self.fack_next;
    }

    /// A DSACK came (step 4): something was retransmitted in vain, so the window was too narrow.
    /// Once a round trip.
    pub(crate) fn on_dsack(&mut self, snd_nxt: Seq) {
        if self.widening.round.is_none() {
            let mult = self.widening.mult.saturating_add(1);
            self.widening = Widening { mult, persist: PERSIST_RECOVERIES, round: Some(snd_nxt) };
        }
    }

    /// SND.UNA advanced: the round trip of the last widening may be over.
    pub(crate) fn on_advance(&mut self, snd_una: Seq) {
        if self.widening.round.is_some_and(|round| snd_una.at_or_after(round)) {
            self.widening.round = None;
        }
    }

    /// Fast or timeout recovery ended (step 4).
    pub(crate) fn on_recovered(&mut self) {
        self.widening.persist = self.widening.persist.saturating_sub(1);
        if self.widening.persist == 0 {
            self.widening.mult = 1;
        }
    }

    /// A recovery that had ended turns out not to have been needed.
    pub(crate) fn on_recovered_in_vain(&mut self) {
        self.widening.persist = (self.widening.persist + 1).min(PERSIST_RECOVERIES);
    }

    /// Reordering has been seen by other means than step 3's.
    pub(crate) fn see_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// RACK.reordering_seen: whether a segment was ever delivered after a later one.
    pub(crate) fn has_seen_reordering(&self) -> bool {
        self.reordering_seen
    }

    /// Bytes between the end of a segment and that of one that overtook it, at most.
    pub(crate) fn overtaken_by(&self) -> Bytes {
        Bytes(u64::from(self.overtaken_by))
    }

    /// RACK.reo_wnd as step 4 has it.
    pub(crate) fn reordering_window(&self, circumstances: &Circumstances) -> Span {
        let urgent = circumstances.in_recovery || circumstances.segments_sacked >= self.dup_thresh;
        if !self.reordering_seen && urgent {
            return Span::ZERO;
        }
        let Some(min_rtt) = self.min_rtt.get() else { return Span::ZERO };
        let wanted = min_rtt.saturating_mul(u64::from(self.widening.mult)) / 4;
        circumstances.srtt.map_or(wanted, |srtt| wanted.min(srtt))
    }

    /// What step 5 compares with: a segment sent before this is lost once it has been out for
    /// longer than RACK.rtt + RACK.reo_wnd.
    pub(crate) fn latest(&self) -> Option<SentMark> {
        self.latest
    }

    /// RACK.rtt.
    pub(crate) fn rtt(&self) -> Span {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn at(millis: u64) -> Time {
        Time::ZERO + MS(millis)
    }

    fn delivery(sent: u64, end: u32, transmission: Transmission) -> Delivery {
        Delivery { mark: SentMark { at: at(sent), end_seq: Seq(end) }, transmission }
    }

    /// An acknowledgment of one segment.
    fn acked(rack: &mut RackState, millis: u64, delivery: Delivery) {
        rack.on_delivery(at(millis), &delivery);
        rack.end_of_ack();
    }

    fn calm(segments_sacked: u32) -> Circumstances {
        Circumstances { in_recovery: false, segments_sacked, srtt: Some(MS(100)) }
    }

    fn in_recovery() -> Circumstances {
        Circumstances { in_recovery: true, ..calm(0) }
    }

    /// A path of 40 ms on which the first segment was delivered.
    fn of_40_ms() -> RackState {
        let mut rack = RackState::new(3);
        acked(&mut rack, 40, delivery(0, 100, Transmission::Only));
        rack
    }

    #[test]
    fn the_latest_transmission_counts_not_the_highest_sequence_number() {
        let mut rack = of_40_ms();
        acked(&mut rack, 50, delivery(10, 400, Transmission::Only));
        acked(&mut rack, 51, delivery(5, 900, Transmission::Only));
        assert_eq!(rack.latest(), Some(SentMark { at: at(10), end_seq: Seq(400) }));
        // RACK.rtt is that of the last delivery, as the pseudocode of step 2 has it.
        assert_eq!(rack.rtt(), MS(46));
    }

    #[test]
    fn of_two_sent_at_the_same_time_the_higher_was_sent_later() {
        let (low, high) = (
            SentMark { at: at(1), end_seq: Seq(u32::MAX) },
            SentMark { at: at(1), end_seq: Seq(5) },
        );
        assert!(high.is_after(low) && !low.is_after(high) && !low.is_after(low));
    }

    #[test]
    fn a_retransmission_acknowledged_sooner_than_the_path_allows_is_ignored() {
        let mut rack = of_40_ms();
        acked(&mut rack, 100, delivery(61, 200, Transmission::Retransmitted));
        assert_eq!(rack.latest(), Some(SentMark { at: at(0), end_seq: Seq(100) }), "39 ms");
        acked(&mut rack, 101, delivery(61, 200, Transmission::Retransmitted));
        assert_eq!(rack.latest(), Some(SentMark { at: at(61), end_seq: Seq(200) }), "40 ms");
    }

    #[test]
    fn a_retransmission_whose_original_is_echoed_is_ignored() {
        let mut rack = of_40_ms();
        acked(&mut rack, 500, delivery(61, 200, Transmission::EarlierThanRetransmitted));
        assert_eq!(rack.latest(), Some(SentMark { at: at(0), end_seq: Seq(100) }));
    }

    #[test]
    fn a_retransmission_gives_no_minimum() {
        let mut rack = of_40_ms();
        acked(&mut rack, 100, delivery(99, 200, Transmission::Retransmitted));
        assert_eq!(rack.reordering_window(&calm(0)), MS(10), "a quarter of 40 ms");
    }

    #[test]
    fn an_original_below_the_highest_is_reordering_and_a_retransmission_is_not() {
        let mut rack = of_40_ms();
        acked(&mut rack, 45, delivery(2, 300, Transmission::Only));
        acked(&mut rack, 90, delivery(46, 200, Transmission::Retransmitted));
        assert!(!rack.reordering_seen);
        acked(&mut rack, 91, delivery(1, 200, Transmission::Only));
        assert!(rack.reordering_seen);
    }

    #[test]
    fn segments_of_one_acknowledgment_tell_no_order() {
        let mut rack = of_40_ms();
        rack.on_delivery(at(45), &delivery(2, 300, Transmission::Only));
        rack.on_delivery(at(45), &delivery(1, 200, Transmission::Only));
        rack.end_of_ack();
        assert!(!rack.reordering_seen);
    }

    #[test]
    fn without_reordering_the_window_closes_at_dup_thresh_or_in_recovery() {
        let rack = of_40_ms();
        assert_eq!(rack.reordering_window(&calm(2)), MS(10));
        assert_eq!(rack.reordering_window(&calm(3)), Span::ZERO);
        assert_eq!(rack.reordering_window(&in_recovery()), Span::ZERO);
    }

    #[test]
    fn once_reordering_was_seen_it_stays_open() {
        let mut rack = of_40_ms();
        acked(&mut rack, 45, delivery(2, 300, Transmission::Only));
        acked(&mut rack, 46, delivery(1, 200, Transmission::Only));
        assert_eq!(rack.reordering_window(&calm(30)), MS(10));
        assert_eq!(rack.reordering_window(&in_recovery()), MS(10));
    }

    #[test]
    fn dsacks_widen_it_once_a_round_trip_up_to_srtt() {
        let mut rack = of_40_ms();
        rack.on_dsack(Seq(1000));
        rack.on_dsack(Seq(1100));
        assert_eq!(rack.reordering_window(&calm(0)), MS(20));
        rack.on_advance(Seq(999));
        rack.on_dsack(Seq(1200));
        assert_eq!(rack.reordering_window(&calm(0)), MS(20), "the same round");
        rack.on_advance(Seq(1000));
        rack.on_dsack(Seq(1300));
        assert_eq!(rack.reordering_window(&calm(0)), MS(30));
        for round in 2..20 {
            rack.on_advance(Seq(round * 10_000));
            rack.on_dsack(Seq(round * 10_000 + 1));
        }
        assert_eq!(rack.reordering_window(&calm(0)), MS(100), "SRTT");
    }

    #[test]
    fn sixteen_recoveries_without_a_dsack_narrow_it_again() {
        let mut rack = of_40_ms();
        rack.on_dsack(Seq(1000));
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(&calm(0)), MS(20));
        rack.on_recovered();
        assert_eq!(rack.reordering_window(&calm(0)), MS(10));
    }

    #[test]
    fn a_recovery_that_proves_needless_afterwards_was_counted_too_soon() {
        let mut rack = of_40_ms();
        rack.on_dsack(Seq(1000));
        for _ in 0..15 {
            rack.on_recovered();
            rack.on_recovered_in_vain();
        }
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(&calm(0)), MS(20));
        for _ in 0..30 {
            rack.on_recovered_in_vain();
        }
        for _ in 0..16 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(&calm(0)), MS(10), "sixteen at most");
    }
}
