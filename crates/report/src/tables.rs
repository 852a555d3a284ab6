//! The tables of runs, comparisons and papers.
//!
//! | file | what |
//! | --- | --- |
//! | `tables.rs` | of a run |
//! | `tables/comparison.rs` | of a comparison |
//! | `tables/claims.rs` | of a paper's claims |

mod claims;
mod comparison;

pub use claims::{claim_reasons, claim_table, claims_in_full, verdicts_of};
pub use comparison::{
    comparison_datagram_table, comparison_flow_table, comparison_link_table, comparison_table,
    comparison_transfer_table,
};

use crate::document::{Cell, Column, Table, decimals_for};
use ackord_measure::stats::Estimate;
use ackord_measure::{FlowSummary, LinkSummary, QueueSummary, Ranking, RunSummary};

const MEGA: f64 = 1e6;

/// Up to so many flows a table lists them all; of more, the first so many.
const MOST_FLOWS: usize = 24;

/// Up to so many links a table lists them all; of more, those at which something happened.
const FEW_LINKS: usize = 4;

/// The connections that a table lists, and a word on the rest.
fn listed_flows(run: &RunSummary) -> (Vec<&FlowSummary>, String) {
    listed(run.flows.iter().filter(|flow| flow.datagrams.is_none()))
}

fn listed<'a>(flows: impl Iterator<Item = &'a FlowSummary>) -> (Vec<&'a FlowSummary>, String) {
    let mut shown: Vec<_> = flows.collect();
    let rest = shown.len().saturating_sub(MOST_FLOWS);
    shown.truncate(MOST_FLOWS);
    let caption = if rest == 0 {
        String::new()
    } else {
        format!("{rest} more flows are in the JSON and CSV.")
    };
    (shown, caption)
}

/// What each flow achieved.
pub fn flow_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::words("congestion"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("delivered", "MB"),
        Column::numbers("done after", "s"),
        Column::numbers("sent", "segments"),
        Column::numbers("again", "segments"),
        Column::numbers("timeouts", ""),
        Column::numbers("ACKs", ""),
    ];
    let (flows, caption) = listed_flows(run);
    let rows = flows.iter().map(|flow| {
        vec![
            Cell::text(&flow.name),
            flow.mechanisms.get("congestion").map_or(Cell::Missing, |words| kind(words)),
            Cell::about(flow.goodput_bit_s / MEGA),
            Cell::about(flow.bytes_delivered as f64 / MEGA),
            Cell::about(flow.completion_s),
            Cell::Count(flow.segments_sent),
            Cell::Count(flow.retransmitted_segments),
            Cell::Count(flow.timeouts),
            Cell::Count(flow.acks_sent),
        ]
    });
    Table { caption, columns, rows: rows.collect() }
}

/// A mechanism without its knobs, which the table of mechanisms has.
fn kind(mechanism: &str) -> Cell {
    Cell::text(mechanism.split(',').next().unwrap_or_default())
}

/// The transfers or exchanges of each flow that has such; no rows if none has.
pub fn transfer_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::numbers("complete", "transfers"),
        Column::numbers("time mean", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("p95", "ms"),
        Column::numbers("p99", "ms"),
        Column::numbers("worst", "ms"),
        Column::numbers("rate mean", "Mbit/s"),
        Column::numbers("worst", "Mbit/s"),
    ];
    let (flows, caption) = listed_flows(run);
    let rows = flows.iter().filter_map(|flow| {
        let transfers = flow.transfers.as_ref()?;
        let time = |pick: fn(&Ranking) -> f64| Cell::about(transfers.time_ms.as_ref().map(pick));
        let rate = |pick: fn(&Ranking) -> f64| {
            Cell::about(transfers.rate_bit_s.as_ref().map(|rate| pick(rate) / MEGA))
        };
        Some(vec![
            Cell::text(&flow.name),
            Cell::Count(transfers.completed),
            time(|time| time.mean),
            time(|time| time.p50),
            time(|time| time.p95),
            time(|time| time.p99),
            time(|time| time.max),
            rate(|rate| rate.mean),
            rate(|rate| rate.min),
        ])
    });
    Table { caption, columns, rows: rows.collect() }
}

/// What became of the packets of each flow that is no connection; no rows if there is none.
pub fn datagram_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("datagrams"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("sent", "packets"),
        Column::numbers("arrived", "packets"),
        Column::numbers("lost", "%"),
        Column::numbers("one way min", "ms"),
        Column::numbers("mean", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("p99", "ms"),
    ];
    let (flows, caption) = listed(run.flows.iter().filter(|flow| flow.datagrams.is_some()));
    let rows = flows.iter().filter_map(|flow| {
        let datagrams = flow.datagrams?;
        let delay = datagrams.one_way_delay;
        Some(vec![
            Cell::text(&flow.name),
            Cell::about(flow.goodput_bit_s / MEGA),
            Cell::Count(datagrams.sent),
            Cell::Count(datagrams.delivered),
            Cell::number(datagrams.lost_percent, 2),
            Cell::about(delay.map(|delay| delay.min_ms)),
            Cell::about(delay.map(|delay| delay.mean_ms)),
            Cell::about(delay.map(|delay| delay.p50_ms)),
            Cell::about(delay.map(|delay| delay.p99_ms)),
        ])
    });
    Table { caption, columns, rows: rows.collect() }
}

