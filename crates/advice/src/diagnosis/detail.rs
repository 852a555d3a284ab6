//! One connection: its account, its path, its intervals with their reasons.

use super::filters::{CauseFilter, Filters};
use super::summary::time;
use ackord_diagnose::{Between, Connection, Interval, RadioFacts, Vantage};
use ackord_report::document::{Block, Cell, Section};
use ackord_report::table;

/// Intervals listed on a terminal at most: the longest, in order of time.
const MOST_INTERVALS: usize = 30;

pub(super) fn sections(connection: &Connection, filters: &Filters) -> Vec<Section> {
    vec![facts(connection, filters), account(connection, filters), intervals(connection)]
}

fn facts(connection: &Connection, filters: &Filters) -> Section {
    let Connection { client, server, path, limits, .. } = connection;
    let vantage = match connection.vantage {
        Vantage::NearSender => "near the sender",
        Vantage::NearReceiver => "near the receiver",
        Vantage::Between => "between sender and receiver",
        Vantage::BothEnds => "at both ends",
        Vantage::Unknown => "at an unknown place",
    };
    let mut notes = vec![
        format!(
            "{client} to {server}, {}, {} bytes from the client and {} from the server",
            time(connection.duration_s),
            connection.bytes_by[0],
            connection.bytes_by[1]
        ),
        format!("in Wireshark: {}", filters.connection(connection)),
        format!("captured {vantage} (confidence {:.2})", connection.vantage_confidence),
        round_trip(connection),
    ];
    notes.extend(
        path.rate_bit_s
            .map(|rate| format!("highest rate {:.2} Mbit/s; MSS {} bytes", rate / 1e6, path.mss)),
    );
    notes.push(format!(
        "{} bytes retransmitted; {} loss episodes; {} segments arrived out of order",
        connection.retransmitted_bytes, path.loss_events, path.reordered
    ));
    notes.push(format!(
        "sender limited by the receiver's window {:.3} s, by its congestion window or the path {:.3} s, by \
         itself {:.3} s (RFC 4898)",
        limits.rwin_s, limits.cwnd_s, limits.snd_s
    ));
    notes.extend(path.between.iter().flat_map(between));
    notes.extend(path.radio.iter().flat_map(radio));
    Section::new(&format!("Connection {}", connection.id)).with(Block::Notes(notes))
}

/// Returns the shortest round trip, its parts on both sides of the capture point, and the queue.
fn round_trip(connection: &Connection) -> String {
    let path = &connection.path;
    let [client, server] = connection.rtt_to_s;
    let Some(whole) = path.base_rtt_s else { return "round trip unknown".to_owned() };
    let mut text = format!("shortest round trip {}", time(whole));
    if let (Some(client), Some(server)) = (client, server) {
        let parts = client + server;
        let parts_text = format!(
            "{} between capture and client, {} between capture and server",
            time(client),
            time(server)
        );
        // A round trip measured end to end may be shorter than its parts, which are of different packets.
        text += &match (whole - parts).abs() < 0.02 * parts {
            true => format!(": {parts_text}"),
            false => format!("; shortest parts: {parts_text}, {} together", time(parts)),
        };
    }
    if let Some(queue) = path.queue_s {
        text += &format!("; up to {} more in queues", time(queue));
    }
    text
}

/// Returns what two captures show of the path between them.
fn between(between: &Between) -> Vec<String> {
    let of = |side: usize, from: &str| {
        let lost = between.lost[side];
        let delay = between.delay[side].map_or_else(String::new, |delay| {
            format!(
                "; the others took {} (median), {} (95th percentile) and at most {} longer than the fastest",
                time(delay.median_s),
                time(delay.p95_s),
                time(delay.most_s)
            )
        });
        format!("between the captures, from the {from}: {lost} packets lost{delay}")
    };
    vec![of(0, "client"), of(1, "server")]
}

/// Returns what the capture shows of both directions on the air.
fn radio(radio: &RadioFacts) -> Vec<String> {
    let of = |side: usize, from: &str| {
        let share = radio.retry_share[side]?;
        let mut text = format!(
            "on the air, from the {from}: {} frames, {} of them retries ({:.1} %)",
            radio.frames[side],
            radio.retries[side],
            100.0 * share
        );
        if let (Some(rate), Some(airtime)) = (radio.rate_bit_s[side], radio.airtime_s[side]) {
            text += &format!("; median rate {:.1} Mbit/s, airtime {}", rate / 1e6, time(airtime));
        }
        if let Some(share) = radio.airtime_share[side] {
            text += &format!(" ({:.1} % of the active time)", 100.0 * share);
        }
        Some(text)
    };
    [of(0, "client"), of(1, "server")].into_iter().flatten().collect()
}

fn account(connection: &Connection, filters: &Filters) -> Section {
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
    let named = |found: &CauseFilter| format!("{}: {}", found.cause.title(), found.filter);
    let lost = filters.causes(connection).into_iter().filter(|found| found.cause.is_loss());
    let lines: Vec<String> = lost.map(|found| named(&found)).collect();
    let mut section = Section::new("Where the time went").with(Block::Table(table));
    if !lines.is_empty() {
        let lead = "The longest interval of each cause, as a display filter for Wireshark:";
        section.blocks.extend([Block::Text(lead.to_owned()), Block::Notes(lines)]);
    }
    section
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
        hidden => format!("The longest intervals; {hidden} shorter ones are in --json and --out."),
    };
    let table = table!(longest, |interval| [
        numbers("from", "s") => Cell::number(interval.from_s, 3),
        numbers("to", "s") => Cell::number(interval.to_s, 3),
        words("cause") => interval.cause.title(),
        words("frames") => format!("{}-{}", interval.frames[0], interval.frames[1]),
        words("why") => &interval.reason,
    ])
    .captioned(caption);
    Section::new("Over time").with(Block::Table(table))
}
