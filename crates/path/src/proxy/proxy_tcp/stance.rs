//! Whether the losses of a connection are its own queue's, so that it is better off without recoveries.
//!
//! Losses come in spells: a spell begins with a lost segment and lasts until everything that was under
//! way then is acknowledged. The box stands aside for a spell, that is, it goes on watching, repeats
//! nothing and hides no duplicates, in two cases.
//!
//! - **The queue is known to overflow**, and this spell looks like it. Bit errors strike at any length
//!   of the wireless queue, an overflow when it is as long as it gets. So each spell is held against
//!   what was seen before and after it: of all waits that acknowledgments told of, which share was as
//!   long as that of the segment just before the first loss. Of errors these shares are anything
//!   between zero and one; of overflows they are near zero each time. (Where the queue grows all the
//!   while, errors meet it longer than ever before, but what comes after them shows that it was not
//!   full.) Minus the logarithm of a share that is anything between zero and one is exponential, so the
//!   sum over [`SPELLS`] spells has a gamma distribution; beyond [`KNOWN_AT`], where it is once in a
//!   thousand times by chance, the queue is known to overflow, and below [`FORGOTTEN_AT`], where it is
//!   half the times, no longer. A spell looks like it if its own share is small ([`LONGEST`]).
//! - **Recoveries do not lead on**: [`super::recovery`] finds that losses crowd as errors do not, or goes from
//!   hole to hole of a flight that met a full queue, a round trip each ([`Spells::leave`]).
//!
//! The first needs a sender that does not speak SACK: one that does gets every hole filled at once, and
//! loses little by recoveries where a queue overflows; measured, it loses more without them.
//!
//! Not told apart: errors that come when the queue is long because others fill it; an overflow where
//! the delay jumps about by more than the queue holds, but for crowds.

use ackord_units::portable::ln;
use ackord_units::{Seq, Span, Time};
use std::collections::VecDeque;

/// Spells that are looked at together.
const SPELLS: usize = 8;

/// A gamma variable of shape 8 is beyond this once in a thousand times.
const KNOWN_AT: f64 = 19.6;

/// And beyond this half the times.
const FORGOTTEN_AT: f64 = 7.67;

/// A wait is one of the longest if at most this share is as long.
const LONGEST: f64 = 0.2;

/// Waits that are remembered; of more, every other one.
const MOST_WAITS: usize = 512;

/// What a box does about a spell of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stance {
    /// It repeats what is lost.
    #[default]
    Helps,
    /// It watches.
    Aside,
}

/// The spells of losses of one connection, and the waits that they are held against.
#[derive(Clone, Debug, Default)]
pub(super) struct Spells {
    stance: Stance,
    /// The spell lasts until this is acknowledged.
    up_to: Option<Seq>,
    /// Losses in it.
    losses: u32,
    queue: Queue,
    /// The wait that the newest advance of the acknowledgment told of, if it did.
    newest_wait: Option<Span>,
    /// How long segments were under way, with the instants of their acknowledgments.
    waits: VecDeque<(Time, Span)>,
    /// One wait of so many is kept, as a power of two.
    sparse: u32,
    /// How many have been left out since the last that was kept.
    left_out: u32,
    /// When the latest spells began, and how long the segment before the first loss was under way.
    latest: VecDeque<(Time, Span)>,
}

/// What is known of the wireless queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Queue {
    #[default]
    Unknown,
    Overflows,
}

impl Spells {
    /// What to do about the losses of this spell.
    pub(super) fn stance(&self) -> Stance {
        self.stance
    }

    /// Losses in this spell.
    pub(super) fn losses(&self) -> u32 {
        self.losses
    }

    /// The rest of this spell is the sender's.
    pub(super) fn leave(&mut self) {
        self.stance = Stance::Aside;
    }

    /// The acknowledgment has advanced, and told how long a segment was under way, or did not.
    pub(super) fn on_advance(&mut self, now: Time, wait: Option<Span>) {
        self.newest_wait = wait;
        let Some(wait) = wait else { return };
        self.left_out += 1;
        if self.left_out >> self.sparse == 0 {
            return;
        }
        self.left_out = 0;
        self.waits.push_back((now, wait));
        if self.waits.len() > MOST_WAITS {
            let mut at = 0;
            self.waits.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.sparse += 1;
        }
    }

    /// The segment at `seq` is lost, that was sent once; data up to `sent_up_to` is under way.
    /// The spell is held against the waits if it is to be `weighed`.
    pub(super) fn on_loss(&mut self, now: Time, seq: Seq, sent_up_to: Option<Seq>, weighed: bool) {
        self.losses += 1;
        if self.up_to.is_some_and(|up_to| seq.before(up_to)) {
            return;
        }
        (self.up_to, self.losses) = (sent_up_to, 1);
        self.stance = match (weighed, self.newest_wait) {
            (false, _) => Stance::Helps,
            (true, Some(wait)) => self.weigh(now, wait),
            // What came before this loss was recovered itself: it belongs to the last spell.
            (true, None) => self.stance,
        };
    }

