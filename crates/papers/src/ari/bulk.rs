//! What ARI's two halves do to bulk, and what the history changes: Nagle off under small writes, and
//! quick-ACK counts on a long transfer (§3.2, last paragraph).

use super::sample::Sample;
use super::setup::{SMALL_WRITES, TRANSFERS};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{interval, record, rows};
use ackord_report::document::{self, Table};
use serde::Serialize;

/// The phone's Nagle for small writes, or its ACK policy for a transfer of 1 MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    id: &'static str,
    label: &'static str,
    /// The value of the key that is varied.
    value: &'static str,
}

pub(super) type Ways = Cells<Way, Sample>;

const fn way(id: &'static str, label: &'static str, value: &'static str) -> Way {
    Way { id, label, value }
}

/// The phone's Nagle.
pub(super) static NAGLE: [Way; 4] = [
    way("minshall", "on, as in Linux", "minshall"),
    way("on", "on, as in RFC 896", "on"),
    way("ari-short", "ARI, history of short transfers: off", "{ kind = 'ari', verdict = 'short' }"),
    way("ari-bulk", "ARI, history of bulk: on again", "{ kind = 'ari', verdict = 'bulk' }"),
];

/// The phone's ACK policies.
pub(super) static COUNTS: [Way; 6] = [
    way("quickack", "Linux (paper): 2", "{ kind = 'quickack', count = 2, timeout = '40 ms' }"),
    way(
        "ari-2k",
        "usual size 2 kB: 8",
        "{ kind = 'ari', mode = 'paper', most_sent = '2 kB', segment = '536 B', timeout = '40 ms' }",
    ),
    way(
        "ari-1m-paper",
        "usual size 1 MB, to the letter: 3732",
        "{ kind = 'ari', mode = 'paper', most_sent = '1 MB', segment = '536 B', timeout = '40 ms' }",
    ),
    way(
        "ari-1m",
        "usual size 1 MB, practical: 512",
        "{ kind = 'ari', most_sent = '1 MB', segment = '536 B', timeout = '40 ms' }",
    ),
    way(
        "ari-1m-bulk",
        "usual size 1 MB, verdict bulk: 16",
        "{ kind = 'ari', most_sent = '1 MB', segment = '536 B', verdict = 'bulk', timeout = '40 ms' }",
    ),
    way("linux", "Linux (measured): 16, and more", "linux"),
];

impl Way {
    pub(super) fn small_writes(&self) -> Setup {
        Setup::new(SMALL_WRITES, vec![set("flows.stream.tcp.nagle", self.value)])
    }

    pub(super) fn transfer(&self) -> Setup {
        Setup::new(TRANSFERS, vec![set("flows.transfer.receiver_tcp.ack", self.value)])
    }
}

/// The runs with this Nagle, or with this ACK policy.
pub(super) fn of<'a>(ways: &'a Ways, id: &str) -> &'a Runs<Sample> {
    let found = ways.iter().find(|way| way.key.id == id);
    found.expect("the plan has every way that is asked for")
}

pub(super) fn data(ways: &Ways) -> Vec<impl Serialize> {
    let data = |runs: &Cell<Way, Sample>| {
        record! {
            way: runs.key.id,
            lasted_s: runs.mean(|run| run.lasted_s),
            goodput_mbit_s: runs.mean(|run| run.goodput_mbit_s),
            segments: runs.mean(|run| run.segments),
            acks: runs.mean(|run| run.acks),
            data_and_ack_air_s: runs.mean(Sample::air_s),
        }
    };
    ways.iter().map(data).collect()
}

pub(super) fn nagle_table(ways: &Ways) -> Table {
    rows(&**ways)
        .words("the phone's Nagle", |runs| runs.key.label)
        .mean(("took", "s"), 2, |runs| runs.mean(|run| run.lasted_s))
        .mean(("goodput", "Mbit/s"), 3, |runs| runs.mean(|run| run.goodput_mbit_s))
        .number(("segments", ""), 0, |runs| runs.mean(|run| run.segments))
        .number(("ACKs", ""), 0, |runs| runs.mean(|run| run.acks))
        .mean(("air", "s"), 3, |runs| runs.mean(Sample::air_s))
        .titled("4 MB in writes of 200 B, one every 0.25 ms: what Nagle's absence costs")
}

pub(super) fn count_table(ways: &Ways) -> Table {
    let base = of(ways, "quickack");
    rows(&**ways)
        .words("ARI's history, and the count of quick acknowledgments", |runs| runs.key.label)
        .mean(("time of 1 MB", "ms"), 1, |runs| runs.mean_ms(Sample::time_s))
        .cell(("change", "%"), |runs| match runs.key.id {
            "quickack" => document::Cell::Missing,
            _ => interval(runs.change_percent(base, Sample::time_s), 1),
        })
        .number(("ACKs", ""), 0, |runs| runs.mean(|run| run.acks))
        .mean(("air of data and ACKs", "ms"), 1, |runs| runs.mean_ms(Sample::air_s))
        .titled(
            "What the history changes on a transfer of 1 MB (CUBIC, growing per acknowledgment)",
        )
}
