//! A connection: a packet passes the capture point, and both directions take note.

use super::half::{Half, Heard};
use super::loss::{Loss, Repair};
use super::marks::Marks;
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

/// Times of captures beyond this are not believed: half of what 64 bits of nanoseconds hold.
const LATEST: Time = Time::from_nanos(u64::MAX / 2);
/// Captures that lose packets now and then lose no time; those that have none for so long do.
const BLANK: Span = Span::from_millis(20);
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
    /// By side.
    pub(super) repairs: [Option<Repair>; 2],
    pub(crate) setup: Setup,
    /// The side whose new bytes were seen last.
    pub(super) talker: usize,
    pub(crate) began: Time,
    /// When the handshake was complete.
    pub(super) set_up: Time,
    pub(crate) began_frame: u64,
    pub(crate) last: Time,
    pub(crate) last_frame: u64,
    /// The last time for which the capture has no packet of it though several round trips passed.
    pub(super) blank: (Time, Time),
    pub(crate) reset: bool,
    /// Shortest round trip from end to end, seen at one time.
    pub(super) base_rtt: [Option<Span>; 2],
    /// The last one.
    pub(super) rtt: [Span; 2],
    pub(crate) copies: u64,
    pub(crate) copies_frame: u64,
    pub(crate) backwards: u64,
    pub(crate) backwards_frame: u64,
    pub(crate) long_segments: u64,
    pub(crate) long_frame: u64,
    pub(crate) points: Option<Vec<(u8, Point)>>,
    /// Packets to be known again in a capture at another place, where there is one.
    pub(crate) marks: Option<Marks>,
    /// What came of that.
    pub(crate) between: Option<Between>,
}

