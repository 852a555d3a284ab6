//! One connection: its account, its path, its intervals with their reasons.

use ackord_diagnose::{Between, Connection, Interval, Vantage};
use ackord_report::document::{Block, Cell, Section};
use ackord_report::table;

/// Intervals listed on a terminal at most: the longest, in order of time.
const MOST_INTERVALS: usize = 30;

pub(super) fn sections(connection: &Connection) -> Vec<Section> {
    vec![facts(connection), account(connection), intervals(connection)]
}

fn millis(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "unknown".to_owned(), |seconds| format!("{:.1} ms", seconds * 1e3))
}

fn facts(connection: &Connection) -> Section {
    let vantage = match connection.vantage {
        Vantage::NearSender => "near the sender",
        Vantage::NearReceiver => "near the receiver",
        Vantage::Between => "between sender and receiver",
        Vantage::BothEnds => "at both ends",
        Vantage::Unknown => "at a place that cannot be told",
    };
    let rate = connection.path.rate_bit_s.unwrap_or_default() / 1e6;
    let limits = &connection.limits;
    let mut notes = vec![
        format!(
            "{} to {}, {:.3} s, {} bytes from the client and {} from the server",
            connection.client,
            connection.server,
            connection.duration_s,
            connection.bytes_by[0],
            connection.bytes_by[1]
        ),
        format!("captured {vantage} (confidence {:.2})", connection.vantage_confidence),
        format!(
            "round trip {}, up to {} more in queues; at most {rate:.2} Mbit/s; MSS {}",
            millis(connection.path.base_rtt_s),
            millis(connection.path.queue_s),
            connection.path.mss
        ),
        format!(
            "{} bytes retransmitted, {} losses, {} segments overtaken",
            connection.retransmitted_bytes, connection.path.loss_events, connection.path.reordered
        ),
        format!(
            "sender limited by the receiver's window {:.3} s, by congestion window or path {:.3} s, by itself \
             {:.3} s (RFC 4898)",
            limits.rwin_s, limits.cwnd_s, limits.snd_s
        ),
    ];
    notes.extend(connection.path.between.iter().flat_map(between));
    Section::new(&format!("Connection {}", connection.id)).with(Block::Notes(notes))
}

/// What two captures show of the way between them.
fn between(between: &Between) -> Vec<String> {
    let of = |side: usize, from: &str| {
        let lost = between.lost[side];
        let delay = between.delay[side].map_or_else(String::new, |delay| {
            format!(
                "; the others took {} (median), {} (95 %) and at most {} longer than the quickest",
                millis(Some(delay.median_s)),
                millis(Some(delay.p95_s)),
                millis(Some(delay.most_s))
            )
        });
        format!("between the captures, from the {from}: {lost} packets lost{delay}")
    };
    vec![of(0, "client"), of(1, "server")]
}

fn account(connection: &Connection) -> Section {
    let table = table!(&connection.causes, |share| {
        let frames = share.frames.iter().map(u64::to_string).collect::<Vec<_>>();
        [
            words("cause") => share.cause.title(),
            numbers("time", "s") => Cell::number(share.seconds, 3),
            numbers("share", "%") => Cell::number(
                100.0 * share.seconds / connection.duration_s.max(1e-9), 1
            ),
            numbers("confidence", "") => Cell::number(share.confidence, 2),
            words("frames") => frames.join(" "),
        ]
    });
    Section::new("Where the time went").with(Block::Table(table))
}

fn intervals(connection: &Connection) -> Section {
    let mut longest: Vec<&Interval> = connection.intervals.iter().collect();
    let span = |interval: &Interval| interval.to_s - interval.from_s;
    longest.sort_by(|a, b| span(b).total_cmp(&span(a)));
    let hidden = longest.len().saturating_sub(MOST_INTERVALS);
    longest.truncate(MOST_INTERVALS);
    longest.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    let caption = match hidden {
        0 => String::new(),
        hidden => format!("The longest; {hidden} shorter ones are in --json and --out."),
    };
    let table = table!(longest, |interval| [
        numbers("from", "s") => Cell::number(interval.from_s, 3),
        numbers("to", "s") => Cell::number(interval.to_s, 3),
        words("cause") => interval.cause.title(),
        words("frames") => format!("{}-{}", interval.frames[0], interval.frames[1]),
        words("why") => &interval.reason,
    ])
    .captioned(caption);
    Section::new("Along the time").with(Block::Table(table))
}
