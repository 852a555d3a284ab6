//! ARI, the "ACK reception inducer" of Lee et al. 2016: the acknowledgments of a whole usual
//! transfer leave at once.
//!
//! Its other half turns Nagle's algorithm off at the sender: [`nagle::Ari`](crate::nagle::Ari).
//! The application's most frequent transfer size and the verdict on it come from outside, as
//! knobs: this policy keeps no history.

use super::adaptive::AdaptiveConfig;
use super::delayed::{Delayed, EVERY, TIMEOUT};
use super::linux::LinuxAckConfig;
use super::{
    AckConfig, AckDecision, AckOnRead, AckPolicy, Arrival, Carrier, Opening, Order, Reading,
};
use crate::mode::{MODE, Mode};
use ackord_units::{Bytes, Keyword, Knob, KnobKind, Knobs, Span, Time};

/// The count of quick acknowledgments that a bulk application gets in practice: what a stock Linux
/// kernel gives every connection.
const BULK_QUICK_SEGMENTS: u64 = 16;

/// As many at once as the application's usual transfer needs, then delayed
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "ack",
    name = "ari",
    source = "Lee et al. 2016 Alg. 1; its other half is `nagle = \"ari\"` at the sender"
)]
pub struct AriConfig {
    #[knob(like = MODE)]
    mode: Mode,
    /// Most frequent size of the application's transfers
    #[knob(
        min = Bytes(1), max = Bytes(1_000_000_000), default = "2 kB",
        source = "Lee et al. 2016 §4.1"
    )]
    pub most_sent: Bytes,
    /// Segment size that the count is worked out with; the largest seen when absent
    #[knob(min = Bytes(1), max = Bytes(65_535), source = "Lee et al. 2016 §4.1: 536 B")]
    segment: Option<Bytes>,
    /// Whether a part of a segment counts as one in `most_sent / segment`, or is dropped
    #[knob(
        default = "up",
        source = "Lee et al. 2016 Alg. 1 does not say: its figure of 8 for 2 KB in segments of 536 B is rounded \
                  up, integers in C give 6"
    )]
    division: Division,
    #[knob(like = VERDICT)]
    verdict: Verdict,
    /// Segments acknowledged at once in a row at most; practical mode
    #[knob(
        name = "quick_ack_limit",
        min = 0,
        max = 1_000_000,
        unit = "segments",
        default = "512",
        source = "this project: covers 0.5 MB, the paper's largest short transfer"
    )]
    quick_ack_limit_segments: u64,
    /// What acknowledges the later segments: with `timeout` and `every`, or another policy with its
    /// defaults
    #[knob(
        default = "delayed",
        source = "Lee et al. 2016 Alg. 1; the others: this project, for both remedies at once"
    )]
    then: Then,
    #[knob(like = TIMEOUT)]
    timeout: Span,
    #[knob(like = EVERY)]
    every: u64,
}

pub(crate) const VERDICT: Knob = Knob {
    name: "verdict",
    kind: KnobKind::Choice(Verdict::WORDS),
    default: "short",
    doc: "What the application's history says: short transfers, or streams and copies in bulk",
    source: "Lee et al. 2016 §3.2",
};

/// What acknowledges the segments beyond ARI's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Then {
    /// The delayed acknowledgment.
    Delayed,
    /// The adaptive one.
    Adaptive,
    /// Linux's.
    Linux,
}

impl AckConfig for AriConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        let after: Box<dyn AckPolicy> = match self.then {
            Then::Delayed => Box::new(Delayed::new(self.every, self.timeout)),
            Then::Adaptive => AdaptiveConfig::default().build(),
            Then::Linux => LinuxAckConfig::default().build(),
        };
        Box::new(Ari::new(*self, after))
    }
}

/// How `most_sent / segment` becomes a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Division {
    /// A part counts as a segment: the paper's 2 KB in segments of 536 bytes give its own figure of 8.
    Up,
    /// A part is dropped, as integers are divided in C: 6 for the same.
    Down,
}

/// What the history says of an application (Lee et al. 2016 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Verdict {
    /// Its transfers are short.
    Short,
    /// It streams or copies in bulk.
    Bulk,
}

/// The first `most_sent / segment * 2` segments at once (Lee et al. 2016, Algorithm 1), the later
/// ones delayed.
#[derive(Clone, Debug)]
pub struct Ari {
    knobs: AriConfig,
    /// Data segments since the start, or since the last pause.
    seen_segments: u64,
    last_at: Option<Time>,
    /// For the later segments. It sees all of them, for it may learn from each.
    after: Box<dyn AckPolicy>,
}

impl Ari {
    /// ARI, with `after` for the segments beyond the count.
    pub fn new(knobs: AriConfig, after: Box<dyn AckPolicy>) -> Ari {
        Ari { knobs, seen_segments: 0, last_at: None, after }
    }

    /// `Quick_ACK_count` for segments of this size.
    fn quick_ack_count(&self, full_size: Bytes) -> u64 {
        let AriConfig { mode, most_sent, verdict, quick_ack_limit_segments, .. } = self.knobs;
        let segment = self.knobs.segment.unwrap_or(full_size).max(Bytes(1)).get();
        let count = 2 * match self.knobs.division {
            Division::Up => most_sent.get().div_ceil(segment),
            Division::Down => most_sent.get() / segment,
        };
        match (mode, verdict) {
            (Mode::Paper, _) => count,
            (Mode::Practical, Verdict::Short) => count.min(quick_ack_limit_segments),
            (Mode::Practical, Verdict::Bulk) => {
                count.min(quick_ack_limit_segments).min(BULK_QUICK_SEGMENTS)
            }
        }
    }

