//! Losses that only gaps in packet numbers show, until it is known how the host numbers its packets.

use super::connection::Connection;
use super::loss::Loss;
use crate::Seen;
use crate::account::Wait;
use ackord_units::Time;

/// A silence that ends with a gap in the numbers: a loss if the host counts per socket, idleness otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    /// The time that the loss would have taken.
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// The number expected, and the number that came.
    pub(crate) numbers: [u16; 2],
    pub(crate) loss: Loss,
}

impl Suspect {
    /// Returns true if this number is one of those left out.
    pub(crate) fn lacks(&self, number: u16) -> bool {
        let [from, to] = self.numbers;
        number.wrapping_sub(from) < to.wrapping_sub(from)
    }
}

impl Connection {
    /// Takes the number of a packet. One that is late was not lost.
    #[inline]
    pub(super) fn number(&mut self, seen: &Seen, side: usize, at: Time) {
        let mss = self.halves[side].mss();
        let Some(late) = self.halves[side].numbers.take(seen, mss, at) else { return };
        let missing = |it: &Suspect| usize::from(it.loss.side) == side && it.lacks(late);
        if let Some(place) = self.suspects.iter().rposition(missing) {
            self.suspects[place].loss.skipped -= 1;
            if self.suspects[place].loss.skipped == 0 {
                self.suspects.remove(place);
            }
        }
    }

    /// Returns the sides in whose packet numbers a gap may show a loss.
    pub(super) fn sides_with_gaps(&self) -> impl Iterator<Item = usize> {
        let with = |side: usize| {
            let mine = |loss: &Loss| usize::from(loss.side) == side && loss.skipped > 0;
            self.losses.iter().chain(self.suspects.iter().map(|it| &it.loss)).any(mine)
        };
        [0, 1].into_iter().filter(move |side| with(*side))
    }

    /// Makes losses of suspects on the `trusted` sides, whose numbers prove them, and forgets those of the
    /// others.
    pub(super) fn settle_suspects(&mut self, trusted: [bool; 2]) {
        for loss in self.losses.iter_mut().filter(|loss| !trusted[usize::from(loss.side)]) {
            loss.skipped = 0;
        }
        let suspects = std::mem::take(&mut self.suspects);
        let proved = suspects.into_iter().filter(|it| trusted[usize::from(it.loss.side)]);
        for suspect in proved {
            let number = self.losses.len() as u32;
            self.losses.push(suspect.loss);
            let side = suspect.loss.side;
            self.account.rewrite(suspect.from, suspect.to, |stretch| {
                let quiet = matches!(stretch.wait, Wait::Idle(_) | Wait::Transit | Wait::Queued)
                    || (stretch.side == side
                        && matches!(stretch.wait, Wait::Window | Wait::SlowStart));
                quiet.then_some((Wait::Recovery, number))
            });
        }
        self.sort_losses();
    }

    /// Brings losses into the order of their times.
    fn sort_losses(&mut self) {
        if self.losses.is_sorted_by_key(|loss| loss.at) {
            return;
        }
        let mut order: Vec<u32> = (0..self.losses.len() as u32).collect();
        order.sort_by_key(|number| self.losses[*number as usize].at);
        self.losses = order.iter().map(|number| self.losses[*number as usize]).collect();
        let mut places = vec![0; order.len()];
        for (place, number) in (0..).zip(&order) {
            places[*number as usize] = place;
        }
        self.account.renumber_losses(&places);
        for drop in self.halves.iter_mut().flat_map(|half| &mut half.drops) {
            drop.loss = places.get(drop.loss as usize).copied().unwrap_or(drop.loss);
        }
    }
}
