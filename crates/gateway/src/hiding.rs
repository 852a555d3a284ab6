//! Duplicate acknowledgments that a box wants hidden from a sender that could not undo its answer to them.
//!
//! The packets are on their way when a box is asked, so hiding is done ahead: once a box has wanted it for a
//! connection, a program in the kernel is told from which to which byte losses are recovered here, and removes
//! acknowledgments that repeat one of those. What it is told holds for a moment only: without an engine that
//! tells it again everything passes.

use crate::Key;
use ackord_path::proxy::Verdict;
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Flags, Segment};

/// How long the kernel's program believes what it was told: less than the time in which a dead gateway must
/// have become plain forwarding, 50 ms.
pub const BELIEVED_FOR: Span = Span::from_millis(40);
/// It is told again when this much is over.
const TOLD_EVERY: Span = Span::from_millis(10);

/// What the kernel's program is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Acknowledgments from the mobile host that repeat one within the range are removed.
    On {
        /// Which.
        connection: Key,
        /// The first byte whose loss is recovered here.
        from: Seq,
        /// The byte after the last.
        to: Seq,
        /// Until then.
        until: Time,
    },
    /// Everything passes.
    Off {
        /// Which.
        connection: Key,
    },
}

/// What is known of hiding the duplicate acknowledgments of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hiding {
    /// Its box wanted the last one removed.
    is_wanted: bool,
    last_ack: Option<Seq>,
    told: Option<(Seq, Seq, Time)>,
}

impl Hiding {
    /// A box said what should become of a packet from the mobile host. Answers whether that is what
    /// happened to it.
    pub fn on_verdict(&mut self, now: Time, segment: &Segment, verdict: &Verdict) -> bool {
        let other = Flags::SYN | Flags::FIN | Flags::RST | Flags::URG;
        let is_pure = segment.payload_len == 0 && !segment.flags.intersects(other);
        let repeats = is_pure && self.last_ack == Some(segment.ack);
        let was_removed = repeats && self.covers(now, segment.ack);
        if segment.flags.contains(Flags::ACK) {
            self.last_ack = Some(segment.ack);
        }
        if repeats {
            // An acknowledgment whose SACK blocks a box would take out tells nothing without them.
            self.is_wanted = *verdict != Verdict::Forward;
        }
        *verdict == Verdict::Forward || was_removed
    }

    /// Nothing is known of what comes next: the kernel's program is to be told that everything passes.
    pub fn stop(&mut self) {
        *self = Hiding { told: self.told, ..Hiding::default() };
    }

    fn covers(&self, now: Time, ack: Seq) -> bool {
        self.told
            .is_some_and(|(from, to, until)| now < until && !ack.before(from) && ack.before(to))
    }

    /// What the kernel's program is to be told now, `kept_from` saying up to where bytes are kept without
    /// a hole.
    pub fn tell(
        &mut self,
        now: Time,
        connection: Key,
        kept_from: impl FnOnce(Seq) -> Seq,
    ) -> Option<Cover> {
        let is_told = |until: Time| until.saturating_since(now) > BELIEVED_FOR - TOLD_EVERY;
        match (self.is_wanted, self.told, self.last_ack) {
            (true, Some((.., until)), _) if is_told(until) => None,
            (true, _, Some(from)) => {
                let (to, until) = (kept_from(from), now + BELIEVED_FOR);
                self.told = Some((from, to, until));
                Some(Cover::On { connection, from, to, until })
            }
            (false, Some(_), _) => {
                self.told = None;
                Some(Cover::Off { connection })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32) -> Segment {
        Segment { ack: Seq(number), flags: Flags::ACK, ..Segment::default() }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn what_a_box_wanted_removed_once_is_removed_from_then_on_while_it_is_told_again() {
        let connection = Key {
            mobile: "192.0.2.7:50000".parse().expect("one"),
            fixed: "198.51.100.1:443".parse().expect("one"),
        };
        let mut hiding = Hiding::default();
        let tell = |hiding: &mut Hiding, millis| hiding.tell(at(millis), connection, |_| Seq(900));
        assert!(hiding.on_verdict(at(0), &ack(100), &Verdict::Forward));
        assert_eq!(tell(&mut hiding, 0), None);
        // The first one has passed already.
        assert!(!hiding.on_verdict(at(1), &ack(100), &Verdict::Absorb));
        let on = Cover::On { connection, from: Seq(100), to: Seq(900), until: at(41) };
        assert_eq!(tell(&mut hiding, 1), Some(on));
        assert_eq!(tell(&mut hiding, 10), None);
        assert!(hiding.on_verdict(at(10), &ack(100), &Verdict::Absorb));
        // Not told again in time.
        assert!(!hiding.on_verdict(at(41), &ack(100), &Verdict::Absorb));
        assert!(tell(&mut hiding, 41).is_some());
        // The box leaves the next loss to the sender.
        assert!(hiding.on_verdict(at(42), &ack(500), &Verdict::Forward));
        assert!(tell(&mut hiding, 42).is_none());
        assert!(hiding.on_verdict(at(43), &ack(500), &Verdict::Forward));
        assert_eq!(tell(&mut hiding, 43), Some(Cover::Off { connection }));
        assert_eq!(tell(&mut hiding, 44), None);
        hiding.on_verdict(at(50), &ack(500), &Verdict::Absorb);
        assert!(tell(&mut hiding, 50).is_some());
        hiding.stop();
        assert_eq!(tell(&mut hiding, 51), Some(Cover::Off { connection }));
        assert_eq!(tell(&mut hiding, 52), None);
    }
}
