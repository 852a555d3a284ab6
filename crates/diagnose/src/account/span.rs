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
    /// The window was small, since the receiver's application reads slowly.
    SlowReader,
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

/// A stretch of time. Stretches that [`Account::thin`] folds into one group share `from` and `to`; each of them
/// owns a part of the time between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// Time that belongs to this stretch: all between `from` and `to` unless it is folded.
    pub(crate) own: Span,
    /// Number of stretches folded into this one.
    pub(crate) count: u32,
    pub(crate) wait: Wait,
    /// The direction whose bytes it is about.
    pub(crate) side: u8,
    /// The loss that is being recovered, or the last one before.
    pub(crate) loss: u32,
    /// First and last frame; of the longest one where several are folded.
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
    #[inline]
    pub(crate) fn rtt(&mut self, rtt: Span) {
        self.add(&Measured {
            rtt_sum: rtt.as_nanos(),
            rtts: 1,
            rtt_least: rtt.as_nanos(),
            ..Measured::default()
        });
    }

    #[inline]
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
    /// Returns the time that belongs to this stretch.
    pub(crate) fn span(&self) -> Span {
        self.own
    }

    /// Returns true if other stretches own parts of the time between `from` and `to`.
    pub(crate) fn is_folded(&self) -> bool {
        self.own < self.to.saturating_since(self.from)
    }

    /// Returns the part of an unfolded stretch between `from` and `to`, without its measurements.
    pub(crate) fn part(&self, from: Time, to: Time) -> Stretch {
        let own = to.saturating_since(from);
        Stretch { from, to, own, seen: Measured::default(), ..*self }
    }

    /// Adds another stretch of the same kind.
    fn fold(&mut self, other: &Stretch) {
        if other.own.as_nanos() * u64::from(self.count) > self.own.as_nanos() {
            (self.frames, self.loss) = (other.frames, other.loss);
        }
        self.own += other.own;
        self.count = self.count.saturating_add(other.count);
        self.seen.add(&other.seen);
    }

    /// Bytes acknowledged per second.
    pub(crate) fn rate(&self) -> f64 {
        let span = self.span().as_secs_f64();
        if span > 0.0 { self.seen.acked as f64 / span } else { 0.0 }
    }
}

