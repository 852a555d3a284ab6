//! What a run added up to, in the form and order of the JSON output.
//!
//! Times ending in `_s` are seconds, delays are milliseconds, `_bit_s` is bit/s. A quantity nobody
//! could measure (a delay without a packet) is null, not zero.

use super::{FlowSummary, LinkSummary, ProxySummary, QueueSummary};
use crate::metric::Sheet::*;
use crate::metric::{MBIT_S, PACKETS, PERCENT, PLAIN, S, summary};
use crate::stats;

/// What makes a run repeatable.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RunIdentity {
    /// Hash of the scenario in canonical form.
    pub scenario_hash: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
}

summary! {
    /// A whole run.
    pub struct RunSummary, metrics RUN_METRICS {
        /// Hash of the scenario in canonical form.
        scenario_hash: String;
        /// Seed of every random stream.
        seed: u64;
        /// Version of the program.
        version: String;
        /// Where the run ended.
        duration_s: f64 => S, [];
        /// How the flows shared.
        fairness: FairnessSummary;
        /// One per connection, in the scenario's order.
        flows: Vec<FlowSummary>;
        /// Packets for which no link was found at all.
        unroutable_packets: u64 => PACKETS, [];
        /// One per direction of a link.
        queues: Vec<QueueSummary>;
        /// One per direction of a link.
        links: Vec<LinkSummary>;
        /// One per middlebox; left out where there is none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        proxies: Vec<ProxySummary>;
    }
    derived {
        /// Goodput of all flows together.
        total_goodput_bit_s = |run| Some(run.flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>()) =>
            MBIT_S, [Compared.at(0), RunsSideBySide.named(0, "total goodput")];
        /// Jain's index of the goodputs; null without a flow that delivered data.
        jain_index = |run| run.fairness.jain_index => PLAIN, [
            Compared.at(1), RunsSideBySide.named(1, "Jain's index"),
        ];
        /// Smallest goodput over largest, in percent; null without a flow that delivered data.
        min_max_percent = |run| run.fairness.min_max_percent => PERCENT, [
            Compared.at(2), RunsSideBySide.named(2, "min/max"),
        ];
    }
}

/// How the connections that delivered any data shared, judged by goodput. (Datagrams take what
/// they take: they are not asked to share.)
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct FairnessSummary {
    /// How many connections delivered data.
    pub flows: u32,
    /// Jain's index; null without such a flow.
    pub jain_index: Option<f64>,
    /// Smallest goodput over largest, in percent; null without such a flow.
    pub min_max_percent: Option<f64>,
}

impl FairnessSummary {
    /// The fairness among those of `flows` that delivered data.
    pub fn of(flows: &[FlowSummary]) -> FairnessSummary {
        let goodputs: Vec<_> = flows
            .iter()
            .filter(|flow| flow.bytes_delivered > 0 && flow.datagrams.is_none())
            .map(|flow| flow.goodput_bit_s)
            .collect();
        FairnessSummary {
            flows: u32::try_from(goodputs.len()).unwrap_or(u32::MAX),
            jain_index: stats::jain_index(&goodputs),
            min_max_percent: stats::min_max_percent(&goodputs),
        }
    }
}
