//! Retransmissions: what triggered them, and when the recovery was over.

use super::connection::Connection;
use super::hearing::Heard;
use super::loss::{LINUX_TIMER, Loss, MOST_LOSSES, Recovery, Trigger};
use super::outstanding::Novelty;
use super::suspects::Suspect;
use crate::Seen;
use crate::account::Wait;
use ackord_units::{Span, Time};

/// No stack that is known waits less for its timer.
const SHORTEST_TIMER: Span = Span::from_millis(20);

/// Segments in a window of a sender that has more to send.
const BULK: u32 = 5;
/// Retransmissions that may be lost before one arrives.
const BACKOFFS: u32 = 8;
/// Packets lost of a sender that has no more to send, at most.
const SMALL_GAP: u32 = 6;
/// An application may think for this long before what it sends is lost; a longer rest is taken for its own.
const THINKING: Span = Span::from_secs(1);

impl Connection {
    /// Returns true if what fills a hole opened at `opened` was retransmitted, not overtaken: it arrived a round
    /// trip later, and is not a frame that was repeated on the air meanwhile.
    pub(super) fn is_retransmitted(&self, side: usize, opened: Time, at: Time) -> bool {
        if self.halves[side].air.as_ref().is_some_and(|air| air.is_behind) {
            return false;
        }
        // Of a round trip that is not known yet, the part to one end.
        let part = self.halves.iter().filter_map(|half| half.to.least).max();
        let least = self.base(side).max(part.unwrap_or_default());
        let late = at.saturating_since(opened);
        late.as_nanos() * 10 >= least.as_nanos() * 8 && late > Span::from_micros(200)
    }

    /// Notes a loss that only a gap in the sender's packet numbers shows: new bytes end a silence that a
    /// retransmission timer explains, and packets before them are missing by their numbers.
    pub(super) fn suspect(&mut self, seen: &Seen, side: usize, at: Time, to: u64) {
        let half = &self.halves[side];
        let silence = at.saturating_since(half.last_packet);
        // Missing packets may have been pure ACKs for what this one acknowledges.
        let acks = seen.ack != half.last_ack;
        let gap = u32::from(half.numbers.gap);
        if gap == 0
            || acks
            || seen.payload_len == 0
            || self.recoveries[side].is_some()
            || silence < LINUX_TIMER
        {
            return;
        }
        let timer = self.round_trip(side) + LINUX_TIMER;
        let window = (half.phase.window() / u64::from(half.mss())) as u32;
        let bulk = half.sending.last_len >= half.mss() && window >= BULK;
        let timers = timer * ((1 << gap.min(6)) - 1);
        let fits = match bulk {
            true => gap <= window + BACKOFFS,
            false => gap <= SMALL_GAP && silence <= timers + timer + THINKING,
        };
        if !fits || self.suspects.len() >= MOST_LOSSES {
            return;
        }
        let began = half.last_packet;
        let took = if bulk { silence } else { silence.min(timers) };
        let from = Time::from_nanos(at.as_nanos().saturating_sub(took.as_nanos())).max(began);
        let numbers = [seen.ip_id.wrapping_sub(half.numbers.gap), seen.ip_id];
        let loss = Loss { skipped: gap, silence, tail: false, ..self.loss((side, at), to, true) };
        let (from, to) = (self.when(side, from), self.when(side, at));
        self.suspects.push(Suspect { from, to, numbers, loss });
    }

    /// A sender that goes on as soon as a recovery is over had more to send: no tail was lost.
    pub(super) fn is_no_tail(&mut self, side: usize, at: Time) {
        let prompt = Span::from_nanos(self.round_trip(side).as_nanos() / 4);
        if self.recoveries[side].is_none()
            && let Some(loss) = self.losses.last_mut()
            && usize::from(loss.side) == side
            && at.saturating_since(loss.over) <= prompt.max(SHORTEST_TIMER)
        {
            loss.tail = false;
        }
    }

    /// Bytes that were seen before, or fill a hole a round trip later.
    pub(super) fn retransmission(
        &mut self,
        seen: &Seen,
        side: usize,
        at: Time,
        (from, to): (u64, u64),
        novelty: &Novelty,
    ) {
        let by_timer = self.by_timer(side, at);
        let acknowledged = self.halves[side].una >= to;
        match self.recoveries[side] {
            None => self.begin_recovery(seen, (side, at), to, by_timer, novelty),
            Some(recovery) => {
                self.settle(side, at, seen.frame, (Wait::Recovery, side, recovery.loss));
                let half = &self.halves[side];
                let silence = at.saturating_since(half.silent_since());
                let loss = &mut self.losses[recovery.loss as usize];
                loss.silent(silence);
                if by_timer {
                    loss.skipped += u32::from(half.numbers.gap);
                }
                loss.retransmitted += 1;
                if novelty.sends_before > 1 {
                    loss.again += 1;
                }
                if by_timer {
                    loss.timeouts += 1;
                    loss.trigger = Trigger::Timer;
                    let under_way = self.halves[side].under_way();
                    self.halves[side].phase.timed_out(under_way);
                }
            }
        }
        self.nothing_got_through(side, novelty);
        if let Some(recovery) = self.recoveries[side]
            && acknowledged
            && from < self.halves[side].una
        {
            // The acknowledgment had passed here, but not reached the sender.
            self.losses[recovery.loss as usize].unneeded += 1;
        }
        self.talker = side;
    }

