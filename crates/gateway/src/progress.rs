//! How a connection gets on in one direction, as a passer-by sees it.

use ackord_daemon::evidence::Sample;
use ackord_units::{Seq, Span, Time};

/// A wait for an acknowledgment of at least this long is a stall: longer than a round trip and a delayed
/// acknowledgment on any path worth watching, shorter than the second retransmission timeout of RFC 6298.
pub const STALL: Span = Span::from_millis(500);

/// What was sent and acknowledged, and how long that took.
///
/// Time counts while something is unacknowledged: an application that has nothing to send is not slow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The oldest byte that is not acknowledged and the one after the youngest.
    under_way: Option<(Seq, Seq)>,
    /// Since when nothing new was acknowledged, while something is under way.
    waits_since: Option<Time>,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// How long something was under way.
    pub active: Span,
    /// Of that, how long in stalls.
    pub stalled: Span,
    /// Stalls.
    pub stalls: u32,
    /// The end of data whose round trip is timed, and when it passed; one at a time.
    timed: Option<(Seq, Time)>,
    /// Round trips of data sent once: their sum.
    pub rtt_sum: Span,
    /// And their number.
    pub rtts: u32,
}

impl Progress {
    /// The bytes from `seq` to `end` passed.
    pub fn sent(&mut self, now: Time, seq: Seq, end: Seq) {
        match &mut self.under_way {
            Some((_, youngest)) if end.after(*youngest) => {
                *youngest = end;
                self.timed.get_or_insert((end, now));
            }
            // Whose acknowledgment would be ambiguous (RFC 6298 §3).
            Some(_) => self.timed = None,
            none => {
                *none = Some((seq, end));
                self.timed = Some((end, now));
            }
        }
        if self.under_way.is_some_and(|(oldest, youngest)| youngest.after(oldest)) {
            self.waits_since.get_or_insert(now);
        }
    }

    /// Everything below `ack` has arrived.
    pub fn acknowledged(&mut self, now: Time, ack: Seq) {
        let Some((oldest, youngest)) = &mut self.under_way else { return };
        // What was not seen passing is not this gateway's, and forged numbers gain nothing; but all that was
        // seen before has arrived, and nobody waits for it.
        let ack = if ack.after(*youngest) { *youngest } else { ack };
        if !ack.after(*oldest) {
            return;
        }
        self.bytes += u64::from(ack.since(*oldest));
        *oldest = ack;
        if let Some((_, since)) = self.timed.take_if(|(end, _)| ack.at_or_after(*end)) {
            self.rtt_sum += now.saturating_since(since);
            self.rtts += 1;
        }
        let is_idle = ack == *youngest;
        if let Some(since) = self.waits_since.take() {
            let waited = now.saturating_since(since);
            self.active += waited;
            if waited >= STALL {
                self.stalls += 1;
                self.stalled += waited;
            }
        }
        self.waits_since = (!is_idle).then_some(now);
    }

    /// The same data under way, nothing counted yet.
    #[must_use]
    pub fn anew(&self, now: Time) -> Progress {
        Progress {
            under_way: self.under_way,
            waits_since: self.waits_since.map(|_| now),
            ..Progress::default()
        }
    }

    /// What comes next is not seen, or does not count: what is under way is nobody's, and no wait goes on.
    pub fn interrupt(&mut self) {
        (self.under_way, self.waits_since, self.timed) = (None, None, None);
    }

    /// The same, with the wait that is going on counted up to now.
    #[must_use]
    pub fn until(&self, now: Time) -> Progress {
        let waited = self.waits_since.map_or(Span::ZERO, |since| now.saturating_since(since));
        let stalls = waited >= STALL;
        Progress {
            active: self.active + waited,
            stalled: if stalls { self.stalled + waited } else { self.stalled },
            stalls: self.stalls + u32::from(stalls),
            ..*self
        }
    }

    /// Bytes acknowledged a second while something was under way, in bit/s; nothing where too little was
    /// seen to tell.
    pub fn goodput_bps(&self) -> Option<f64> {
        let enough = self.bytes >= 64 << 10 && self.active >= Span::from_millis(100);
        enough.then(|| self.bytes as f64 * 8.0 / self.active.as_secs_f64())
    }