/// How each flow's sender saw the path.
pub fn sender_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::numbers("RTT min", "ms"),
        Column::numbers("mean", "ms"),
        Column::numbers("p99", "ms"),
        Column::numbers("cwnd mean", "kB"),
        Column::numbers("cwnd max", "kB"),
        Column::numbers("fast recoveries", ""),
        Column::numbers("undone", "reductions"),
        Column::numbers("lost on the path", "packets"),
    ];
    let (flows, caption) = listed_flows(run);
    let rows = flows.iter().map(|flow| {
        let rtt = flow.rtt;
        vec![
            Cell::text(&flow.name),
            Cell::about(rtt.map(|rtt| rtt.min_ms)),
            Cell::about(rtt.map(|rtt| rtt.mean_ms)),
            Cell::about(rtt.map(|rtt| rtt.p99_ms)),
            Cell::about(flow.cwnd_mean_bytes.map(|bytes| bytes / 1e3)),
            Cell::about(flow.cwnd_max_bytes.map(|bytes| bytes as f64 / 1e3)),
            Cell::Count(flow.fast_recoveries),
            Cell::Count(flow.undone_reductions),
            Cell::Count(flow.packets_dropped),
        ]
    });
    Table { caption, columns, rows: rows.collect() }
}

/// What each link carried and how its queue fared. Links nothing entered are left out, and where
/// there are many also those at which next to nothing happened.
pub fn link_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("link"),
        Column::words("queue"),
        Column::numbers("used", "%"),
        Column::numbers("sent", "packets"),
        Column::numbers("dropped", "packets"),
        Column::numbers("delay mean", "ms"),
        Column::numbers("p99", "ms"),
        Column::numbers("queue mean", "packets"),
        Column::numbers("max", "packets"),
    ];
    let both = run.queues.iter().zip(&run.links);
    let used: Vec<_> =
        both.filter(|(queue, _)| queue.enqueued_packets + queue.dropped_packets > 0).collect();
    let all = used.len();
    let listed: Vec<_> = used
        .into_iter()
        .filter(|(queue, link)| all <= FEW_LINKS || is_worth_a_row(queue, link))
        .collect();
    let caption = match all - listed.len() {
        0 => String::new(),
        quiet => format!(
            "{quiet} more links lost nothing, queued for less than 0.1 ms and were less than half \
             used: they are in the JSON and CSV."
        ),
    };
    let rows = listed.into_iter().map(|(queue, link)| {
        vec![
            Cell::text(&link.name),
            Cell::text(&queue.queue),
            Cell::number(link.utilisation.map(|share| share * 100.0), 1),
            Cell::Count(link.packets),
            Cell::Count(queue.dropped_packets),
            Cell::about(queue.mean_delay_ms),
            Cell::about(queue.p99_delay_ms),
            Cell::about(queue.mean_length_packets),
            Cell::Count(queue.max_length_packets),
        ]
    });
    Table { caption, columns, rows: rows.collect() }
}

fn is_worth_a_row(queue: &QueueSummary, link: &LinkSummary) -> bool {
    queue.dropped_packets > 0
        || queue.mean_delay_ms.is_some_and(|mean| mean >= 0.1)
        || link.utilisation.is_some_and(|share| share >= 0.5)
}

/// How links used the media they share; no rows if none does.
pub fn medium_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("link"),
        Column::numbers("airtime", "%"),
        Column::numbers("transmissions", ""),
        Column::numbers("frames each", ""),
        Column::numbers("damaged", "%"),
        Column::numbers("collided", "%"),
    ];
    let rows = run.links.iter().filter_map(|link| {
        let used = link.medium.filter(|used| used.transmissions > 0)?;
        let per_transmission = |count: u64| count as f64 / used.transmissions as f64;
        Some(vec![
            Cell::text(&link.name),
            Cell::number(link.utilisation.map(|share| share * 100.0), 1),
            Cell::Count(used.transmissions),
            Cell::number(per_transmission(used.frames), 2),
            Cell::number(per_transmission(used.damaged) * 100.0, 2),
            Cell::number(per_transmission(used.collided) * 100.0, 2),
        ])
    });
    let caption = "Airtime includes link acknowledgments and the waits for those that do not come.";
    Table { caption: caption.to_owned(), columns, rows: rows.collect() }
}

/// Where packets died and why; no rows if none did.
pub fn drop_table(run: &RunSummary) -> Table {
    let columns =
        vec![Column::words("link"), Column::words("reason"), Column::numbers("packets", "")];
    let drops = run.queues.iter().flat_map(|queue| {
        queue.drops.iter().filter(|(_, count)| *count > 0).map(|(reason, count)| {
            vec![Cell::text(&queue.link), Cell::text(reason.name()), Cell::Count(count)]
        })
    });
    Table { caption: String::new(), columns, rows: drops.collect() }
}

/// An estimate in a unit of `size` base units.
pub(crate) fn interval(estimate: Option<Estimate>, size: f64) -> Cell {
    match estimate {
        None => Cell::Missing,
        Some(Estimate { mean, ci95, .. }) => Cell::Interval {
            mean: mean / size,
            half_width: ci95.map(|half| half / size),
            decimals: decimals_for(mean / size),
        },
    }
}
