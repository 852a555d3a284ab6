//! The bottleneck around an instant: whether it was ever idle, how long packets waited, and whose
//! they were.

use super::facts::{FLOW, Facts, Transmitted};
use super::plan::{Bucket, Plan};
use ackord_units::Time;
use std::collections::BTreeSet;

/// The bottleneck in the direction of data.
pub(super) struct Bottleneck<'a> {
    all: &'a [Transmitted],
    /// When each transmission ended.
    ends: Vec<f64>,
    /// For how long it had transmitted before each.
    busy_before: Vec<f64>,
    /// For how long a shaper had held it back before each.
    held_before: Vec<f64>,
    /// Around every multiple of [`SLOT`]: the flow's share, and how many flows had a part.
    shares: Vec<Share>,
}

/// Who had how much for a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// The flow's share of what was transmitted.
    pub(super) own: f64,
    /// How many flows had a part in it.
    pub(super) flows: usize,
}

const SLOT: f64 = 0.1;

/// What it was like for a while.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    /// The share of time in which it transmitted.
    pub(super) busy: f64,
    /// The share of time in which a shaper held it back.
    pub(super) held: f64,
    /// The least that a packet waited, s.
    pub(super) standing: f64,
}

impl<'a> Bottleneck<'a> {
    pub(super) fn of(plan: &Plan, facts: &'a Facts) -> Bottleneck<'a> {
        let (mut ends, mut busy_before, mut busy) = (Vec::new(), Vec::new(), 0.0);
        let (mut held_before, mut held) = (Vec::new(), 0.0);
        let mut shaper = plan.shaper.map(Bucket::tokens);
        for one in &facts.bottleneck {
            let waits = shaper.as_mut().map_or(0.0, |bucket| {
                let at = Time::from_nanos((one.at * 1e9).round() as u64);
                bucket.shape(at, one.bytes as u32).saturating_since(at).as_secs_f64()
            });
            let takes = waits + one.bytes as f64 * 8.0 / plan.rate_at(one.at);
            held_before.push(held);
            held += waits;
            busy_before.push(busy);
            ends.push(one.at + takes);
            busy += takes;
        }
        let all = &facts.bottleneck;
        let slots = all.last().map_or(0, |last| (last.at / SLOT).ceil() as u64 + 1);
        let shares = (0..slots).map(|slot| share(all, slot as f64 * SLOT)).collect();
        Bottleneck { all, ends, busy_before, held_before, shares }
    }

    /// Who had how much in the second around this instant.
    pub(super) fn share(&self, at: f64) -> Share {
        self.shares.get((at / SLOT).round() as usize).copied().unwrap_or_default()
    }

    /// For how long it had transmitted until this instant.
    fn busy_until(&self, at: f64) -> f64 {
        let after = self.all.partition_point(|one| one.at <= at);
        after.checked_sub(1).map_or(0.0, |last| {
            self.busy_before[last] + (at.min(self.ends[last]) - self.all[last].at)
        })
    }

    /// Between two instants.
    pub(super) fn between(&self, from: f64, to: f64) -> Around {
        let first = self.all.partition_point(|one| one.at <= from);
        let last = self.all.partition_point(|one| one.at <= to);
        let within = &self.all[first..last.max(first)];
        let busy = (self.busy_until(to) - self.busy_until(from)) / (to - from);
        let held_until = |number: usize| self.held_before.get(number).copied();
        let held = held_until(last).or_else(|| self.held_before.last().copied()).unwrap_or(0.0);
        let held = (held - held_until(first).unwrap_or(held)) / (to - from);
        let standing = within.iter().map(|one| one.waited).fold(f64::INFINITY, f64::min);
        Around { busy, held, standing: if standing.is_finite() { standing } else { 0.0 } }
    }
}

fn share(all: &[Transmitted], at: f64) -> Share {
    let first = all.partition_point(|one| one.at <= at - 0.5);
    let last = all.partition_point(|one| one.at <= at + 0.5);
    let within = &all[first..last.max(first)];
    let bytes: u64 = within.iter().map(|one| one.bytes).sum();
    let own = within.iter().filter(|one| one.flow == FLOW).map(|one| one.bytes).sum::<u64>();
    let flows: BTreeSet<_> = within.iter().map(|one| one.flow).collect();
    Share { own: if bytes == 0 { 0.0 } else { own as f64 / bytes as f64 }, flows: flows.len() }
}
