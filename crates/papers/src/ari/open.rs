//! What the paper leaves open: the same transfer with one detail changed, so that nobody takes the
//! answer of one reading for that of all.

use super::sample::{Outcomes, Runs, Sample};
use super::setup::{Air, Control, File, Growth, Plan, Policy, SIZES, Setup, set};
use super::transfers::{interval, thousand};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use serde::Serialize;
use std::ops::Range;

/// One detail changed.
#[derive(Clone, Copy, Debug)]
struct Detail {
    id: &'static str,
    label: &'static str,
    changes: &'static [(&'static str, &'static str)],
}

const fn detail(
    id: &'static str,
    label: &'static str,
    changes: &'static [(&'static str, &'static str)],
) -> Detail {
    Detail { id, label, changes }
}

/// The id of the reading in which the phone sends.
pub(super) const PHONE_SENDS: &str = "phone-sends";

static DETAILS: [Detail; 14] = [
    detail("as-described", "as in the scenario file, Reno growing per acknowledgment", &[]),
    detail(
        "shallow-queue",
        "the access point queues 50 packets",
        &[("links.air.queue.limit", "50 packets")],
    ),
    detail("no-errors", "no frame is damaged", &[("links.air.medium.frame_error", "0 %")]),
    detail(
        "more-errors",
        "every fifth frame is damaged",
        &[("links.air.medium.frame_error", "20 %")],
    ),
    detail("slower-air", "24 Mbit/s on the air", &[("links.air.rate", "24 Mbit/s")]),
    detail(
        "aggregates",
        "802.11n at 65 Mbit/s with aggregates of up to 32 frames",
        &[
            ("links.air.rate", "65 Mbit/s"),
            ("links.air.medium.preamble", "36 us"),
            ("links.air.medium.aggregate_frames", "32"),
        ],
    ),
    detail("busy-air", "two other stations, now and then", &[]),
    detail("small-start", "an initial window of 2 segments", &[("tcp.initial_window", "2")]),
    detail("small-window", "a receive buffer of 16 kB", &[("tcp.receive_buffer", "16384 B")]),
    detail("distant-host", "a host 20 ms away", &[("links.wire.delay", "20 ms")]),
    detail(
        "distant-small-start",
        "a host 20 ms away, an initial window of 2 segments",
        &[("links.wire.delay", "20 ms"), ("tcp.initial_window", "2")],
    ),
    detail("long-timer", "acknowledgments wait for up to 200 ms", &[]),
    detail(
        "lossy",
        "one packet in 200 lost for good on the way to the phone",
        &[
            ("links.air.loss", "{ kind = 'random', per_packet = '0.5 %' }"),
            ("links.air.reverse.loss", "none"),
        ],
    ),
    detail(PHONE_SENDS, "the phone sends, the host acknowledges", &[]),
];

/// Policies beside the base; where the phone sends only ARI's other half, Nagle, is left of them.
const BESIDE: [Policy; 3] = [Policy::Ari, Policy::Linux, Policy::Immediate];

#[derive(Debug)]
pub(super) struct OpenPlan(Vec<Vec<(Policy, Range<usize>)>>);

/// Every detail with the runs of every policy.
#[derive(Clone, Debug)]
pub(super) struct Open(Vec<(Detail, Vec<(Policy, Runs)>)>);

#[derive(Clone, Debug, Serialize)]
pub(super) struct OpenData {
    detail: &'static str,
    policy: &'static str,
    time_s: Estimate,
    change_percent: Estimate,
    acks: Estimate,
}

impl Detail {
    fn overrides(&self, policy: Policy) -> Vec<Override> {
        let air = if self.id == "busy-air" { Air::Busy } else { Air::Quiet };
        let (control, growth) = (Control::Reno, Growth::PerAck);
        let setup = Setup { size: SIZES.len() - 1, control, growth, policy, air };
        let mut changes = setup.changes();
        if self.id == "long-timer" {
            for change in &mut changes {
                change.value = change.value.replace("'40 ms'", "'200 ms'");
            }
        }
        if self.id == PHONE_SENDS {
            // The phone's choices are the sender's now; the host acknowledges as Linux does.
            changes.retain(|change| !change.path.starts_with("flows.transfer.receiver_tcp"));
            changes.extend([
                set("flows.transfer.sends", "client"),
                set("flows.transfer.tcp.nagle", policy.nagle()),
            ]);
        }
        changes.extend(self.changes.iter().map(|(path, value)| set(path, *value)));
        changes
    }

    fn policies(&self) -> Vec<Policy> {
        let beside: &[Policy] = if self.id == PHONE_SENDS { &[Policy::Ari] } else { &BESIDE };
        std::iter::once(Policy::QuickAck).chain(beside.iter().copied()).collect()
    }
}

pub(super) fn plan(plan: &mut Plan, runs: u32) -> Result<OpenPlan, Errors> {
    let mut planned = Vec::new();
    for detail in &DETAILS {
        let mut of_detail = Vec::new();
        for policy in detail.policies() {
            let range = plan.runs(File::Transfers, &detail.overrides(policy), runs)?;
            of_detail.push((policy, range));
        }
        planned.push(of_detail);
    }
    Ok(OpenPlan(planned))
}

pub(super) fn read(plan: &OpenPlan, outcomes: &Outcomes) -> Open {
    let pairs = DETAILS.iter().zip(&plan.0);
    let read = pairs.map(|(detail, ranges)| {
        let runs = ranges.iter().map(|(policy, range)| (*policy, outcomes.runs(range)));
        (*detail, runs.collect())
    });
    Open(read.collect())
}

impl Open {
    /// The runs of a policy with a detail changed.
    pub(super) fn of(&self, id: &str, policy: Policy) -> &Runs {
        let (_, runs) = self.0.iter().find(|(detail, _)| detail.id == id).expect("a known detail");
        &runs.iter().find(|(known, _)| *known == policy).expect("a policy that was tried").1
    }

    pub(super) fn data(&self) -> Vec<OpenData> {
        let of_detail = |(detail, policies): &(Detail, Vec<(Policy, Runs)>)| {
            let (id, base) = (detail.id, &policies[0].1);
            let each = policies.iter().map(|(policy, runs)| OpenData {
                detail: id,
                policy: policy.name(),
                time_s: runs.mean(Sample::time_s),
                change_percent: runs.change_percent(base, Sample::time_s),
                acks: runs.mean(|run| run.acks as f64),
            });
            each.collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_detail).collect()
    }

    pub(super) fn table(&self) -> Table {
        let columns = vec![
            Column::words("changed"),
            Column::numbers("Linux (paper)", "ms"),
            Column::numbers("rate", "Mbit/s"),
            Column::numbers("ARI (paper)", "%"),
            Column::numbers("Linux (measured)", "%"),
            Column::numbers("every segment", "%"),
        ];
        let rows = self.0.iter().map(|(detail, policies)| {
            let base = &policies[0].1;
            let change = |policy: Policy| {
                let found = policies.iter().find(|(known, _)| *known == policy);
                found.map_or(Cell::Missing, |(_, runs)| {
                    interval(runs.change_percent(base, Sample::time_s), 1)
                })
            };
            vec![
                Cell::text(detail.label),
                interval(thousand(base.mean(Sample::time_s)), 1),
                Cell::number(base.mean(Sample::first_rate_mbit_s).mean, 2),
                change(Policy::Ari),
                change(Policy::Linux),
                change(Policy::Immediate),
            ]
        });
        Table {
            caption: "1 MB by Reno with one detail changed: the time, and by how much each way of \
                      acknowledging changes it"
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }
}
