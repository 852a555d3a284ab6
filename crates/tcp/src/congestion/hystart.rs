//! When slow start should end before it loses: HyStart and HyStart++.
//!
//! `delay-and-train` is HyStart (Ha and Rhee 2008, 2011) with the constants Linux has: slow start
//! ends when acknowledgments that follow each other closely span half of the smallest round-trip
//! time, or when a round's smallest round-trip time exceeds it by an eighth; it ends so once, until a
//! timeout, after which nothing is known of the path. `plus-plus` is RFC 9406: a rise of the delay
//! leads to Conservative Slow Start, from which a fall leads back.
//!
//! HyStart++ watches the first slow start only, that before any ssthresh is known, and counts bytes
//! with a limit of its own for each acknowledgment, whatever the control's growth (§4.2, §4.3).

use super::AckSample;
use ackord_units::{Bytes, Keyword, Seq, Span, Time};

/// Which exit slow start has beside loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum HyStart {
    /// None.
    Off,
    /// HyStart: ACK train and delay increase.
    DelayAndTrain,
    /// HyStart++ (RFC 9406).
    PlusPlus,
}

/// What slow start is to do about an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowStartPace {
    /// Grow as usual.
    Full,
    /// Grow by so much less (Conservative Slow Start).
    Divided(u64),
    /// Leave slow start: ssthresh is cwnd.
    Leave,
}

/// The slow start under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStart {
    pub(crate) cwnd: Bytes,
    pub(crate) smss: Bytes,
    /// Whether it is the first: no ssthresh is known.
    pub(crate) initial: bool,
}

/// The watch over one slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStartWatch {
    variant: HyStart,
    paced: bool,
    /// The smallest round-trip time seen.
    delay_min: Option<Span>,
    round: Option<Round>,
    /// The smallest sample of the last round.
    last_round_min: Option<Span>,
    /// Whether HyStart has found its end (`found` of Linux).
    found: bool,
    /// Conservative Slow Start: its baseline and the rounds that are left.
    conservative: Option<(Span, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    ends_at: Seq,
    began_at: Time,
    last_close_ack_at: Time,
    samples: u32,
    min: Option<Span>,
}

impl Round {
    fn begin(now: Time, snd_nxt: Seq) -> Round {
        Round { ends_at: snd_nxt, began_at: now, last_close_ack_at: now, samples: 0, min: None }
    }

    /// Counts a sample; the smallest so far.
    fn take(&mut self, rtt: Span) -> Span {
        self.samples += 1;
        let min = self.min.map_or(rtt, |least| least.min(rtt));
        self.min = Some(min);
        min
    }
}

/// Samples without which a round says nothing: HYSTART_MIN_SAMPLES, N_RTT_SAMPLE (RFC 9406 §4.3).
const ENOUGH_SAMPLES: u32 = 8;
/// Largest gap within an ACK train: hystart_ack_delta of Linux.
const TRAIN_GAP: Span = Span::from_millis(2);
/// The largest packet handed over to segmentation offload (gso_max_size of Linux).
const OFFLOADED: Bytes = Bytes(65_536);
/// What offload is taken to hold back at most: hystart_ack_delay of Linux.
const MOST_HELD_BACK: Span = Span::from_millis(1);
/// Smallest window, in segments, that HyStart looks at: hystart_low_window of Linux.
const LOW_WINDOW_SEGMENTS: u64 = 16;
/// Bounds of the tolerated rise: 4 and 16 ms in both variants.
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
/// MIN_RTT_DIVISOR.
const RTT_DIVISOR: u64 = 8;
/// CSS_GROWTH_DIVISOR and CSS_ROUNDS (RFC 9406 §4.3).
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// L, in segments, where the sender is not paced; there is none where it is (RFC 9406 §4.3).
const LIMIT_SEGMENTS: u64 = 8;

