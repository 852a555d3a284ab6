//! What the time before a data segment was spent on.
//!
//! The gap since the account was last written is judged when new bytes pass: did the sender wait for
//! an acknowledgment, and what for then, or did its application come with them only now?

use super::connection::{Connection, Setup};
use super::half::Silence;
use super::outstanding::Passing;
use crate::account::{NO_LOSS, Wait};
use crate::{Point, PointKind, Seen};
use ackord_units::{Span, Time};

/// An acknowledgment that is later than the round trip by this much was delayed (10 ms and more are
/// taken for a wait that a person would notice).
const DELAYED: Span = Span::from_millis(10);
/// A sender answers an acknowledgment within this, or a quarter of the round trip.
const PROMPT: Span = Span::from_millis(1);
/// Timers by which receivers delay ACKs, with what the host adds.
const DELAYED_LEAST: Span = Span::from_millis(20);
const DELAYED_MOST: Span = Span::from_millis(550);
/// A sender that waits longer for the ACK of one segment may probe with new bytes (RFC 8985 §7.2).
const PROBED: Span = Span::from_millis(200);
/// A queue measured within this time still stands.
const RECENTLY: Span = Span::from_secs(1);
/// No receiver delays an ACK for a second segment this long.
const STALLED: Span = Span::from_millis(250);
/// A path that holds a packet this long at once does not queue: it is out.
const HELD: Span = Span::from_millis(100);
/// A capture point nearer than this to an end is beside it.
const BESIDE: Span = Span::from_millis(1);
/// So many ACKs in a row that a sender leaves unanswered show that it has nothing at hand.
const UNANSWERED: u32 = 3;
/// And so many segments, and this part of the window, acknowledged meanwhile.
const DRAINED: u64 = 6;
const DRAINED_PART: u64 = 4;
/// Segments under way at most for a window that a delayed ACK holds.
const SMALL_WINDOW: u64 = 4;

impl Connection {
    /// A segment with bytes, or a FIN.
    pub(super) fn data(&mut self, seen: &Seen, side: usize, at: Time, fin: bool) {
        let trip = self.base(side);
        let half = &mut self.halves[side];
        let from = half.offset(seen.seq);
        let to = from + u64::from(seen.payload_len) + u64::from(fin);
        half.counts.segments += 1;
        half.size.longest = half.size.longest.max(seen.payload_len);
        let long = half.size.option.is_some_and(|mss| seen.payload_len > u32::from(mss).max(536));
        if long || seen.ip_len > 9216 {
            self.faults.get_or_insert_default().long_segments.add(1, seen.frame);
        }
        if half.is_probe(seen.payload_len, from, to) {
            return;
        }
        let (mss, next) = (half.mss(), half.next);
        let missed = match from > next {
            true => half.sending.missed(at, (mss, trip)),
            false => Passing::default(),
        };
        let passing = half.sending.pass(at, seen.payload_len, (mss, trip));
        let novelty = half.flight.sent((from, to), next, passing, missed);
        half.counts.bytes += novelty.new + novelty.filled - u64::from(fin && novelty.again == 0);
        half.fin_sent |= fin;
        let late = novelty.hole_opened.filter(|_| novelty.filled > 0);
        let missed = novelty.missed.filter(|_| late.is_some());
        let sent_before = missed.or(novelty.sent_before);
        let next = half.next.max(to);
        let overtaken = late.is_some_and(|opened| !self.is_retransmitted(side, opened, at));
        if novelty.new > 0 && novelty.again == 0 {
            self.suspect(seen, side, at, to);
        }
        if novelty.again > 0 || (late.is_some() && !overtaken) {
            self.retransmission(seen, side, at, (from, to), &novelty);
            self.halves[side].sent_again(seen.payload_len, novelty.sends_before);
            self.halves[side].given_up_on_air(seen, at);
            // A FIN takes a sequence number, but is no byte.
            let fin_again = fin && to <= self.halves[side].next && novelty.again > 0;
            let bytes = novelty.again + novelty.filled - u64::from(fin_again);
            self.halves[side].counts.retransmitted += bytes;
            let loss = self.last_loss(side);
            if let Some(loss) = self.losses.get_mut(loss as usize) {
                loss.bytes += bytes;
            }
            if let (Some(sent), Some(recovery)) = (sent_before, self.recoveries[side]) {
                let seen = if late.is_some() { 0 } else { seen.payload_len };
                self.halves[side].dropped(sent, from, seen, recovery.loss);
            }
        } else if overtaken {
            self.halves[side].counts.reordered += 1;
        } else {
            self.note_silence(side, from, at);
            match self.was_held(side, at) {
                Some(sent) => {
                    self.before_new(side, sent, seen);
                    let loss = self.last_loss(side);
                    self.settle(side, at, seen.frame, (Wait::Stalled, side, loss));
                }
                None => self.before_new(side, at, seen),
            }
            self.halves[side].next = next;
            self.after_new(side, at, seen.payload_len);
        }
        let half = &mut self.halves[side];
        half.next = next;
        half.sending.last = at;
        self.point(seen, (side, at), (from, to), &novelty, overtaken);
    }

