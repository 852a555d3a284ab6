//! What the files of all daemons have in common.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | tables for metrics, messages and the state, and how values are read |
//! | `file.rs` | [`ConfigFile`]: a text, and what it says |
//! | `turns.rs` | [`TurnsConfig`]: the table `[turns]` |
//! | `keys.rs` | the keys of those tables, and schemas |

mod file;
mod keys;
mod turns;

pub use file::{ConfigFile, FromFile};
pub use keys::{log_keys, metrics_keys, one_or_several, schema, span_or_never_schema, turns_keys};
pub use turns::{TurnsConfig, turns};

use crate::logs::{LogConfig, LogLevel, LogTarget};
use ackord_scenario::Wrong;
use ackord_scenario::format::{Field, Key, Reader, Report, Value, join};
use ackord_units::{Quantity, Ratio, Span};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Where metrics are served, by the keys `listen` and `expose` of a table `metrics`; nowhere where that is said.
pub fn metrics(
    report: &mut Report,
    root: &Reader<'_>,
    keys: &'static [Key],
    default: SocketAddr,
) -> Option<SocketAddr> {
    let reader = table_or_empty(report, root, "metrics", keys)?;
    let words = [("loopback", false), ("network", true)];
    let expose = reader.get("expose").and_then(|field| field.word(report, &words));
    let Some(field) = reader.get("listen") else { return Some(default) };
    let expected = format!("an address and port, like \"{default}\", or `none`");
    let text = field.text(report, &expected)?;
    if text == "none" {
        return None;
    }
    let Ok(address) = text.parse::<SocketAddr>() else {
        let why = format!("`{text}` is no address with a port");
        let port = default.port();
        let allowed = format!("like `127.0.0.1:{port}` or `[::1]:{port}`, or `none`");
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    };
    if !address.ip().is_loopback() && expose != Some(true) {
        let what = format!("other machines could reach `{address}`, and nobody is asked who he is");
        let help = "listen on 127.0.0.1 or [::1], or add `expose = \"network\"` if that is meant";
        let help = help.to_owned();
        field.report(report, Wrong::Other { what, help, first: None });
    }
    Some(address)
}

/// A table `log`, with the keys `level` and `to`.
pub fn log(report: &mut Report, root: &Reader<'_>, keys: &'static [Key]) -> Option<LogConfig> {
    let reader = table_or_empty(report, root, "log", keys)?;
    let levels = [
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];
    let targets = [
        ("auto", LogTarget::Auto),
        ("stderr", LogTarget::Stderr),
        ("journald", LogTarget::Journald),
    ];
    let level = reader.get("level").and_then(|field| field.word(report, &levels));
    let to = reader.get("to").and_then(|field| field.word(report, &targets));
    Some(LogConfig { level: level.unwrap_or(LogLevel::Info), to: to.unwrap_or(LogTarget::Auto) })
}

/// The directory of a table `state`; `daemon` is what stands in errors.
pub fn state(
    report: &mut Report,
    root: &Reader<'_>,
    keys: &'static [Key],
    (daemon, default): (&str, &str),
) -> Option<PathBuf> {
    let reader = table_or_empty(report, root, "state", keys)?;
    match reader.get("directory") {
        Some(field) => absolute(report, &field, "a directory", (daemon, default)),
        None => Some(PathBuf::from(default)),
    }
}

/// A path from the root: what it is for the daemon of this name, and how one looks.
pub fn absolute(
    report: &mut Report,
    field: &Field<'_>,
    what: &str,
    (daemon, like): (&str, &str),
) -> Option<PathBuf> {
    let text = field.text(report, &format!("{what}, like \"{like}\""))?;
    if !Path::new(text).is_absolute() {
        let why = format!("`{text}` depends on where the {daemon} is started");
        let allowed = format!("a path from the root, like `{like}`");
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(PathBuf::from(text))
}

/// Reads one value, or each of a list, which may not be empty. What is wrong is reported and left out.
pub fn each<T>(
    report: &mut Report,
    field: &Field<'_>,
    read: impl Fn(&mut Report, &Field<'_>) -> Option<T>,
) -> Vec<T> {
    let Value::Array(items) = &field.item.value else {
        return read(report, field).into_iter().collect();
    };
    if items.is_empty() {
        let allowed = "at least one, or no such key".to_owned();
        field.report(report, Wrong::BadValue { why: "the list is empty".to_owned(), allowed });
    }
    let element = |(index, item)| Field { item, path: join(&field.path, &format!("{index}")) };
    items.iter().enumerate().filter_map(|each| read(report, &element(each))).collect()
}

/// A table that may be absent.
pub fn table<'a>(
    report: &mut Report,
    root: &Reader<'a>,
    key: &'static str,
    keys: &'static [Key],
) -> Option<Reader<'a>> {
    let field = root.get(key)?;
    let of = format!("`{}`", field.path);
    Reader::new(report, field.item, field.path, keys, &of)
}

/// A table that is empty where it is absent, as none of its keys has to be there.
pub fn table_or_empty<'a>(
    report: &mut Report,
    root: &Reader<'a>,
    key: &'static str,
    keys: &'static [Key],
) -> Option<Reader<'a>> {
    match root.get(key) {
        Some(_) => table(report, root, key, keys),
        None => Some(Reader::empty(root.place, key, keys)),
    }
}

/// The value of a key, or else its default; nothing where it is wrong, which has then been reported.
pub fn quantity_or<Q: Quantity>(
    report: &mut Report,
    reader: &Reader<'_>,
    key: &'static str,
    default: &str,
) -> Option<Q> {
    match reader.get(key) {
        Some(field) => field.quantity(report),
        None => Q::parse(default).ok(),
    }
}

/// The same, if it is above zero.
pub fn positive<Q: Quantity + Default + PartialEq>(
    report: &mut Report,
    reader: &Reader<'_>,
    key: &'static str,
    value: Q,
) -> Option<Q> {
    match reader.get(key) {
        Some(field) => field.above_zero(report, value),
        None => Some(value),
    }
}

/// After how long; never where that is said. Nothing where it is wrong, which has then been reported.
pub fn span_or_never(
    report: &mut Report,
    reader: &Reader<'_>,
    key: &'static str,
    default: &str,
) -> Option<Option<Span>> {
    if reader.get(key).is_some_and(|field| field.item.as_text() == Some("never")) {
        return Some(None);
    }
    let span = quantity_or::<Span>(report, reader, key, default)?;
    positive(report, reader, key, span).map(Some)
}

/// Of a thousand connections so many, by their share.
pub fn per_mille(share: Ratio) -> u16 {
    (share.get() * 1_000.0).round() as u16
}
