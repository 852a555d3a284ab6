//! Tables 1 and 2: how Reno and Vegas share each link, with drop-tail and with selective drop in
//! three forms.

use super::sample::{Outcomes, Sample, Shared};
use super::setup::{File, LINKS, PaperLink, PaperShare, Plan, Variation, on_link, set};
use ackord_measure::stats::Estimate;
use ackord_path::{PaperDrop, PracticalDrop};
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use serde::Serialize;

/// A queue of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Queue {
    DropTail,
    /// Selective drop with the paper's threshold.
    PaperThreshold,
    /// Selective drop with the threshold of Eq. 8 and 9.
    ByEquation,
    /// Selective drop as this project would use it.
    Practical,
}

impl Queue {
    pub(super) const ALL: [Queue; 4] =
        [Queue::DropTail, Queue::PaperThreshold, Queue::ByEquation, Queue::Practical];

    pub(super) fn label(self, link: &PaperLink) -> String {
        match self {
            Queue::DropTail => "drop-tail".to_owned(),
            Queue::PaperThreshold => format!("Q_thresh {}", link.q_thresh),
            Queue::ByEquation => "Eq. 8 and 9".to_owned(),
            Queue::Practical => "practical".to_owned(),
        }
    }

    /// What the queue remembers beside its packets.
    pub(super) fn state(self) -> String {
        match self {
            Queue::DropTail => "nothing".to_owned(),
            Queue::PaperThreshold | Queue::ByEquation => {
                let bytes = PaperDrop::STATE_BYTES_PER_CONNECTION;
                format!("{bytes} B per queued connection: a counter")
            }
            Queue::Practical => {
                let bytes = PracticalDrop::STATE_BYTES_PER_CONNECTION;
                format!("{bytes} B per known connection: counter, account, times, round trips")
            }
        }
    }

    fn plan(self, plan: &mut Plan, link: &PaperLink) -> Result<Variation, Errors> {
        let mut changes = on_link(link);
        let file = match self {
            Queue::DropTail => File::DropTail,
            _ => File::SelectiveDrop,
        };
        let series = match self {
            Queue::DropTail | Queue::PaperThreshold => KeepSeries::Yes,
            Queue::ByEquation | Queue::Practical => KeepSeries::No,
        };
        changes.extend(self.changes(link));
        plan.variation(file, &changes, series)
    }

    fn changes(self, link: &PaperLink) -> Option<ackord_scenario::Override> {
        let queue = match self {
            Queue::DropTail => return None,
            Queue::PaperThreshold => {
                let threshold = link.q_thresh.to_string();
                return Some(set("links.bottleneck.queue.threshold", threshold));
            }
            Queue::ByEquation => {
                r#"{ kind = "selective-drop", mode = "paper", limit = "50 packets" }"#
            }
            Queue::Practical => r#"{ kind = "selective-drop", limit = "50 packets" }"#,
        };
        Some(set("links.bottleneck.queue", queue))
    }
}

/// Which runs belong to which link and queue.
#[derive(Debug)]
pub(super) struct TablesPlan(Vec<(usize, Queue, Variation)>);

/// One link behind one queue.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) link: &'static PaperLink,
    pub(super) queue: Queue,
    pub(super) shared: Shared,
    /// Index of the run with both flows at once.
    pub(super) at_once: usize,
}

/// A row as data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RowData {
    link: &'static str,
    rate_kbit_s: f64,
    queue: Queue,
    q_thresh: Option<u32>,
    paper: Option<PaperShare>,
    at_once: Sample,
    random_start: RandomStart,
}

#[derive(Clone, Debug, Serialize)]
struct RandomStart {
    reno_kbit_s: Estimate,
    vegas_kbit_s: Estimate,
    fairness_percent: Estimate,
    utilisation_percent: Estimate,
    queue_mean_ms: Estimate,
    queue_p99_ms: Estimate,
    reno_cwnd_mean_packets: Estimate,
    vegas_cwnd_mean_packets: Estimate,
}

pub(super) fn plan(plan: &mut Plan) -> Result<TablesPlan, Errors> {
    let mut rows = Vec::new();
    for queue in Queue::ALL {
        for (index, link) in LINKS.iter().enumerate() {
            rows.push((index, queue, queue.plan(plan, link)?));
        }
    }
    Ok(TablesPlan(rows))
}

pub(super) fn read(plan: &TablesPlan, outcomes: &Outcomes) -> Vec<Row> {
    let row = |(link, queue, variation): &(usize, Queue, Variation)| Row {
        link: &LINKS[*link],
        queue: *queue,
        shared: outcomes.shared(variation),
        at_once: variation.at_once,
    };
    plan.0.iter().map(row).collect()
}

impl Row {
    /// What the paper says of this row.
    pub(super) fn paper(&self) -> Option<PaperShare> {
        match self.queue {
            Queue::DropTail => Some(self.link.drop_tail),
            Queue::PaperThreshold => Some(self.link.selective_drop),
            Queue::ByEquation | Queue::Practical => None,
        }
    }

