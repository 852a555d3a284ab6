//! A token bucket, and what two elements make of it: a policer drops what finds too few tokens, a shaper
//! lets it wait for them.
//!
//! Tokens are bytes of IP packets. They come at a rate, the bucket holds a burst of them and is full at the
//! start of a run. A packet takes as many as it is long. So what passes in any time t is at most the burst
//! and rate times t, exactly: tokens are reckoned in bits times nanoseconds per second, without rounding.
//!
//! *Policer*: stands before the queue and has none of its own (RFC 2475 §2.3.3.3; `tc police rate R burst B`).
//! A packet longer than the bucket never passes.
//!
//! *Shaper*: stands at the transmitter, which takes a packet from the queue when it has done with the one
//! before, waits for its tokens, and sends at the link's rate (RFC 2475 §2.3.3.4; `tc tbf`, with the link's
//! rate as its peak rate). A packet longer than the bucket waits until it is full and leaves it in debt.
//!
//! Not modelled: policers that mark, two rates and three colours (RFC 2697, RFC 2698), bytes of layers below
//! IP. Who could notice: operators with contracts of this kind.

use super::pace::sent::Sent;
use ackord_units::{Bytes, Rate, Span, Time};

/// Tokens at a rate, up to a burst.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// All it holds.
    full: i128,
    /// What it held at `at`: bits times nanoseconds per second. Below zero where a packet was longer than
    /// the bucket.
    level: i128,
    at: Time,
}

/// A bit.
const BIT: i128 = 1_000_000_000;

fn cost(ip_len: u32) -> i128 {
    i128::from(ip_len) * 8 * BIT
}

impl TokenBucket {
    /// A full bucket; `rate` is not zero.
    pub fn new(rate: Rate, burst: Bytes) -> TokenBucket {
        let full = i128::from(burst.get()) * 8 * BIT;
        TokenBucket { rate, full, level: full, at: Time::ZERO }
    }

    /// Its rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes in what has come until `at`.
    fn fill(&mut self, at: Time) {
        let came = i128::from(at.saturating_since(self.at).as_nanos());
        let rate = i128::from(self.rate.as_bits_per_sec());
        self.level = (self.level + came * rate).min(self.full);
        self.at = self.at.max(at);
    }

    /// Takes the tokens of a packet if they are there. Asked in order of time.
    pub fn police(&mut self, at: Time, ip_len: u32) -> bool {
        self.fill(at);
        let conforms = self.level >= cost(ip_len);
        if conforms {
            self.level -= cost(ip_len);
        }
        conforms
    }

    /// Takes the tokens of a packet when they are there: the instant, at or after `at`. Asked in order
    /// of time, the instants given included.
    pub fn shape(&mut self, at: Time, ip_len: u32) -> Time {
        self.fill(at);
        let lacks = (cost(ip_len).min(self.full) - self.level).max(0);
        let rate = i128::from(self.rate.as_bits_per_sec());
        let waits = (lacks + rate - 1) / rate;
        let from = at + Span::from_nanos(u64::try_from(waits).unwrap_or(u64::MAX / 4));
        self.fill(from);
        self.level -= cost(ip_len);
        from
    }
}

/// A transmitter behind a token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    bucket: TokenBucket,
    line: Rate,
}

impl Shaper {
    /// One that sends at `line` what the bucket lets go; neither rate is zero.
    pub fn new(bucket: TokenBucket, line: Rate) -> Shaper {
        Shaper { bucket, line }
    }

    /// Waiting for tokens counts as taking the transmitter's time: one that is held to its rate is busy.
    pub(super) fn send(&mut self, at: Time, ip_len: u32) -> Sent {
        let from = self.bucket.shape(at, ip_len);
        let out_at = from + self.line.time_for(Bytes(u64::from(ip_len)));
        Sent::evenly(at, out_at - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // 8 Mbit/s is a byte per us.
    fn bucket(burst: u64) -> TokenBucket {
        TokenBucket::new(Rate::from_mbits_per_sec(8), Bytes(burst))
    }

    fn us(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn a_policer_lets_the_burst_pass_and_then_the_rate() {
        let mut bucket = bucket(3_000);
        let passed = [0, 0, 0, 999, 1_000].map(|at| bucket.police(us(at), 1_000));
        assert_eq!(passed, [true, true, true, false, true]);
        // What is dropped takes nothing; a long silence fills it to the burst and no more.
        let passed = [1_000_000; 4].map(|at| bucket.police(us(at), 1_000));
        assert_eq!(passed, [true, true, true, false]);
        assert!(!bucket.police(us(9_000_000), 3_001), "longer than the bucket");
    }

    #[test]
    fn a_shaper_gives_the_first_instant_at_which_there_are_tokens() {
        let mut bucket = bucket(2_000);
        let sent = [0, 0, 0, 1_000, 10_000].map(|at| bucket.shape(us(at), 1_000));
        assert_eq!(sent, [0, 0, 1_000, 2_000, 10_000].map(us));
        // Longer than the bucket: when it is full, and the debt is paid off before the next.
        assert_eq!(bucket.shape(us(20_000), 5_000), us(20_000));
        assert_eq!(bucket.shape(us(20_000), 1_000), us(24_000));
    }

    #[test]
    fn nothing_is_rounded_away() {
        // A byte takes 2 666 666.67 ns: a thousand of them 2 666 666 667 ns.
        let mut bucket = TokenBucket::new(Rate::from_bits_per_sec(3_000), Bytes(2));
        let mut at = Time::ZERO;
        for _ in 0..1_002 {
            at = bucket.shape(at, 1);
        }
        assert_eq!(at, Time::from_nanos(2_666_666_667));
    }
}
