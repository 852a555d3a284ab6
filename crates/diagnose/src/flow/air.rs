//! 802.11 frames of one direction, captured in monitor mode: repetitions of one frame, airtime, rates.
//!
//! A frame without an acknowledgment on the air is repeated with the retry bit and the same sequence number
//! (IEEE 802.11-2020, duplicate detection in §10.3.2). TCP has sent such a packet once. A retransmission by TCP is
//! a frame with a sequence number of its own.
//!
//! Not modelled: attempts that the monitor missed, and acknowledgments on the air.

use super::air_series::Series;
use super::copies::fingerprint;
use crate::{Radio, Seen};
use ackord_units::{Span, Time};
use std::collections::VecDeque;

/// Frames remembered: more than the window of most connections has.
const REMEMBERED: usize = 512;
/// A frame is not repeated for longer: access points discard it after a fraction of that.
const LONGEST_REPEATED: Span = Span::from_secs(5);
/// Sequence numbers count modulo this.
const SEQUENCES: u16 = 4096;
/// A frame whose bytes are retransmitted by TCP after so many attempts was lost on the air: stations repeat long
/// frames this often at least (dot11LongRetryLimit, IEEE 802.11-2020 annex C).
pub(crate) const OFTEN: u16 = 4;
/// One frame in so many may be delivered after that many attempts where a lost one proves something.
const SELDOM: u64 = 10;
/// Different rates counted apart. Further ones count as the nearest of these.
const MOST_RATES: usize = 256;
/// Frames lost after repetitions that are kept.
const MOST_GIVEN_UP: usize = 1024;

/// Transmissions of one frame that were captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attempts {
    pub(crate) count: u16,
    /// Times of the first and the last one.
    pub(crate) first: Time,
    pub(crate) last: Time,
    /// Highest and lowest rate, kbit/s; zero if unknown.
    pub(crate) highest_kbit_s: u32,
    pub(crate) lowest_kbit_s: u32,
}

impl Attempts {
    fn one(at: Time, rate_kbit_s: u32) -> Attempts {
        Attempts {
            count: 1,
            first: at,
            last: at,
            highest_kbit_s: rate_kbit_s,
            lowest_kbit_s: rate_kbit_s,
        }
    }

    fn again(&mut self, at: Time, rate_kbit_s: u32) {
        self.count = self.count.saturating_add(1);
        self.last = at;
        self.highest_kbit_s = self.highest_kbit_s.max(rate_kbit_s);
        self.lowest_kbit_s = self.lowest_kbit_s.min(rate_kbit_s);
    }

    /// Returns the time from the first attempt to the last.
    pub(crate) fn span(&self) -> Span {
        self.last.saturating_since(self.first)
    }
}

/// A frame of the recent past.
#[derive(Clone, Copy, Debug)]
struct Sent {
    print: u64,
    hop: u32,
    /// Sequence number and traffic identifier of 802.11.
    number: (u16, u8),
    /// TCP sequence number and bytes of payload.
    seq: u32,
    len: u32,
    attempts: Attempts,
}

/// A frame whose bytes TCP retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenUp {
    /// Time of the retransmission by TCP.
    pub(crate) at: Time,
    pub(crate) attempts: Attempts,
}

/// Totals of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Frames, repetitions included, and those with the retry bit.
    pub(crate) frames: u64,
    pub(crate) retries: u64,
    /// Frames, each counted once, and those of them that were sent [`OFTEN`] times or more.
    distinct: u64,
    often: u64,
    /// Airtime of all frames, us; zero if no rate is known.
    pub(crate) airtime_us: u64,
}

/// The frames of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Air {
    pub(crate) totals: Totals,
    pub(crate) series: Series,
    /// In order of time.
    pub(crate) given_up: Vec<GivenUp>,
    /// Rates in kbit/s with their frames, in order of the rate.
    rates: Vec<(u32, u64)>,
    recent: VecDeque<Sent>,
    /// Number of the last frame in the capture. An A-MSDU has several packets in one frame.
    frame: u64,
    /// Hop, traffic identifier and sequence number of the newest frame.
    newest: (u32, u8, u16),
    /// Time of the last repetition of a frame with payload.
    pub(crate) repeated_at: Time,
    /// The last frame is a repetition that was queued before the newest one.
    pub(crate) is_behind: bool,
}

