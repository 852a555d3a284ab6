//! The lengths of transfers, and which of them is due.

use crate::{Draw, Transfer};
use ackord_units::Bytes;

/// How many lengths may still be drawn before a run, to learn the sizes of its flows.
///
/// A size that needs more draws stays unknown: a run must not wait for it.
#[derive(Debug)]
pub struct DrawBudget(u64);

impl DrawBudget {
    /// Two million draws, which take a twentieth of a second.
    pub const ONE_RUN: u64 = 2_000_000;

    /// A budget of `draws`.
    pub fn new(draws: u64) -> DrawBudget {
        DrawBudget(draws)
    }

    /// Takes `draws` out of the budget. Returns `None`, and takes nothing, if fewer are left.
    pub(crate) fn take(&mut self, draws: u64) -> Option<()> {
        self.0 = self.0.checked_sub(draws)?;
        Some(())
    }
}

impl Default for DrawBudget {
    fn default() -> DrawBudget {
        DrawBudget::new(DrawBudget::ONE_RUN)
    }
}

/// The lengths of transfers, in order.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    /// These in turn, from the front again after the last.
    Listed { lengths: Vec<Bytes>, next: usize },
    /// Drawn; at least one byte.
    Drawn(Draw),
}

impl Lengths {
    pub(crate) fn listed(lengths: Vec<Bytes>) -> Lengths {
        Lengths::Listed { lengths, next: 0 }
    }

    pub(crate) fn next(&mut self) -> Bytes {
        match self {
            Lengths::Listed { lengths, next } => {
                let length = lengths[*next % lengths.len()];
                *next += 1;
                length
            }
            Lengths::Drawn(draw) => Bytes(draw.draw().max(1)),
        }
    }

    /// The sum of the next `count` lengths.
    pub(crate) fn total(&self, count: u64) -> Bytes {
        let mut ahead = self.clone();
        (0..count).map(|_| ahead.next()).sum()
    }

    /// The sum of the next `count` lengths. Returns `None` if it takes more draws than the budget
    /// has left, or if it exceeds 2^64 - 1 bytes.
    pub(crate) fn total_within(&self, count: u64, budget: &mut DrawBudget) -> Option<Bytes> {
        if let Lengths::Drawn(draw) = self
            && let Some(length) = draw.constant()
        {
            return length.max(1).checked_mul(count).map(Bytes);
        }
        budget.take(count)?;
        let mut ahead = self.clone();
        (0..count).try_fold(0, |sum: u64, _| sum.checked_add(ahead.next().get())).map(Bytes)
    }
}

/// Which transfer is due, and how many there are.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    lengths: Lengths,
    count: Option<u64>,
    index: u64,
}

impl Script {
    pub(crate) fn new(lengths: Lengths, count: Option<u64>) -> Script {
        Script { lengths, count, index: 0 }
    }

    /// The next transfer, if there is one more.
    pub(crate) fn next(&mut self) -> Option<Transfer> {
        if self.is_over() {
            return None;
        }
        let transfer = Transfer { index: self.index, bytes: self.lengths.next() };
        self.index += 1;
        Some(transfer)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.count == Some(self.index)
    }

    /// How many there are in all, if they end.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count
    }

    /// The sum of all transfers from here on. Returns `None` if they do not end, or if the sum is
    /// out of the budget's reach.
    pub(crate) fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        self.lengths.total_within(self.count? - self.index, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use ackord_units::RandomStream;

    fn drawn(mean: u64, distribution: Distribution) -> Lengths {
        Lengths::Drawn(Draw::new(mean, distribution, RandomStream::for_element(1, "lengths")))
    }

    #[test]
    fn a_fixed_length_is_multiplied_and_costs_no_draws() {
        let mut none = DrawBudget::new(0);
        let total = drawn(70, Distribution::Fixed).total_within(1 << 50, &mut none);
        assert_eq!(total, Some(Bytes(70 << 50)));
    }

    #[test]
    fn a_sum_beyond_the_budget_is_unknown_and_leaves_the_budget_to_others() {
        let lengths = drawn(70, Distribution::Exponential);
        let mut budget = DrawBudget::new(100);
        assert_eq!(lengths.total_within(101, &mut budget), None);
        assert_eq!(lengths.total_within(100, &mut budget), Some(lengths.total(100)));
        assert_eq!(lengths.total_within(1, &mut budget), None);
    }

    #[test]
    fn a_sum_beyond_64_bits_is_unknown() {
        for distribution in [Distribution::Fixed, Distribution::Uniform] {
            let lengths = drawn(u64::MAX / 3, distribution);
            assert_eq!(lengths.total_within(1_000, &mut DrawBudget::default()), None);
        }
    }
}
