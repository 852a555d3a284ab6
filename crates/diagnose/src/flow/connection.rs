//! A connection: a packet passes the capture point, and both directions take note.

use super::counts::CaptureFaults;
use super::half::Half;
use super::loss::{Loss, Recovery};
use super::marks::Marks;
use super::order::Order;
use super::suspects::Suspect;
use super::timeline::{Step, Timeline};
use crate::account::{Account, NO_LOSS, Wait};
use crate::{Address, Between, Point, Seen};
use ackord_units::{Span, Time};
use ackord_wire::Flags;

/// Where the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// Not seen: the connection was open before.
    Unseen,
    SynSent,
    SynReceived,
    Done,
}

/// Captures that lose packets now and then lose no time; those that have none for so long do.
const BLANK: Span = Span::from_millis(20);
/// Sequence numbers further away than the largest window are not of this connection (RFC 7323 §2.3).
const LARGEST_WINDOW: u32 = 1 << 30;
/// A silence of both ends after which a clock of timestamps is anchored anew: this long, and so many round trips.
const REST: Span = Span::from_secs(1);
const REST_ROUND_TRIPS: u64 = 10;
/// Connections are not followed for longer.
const LONGEST_LIFE: Span = Span::from_secs(366 * 86_400);

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Client and server.
    pub(crate) ends: [Address; 2],
    /// From the client and from the server.
    pub(crate) halves: [Half; 2],
    pub(crate) account: Account,
    pub(crate) losses: Vec<Loss>,
    /// Losses that only gaps in packet numbers show, until it is known how the host numbers its packets.
    pub(super) suspects: Vec<Suspect>,
    /// Packets held back, in order.
    pub(super) early: Vec<Seen>,
    /// Packets on hold, where the capture has them in another order than their times.
    pub(super) order: Option<Box<Order>>,
    timeline: Timeline,
    /// By side.
    pub(super) recoveries: [Option<Recovery>; 2],
    pub(crate) setup: Setup,
    /// The SYN was answered with the numbers of an older connection.
    challenged: bool,
    /// The side whose new bytes were seen last.
    pub(super) talker: usize,
    pub(crate) began: Time,
    /// The first packet opened it.
    pub(crate) opened: bool,
    /// When the handshake was complete.
    pub(super) set_up: Time,
    pub(crate) began_frame: u64,
    pub(crate) last: Time,
    pub(crate) last_frame: u64,
    /// The last packet by the capture's clock, taken or on hold.
    pub(crate) arrived: Time,
    /// The last time for which the capture has no packet of it though several round trips passed.
    pub(super) blank: (Time, Time),
    pub(crate) reset: bool,
    /// Shortest round trip from end to end, seen at one time.
    pub(super) base_rtt: [Option<Span>; 2],
    /// The last one, and the last one that no receiver's timer delayed, with its time.
    pub(crate) rtt: [Span; 2],
    pub(super) rtt_undelayed: [(Time, Span); 2],
    /// What is wrong with the connection in the capture; allocated with the first fault.
    pub(crate) faults: Option<Box<CaptureFaults>>,
    pub(crate) points: Option<Vec<(u8, Point)>>,
    /// Packets to be known again in a capture at another place, where there is one.
    pub(crate) marks: Option<Box<Marks>>,
    /// What came of that.
    pub(crate) between: Option<Box<Between>>,
}

impl Connection {
    /// The connection that begins with this packet, from its client if that can be known.
    pub(crate) fn begin(seen: &Seen) -> Connection {
        let timeline = Timeline::begin(seen.at);
        let began = timeline.last();
        let syn = seen.flags.contains(Flags::SYN);
        let from_server = if syn {
            seen.flags.contains(Flags::ACK)
        } else {
            // Servers are at well-known ports.
            seen.src.port < seen.dst.port
        };
        let ends = if from_server { [seen.dst, seen.src] } else { [seen.src, seen.dst] };
        Connection {
            ends,
            halves: [Half::default(), Half::default()],
            account: Account::begin(began, seen.frame),
            losses: Vec::new(),
            suspects: Vec::new(),
            early: Vec::new(),
            order: None,
            timeline,
            recoveries: [None; 2],
            setup: Setup::Unseen,
            challenged: false,
            talker: 0,
            began,
            opened: syn,
            set_up: began,
            began_frame: seen.frame,
            last: began,
            last_frame: seen.frame,
            arrived: seen.at,
            blank: (began, began),
            reset: false,
            base_rtt: [None; 2],
            rtt: [Span::ZERO; 2],
            rtt_undelayed: [(Time::ZERO, Span::ZERO); 2],
            faults: None,
            points: None,
            marks: None,
            between: None,
        }
    }

