//! Where several chains of ordinary links lead to the same one.
//!
//! In which order packets come to that link is known only when all chains have told of theirs: so they wait until then,
//! in no order, and go on in one go. There is time for that: what a packet meets next is the far end of the link, and it
//! is there after the link's delay at the soonest.
//!
//! Where they are next, at the far ends of chains that begin there, they are mostly in the order in which they went on, so
//! that one line of packets is enough for all those chains. A packet that would pass many waits at its chain's end
//! by itself.

use crate::packets::Slot;
use ackord_units::{Span, Time};

/// A packet goes no farther forward than past so many others on its way from a junction.
const MOST_PASSED: usize = 32;

/// The packets that are on their way to a link from several.
#[derive(Clone, Debug)]
pub(super) struct Junction {
    /// Its number in the schedule, for packets that go on; that after it is for those that have.
    id: u32,
    /// The link.
    link: u32,
    /// How much later than the first of them has come they go on: less than the link's delay.
    patience: Span,
    /// When the first of them comes.
    first_at: Time,
    coming: Vec<Passage>,
    /// Those that go on, in their order; kept so that its room is used again.
    going: Vec<Passage>,
    /// Those that have gone on, in the order in which they are at the far ends of their chains.
    gone: Vec<Passage>,
    /// How many of those have been taken, from the front.
    taken: usize,
}

/// A packet that will be at the far end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) at: Time,
    /// The link: of two packets at the same instant the one of the lesser link goes first.
    pub(super) by: u32,
    pub(super) slot: Slot,
    /// Whether it is delivered there and nothing else.
    pub(super) lands: bool,
}

/// Whether a junction keeps a packet that has gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Before all others.
    First,
    /// After another.
    Behind,
    /// No: it would pass many.
    Not,
}

impl Passage {
    /// What they go by.
    #[inline]
    fn turn(&self) -> (Time, u32) {
        (self.at, self.by)
    }
}

impl Junction {
    /// Before a link of this delay, which is not zero. The schedule knows it by `id` and the number after that.
    pub(super) fn new(id: u32, link: u32, delay: Span) -> Junction {
        let patience = delay.saturating_sub(Span::from_nanos(1));
        Junction {
            id,
            link,
            patience,
            first_at: Time::NEVER,
            coming: Vec::new(),
            going: Vec::new(),
            gone: Vec::new(),
            taken: 0,
        }
    }

    #[inline]
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn link(&self) -> u32 {
        self.link
    }

    /// A packet will come. When packets go on, if it is sooner for it.
    #[inline]
    pub(super) fn expect(&mut self, coming: Passage) -> Option<Time> {
        self.coming.push(coming);
        if coming.at >= self.first_at {
            return None;
        }
        self.first_at = coming.at;
        Some(self.due_at())
    }

    /// When packets go on.
    pub(super) fn due_at(&self) -> Time {
        if self.first_at == Time::NEVER { Time::NEVER } else { self.first_at + self.patience }
    }

    /// Packets on their way here, and from here.
    pub(super) fn held(&self) -> usize {
        self.coming.len() + self.gone.len() - self.taken
    }

    /// The packets that come up to and including `now`, in the order in which they come, to be given back.
    pub(super) fn take_until(&mut self, now: Time) -> Vec<Passage> {
        if self.taken > self.gone.len() / 2 {
            self.gone.drain(..self.taken);
            self.taken = 0;
        }
        let mut going = std::mem::take(&mut self.going);
        self.first_at = Time::NEVER;
        self.coming.retain(|coming| {
            let comes_later = coming.at > now;
            if comes_later {
                self.first_at = self.first_at.min(coming.at);
            } else {
                going.push(*coming);
            }
            comes_later
        });
        // Those of one link are in order already, and stay so.
        going.sort_by_key(Passage::turn);
        going
    }

    /// They have gone on.
    pub(super) fn give_back(&mut self, mut going: Vec<Passage>) {
        going.clear();
        self.going = going;
    }

    /// Keeps a packet that has gone on until it is at the far end of its chain, if it is there later than all that are kept
    /// already, and there are any. Whether it does.
    #[inline]
    pub(super) fn push(&mut self, passage: Passage) -> bool {
        let is_last = self.taken < self.gone.len()
            && self.gone.last().is_some_and(|last| last.turn() < passage.turn());
        if is_last {
            self.gone.push(passage);
        }
        is_last
    }

    /// The same wherever its place is.
    pub(super) fn keep(&mut self, passage: Passage) -> Kept {
        let kept = &self.gone[self.taken..];
        let passed = kept.iter().rev().take(MOST_PASSED + 1);
        let passed = passed.take_while(|other| other.turn() > passage.turn()).count();
        if passed > MOST_PASSED {
            return Kept::Not;
        }
        let is_first = passed == kept.len();
        self.gone.insert(self.gone.len() - passed, passage);
        if is_first { Kept::First } else { Kept::Behind }
    }

    /// The packet that is at the far end of its chain next.
    #[inline]
    pub(super) fn next(&self) -> Option<&Passage> {
        self.gone.get(self.taken)
    }

    /// That packet, if it comes by this link now.
    #[inline]
    pub(super) fn take(&mut self, now: Time, by: u32) -> Option<Passage> {
        let next = *self.next().filter(|next| next.turn() == (now, by))?;
        self.taken += 1;
        Some(next)
    }
}
