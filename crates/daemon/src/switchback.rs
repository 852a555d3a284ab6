//! A remedy judged by turns of the whole link: with the remedy, and without.
//!
//! Connections that share a link share its queue: what those with a remedy take, the others lose, so that a comparison
//! of the two shows a gain where the link as a whole gains nothing. A switchback treats all or none of them, in turns
//! of minutes in random order, and compares what the link did (Spang et al., "Unbiased Experiments in Congested
//! Networks", IMC 2021). The beginning of each turn is left out: queues and windows are still those of the turn before.
//!
//! Turns form blocks: in each, one turn at a random position is without the remedy. Turns are compared within their
//! block, so that slow changes of the load cancel.

use crate::share::mix;
use ackord_measure::welch::{Difference, paired};
use ackord_units::{Span, Time, portable};
use std::collections::VecDeque;

/// Blocks that are remembered: conditions change, and so does what a remedy is worth.
const REMEMBERED: usize = 64;
/// Bytes on the air per useful byte may rise by this share before the remedy is held to waste them.
const MORE_ON_AIR: f64 = 0.1;
/// Round trips of connections without a remedy may grow by this share.
const MORE_DELAY: f64 = 0.25;

/// How turns are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// The length of a turn.
    pub length: Span,
    /// The beginning of each that is left out.
    pub settle: Span,
    /// Turns of a block, of which one is without the remedy; at least 2.
    pub in_block: u32,
}

impl Turns {
    /// Returns whether the remedy is at work in turn `number`. It follows from the number and `seed` alone; the first turn
    /// always has it, so that whoever starts the daemon sees it at work.
    pub fn is_treated(&self, seed: u64, number: u64) -> bool {
        let in_block = u64::from(self.in_block.max(2));
        let drawn = mix(seed ^ mix(number / in_block));
        let untreated = match number / in_block {
            0 => 1 + drawn % (in_block - 1),
            _ => drawn % in_block,
        };
        number % in_block != untreated
    }
}

/// What a link did in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkTotals {
    /// Payload acknowledged by the mobile hosts, bytes.
    pub useful_bytes: f64,
    /// Bytes that went towards the mobile hosts, retransmissions and injected packets included.
    pub air_bytes: f64,
    /// The time in which data was under way, summed over connections, seconds.
    pub active_s: f64,
    /// Round trips behind the gateway of connections that get no remedy in any turn: their sum, seconds.
    pub others_rtt_s: f64,
    /// And their number.
    pub others_rtts: f64,
}

impl LinkTotals {
    /// Returns what was added since `before`.
    #[must_use]
    pub fn since(&self, before: &LinkTotals) -> LinkTotals {
        LinkTotals {
            useful_bytes: self.useful_bytes - before.useful_bytes,
            air_bytes: self.air_bytes - before.air_bytes,
            active_s: self.active_s - before.active_s,
            others_rtt_s: self.others_rtt_s - before.others_rtt_s,
            others_rtts: self.others_rtts - before.others_rtts,
        }
    }

    /// Adds `more`.
    pub fn add(&mut self, more: &LinkTotals) {
        self.useful_bytes += more.useful_bytes;
        self.air_bytes += more.air_bytes;
        self.active_s += more.active_s;
        self.others_rtt_s += more.others_rtt_s;
        self.others_rtts += more.others_rtts;
    }

    /// Returns the value of an outcome; `None` where nothing passed.
    pub fn value(&self, outcome: Outcome) -> Option<f64> {
        let (of, over) = match outcome {
            Outcome::Goodput => (self.useful_bytes, 1.0),
            Outcome::TimePerByte => (self.active_s, self.useful_bytes),
            Outcome::AirPerByte => (self.air_bytes, self.useful_bytes),
            Outcome::OthersDelay => (self.others_rtt_s, self.others_rtts),
        };
        (of > 0.0 && over > 0.0).then(|| of / over)
    }
}

/// What is compared between turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Useful bytes of all connections in a turn.
    Goodput,
    /// Time in which data was under way, per useful byte.
    TimePerByte,
    /// Bytes towards the mobile hosts per useful byte.
    AirPerByte,
    /// Mean round trip of connections without a remedy.
    OthersDelay,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 4] =
        [Outcome::Goodput, Outcome::TimePerByte, Outcome::AirPerByte, Outcome::OthersDelay];

    /// Describes harm by this outcome.
    pub fn harm_words(self) -> &'static str {
        match self {
            Outcome::Goodput => "the link delivers less with it than without",
            Outcome::TimePerByte => "transfers over the link take longer with it than without",
            Outcome::AirPerByte => "it puts more bytes on the air, and nothing arrives sooner",
            Outcome::OthersDelay => "it delays the connections that get no remedy",
        }
    }
}

/// A block of turns: the treated ones together, and the untreated one.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    number: u64,
    treated: (LinkTotals, u32),
    untreated: (LinkTotals, u32),
}