impl Air {
    /// Records a frame. Returns true if it repeats one that was captured before.
    pub(super) fn take(&mut self, seen: &Seen, radio: &Radio, at: Time) -> bool {
        let is_first = seen.frame != self.frame;
        self.frame = seen.frame;
        if is_first {
            self.totals.frames += 1;
            self.totals.retries += u64::from(radio.retry);
            self.totals.airtime_us += u64::from(radio.airtime_us);
            self.count_rate(radio.rate_kbit_s);
        }
        let print = fingerprint(seen);
        let number = (radio.sequence, radio.tid);
        let same =
            |sent: &Sent| sent.print == print && sent.hop == seen.hop && sent.number == number;
        let recently =
            |sent: &&mut Sent| at.saturating_since(sent.attempts.first) <= LONGEST_REPEATED;
        let before = match radio.retry {
            true => self.recent.iter_mut().rev().take_while(recently).find(|sent| same(sent)),
            false => None,
        };
        let repeated = before.map(|sent| {
            sent.attempts.again(at, radio.rate_kbit_s);
            sent.attempts
        });
        self.totals.distinct += u64::from(repeated.is_none());
        self.totals.often += u64::from(repeated.is_some_and(|one| one.count == OFTEN));
        if repeated.is_some() && seen.payload_len > 0 {
            self.repeated_at = at;
        }
        let counted = is_first.then_some(radio);
        self.series.take(at, counted, seen.payload_len, repeated);
        if repeated.is_none() {
            self.note_order(seen.hop, radio);
            self.remember(Sent {
                print,
                hop: seen.hop,
                number,
                seq: seen.seq,
                len: seen.payload_len,
                attempts: Attempts::one(at, radio.rate_kbit_s),
            });
        }
        repeated.is_some()
    }

    /// Records that TCP retransmitted `len` bytes from `seq` on: earlier frames with these bytes were lost.
    pub(super) fn retransmitted(&mut self, seq: u32, len: u32, at: Time) {
        let holds = |sent: &&Sent| {
            sent.attempts.first < at && sent.len > 0 && {
                let ahead = seq.wrapping_sub(sent.seq);
                ahead < sent.len || sent.seq.wrapping_sub(seq) < len
            }
        };
        let earlier = self.recent.iter().filter(holds).map(|sent| sent.attempts);
        if let Some(attempts) = earlier.max_by_key(|attempts| attempts.count)
            && self.given_up.len() < MOST_GIVEN_UP
        {
            self.given_up.push(GivenUp { at, attempts });
        }
    }

    /// Returns true if few frames that were delivered had taken many attempts, so that a loss after many attempts was
    /// on the air and not elsewhere by chance.
    pub(crate) fn seldom_repeats_often(&self) -> bool {
        let lost = self.given_up.iter().filter(|one| one.attempts.count >= OFTEN).count() as u64;
        let delivered = self.totals.often.saturating_sub(lost);
        delivered * SELDOM <= self.totals.distinct
    }

    /// Returns the median rate of the frames, kbit/s.
    pub(crate) fn median_kbit_s(&self) -> Option<u32> {
        let half = self.rates.iter().map(|(_, frames)| frames).sum::<u64>().div_ceil(2);
        let mut sum = 0;
        let median = self.rates.iter().find(|(_, frames)| {
            sum += frames;
            sum >= half
        });
        median.map(|(rate, _)| *rate)
    }

    /// Records whether a frame that is new to the capture was queued before one that passed: the monitor missed
    /// its earlier attempts.
    fn note_order(&mut self, hop: u32, radio: &Radio) {
        let (newest_hop, tid, sequence) = self.newest;
        let same_queue = newest_hop == hop && tid == radio.tid;
        let ahead = radio.sequence.wrapping_sub(sequence) % SEQUENCES;
        self.is_behind = same_queue && radio.retry && ahead > SEQUENCES / 2;
        if !self.is_behind {
            self.newest = (hop, radio.tid, radio.sequence);
        }
    }

