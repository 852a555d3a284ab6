//! What passed the routers of live runs.

use super::{RoutedRun, Stands};
use ackord_report::document::{Block, Section};
use ackord_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// What passed the routers of live runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Passed {
    /// Live runs.
    pub runs: usize,
    /// Packets handed to a router's kernel.
    pub handed: u64,
    /// Those that came out as they had gone in.
    pub forwarded: u64,
    /// Packets that the gateway made.
    pub made: u64,
    /// Packets that did not come out though nobody was there to take them: any of a run without a
    /// gateway, and those towards the mobile host where it stood beside the path.
    pub lost: u64,
    /// Packets towards the fixed host that a gateway beside the path took away: duplicate
    /// acknowledgments, where its remedy asks for it.
    pub taken_away: u64,
    /// Packets that a queue of the gateway dropped, or still had when a run ended.
    pub dropped_by_queue: u64,
    /// Packets for which a router's device had no room.
    pub refused: u64,
    /// Packets with data that hosts got and of which nobody knew any more what was sent there; of all
    /// others it was the same.
    pub unchecked: u64,
    /// The median time inside, the largest of all runs without a queue of the gateway, microseconds.
    pub inside_p50_us: f64,
    /// The 99th percentile of it, likewise.
    pub inside_p99_us: f64,
    /// How soon lost data was retransmitted after outages, by remedy.
    pub replays: Vec<Replays>,
}

/// How soon a remedy sent lost data again after outages: from when the first packet of the mobile host was
/// handed to the router to when the first segment that the gateway made came out, the emulator's turns included.
#[derive(Clone, Debug, Serialize)]
pub struct Replays {
    /// The remedy.
    pub remedy: String,
    /// Outages after which it sent any.
    pub outages: u64,
    /// The median, milliseconds.
    pub median_ms: f64,
    /// The longest, milliseconds.
    pub longest_ms: f64,
}

impl Passed {
    pub(super) fn of(runs: &[RoutedRun]) -> Passed {
        let mut passed = Passed { runs: runs.len(), ..Passed::default() };
        let micros = |span: Span| span.as_secs_f64() * 1e6;
        passed.replays = Replays::of(runs);
        for RoutedRun { router, unchecked, gateway, .. } in runs {
            passed.unchecked += unchecked;
            for way in [router.to_mobile, router.to_fixed] {
                passed.handed += way.handed;
                passed.forwarded += way.forwarded;
                passed.made += way.made;
                passed.refused += way.refused;
            }
            let [to_mobile, to_fixed] = [router.to_mobile, router.to_fixed].map(|way| way.missing);
            match gateway {
                Stands::Nowhere => passed.lost += to_mobile + to_fixed,
                Stands::Beside => {
                    passed.lost += to_mobile;
                    passed.taken_away += to_fixed;
                }
                Stands::InPath => {
                    passed.dropped_by_queue += to_mobile + to_fixed;
                    // They waited in its queue.
                    continue;
                }
            }
            passed.inside_p50_us = passed.inside_p50_us.max(micros(router.inside.p50));
            passed.inside_p99_us = passed.inside_p99_us.max(micros(router.inside.p99));
        }
        passed
    }
}

impl Replays {
    fn of(runs: &[RoutedRun]) -> Vec<Replays> {
        let mut by_remedy: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for RoutedRun { router, remedy, .. } in runs {
            // A run has an outage, or none.
            if let Some(remedy) = remedy.as_deref().filter(|_| router.replayed.packets > 0) {
                by_remedy.entry(remedy).or_default().push(router.replayed.max);
            }
        }
        let millis = |span: Span| span.as_secs_f64() * 1e3;
        let of = |(remedy, mut after): (&str, Vec<Span>)| {
            after.sort_unstable();
            Replays {
                remedy: remedy.to_owned(),
                outages: after.len() as u64,
                median_ms: millis(after[after.len() / 2]),
                longest_ms: millis(after[after.len() - 1]),
            }
        };
        by_remedy.into_iter().map(of).collect()
    }

    fn told(&self) -> String {
        let Replays { remedy, outages, median_ms, longest_ms } = self;
        format!(
            "With {remedy} the first segment retransmitted after an outage left the router {median_ms:.1} \
             ms after the first packet of the mobile host had come there (median of {outages}; longest \
             {longest_ms:.1} ms)."
        )
    }
}

/// What the hop through the kernel cost, and how all of it is measured.
pub(super) fn section(passed: &Passed) -> Section {
    let &Passed { runs, handed, forwarded, made, lost, taken_away, .. } = passed;
    let &Passed { dropped_by_queue, refused, unchecked, .. } = passed;
    let &Passed { inside_p50_us, inside_p99_us, .. } = passed;
    let mut notes = vec![
        format!(
            "{handed} packets were handed to the routers of {runs} live runs; {forwarded} came out as they \
             had gone in. {lost} were lost there, for {refused} there was no room, {taken_away} duplicate \
             acknowledgments were taken away by the gateway, and its queues dropped {dropped_by_queue}. \
             {made} came out that had not gone in: the gateway made them."
        ),
        format!(
            "Each byte of data that a host got was compared with what the other had sent there: all were the \
             same, and of {unchecked} packets nobody knew any more what was sent."
        ),
        format!(
            "Without a queue of the gateway a packet was inside for {inside_p50_us:.0} us (the median of the worst run; 99 %: \
             {inside_p99_us:.0} us), devices and turns of the emulator included. The simulator has no such \
             hop."
        ),
        "An error is the simulator's mean relative to the live one; behind it where it lies with 95 % \
         confidence, by Student's t over the differences seed by seed. Within the goal is what has its \
         whole interval there, outside what has none of it there, undecided what lies across."
            .to_owned(),
        "A gain is the goodput over that without a remedy, both with the same seeds.".to_owned(),
        "The wireless link and the wired delay are emulated; the hosts and the router are network \
         namespaces of one machine, each with the kernel's own TCP and forwarding. All flows are treated: \
         none is left alone to be compared with."
            .to_owned(),
    ];
    notes.extend(passed.replays.iter().map(Replays::told));
    Section::new("How it is measured").with(Block::Notes(notes))
}
