//! What a history says about an application's next connection, and why.
//!
//! ARI (Lee et al. 2016 §3.2): the first `most_sent_data_size / segment_size * 2` segments are
//! acknowledged at once and Nagle's algorithm is off; an application that often transfers much gets
//! Nagle's algorithm back. How much is much and how often is often, the paper does not say; the
//! numbers here do.

use crate::record::History;
use crate::verdict::Verdict;
use ackord_units::{Bytes, Time};

/// Whether Nagle's algorithm is to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NagleAdvice {
    /// As without any history.
    Stock,
    /// Off.
    Off,
    /// On.
    On,
}

/// What follows from a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What kind of application it is.
    pub verdict: Verdict,
    /// The size it transfers most often; nothing before anything was transferred.
    pub most_sent: Option<Bytes>,
    /// Segments to acknowledge at once; nothing where too little is known.
    pub quick_ack_segments: Option<u64>,
    /// Whether Nagle's algorithm is to be on.
    pub nagle: NagleAdvice,
    /// Why, in words.
    pub reason: String,
}

impl NagleAdvice {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            NagleAdvice::Stock => "stock",
            NagleAdvice::Off => "off",
            NagleAdvice::On => "on",
        }
    }
}

/// Segments of a connection, as far as the count of quick ACKs depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Size of one.
    pub size: Bytes,
    /// As many are acknowledged at once at most.
    pub quick_ack_limit: u64,
}

/// As many ACKs at once a bulk application gets at most: what Linux allows itself at the start of a
/// connection (TCP_MAX_QUICKACKS).
const MOST_FOR_BULK: u64 = 16;

/// The segments to acknowledge at once for transfers of `most_sent`: twice the segments of one such
/// transfer (Lee et al. 2016 Algorithm 1, line 1), within the limit, for bulk at most 16. Segments
/// are rounded up: 2 KB in segments of 536 B make 8, as the paper's phone was set (§4.1). Nothing
/// where too little is known.
pub fn quick_ack_count(verdict: Verdict, most_sent: Bytes, segments: Segments) -> Option<u64> {
    let needed = most_sent.get().div_ceil(segments.size.get().max(1)).max(1);
    let count = needed.saturating_mul(2).min(segments.quick_ack_limit);
    match verdict {
        Verdict::Unknown => None,
        Verdict::Short => Some(count),
        Verdict::Bulk => Some(count.min(MOST_FOR_BULK)),
    }
}

impl History {
    /// What is to be done for the application's next connection.
    pub fn advice(&self, now: Time, segments: Segments) -> Advice {
        Advice::of(self, self.judge(now), now, segments)
    }
}

impl Advice {
    fn of(history: &History, verdict: Verdict, now: Time, segments: Segments) -> Advice {
        let most_sent = history.histogram().most_frequent();
        let quick_ack_segments =
            most_sent.and_then(|most_sent| quick_ack_count(verdict, most_sent, segments));
        let nagle = match verdict {
            Verdict::Unknown => NagleAdvice::Stock,
            Verdict::Short => NagleAdvice::Off,
            Verdict::Bulk => NagleAdvice::On,
        };
        let reason = reason(history, verdict, now);
        Advice { verdict, most_sent, quick_ack_segments, nagle, reason }
    }
}

