//! The queues of a configuration, at work in the path.

use super::DaemonError;
use crate::config::{GatewayConfig, QueueConfig};
use crate::in_path::{InPath, InPathConfig, InPathState, InPathStats};
use crate::watch::{
    DelayStatus, QueueState, QueueStatus, RATE_CHANGES, RateChangeStatus, RateStatus,
};
use crate::{AttachBy, Decisions, FollowStats, Journal, RateChange};
use ackord_daemon::monotonic;
use ackord_path::follow::RateReason;
use ackord_units::{Bytes, Knobs, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most bytes that wait in a queue, whatever its own limit is.
const MEMORY: Bytes = Bytes(64 << 20);

/// Queues by interface.
#[derive(Debug)]
pub(super) struct Queues {
    journal: Arc<Journal>,
    at_work: Vec<(String, QueueConfig, InPath)>,
    /// By interface: the number of the last change of a rate that was logged.
    logged: BTreeMap<String, u64>,
}

impl Queues {
    pub(super) fn new(journal: Arc<Journal>) -> Queues {
        Queues { journal, at_work: Vec::new(), logged: BTreeMap::new() }
    }

    /// Starts, changes and stops what differs from what is at work. Where one cannot be started, those that
    /// were stay as they were.
    pub(super) fn follow(&mut self, config: &GatewayConfig) -> Result<(), DaemonError> {
        let wanted: Vec<(&str, &QueueConfig)> = config.queues().collect();
        let mut began = Vec::new();
        for &(interface, queue) in &wanted {
            let failed = |source| DaemonError::Queue { name: interface.to_owned(), source };
            match self.at_work.iter_mut().find(|(name, ..)| name == interface) {
                Some((_, is, _)) if is == queue => {}
                Some((_, is, in_path)) => {
                    let (rate, follow) = (queue.rate.first(), queue.rate.follow());
                    in_path.change(queue.discipline.clone(), rate, follow).map_err(failed)?;
                    *is = queue.clone();
                }
                None => {
                    let new = InPath::start(in_path(interface, queue), &self.journal);
                    began.push((interface.to_owned(), queue.clone(), new.map_err(failed)?));
                }
            }
        }
        self.at_work.retain(|(name, ..)| wanted.iter().any(|(interface, _)| interface == name));
        self.at_work.extend(began);
        self.logged.retain(|name, _| wanted.iter().any(|(interface, _)| interface == name));
        Ok(())
    }

    /// Returns the status of every queue, and logs the changes of rates since the last call.
    pub(super) fn status(&mut self) -> Vec<QueueStatus> {
        let mut each = Vec::new();
        for (name, config, queue) in &self.at_work {
            let stats = queue.stats();
            if let Some(follow) = &stats.follow {
                let logged = self.logged.entry(name.clone()).or_default();
                *logged = log(name, follow, *logged);
            }
            each.push(told(name, config, &stats));
        }
        each
    }
}

#[expect(clippy::disallowed_methods, reason = "queues of two gateways need not draw alike")]
fn in_path(interface: &str, queue: &QueueConfig) -> InPathConfig {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    InPathConfig {
        interface: interface.to_owned(),
        queue: queue.discipline.clone(),
        rate: queue.rate.first(),
        follow: queue.rate.follow(),
        delay: QueueConfig::DELAY,
        seed: now.as_nanos() as u64,
        memory: MEMORY,
        attach: AttachBy::Best,
        real_time: true,
    }
}

fn told(interface: &str, config: &QueueConfig, stats: &InPathStats) -> QueueStatus {
    let micros = |span: Span| span.as_nanos() as f64 / 1e3;
    let drops = stats.drops.iter().filter(|(_, count)| *count > 0);
    QueueStatus {
        interface: interface.to_owned(),
        discipline: config.discipline.mechanism().name.to_owned(),
        rate_bit_s: stats.rate.as_bits_per_sec(),
        follows: stats.follow.as_ref().map(rate_status),
        state: match &stats.state {
            InPathState::Steering => QueueState::Steering,
            InPathState::Waiting(why) => QueueState::Forwarding { why: why.clone() },
            InPathState::Stopped => QueueState::Forwarding { why: "it was stopped".to_owned() },
        },
        packets: stats.packets_out,
        bytes: stats.bytes_out,
        queued_packets: u64::from(stats.waiting),
        queued_bytes: stats.waiting_bytes.get(),
        drops: drops.map(|(why, count)| (why.to_owned(), count)).collect(),
        marked: stats.marked,
        delay: DelayStatus {
            count: stats.packets_out,
            p50_us: micros(stats.delay.p50),
            p99_us: micros(stats.delay.p99),
            max_us: micros(stats.delay.max),
            ..DelayStatus::default()
        },
    }
}

/// The rate and the reasons for it.
fn rate_status(stats: &FollowStats) -> RateStatus {
    let limits = stats.follow.limits;
    let last = stats.last.as_ref();
    let now = monotonic();
    let change = |change: &RateChange| RateChangeStatus {
        ago_s: now.saturating_since(change.ended_at).as_secs_f64(),
        took_s: change.ended_at.saturating_since(change.began_at).as_secs_f64(),
        reason: change.last.reason.name().to_owned(),
        from_bit_s: change.from.as_bits_per_sec(),
        to_bit_s: change.last.rate.as_bits_per_sec(),
        delay_ms: millis(change.last.delay),
        delivered_bit_s: change.last.delivered.as_bits_per_sec(),
    };
    let counts = RateReason::ALL.iter().zip(stats.counts);
    RateStatus {
        applied: stats.follow.decisions == Decisions::Apply,
        min_bit_s: limits.min.as_bits_per_sec(),
        max_bit_s: limits.max.as_bits_per_sec(),
        start_bit_s: limits.start.as_bits_per_sec(),
        decided_bit_s: last.map_or(limits.start, |last| last.rate).as_bits_per_sec(),
        reason: last.map_or(RateReason::Hold, |last| last.reason).name().to_owned(),
        delivered_bit_s: last.map_or(0, |last| last.delivered.as_bits_per_sec()),
        delay_ms: millis(stats.delay),
        baseline_ms: millis(last.and_then(|last| last.baseline)),
        decisions: counts.map(|(reason, count)| (reason.name().to_owned(), count)).collect(),
        changes: stats.changes.iter().rev().take(RATE_CHANGES).map(change).collect(),
    }
}

fn millis(span: Option<Span>) -> Option<f64> {
    span.map(|span| span.as_secs_f64() * 1e3)
}

/// Logs the changes after the one with this number that are over, and returns the number of the last. A dry run has them
/// at the level of messages that are there by default, since they are what it is for.
fn log(interface: &str, stats: &FollowStats, logged: u64) -> u64 {
    let now = monotonic();
    let newest = stats.changes.back().map_or(0, |change| change.number);
    let is_over = |change: &&RateChange| {
        change.number < newest || now.saturating_since(change.ended_at) >= Span::from_secs(1)
    };
    let mut last = logged;
    for change in stats.changes.iter().filter(|change| change.number > logged).filter(is_over) {
        last = change.number;
        let (from, to) = (change.from.to_string(), change.last.rate.to_string());
        let (reason, delivered) = (change.last.reason.name(), change.last.delivered.to_string());
        let (delay, baseline) = (millis(change.last.delay), millis(change.last.baseline));
        match stats.follow.decisions {
            Decisions::Apply => {
                tracing::debug!(interface, reason, from, to, delay, baseline, delivered, "rate");
            }
            Decisions::Report => tracing::info!(
                interface,
                reason,
                from,
                to,
                delay,
                baseline,
                delivered,
                "rate, not applied"
            ),
        }
    }
    last
}
