//! The tables of a data set, which metrics of them are kept, and one of these by its name.

use super::record::{Part, Record};
use ackord_measure::stats::mean;
use ackord_measure::{
    FLOW_METRICS, LINK_METRICS, Metric, PROXY_METRICS, QUEUE_METRICS, RUN_METRICS, RunLabels,
    RunSummary, Unit,
};
use ackord_scenario::{NameOf, Wrong};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table: a row per run, or per part of it.
pub(super) struct TableOf {
    pub(super) name: &'static str,
    /// What tells its parts apart.
    pub(super) words: &'static [&'static str],
    pub(super) metrics: fn() -> Vec<MetricOf>,
    /// The rows of a run, with these of the metrics.
    pub(super) rows: fn(&RunSummary, &[usize]) -> Vec<Part>,
    /// The names its parts have.
    parts: fn(&RunLabels) -> Vec<&str>,
}

/// A metric, whatever it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricOf {
    /// Which of all of its kind.
    at: usize,
    pub(super) key: &'static str,
    pub(super) unit: Unit,
    pub(super) counted: bool,
}

/// Every table, that of whole runs first: a bare name is looked for in this order.
pub(super) static TABLES: &[TableOf] = &[
    TableOf {
        name: "runs",
        words: &[],
        metrics: || metrics(RUN_METRICS),
        rows: |run, wanted| vec![part(Vec::new(), RUN_METRICS, wanted, run)],
        parts: |_| Vec::new(),
    },
    TableOf {
        name: "flows",
        words: &["flow"],
        metrics: || metrics(FLOW_METRICS),
        rows: |run, wanted| {
            let row = |flow| part(vec![flow_name(flow)], FLOW_METRICS, wanted, flow);
            run.flows.iter().map(row).collect()
        },
        parts: |labels| labels.flows.iter().map(|flow| flow.name.as_str()).collect(),
    },
    TableOf {
        name: "links",
        words: &["link"],
        metrics: || metrics(LINK_METRICS),
        rows: |run, wanted| {
            let links = run.links.iter();
            links.map(|link| part(vec![link.name.clone()], LINK_METRICS, wanted, link)).collect()
        },
        parts: link_names,
    },
    TableOf {
        name: "queues",
        words: &["link", "queue"],
        metrics: || metrics(QUEUE_METRICS),
        rows: |run, wanted| {
            let queues = run.queues.iter();
            let words = |link: &String, queue: &String| vec![link.clone(), queue.clone()];
            queues
                .map(|queue| part(words(&queue.link, &queue.queue), QUEUE_METRICS, wanted, queue))
                .collect()
        },
        parts: link_names,
    },
    TableOf {
        name: "proxies",
        words: &["proxy"],
        metrics: || metrics(PROXY_METRICS),
        rows: |run, wanted| {
            let boxes = run.proxies.iter();
            boxes.map(|one| part(vec![one.name.clone()], PROXY_METRICS, wanted, one)).collect()
        },
        parts: |labels| labels.proxies.iter().map(|proxy| proxy.name.as_str()).collect(),
    },
];

fn flow_name(flow: &ackord_measure::FlowSummary) -> String {
    flow.name.clone()
}

fn link_names(labels: &RunLabels) -> Vec<&str> {
    labels.links.iter().map(|link| link.name.as_str()).collect()
}

/// Those that stand in tables.
fn metrics<T>(metrics: &'static [Metric<T>]) -> Vec<MetricOf> {
    let of = |(at, metric): (usize, &Metric<T>)| MetricOf {
        at,
        key: metric.key,
        unit: metric.unit,
        counted: metric.counted,
    };
    let shown = metrics.iter().enumerate().filter(|(_, metric)| !metric.places.is_empty());
    shown.map(of).collect()
}

fn part<T>(
    words: Vec<String>,
    metrics: &'static [Metric<T>],
    wanted: &[usize],
    subject: &T,
) -> Part {
    let values = wanted.iter().map(|&at| (metrics[at].of)(subject).into());
    Part(words, values.collect())
}

/// Of each table, where the metrics that are kept are among all of their kind: worked out once for all runs.
pub(super) struct Places(pub(super) Vec<Vec<usize>>);