    fn point(
        &mut self,
        seen: &Seen,
        (side, at): (usize, Time),
        (from, to): (u64, u64),
        novelty: &super::outstanding::Novelty,
        overtaken: bool,
    ) {
        if let Some(points) = &mut self.points {
            let kind = match novelty {
                _ if overtaken => PointKind::OutOfOrder,
                novelty if novelty.again > 0 || novelty.filled > 0 => PointKind::Retransmission,
                _ => PointKind::Data,
            };
            let t = crate::diagnosis::since(at, self.began);
            points.push((side as u8, Point { t, kind, from, to, frame: seen.frame }));
        }
    }

    /// When `side` did what is seen at `at`: it took half a round trip to come here.
    pub(crate) fn when(&self, side: usize, at: Time) -> Time {
        let away = self.halves[side].to.least.unwrap_or_default().as_nanos() / 2;
        Time::from_nanos(at.as_nanos().saturating_sub(away))
    }

    /// Writes what the time was spent on until `actor` did what is seen at `at`.
    pub(super) fn settle(&mut self, actor: usize, at: Time, frame: u64, of: (Wait, usize, u32)) {
        let (wait, side, loss) = of;
        self.account.settle(self.when(actor, at), frame, wait, side as u8, loss);
    }

    /// The round trip as it is now, from end to end.
    pub(super) fn round_trip(&self, side: usize) -> Span {
        self.rtt[side].max(self.base(side))
    }

    /// The shortest round trip from end to end: of data and their ACKs, or the ways to both ends together.
    pub(crate) fn base(&self, side: usize) -> Span {
        let both = match [self.halves[0].to.least, self.halves[1].to.least] {
            [Some(client), Some(server)] => Some(client + server),
            _ => None,
        };
        let least = self.base_rtt[side].into_iter().chain(both).min();
        least.unwrap_or_default()
    }

