//! What a packet says of the other direction: acknowledged, arrived behind a hole, window.

use super::connection::{Connection, Setup};
use super::half::Half;
use super::hearing::Heard;
use super::outstanding::Acknowledged;
use crate::account::{NO_LOSS, Wait};
use crate::{Point, PointKind, Seen};
use ackord_units::Time;
use ackord_wire::Flags;

/// What the SACK blocks of a packet report.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    /// Bytes that arrived twice (RFC 2883).
    twice: bool,
    /// Bytes behind a hole (RFC 2018).
    behind: bool,
}

impl Connection {
    /// What this packet acknowledges of the other direction.
    pub(super) fn ack(&mut self, seen: &Seen, side: usize, at: Time) {
        if self.setup == Setup::SynReceived && side == 0 {
            self.complete_handshake(seen.frame, at);
        }
        let sender = 1 - side;
        let scale = match seen.flags.contains(Flags::SYN) {
            true => Some(0),
            false => self.halves[sender].scale.and(self.halves[side].scale),
        };
        let half = &mut self.halves[sender];
        let ack = half.offset(seen.ack);
        let edge = match (scale, seen.window) {
            (Some(shift), window) => Some(ack + (u64::from(window) << shift.min(14))),
            // Zero, whatever the scale.
            (None, 0) => Some(ack),
            (None, _) => None,
        };
        let before = half.counts.missing.count;
        let mut all = half.take_ack(ack, seen.frame, at);
        if half.counts.missing.count > before {
            self.uncaptured(sender, seen, at);
        }
        let half = &mut self.halves[sender];
        let reported = half.take_sacks(seen, ack, &mut all);
        self.points_of_ack(seen, sender, at, (ack, edge));
        if sender == self.talker {
            self.account.now.acked += all.delivered;
        }
        if let Some(recovery) = self.recoveries[sender]
            && all.delivered > 0
        {
            self.losses[recovery.loss as usize].unheard.get_or_insert(all.once);
        }
        let lag = self.halves[sender].lag();
        if let Some(sent) = all.sent {
            let full = all.delivered >= 2 * u64::from(self.halves[sender].mss());
            self.measure(seen, sender, at, (sent, full));
        }
        let heard = Heard {
            due: at + lag,
            ack,
            edge,
            frame: seen.frame,
            stamp: seen.timestamps.map(|(value, _)| value),
            echo: seen.timestamps.map(|(_, echo)| echo),
            dsack: reported.twice,
            sack: reported.behind,
        };
        let half = &mut self.halves[sender];
        if half.hearing.next().is_none() && heard.due <= at {
            self.heard(sender, &heard);
        } else {
            half.hearing.under_way(heard);
        }
    }

    /// Bytes were acknowledged that the capture does not have: if it has nothing at all of the time in which
    /// they passed, that time is not known.
    fn uncaptured(&mut self, sender: usize, seen: &Seen, at: Time) {
        let (from, to) = self.blank;
        let since = at.saturating_since(to);
        if from < to && since <= self.round_trip(sender) * 2 {
            let loss = self.last_loss(sender);
            self.account.settle(to, seen.frame, Wait::Uncaptured, sender as u8, loss);
            self.account.rewrite(from, to, |stretch| Some((Wait::Uncaptured, stretch.loss)));
            self.blank = (to, to);
        }
    }

    fn complete_handshake(&mut self, frame: u64, at: Time) {
        self.setup = Setup::Done;
        self.set_up = at;
        let since = at.saturating_since(self.halves[1].last_packet.max(self.began));
        self.settle(0, at, frame, (Wait::Handshake, 0, NO_LOSS));
        if self.halves[0].to.least.is_none() {
            self.halves[0].to.sample_answer(since);
        }
    }

    /// Takes a round-trip time: of bytes that passed at `sent` and were sent once. An ACK for two `full`
    /// segments was not delayed by the receiver (RFC 9293 §3.8.6.3).
    fn measure(&mut self, seen: &Seen, sender: usize, at: Time, (sent, full): (Time, bool)) {
        let back = at.saturating_since(sent);
        // No round trip is longer than the connection's life so far.
        let life = at.saturating_since(self.began);
        let whole = (back + self.halves[sender].lag()).min(life);
        let step = whole.abs_diff(self.rtt[sender]);
        self.halves[sender].jitter(step);
        self.rtt[sender] = whole;
        if full {
            self.rtt_undelayed[sender] = (at, whole);
        }
        if let Some(recovery) = self.recoveries[sender] {
            self.losses[recovery.loss as usize].measured(at, whole);
        }
        let base = self.base_rtt[sender].map_or(whole, |base| base.min(whole));
        self.base_rtt[sender] = Some(base);
        if seen.timestamps.is_none() {
            self.halves[1 - sender].to.sample_answer(back);
        }
        if sender == self.talker {
            self.account.now.rtt(whole);
        }
    }

    /// The ACK and the SACK blocks as points of a picture, if one is to be drawn.
    fn points_of_ack(&mut self, seen: &Seen, sender: usize, at: Time, ack: (u64, Option<u64>)) {
        let Some(points) = &mut self.points else { return };
        let t = crate::diagnosis::since(at, self.began);
        let frame = seen.frame;
        for (from, to) in seen.sacks.blocks() {
            let half = &self.halves[sender];
            let (from, to) = (half.offset(*from), half.offset(*to));
            points.push((sender as u8, Point { t, kind: PointKind::Sack, from, to, frame }));
        }
        let (from, edge) = ack;
        let to = edge.unwrap_or(from);
        points.push((sender as u8, Point { t, kind: PointKind::Ack, from, to, frame }));
    }
}

impl Half {
    /// Everything before `ack` has arrived. What the capture lacks of it is noted.
    fn take_ack(&mut self, ack: u64, frame: u64, at: Time) -> Acknowledged {
        let mut missing = ack.saturating_sub(self.next);
        if missing == 1 && self.probed == Some(self.next) {
            // The byte of a window probe, which fitted after all.
            missing = 0;
        }
        if missing == 1 && self.counts.segments == 0 {
            // A keep-alive began the capture: its number is that of a byte acknowledged long ago.
            missing = 0;
        }
        self.next = self.next.max(ack);
        let mut all = Acknowledged::default();
        if ack > self.una {
            all = self.flight.acknowledged(ack);
            missing += all.missing;
            self.una = ack;
            self.una_at = at;
        }
        self.counts.missing.add(u64::from(missing > 0), frame);
        self.counts.missing_bytes += missing;
        all
    }

    fn take_sacks(&mut self, seen: &Seen, ack: u64, all: &mut Acknowledged) -> Reported {
        let mut reported = Reported::default();
        for (from, to) in seen.sacks.blocks() {
            let (from, to) = (self.offset(*from), self.offset(*to));
            if to <= ack {
                reported.twice = true;
            } else if from < to && to <= self.next {
                reported.behind = true;
                self.flight.sacked(from, to, all);
            }
        }
        reported
    }
}