impl Connection {
    /// The connection that begins with this packet, from its client if that can be known.
    pub(crate) fn begin(seen: &Seen) -> Connection {
        let began = seen.at.min(LATEST);
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
            repairs: [None; 2],
            setup: Setup::Unseen,
            talker: 0,
            began,
            set_up: began,
            began_frame: seen.frame,
            last: began,
            last_frame: seen.frame,
            blank: (began, began),
            reset: false,
            base_rtt: [None; 2],
            rtt: [Span::ZERO; 2],
            copies: 0,
            copies_frame: 0,
            backwards: 0,
            backwards_frame: 0,
            long_segments: 0,
            long_frame: 0,
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

    /// A packet of this connection.
    pub(crate) fn packet(&mut self, seen: &Seen) {
        let side = usize::from(seen.src != self.ends[0]);
        if seen.at < self.last {
            self.backwards += 1;
            if self.backwards == 1 {
                self.backwards_frame = seen.frame;
            }
        }
        // A capture may claim any time. Beyond a year it stands still, and sums cannot overflow.
        let at = seen.at.max(self.last).min(self.began + LONGEST_LIFE);
        if at.saturating_since(self.last) >= BLANK.max(self.rtt[0].max(self.rtt[1]) * 2) {
            self.blank = (self.last, at);
        }
        (self.last, self.last_frame) = (at, seen.frame);
        if self.halves[side].is_copy(seen, at) {
            self.copies += 1;
            if self.copies == 1 {
                self.copies_frame = seen.frame;
            }
            return;
        }
        self.halves[side].packets += 1;
        if let Some(marks) = &mut self.marks {
            marks.take(seen, side, seen.at);
        }
        self.hear(at);
        self.anchors(seen, side);
        self.halves[side].number(seen);
        if seen.flags.contains(Flags::SYN) {
            self.syn(seen, side, at);
        }
        self.echoes(seen, side, at);
        if seen.flags.contains(Flags::ACK) {
            self.ack(seen, side, at);
        }
        let fin = seen.flags.contains(Flags::FIN);
        if (seen.payload_len > 0 || fin) && !seen.flags.contains(Flags::SYN) {
            self.data(seen, side, at, fin);
        }
        self.halves[side].last_packet = at;
        self.reset |= seen.flags.contains(Flags::RST);
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
        self.halves[1 - side].mss_option = seen.mss.or(Some(536));
        let answer = seen.flags.contains(Flags::ACK);
        let (wait, state) = match (self.setup, answer) {
            (Setup::SynSent, false) | (Setup::SynReceived, true) => (Wait::SynLoss, self.setup),
            (Setup::SynReceived, false) => (Wait::SynLoss, Setup::SynReceived),
            (_, true) => (Wait::Handshake, Setup::SynReceived),
            (_, false) => (Wait::Handshake, Setup::SynSent),
        };
        self.setup = state;
        if answer && wait == Wait::Handshake && at > self.began {
            let since = at.saturating_since(self.halves[1 - side].last_packet.max(self.began));
            self.halves[side].to.sample_answer(since);
        }
        self.settle(side, at, seen.frame, (wait, side, NO_LOSS));
    }

    /// Measures the way to the end that sent this packet, and notes what the other is to echo.
    #[inline]
    fn echoes(&mut self, seen: &Seen, side: usize, at: Time) {
        if let Some((value, echo)) = seen.timestamps {
            self.halves[side].stamped |= !seen.flags.contains(Flags::SYN);
            let half = &mut self.halves[side];
            half.late_before = half.late;
            half.late = half.clock.waited(value, at).unwrap_or_default();
            self.halves[1 - side].to.passed(value, at);
            self.has_heard(side, echo, at);
            let half = &mut self.halves[side];
            if let Some(span) = half.to.echoed(echo, at) {
                // An end that had nothing to do echoes late.
                match half.una_heard >= half.next && seen.payload_len > 0 {
                    true => half.to.sample_answer(span),
                    false => half.to.sample(span),
                }
            }
        }
    }

    /// Whoever echoes a timestamp has heard what carried it.
    #[inline]
    fn has_heard(&mut self, side: usize, echo: u32, at: Time) {
        while let Some(heard) = self.halves[side].heard.front().copied() {
            let told = heard.stamp.is_some_and(|stamp| echo.wrapping_sub(stamp) as i32 >= 0);
            if !told {
                return;
            }
            self.halves[side].heard.pop_front();
            self.heard(side, &Heard { due: heard.due.min(at), ..heard });
        }
    }

    /// What has reached its sender by now.
    #[inline]
    pub(super) fn hear(&mut self, at: Time) {
        loop {
            let due = |half: &Half| half.heard.front().map(|heard| heard.due);
            let sender = match (due(&self.halves[0]), due(&self.halves[1])) {
                (None, None) => return,
                (Some(_), None) => 0,
                (None, Some(_)) => 1,
                (Some(client), Some(server)) => usize::from(server < client),
            };
            match self.halves[sender].heard.front().copied() {
                Some(heard) if heard.due <= at => {
                    self.halves[sender].heard.pop_front();
                    self.heard(sender, &heard);
                }
                _ => return,
            }
        }
    }

    /// The sender knows of this acknowledgment.
    pub(super) fn heard(&mut self, sender: usize, heard: &Heard) {
        let half = &mut self.halves[sender];
        half.silent_until(heard.due);
        let last = half.last_heard;
        half.last_heard = heard.due;
        half.edge = (heard.edge != u64::MAX).then_some(heard.edge).or(half.edge);
        if heard.ack > half.una_heard {
            half.una_before = half.una_heard;
            half.acks_since = half.acks_since.saturating_add(1);
            half.una_heard = heard.ack;
            half.phase.heard(heard.ack, half.next);
        }
        if let Some(repair) = self.repairs[sender] {
            let before = self.halves[sender].last_sent.max(last);
            let silence = heard.due.saturating_since(before);
            self.losses[repair.loss as usize].silent(silence);
        }
        if self.repairs[sender].is_some() || heard.dsack {
            self.repair_heard(sender, heard);
        }
    }

    /// The account up to the last packet.
    pub(crate) fn finish(&mut self) {
        self.hear(self.last);
        let (last, frame) = (self.last, self.last_frame);
        let talker = self.talker;
        match self.repairs[talker] {
            Some(repair) => {
                self.account.settle(last, frame, Wait::Recovery, talker as u8, repair.loss)
            }
            None => self.quiet(talker, talker, last, frame),
        }
        self.account.settle(last, frame, Wait::Transit, talker as u8, NO_LOSS);
    }

    /// The side that sends more.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.halves[1].bytes > self.halves[0].bytes)
    }

    /// Whether bytes of one direction were seen, and of the other not a single packet.
    pub(crate) fn is_one_way(&self) -> bool {
        self.halves.iter().any(|half| half.packets == 0)
    }
}