    /// Settles the time before new bytes of `side`.
    fn before_new(&mut self, side: usize, at: Time, seen: &Seen) {
        let frame = seen.frame;
        if self.setup != Setup::Unseen && self.setup != Setup::Done {
            // Data with what completes the handshake, or before it (RFC 7413).
            self.setup = Setup::Done;
            self.settle(side, at, frame, (Wait::Handshake, side, NO_LOSS));
        }
        self.is_no_tail(side, at);
        if let Some(recovery) = self.recoveries[side] {
            self.talker = side;
            self.settle(side, at, frame, (Wait::Recovery, side, recovery.loss));
            return;
        }
        if side != self.talker {
            let (before, talker) = (self.talker, side);
            let loss = self.last_loss(before);
            if let Some(recovery) = self.recoveries[before] {
                self.settle(side, at, frame, (Wait::Recovery, before, recovery.loss));
            } else if self.both_talk(before, at) {
                let wait = self.window_wait(before, at);
                self.settle(side, at, frame, (wait, before, loss));
            } else {
                self.quiet(before, talker, at, frame);
            }
            self.talker = side;
            return;
        }
        let half = &self.halves[side];
        let prompt = PROMPT.max(Span::from_nanos(self.round_trip(side).as_nanos() / 4));
        let heard = half.hearing.last > half.sending.last_new && half.hearing.last > Time::ZERO;
        let clocked = heard && at.saturating_since(half.hearing.last) <= prompt;
        let paced = Span::from_nanos(half.sending.spacing.as_nanos().saturating_mul(3)).max(prompt);
        let full = half.sending.last_len >= half.mss() && half.under_way() > 0;
        let keeps_on = full && at.saturating_since(half.sending.last_new) <= paced;
        if clocked || keeps_on {
            let loss = self.last_loss(side);
            let wait = self.window_wait(side, at);
            let half = &self.halves[side];
            if seen.payload_len >= half.mss().min(half.size.longest)
                && let Some(since) = self.unfilled(side, at, wait)
            {
                self.settle(side, since, frame, (wait, side, loss));
                self.settle(side, at, frame, (Wait::Unfilled, side, loss));
            }
            self.settle(side, at, frame, (wait, side, loss));
        } else {
            self.quiet(side, side, at, frame);
        }
    }

    /// Returns when this packet was sent, if the path held it for long: nothing arrived for as long as it waited.
    fn was_held(&self, side: usize, at: Time) -> Option<Time> {
        let half = &self.halves[side];
        // Between the sender and a capture point beside it nothing holds packets: its clock stood still.
        if half.to.least.is_some_and(|least| least < BESIDE) {
            return None;
        }
        let silence = at.saturating_since(half.last_packet);
        let held = half.lateness.now >= HELD
            && half.lateness.before.as_nanos() * 2 < half.lateness.now.as_nanos()
            && silence.as_nanos() * 10 >= half.lateness.now.as_nanos() * 6;
        let since = at.saturating_since(Time::ZERO).saturating_sub(half.lateness.now);
        held.then_some((Time::ZERO + since).max(self.account.settled()))
    }

    /// Notes a silence much longer than a round trip that ends with a segment behind a hole. If a
    /// retransmission fills the hole, nothing got through meanwhile; until then the capture may lack the bytes.
    fn note_silence(&mut self, side: usize, from: u64, at: Time) {
        let half = &self.halves[side];
        let silence = at.saturating_since(half.last_packet);
        if from > half.next && silence >= STALLED.max(self.base(side) * 3) {
            let began = half.last_packet.max(self.account.settled());
            let span = (self.when(side, began), self.when(side, at));
            self.halves[side].silence = Some(Box::new(Silence { ended: at, span }));
        }
    }

    /// Whether the other end keeps sending beside: no turn is taken then.
    fn both_talk(&self, before: usize, at: Time) -> bool {
        let half = &self.halves[before];
        // All that it sent has been acknowledged: its turn may be over.
        let spacing = if half.una >= half.next { PROMPT } else { half.sending.spacing * 3 };
        let recent = at.saturating_since(half.sending.last_new) <= PROMPT.max(spacing);
        recent && half.under_way() > u64::from(half.mss()) * 2
    }

    /// Notes what was sent for what comes next.
    fn after_new(&mut self, side: usize, at: Time, len: u32) {
        let under_way = self.halves[side].sent_new(at, len);
        if side == self.talker {
            self.account.now.flight = self.account.now.flight.max(under_way);
        }
        let life = at.saturating_since(self.began);
        let rtt = self.round_trip(side);
        self.account.longest(rtt, life);
    }

    pub(super) fn last_loss(&self, side: usize) -> u32 {
        match self.losses.last() {
            Some(last) if usize::from(last.side) == side => self.losses.len() as u32 - 1,
            _ => {
                let found = self.losses.iter().rposition(|loss| usize::from(loss.side) == side);
                found.map_or(NO_LOSS, |index| index as u32)
            }
        }
    }