    pub(super) fn data(&self) -> RowData {
        let of = |pick: fn(&Sample) -> f64| self.shared.random(pick);
        RowData {
            link: self.link.label,
            rate_kbit_s: self.link.rate_kbit_s,
            queue: self.queue,
            q_thresh: (self.queue == Queue::PaperThreshold).then_some(self.link.q_thresh),
            paper: self.paper(),
            at_once: self.shared.at_once,
            random_start: RandomStart {
                reno_kbit_s: of(|sample| sample.reno.kbit_s),
                vegas_kbit_s: of(Sample::vegas_kbit_s),
                fairness_percent: of(Sample::fairness_percent),
                utilisation_percent: of(|sample| sample.utilisation_percent),
                queue_mean_ms: of(|sample| sample.queue_mean_ms),
                queue_p99_ms: of(|sample| sample.queue_p99_ms),
                reno_cwnd_mean_packets: of(|sample| sample.reno.cwnd_mean_packets),
                vegas_cwnd_mean_packets: of(|sample| sample.vegas_of(|v| v.cwnd_mean_packets)),
            },
        }
    }
}

/// The rows of these queues as a table, the paper's numbers above ours.
pub(super) fn table(caption: &str, rows: &[Row], queues: &[Queue]) -> Table {
    let columns = vec![
        Column::words("link"),
        Column::words("queue"),
        Column::words("whose"),
        Column::numbers("Reno", "kbit/s"),
        Column::numbers("Vegas", "kbit/s"),
        Column::numbers("fairness", "%"),
        Column::numbers("used", "%"),
        Column::numbers("delay", "ms"),
        Column::numbers("p99", "ms"),
    ];
    let mut lines = Vec::new();
    for link in &LINKS {
        let of_link = rows.iter().filter(|row| row.link.id == link.id);
        for row in of_link.filter(|row| queues.contains(&row.queue)) {
            lines.extend(row.lines());
        }
    }
    Table { caption: caption.to_owned(), columns, rows: lines }
}

impl Row {
    fn lines(&self) -> Vec<Vec<Cell>> {
        let (link, queue) = (self.link.rate, self.queue.label(self.link));
        let head = |whose: &str| vec![Cell::text(link), Cell::text(&queue), Cell::text(whose)];
        let mut lines = Vec::new();
        if let Some(paper) = self.paper() {
            let mut line = head("paper");
            line.extend([
                Cell::about(paper.reno_kbit_s),
                Cell::about(paper.vegas_kbit_s),
                Cell::number(paper.fairness_percent, 2),
                // The paper gives the sum of both as the rate of the link.
                Cell::number(100.0, 1),
                Cell::Missing,
                Cell::Missing,
            ]);
            lines.push(line);
        }
        let once = &self.shared.at_once;
        let mut line = head("at once");
        line.extend([
            Cell::about(once.reno.kbit_s),
            Cell::about(once.vegas_kbit_s()),
            Cell::number(once.fairness_percent(), 2),
            Cell::number(once.utilisation_percent, 1),
            Cell::number(once.queue_mean_ms, 1),
            Cell::number(once.queue_p99_ms, 1),
        ]);
        lines.push(line);
        let mut line = head("random");
        let of = |pick: fn(&Sample) -> f64, decimals| interval(self.shared.random(pick), decimals);
        line.extend([
            of(|sample| sample.reno.kbit_s, 1),
            of(Sample::vegas_kbit_s, 1),
            of(Sample::fairness_percent, 2),
            Cell::number(self.shared.random(|sample| sample.utilisation_percent).mean, 1),
            Cell::number(self.shared.random(|sample| sample.queue_mean_ms).mean, 1),
            Cell::number(self.shared.random(|sample| sample.queue_p99_ms).mean, 1),
        ]);
        lines.push(line);
        lines
    }
}

/// A mean and its interval.
pub(super) fn interval(estimate: Estimate, decimals: usize) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals }
}

/// What each queue costs: means over all links' random starts, and what it has to remember.
pub(super) fn cost_table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::words("queue"),
        Column::numbers("lowest fairness", "%"),
        Column::numbers("lowest use", "%"),
        Column::numbers("drops", "% of packets"),
        Column::words("state beside the packets"),
    ];
    let line = |queue: Queue| {
        let of_queue: Vec<&Row> = rows.iter().filter(|row| row.queue == queue).collect();
        let least = |pick: fn(&Sample) -> f64| {
            of_queue.iter().map(|row| row.shared.random(pick).mean).fold(f64::INFINITY, f64::min)
        };
        let dropped = of_queue.iter().map(|row| row.drop_percent()).sum::<f64>();
        let label = match queue {
            Queue::PaperThreshold => "the paper's Q_thresh".to_owned(),
            other => other.label(&LINKS[0]),
        };
        vec![
            Cell::text(label),
            Cell::number(least(Sample::fairness_percent), 2),
            Cell::number(least(|sample| sample.utilisation_percent), 1),
            Cell::number(dropped / of_queue.len() as f64, 2),
            Cell::text(queue.state()),
        ]
    };
    Table {
        caption: "What each queue costs, over the four links with random starts".to_owned(),
        columns,
        rows: Queue::ALL.map(line).to_vec(),
    }
}

impl Row {
    /// Packets dropped over packets that the link could carry.
    fn drop_percent(&self) -> f64 {
        let dropped = self
            .shared
            .random(|sample| (sample.dropped_over_share + sample.dropped_queue_full) as f64);
        let packets =
            self.shared.random(|sample| sample.total_kbit_s() * 1e3 * 100.0 / (8.0 * 1_040.0));
        100.0 * dropped.mean / packets.mean
    }
}
