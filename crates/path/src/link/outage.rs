//! Times in which a link is out: a fade, a handover.
//!
//! What an outage does is one of two things. It *loses*: the transmitter knows nothing of it and
//! goes on; every packet whose transmission overlaps the outage is lost. It *holds*: no
//! transmission begins in it, packets wait; one that is under way is finished.
//!
//! *Overlaps* is said of the transmission, not of the propagation after it: a radio wave is there
//! in microseconds, and a delay of milliseconds stands for what lies behind the antenna, where a
//! fade does no harm. A packet whose last bit is out when the outage begins arrives; one whose
//! first bit goes out at the instant at which the outage ends arrives too.
//!
//! On a medium a packet is struck at the instant at which it is through: retries of the link layer
//! do not save it, and are not made for it.
//!
//! Not modelled: a signal that fades slowly, with more and more errors before it is gone
//! (`gilbert-elliott` loss has two states too, but may lose little in the bad one); adaptation of
//! the rate. Who could notice: anyone for whom the first lost packet announces the outage.

use super::windows::{Sequence, Window, Windows};
use ackord_units::{Keyword, Span, Time};

/// What an outage does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum OutageEffect {
    /// Those transmitted in it are lost.
    Loses,
    /// They wait for its end.
    Holds,
}

/// The outages of one direction of a link.
#[derive(Clone, Debug)]
pub struct Outage {
    effect: OutageEffect,
    sequence: Sequence,
    /// The first that is not over.
    current: Window,
    /// Whether a packet has met it.
    is_met: bool,
}

impl Outage {
    /// Outages in these windows.
    pub fn new(windows: Windows, effect: OutageEffect) -> Outage {
        let mut sequence = Sequence::new(windows);
        let current = sequence.next();
        Outage { effect, sequence, current, is_met: false }
    }

    pub(super) fn effect(&self) -> OutageEffect {
        self.effect
    }

    /// Until when a packet that could be transmitted at `at` is held. `at` never goes back. `meet`
    /// is told of an outage that nobody has met before.
    pub(super) fn held_until(&mut self, at: Time, mut meet: impl FnMut(Window)) -> Option<Time> {
        if self.effect != OutageEffect::Holds {
            return None;
        }
        self.skip_to(at);
        if self.current.began > at {
            return None;
        }
        self.tell(&mut meet);
        Some(self.current.ends)
    }

    /// Whether a packet is lost whose transmission begins at `from`, which never goes back, and is
    /// out at `out_at`.
    pub(super) fn strikes(
        &mut self,
        from: Time,
        out_at: Time,
        mut meet: impl FnMut(Window),
    ) -> bool {
        if self.effect != OutageEffect::Loses {
            return false;
        }
        self.skip_to(from);
        // What takes no time is transmitted at that instant.
        let until = out_at.max(from + Span::from_nanos(1));
        let mut struck = false;
        while self.current.began < until {
            struck = true;
            self.tell(&mut meet);
            if self.current.ends >= until {
                break;
            }
            self.advance();
        }
        struck
    }

    fn skip_to(&mut self, at: Time) {
        while self.current.ends <= at {
            self.advance();
        }
    }

    fn advance(&mut self) {
        self.current = self.sequence.next();
        self.is_met = false;
    }

    fn tell(&mut self, meet: &mut impl FnMut(Window)) {
        if !self.is_met {
            self.is_met = true;
            meet(self.current);
        }
    }
}