    /// Whether nothing is to come: both ends have closed, or one has reset.
    pub(crate) fn is_over(&self) -> bool {
        let closed = |half: &Half| half.fin_sent && half.una >= half.next;
        self.reset || self.halves.iter().all(closed)
    }

    /// Takes a packet of this connection.
    pub(super) fn take(&mut self, seen: &Seen) {
        let side = usize::from(seen.src != self.ends[0]);
        let (at, step) = self.timeline.step(seen.at);
        match step {
            Step::Forward => {}
            // Packets on hold are counted when they arrive.
            Step::Backward(by) if self.order.is_none() => {
                self.faults.get_or_insert_default().backwards.add(1, seen.frame);
                self.order = Some(Order::begin(self.timeline.last(), by));
            }
            Step::Backward(_) => {}
            Step::Set => self.faults.get_or_insert_default().clock_set.add(1, seen.frame),
        }
        // A capture may claim any time. Beyond a year it stands still, and sums cannot overflow.
        let at = at.max(self.last).min(self.began + LONGEST_LIFE);
        let silence = at.saturating_since(self.last);
        if silence >= BLANK.max(self.rtt[0].max(self.rtt[1]) * 2) {
            self.blank = (self.last, at);
        }
        (self.last, self.last_frame) = (at, seen.frame);
        if self.halves[side].is_repeated_on_air(seen, at) {
            return;
        }
        let repeats = self.is_known(seen, side);
        if self.halves[side].copies.is_copy(seen, at, repeats) {
            self.faults.get_or_insert_default().copies.add(1, seen.frame);
            return;
        }
        self.halves[side].counts.packets += 1;
        if seen.options_cut {
            self.faults.get_or_insert_default().options_cut.add(1, seen.frame);
        }
        if let Some(marks) = &mut self.marks {
            marks.take(seen, side, seen.at);
        }
        if self.is_stray(seen, side) {
            self.challenged |= self.setup == Setup::SynSent;
            self.halves[side].last_packet = at;
            return;
        }
        self.hear(at);
        self.anchors(seen, side);
        self.number(seen, side, at);
        if seen.flags.contains(Flags::SYN) {
            self.syn(seen, side, at);
        }
        self.echoes(seen, side, (at, silence));
        if seen.flags.contains(Flags::ACK) {
            self.ack(seen, side, at);
        }
        let fin = seen.flags.contains(Flags::FIN);
        if (seen.payload_len > 0 || fin) && !seen.flags.contains(Flags::SYN) {
            self.data(seen, side, at, fin);
        }
        let half = &mut self.halves[side];
        half.last_packet = at;
        half.last_ack = seen.ack;
        self.reset |= seen.flags.contains(Flags::RST);
    }

    /// Returns true if the capture has all that this packet carries, its bytes or its acknowledgment, and later
    /// packets of the same end.
    #[inline]
    fn is_known(&self, seen: &Seen, side: usize) -> bool {
        let (half, other) = (&self.halves[side], &self.halves[1 - side]);
        let known = match seen.payload_len {
            0 => other.is_anchored() && other.offset(seen.ack) <= other.una,
            len => half.is_anchored() && half.offset(seen.seq) + u64::from(len) <= half.next,
        };
        known && (half.numbers.is_behind(seen.ip_id) || half.lateness.is_behind(seen.timestamps))
    }

    /// Returns true if the packet does not belong to this connection: an answer to a SYN with the numbers of an
    /// older connection (RFC 9293 §3.10.7.3), the RST that ends that one, numbers beyond any window.
    fn is_stray(&self, seen: &Seen, side: usize) -> bool {
        let has = |flag: Flags| seen.flags.contains(flag);
        if self.setup == Setup::SynSent && !has(Flags::SYN) {
            let refused = side == 1 && has(Flags::RST) && has(Flags::ACK);
            return !(refused && self.halves[0].offset(seen.ack) == 1);
        }
        let far = |number: u64, from: u64| number.abs_diff(from) > u64::from(LARGEST_WINDOW);
        let (half, other) = (&self.halves[side], &self.halves[1 - side]);
        (half.is_anchored()
            && half.next > 1
            && !has(Flags::SYN)
            && far(half.offset(seen.seq), half.next))
            || (other.is_anchored()
                && other.next > 1
                && has(Flags::ACK)
                && far(other.offset(seen.ack), other.next))
    }

    /// Where counting begins in either direction.
    fn anchors(&mut self, seen: &Seen, side: usize) {
        let syn = seen.flags.contains(Flags::SYN);
        self.halves[side].anchor(seen.seq, syn);
        let other = &mut self.halves[1 - side];
        if seen.flags.contains(Flags::ACK) && !other.is_anchored() {
            other.anchor(seen.ack, false);
        }
    }