    /// A spell begins after a segment that was under way for `wait`.
    fn weigh(&mut self, now: Time, wait: Span) -> Stance {
        if self.latest.len() == SPELLS {
            self.latest.pop_front();
        }
        self.latest.push_back((now, wait));
        if self.latest.len() == SPELLS {
            self.judge_queue();
        }
        match self.queue {
            Queue::Overflows if self.share(wait) <= LONGEST => Stance::Aside,
            _ => Stance::Helps,
        }
    }

    fn judge_queue(&mut self) {
        let sum: f64 = self.latest.iter().map(|(_, wait)| -ln(self.share(*wait))).sum();
        self.queue = match self.queue {
            Queue::Unknown if sum > KNOWN_AT => Queue::Overflows,
            Queue::Overflows if sum < FORGOTTEN_AT => Queue::Unknown,
            same => same,
        };
        // What was before the oldest spell says little of the queue today.
        let since = self.latest[0].0;
        let old = self.waits.partition_point(|(at, _)| *at < since);
        self.waits.drain(..old / 2);
        if self.waits.len() < MOST_WAITS / 4 {
            self.sparse = self.sparse.saturating_sub(1);
        }
    }

    /// Of all waits, which share was as long as this or longer.
    fn share(&self, wait: Span) -> f64 {
        let longer = self.waits.iter().filter(|(_, known)| *known >= wait).count();
        (1 + longer) as f64 / (1 + self.waits.len()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that grows from 40 ms to 80 ms and back, again and again, a loss in each round where
    /// `lost` says so by the wait before it; what became of each spell.
    fn rounds(count: u32, mut lost: impl FnMut(u32, u64) -> bool) -> Vec<Stance> {
        let (mut spells, mut at, mut seq) = (Spells::default(), 0, 0);
        let mut found = Vec::new();
        for round in 0..count {
            for millis in 40..=80 {
                at += 4;
                seq += 1_000;
                let now = Time::from_nanos(at * 1_000_000);
                spells.on_advance(now, Some(Span::from_millis(millis)));
                if lost(round, millis) {
                    spells.on_loss(now, Seq(seq), Some(Seq(seq + 10_000)), true);
                    found.push(spells.stance());
                    // The next spell is another one.
                    seq += 20_000;
                }
            }
        }
        found
    }

    #[test]
    fn losses_of_the_longest_queue_are_left_to_the_sender_from_the_eighth_on() {
        let found = rounds(20, |_, millis| millis == 80);
        assert_eq!(found[..SPELLS - 1], [Stance::Helps; SPELLS - 1]);
        assert_eq!(found[SPELLS - 1..], [Stance::Aside; 20 - (SPELLS - 1)]);
    }

    #[test]
    fn losses_anywhere_are_repaired() {
        // 29 and 41 have no factor in common: every length of the queue is met.
        let found = rounds(200, |round, millis| millis == 40 + u64::from(round * 29 % 41));
        assert!(found.iter().all(|stance| *stance == Stance::Helps));
    }

    #[test]
    fn an_error_is_repaired_also_where_the_queue_is_known_to_overflow() {
        let found = rounds(20, |round, millis| millis == 80 || (round == 19 && millis == 50));
        assert_eq!(found[19..], [Stance::Helps, Stance::Aside]);
    }

    #[test]
    fn a_constant_queue_tells_nothing() {
        let mut spells = Spells::default();
        for spell in 0..50_u32 {
            let now = Time::from_nanos(u64::from(spell) * 1_000_000);
            spells.on_advance(now, Some(Span::from_millis(40)));
            let seq = Seq(spell * 10_000);
            spells.on_loss(now, seq, Some(seq + 5_000), true);
            assert_eq!(spells.stance(), Stance::Helps);
        }
    }

    #[test]
    fn what_is_left_is_left_until_all_of_the_flight_is_acknowledged() {
        let mut spells = Spells::default();
        let now = Time::ZERO;
        spells.on_loss(now, Seq(1_000), Some(Seq(9_000)), false);
        spells.leave();
        spells.on_loss(now, Seq(5_000), Some(Seq(12_000)), false);
        assert_eq!((spells.stance(), spells.losses()), (Stance::Aside, 2));
        spells.on_loss(now, Seq(9_000), Some(Seq(15_000)), false);
        assert_eq!((spells.stance(), spells.losses()), (Stance::Helps, 1));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut spells = Spells::default();
        for n in 0..100_000_u64 {
            spells.on_advance(Time::from_nanos(n), Some(Span::from_nanos(n)));
        }
        assert!(spells.waits.len() <= MOST_WAITS);
    }
}
