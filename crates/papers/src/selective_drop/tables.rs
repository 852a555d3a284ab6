//! Tables 1 and 2: how Reno and Vegas share each link, with drop-tail and with selective drop in
//! three forms.

use super::sample::{Run, Sample};
use super::setup::{DROP_TAIL, LINKS, Link, Much, PaperShare, SELECTIVE_DROP, on_link, threshold};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{bars, choices, interval, record, rows};
use ackord_measure::stats::Estimate;
use ackord_path::{PaperDrop, PracticalDrop};
use ackord_report::document::{self, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale};
use serde::Serialize;

choices! {
    /// A queue of the comparison.
    Queue {
        DropTail = "drop-tail", "drop-tail";
        /// Selective drop with the paper's threshold.
        PaperThreshold = "paper-threshold", "the paper's Q_thresh";
        /// Selective drop with the threshold of Eq. 8 and 9.
        ByEquation = "by-equation", "Eq. 8 and 9";
        /// Selective drop as this project would use it.
        Practical = "practical", "practical";
    }
}

/// A queue on a link.
pub(super) type Key = (Queue, Link);
pub(super) type Rows = Cells<Key, Run>;

impl Queue {
    pub(super) fn label_on(self, link: Link) -> String {
        match self {
            Queue::PaperThreshold => format!("Q_thresh {}", link.q_thresh),
            other => other.label().to_owned(),
        }
    }

    /// What the paper says of it on a link.
    fn paper(self, link: Link) -> Option<PaperShare> {
        match self {
            Queue::DropTail => Some(link.drop_tail),
            Queue::PaperThreshold => Some(link.selective_drop),
            Queue::ByEquation | Queue::Practical => None,
        }
    }

    /// What the queue remembers beside its packets.
    fn state(self) -> String {
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
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    Queue::ALL.into_iter().flat_map(|queue| LINKS.iter().map(move |link| (queue, link)))
}

pub(super) fn setups((queue, link): Key, much: Much) -> [Setup; 2] {
    let with = |queue: &str| [on_link(link), vec![set("links.bottleneck.queue", queue)]].concat();
    let series = |[at_once, random]: [Setup; 2]| [at_once.with_series(), random];
    match queue {
        Queue::DropTail => series(much.both(DROP_TAIL, on_link(link))),
        Queue::PaperThreshold => series(much.both(SELECTIVE_DROP, threshold(link, link.q_thresh))),
        Queue::ByEquation => {
            let queue = r#"{ kind = "selective-drop", mode = "paper", limit = "50 packets" }"#;
            much.both(SELECTIVE_DROP, with(queue))
        }
        Queue::Practical => {
            let queue = r#"{ kind = "selective-drop", limit = "50 packets" }"#;
            much.both(SELECTIVE_DROP, with(queue))
        }
    }
}

/// The rows of one queue, in the order of the links.
pub(super) fn of_queue(rows: &Rows, queue: Queue) -> impl Iterator<Item = &Cell<Key, Run>> {
    rows.iter().filter(move |row| row.key.0 == queue)
}

pub(super) fn data(rows: &Rows) -> Vec<impl Serialize> {
    let data = |row: &Cell<Key, Run>| {
        let (queue, link) = row.key;
        record! {
            link: link.label,
            rate_kbit_s: link.rate_kbit_s,
            queue: queue,
            q_thresh: (queue == Queue::PaperThreshold).then_some(link.q_thresh),
            paper: queue.paper(link),
            at_once: *row.at_once(),
            random_start: record! {
                reno_kbit_s: row.random(|sample| sample.reno.kbit_s),
                vegas_kbit_s: row.random(Sample::vegas_kbit_s),
                fairness_percent: row.fairness(),
                utilisation_percent: row.used_percent(),
                queue_mean_ms: row.random(|sample| sample.queue_mean_ms),
                queue_p99_ms: row.random(|sample| sample.queue_p99_ms),
                reno_cwnd_mean_packets: row.random(|sample| sample.reno.cwnd_mean_packets),
                vegas_cwnd_mean_packets: row.random(|s| s.vegas_of(|v| v.cwnd_mean_packets)),
            },
        }
    };
    rows.iter().map(data).collect()
}

/// Whose numbers a line of Table 1 or 2 has.
#[derive(Clone, Copy)]
enum Whose<'a> {
    Paper(PaperShare),
    AtOnce(&'a Sample),
    Random(&'a Runs<Run>),
}

/// The rows of these queues as a table, the paper's numbers above ours.
pub(super) fn table(caption: &str, all: &Rows, queues: &[Queue]) -> Table {
    use document::Cell;
    let keys = LINKS.iter().flat_map(|link| queues.iter().map(move |queue| (*queue, link)));
    let lines = keys.flat_map(|key| {
        let runs = all.of(&key);
        let paper = key.0.paper(key.1).map(Whose::Paper);
        let ours = [Whose::AtOnce(runs.at_once()), Whose::Random(runs)];
        paper.into_iter().chain(ours).map(move |whose| (key, whose))
    });
    let rate =
        |whose: &Whose<'_>, paper: fn(&PaperShare) -> f64, ours: fn(&Sample) -> f64| match whose {
            Whose::Paper(share) => Cell::about(paper(share)),
            Whose::AtOnce(sample) => Cell::about(ours(sample)),
            Whose::Random(runs) => interval(runs.random(ours), 1),
        };
    let plain = |whose: &Whose<'_>, paper: Option<f64>, ours: fn(&Sample) -> f64| match whose {
        Whose::Paper(_) => Cell::number(paper, 1),
        Whose::AtOnce(sample) => Cell::number(ours(sample), 1),
        Whose::Random(runs) => Cell::number(runs.random(ours).mean, 1),
    };
    rows(lines)
        .words("link", |((_, link), _)| link.rate)
        .words("queue", |((queue, link), _)| queue.label_on(link))
        .words("whose", |(_, whose)| match whose {
            Whose::Paper(_) => "paper",
            Whose::AtOnce(_) => "at once",
            Whose::Random(_) => "random",
        })
        .cell(("Reno", "kbit/s"), |(_, whose)| {
            rate(whose, |paper| paper.reno_kbit_s, |sample| sample.reno.kbit_s)
        })
        .cell(("Vegas", "kbit/s"), |(_, whose)| {
            rate(whose, |paper| paper.vegas_kbit_s, Sample::vegas_kbit_s)
        })
        .cell(("fairness", "%"), |(_, whose)| match whose {
            Whose::Paper(share) => Cell::number(share.fairness_percent, 2),
            Whose::AtOnce(sample) => Cell::number(sample.fairness_percent(), 2),
            Whose::Random(runs) => interval(runs.fairness(), 2),
        })
        // The paper gives the sum of both as the rate of the link.
        .cell(("used", "%"), |(_, whose)| plain(whose, Some(100.0), |s| s.utilisation_percent))
        .cell(("delay", "ms"), |(_, whose)| plain(whose, None, |sample| sample.queue_mean_ms))
        .cell(("p99", "ms"), |(_, whose)| plain(whose, None, |sample| sample.queue_p99_ms))
        .titled(caption)
}