    fn remember(&mut self, sent: Sent) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(sent);
    }

    fn count_rate(&mut self, rate: u32) {
        if rate == 0 {
            return;
        }
        match self.rates.binary_search_by_key(&rate, |(known, _)| *known) {
            Ok(place) => self.rates[place].1 += 1,
            Err(place) if self.rates.len() < MOST_RATES => self.rates.insert(place, (rate, 1)),
            Err(place) => self.rates[place.min(MOST_RATES - 1)].1 += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Sacks};
    use ackord_wire::Flags;

    /// A frame of an end whose packets have no number of their own (identification 0, no timestamps).
    fn seen(frame: u64, payload_len: u32, radio: Radio) -> Seen {
        Seen {
            frame,
            at: Time::ZERO,
            file: 0,
            interface: 0,
            src: Address::v4([10, 0, 0, 1], 80),
            dst: Address::v4([10, 0, 0, 2], 4000),
            seq: 1,
            ack: 1,
            window: 1000,
            flags: Flags::ACK,
            payload_len,
            ip_len: payload_len + 40,
            ip_id: 0,
            ttl: 64,
            ecn: 0,
            mss: None,
            wscale: None,
            sack_permitted: false,
            timestamps: None,
            sacks: Sacks::default(),
            options_cut: false,
            hop: 7,
            radio: Some(radio),
        }
    }

    fn radio(sequence: u16, retry: bool, mbit_s: u32) -> Radio {
        Radio { retry, tid: 0, sequence, rate_kbit_s: mbit_s * 1_000, airtime_us: 100 }
    }

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// Records frames; returns which of them repeat another.
    fn repeat(air: &mut Air, len: u32, frames: &[(u64, Radio)]) -> Vec<bool> {
        let take = |(number, (millis, radio)): (usize, &(u64, Radio))| {
            air.take(&seen(number as u64 + 1, len, *radio), radio, at(*millis))
        };
        frames.iter().enumerate().map(take).collect()
    }

    #[test]
    fn a_frame_with_the_retry_bit_and_a_known_number_repeats_another() {
        for len in [0, 1448] {
            let mut air = Air::default();
            let frames = [
                (0, radio(5, false, 54)),
                (1, radio(5, true, 24)),
                // A duplicate ACK, or a retransmission by TCP: a number of its own.
                (2, radio(6, false, 54)),
                (40, radio(5, true, 6)),
                // Its first attempt is not in the capture.
                (41, radio(7, true, 54)),
                // The number is in use again.
                (6_000, radio(5, true, 54)),
            ];
            let repeats = repeat(&mut air, len, &frames);
            assert_eq!(repeats, [false, true, false, true, false, false]);
            assert_eq!((air.totals.frames, air.totals.retries), (6, 4));
            assert_eq!(air.median_kbit_s(), Some(54_000));
        }
    }

    #[test]
    fn a_retransmission_by_tcp_has_the_attempts_of_the_frames_before_it() {
        let mut air = Air::default();
        let frames = [
            (0, radio(5, false, 54)),
            (3, radio(5, true, 54)),
            (9, radio(5, true, 6)),
            (80, radio(6, false, 54)),
        ];
        repeat(&mut air, 1448, &frames);
        air.retransmitted(1, 1448, at(80));
        // Other bytes.
        air.retransmitted(1449, 1448, at(80));
        let [GivenUp { attempts, .. }] = air.given_up[..] else { panic!("{:?}", air.given_up) };
        assert_eq!((attempts.count, attempts.span()), (3, Span::from_millis(9)));
        assert_eq!((attempts.highest_kbit_s, attempts.lowest_kbit_s), (54_000, 6_000));
    }

    #[test]
    fn frames_of_an_aggregate_share_their_airtime() {
        let mut air = Air::default();
        for number in [1, 1, 2] {
            let one = radio(5, false, 54);
            air.take(&seen(number, 100 + number as u32, one), &one, at(number));
        }
        assert_eq!((air.totals.frames, air.totals.airtime_us), (2, 200));
    }

    #[test]
    fn a_repetition_from_before_the_newest_frame_is_behind_it() {
        let mut air = Air::default();
        let frames =
            [(0, radio(4094, false, 54)), (1, radio(1, false, 54)), (2, radio(0, true, 54))];
        repeat(&mut air, 1448, &frames);
        assert!(air.is_behind);
        repeat(&mut air, 1448, &[(3, radio(2, true, 54))]);
        assert!(!air.is_behind);
    }
}
