//! What the paper leaves open: the same transfer with one detail changed, so that nobody takes the
//! answer of one reading for that of all.

use super::sample::Sample;
use super::setup::{Air, Control, Policy, SIZES, TRANSFERS, Transfer};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set, set_each};
use crate::tables::{interval, record, rows};
use ackord_report::document::{self, Table};
use serde::Serialize;

/// One detail changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
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

/// A detail with a policy.
pub(super) type Key = (&'static Detail, Policy);
pub(super) type Open = Cells<Key, Sample>;

/// Every detail with the base policy first.
pub(super) fn keys() -> impl Iterator<Item = Key> {
    DETAILS.iter().flat_map(|detail| {
        let beside: &[Policy] = if detail.id == PHONE_SENDS { &[Policy::Ari] } else { &BESIDE };
        let policies = std::iter::once(&Policy::QuickAck).chain(beside);
        policies.map(move |policy| (detail, *policy))
    })
}

pub(super) fn setup((detail, policy): Key) -> Setup {
    let air = if detail.id == "busy-air" { Air::Busy } else { Air::Quiet };
    let last = SIZES.len() - 1;
    let mut changes =
        Transfer { air, ..Transfer::as_described(last, Control::Reno, policy) }.changes();
    if detail.id == "long-timer" {
        for change in &mut changes {
            change.value = change.value.replace("'40 ms'", "'200 ms'");
        }
    }
    if detail.id == PHONE_SENDS {
        // The phone's choices are the sender's now; the host acknowledges as Linux does.
        changes.retain(|change| !change.path.starts_with("flows.transfer.receiver_tcp"));
        changes.extend([
            set("flows.transfer.sends", "client"),
            set("flows.transfer.tcp.nagle", policy.nagle()),
        ]);
    }
    Setup::new(TRANSFERS, changes).with(set_each(detail.changes))
}

/// The runs of a policy with a detail changed, if it was tried.
pub(super) fn find<'a>(open: &'a Open, id: &str, policy: Policy) -> Option<&'a Runs<Sample>> {
    let found = open.iter().find(|cell| (cell.key.0.id, cell.key.1) == (id, policy));
    found.map(|cell| &cell.runs)
}

pub(super) fn data(open: &Open) -> Vec<impl Serialize> {
    let data = |runs: &Cell<Key, Sample>| {
        let (detail, policy) = runs.key;
        let base = open.of(&(detail, Policy::QuickAck));
        record! {
            detail: detail.id,
            policy: policy,
            time_s: runs.mean(Sample::time_s),
            change_percent: runs.change_percent(base, Sample::time_s),
            acks: runs.mean(|run| run.acks),
        }
    };
    open.iter().map(data).collect()
}

pub(super) fn table(open: &Open) -> Table {
    let change = |base: &Cell<Key, Sample>, policy| {
        let found = open.get(&(base.key.0, policy));
        found.map_or(document::Cell::Missing, |runs| {
            interval(runs.change_percent(base, Sample::time_s), 1)
        })
    };
    rows(open.iter().filter(|cell| cell.key.1 == Policy::QuickAck))
        .words("changed", |base| base.key.0.label)
        .mean(("Linux (paper)", "ms"), 1, |base| base.mean_ms(Sample::time_s))
        .number(("rate", "Mbit/s"), 2, |base| base.mean(Sample::first_rate_mbit_s))
        .cell(("ARI (paper)", "%"), |base| change(base, Policy::Ari))
        .cell(("Linux (measured)", "%"), |base| change(base, Policy::Linux))
        .cell(("every segment", "%"), |base| change(base, Policy::Immediate))
        .titled(
            "1 MB by Reno with one detail changed: the time, and by how much each ACK policy \
             changes it",
        )
}
