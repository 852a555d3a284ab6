//! What is lost on the wireless hop, and sending it again.

use super::{Answer, Asks, Inference, LocalRecovery, MOST_AT_ONCE, again};
use crate::proxy::{Cached, Lane, Outbox};
use ackord_events::ProxySending;
use ackord_units::{Seq, Time};
use ackord_wire::Segment;

/// What blocks above an acknowledgment say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    /// There are none: the mobile does not speak SACK, or there is nothing to report.
    None,
    /// Data above the acknowledgment has arrived.
    Above,
    /// Only data below it, once more (RFC 2883).
    Below,
}

fn blocks(segment: &Segment) -> Blocks {
    let blocks = segment.options.sack.as_slice();
    if blocks.is_empty() {
        Blocks::None
    } else if blocks.iter().any(|block| block.end.after(segment.ack)) {
        Blocks::Above
    } else {
        Blocks::Below
    }
}

impl LocalRecovery {
    /// The mobile has acknowledged more.
    pub(super) fn on_progress(&mut self, now: Time, segment: &Segment) {
        let least = self.round_trip.least();
        let mut sampled = None;
        for cached in self.cache.iter() {
            let seq = cached.segment().seq;
            if cached.segment().end_seq().after(segment.ack) {
                break;
            }
            let took = now.saturating_since(cached.sent_at);
            let ambiguous = cached.resent > 0 || self.is_senders(cached.segment());
            if !ambiguous {
                // RFC 6298 §3: only of what was sent once, the newest.
                sampled = Some(took);
            }
            // Sooner than any round trip: it is the first sending that has arrived, so the second
            // will be answered with a duplicate.
            if ambiguous && least.is_some_and(|least| took < least) {
                self.echoes = self.echoes.saturating_add(cached.resent);
            } else {
                self.delivered.note(cached.lane, (cached.sent_at, seq));
            }
        }
        // What duplicates were about had arrived before.
        if let Some(took) = sampled.filter(|_| self.duplicates == 0) {
            self.round_trip.sample(took);
        }
        self.cache.acknowledge(segment.ack);
        (self.duplicates, self.expected) = (0, 0);
        (self.since, self.progress_at) = (self.delivered.in_turn.0, now);
        self.echoes_until = now + self.timeout();
        self.answers_sender = self.by_sender_up_to.is_some();
        let still_below = |up_to: &Seq| segment.ack.before(*up_to);
        self.by_sender_up_to = self.by_sender_up_to.filter(still_below);
        self.reported_up_to = self.reported_up_to.filter(still_below);
        // Nothing above the hole that was just filled is known to have arrived, but something sent
        // after it has: all of it was lost, as when the link was out.
        let first_lost = self.cache.first().is_some_and(|first| self.is_overtaken(first));
        if first_lost && self.reported_up_to.is_none() {
            self.has_backlog = true;
        }
    }

    /// Marks what SACK blocks report, and learns from it what was delivered.
    pub(super) fn mark_sacked(&mut self, now: Time, segment: &Segment) {
        let least = self.round_trip.least();
        for block in segment.options.sack.as_slice() {
            for cached in self.cache.iter_mut() {
                let (start, end) = (cached.segment().seq, cached.segment().end_seq());
                if cached.sacked || start.before(block.start) || end.after(block.end) {
                    continue;
                }
                cached.sacked = true;
                let took = now.saturating_since(cached.sent_at);
                if cached.resent == 0 || least.is_some_and(|least| took >= least) {
                    self.delivered.note(cached.lane, (cached.sent_at, start));
                }
            }
        }
    }

    /// An acknowledgment of nothing new: does it ask for something, and is that being recovered?
    pub(super) fn on_asked(
        &mut self,
        now: Time,
        segment: &Segment,
        asks: Asks,
        out: &mut Outbox,
    ) -> Answer {
        let blocks = match self.config.inference {
            // In 1995 there were none.
            Inference::Duplicates => Blocks::None,
            Inference::Deliveries => blocks(segment),
        };
        match (blocks, asks) {
            (Blocks::Below, _) | (Blocks::None, Asks::ByBlocksOnly) => return Answer::Other,
            (Blocks::None, Asks::Duplicate) if self.echoes > 0 && now < self.echoes_until => {
                self.echoes -= 1;
                return Answer::Recovered;
            }
            _ => self.duplicates = self.duplicates.saturating_add(1),
        }
        self.reported_up_to = self.seen.sent_up_to();
        match blocks {
            Blocks::Above => {
                self.mark_sacked(now, segment);
                self.recover(now, segment, out);
            }
            Blocks::Below | Blocks::None => self.learn_from_count(),
        }
        let Some(first) = self.first_missing(segment.ack) else { return Answer::Unrecovered };
        match blocks {
            _ if self.is_senders(first.segment()) => Answer::Unrecovered,
            Blocks::Above if first.resent > 0 && !self.is_given_up(first) => Answer::Recovered,
            Blocks::Above => Answer::Unrecovered,
            Blocks::Below | Blocks::None => self.count_duplicate(now, segment.ack, out),
        }
    }