fn tolerated_rise(base: Span) -> Span {
    (base / RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

impl SlowStartWatch {
    pub(crate) fn new(variant: HyStart) -> SlowStartWatch {
        SlowStartWatch {
            variant,
            paced: false,
            delay_min: None,
            round: None,
            last_round_min: None,
            found: false,
            conservative: None,
        }
    }

    /// The handshake is complete.
    pub(crate) fn establish(&mut self, paced: bool) {
        self.paced = paced;
    }

    /// A loss or a mark has ended this slow start.
    pub(crate) fn on_reduction(&mut self) {
        if self.variant == HyStart::PlusPlus {
            let SlowStartWatch { variant, delay_min, paced, .. } = *self;
            *self = SlowStartWatch { delay_min, paced, ..SlowStartWatch::new(variant) };
        }
    }

    /// A timeout begins another slow start, and nothing is known of the path. For Linux what is out
    /// then is a round (bictcp_reset, bictcp_hystart_reset).
    pub(crate) fn on_timeout(&mut self, now: Time, snd_nxt: Seq) {
        let SlowStartWatch { variant, paced, .. } = *self;
        let linux = variant == HyStart::DelayAndTrain;
        let round = linux.then(|| Round::begin(now, snd_nxt));
        *self = SlowStartWatch { paced, round, ..SlowStartWatch::new(variant) };
    }

    /// The smallest round-trip time seen.
    pub(crate) fn delay_min(&self) -> Option<Span> {
        self.delay_min
    }

    /// An acknowledgment, in slow start or not.
    pub(crate) fn on_rtt(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// What an acknowledgment counts for at most, where that is this variant's to say.
    pub(crate) fn limit(&self, smss: Bytes, initial: bool) -> Option<Bytes> {
        let own = self.variant == HyStart::PlusPlus && initial;
        own.then_some(if self.paced { Bytes::MAX } else { smss * LIMIT_SEGMENTS })
    }

    /// An acknowledgment in slow start, after `on_rtt`.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &AckSample,
        slow_start: SlowStart,
    ) -> SlowStartPace {
        match self.variant {
            HyStart::Off => SlowStartPace::Full,
            HyStart::DelayAndTrain => self.delay_and_train(now, ack, slow_start),
            // RFC 9406 §4.3: later ones end at the ssthresh that was found.
            HyStart::PlusPlus if !slow_start.initial => SlowStartPace::Full,
            HyStart::PlusPlus => {
                let round_over = self.enter_round(now, ack);
                self.plus_plus(ack, round_over)
            }
        }
    }

    /// Begins a round where one is due; true if that ended one.
    fn enter_round(&mut self, now: Time, ack: &AckSample) -> bool {
        // RFC 9406 §4.2 and bictcp_hystart_reset: with the first acknowledgment of what was sent in
        // the next round, whose sample is that round's.
        if !self.round.is_none_or(|round| ack.snd_una.after(round.ends_at)) {
            return false;
        }
        let ended = self.round.replace(Round::begin(now, ack.snd_nxt));
        self.last_round_min = ended.and_then(|round| round.min);
        ended.is_some()
    }

    /// hystart_update of Linux; acknowledgments without a sample do not come to it.
    fn delay_and_train(
        &mut self,
        now: Time,
        ack: &AckSample,
        slow_start: SlowStart,
    ) -> SlowStartPace {
        let (Some(rtt), Some(delay_min)) = (ack.rtt, self.delay_min) else {
            return SlowStartPace::Full;
        };
        if self.found {
            return SlowStartPace::Full;
        }
        self.enter_round(now, ack);
        let SlowStart { cwnd, smss, .. } = slow_start;
        if cwnd < smss * LOW_WINDOW_SEGMENTS {
            return SlowStartPace::Full;
        }
        let longest = self.longest_train(delay_min, cwnd, ack.srtt);
        let Some(round) = &mut self.round else { return SlowStartPace::Full };
        let close = now.saturating_since(round.last_close_ack_at) <= TRAIN_GAP;
        if close {
            round.last_close_ack_at = now;
        }
        let long = close && now.saturating_since(round.began_at) > longest;
        // The samples that are enough are gathered first; the one after them decides.
        let enough = round.samples >= ENOUGH_SAMPLES;
        let min = round.take(rtt);
        self.found = long || (enough && min > delay_min + tolerated_rise(delay_min));
        if self.found { SlowStartPace::Leave } else { SlowStartPace::Full }
    }

    /// What a train may span: the smallest round-trip time and what segmentation offload may hold
    /// back (hystart_ack_delay); half of it, about the way there, where no pacing spreads a round.
    fn longest_train(&self, delay_min: Span, cwnd: Bytes, srtt: Option<Span>) -> Span {
        // Four times the largest offloaded packet at twice cwnd in a round trip.
        let held = srtt
            .map_or(MOST_HELD_BACK, |srtt| srtt.saturating_mul(2 * OFFLOADED.get()) / cwnd.get());
        let span = delay_min + held.min(MOST_HELD_BACK);
        if self.paced { span } else { span / 2 }
    }

    /// RFC 9406 §4.2.
    fn plus_plus(&mut self, ack: &AckSample, round_over: bool) -> SlowStartPace {
        let Some(round) = &mut self.round else { return SlowStartPace::Full };
        if let Some(rtt) = ack.rtt {
            round.take(rtt);
        }
        let round_min = round.min.filter(|_| round.samples >= ENOUGH_SAMPLES);
        if let Some((baseline, rounds_left)) = &mut self.conservative {
            if round_over {
                *rounds_left -= 1;
                if *rounds_left == 0 {
                    return SlowStartPace::Leave;
                }
            }
            if round_min.is_some_and(|min| min < *baseline) {
                self.conservative = None;
                return SlowStartPace::Full;
            }
            return SlowStartPace::Divided(CSS_GROWTH_DIVISOR);
        }
        if let (Some(min), Some(last)) = (round_min, self.last_round_min)
            && min >= last + tolerated_rise(last)
        {
            self.conservative = Some((min, CSS_ROUNDS));
            return SlowStartPace::Divided(CSS_GROWTH_DIVISOR);
        }
        SlowStartPace::Full
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Rounds of `segments` acknowledgments each, `gap` apart, with this round-trip time; what came
    /// out of the last acknowledgment, or the first that says to leave.
    fn round(
        watch: &mut SlowStartWatch,
        at: &mut (Time, Seq),
        segments: u32,
        gap_us: u64,
        rtt_ms: u64,
    ) -> SlowStartPace {
        let mut pace = SlowStartPace::Full;
        let end = at.1 + segments * 1000;
        for _ in 0..segments {
            at.0 += Span::from_micros(gap_us);
            at.1 += 1000;
            let rtt = Some(Span::from_millis(rtt_ms));
            // The next round's first segment ends this one.
            let snd_nxt = end + 1000;
            let ack = AckSample { rtt, snd_una: at.1, snd_nxt, ..ack_of(1000) };
            let cwnd = Bytes(u64::from(segments) * 1000);
            let slow_start = SlowStart { cwnd, smss: Bytes(1000), initial: true };
            watch.on_rtt(rtt);
            pace = watch.on_ack(at.0, &ack, slow_start);
            if pace == SlowStartPace::Leave {
                break;
            }
        }
        at.0 += Span::from_millis(50);
        pace
    }

    fn begin() -> (Time, Seq) {
        (Time::ZERO, Seq(0))
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start_and_a_shorter_one_does_not() {
        let mut at = begin();
        let mut watch = SlowStartWatch::new(HyStart::DelayAndTrain);
        assert_eq!(round(&mut watch, &mut at, 40, 1_000, 100), SlowStartPace::Full);
        assert_eq!(round(&mut watch, &mut at, 80, 1_000, 100), SlowStartPace::Leave);
    }

    #[test]
    fn a_rise_of_an_eighth_ends_slow_start_and_less_does_not() {
        let mut at = begin();
        let mut watch = SlowStartWatch::new(HyStart::DelayAndTrain);
        // Gaps of 3 ms make no train.
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 80), SlowStartPace::Full);
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 90), SlowStartPace::Full);
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 91), SlowStartPace::Leave);
    }

    /// RFC 9406 §4.2: five conservative rounds, then congestion avoidance.
    #[test]
    fn plus_plus_slows_down_for_five_rounds_and_then_leaves() {
        let mut at = begin();
        let mut watch = SlowStartWatch::new(HyStart::PlusPlus);
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 80), SlowStartPace::Full);
        let slower = SlowStartPace::Divided(CSS_GROWTH_DIVISOR);
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 90), slower);
        for _ in 0..4 {
            assert_eq!(round(&mut watch, &mut at, 20, 3_000, 95), slower);
        }
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 95), SlowStartPace::Leave);
    }

    #[test]
    fn plus_plus_goes_back_to_slow_start_when_the_delay_falls_again() {
        let mut at = begin();
        let mut watch = SlowStartWatch::new(HyStart::PlusPlus);
        round(&mut watch, &mut at, 20, 3_000, 80);
        round(&mut watch, &mut at, 20, 3_000, 90);
        assert_eq!(round(&mut watch, &mut at, 20, 3_000, 82), SlowStartPace::Full);
    }

    /// RFC 9406 §4.3: L = 8 without pacing, none with it; and only before any ssthresh is known.
    #[test]
    fn plus_plus_has_a_limit_of_its_own_in_the_first_slow_start() {
        let mut watch = SlowStartWatch::new(HyStart::PlusPlus);
        assert_eq!(watch.limit(Bytes(1000), true), Some(Bytes(8000)));
        assert_eq!(watch.limit(Bytes(1000), false), None);
        watch.establish(true);
        watch.on_reduction();
        assert_eq!(watch.limit(Bytes(1000), true), Some(Bytes::MAX));
        assert_eq!(SlowStartWatch::new(HyStart::DelayAndTrain).limit(Bytes(1000), true), None);
    }
}