    /// In practice a pause ends one transfer and the next segment begins another.
    fn note_pause(&mut self, now: Time, arrival: &Arrival<'_>) {
        let last_at = self.last_at.replace(now);
        let gap = last_at.map(|at| now.saturating_since(at));
        let paused = gap.is_some_and(|gap| gap > arrival.rtt.rto());
        if paused && self.knobs.mode == Mode::Practical {
            self.seen_segments = 0;
        }
    }
}

impl AckPolicy for Ari {
    fn on_open(&mut self, now: Time, opening: &Opening) {
        self.after.on_open(now, opening);
    }

    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        self.note_pause(now, arrival);
        // In practice what was already received does not use up the count.
        let counts = self.knobs.mode == Mode::Paper || arrival.order != Order::Duplicate;
        self.seen_segments += u64::from(counts);
        let later = self.after.on_segment(now, arrival);
        let quick = self.seen_segments <= self.quick_ack_count(arrival.full_size);
        if quick { AckDecision::Now } else { later }
    }

    fn on_read(&mut self, reading: &Reading) -> AckOnRead {
        self.after.on_read(reading)
    }

    fn on_ack_sent(&mut self, now: Time, carrier: Carrier) {
        self.after.on_ack_sent(now, carrier);
    }

    fn ato(&self) -> Option<Span> {
        self.after.ato()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Delayed;
    use super::super::testing::{Bench, at_ms};
    use super::*;
    use ackord_units::Span;

    const SHORT: AriConfig = AriConfig {
        mode: Mode::Practical,
        most_sent: Bytes(2_000),
        segment: Some(Bytes(536)),
        verdict: Verdict::Short,
        quick_ack_limit_segments: 512,
        division: Division::Up,
        then: Then::Delayed,
        timeout: Span::from_millis(200),
        every: 2,
    };

    fn ari(knobs: AriConfig) -> Bench<Ari> {
        Bench::new(Ari::new(knobs, Box::new(Delayed::new(2, Span::from_millis(200)))))
    }

    /// How many of a hundred segments, a millisecond apart, were acknowledged by themselves.
    fn quick(bench: &mut Bench<Ari>, from_ms: u64) -> usize {
        let before = bench.acks.len();
        for millis in 0..100 {
            bench.arrive(at_ms(from_ms + millis));
        }
        let acks = bench.acks.len() - before;
        // n at once and half of the others: n + (100 - n) / 2.
        acks * 2 - 100
    }

    /// Lee et al. 2016 §4.1: 536 bytes, answers within 2 KB, the usual count times four.
    #[test]
    fn the_papers_phone_gets_eight() {
        assert_eq!(ari(SHORT).policy.quick_ack_count(Bytes(1448)), 8);
        let knobs = AriConfig { most_sent: Bytes(2_048), ..SHORT };
        assert_eq!(ari(knobs).policy.quick_ack_count(Bytes(1448)), 8);
        assert_eq!(quick(&mut ari(SHORT), 0), 8);
        let integers = AriConfig { division: Division::Down, ..SHORT };
        assert_eq!(ari(integers).policy.quick_ack_count(Bytes(1448)), 6);
    }

    #[test]
    fn without_a_segment_size_the_connections_own_counts() {
        let knobs = AriConfig { segment: None, most_sent: Bytes(10_000), ..SHORT };
        assert_eq!(quick(&mut ari(knobs), 0), 20);
    }

    #[test]
    fn the_published_count_is_unbounded_and_spent_once() {
        let knobs = AriConfig { mode: Mode::Paper, verdict: Verdict::Bulk, ..SHORT };
        let many = AriConfig { most_sent: Bytes(1_000_000), quick_ack_limit_segments: 16, ..knobs };
        assert_eq!(ari(many).policy.quick_ack_count(Bytes(1448)), 3_732);
        let mut bench = ari(knobs);
        assert_eq!(quick(&mut bench, 0), 8);
        assert_eq!(quick(&mut bench, 60_000), 0);
    }

    #[test]
    fn in_practice_a_transfer_after_a_pause_is_a_new_start_and_the_count_is_bounded() {
        let mut bench = ari(SHORT);
        assert_eq!(quick(&mut bench, 0), 8);
        assert_eq!(quick(&mut bench, 60_000), 8);
        let limited = AriConfig { quick_ack_limit_segments: 4, ..SHORT };
        assert_eq!(quick(&mut ari(limited), 0), 4);
        let bulk = AriConfig { verdict: Verdict::Bulk, most_sent: Bytes(10_000_000), ..SHORT };
        assert_eq!(quick(&mut ari(bulk), 0), 16);
    }

    #[test]
    fn another_policy_takes_the_later_segments_and_has_learnt_from_the_first() {
        let mut knobs = AdaptiveConfig::default();
        knobs.ato_max = Span::from_millis(200);
        let mut bench = Bench::new(Ari::new(SHORT, Box::new(super::super::Adaptive::new(knobs))));
        assert_eq!(quick(&mut bench, 0), 8);
        let ato = bench.policy.ato().expect("it adapts");
        assert!(ato < Span::from_millis(50), "segments came every millisecond: {ato}");
    }
}