    /// Returns how the receiver's window held the sender, if it did: it let no full segment go. Senders take
    /// half of the largest window for a full segment where that is less (RFC 1122 §4.2.3.4).
    fn shut(&self, side: usize, at: Time) -> Option<Wait> {
        let half = &self.halves[side];
        let (una, edge) = half.hearing.waited_with(half.sending.last_new, at);
        let edge = edge?;
        let full = u64::from(half.mss()).min((half.hearing.widest / 2).max(1));
        if edge >= half.next + full {
            return None;
        }
        let window = edge.saturating_sub(una);
        Some(match window {
            0 => Wait::ZeroWindow,
            // All of it is free, and still too small: the receiver's buffer is full of bytes not read.
            _ if una >= half.next => Wait::ZeroWindow,
            _ if window * 2 < half.hearing.widest => Wait::SlowReader,
            _ => Wait::ReceiverWindow,
        })
    }

    /// The sender waited for an acknowledgment: why could it not send before?
    fn window_wait(&self, side: usize, at: Time) -> Wait {
        let half = &self.halves[side];
        let mss = u64::from(half.mss());
        if let Some(wait) = self.shut(side, at) {
            return wait;
        }
        let (una, _) = half.hearing.waited_with(half.sending.last_new, at);
        let waited = self.when(side, at).saturating_since(self.account.settled());
        let under_way = half.next.saturating_sub(una);
        let base = self.base(side);
        let silence = half.hearing.longest_silence().min(waited);
        if under_way >= 2 * mss && silence >= base * 2 + STALLED {
            return Wait::Stalled;
        }
        if u64::from(half.sending.last_len) < mss && waited >= base + DELAYED && under_way < mss {
            return Wait::Nagle;
        }
        if under_way <= SMALL_WINDOW * mss && waited >= base + DELAYED * 2 {
            return Wait::DelayedAck;
        }
        match half.phase.is_slow_start() {
            true => Wait::SlowStart,
            false => Wait::Window,
        }
    }

    /// Since when the sender had a window for more bytes and did not send them: ACK after ACK came and
    /// nothing was sent for it, and still bytes were under way. What its own queue at the bottleneck
    /// took to drain is not part of it.
    fn unfilled(&mut self, side: usize, at: Time, wait: Wait) -> Option<Time> {
        // Most segments answer the ACK before them.
        if self.halves[side].sending.acks_since <= UNANSWERED {
            return None;
        }
        let settled = self.account.settled();
        let base = self.base(side);
        let recovered = self.losses.get(self.last_loss(side) as usize).map(|loss| loss.over);
        let half = &mut self.halves[side];
        let mss = u64::from(half.mss());
        let drained = half.sending.drained();
        let windows = matches!(wait, Wait::Window | Wait::SlowStart);
        let unused = drained >= (DRAINED * mss).max(half.phase.window() / DRAINED_PART);
        let sent_since = recovered.is_none_or(|over| over < half.sending.last_new);
        if !windows || !unused || !sent_since || half.under_way() <= 4 * mss {
            return None;
        }
        let (drain_rate, is_slow) = half.sending.drain(at);
        if is_slow {
            return Some(settled);
        }
        let left =
            Span::from_secs_f64((half.under_way() as f64 / drain_rate).min(base.as_secs_f64()));
        let idle = base.saturating_sub(left).as_nanos();
        let since = at.saturating_since(Time::ZERO).as_nanos().saturating_sub(idle);
        Some(Time::from_nanos(since).max(settled))
    }

    /// Returns how long the last bytes of `side` took to the other end and their ACK back, without the time for
    /// which the receiver may have delayed it (RFC 9293 §3.8.6.3): `took` is all of it.
    fn undelayed(&self, side: usize, took: Span, at: Time) -> Span {
        let (half, base) = (&self.halves[side], self.base(side));
        let extra = took.saturating_sub(base);
        let delayable = u64::from(half.sending.last_len) < 2 * u64::from(half.mss());
        if !delayable || !(DELAYED_LEAST..=DELAYED_MOST).contains(&extra) {
            return took;
        }
        // A queue delays ACKs that no timer delays as much.
        let (measured, undelayed) = self.rtt_undelayed[side];
        let recent = at.saturating_since(measured) <= RECENTLY.max(base * 10);
        let queue = if recent { undelayed.saturating_sub(base) } else { Span::ZERO };
        base + queue.min(extra)
    }

