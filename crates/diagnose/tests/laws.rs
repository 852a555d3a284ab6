//! What has to hold for the diagnosis of a connection of which no byte was lost or sent twice.

use crate::synthetic::{Directions, Synthetic, Traffic, Truth};
use ackord_diagnose::{Cause, Connection, Diagnoser, Diagnosis, Seen};

/// Diagnoses packets in the order of a file.
pub(crate) fn diagnose(packets: &[Seen]) -> Diagnosis {
    let mut diagnoser = Diagnoser::default();
    packets.iter().for_each(|seen| diagnoser.take(seen));
    diagnoser.answer(Vec::new())
}

/// What has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    /// One connection is found, and its account adds up to its duration.
    AddsUp,
    /// No time is lost to an outage, a timeout or random loss.
    NoInventedLoss,
    /// Every byte is counted once, and none as retransmitted.
    Bytes,
    /// Idle time is that of the applications.
    IdleTime,
    /// No number in a sentence, and no count, is greater than what the connection contains.
    NothingBeyond,
}

/// Checks a law.
///
/// # Errors
/// How it is broken, in a sentence.
pub(crate) fn check(law: Law, synthetic: &Synthetic) -> Result<(), String> {
    let (packets, truth) = synthetic.capture();
    let diagnosis = diagnose(&packets);
    let [connection] = &diagnosis.connections[..] else {
        return match (packets.is_empty(), diagnosis.connections.len()) {
            (true, 0) => Ok(()),
            (_, count) => Err(format!("{count} connections where there is one")),
        };
    };
    match law {
        Law::AddsUp => adds_up(connection),
        Law::NoInventedLoss => invents_no_loss(synthetic, connection, &truth),
        Law::Bytes => counts_bytes_once(synthetic, connection, &truth),
        Law::IdleTime => knows_idle_time(synthetic, connection, &truth),
        Law::NothingBeyond => {
            claims_nothing_beyond(&diagnosis, connection, (packets.len() as u64, &truth))
        }
    }
}

/// The intervals follow one another without gaps, and they, the causes and the limits are the duration.
fn adds_up(connection: &Connection) -> Result<(), String> {
    let whole = connection.duration_s;
    let close = |sum: f64, what: &str| match (sum - whole).abs() < 1e-6 {
        true => Ok(()),
        false => Err(format!("{what} add up to {sum} s of {whole} s")),
    };
    close(connection.causes.iter().map(|one| one.seconds).sum(), "causes")?;
    let limits = connection.limits;
    close(limits.rwin_s + limits.cwnd_s + limits.snd_s, "limits")?;
    let mut at = 0.0;
    for one in &connection.intervals {
        if (one.from_s - at).abs() > 1e-9 || one.to_s <= one.from_s {
            return Err(format!("a gap at {at} s, before {one:?}"));
        }
        at = one.to_s;
    }
    close(at, "intervals")
}

/// No time before the close is lost to an outage, a timeout or random loss. A FIN that is repeated without
/// an answer may be; how far away its end is, is not known to the round trip.
fn invents_no_loss(
    synthetic: &Synthetic,
    connection: &Connection,
    truth: &Truth,
) -> Result<(), String> {
    let closes = truth.closes_s - f64::from(synthetic.shape.rtt_us) / 1e6;
    let closes = if synthetic.shape.fins.is_some() { closes } else { f64::INFINITY };
    let invented = |cause| {
        matches!(
            cause,
            Cause::Outage
                | Cause::RandomLoss
                | Cause::TimeoutTail
                | Cause::TimeoutWindow
                | Cause::TimeoutSmallWindow
                | Cause::TimeoutLostRetransmission
        )
    };
    let before = connection.intervals.iter().filter(|one| one.from_s < closes);
    match before.into_iter().find(|one| invented(one.cause)) {
        Some(one) => Err(format!("{one:?}")),
        None => Ok(()),
    }
}

/// Bytes of payload are those of the applications, and none was retransmitted.
fn counts_bytes_once(
    synthetic: &Synthetic,
    connection: &Connection,
    truth: &Truth,
) -> Result<(), String> {
    let (bytes, again) = (connection.bytes, connection.retransmitted_bytes);
    // A repeated FIN counts as one byte of the sequence space.
    let closes = synthetic.shape.fins.map_or(0, u64::from);
    if again > closes {
        return Err(format!("{again} bytes count as retransmitted"));
    }
    let whole = synthetic.view.directions == Directions::Both;
    match whole && bytes != truth.bytes {
        true => Err(format!("{bytes} bytes where there are {}", truth.bytes)),
        false => Ok(()),
    }
}

