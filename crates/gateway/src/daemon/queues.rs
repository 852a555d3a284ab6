//! The queues of a configuration, at work in the path.

use super::DaemonError;
use crate::config::{GatewayConfig, QueueConfig};
use crate::in_path::{InPath, InPathConfig, InPathState, InPathStats};
use crate::watch::{DelayStatus, QueueState, QueueStatus};
use crate::{AttachBy, Journal};
use ackord_units::{Bytes, Knobs, Span};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most bytes that wait in a queue, whatever its own limit is.
const MEMORY: Bytes = Bytes(64 << 20);

/// Queues by interface.
#[derive(Debug)]
pub(super) struct Queues {
    journal: Arc<Journal>,
    at_work: Vec<(String, QueueConfig, InPath)>,
}

impl Queues {
    pub(super) fn new(journal: Arc<Journal>) -> Queues {
        Queues { journal, at_work: Vec::new() }
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
                    in_path.change(queue.discipline.clone(), queue.rate).map_err(failed)?;
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
        Ok(())
    }

    pub(super) fn status(&self) -> Vec<QueueStatus> {
        self.at_work
            .iter()
            .map(|(name, config, queue)| told(name, config, &queue.stats()))
            .collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "queues of two gateways need not draw alike")]
fn in_path(interface: &str, queue: &QueueConfig) -> InPathConfig {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    InPathConfig {
        interface: interface.to_owned(),
        queue: queue.discipline.clone(),
        rate: queue.rate,
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
        rate_bit_s: config.rate.as_bits_per_sec(),
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
