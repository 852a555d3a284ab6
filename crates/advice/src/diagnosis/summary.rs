//! The answer in a few sentences, and the totals behind it.

use ackord_diagnose::{Cause, Connection, Diagnosis};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Seconds of a connection that were lost: spent neither on its applications nor on the path as such. A remedy may
/// recover part of them.
pub fn lost_seconds(connection: &Connection) -> f64 {
    let lost = connection.causes.iter().filter(|share| share.cause.is_loss());
    lost.map(|share| share.seconds).sum()
}

/// Below this share of the time a loss is not worth a remedy.
const LEAST_LOST: f64 = 0.01;

/// Returns the answer in a few sentences.
pub fn diagnosis_summary(diagnosis: &Diagnosis) -> String {
    let connections = &diagnosis.connections;
    if connections.is_empty() {
        return nothing(diagnosis);
    }
    let lost: f64 = connections.iter().map(lost_seconds).sum();
    let all: f64 = connections.iter().map(|connection| connection.duration_s).sum();
    let by_cause = totals(diagnosis);
    let extent = match connections.len() {
        1 => format!("1 connection, {}.", time(all)),
        count => format!("{count} connections, {} together.", time(all)),
    };
    let greatest = |is_loss: bool| {
        let found = by_cause.iter().find(|(cause, ..)| cause.is_loss() == is_loss);
        found.map_or(String::new(), |(cause, seconds, _)| {
            format!(" Largest cause: {}, {}.", cause.title(), time(*seconds))
        })
    };
    if lost >= LEAST_LOST * all && lost > 0.0 {
        return format!(
            "{extent} {} were lost; a remedy may recover part of it.{}",
            time(lost),
            greatest(true)
        );
    }
    let lost = match lost {
        0.0 => "Nothing was lost.".to_owned(),
        lost => format!("Only {} were lost.", time(lost)),
    };
    format!("{extent} {lost}{}", greatest(false))
}

/// A time with its unit and at least three digits.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        seconds if seconds >= 10.0 => format!("{seconds:.1} s"),
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 0.1 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds >= 0.01 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds >= 0.001 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{:.0} us", seconds * 1e6),
    }
}

/// Returns what a capture without TCP contains, and what to do.
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
        return "No packets. Either the capture was stopped too early, or its filter matches nothing."
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
            ". QUIC encrypts its acknowledgments: disable QUIC in the client, or get a qlog from one of its endpoints."
        }
        Some((kind, _)) if encrypted.contains(kind) => {
            ". The tunnel is encrypted: capture inside it, at one of its ends."
        }
        _ if malformed > 0 => ". Frames were cut too short: capture at least 96 bytes of each frame.",
        _ => ". Capture on the interface that carries the connections, with a filter such as `tcp`.",
    });
    text
}

/// Returns the seconds and the number of connections of each cause, most seconds first.
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

/// Returns the connections by the time they lost, most first.
pub(super) fn by_loss(diagnosis: &Diagnosis) -> Vec<&Connection> {
    let mut all: Vec<&Connection> = diagnosis.connections.iter().collect();
    all.sort_by(|a, b| lost_seconds(b).total_cmp(&lost_seconds(a)).then(a.id.cmp(&b.id)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_three_digits() {
        let shown = [60.0, 1.5, 0.25, 0.0423, 0.0021, 0.00004, 0.0].map(time);
        assert_eq!(shown, ["60.0 s", "1.50 s", "250 ms", "42.3 ms", "2.10 ms", "40 us", "0 s"]);
    }
}
