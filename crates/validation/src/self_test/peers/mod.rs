//! Peers that are not Linux, and captures that are not tidy: captures of a run rewritten after it.
//!
//! | file | what |
//! | --- | --- |
//! | `record.rs` | a packet whose headers can be rewritten |
//! | `captures.rs` | the captures of a run, read and written |
//! | `ids.rs` | [`IdKind`]: identification fields of IPv4 |
//! | `clocks.rs` | [`TimestampClock`]; capture clocks that are set |
//! | `probes.rs` | window probes with a new byte; [`KeepAlives`] |
//! | `order.rs` | ACKs that overtake one another, or are captured before their data |
//! | `vantage.rs` | [`AnyInterface`], [`Direction`]: both interfaces of the router, one direction, a part |
//! | `families.rs` | the cases |
//!
//! A rewriting is deterministic, and the same packet is rewritten in the same way at every place. The
//! truth remains that of the run, except for capture clocks that are set: forward, the step is a capture
//! artefact; back, the time that the capture counts twice is left out.

mod captures;
mod clocks;
mod families;
mod ids;
mod order;
mod probes;
mod record;
#[cfg(test)]
mod tests;
mod vantage;

pub use clocks::TimestampClock;
pub(super) use families::peers;
pub use ids::IdKind;
pub use probes::KeepAlives;
pub use vantage::{AnyInterface, Direction as CapturedDirection};

use super::plan::Plan;
use super::run::{Place, SelfTestError};
use super::truth::TrueInterval;
use super::write::TruthFile;
use ackord_diagnose::Cause;
use ackord_live::Direction;
use ackord_wire::Side;
use captures::{Captures, Run};
use std::num::NonZeroU32;
use std::path::Path;

/// A rewriting of the captures of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Identification fields of IPv4.
    Ids(IdKind),
    /// Timestamps of TCP.
    Timestamps(TimestampClock),
    /// Probes of a zero window have a new byte.
    NewByteProbes,
    /// Keep-alives in idle phases.
    KeepAlives(KeepAlives),
    /// Pure ACKs overtake the ones before them.
    SwappedAcks,
    /// ACKs are captured before their data.
    EarlyAcks,
    /// The router's capture has both interfaces.
    Any(AnyInterface),
    /// The captures have one direction.
    OneWay(CapturedDirection),
    /// The captures begin at this time of the run, ms.
    FromTheMiddle(u64),
    /// So many bytes of each packet are kept.
    SnapLen(NonZeroU32),
    /// At a time of the run (ms) the capture clocks are set by so many milliseconds.
    ClockSet(u64, i64),
}

/// Rewrites the captures in `folder` as the plan says, and the truth where that changes. `began` is the
/// time of the run at which the connection's first packet left, s.
pub(super) fn rewrite(
    plan: &Plan,
    folder: &Path,
    began: f64,
    truth: &mut TruthFile,
) -> Result<(), SelfTestError> {
    if plan.changes.is_empty() {
        return Ok(());
    }
    let run = Run {
        ends: (truth.client, truth.server),
        sends: if plan.direction == Direction::Download { Side::Server } else { Side::Client },
        rtt: plan.rtt_ms * 1_000_000,
        rate: plan.rate_kbit * 1000,
        seed: plan.seed,
    };
    let mut captures = Captures::read(folder)?;
    for change in &plan.changes {
        apply(&mut captures, &run, *change);
        if let Change::ClockSet(at_ms, by_ms) = *change {
            set_truth(truth, at_ms as f64 / 1e3 - began, by_ms as f64 / 1e3);
        }
    }
    for (place, (_, began_s)) in Place::ALL.into_iter().zip(&mut truth.began_s) {
        let first = captures.at(place).records.iter().find(|it| it.is_between(run.ends));
        *began_s = first.map_or(*began_s, |first| first.at as f64 / 1e9 - began);
    }
    captures.write(folder)
}

fn apply(captures: &mut Captures, run: &Run, change: Change) {
    match change {
        Change::Ids(kind) => ids::renumber(captures, run, kind),
        Change::Timestamps(clock) => clocks::retime(captures, run, clock),
        Change::NewByteProbes => probes::probe_with_new_byte(captures, run),
        Change::KeepAlives(keep) => probes::keep_alive(captures, run, keep),
        Change::SwappedAcks => order::swap_acks(captures, run),
        Change::EarlyAcks => order::early_acks(captures, run),
        Change::Any(format) => vantage::any_interface(captures, run, format),
        Change::OneWay(direction) => vantage::one_way(captures, run, direction),
        Change::FromTheMiddle(at_ms) => vantage::from_the_middle(captures, at_ms * 1_000_000),
        Change::SnapLen(bytes) => vantage::cut(captures, bytes),
        Change::ClockSet(at_ms, by_ms) => {
            clocks::set_clock(captures, at_ms * 1_000_000, by_ms * 1_000_000);
        }
    }
}

/// Moves the truth to a capture clock that is set by `by` s at `at` s.
fn set_truth(truth: &mut TruthFile, at: f64, by: f64) {
    let artefact = (by > 0.0).then_some(TrueInterval {
        from_s: at,
        to_s: at + by,
        cause: Cause::CaptureArtefact,
        also: None,
    });
    // What a clock that is set back counts twice stays with the first time.
    let resumes = at - by.min(0.0);
    let cut = |one: &TrueInterval, from: f64, to: f64, shift: f64| {
        let (from_s, to_s) = (one.from_s.max(from), one.to_s.min(to));
        let moved = TrueInterval { from_s: from_s + shift, to_s: to_s + shift, ..*one };
        (from_s < to_s).then_some(moved)
    };
    let all = &truth.intervals;
    let before = all.iter().filter_map(|one| cut(one, f64::NEG_INFINITY, at, 0.0));
    let after = all.iter().filter_map(|one| cut(one, resumes, f64::INFINITY, by));
    let intervals = before.chain(artefact).chain(after).collect();
    truth.intervals = intervals;
    truth.duration_s += by;
}