/// Stretches kept of a connection. Where there are more, neighbours are folded: the seconds of each kind stay
/// exact, only their order within a group is forgotten.
const MOST: usize = 2048;
/// Folding that leaves more than this part of [`MOST`] is repeated over longer groups.
const FOLDED_PART: usize = 2;
/// Lengths of groups, in median stretches, in which different losses stay apart.
const SHORT_GROUPS: [u64; 4] = [4, 8, 16, 32];

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
            && !last.is_folded()
        {
            last.to = to;
            last.own = to.saturating_since(last.from);
            last.frames[1] = frame;
            last.seen.add(&seen);
            return;
        }
        if self.stretches.len() >= MOST {
            self.thin();
        }
        let (own, frames) = (to.saturating_since(from), [begins, frame]);
        self.stretches.push(Stretch { from, to, own, count: 1, wait, side, loss, frames, seen });
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

    /// Rewrites the time between `from` and `to`: `change` returns the new wait and loss of a stretch, or none
    /// if it stays. Folded stretches stay, since the order within a group is unknown.
    pub(crate) fn rewrite(
        &mut self,
        from: Time,
        to: Time,
        change: impl Fn(&Stretch) -> Option<(Wait, u32)>,
    ) {
        let first = self.stretches.partition_point(|stretch| stretch.to <= from);
        for stretch in self.stretches.split_off(first) {
            let (begins, ends) = (stretch.from.max(from), stretch.to.min(to));
            let changed = if stretch.is_folded() { None } else { change(&stretch) };
            let Some((wait, loss)) = changed.filter(|_| begins < ends) else {
                self.stretches.push(stretch);
                continue;
            };
            // Measurements stay with the first part.
            let mut seen = stretch.seen;
            for (from, to, inside) in
                [(stretch.from, begins, false), (begins, ends, true), (ends, stretch.to, false)]
            {
                if from < to {
                    let part =
                        Stretch { seen: std::mem::take(&mut seen), ..stretch.part(from, to) };
                    self.stretches.push(if inside { Stretch { wait, loss, ..part } } else { part });
                }
            }
        }
    }

    /// Replaces the number of each loss by the one at that place of `places`.
    pub(crate) fn renumber_losses(&mut self, places: &[u32]) {
        for stretch in &mut self.stretches {
            if let Some(place) = places.get(stretch.loss as usize) {
                stretch.loss = *place;
            }
        }
    }

    /// Folds neighbours until half of [`MOST`] are left.
    #[cold]
    fn thin(&mut self) {
        let mut spans: Vec<Span> = self.stretches.iter().map(Stretch::span).collect();
        spans.sort_unstable();
        let median = spans[spans.len() / 2];
        // Short groups first; then those of several losses, which are neighbours in time; longer ones last.
        let lengths = SHORT_GROUPS.into_iter().map(|times| (times, true));
        let longer = (2..63).map(|power| (1 << power, false));
        for (times, by_loss) in lengths.chain(longer) {
            if self.stretches.len() <= MOST / FOLDED_PART {
                return;
            }
            let longest = Span::from_nanos(median.as_nanos().saturating_mul(times));
            self.stretches = self.folded(longest, by_loss);
        }
    }

    /// Returns the stretches in groups no longer than `longest`; in a group, those of the same wait and side,
    /// and of the same loss if `by_loss`, are folded.
    fn folded(&self, longest: Span, by_loss: bool) -> Vec<Stretch> {
        let mut kept: Vec<Stretch> = Vec::with_capacity(MOST);
        let mut begins = 0;
        for unit in self.stretches.chunk_by(|one, next| (one.from, one.to) == (next.from, next.to))
        {
            let to = unit[0].to;
            if kept.get(begins).is_some_and(|first| to.saturating_since(first.from) > longest) {
                begins = kept.len();
            }
            let from = kept.get(begins).map_or(unit[0].from, |first| first.from);
            for part in unit {
                let same = |one: &&mut Stretch| {
                    (one.wait, one.side) == (part.wait, part.side)
                        && (one.loss == part.loss || !by_loss)
                };
                match kept[begins..].iter_mut().find(same) {
                    Some(found) => found.fold(part),
                    None => kept.push(*part),
                }
            }
            kept[begins..].iter_mut().for_each(|part| (part.from, part.to) = (from, to));
        }
        kept
    }

    /// All stretches, in order, each beginning where the one before ended.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settles `count` stretches of these waits in turn, `span` microseconds each; returns the account and the
    /// seconds of each wait.
    fn settled(
        waits: &[Wait],
        count: u64,
        span: impl Fn(u64) -> u64,
        loss: impl Fn(u64) -> u32,
    ) -> (Account, Vec<u64>) {
        let mut account = Account::begin(Time::from_nanos(10_000), 1);
        let mut sums = vec![0; waits.len()];
        let mut micros = 10;
        for step in 0..count {
            let kind = (step % waits.len() as u64) as usize;
            micros += span(step);
            sums[kind] += span(step) * 1000;
            account.settle(Time::from_nanos(micros * 1000), step + 2, waits[kind], 0, loss(step));
        }
        (account, sums)
    }

    fn assert_exact(account: &Account, waits: &[Wait], sums: &[u64]) {
        let stretches = account.stretches();
        assert!(stretches.len() <= MOST, "{}", stretches.len());
        for (wait, sum) in waits.iter().zip(sums) {
            let own = stretches.iter().filter(|stretch| stretch.wait == *wait);
            assert_eq!(own.map(|stretch| stretch.own.as_nanos()).sum::<u64>(), *sum, "{wait:?}");
        }
        let groups: Vec<&[Stretch]> =
            stretches.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)).collect();
        for group in &groups {
            let own: u64 = group.iter().map(|stretch| stretch.own.as_nanos()).sum();
            assert_eq!(own, group[0].to.saturating_since(group[0].from).as_nanos());
        }
        assert!(groups.windows(2).all(|pair| pair[0][0].to == pair[1][0].from));
        assert_eq!(stretches[0].from, Time::from_nanos(10_000));
        assert_eq!(stretches[stretches.len() - 1].to, account.settled());
    }

    #[test]
    fn keeps_the_seconds_of_each_wait_exact_however_many_stretches_there_are() {
        let waits = [Wait::Window, Wait::Idle(1), Wait::Transit, Wait::Nagle];
        for count in [100, 2_048, 2_049, 20_000, 100_000] {
            let uneven = |step: u64| 1 + step * 7919 % 20_011;
            let (account, sums) = settled(&waits, count, uneven, |_| NO_LOSS);
            assert_exact(&account, &waits, &sums);
            // A loss of its own for each.
            let (account, sums) = settled(&waits, count, uneven, |step| step as u32);
            assert_exact(&account, &waits, &sums);
        }
    }

    #[test]
    fn keeps_losses_apart_by_time_however_many_there_are() {
        let waits = [Wait::Recovery, Wait::Window];
        let (account, _) =
            settled(&waits, 20_000, |step| 1000 + step % 7, |step| (step / 2) as u32);
        // No part of the account stands for more than a hundredth of all losses.
        let recoveries = account.stretches().iter().filter(|one| one.wait == Wait::Recovery);
        let most = recoveries.map(|one| one.count).max();
        assert!(most <= Some(100), "{most:?}");
    }

    #[test]
    fn rewrites_only_the_time_between() {
        let waits = [Wait::Window, Wait::Idle(1)];
        let (mut account, _) = settled(&waits, 10, |_| 100, |_| NO_LOSS);
        let at = |micros: u64| Time::from_nanos(micros * 1000);
        account.rewrite(at(150), at(350), |stretch| {
            (stretch.wait == Wait::Idle(1)).then_some((Wait::Recovery, 7))
        });
        let changed = account.stretches().iter().filter(|stretch| stretch.wait == Wait::Recovery);
        let spans: Vec<u64> = changed.map(|stretch| stretch.own.as_nanos() / 1000).collect();
        assert_eq!(spans, [60, 40]);
        assert!(account.stretches().windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}