/// Which metrics of each table are kept: table to keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept(BTreeMap<String, Vec<String>>);

impl Kept {
    /// Those of these names, `KEY` or `TABLE.KEY`, all where there is none; and what is wrong with a name.
    pub(super) fn of(names: &[&str]) -> (Kept, Vec<(usize, Wrong)>) {
        let mut wrong = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let (table, key) =
                name.split_once('.').map_or((None, *name), |(table, key)| (Some(table), key));
            let tables = TABLES.iter().filter(|of| table.is_none_or(|table| table == of.name));
            let keys: Vec<_> = tables.flat_map(|of| (of.metrics)()).map(|of| of.key).collect();
            if !keys.contains(&key) {
                wrong.push((at, unknown(name, table, &keys)));
            }
        }
        let wants = |table: &str, key: &str| {
            names.is_empty()
                || names.iter().any(|name| match name.split_once('.') {
                    Some((of, name)) => of == table && name == key,
                    None => *name == key,
                })
        };
        let keys = |of: &TableOf| {
            let keys = (of.metrics)().into_iter().map(|of| of.key);
            keys.filter(|key| wants(of.name, key)).map(str::to_owned).collect::<Vec<_>>()
        };
        let tables = TABLES.iter().map(|of| (of.name.to_owned(), keys(of)));
        (Kept(tables.collect()), wrong)
    }

    /// Those of a table, in its order.
    pub(super) fn metrics(&self, table: &TableOf) -> Vec<MetricOf> {
        let all = (table.metrics)();
        let keys = self.0.get(table.name).map_or(&[][..], Vec::as_slice);
        keys.iter().filter_map(|key| all.iter().find(|of| of.key == key).copied()).collect()
    }

    /// Where those of each table are among all of their kind.
    pub(super) fn places(&self) -> Places {
        let of = |table: &TableOf| self.metrics(table).iter().map(|metric| metric.at).collect();
        Places(TABLES.iter().map(of).collect())
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<String> {
        let of = |table: &TableOf| {
            let first = self.metrics(table).first()?.key;
            Some(format!("{}.{first}", table.name))
        };
        TABLES.iter().find_map(of)
    }

    /// How many are kept; no fewer where this version of the program knows them all.
    pub(super) fn is_known(&self) -> bool {
        let known: usize = TABLES.iter().map(|table| self.metrics(table).len()).sum();
        known == self.0.values().map(Vec::len).sum::<usize>()
    }
}