    fn syn(&mut self, seen: &Seen, side: usize, at: Time) {
        let half = &mut self.halves[side];
        half.scale = seen.wscale.or(Some(0));
        self.halves[1 - side].size.option = seen.mss.or(Some(536));
        let answer = seen.flags.contains(Flags::ACK);
        let (wait, state) = match (self.setup, answer) {
            (Setup::SynSent, false) | (Setup::SynReceived, true) => (Wait::SynLoss, self.setup),
            (Setup::SynReceived, false) => (Wait::SynLoss, Setup::SynReceived),
            (_, true) => (Wait::Handshake, Setup::SynReceived),
            (_, false) => (Wait::Handshake, Setup::SynSent),
        };
        // A SYN answered with the numbers of an older connection was not lost.
        let wait = if self.challenged { Wait::Handshake } else { wait };
        self.setup = state;
        if answer && wait == Wait::Handshake && at > self.began {
            let since = at.saturating_since(self.halves[1 - side].last_packet.max(self.began));
            self.halves[side].to.sample_answer(since);
        }
        self.settle(side, at, seen.frame, (wait, side, NO_LOSS));
    }

    /// Measures the way to the end that sent this packet, and notes what the other is to echo.
    #[inline]
    fn echoes(&mut self, seen: &Seen, side: usize, (at, silence): (Time, Span)) {
        if let Some((value, echo)) = seen.timestamps {
            self.halves[side].size.stamped |= !seen.flags.contains(Flags::SYN);
            // An end that rested may have suspended its clock, and a virtual machine's clock drifts.
            let rested = silence >= REST.max(self.round_trip(1 - side) * REST_ROUND_TRIPS)
                && self.halves.iter().all(|half| half.una >= half.next);
            self.halves[side].lateness.take(value, at, rested);
            self.halves[1 - side].to.passed(value, at);
            self.has_heard(side, echo, at);
            let half = &mut self.halves[side];
            if let Some(span) = half.to.echoed(echo, at) {
                // An end that had nothing to do echoes late: only what answers a packet was sent at once.
                let answers = match seen.payload_len {
                    0 => seen.ack != half.last_ack,
                    _ => half.hearing.una < half.next,
                };
                match answers {
                    true => half.to.sample(span),
                    false => half.to.sample_answer(span),
                }
            }
        }
    }

    /// Settles the account up to the last packet.
    pub(crate) fn finish(&mut self) {
        self.release_all();
        self.hear(self.last);
        let (last, frame) = (self.last, self.last_frame);
        let talker = self.talker;
        match self.recoveries[talker] {
            Some(recovery) => {
                self.account.settle(last, frame, Wait::Recovery, talker as u8, recovery.loss)
            }
            // Nothing follows: the other end's turn, if it ever spoke.
            None => {
                let next =
                    if self.halves[1 - talker].counts.bytes > 0 { 1 - talker } else { talker };
                self.quiet(talker, next, last, frame);
            }
        }
        self.account.settle(last, frame, Wait::Transit, talker as u8, NO_LOSS);
    }

    /// Returns what happened to packets between two points of one capture, if it has two.
    pub(crate) fn relayed(&self) -> Option<Between> {
        let both = [0, 1].map(|side: usize| self.halves[side].copies.between());
        if both.iter().all(Option::is_none) {
            return None;
        }
        Some(Between {
            lost: both.map(|one| one.map_or(0, |(lost, _)| lost)),
            delay: both.map(|one| one.and_then(|(_, delay)| delay)),
        })
    }

    /// Returns true if the SYN was never answered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.setup == Setup::SynSent && self.halves[1].counts.packets == 0
    }

    /// Returns true if bytes were sent twice, are missing in the capture, or were lost by their packet numbers.
    pub(crate) fn lacks_bytes(&self) -> bool {
        self.losses.iter().any(|loss| !loss.is_closing())
            || self.halves.iter().any(|half| half.counts.missing.count > 0)
    }

    /// The side that sends more.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.halves[1].counts.bytes > self.halves[0].counts.bytes)
    }

    /// Returns true if packets of one direction are missing altogether.
    pub(crate) fn is_one_way(&self) -> bool {
        self.halves.iter().any(|half| half.counts.packets == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_few_bytes_while_it_is_open() {
        // A hundred thousand may be open at once. What few of them need is in a box.
        assert!(size_of::<Connection>() <= 2520, "{}", size_of::<Connection>());
    }
}