/// Share of the idle time, and seconds, by which it may be missed.
const IDLE_SHARE: f64 = 0.05;
const IDLE_S: f64 = 0.005;

/// The idle time of clean requests and responses is that of the applications.
fn knows_idle_time(
    synthetic: &Synthetic,
    connection: &Connection,
    truth: &Truth,
) -> Result<(), String> {
    let whole = synthetic.view.directions == Directions::Both && synthetic.view.jump.is_none();
    let shape = synthetic.shape;
    let talks = match shape.traffic {
        Traffic::Bulk { .. } => false,
        // An application that writes soon after an ACK cannot be told from a window that the ACK opened.
        // Without the handshake, how far away its other end is remains unknown.
        Traffic::Pushes { gap_ms, .. } => {
            gap_ms * 1000 > shape.rtt_us / 2 && !synthetic.view.from_the_middle
        }
        Traffic::Requests { .. } | Traffic::Idle { .. } => true,
    };
    if !whole || !talks || shape.fins.is_some() {
        return Ok(());
    }
    let named = [Cause::ClientIdle, Cause::ServerIdle].map(|cause| {
        let found = connection.causes.iter().find(|one| one.cause == cause);
        found.map_or(0.0, |one| one.seconds)
    });
    // In the middle of a connection nobody knows who opened it: the sum is what can be known.
    let pairs: Vec<(f64, f64)> = match synthetic.view.from_the_middle {
        true => vec![(named.iter().sum(), truth.idle_s.iter().sum())],
        false => named.into_iter().zip(truth.idle_s).collect(),
    };
    for (number, (named, idle)) in pairs.into_iter().enumerate() {
        // The copy of the last packet ends the capture later.
        let copies = synthetic.view.copies.map_or(0, |it| it.after_us + it.varies_us);
        let tolerance = idle * IDLE_SHARE + IDLE_S + f64::from(copies) / 1e6;
        let most = if idle > 0.0 { idle + truth.acks_s } else { 0.0 };
        if named < idle - tolerance || named > most + tolerance {
            let who = if number == 0 { "client" } else { "server" };
            let causes = connection.causes.iter();
            let causes = causes.map(|one| format!("{} {:.4} s", one.cause.name(), one.seconds));
            let causes = causes.collect::<Vec<_>>().join(", ");
            return Err(format!("{named:.4} s of the {who} where {idle:.4} s are true: {causes}"));
        }
    }
    Ok(())
}

/// No number in a sentence is greater than what the connection contains.
fn claims_nothing_beyond(
    diagnosis: &Diagnosis,
    connection: &Connection,
    (packets, truth): (u64, &Truth),
) -> Result<(), String> {
    let reasons = connection.intervals.iter().map(|one| &one.reason);
    let artefacts = connection.artefacts.iter().chain(&diagnosis.artefacts);
    let meanings = artefacts.clone().map(|one| &one.meaning);
    for sentence in reasons.chain(meanings) {
        for (value, unit) in quantities(sentence) {
            let most = match unit.as_str() {
                "bytes" => truth.bytes as f64,
                "segments" | "segment" | "packets" | "packet" | "times" => packets as f64,
                "s" => connection.duration_s,
                "ms" => connection.duration_s * 1e3,
                _ => continue,
            };
            // Rounding to the last digit shown.
            if value > most * 1.01 + 1.0 {
                return Err(format!("{value} {unit} where {most} are there: {sentence}"));
            }
        }
    }
    match artefacts.into_iter().find(|one| one.count > packets) {
        Some(one) => Err(format!("more than {packets} packets: {one:?}")),
        None => Ok(()),
    }
}

/// Returns the numbers of a sentence, each with the word after it.
fn quantities(sentence: &str) -> Vec<(f64, String)> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let unit = |word: &str| word.trim_matches(|it: char| !it.is_alphanumeric()).to_owned();
    let of = |pair: &[&str]| {
        let number = pair[0].trim_matches(|it: char| !it.is_ascii_digit());
        Some((number.parse().ok()?, unit(pair[1])))
    };
    words.windows(2).filter_map(of).collect()
}

#[test]
fn quantities_are_numbers_with_the_words_after_them() {
    let found = quantities("3 segments of 7 retransmitted after 12.5 ms, 500 bytes under way.");
    let units = ["segments", "retransmitted", "ms", "bytes"].map(str::to_owned);
    assert_eq!(found, [3.0, 7.0, 12.5, 500.0].into_iter().zip(units).collect::<Vec<_>>());
}
