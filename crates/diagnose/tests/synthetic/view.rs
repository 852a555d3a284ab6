//! Where and how a capture was taken.

use super::connection::{Sent, Shape, US};
use ackord_diagnose::Seen;
use ackord_units::{Time, mix64};
use ackord_wire::Flags;

/// Copies of every packet by a second capture point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    /// Time from a packet to its copy, us.
    pub(crate) after_us: u32,
    /// By how much that varies, as a queue does, us.
    pub(crate) varies_us: u32,
    /// True if the two points are two interfaces of the file; otherwise only their link-layer
    /// addresses differ.
    pub(crate) interfaces: bool,
}

/// Directions that the capture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directions {
    Both,
    FromServer,
    FromClient,
}

/// A capture clock that is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    /// After this share of the packets, in 1000.
    pub(crate) after: u32,
    /// By so many milliseconds.
    pub(crate) by_ms: i32,
}

/// A capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Share of the round trip between the capture point and the client, in 1000.
    pub(crate) place: u32,
    pub(crate) copies: Option<Copies>,
    /// One of so many pairs of pure ACKs is swapped; 0 for none.
    pub(crate) swapped: u32,
    /// ACKs are captured before their data by up to so many microseconds; 0 for none.
    pub(crate) early_us: u32,
    pub(crate) directions: Directions,
    /// True if the handshake is not in the capture.
    pub(crate) from_the_middle: bool,
    pub(crate) jump: Option<Jump>,
}

/// Time of the first SYN, ns since 1970.
const EPOCH: u64 = 1_700_000_000_000_000_000;

fn is_pure_ack(seen: &Seen) -> bool {
    seen.payload_len == 0 && seen.flags == Flags::ACK
}

impl View {
    /// Returns the packets in the order of the file.
    pub(crate) fn take(&self, shape: &Shape, sent: Vec<(Sent, Seen)>) -> Vec<Seen> {
        let to_client = shape.way() * u64::from(self.place) / 1000;
        let arrives = |(sent, mut seen): (Sent, Seen)| {
            let hop = if sent.side == 0 { to_client } else { shape.way() - to_client };
            seen.at = Time::from_nanos(EPOCH + sent.at + hop);
            seen
        };
        let mut seen: Vec<Seen> = sent.into_iter().map(arrives).collect();
        seen.sort_by_key(|it| it.at);
        if self.from_the_middle {
            seen.drain(..3.min(seen.len()));
        }
        self.swap(&mut seen);
        self.hurry(&mut seen);
        seen.retain(|it| match self.directions {
            Directions::Both => true,
            Directions::FromServer => it.src.port == 80,
            Directions::FromClient => it.src.port != 80,
        });
        self.copy(&mut seen);
        self.set_clock(&mut seen);
        (1..).zip(&mut seen).for_each(|(frame, it)| it.frame = frame);
        seen
    }

    /// Swaps pure ACKs of one end with those before them.
    fn swap(&self, seen: &mut [Seen]) {
        let mut number = 1;
        while self.swapped > 0 && number < seen.len() {
            let (first, second) = (seen[number - 1], seen[number]);
            let both = is_pure_ack(&first) && is_pure_ack(&second) && first.src == second.src;
            let near = second.at.saturating_since(first.at).as_nanos() < 2_000 * US;
            let advances = second.ack > first.ack;
            if both
                && near
                && advances
                && mix64(u64::from(first.ack)).is_multiple_of(u64::from(self.swapped))
            {
                seen.swap(number - 1, number);
                (seen[number - 1].at, seen[number].at) = (first.at, second.at);
                number += 1;
            }
            number += 1;
        }
    }

    /// Captures ACKs before their data, if both are captured at about the same time.
    fn hurry(&self, seen: &mut [Seen]) {
        for number in 1..seen.len() {
            let (data, ack) = (seen[number - 1], seen[number]);
            let answers = is_pure_ack(&ack)
                && ack.src != data.src
                && data.payload_len > 0
                && ack.ack == data.seq + data.payload_len;
            let soon = ack.at.saturating_since(data.at).as_nanos() <= 300 * US;
            if self.early_us > 0 && answers && soon {
                let early = (1 + mix64(u64::from(ack.ack)) % u64::from(self.early_us)) * US;
                let at = data.at.as_nanos().saturating_sub(early);
                let before = number.checked_sub(2).map_or(0, |it| seen[it].at.as_nanos());
                seen.swap(number - 1, number);
                seen[number - 1].at = Time::from_nanos(at.max(before));
            }
        }
    }

    fn copy(&self, seen: &mut Vec<Seen>) {
        let Some(Copies { after_us, varies_us, interfaces }) = self.copies else { return };
        // A queue keeps the order, and its length changes by degrees.
        let mut last = 0;
        let mut left = |at: u64| {
            let phase = at / (200_000 * US) % 2_000;
            let more = phase.min(2_000 - phase) * u64::from(varies_us) / 1_000;
            last = (at + (u64::from(after_us) + more) * US).max(last);
            Time::from_nanos(last)
        };
        let copy = |it: &Seen| Seen {
            at: left(it.at.as_nanos()),
            ttl: it.ttl - 1,
            interface: u16::from(interfaces),
            hop: 2,
            ..*it
        };
        let copies: Vec<Seen> = seen.iter().map(copy).collect();
        seen.iter_mut().for_each(|it| it.hop = 1);
        seen.extend(copies);
        seen.sort_by_key(|it| it.at);
    }

    fn set_clock(&self, seen: &mut [Seen]) {
        let Some(Jump { after, by_ms }) = self.jump else { return };
        let first = seen.len() * after as usize / 1000;
        for it in &mut seen[first..] {
            let by = i64::from(by_ms) * 1_000_000;
            it.at = Time::from_nanos(it.at.as_nanos().saturating_add_signed(by));
        }
    }
}
