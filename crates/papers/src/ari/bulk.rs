//! What ARI's two halves do to bulk, and what the history changes: Nagle off under small writes, and
//! quick-ACK counts on a long transfer (§3.2, last paragraph).

use super::sample::{Outcomes, Runs, Sample};
use super::setup::{File, Plan, set};
use super::transfers::{interval, thousand};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::Errors;
use serde::Serialize;
use std::ops::Range;

/// One way of sending small writes, or of acknowledging a transfer of 1 MB.
#[derive(Clone, Copy, Debug)]
struct Way {
    id: &'static str,
    label: &'static str,
    /// The value of the key that is varied.
    value: &'static str,
}

const fn way(id: &'static str, label: &'static str, value: &'static str) -> Way {
    Way { id, label, value }
}

/// The phone's Nagle.
static NAGLE: [Way; 4] = [
    way("minshall", "on, as in Linux", "minshall"),
    way("on", "on, as in RFC 896", "on"),
    way("ari-short", "ARI, history of short transfers: off", "{ kind = 'ari', verdict = 'short' }"),
    way("ari-bulk", "ARI, history of bulk: on again", "{ kind = 'ari', verdict = 'bulk' }"),
];

/// The phone's acknowledgments.
static COUNTS: [Way; 6] = [
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

#[derive(Debug)]
pub(super) struct BulkPlan {
    nagle: Vec<Range<usize>>,
    counts: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct Bulk {
    nagle: Vec<(Way, Runs)>,
    counts: Vec<(Way, Runs)>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct BulkData {
    nagle: Vec<WayData>,
    quick_ack_counts: Vec<WayData>,
}

#[derive(Clone, Debug, Serialize)]
struct WayData {
    way: &'static str,
    lasted_s: Estimate,
    goodput_mbit_s: Estimate,
    segments: Estimate,
    acks: Estimate,
    data_and_ack_air_s: Estimate,
}

pub(super) fn plan(plan: &mut Plan, runs: u32) -> Result<BulkPlan, Errors> {
    let mut ranges = |file, key: &str, ways: &[Way]| {
        ways.iter()
            .map(|way| plan.runs(file, &[set(key, way.value)], runs))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(BulkPlan {
        nagle: ranges(File::SmallWrites, "flows.stream.tcp.nagle", &NAGLE)?,
        counts: ranges(File::Transfers, "flows.transfer.receiver_tcp.ack", &COUNTS)?,
    })
}

pub(super) fn read(plan: &BulkPlan, outcomes: &Outcomes) -> Bulk {
    let runs = |ways: &[Way], ranges: &[Range<usize>]| {
        let pairs = ways.iter().zip(ranges);
        pairs.map(|(way, range)| (*way, outcomes.runs(range))).collect()
    };
    Bulk { nagle: runs(&NAGLE, &plan.nagle), counts: runs(&COUNTS, &plan.counts) }
}

fn air_s(run: &Sample) -> f64 {
    run.down_air_s + run.up_air_s
}

impl Bulk {
    /// The small writes with this Nagle.
    pub(super) fn nagle(&self, id: &str) -> &Runs {
        find(&self.nagle, id)
    }

    /// The transfer of 1 MB with these acknowledgments.
    pub(super) fn count(&self, id: &str) -> &Runs {
        find(&self.counts, id)
    }

    pub(super) fn data(&self) -> BulkData {
        let data = |ways: &[(Way, Runs)]| {
            let each = ways.iter().map(|(way, runs)| WayData {
                way: way.id,
                lasted_s: runs.mean(|run| run.lasted_s),
                goodput_mbit_s: runs.mean(|run| run.goodput_mbit_s),
                segments: runs.mean(|run| run.segments as f64),
                acks: runs.mean(|run| run.acks as f64),
                data_and_ack_air_s: runs.mean(air_s),
            });
            each.collect()
        };
        BulkData { nagle: data(&self.nagle), quick_ack_counts: data(&self.counts) }
    }

    pub(super) fn nagle_table(&self) -> Table {
        let columns = vec![
            Column::words("the phone's Nagle"),
            Column::numbers("took", "s"),
            Column::numbers("goodput", "Mbit/s"),
            Column::numbers("segments", ""),
            Column::numbers("ACKs", ""),
            Column::numbers("air", "s"),
        ];
        let rows = self.nagle.iter().map(|(way, runs)| {
            vec![
                Cell::text(way.label),
                interval(runs.mean(|run| run.lasted_s), 2),
                interval(runs.mean(|run| run.goodput_mbit_s), 3),
                Cell::number(runs.mean(|run| run.segments as f64).mean, 0),
                Cell::number(runs.mean(|run| run.acks as f64).mean, 0),
                interval(runs.mean(air_s), 3),
            ]
        });
        Table {
            caption: "4 MB in writes of 200 B, one every 0.25 ms: what Nagle's absence costs"
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }

    pub(super) fn count_table(&self) -> Table {
        let columns = vec![
            Column::words("ARI's history, and the count of quick acknowledgments"),
            Column::numbers("time of 1 MB", "ms"),
            Column::numbers("change", "%"),
            Column::numbers("ACKs", ""),
            Column::numbers("air of data and ACKs", "ms"),
        ];
        let base = self.count("quickack");
        let rows = self.counts.iter().map(|(way, runs)| {
            let change = runs.change_percent(base, Sample::time_s);
            vec![
                Cell::text(way.label),
                interval(thousand(runs.mean(Sample::time_s)), 1),
                if way.id == "quickack" { Cell::Missing } else { interval(change, 1) },
                Cell::number(runs.mean(|run| run.acks as f64).mean, 0),
                interval(thousand(runs.mean(air_s)), 1),
            ]
        });
        Table {
            caption:
                "What the history changes on a transfer of 1 MB (CUBIC, growing per acknowledgment)"
                    .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }
}

fn find<'a>(ways: &'a [(Way, Runs)], id: &str) -> &'a Runs {
    let found = ways.iter().find(|(way, _)| way.id == id);
    &found.expect("the plan has every way that is asked for").1
}
