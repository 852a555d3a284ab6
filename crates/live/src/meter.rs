//! What a live meter shows: every link of a running emulation, ten times a second.
//!
//! ```text
//! events of the links ─► MeterFill (the driver's; no lock) ─ every 100 ms ─► MeterFeed ─► MeterView
//!                        tick(now): the interval is over                     (shared)     a copy to draw
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `meter.rs` | [`MeterFeed`]: what is shared between the driver and whoever draws |
//! | `meter/sample.rs` | [`DirectionSample`]: one direction of a link in one interval |
//! | `meter/fill.rs` | [`MeterFill`]: the driver's half, a sink of events |
//! | `meter/capacity.rs` | what a link could have carried in an interval |
//!
//! Everything is counted at the instants events bear, not at those at which they are told.
//!
//! Not modelled: what waits in a host's own stack before it enters the path; the airtime of a shared
//! medium (a link on one has no capacity of its own here).

mod capacity;
mod fill;
mod sample;

pub use fill::MeterFill;
pub use sample::{Carried, DirectionSample};

use crate::lateness::Lateness;
use ackord_scenario::{Scenario, Way};
use ackord_units::{Rate, Span, Time};
use capacity::Capacity;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The length of an interval.
pub const METER_INTERVAL: Span = Span::from_millis(100);
/// Intervals kept: five minutes.
pub const METER_KEPT: usize = 3_000;

/// A link of the scenario as the meter shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredLink {
    /// Its name in the scenario.
    pub name: String,
    /// What its two directions are called: forward, reverse.
    pub directions: [String; 2],
    /// The rates the scenario gives them.
    pub rates: [Rate; 2],
}

/// What the driver and whoever draws share: the latest five minutes of every link.
///
/// The driver takes the lock ten times a second, for the time of a small copy.
#[derive(Debug)]
pub struct MeterFeed {
    links: Vec<MeteredLink>,
    capacities: Vec<Capacity>,
    shared: Mutex<MeterShared>,
}

#[derive(Debug, Default)]
struct MeterShared {
    /// Number of the interval that `intervals` begins with.
    first: u64,
    /// For each interval two samples a link: forward, reverse.
    intervals: VecDeque<Vec<DirectionSample>>,
    lateness: Option<Lateness>,
    over: bool,
}

/// A copy of what there is about one link, to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterView {
    /// The link.
    pub link: MeteredLink,
    /// When the first of `samples` began, since the start of the run.
    pub began_at: Time,
    /// One sample for each direction (forward, reverse) and [`METER_INTERVAL`], the oldest first.
    pub samples: Vec<[DirectionSample; 2]>,
    /// How late the emulator has been since the run began; nothing before it has been told.
    pub lateness: Option<Lateness>,
    /// The emulation is over: nothing comes any more.
    pub over: bool,
}

impl MeterFeed {
    /// A feed for the links of `scenario`, which nobody fills yet. Directions are called after
    /// their nodes, `client → router`.
    pub fn of(scenario: &Scenario) -> MeterFeed {
        let name = |node| scenario.node(node).name.as_str();
        let named = |from, to| format!("{} → {}", name(from), name(to));
        let links = scenario.links.iter().map(|link| MeteredLink {
            name: link.name.clone(),
            directions: [named(link.from, link.to), named(link.to, link.from)],
            rates: [link.forward.rate, link.reverse.rate],
        });
        let capacities = scenario.links.iter().flat_map(|link| {
            [Way::Forward, Way::Reverse].map(|way| Capacity::of(link, link.direction(way)))
        });
        MeterFeed {
            links: links.collect(),
            capacities: capacities.collect(),
            shared: Mutex::default(),
        }
    }

    /// The same with other words for the directions of link `link`, such as "down" and "up".
    #[must_use]
    pub fn with_directions(mut self, link: usize, directions: [&str; 2]) -> MeterFeed {
        if let Some(link) = self.links.get_mut(link) {
            link.directions = directions.map(str::to_owned);
        }
        self
    }

    /// The links, in the scenario's order.
    pub fn links(&self) -> &[MeteredLink] {
        &self.links
    }

    /// The link of this name.
    pub fn link_named(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name == name)
    }

    /// The slowest link, by the slower of its directions: where packets are likely to wait. The
    /// first of several.
    pub fn slowest(&self) -> usize {
        let slower = |link: &MeteredLink| link.rates[0].min(link.rates[1]);
        let links = self.links.iter().enumerate();
        links.min_by_key(|(_, link)| slower(link)).map_or(0, |(index, _)| index)
    }

    /// A copy of the latest `span` of link `link`; nothing if there is no such link.
    pub fn view(&self, link: usize, span: Span) -> Option<MeterView> {
        let of = self.links.get(link)?;
        let shared = self.lock();
        let wanted = span.as_nanos().div_ceil(METER_INTERVAL.as_nanos()) as usize;
        let skipped = shared.intervals.len().saturating_sub(wanted);
        let pair = |ways: &Vec<DirectionSample>| [ways[link * 2], ways[link * 2 + 1]];
        Some(MeterView {
            link: of.clone(),
            began_at: start_of(shared.first + skipped as u64),
            samples: shared.intervals.iter().skip(skipped).map(pair).collect(),
            lateness: shared.lateness,
            over: shared.over,
        })
    }

    /// Whether the emulation is over.
    pub fn is_over(&self) -> bool {
        self.lock().over
    }

    /// The driver's half, which is told the events. One at a time: it begins where the run begins.
    pub fn fill(self: &Arc<MeterFeed>) -> MeterFill {
        MeterFill::new(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, MeterShared> {
        // What is kept is whole at every instant, so a panic elsewhere does not spoil it.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the driver has of interval `first` and those that follow, in place of what was there.
    fn publish<'a>(
        &self,
        first: u64,
        intervals: impl Iterator<Item = &'a Vec<DirectionSample>>,
        lateness: Option<Lateness>,
    ) {
        let mut shared = self.lock();
        for (number, ways) in (first..).zip(intervals) {
            if number > shared.first + shared.intervals.len() as u64 {
                // What is between was not lived through.
                shared.intervals.clear();
            }
            if shared.intervals.is_empty() {
                shared.first = number;
            }
            let Some(place) = number.checked_sub(shared.first) else { continue };
            let place = place as usize;
            match shared.intervals.get_mut(place) {
                Some(kept) => kept.copy_from_slice(ways),
                None => shared.intervals.push_back(ways.clone()),
            }
        }
        while shared.intervals.len() > METER_KEPT {
            shared.intervals.pop_front();
            shared.first += 1;
        }
        if lateness.is_some() {
            shared.lateness = lateness;
        }
    }

    fn end(&self) {
        self.lock().over = true;
    }
}

/// The number of the interval that `at` is in.
fn number_of(at: Time) -> u64 {
    at.as_nanos() / METER_INTERVAL.as_nanos()
}

/// When an interval begins.
fn start_of(number: u64) -> Time {
    Time::from_nanos(number * METER_INTERVAL.as_nanos())
}

#[cfg(test)]
mod tests;