    /// If a retransmission fills a hole that ended a silence, nothing got through during the silence.
    fn nothing_got_through(&mut self, side: usize, novelty: &Novelty) {
        let half = &mut self.halves[side];
        if let Some(opened) = novelty.hole_opened
            && let Some(silence) = half.silence.take_if(|silence| silence.ended == opened)
        {
            let (from, to) = silence.span;
            let side = side as u8;
            self.account.rewrite(from, to, |stretch| {
                (stretch.side == side || matches!(stretch.wait, Wait::Idle(_)))
                    .then_some((Wait::Stalled, stretch.loss))
            });
        }
    }

    /// Whether nothing that was heard can have triggered a retransmission now.
    fn by_timer(&self, side: usize, at: Time) -> bool {
        let half = &self.halves[side];
        let rtt = self.round_trip(side);
        let prompt = Span::from_nanos(rtt.as_nanos() / 3).max(SHORTEST_TIMER);
        let last = half.silent_since();
        at.saturating_since(half.hearing.last) > prompt && at.saturating_since(last) > prompt
    }

    fn begin_recovery(
        &mut self,
        seen: &Seen,
        (side, at): (usize, Time),
        to: u64,
        by_timer: bool,
        novelty: &Novelty,
    ) {
        let loss = self.note_loss((side, at), to, by_timer);
        self.recoveries[side] = Some(Recovery {
            loss,
            until: self.halves[side].next,
            first: at,
            first_to: to,
            stamp: seen.timestamps.map(|(value, _)| value),
        });
        if by_timer {
            self.timed_out(seen, (side, at), loss);
        } else {
            self.told_by_acks(seen, (side, at), loss, novelty.hole_opened);
        }
    }

    /// Notes a loss whose first retransmission ends before the byte `to`; returns its number.
    fn note_loss(&mut self, (side, at): (usize, Time), to: u64, by_timer: bool) -> u32 {
        if self.losses.len() < MOST_LOSSES {
            let loss = self.loss((side, at), to, by_timer);
            self.losses.push(loss);
        }
        self.losses.len() as u32 - 1
    }

    /// Returns a loss whose first retransmission ends before the byte `to`.
    fn loss(&self, (side, at): (usize, Time), to: u64, by_timer: bool) -> Loss {
        let half = &self.halves[side];
        let (under_way, sacked) = half.flight.counts();
        let silence = at.saturating_since(half.silent_since());
        let in_silence = at.saturating_since(half.last_packet) >= LINUX_TIMER;
        Loss {
            side: side as u8,
            at,
            silent_since: half.hearing.last,
            silence,
            over: at,
            trigger: if by_timer { Trigger::Timer } else { Trigger::Acks },
            timeouts: u16::from(by_timer),
            bytes: 0,
            retransmitted: 1,
            again: 0,
            under_way,
            under_way_bytes: half.under_way(),
            sacked,
            unneeded: 0,
            early: false,
            unheard: None,
            window: (half.phase.window() / u64::from(half.mss())) as u32,
            skipped: if in_silence { u32::from(half.numbers.gap) } else { 0 },
            rtt: self.rtt[side],
            tail: to >= half.next,
        }
    }

    /// Settles the silence before a timeout: all of it was for the loss.
    fn timed_out(&mut self, seen: &Seen, (side, at): (usize, Time), loss: u32) {
        self.settle(side, at, seen.frame, (Wait::Recovery, side, loss));
        let under_way = self.halves[side].under_way();
        self.halves[side].phase.timed_out(under_way);
    }

    /// Acknowledgments told of the loss; `opened` is when the hole was that is filled now.
    fn told_by_acks(
        &mut self,
        seen: &Seen,
        (side, at): (usize, Time),
        loss: u32,
        opened: Option<Time>,
    ) {
        let before = self.last_loss_before(side, loss);
        let wait = match self.halves[side].phase.is_slow_start() {
            true => Wait::SlowStart,
            false => Wait::Window,
        };
        self.settle(side, at, seen.frame, (wait, side, before));
        if let Some(opened) = opened {
            // Lost before the capture point: the sender learnt it from the next segment's ACK.
            let learnt = opened + self.base(side);
            self.account.was_recovery(self.when(side, learnt.min(at)), loss);
        }
        self.halves[side].phase.lost();
    }

    fn last_loss_before(&self, side: usize, index: u32) -> u32 {
        let mut earlier = self.losses[..(index as usize).min(self.losses.len())].iter();
        let found = earlier.rposition(|loss| usize::from(loss.side) == side);
        found.map_or(crate::account::NO_LOSS, |before| before as u32)
    }

    /// The sender hears an acknowledgment while it recovers, or a report of bytes that came twice.
    pub(super) fn heard_in_recovery(&mut self, side: usize, heard: &Heard) {
        let base = self.base(side);
        let recovery = self.recoveries[side];
        let index = recovery.map_or_else(|| self.last_loss(side), |recovery| recovery.loss);
        if let Some(loss) = self.losses.get_mut(index as usize) {
            loss.unneeded += u32::from(heard.dsack);
            if let Some(recovery) = recovery
                && loss.over == loss.at
                && heard.ack >= recovery.first_to
            {
                loss.over = heard.due;
                let after = heard.due.saturating_since(recovery.first);
                loss.early = match (heard.echo, recovery.stamp) {
                    (Some(echo), Some(stamp)) => {
                        !heard.dsack && (echo.wrapping_sub(stamp) as i32) < 0
                    }
                    _ => !heard.sack && after.as_nanos() * 10 < base.as_nanos() * 7,
                };
            }
        }
        if let Some(recovery) = recovery
            && heard.ack >= recovery.until
        {
            self.settle(side, heard.due, heard.frame, (Wait::Recovery, side, recovery.loss));
            self.recoveries[side] = None;
            let half = &self.halves[side];
            if let Some(loss) = self.losses.get_mut(recovery.loss as usize) {
                loss.over = heard.due;
                loss.tail |= half.next == recovery.until;
            }
        }
    }
}
