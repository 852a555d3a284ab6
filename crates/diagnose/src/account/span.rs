//! The account as it is written while packets pass: stretches of time, each with what was waited for.

use ackord_units::{Span, Time};

/// What a connection waits for, as far as it is known when a packet ends the wait. Why a window is
/// what it is, and what loss was from, is decided when all has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Handshake,
    SynLoss,
    /// The application of this side (0: client) has nothing to send.
    Idle(u8),
    /// Bytes are on their way, and the application has no more.
    Transit,
    /// What came at the end of this had been sent at its beginning: it waited on its way here.
    Queued,
    ReceiverWindow,
    ZeroWindow,
    Nagle,
    DelayedAck,
    /// ACKs open a window that grows by what they acknowledge.
    SlowStart,
    /// ACKs open a window that grows slowly, or not.
    Window,
    /// ACKs opened a window that the sender did not use, with bytes under way.
    Unfilled,
    /// Bytes were under way, and nothing came for much longer than a round trip; then they had not
    /// been lost.
    Stalled,
    /// Loss is being recovered.
    Recovery,
    /// Packets passed, and the capture does not have them.
    Uncaptured,
}

/// No loss has been seen.
pub(crate) const NO_LOSS: u32 = u32::MAX;

/// A stretch of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) wait: Wait,
    /// The direction it is about: whose bytes.
    pub(crate) side: u8,
    /// The loss that is being recovered, or the last one before.
    pub(crate) loss: u32,
    pub(crate) frames: [u64; 2],
    pub(crate) seen: Measured,
}

/// What was measured during a stretch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Bytes acknowledged.
    pub(crate) acked: u64,
    /// Bytes under way, at most.
    pub(crate) flight: u64,
    /// Round-trip times: their sum, their number, the shortest.
    pub(crate) rtt_sum: u64,
    pub(crate) rtts: u32,
    pub(crate) rtt_least: u64,
}

impl Measured {
    pub(crate) fn rtt(&mut self, rtt: Span) {
        self.add(&Measured {
            rtt_sum: rtt.as_nanos(),
            rtts: 1,
            rtt_least: rtt.as_nanos(),
            ..Measured::default()
        });
    }

    fn add(&mut self, other: &Measured) {
        self.acked += other.acked;
        self.flight = self.flight.max(other.flight);
        self.rtt_least = match (self.rtts, other.rtts) {
            (_, 0) => self.rtt_least,
            (0, _) => other.rtt_least,
            _ => self.rtt_least.min(other.rtt_least),
        };
        self.rtt_sum = self.rtt_sum.saturating_add(other.rtt_sum);
        self.rtts += other.rtts;
    }

    /// Mean round-trip time, ns.
    pub(crate) fn rtt_mean(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_sum as f64 / f64::from(self.rtts))
    }
}

impl Stretch {
    pub(crate) fn span(&self) -> Span {
        self.to.saturating_since(self.from)
    }

    /// Bytes acknowledged per second.
    pub(crate) fn rate(&self) -> f64 {
        let span = self.span().as_secs_f64();
        if span > 0.0 { self.seen.acked as f64 / span } else { 0.0 }
    }
}

/// Stretches kept of a connection; where there are more, short ones are joined to their neighbours.
const MOST: usize = 2048;

/// The account of one connection: without gaps, from its first packet on.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    stretches: Vec<Stretch>,
    settled: Time,
    settled_frame: u64,
    /// Measured since the last stretch ended.
    pub(crate) now: Measured,
    /// Stretches are not longer than this, so that what is measured has a time.
    longest: Span,
}

impl Account {
    pub(crate) fn begin(at: Time, frame: u64) -> Account {
        Account {
            stretches: Vec::new(),
            settled: at,
            settled_frame: frame,
            now: Measured::default(),
            longest: Span::from_millis(10),
        }
    }

    /// Up to when the account is written.
    pub(crate) fn settled(&self) -> Time {
        self.settled
    }

    /// How long stretches may be: a round trip, but not more than a thousand in a life.
    pub(crate) fn longest(&mut self, rtt: Span, life: Span) {
        let thousandth = Span::from_nanos(life.as_nanos() / 1000);
        self.longest = rtt.max(thousandth).max(Span::from_millis(5));
    }

