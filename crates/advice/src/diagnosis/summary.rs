//! The answer in a few sentences, and the totals behind it.

use ackord_diagnose::{Cause, Connection, Diagnosis};
use std::collections::BTreeMap;

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

/// Returns what captures without TCP contain, and what to do. Frames that could not be decoded may have been
/// TCP: they are counted apart.
fn nothing(diagnosis: &Diagnosis) -> String {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, count) in diagnosis.captures.iter().flat_map(|read| &read.others) {
        *others.entry(kind).or_default() += count;
    }
    let frames: u64 = diagnosis.captures.iter().map(|read| read.frames).sum();
    let malformed: u64 = diagnosis.captures.iter().map(|read| read.malformed).sum();
    if malformed > 0 {
        others.insert(TOO_SHORT, malformed);
    }
    if frames == 0 {
        return "No packets. Either the capture was stopped too early, or its filter matches nothing."
            .to_owned();
    }
    let mut others: Vec<_> = others.into_iter().collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let hidden: u64 =
        others.iter().filter(|(kind, _)| is_undecoded(kind)).map(|(_, count)| count).sum();
    let listed: Vec<String> =
        others.iter().take(4).map(|(kind, count)| format!("{count} {kind}")).collect();
    let listed =
        if listed.is_empty() { String::new() } else { format!(" ({})", listed.join(", ")) };
    let decoded = frames.saturating_sub(hidden);
    let mut text = match (hidden, decoded) {
        (0, _) => format!("No TCP in {frames} frames{listed}"),
        (_, 0) => format!("None of {frames} frames could be decoded{listed}"),
        _ => format!("No TCP in the {decoded} of {frames} frames that could be decoded{listed}"),
    };
    // Management frames of Wi-Fi are often more than those with data.
    let undecoded = others.iter().find(|(kind, _)| is_undecoded(kind));
    text.push_str(match (undecoded, others.first()) {
        (Some((kind, _)), _) => advice_for(kind),
        (None, Some((kind, _))) => advice_for(kind),
        (None, None) => advice_for(""),
    });
    text
}

/// The name under which frames are listed that are too short or malformed.
const TOO_SHORT: &str = "too short or malformed";
/// The name of encrypted frames of 802.11.
const WIFI_ENCRYPTED: &str = "Wi-Fi frame, encrypted";

/// Returns true if frames of this kind may have carried TCP that could not be read. Names with a link type are those
/// of link types that are not known.
fn is_undecoded(kind: &str) -> bool {
    let without_ip = ["USB", "Bluetooth", "CAN", "Netlink", "IEEE 802.15.4"];
    let known = without_ip.iter().any(|name| kind.starts_with(name));
    let damaged = ["Wi-Fi frame, damaged", "Wi-Fi fragment", TOO_SHORT];
    kind == WIFI_ENCRYPTED || damaged.contains(&kind) || kind.contains("(link type ") && !known
}

/// Returns what to do about a capture of which most is of this kind.
fn advice_for(kind: &str) -> &'static str {
    let encrypted = ["IPsec ESP", "WireGuard", "OpenVPN", "DTLS"];
    match kind {
        TOO_SHORT => {
            ". Frames were cut too short: capture at least 96 bytes of each, in Wi-Fi 192."
        }
        WIFI_ENCRYPTED => {
            ". The air is encrypted: capture on the station or behind the access point instead, or decrypt \
             the capture with the key first, as with airdecap-ng."
        }
        kind if kind.starts_with("Wi-Fi") => {
            ". The monitor received no sound data frames: capture closer to the station or the access point, \
             on their channel, or on one of the two themselves."
        }
        kind if kind.starts_with("QUIC") => {
            ". QUIC encrypts its acknowledgments: disable QUIC in the client, or get a qlog from one of its endpoints."
        }
        kind if encrypted.contains(&kind) => {
            ". The tunnel is encrypted: capture inside it, at one of its ends."
        }
        kind if is_undecoded(kind) => {
            ". Frames of this link type cannot be read: capture on an interface of Ethernet or IP, as with \
             `tcpdump -i any`."
        }
        _ => {
            ". Capture with a filter such as `tcp`, on the interface that carries the connections."
        }
    }
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
    use ackord_diagnose::CaptureRead;

    /// The summary of a capture of these frames, none of them TCP.
    fn summary(others: &[(&str, u64)], malformed: u64) -> String {
        let others: Vec<_> =
            others.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        let frames = malformed + others.iter().map(|(_, count)| count).sum::<u64>();
        let read = CaptureRead { frames, others, malformed, ..CaptureRead::default() };
        diagnosis_summary(&Diagnosis {
            captures: vec![read],
            artefacts: Vec::new(),
            connections: Vec::new(),
        })
    }

    #[test]
    fn frames_that_could_not_be_decoded_are_not_called_frames_without_tcp() {
        for (others, malformed, begins, advises) in [
            (&[("UDP", 5)][..], 0, "No TCP in 5 frames (5 UDP)", "`tcp`"),
            (&[("QUIC", 4), ("UDP", 1)], 0, "No TCP in 5 frames (4 QUIC, 1 UDP)", "qlog"),
            (&[("USB packet (link type 220)", 5)], 0, "No TCP in 5 frames (5 USB", "`tcp`"),
            (&[], 5, "None of 5 frames could be decoded (5 too short", "96 bytes"),
            (
                &[(WIFI_ENCRYPTED, 5)],
                0,
                "None of 5 frames could be decoded (5 Wi-Fi",
                "airdecap-ng",
            ),
            (
                &[("Wi-Fi management or control frame", 7), (WIFI_ENCRYPTED, 2)],
                1,
                "No TCP in the 7 of 10 frames that could be decoded (7 Wi-Fi management",
                "airdecap-ng",
            ),
            (&[("Wi-Fi management or control frame", 7)], 0, "No TCP in 7 frames", "monitor"),
            (&[("Wi-Fi frame, damaged", 7)], 0, "None of 7 frames could", "closer"),
            (
                &[("Token Ring frame (link type 6)", 3)],
                0,
                "None of 3 frames could be decoded (3 Token Ring",
                "interface of Ethernet",
            ),
        ] {
            let text = summary(others, malformed);
            assert!(text.starts_with(begins) && text.contains(advises), "{text}");
        }
        assert!(summary(&[], 0).starts_with("No packets"));
    }

    #[test]
    fn times_have_a_unit_and_three_digits() {
        let shown = [60.0, 1.5, 0.25, 0.0423, 0.0021, 0.00004, 0.0].map(time);
        assert_eq!(shown, ["60.0 s", "1.50 s", "250 ms", "42.3 ms", "2.10 ms", "40 us", "0 s"]);
    }
}