    /// So many duplicates, so many segments behind the missing one have arrived: at least the
    /// so-many-th has been delivered.
    fn learn_from_count(&mut self) {
        let behind = usize::try_from(self.duplicates).unwrap_or(usize::MAX);
        let at_least = self.cache.iter().nth(behind).filter(|cached| cached.resent == 0);
        if let Some(sent) = at_least.map(|cached| (cached.sent_at, cached.segment().seq)) {
            self.delivered.note(Lane::Queue, sent);
        }
    }

    /// A duplicate that says no more than that something has arrived.
    fn count_duplicate(&mut self, now: Time, una: Seq, out: &mut Outbox) -> Answer {
        let Some(first) = self.first_missing(una) else { return Answer::Unrecovered };
        let (resent, tries) = (first.resent, self.config.tries);
        if resent == 0 && self.duplicates < self.config.dupacks {
            return Answer::Unrecovered;
        }
        if resent > 0 && self.expected > 0 {
            self.expected -= 1;
            return Answer::Recovered;
        }
        // More than expected: what was retransmitted is lost again. Balakrishnan et al. leave that to
        // the timer.
        let once_only = self.config.inference == Inference::Duplicates;
        if resent >= tries || (resent > 0 && once_only) {
            return Answer::Unrecovered;
        }
        let since = self.since;
        let above = self.cache.iter().skip(1).filter(|cached| cached.sent_at > since).count();
        self.expected = u32::try_from(above).unwrap_or(u32::MAX).saturating_sub(self.duplicates);
        let lane = self.config.lane;
        if let Some(first) = self.cache.first_mut() {
            resend(now, lane, first, out);
        }
        Answer::Recovered
    }

    /// Retransmits everything that is lost, as far as it may at once.
    pub(super) fn recover(&mut self, now: Time, segment: &Segment, out: &mut Outbox) {
        let Some(first) = self.cache.first() else { return };
        let first_lost = self.is_overtaken(first);
        let nothing_new = segment.options.sack.is_empty() && !self.has_backlog;
        if self.config.inference == Inference::Duplicates || (nothing_new && !first_lost) {
            return;
        }
        let any_sacked = self.cache.iter().any(|cached| cached.sacked);
        // Without SACK it is known of the first only, unless nothing behind it had arrived.
        let reach = if any_sacked || self.has_backlog { usize::MAX } else { 1 };
        let (delivered, tries, lane) = (self.delivered, self.config.tries, self.config.lane);
        let (mut sent, mut left) = (0, false);
        for cached in self.cache.iter_mut().take(reach) {
            if cached.sacked || cached.resent >= tries || !delivered.overtook(cached) {
                continue;
            }
            if sent == MOST_AT_ONCE {
                left = true;
                break;
            }
            resend(now, lane, cached, out);
            sent += 1;
        }
        self.has_backlog = left;
    }

    /// Whether something sent after it has arrived.
    fn is_overtaken(&self, cached: &Cached) -> bool {
        self.delivered.overtook(cached)
    }

    /// The segment the mobile asks for, if it is cached.
    pub(super) fn first_missing(&self, una: Seq) -> Option<&Cached> {
        self.cache.first().filter(|first| first.segment().seq.at_or_before(una))
    }

    /// Whether a segment has been retransmitted as often as it may, and is lost once more.
    pub(super) fn is_given_up(&self, cached: &Cached) -> bool {
        cached.resent >= self.config.tries && self.is_overtaken(cached)
    }
}

fn resend(now: Time, lane: Lane, cached: &mut Cached, out: &mut Outbox) {
    cached.resent += 1;
    (cached.sent_at, cached.lane) = (now, lane);
    let (packet, what) = (again(&cached.packet), ProxySending::Retransmission);
    match lane {
        Lane::Queue => out.send(packet, what),
        Lane::First => out.send_first(packet, what),
    }
}