    /// Writes what the time until `to` was spent on.
    #[inline]
    pub(crate) fn settle(&mut self, to: Time, frame: u64, wait: Wait, side: u8, loss: u32) {
        if to <= self.settled {
            return;
        }
        let from = self.settled;
        self.settled = to;
        let begins = self.settled_frame;
        self.settled_frame = frame;
        let seen = std::mem::take(&mut self.now);
        if let Some(last) = self.stretches.last_mut()
            && (last.wait, last.side, last.loss) == (wait, side, loss)
            && to.saturating_since(last.from) <= self.longest
        {
            last.to = to;
            last.frames[1] = frame;
            last.seen.add(&seen);
            return;
        }
        if self.stretches.len() >= MOST {
            self.thin();
        }
        self.stretches.push(Stretch { from, to, wait, side, loss, frames: [begins, frame], seen });
    }

    /// Writes everything since `since` anew that waited for a window: it was a recovery.
    pub(crate) fn was_recovery(&mut self, since: Time, loss: u32) {
        for stretch in self.stretches.iter_mut().rev().take_while(|stretch| stretch.to > since) {
            if matches!(stretch.wait, Wait::Window | Wait::SlowStart | Wait::Transit)
                && stretch.from >= since
            {
                stretch.wait = Wait::Recovery;
                stretch.loss = loss;
            }
        }
    }

    /// Writes the time from `from` to `to` anew, as far as it was written: the capture does not have it.
    pub(crate) fn was_uncaptured(&mut self, from: Time, to: Time) {
        let first = self.stretches.partition_point(|stretch| stretch.to <= from);
        for mut stretch in self.stretches.split_off(first) {
            let (begins, ends) = (stretch.from.max(from), stretch.to.min(to));
            if begins >= ends {
                self.stretches.push(stretch);
                continue;
            }
            // What was measured stays with the part before.
            if stretch.from < begins {
                self.stretches.push(Stretch { to: begins, ..stretch });
                stretch.seen = Measured::default();
            }
            let wait = Wait::Uncaptured;
            self.stretches.push(Stretch { from: begins, to: ends, wait, ..stretch });
            if ends < stretch.to {
                self.stretches.push(Stretch { from: ends, seen: Measured::default(), ..stretch });
            }
        }
    }

    /// Joins the shorter half of all stretches to the neighbours before them.
    #[cold]
    fn thin(&mut self) {
        let mut spans: Vec<Span> = self.stretches.iter().map(Stretch::span).collect();
        spans.sort_unstable();
        let least = spans[spans.len() / 2];
        let mut kept: Vec<Stretch> = Vec::with_capacity(MOST);
        let mut joined = 0;
        let half = self.stretches.len() / 2;
        for stretch in self.stretches.drain(..) {
            match kept.last_mut() {
                Some(last) if stretch.span() <= least && joined < half => {
                    joined += 1;
                    if stretch.span() > last.span() {
                        (last.wait, last.side, last.loss) =
                            (stretch.wait, stretch.side, stretch.loss);
                    }
                    last.to = stretch.to;
                    last.frames[1] = stretch.frames[1];
                    last.seen.add(&stretch.seen);
                }
                _ => kept.push(stretch),
            }
        }
        self.stretches = kept;
    }

    /// All stretches, in order, each beginning where the one before ended.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_or_counted_twice_however_many_stretches_there_are() {
        let at = |micros: u64| Time::from_nanos(micros * 1000);
        let mut account = Account::begin(at(10), 1);
        let waits = [Wait::Window, Wait::Idle(1), Wait::Transit, Wait::Nagle];
        let mut time = 10;
        for step in 0..20_000_u64 {
            time += 1 + step * 7919 % 20_011;
            account.settle(at(time), step + 2, waits[(step % 4) as usize], 0, NO_LOSS);
        }
        let stretches = account.stretches();
        assert!(stretches.len() <= MOST);
        assert_eq!((stretches[0].from, stretches[stretches.len() - 1].to), (at(10), at(time)));
        assert!(stretches.windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}