fn reason(history: &History, verdict: Verdict, now: Time) -> String {
    let decayed = history.histogram().weight(now);
    let Some(shares) = history.histogram().share_from(Verdict::LARGE) else {
        return "no transfer was recorded: stock behaviour".to_owned();
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let shown = format!(
        "{} of decayed transfers and {} of bytes are above 1 MiB",
        percent(shares.transfers),
        percent(shares.bytes)
    );
    match verdict {
        Verdict::Unknown => format!(
            "{decayed:.1} decayed transfers are too few to judge ({:.0} are enough): stock \
             behaviour",
            Verdict::ENOUGH
        ),
        Verdict::Bulk if shares.transfers < Verdict::BULK_FROM => {
            format!(
                "{shown}; was bulk, and is until they are below {}",
                percent(Verdict::SHORT_BELOW)
            )
        }
        Verdict::Bulk => shown,
        Verdict::Short if shares.transfers >= Verdict::SHORT_BELOW => {
            format!("{shown}; bulk from {} on", percent(Verdict::BULK_FROM))
        }
        Verdict::Short => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transfer;
    use ackord_units::Span;

    const MSS: Segments = Segments { size: Bytes(1_460), quick_ack_limit: 512 };
    const NOW: Time = Time::from_nanos(1_700_000_000_000_000_000);

    fn of(sizes: impl IntoIterator<Item = u64>) -> History {
        let mut history = History::default();
        for size in sizes {
            history.record(Transfer { size: Bytes(size), ended_at: NOW, took: None });
        }
        history
    }

    #[test]
    fn the_papers_phone_gets_its_count_of_eight() {
        let advice = of([2_048; 20]).advice(NOW, Segments { size: Bytes(536), ..MSS });
        assert_eq!(advice.most_sent, Some(Bytes(2_048)));
        assert_eq!(advice.quick_ack_segments, Some(8));
        assert_eq!((advice.verdict, advice.nagle), (Verdict::Short, NagleAdvice::Off));
    }

    #[test]
    fn bulk_gets_nagle_back_and_a_bounded_count() {
        let advice = of([8_000_000; 20]).advice(NOW, MSS);
        assert_eq!((advice.verdict, advice.nagle), (Verdict::Bulk, NagleAdvice::On));
        assert_eq!(advice.quick_ack_segments, Some(16));
        assert_eq!(advice.reason, "100 % of decayed transfers and 100 % of bytes are above 1 MiB");
    }

    #[test]
    fn the_count_stops_at_the_limit() {
        let count = |limit| {
            let segments = Segments { quick_ack_limit: limit, ..MSS };
            quick_ack_count(Verdict::Short, Bytes(1_000_000), segments)
        };
        assert_eq!((count(10_000), count(512)), (Some(1_370), Some(512)));
    }

    #[test]
    fn a_single_large_download_does_not_raise_the_count() {
        let advice = of([3_000; 30].into_iter().chain([500_000_000])).advice(NOW, MSS);
        assert_eq!((advice.verdict, advice.quick_ack_segments), (Verdict::Short, Some(6)));
        assert_eq!(advice.reason, "3 % of decayed transfers and 100 % of bytes are above 1 MiB");
    }

    #[test]
    fn what_is_too_little_or_too_old_is_unknown() {
        let few = of([2_000; 4]).advice(NOW, MSS);
        assert_eq!((few.verdict, few.quick_ack_segments), (Verdict::Unknown, None));
        assert!(few.reason.contains("too few to judge"), "{}", few.reason);
        let enough = of([2_000; 6]);
        let later = |days: u64| enough.advice(NOW + Span::from_secs(days * 86_400), MSS).verdict;
        assert_eq!(
            (later(0), later(30), later(60)),
            (Verdict::Short, Verdict::Short, Verdict::Unknown)
        );
        let none = History::default().advice(NOW, MSS);
        assert_eq!((none.verdict, none.most_sent), (Verdict::Unknown, None));
    }

    #[test]
    fn the_verdict_turns_late_on_the_way_up_and_late_on_the_way_down() {
        use Verdict::{Bulk, Short};
        let path = [0.2, 0.4, 0.49, 0.5, 0.4, 0.35, 0.34, 0.4, 0.49];
        let turned: Vec<_> = path
            .into_iter()
            .scan(Short, |verdict, large| {
                *verdict = verdict.next(100.0, large);
                Some(*verdict)
            })
            .collect();
        assert_eq!(turned, [Short, Short, Short, Bulk, Bulk, Bulk, Short, Short, Short]);
    }
}
