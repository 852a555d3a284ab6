//! When slow start should end before it loses: HyStart and HyStart++.
//!
//! `delay-and-train` is HyStart (Ha and Rhee 2008, 2011) with the constants Linux has: slow start
//! ends when acknowledgments that follow each other closely span half of the smallest round-trip
//! time, or when a round's smallest round-trip time exceeds it by an eighth. `plus-plus` is
//! RFC 9406: a rise of the delay leads to Conservative Slow Start, from which a fall leads back.
//!
//! HyStart++ watches the first slow start only, that before any ssthresh is known, and counts octets
//! with a limit of its own for each acknowledgment, whatever the control's growth (§4.2, §4.3).

use super::{AckSample, Bursts};
use ackord_units::{Bytes, Seq, Span, Time};

/// Which exit slow start has beside loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    bursts: Bursts,
    /// The smallest round-trip time seen.
    delay_min: Option<Span>,
    round: Option<Round>,
    /// The smallest sample of the last round.
    last_round_min: Option<Span>,
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

/// Samples without which a round says nothing: HYSTART_MIN_SAMPLES, N_RTT_SAMPLE (RFC 9406 §4.3).
const ENOUGH_SAMPLES: u32 = 8;
/// Largest gap within an ACK train: hystart_ack_delta of Linux.
const TRAIN_GAP: Span = Span::from_millis(2);
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
            bursts: Bursts::AtOnce,
            delay_min: None,
            round: None,
            last_round_min: None,
            conservative: None,
        }
    }

    /// The handshake is complete.
    pub(crate) fn establish(&mut self, bursts: Bursts) {
        self.bursts = bursts;
    }

    /// A loss has ended this slow start, or a timeout begins another.
    pub(crate) fn restart(&mut self) {
        let SlowStartWatch { delay_min, bursts, .. } = *self;
        *self = SlowStartWatch { delay_min, bursts, ..SlowStartWatch::new(self.variant) };
    }

    /// What an acknowledgment counts for at most, where that is this variant's to say.
    pub(crate) fn limit(&self, smss: Bytes, initial: bool) -> Option<Bytes> {
        let own = self.variant == HyStart::PlusPlus && initial;
        own.then_some(match self.bursts {
            Bursts::AtOnce => smss * LIMIT_SEGMENTS,
            Bursts::Paced => Bytes::MAX,
        })
    }

    /// An acknowledgment in slow start.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &AckSample,
        slow_start: SlowStart,
    ) -> SlowStartPace {
        let SlowStart { cwnd, smss, initial } = slow_start;
        // RFC 9406 §4.3: later ones end at the ssthresh that was found.
        if self.variant == HyStart::Off || (self.variant == HyStart::PlusPlus && !initial) {
            return SlowStartPace::Full;
        }
        if let Some(rtt) = ack.rtt {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
        let rounds_over = self.enter_round(now, ack);
        match self.variant {
            HyStart::Off => SlowStartPace::Full,
            HyStart::DelayAndTrain => self.delay_and_train(now, ack, cwnd.get() / smss.get()),
            HyStart::PlusPlus => self.plus_plus(ack, rounds_over),
        }
    }

    /// Begins a round where one is due; true if that ended one.
    fn enter_round(&mut self, now: Time, ack: &AckSample) -> bool {
        let due = self.round.is_none_or(|round| match self.variant {
            // RFC 9406 §4.2: with the first acknowledgment of what was sent in the next round
            // (windowEnd is acknowledged), whose sample is that round's.
            HyStart::PlusPlus => ack.snd_una.after(round.ends_at),
            HyStart::Off | HyStart::DelayAndTrain => ack.snd_una.at_or_after(round.ends_at),
        });
        if !due {
            return false;
        }
        let ended = self.round.replace(Round {
            ends_at: ack.snd_nxt,
            began_at: now,
            last_close_ack_at: now,
            samples: 0,
            min: None,
        });
        self.last_round_min = ended.and_then(|round| round.min);
        ended.is_some()
    }

    fn take_sample(&mut self, rtt: Option<Span>) -> Option<Span> {
        let round = self.round.as_mut()?;
        if let Some(rtt) = rtt {
            round.samples += 1;
            round.min = Some(round.min.map_or(rtt, |least| least.min(rtt)));
        }
        round.min.filter(|_| round.samples >= ENOUGH_SAMPLES)
    }

    fn delay_and_train(&mut self, now: Time, ack: &AckSample, segments: u64) -> SlowStartPace {
        let round_min = self.take_sample(ack.rtt);
        let (Some(round), Some(delay_min)) = (&mut self.round, self.delay_min) else {
            return SlowStartPace::Full;
        };
        if now.saturating_since(round.last_close_ack_at) <= TRAIN_GAP {
            round.last_close_ack_at = now;
        }
        if segments < LOW_WINDOW_SEGMENTS {
            return SlowStartPace::Full;
        }
        // The train's length is what it spans; half of the round trip is the forward delay.
        let train = round.last_close_ack_at.saturating_since(round.began_at);
        let delayed = round_min.is_some_and(|min| min > delay_min + tolerated_rise(delay_min));
        if train > delay_min / 2 || delayed { SlowStartPace::Leave } else { SlowStartPace::Full }
    }

    /// RFC 9406 §4.2.
    fn plus_plus(&mut self, ack: &AckSample, round_over: bool) -> SlowStartPace {
        let round_min = self.take_sample(ack.rtt);
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
        watch.establish(Bursts::Paced);
        watch.restart();
        assert_eq!(watch.limit(Bytes(1000), true), Some(Bytes::MAX));
        assert_eq!(SlowStartWatch::new(HyStart::DelayAndTrain).limit(Bytes(1000), true), None);
    }
}