    /// The share of that time in stalls.
    pub fn stalled_share(&self) -> f64 {
        match self.active {
            Span::ZERO => 0.0,
            active => self.stalled.as_secs_f64() / active.as_secs_f64(),
        }
    }
}

/// What is evidence of it: goodput in bit/s, and the share of time in stalls.
impl From<&Progress> for Option<Sample> {
    fn from(progress: &Progress) -> Option<Sample> {
        let rate = progress.goodput_bps()?;
        Some(Sample { rate, stalled_share: progress.stalled_share() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn only_time_with_something_under_way_counts_and_long_waits_are_stalls() {
        let mut progress = Progress::default();
        progress.sent(at(0), Seq(0), Seq(100_000));
        progress.acknowledged(at(100), Seq(50_000));
        progress.acknowledged(at(800), Seq(100_000));
        // Nothing to send for ten seconds.
        progress.sent(at(10_000), Seq(100_000), Seq(200_000));
        assert_eq!(progress.until(at(10_499)).stalls, 1);
        assert_eq!(progress.until(at(10_500)).stalled, Span::from_millis(1_200));
        progress.acknowledged(at(10_200), Seq(200_000));
        assert_eq!((progress.bytes, progress.active), (200_000, Span::from_millis(1_000)));
        assert_eq!((progress.stalls, progress.stalled), (1, Span::from_millis(700)));
        assert_eq!((progress.goodput_bps(), progress.stalled_share()), (Some(1_600_000.0), 0.7));
        let sample = Sample { rate: 1_600_000.0, stalled_share: 0.7 };
        assert_eq!(Option::from(&progress), Some(sample));
        assert_eq!(Option::<Sample>::from(&Progress::default()), None);
    }

    #[test]
    fn begun_anew_what_was_is_not_counted_and_what_is_under_way_is() {
        let mut progress = Progress::default();
        progress.sent(at(0), Seq(0), Seq(100_000));
        progress.acknowledged(at(900), Seq(20_000));
        let mut anew = progress.anew(at(2_000));
        assert_eq!((anew.bytes, anew.until(at(2_100)).active), (0, Span::from_millis(100)));
        anew.acknowledged(at(2_600), Seq(100_000));
        assert_eq!((anew.bytes, anew.stalled), (80_000, Span::from_millis(600)));
        assert_eq!(anew.anew(at(9_000)).until(at(9_900)).active, Span::ZERO, "idle");
    }

    #[test]
    fn what_passes_unseen_is_neither_progress_nor_a_wait() {
        let mut progress = Progress::default();
        progress.sent(at(0), Seq(0), Seq(100_000));
        progress.acknowledged(at(100), Seq(60_000));
        progress.interrupt();
        assert_eq!(progress.until(at(9_000)).active, Span::from_millis(100));
        // Taken up in the middle, with data under way that was not seen.
        progress.acknowledged(at(9_000), Seq(5_000_000));
        progress.sent(at(9_000), Seq(5_100_000), Seq(5_200_000));
        progress.acknowledged(at(9_010), Seq(5_050_000));
        progress.acknowledged(at(9_020), Seq(5_200_000));
        assert_eq!((progress.bytes, progress.stalls), (160_000, 0));
        assert_eq!(progress.active, Span::from_millis(120));
    }

    #[test]
    fn acknowledgments_of_what_never_passed_are_nothing() {
        let mut progress = Progress::default();
        progress.acknowledged(at(0), Seq(7));
        progress.sent(at(0), Seq(u32::MAX - 9), Seq(90));
        progress.acknowledged(at(1), Seq(u32::MAX - 9));
        assert_eq!((progress.bytes, progress.active), (0, Span::ZERO));
        progress.acknowledged(at(3), Seq(0));
        assert_eq!((progress.bytes, progress.active), (10, Span::from_millis(3)));
        // Its last packets were not seen, or somebody lies: what was seen has arrived, and no more.
        progress.acknowledged(at(5), Seq(9_000));
        assert_eq!((progress.bytes, progress.until(at(9_000)).active), (100, Span::from_millis(5)));
        assert_eq!(progress.goodput_bps(), None);
    }
}
