//! A connection: a packet passes the capture point, and both directions take note.

use super::counts::Noted;
use super::half::Half;
use super::hearing::Heard;
use super::loss::{Loss, Recovery};
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
    pub(super) recoveries: [Option<Recovery>; 2],
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
    pub(crate) rtt: [Span; 2],
    /// Packets that stand in the capture twice, that are before the one before them in time, and that are
    /// longer than the MSS.
    pub(crate) copies: Noted,
    pub(crate) backwards: Noted,
    pub(crate) long_segments: Noted,
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
            recoveries: [None; 2],
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
            copies: Noted::default(),
            backwards: Noted::default(),
            long_segments: Noted::default(),
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
            self.backwards.add(1, seen.frame);
        }
        // A capture may claim any time. Beyond a year it stands still, and sums cannot overflow.
        let at = seen.at.max(self.last).min(self.began + LONGEST_LIFE);
        if at.saturating_since(self.last) >= BLANK.max(self.rtt[0].max(self.rtt[1]) * 2) {
            self.blank = (self.last, at);
        }
        (self.last, self.last_frame) = (at, seen.frame);
        if self.halves[side].recent.is_copy(seen, at) {
            self.copies.add(1, seen.frame);
            return;
        }
        self.halves[side].counts.packets += 1;
        if let Some(marks) = &mut self.marks {
            marks.take(seen, side, seen.at);
        }
        self.hear(at);
        self.anchors(seen, side);
        let mss = self.halves[side].mss();
        self.halves[side].numbers.take(seen, mss);
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
        self.halves[1 - side].size.option = seen.mss.or(Some(536));
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
            self.halves[side].size.stamped |= !seen.flags.contains(Flags::SYN);
            self.halves[side].lateness.take(value, at);
            self.halves[1 - side].to.passed(value, at);
            self.has_heard(side, echo, at);
            let half = &mut self.halves[side];
            if let Some(span) = half.to.echoed(echo, at) {
                // An end that had nothing to do echoes late.
                match half.hearing.una >= half.next && seen.payload_len > 0 {
                    true => half.to.sample_answer(span),
                    false => half.to.sample(span),
                }
            }
        }
    }

    /// Whoever echoes a timestamp has heard what carried it.
    #[inline]
    fn has_heard(&mut self, side: usize, echo: u32, at: Time) {
        while let Some(heard) = self.halves[side].hearing.next() {
            let told = heard.stamp.is_some_and(|stamp| echo.wrapping_sub(stamp) as i32 >= 0);
            if !told {
                return;
            }
            self.halves[side].hearing.arrived();
            self.heard(side, &Heard { due: heard.due.min(at), ..heard });
        }
    }

    /// What has reached its sender by now.
    #[inline]
    pub(super) fn hear(&mut self, at: Time) {
        loop {
            let due = |half: &Half| half.hearing.next().map(|heard| heard.due);
            let sender = match (due(&self.halves[0]), due(&self.halves[1])) {
                (None, None) => return,
                (Some(_), None) => 0,
                (None, Some(_)) => 1,
                (Some(client), Some(server)) => usize::from(server < client),
            };
            match self.halves[sender].hearing.next() {
                Some(heard) if heard.due <= at => {
                    self.halves[sender].hearing.arrived();
                    self.heard(sender, &heard);
                }
                _ => return,
            }
        }
    }

    /// The sender knows of this acknowledgment.
    pub(super) fn heard(&mut self, sender: usize, heard: &Heard) {
        let half = &mut self.halves[sender];
        let before = half.silent_since();
        half.hear(heard);
        if let Some(recovery) = self.recoveries[sender] {
            let silence = heard.due.saturating_since(before);
            self.losses[recovery.loss as usize].silent(silence);
        }
        if self.recoveries[sender].is_some() || heard.dsack {
            self.heard_in_recovery(sender, heard);
        }
    }

    /// The account up to the last packet.
    pub(crate) fn finish(&mut self) {
        self.hear(self.last);
        let (last, frame) = (self.last, self.last_frame);
        let talker = self.talker;
        match self.recoveries[talker] {
            Some(recovery) => {
                self.account.settle(last, frame, Wait::Recovery, talker as u8, recovery.loss)
            }
            None => self.quiet(talker, talker, last, frame),
        }
        self.account.settle(last, frame, Wait::Transit, talker as u8, NO_LOSS);
    }

    /// The side that sends more.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.halves[1].counts.bytes > self.halves[0].counts.bytes)
    }

    /// Whether bytes of one direction were seen, and of the other not a single packet.
    pub(crate) fn is_one_way(&self) -> bool {
        self.halves.iter().any(|half| half.counts.packets == 0)
    }
}