/// What each queue costs: means over all links' random starts, and what it has to remember.
pub(super) fn cost_table(all: &Rows) -> Table {
    let least = |queue: &Queue, pick: fn(&Sample) -> f64| {
        of_queue(all, *queue).map(|row| row.random(pick).mean).fold(f64::INFINITY, f64::min)
    };
    rows(Queue::ALL)
        .words("queue", |queue| queue.label())
        .number(("lowest fairness", "%"), 2, |queue| least(queue, Sample::fairness_percent))
        .number(("lowest use", "%"), 1, |queue| least(queue, |sample| sample.utilisation_percent))
        .number(("drops", "% of packets"), 2, |queue| {
            of_queue(all, *queue).map(|row| drop_percent(row)).sum::<f64>() / LINKS.len() as f64
        })
        .words("state beside the packets", |queue| queue.state())
        .titled("What each queue costs, over the four links with random starts")
}

/// Packets dropped over packets that the link could carry.
fn drop_percent(row: &Runs<Run>) -> f64 {
    let dropped = row.random(|sample| sample.dropped_over_share + sample.dropped_queue_full);
    let packets = row.random(|sample| sample.total_kbit_s() * 1e3 * 100.0 / (8.0 * 1_040.0));
    100.0 * dropped.mean / packets.mean
}

fn on_links(mut plot: Plot) -> Plot {
    plot.x.scale = Scale::Categories(LINKS.iter().map(|link| link.label.to_owned()).collect());
    plot
}

/// Fairness of every queue on every link, the paper's beside ours.
pub(super) fn fairness_plot(all: &Rows) -> Plot {
    let title = "Fairness of Reno and Vegas (random starts, 95 % intervals)";
    let paper = |name, of: fn(Link) -> PaperShare| {
        let each = LINKS.iter().map(|link| of(link).fairness_percent);
        PlotSeries::new(name, Mark::Bars, crate::tables::at_whole_numbers(each))
    };
    let here = |name, queue| bars(name, of_queue(all, queue).map(|row| row.fairness()));
    let mut plot = Plot::new("fairness", title, "bottleneck", "fairness (%)")
        .with(paper("paper, drop-tail", |link| link.drop_tail))
        .with(here("drop-tail", Queue::DropTail))
        .with(paper("paper, its Q_thresh", |link| link.selective_drop))
        .with(here("its Q_thresh", Queue::PaperThreshold))
        .with(here("Eq. 8 and 9", Queue::ByEquation))
        .with(here("practical", Queue::Practical));
    plot.y.range = Range::Fixed(0.0, 100.0);
    on_links(plot)
}

/// Mean queueing delay of every queue on every link.
pub(super) fn delay_plot(all: &Rows) -> Plot {
    let title = "Mean wait in the bottleneck's queue (random starts)";
    let mut plot = Plot::new("delay", title, "bottleneck", "wait (ms)");
    for (queue, shape) in Queue::ALL.into_iter().zip(crate::tables::SHAPES) {
        let each = of_queue(all, queue).map(|row| row.random(|sample| sample.queue_mean_ms).mean);
        let points = crate::tables::at_whole_numbers(each);
        plot = plot.with(PlotSeries::new(queue.label(), Mark::Points(shape), points));
    }
    plot.y.scale = Scale::Log;
    plot.y.range = Range::Data;
    on_links(plot)
}

/// The mean over random starts that is least among the rows of a queue, or most.
pub(super) fn worst(
    all: &Rows,
    queue: Queue,
    worse: fn(f64, f64) -> bool,
) -> (&Cell<Key, Run>, Estimate) {
    let fairness = of_queue(all, queue).map(|row| (row, row.fairness()));
    let found = fairness.reduce(|a, b| if worse(b.1.mean, a.1.mean) { b } else { a });
    found.expect("every queue has its four links")
}
