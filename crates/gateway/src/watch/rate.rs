//! The rate of a queue that follows its link, as part of a status.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rate of a queue that follows the link behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateStatus {
    /// Whether decisions set the rate; otherwise they are only reported.
    pub applied: bool,
    /// The lowest rate, bit/s.
    pub min_bit_s: u64,
    /// The highest rate, bit/s.
    pub max_bit_s: u64,
    /// The rate at the start and after idle times, bit/s.
    pub start_bit_s: u64,
    /// The rate of the last decision, bit/s.
    pub decided_bit_s: u64,
    /// The reason of the last decision.
    pub reason: String,
    /// The rate that arrived at the mobile hosts, bit/s.
    pub delivered_bit_s: u64,
    /// The last measured time from the departure from the queue to the acknowledgment, ms.
    pub delay_ms: Option<f64>,
    /// That time while nothing queues in the link, ms.
    pub baseline_ms: Option<f64>,
    /// Decisions by reason.
    pub decisions: BTreeMap<String, u64>,
    /// The last changes, the newest first, at most [`RATE_CHANGES`].
    pub changes: Vec<RateChangeStatus>,
}

/// How many changes of a rate a status has.
pub const RATE_CHANGES: usize = 10;

/// Decisions in a row that changed a rate for the same reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateChangeStatus {
    /// Time since the last of them, s.
    pub ago_s: f64,
    /// Time from the first to the last, s.
    pub took_s: f64,
    /// The reason.
    pub reason: String,
    /// The rate before, bit/s.
    pub from_bit_s: u64,
    /// The rate after, bit/s.
    pub to_bit_s: u64,
    /// The delay at the last of them, ms.
    pub delay_ms: Option<f64>,
    /// The rate that arrived at the mobile hosts then, bit/s.
    pub delivered_bit_s: u64,
}