impl Block {
    /// The logarithm of treated over untreated, per turn; `None` until the block is complete.
    fn effect(&self, outcome: Outcome, in_block: u32) -> Option<f64> {
        let ((treated, turns), (untreated, one)) = (self.treated, self.untreated);
        if one != 1 || turns + 1 != in_block.max(2) {
            return None;
        }
        let per_turn = if outcome == Outcome::Goodput { f64::from(turns) } else { 1.0 };
        Some(
            portable::ln(treated.value(outcome)? / per_turn)
                - portable::ln(untreated.value(outcome)?),
        )
    }
}

/// What turns with a remedy differ by from turns without.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCompared {
    /// Complete blocks.
    pub blocks: usize,
    /// The logarithm of treated over untreated with its 95 % interval, in the order of [`Outcome::ALL`].
    pub log_ratios: [Option<Difference>; 4],
}

/// The turns of a link.
#[derive(Clone, Debug)]
pub struct Switchback {
    turns: Turns,
    seed: u64,
    /// The number of the present turn.
    number: u64,
    /// Whether the remedy is at work in it; drivers read this for each packet.
    is_treated: bool,
    began: Time,
    /// Totals when the beginning of the turn was over.
    settled: Option<LinkTotals>,
    blocks: VecDeque<Block>,
}

impl Switchback {
    /// Begins turns at `now`.
    pub fn new(turns: Turns, seed: u64, now: Time) -> Switchback {
        let (number, is_treated) = (0, turns.is_treated(seed, 0));
        let blocks = VecDeque::new();
        Switchback { turns, seed, number, is_treated, began: now, settled: None, blocks }
    }

    /// Returns whether the remedy is at work in the present turn.
    #[inline]
    pub fn is_treated(&self) -> bool {
        self.is_treated
    }

    /// Takes the totals of the link at `now`, and goes on to the next turn when it is time. Returns whether the remedy
    /// began or ceased to be at work.
    pub fn advance(&mut self, now: Time, totals: impl FnOnce() -> LinkTotals) -> bool {
        let passed = now.saturating_since(self.began);
        let is_over = passed >= self.turns.length;
        if !is_over && (self.settled.is_some() || passed < self.turns.settle) {
            return false;
        }
        let totals = totals();
        let Some(settled) = self.settled.filter(|_| is_over) else {
            self.settled = Some(totals);
            // A clock that jumped over the turn leaves nothing to compare.
            return is_over && self.next(now);
        };
        let in_block = u64::from(self.turns.in_block.max(2));
        let (number, is_treated) = (self.number / in_block, self.is_treated());
        if self.blocks.back().is_none_or(|block| block.number != number) {
            self.blocks.push_back(Block { number, ..Block::default() });
        }
        let block = self.blocks.back_mut().expect("it was pushed if there was none");
        let (sum, turns) = if is_treated { &mut block.treated } else { &mut block.untreated };
        sum.add(&totals.since(&settled));
        *turns += 1;
        if self.blocks.len() > REMEMBERED {
            self.blocks.pop_front();
        }
        self.next(now)
    }

    fn next(&mut self, now: Time) -> bool {
        let before = self.is_treated;
        self.number += 1;
        self.is_treated = self.turns.is_treated(self.seed, self.number);
        (self.began, self.settled) = (now, None);
        self.is_treated != before
    }

    fn effects(&self, outcome: Outcome) -> Vec<f64> {
        let of = |block: &Block| block.effect(outcome, self.turns.in_block);
        self.blocks.iter().filter_map(of).collect()
    }

    /// Compares turns with the remedy and turns without.
    pub fn compare(&self) -> LinkCompared {
        let log_ratios = Outcome::ALL.map(|outcome| paired(&self.effects(outcome), 0.95));
        LinkCompared { blocks: self.effects(Outcome::Goodput).len(), log_ratios }
    }

    /// Returns by what the remedy harms the link, if an interval of this confidence over at least `blocks` blocks shows
    /// it. More bytes on the air are harm if neither the link nor its transfers surely become faster by them.
    pub fn harm(&self, confidence: f64, blocks: usize) -> Option<Outcome> {
        let interval = |outcome| {
            let effects = self.effects(outcome);
            (effects.len() >= blocks).then(|| paired(&effects, confidence)).flatten()
        };
        let surely_above = |outcome, log: f64| interval(outcome).is_some_and(|it| it.low > log);
        let surely_below = |outcome, log: f64| interval(outcome).is_some_and(|it| it.high < log);
        let is_faster =
            surely_above(Outcome::Goodput, 0.0) || surely_below(Outcome::TimePerByte, 0.0);
        let wastes = surely_above(Outcome::AirPerByte, portable::ln(1.0 + MORE_ON_AIR));
        match () {
            () if surely_below(Outcome::Goodput, 0.0) => Some(Outcome::Goodput),
            () if surely_above(Outcome::TimePerByte, 0.0) => Some(Outcome::TimePerByte),
            () if wastes && !is_faster => Some(Outcome::AirPerByte),
            () if surely_above(Outcome::OthersDelay, portable::ln(1.0 + MORE_DELAY)) => {
                Some(Outcome::OthersDelay)
            }
            () => None,
        }
    }
}

#[cfg(test)]
mod tests;
