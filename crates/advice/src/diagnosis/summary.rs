//! The answer in a sentence, and what it adds up.

use ackord_diagnose::{Cause, Connection, Diagnosis};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Seconds a remedy could give back.
pub fn lost_seconds(connection: &Connection) -> f64 {
    let lost = connection.causes.iter().filter(|share| share.cause.is_loss());
    lost.map(|share| share.seconds).sum()
}

/// The answer in a sentence or two.
pub fn diagnosis_summary(diagnosis: &Diagnosis) -> String {
    let connections = &diagnosis.connections;
    if connections.is_empty() {
        return nothing(diagnosis);
    }
    let lost: f64 = connections.iter().map(lost_seconds).sum();
    let all: f64 = connections.iter().map(|connection| connection.duration_s).sum();
    let mut by_cause = totals(diagnosis);
    by_cause.retain(|(cause, ..)| cause.is_loss());
    let worst = by_cause.first().filter(|(_, seconds, _)| *seconds >= 0.01 * all);
    let count = connections.len();
    let plural = if count == 1 { "connection" } else { "connections" };
    match worst {
        Some((cause, seconds, _)) => format!(
            "{count} {plural}, {all:.1} s in all; {lost:.1} s of them could be given back. Most of it: {}, \
             {seconds:.1} s.",
            cause.title()
        ),
        None => format!(
            "{count} {plural}, {all:.1} s in all. Nothing to gain here: they waited for their applications \
             and for the path."
        ),
    }
}

/// What a capture without TCP has, and what to do.
fn nothing(diagnosis: &Diagnosis) -> String {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, count) in diagnosis.captures.iter().flat_map(|read| &read.others) {
        *others.entry(kind).or_default() += count;
    }
    let mut others: Vec<_> = others.into_iter().collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let frames: u64 = diagnosis.captures.iter().map(|read| read.frames).sum();
    let malformed: u64 = diagnosis.captures.iter().map(|read| read.malformed).sum();
    if frames == 0 {
        return "No packets: was the capture stopped before it began, or does its filter match nothing?"
            .to_owned();
    }
    let mut text = format!("No TCP in {frames} frames");
    let listed: Vec<String> =
        others.iter().take(4).map(|(kind, count)| format!("{count} {kind}")).collect();
    if !listed.is_empty() {
        let _ = write!(text, " ({})", listed.join(", "));
    }
    let encrypted = ["IPsec ESP", "WireGuard", "OpenVPN", "DTLS"];
    text.push_str(match others.first() {
        Some((kind, _)) if kind.starts_with("QUIC") => {
            ". QUIC hides its acknowledgments: disable it in the client, or ask its endpoint for a qlog."
        }
        Some((kind, _)) if encrypted.contains(kind) => {
            ". The tunnel is encrypted: capture inside of it, at one of its ends."
        }
        _ if malformed > 0 => ". Frames were cut too short: capture at least 96 bytes of each.",
        _ => ". Capture with a filter such as `tcp`, on the interface that carries the connections.",
    });
    text
}

/// Seconds and connections by cause, most seconds first.
pub(super) fn totals(diagnosis: &Diagnosis) -> Vec<(Cause, f64, usize)> {
    let mut totals: BTreeMap<Cause, (f64, usize)> = BTreeMap::new();
    for share in diagnosis.connections.iter().flat_map(|connection| &connection.causes) {
        let total = totals.entry(share.cause).or_default();
        total.0 += share.seconds;
        total.1 += 1;
    }
    let mut totals: Vec<_> =
        totals.into_iter().map(|(cause, (seconds, count))| (cause, seconds, count)).collect();
    totals.sort_by(|a, b| b.1.total_cmp(&a.1));
    totals
}

/// Connections by the time they lost, most first.
pub(super) fn by_loss(diagnosis: &Diagnosis) -> Vec<&Connection> {
    let mut all: Vec<&Connection> = diagnosis.connections.iter().collect();
    all.sort_by(|a, b| lost_seconds(b).total_cmp(&lost_seconds(a)).then(a.id.cmp(&b.id)));
    all
}
