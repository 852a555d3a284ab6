//! How much a connection's injections saved, and how much they may waste.
//!
//! An injected segment saves its sender a retransmission if the mobile host acknowledges it before the sender has sent it
//! again, and no duplicate SACK (RFC 2883) says that it had arrived already. Where a queue behind the gateway overflows, a
//! middlebox that takes each drop for a loss over the air injects the same segment again and again: more bytes on the air,
//! and nothing is delivered sooner. So a connection has a credit of bytes; each injection spends its length, each one that
//! saved a retransmission restores five quarters of that, and passing data restores a tenth of its length. So no more is
//! wasted than a quarter of what is saved, a tenth of the data that passed, and the credit that a connection begins with.
//!
//! Random loss of probability p needs 1/(1 - p) injections per recovery: a third of all segments may be lost. Injections
//! into an outage are lost and spend credit, which passing data restores afterwards.

use ackord_units::Seq;
use std::collections::VecDeque;

/// Credit at the beginning, and the most that is saved up, bytes: a window of 256 full segments, which a link may lose
/// at once when it fades.
const CREDIT: u64 = 256 * 1_500;
/// Passing bytes that restore one: a tenth more on the air is what `[turns]` takes for waste.
const PASSED_PER_RESTORED: u64 = 10;
/// Credit restored by an injection of `len` bytes that saved a retransmission.
fn restored(len: u64) -> u64 {
    len + len / 4
}

/// Injections whose outcome is awaited, and outcomes that a duplicate SACK may still revoke.
const REMEMBERED: usize = 128;

/// An injected range of sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Injected {
    start: Seq,
    end: Seq,
}

impl Injected {
    fn len(self) -> u64 {
        u64::from(self.end.since(self.start))
    }

    fn overlaps(self, start: Seq, end: Seq) -> bool {
        end.after(self.start) && self.end.after(start)
    }
}

/// Injections of a connection towards the mobile host, and their credit.
#[derive(Clone, Debug)]
pub struct Recoveries {
    credit: u64,
    /// Passed bytes that have not restored any credit yet.
    passed_bytes: u64,
    /// Ranges that were injected and are not acknowledged, each once.
    awaited: VecDeque<Injected>,
    /// Ranges that saved a retransmission, the latest last.
    saved: VecDeque<Injected>,
    /// Bytes injected, repetitions included.
    pub injected_bytes: u64,
    /// Bytes of retransmissions that were saved.
    pub saved_bytes: u64,
}

impl Default for Recoveries {
    fn default() -> Recoveries {
        Recoveries {
            credit: CREDIT,
            passed_bytes: 0,
            awaited: VecDeque::new(),
            saved: VecDeque::new(),
            injected_bytes: 0,
            saved_bytes: 0,
        }
    }
}

impl Recoveries {
    /// Spends the credit for an injection of `len` bytes from `seq`. Returns false, and spends nothing, if the credit does
    /// not suffice.
    pub fn inject(&mut self, seq: Seq, len: u32) -> bool {
        let Some(left) = self.credit.checked_sub(u64::from(len)) else { return false };
        self.credit = left;
        self.injected_bytes += u64::from(len);
        let range = Injected { start: seq, end: seq + len };
        if !self.awaited.contains(&range) {
            remember(&mut self.awaited, range);
        }
        true
    }

    /// Records that the sender itself sent the bytes from `start` to `end`: injections of these bytes saved nothing.
    pub fn sender_sent(&mut self, start: Seq, end: Seq) {
        self.passed_bytes += u64::from(end.since(start));
        let restored = self.passed_bytes / PASSED_PER_RESTORED;
        self.passed_bytes %= PASSED_PER_RESTORED;
        self.credit = (self.credit + restored).min(CREDIT);
        if !self.awaited.is_empty() {
            self.awaited.retain(|range| !range.overlaps(start, end));
        }
    }