    /// Returns when an answer of `next` to the last bytes of `before` would have passed here at the earliest:
    /// with their acknowledgment, where that came by itself and was not delayed. Bytes that were repeated on the air
    /// arrived with the last repetition.
    fn answerable(&self, before: usize, next: usize, at: Time) -> Time {
        let (half, to) = (&self.halves[before], &self.halves[next].to);
        let repeated = half.air.as_ref().map_or(Time::ZERO, |air| air.repeated_at);
        let sent = half.sending.last.max(self.set_up).max(repeated);
        let least = sent + to.least.unwrap_or_default();
        if half.una < half.next || half.una_at >= at {
            return least;
        }
        let back = half.una_at.saturating_since(sent);
        let ahead = half.lag();
        let undelayed = self.undelayed(before, back + ahead, at).saturating_sub(ahead);
        (sent + undelayed.min(back)).max(least)
    }

    /// Returns when the bytes that `side` has under way could have been acknowledged, if only a delayed ACK is
    /// missing (RFC 9293 §3.8.6.3): `side` sends more at `at` without it, so it does not wait for it.
    fn deliverable(&self, side: usize, at: Time) -> Option<Time> {
        let (half, base) = (&self.halves[side], self.base(side));
        let mss = half.mss();
        // A short segment is the last of what its application had written.
        let all_sent = half.sending.last_len < mss;
        let missing = half.next.saturating_sub(half.una);
        let delayable = missing > 0 && missing < 2 * u64::from(mss);
        let waited = at.saturating_since(half.sending.last);
        // An ACK covers all that had arrived. Bytes that were sent a round trip before it waited in a queue.
        let oldest = half.flight.oldest().unwrap_or(half.sending.last);
        let trip = self.halves[1 - side].to.least.unwrap_or(base);
        let covered = oldest + trip + PROMPT.max(Span::from_nanos(trip.as_nanos() / 4));
        let queued = covered < half.una_at;
        let is_delayed = all_sent && delayable && !queued && waited < PROBED;
        (is_delayed && base > Span::ZERO).then_some(half.sending.last + base)
    }

    /// Settles a time in which no window held a sender: bytes were on their way, then an application was
    /// silent. `before` sent last, `next` has sent now.
    pub(super) fn quiet(&mut self, before: usize, next: usize, at: Time, frame: u64) {
        let half = &self.halves[before];
        let loss = self.last_loss(before);
        let arrived = if before == next {
            // Until all of it was acknowledged, as far as it was.
            match half.under_way() {
                0 => {
                    let sent = half.sending.last.max(self.set_up);
                    let took = half.hearing.last_more.saturating_since(sent);
                    sent + self.undelayed(before, took, at)
                }
                _ => self.deliverable(before, at).unwrap_or(at),
            }
        } else {
            self.answerable(before, next, at)
        };
        let arrived = arrived.min(at);
        // What waited on its way here had been sent before.
        let late = self.halves[next].lateness.now;
        let sent = arrived.max(Time::ZERO + at.saturating_since(Time::ZERO).saturating_sub(late));
        self.settle(next, arrived, frame, (Wait::Transit, before, loss));
        if self.halves[next].fin_sent && before == next {
            self.settle(next, at, frame, (Wait::Idle(1 - next as u8), next, loss));
            return;
        }
        let wait = self.shut(next, sent).unwrap_or(Wait::Idle(next as u8));
        self.settle(next, sent.min(at), frame, (wait, next, loss));
        if sent < at {
            self.settle(next, at, frame, (Wait::Queued, next, loss));
        }
    }
}