fn unknown(name: &str, table: Option<&str>, keys: &[&'static str]) -> Wrong {
    let tables = TABLES.iter().map(|of| of.name);
    match table {
        Some(table) if keys.is_empty() => {
            Wrong::unknown_name(NameOf::Other("table of metrics"), table, tables)
        }
        _ => {
            let key = name.rsplit('.').next().unwrap_or(name);
            Wrong::unknown_name(NameOf::Other("metric"), key, keys.iter().copied())
        }
    }
}

/// A metric of a run: of one part of it, or the mean over all that have it.
#[derive(Clone, Debug)]
pub(super) struct Selected {
    /// Which of [`TABLES`].
    table: usize,
    part: Option<String>,
    /// Which of the table's metrics that are kept.
    column: usize,
    pub(super) metric: MetricOf,
}

impl Selected {
    /// By its name: `KEY`, `TABLE.KEY` or `TABLE.PART.KEY`, and `*` for every part.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub(super) fn of(name: &str, kept: &Kept) -> Result<Selected, Wrong> {
        let (front, key) =
            name.rsplit_once('.').map_or((None, name), |(front, key)| (Some(front), key));
        let (of, part) = match front.map(|front| front.split_once('.').unwrap_or((front, "*"))) {
            None => (None, None),
            Some((table, part)) => (Some(table), Some(part).filter(|part| *part != "*")),
        };
        let mut keys = Vec::new();
        for (table, tables) in TABLES.iter().enumerate() {
            if of.is_some_and(|of| of != tables.name) {
                continue;
            }
            let metrics = kept.metrics(tables);
            if let Some(column) = metrics.iter().position(|metric| metric.key == key) {
                let part = part.map(str::to_owned);
                let metric = metrics[column];
                return Ok(Selected { table, part, column, metric });
            }
            keys.extend(metrics.iter().map(|metric| metric.key));
        }
        Err(unknown(name, of, &keys))
    }

    /// The same, if the runs have such a part.
    pub(super) fn among(self, labels: &RunLabels) -> Result<Selected, Wrong> {
        let table = &TABLES[self.table];
        let names = (table.parts)(labels);
        match &self.part {
            Some(part) if !names.contains(&part.as_str()) => {
                Err(Wrong::unknown_name(NameOf::Other(table.part_word()), part, names))
            }
            _ => Ok(self),
        }
    }

    /// Its value in a run; nothing where it is not known.
    pub(super) fn value(&self, record: &Record) -> Option<f64> {
        let values = self.parts(record).filter_map(|part| part.1.get(self.column)?.get());
        mean(&values.collect::<Vec<_>>())
    }

    /// The parts of a run that it is taken over.
    pub(super) fn parts<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = &'a Part> {
        let wanted =
            |part: &&Part| self.part.as_ref().is_none_or(|name| part.0.first() == Some(name));
        record.parts(&TABLES[self.table]).iter().filter(wanted)
    }

    /// Of which part, if of one.
    pub(super) fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// What its table's parts are.
    pub(super) fn part_word(&self) -> &'static str {
        TABLES[self.table].part_word()
    }

    /// The names of the parts that a run has.
    pub(super) fn part_names(&self, record: &Record) -> Vec<String> {
        let parts = record.parts(&TABLES[self.table]).iter();
        parts.filter_map(|part| part.0.first().cloned()).collect()
    }

    /// What it is of, in words: "rtt_mean_ms, mean over 10 flows".
    pub(super) fn about(&self, record: Option<&Record>) -> String {
        let count = record.map_or(0, |record| self.parts(record).count());
        let (words, table) = (words_of(self.metric.key), TABLES[self.table].name);
        match &self.part {
            Some(part) => format!("{words} of {part}"),
            None if count > 1 => format!("{words}, mean over {count} {table}"),
            None => words,
        }
    }
}

/// A key without its unit, which tables choose for themselves.
fn words_of(key: &str) -> String {
    const UNITS: &[&str] = &["_bit_s", "_ms", "_s", "_bytes", "_packets", "_percent", "_share"];
    let bare = UNITS.iter().find_map(|unit| key.strip_suffix(unit));
    bare.unwrap_or(key).replace('_', " ")
}

impl TableOf {
    /// What one of its parts is.
    fn part_word(&self) -> &'static str {
        self.words.first().copied().unwrap_or("part")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_that_of_the_first_table_that_has_it() {
        let (kept, wrong) = Kept::of(&[]);
        assert!(wrong.is_empty() && kept.is_known());
        let table = |name: &str| Selected::of(name, &kept).map(|of| TABLES[of.table].name);
        assert_eq!(table("total_goodput_bit_s"), Ok("runs"));
        assert_eq!(table("goodput_bit_s"), Ok("flows"));
        assert_eq!(table("queues.uplink.p99_delay_ms"), Ok("queues"));
        let told = |name: &str| format!("{:?}", Selected::of(name, &kept));
        assert!(
            told("goodput_bits").contains("nearest: Some(\"goodput_bit_s\")"),
            "{}",
            told("goodput_bits")
        );
        assert!(told("flow.x.goodput_bit_s").contains("table of metrics"));
        assert!(told("queues.goodput_bit_s").contains("metric"));
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let (kept, wrong) = Kept::of(&["flows.goodput_bit_s", "p99_delay_ms", "rtt"]);
        assert_eq!(wrong.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2]);
        let keys =
            |at: usize| kept.metrics(&TABLES[at]).iter().map(|of| of.key).collect::<Vec<_>>();
        assert_eq!(
            (keys(0), keys(1), keys(3)),
            (vec![], vec!["goodput_bit_s"], vec!["p99_delay_ms"])
        );
        assert!(Selected::of("timeouts", &kept).is_err());
    }
}