    /// Records that the mobile host acknowledged everything below `ack`.
    pub fn acknowledged(&mut self, ack: Seq) {
        let (credit, saved_bytes, saved) =
            (&mut self.credit, &mut self.saved_bytes, &mut self.saved);
        self.awaited.retain(|range| {
            let is_below = ack.at_or_after(range.end);
            if is_below {
                *credit = (*credit + restored(range.len())).min(CREDIT);
                *saved_bytes += range.len();
                remember(saved, *range);
            }
            !is_below
        });
    }

    /// Records that the mobile host received the bytes from `start` to `end` twice (RFC 2883).
    pub fn duplicate(&mut self, start: Seq, end: Seq) {
        let (credit, saved_bytes) = (&mut self.credit, &mut self.saved_bytes);
        let mut revoke = |range: &Injected| {
            let is_duplicate = range.overlaps(start, end);
            if is_duplicate {
                *credit = credit.saturating_sub(restored(range.len()));
                *saved_bytes -= range.len();
            }
            !is_duplicate
        };
        self.saved.retain(&mut revoke);
        self.awaited.retain(|range| !range.overlaps(start, end));
    }
}

fn remember(ranges: &mut VecDeque<Injected>, range: Injected) {
    if ranges.len() >= REMEMBERED {
        ranges.pop_front();
    }
    ranges.push_back(range);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u32 = 1_448;

    #[test]
    fn injections_that_are_lost_again_and_again_end_with_the_credit() {
        let mut recoveries = Recoveries::default();
        let injected = (0..1_000).filter(|_| recoveries.inject(Seq(0), MSS)).count();
        assert_eq!(injected as u64, CREDIT / u64::from(MSS));
        recoveries.acknowledged(Seq(MSS));
        assert!(recoveries.inject(Seq(MSS), MSS), "what is saved restores credit");
        assert_eq!(recoveries.saved_bytes, u64::from(MSS));
    }

    #[test]
    fn neither_what_the_sender_repeats_nor_what_arrives_twice_is_saved() {
        let mut recoveries = Recoveries::default();
        assert!(recoveries.inject(Seq(0), MSS) && recoveries.inject(Seq(MSS), MSS));
        recoveries.sender_sent(Seq(0), Seq(MSS));
        recoveries.acknowledged(Seq(2 * MSS));
        assert_eq!(recoveries.saved_bytes, u64::from(MSS));
        recoveries.duplicate(Seq(MSS), Seq(2 * MSS));
        recoveries.duplicate(Seq(MSS), Seq(2 * MSS));
        assert_eq!(recoveries.saved_bytes, 0);
    }

    #[test]
    fn a_link_that_loses_a_third_of_everything_is_never_refused() {
        let mut recoveries = Recoveries::default();
        for segment in 0..10_000u32 {
            let seq = Seq(u32::MAX - 9) + segment * MSS;
            recoveries.sender_sent(seq, seq + 3 * MSS);
            for _ in 0..1 + segment % 2 {
                assert!(recoveries.inject(seq, MSS), "{segment}");
            }
            recoveries.acknowledged(seq + MSS);
        }
    }

    proptest! {
        #[test]
        fn waste_is_bounded_by_what_is_saved_by_the_data_and_by_the_credit(
            steps in prop::collection::vec((0u8..5, 0u32..40), 0..2_000)
        ) {
            let mut recoveries = Recoveries::default();
            let (mut revoked, mut passed) = (0, 0);
            for (what, segment) in steps {
                let (start, end) = (Seq(segment * MSS), Seq((segment + 1) * MSS));
                match what {
                    0 | 1 => drop(recoveries.inject(start, MSS)),
                    2 => recoveries.acknowledged(end),
                    3 => {
                        recoveries.sender_sent(start, end);
                        passed += u64::from(MSS);
                    }
                    _ => {
                        let before = recoveries.saved_bytes;
                        recoveries.duplicate(start, end);
                        revoked += before - recoveries.saved_bytes;
                    }
                }
                // Revoked injections had been allowed before their D-SACK could arrive.
                let allowed = CREDIT + passed / 10 + restored(recoveries.saved_bytes + revoked);
                prop_assert!(recoveries.injected_bytes <= allowed);
            }
        }
    }
}
