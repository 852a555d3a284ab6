//! What had passed at each drop, and between drops.

use super::super::path::Path;
use crate::account::{Stretch, Wait};
use crate::flow::Connection;
use ackord_units::Time;

/// A pause of the application is one from this time on, and from so many round trips, s.
const PAUSE: f64 = 0.2;
const PAUSE_ROUND_TRIPS: f64 = 2.0;

/// Bytes that had passed at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Since the connection began, s.
    pub(super) at: f64,
    pub(super) bytes: f64,
    /// The loss of which a packet was dropped then.
    pub(super) loss: Option<u32>,
    /// A pause of the application ended then: the bucket may be full.
    pub(super) rested: bool,
    /// The drop was before the capture point, so that its time is known to a round trip.
    pub(super) unseen: bool,
}

/// Returns what had passed at each drop, which is exact, and at the end of each stretch: what was acknowledged then
/// had passed a round trip before, and at the end of a pause all had.
pub(super) fn passed(connection: &Connection, side: usize, path: &Path) -> Vec<Passed> {
    let drops = at_drops(connection, side);
    let mut acked = 0.0;
    let of_stretch = |stretch: &Stretch| {
        if usize::from(stretch.side) == side {
            acked += stretch.seen.acked as f64;
        }
        let span = stretch.span().as_secs_f64();
        let idle = matches!(stretch.wait, Wait::Handshake | Wait::Idle(_) | Wait::ZeroWindow);
        let rested = idle && span >= PAUSE.max(PAUSE_ROUND_TRIPS * path.base);
        let trip = if idle { 0.0 } else { path.base };
        let at = (seconds(connection, stretch.to) - trip).max(0.0);
        let next = drops.partition_point(|drop| drop.at < at);
        let least = next.checked_sub(1).map_or(0.0, |before| drops[before].bytes);
        let most = drops.get(next).map_or(f64::INFINITY, |drop| drop.bytes);
        Passed { at, bytes: acked.min(most).max(least), loss: None, rested, unseen: false }
    };
    let mut points: Vec<Passed> = connection.account.stretches().iter().map(of_stretch).collect();
    points.extend(drops);
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}

/// Returns what had passed at each drop: what had been seen, without what was dropped of it.
fn at_drops(connection: &Connection, side: usize) -> Vec<Passed> {
    let mut drops = connection.halves[side].drops.clone();
    drops.sort_by_key(|drop| (drop.at, drop.before));
    let mut dropped = 0.0;
    let mut passed = 0.0_f64;
    let of_drop = |drop: &crate::flow::loss::Drop| {
        passed = passed.max(drop.before as f64 - dropped);
        dropped += f64::from(drop.seen);
        let at = seconds(connection, connection.when(side, drop.at));
        Passed { at, bytes: passed, loss: Some(drop.loss), rested: false, unseen: drop.seen == 0 }
    };
    drops.iter().map(of_drop).collect()
}

fn seconds(connection: &Connection, at: Time) -> f64 {
    at.saturating_since(connection.began).as_secs_f64()
}
