//! The rate of a queue as it is written, or the limits between which it follows the link.

use super::{Decisions, Follow, QueueRate};
use ackord_path::follow::RateLimits;
use ackord_scenario::Wrong;
use ackord_scenario::format::{Reader, Report, join};
use ackord_units::Rate;

/// Keys that have a meaning with `auto` only.
const OF_AUTO: [&str; 4] = ["rate_min", "rate_max", "rate_start", "rate_decisions"];

/// Reads the rate of the queue on this side; `None` if it is not sound, which has then been reported.
pub(super) fn queue_rate(
    report: &mut Report,
    reader: &Reader<'_>,
    side: &str,
) -> Option<QueueRate> {
    let is_auto = reader.get("rate").is_some_and(|field| field.item.as_text() == Some("auto"));
    if is_auto {
        return auto(report, reader, side);
    }
    for key in OF_AUTO {
        if let Some(field) = reader.get(key) {
            let why = format!("`{key}` is of no use with a constant rate");
            let allowed = "`rate = \"auto\"`, or no such key".to_owned();
            field.report(report, Wrong::BadValue { why, allowed });
        }
    }
    reader.rate(report, "rate").map(QueueRate::Fixed)
}

fn auto(report: &mut Report, reader: &Reader<'_>, side: &str) -> Option<QueueRate> {
    let wrong = |report: &mut Report, key, why: String, allowed: String| {
        let wrong = Wrong::BadValue { why, allowed };
        report.add(reader.place_of(key), &join(&reader.path, key), wrong);
        None
    };
    if side != "lan" {
        let why = "`auto` follows the link to the mobile hosts, by the acknowledgments from there";
        let allowed = "`auto` in [queue.lan]; here a rate".to_owned();
        return wrong(report, "rate", why.to_owned(), allowed);
    }
    let before = report.len();
    let limit = |report: &mut Report, key| match reader.get(key) {
        Some(_) => reader.rate(report, key),
        None => None,
    };
    let [min, max, start] = ["rate_min", "rate_max", "rate_start"].map(|key| limit(report, key));
    for key in ["rate_min", "rate_max"] {
        if reader.get(key).is_none() {
            let why = format!("`auto` keeps between two limits, and `{key}` is missing");
            let allowed = "`auto` with `rate_min` and `rate_max`".to_owned();
            wrong(report, "rate", why, allowed);
        }
    }
    let words = [("apply", Decisions::Apply), ("report", Decisions::Report)];
    let decisions = match reader.get("rate_decisions") {
        Some(field) => field.word(report, &words),
        None => Some(Decisions::Apply),
    };
    if report.len() > before {
        return None;
    }
    let (min, max) = (min?, max?);
    if min > max {
        let why = format!("`rate_min`, {min}, is more than `rate_max`, {max}");
        return wrong(report, "rate_min", why, format!("at most {max}"));
    }
    let limits = RateLimits::between(min, max);
    let start: Rate = start.unwrap_or(limits.start);
    if start < min || start > max {
        let why = format!("`rate_start`, {start}, is outside of the limits");
        return wrong(report, "rate_start", why, format!("{min} to {max}"));
    }
    let limits = RateLimits { start, ..limits };
    Some(QueueRate::Auto(Follow { limits, decisions: decisions? }))
}
