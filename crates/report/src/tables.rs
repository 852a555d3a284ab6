//! The tables of runs, comparisons and papers.

use crate::document::{Cell, Column, Table, decimals_for};
use ackord_measure::stats::Estimate;
use ackord_measure::{
    Allowed, Claim, Claimant, Comparison, FlowSummary, LinkSummary, QueueSummary, Ranking,
    RunSummary, Verdict,
};

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

/// Claims with ours beside them; why they hold or not is [`claim_reasons`].
pub fn claim_table(claims: &[Claim]) -> Table {
    let columns = vec![
        Column::words("claim"),
        Column::words("by"),
        Column::words("unit"),
        Column::numbers("paper", ""),
        Column::words("allowed"),
        Column::numbers("here", "95 % interval"),
        Column::numbers("runs", ""),
        Column::words("verdict"),
    ];
    let rows = claims.iter().map(|claim| {
        let decimals = decimals_for(claim.measured);
        // A number that no chance enters has no interval to be shown.
        let half_width = claim.ci95.filter(|half| *half > 0.0);
        vec![
            Cell::text(&claim.what),
            Cell::text(claim.by.name()),
            Cell::text(&claim.unit),
            claim.paper.map_or(Cell::Missing, Cell::about),
            Cell::text(allowed(&claim.allowed)),
            Cell::Interval { mean: claim.measured, half_width, decimals },
            Cell::Count(u64::from(claim.runs)),
            Cell::Verdict(claim.verdict),
        ]
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

fn allowed(allowed: &Allowed) -> String {
    let about = |value: f64| Cell::about(value).show();
    match *allowed {
        Allowed::AtLeast { low } => format!("≥ {}", about(low)),
        Allowed::AtMost { high } => format!("≤ {}", about(high)),
        Allowed::Value { value, tolerance, .. } if tolerance <= 0.0 => about(value),
        Allowed::Value { .. } | Allowed::Between { .. } => {
            let (low, high) = allowed.bounds();
            format!("{} to {}", about(low), about(high))
        }
    }
}

/// Claims with everything that their verdicts are made of, number by number, for programs.
pub fn claims_in_full(claims: &[Claim]) -> Table {
    let words = ["id", "by", "what", "unit"].map(Column::words);
    let limits = ["paper", "low", "high", "tolerance"].map(|name| Column::numbers(name, ""));
    let direction = [
        Column::words("tolerance from"),
        Column::words("direction"),
        Column::numbers("direction measured", ""),
        Column::numbers("direction 95 %", ""),
    ];
    let found = ["measured", "95 %", "runs"].map(|name| Column::numbers(name, ""));
    let verdict =
        [Column::words("verdict"), Column::numbers("runs to decide", ""), Column::words("why")];
    let columns = words.into_iter().chain(limits).chain(direction).chain(found).chain(verdict);
    let rows = claims.iter().map(|claim| {
        let exact = |value: Option<f64>| Cell::text(value.map_or(String::new(), |v| v.to_string()));
        let finite = |value: f64| exact(Some(value).filter(|value| value.is_finite()));
        let (low, high) = claim.allowed.bounds();
        let (tolerance, from) = match &claim.allowed {
            Allowed::Value { tolerance, tolerance_from, .. } => {
                (Some(*tolerance), &**tolerance_from)
            }
            _ => (None, ""),
        };
        let direction = &claim.direction;
        vec![
            Cell::text(&claim.id),
            Cell::text(claim.by.name()),
            Cell::text(&claim.what),
            Cell::text(&claim.unit),
            exact(claim.paper),
            finite(low),
            finite(high),
            exact(tolerance),
            Cell::text(from),
            Cell::text(&direction.what),
            finite(direction.measured),
            exact(direction.ci95),
            finite(claim.measured),
            exact(claim.ci95),
            Cell::Count(u64::from(claim.runs)),
            Cell::Verdict(claim.verdict),
            claim.runs_to_decide.map_or(Cell::Missing, Cell::Count),
            Cell::text(&claim.why),
        ]
    });
    Table { caption: String::new(), columns: columns.collect(), rows: rows.collect() }
}

/// How many claims of the paper's or of this project's have each verdict, in the order of [`Verdict::ALL`].
pub fn verdicts_of(claims: &[Claim], by: Claimant) -> [usize; 4] {
    Verdict::ALL.map(|verdict| {
        claims.iter().filter(|claim| claim.by == by && claim.verdict == verdict).count()
    })
}

/// Why claims with one of these verdicts hold or not, one per claim.
pub fn claim_reasons(claims: &[Claim], verdicts: &[Verdict]) -> Vec<String> {
    let wanted = claims.iter().filter(|claim| verdicts.contains(&claim.verdict));
    let reason = |claim: &Claim| {
        let runs =
            claim.runs_to_decide.map_or(String::new(), |runs| format!(" (some {runs} runs)"));
        format!("{} {}{runs}: {}", claim.id, claim.verdict.name(), claim.why)
    };
    wanted.filter(|claim| !claim.why.is_empty()).map(reason).collect()
}

/// The variants of a comparison, totals first.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::numbers("runs", ""),
        Column::numbers("total goodput", "Mbit/s"),
        Column::numbers("Jain's index", ""),
        Column::numbers("min/max", "%"),
    ];
    let rows = comparison.variants.iter().map(|variant| {
        vec![
            Cell::text(&variant.label),
            Cell::Count(u64::from(variant.runs)),
            interval(variant.total_goodput_bit_s, MEGA),
            interval(variant.jain_index, 1.0),
            interval(variant.min_max_percent, 1.0),
        ]
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

/// The flows of a comparison's variants.
pub fn comparison_flow_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("flow"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("done after", "s"),
        Column::numbers("sent again", "%"),
        Column::numbers("timeouts", ""),
        Column::numbers("ACKs", ""),
        Column::numbers("RTT mean", "ms"),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter(|flow| flow.datagrams.is_none()).map(|flow| {
            vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(flow.goodput_bit_s, MEGA),
                interval(flow.completion_s, 1.0),
                interval(flow.retransmitted_percent, 1.0),
                interval(flow.timeouts, 1.0),
                interval(flow.acks_sent, 1.0),
                interval(flow.mean_rtt_ms, 1.0),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The transfers of a comparison's flows; no rows if none has such.
pub fn comparison_transfer_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("flow"),
        Column::numbers("time mean", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("p95", "ms"),
        Column::numbers("worst", "ms"),
        Column::numbers("rate mean", "Mbit/s"),
        Column::numbers("ACKs", ""),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter_map(|flow| {
            let transfers = flow.transfers.as_ref()?;
            Some(vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(transfers.mean_ms, 1.0),
                interval(transfers.p50_ms, 1.0),
                interval(transfers.p95_ms, 1.0),
                interval(transfers.max_ms, 1.0),
                interval(transfers.mean_rate_bit_s, MEGA),
                interval(flow.acks_sent, 1.0),
            ])
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The flows of a comparison that are no connections; no rows if there is none.
pub fn comparison_datagram_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("datagrams"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("lost", "%"),
        Column::numbers("one way mean", "ms"),
        Column::numbers("p99", "ms"),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter_map(|flow| {
            let datagrams = flow.datagrams.as_ref()?;
            Some(vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(flow.goodput_bit_s, MEGA),
                interval(datagrams.lost_percent, 1.0),
                interval(datagrams.mean_delay_ms, 1.0),
                interval(datagrams.p99_delay_ms, 1.0),
            ])
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The links of a comparison's variants; links without a delay (nothing entered) are left out.
pub fn comparison_link_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("link"),
        Column::numbers("used", "%"),
        Column::numbers("delay mean", "ms"),
        Column::numbers("delay p99", "ms"),
        Column::numbers("dropped", "packets"),
    ];
    let links = comparison.variants.iter().flat_map(|variant| {
        let used = variant.links.iter().filter(|link| link.mean_delay_ms.is_some());
        used.map(|link| {
            vec![
                Cell::text(&variant.label),
                Cell::text(&link.name),
                interval(link.utilisation, 0.01),
                interval(link.mean_delay_ms, 1.0),
                interval(link.p99_delay_ms, 1.0),
                interval(link.dropped_packets, 1.0),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: links.collect() }
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
