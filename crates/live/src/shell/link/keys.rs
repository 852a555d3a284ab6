//! The keys of one direction of a link, in the form of a scenario file.

use super::super::summary::FAST;
use ackord_scenario::spelling::quoted;
use std::collections::BTreeMap;

/// The keys of one direction, in the form of a scenario file.
pub(super) type Keys = BTreeMap<&'static str, String>;

/// The order of keys within a link, which is that of the format's description.
const ORDER: [&str; 12] = [
    "rate",
    "delay",
    "jitter",
    "rate_changes",
    "trace",
    "shaper",
    "policer",
    "queue",
    "outage",
    "loss",
    "corrupt",
    "duplicate",
];

/// netem's own default, for queues whose capacity nobody gives.
pub(super) const DEFAULT_LIMIT: &str = "1000 packets";

/// Two directions that do nothing.
pub(super) fn plain() -> (Keys, Keys, Option<String>) {
    let keys = Keys::from([
        ("rate", quoted(FAST)),
        ("delay", quoted("0 ms")),
        ("queue", format!("{{ kind = \"drop-tail\", limit = \"{DEFAULT_LIMIT}\" }}")),
    ]);
    (keys.clone(), keys, None)
}

pub(super) fn set(
    keys: &mut Keys,
    key: &'static str,
    given: Option<&String>,
    form: impl Fn(&str) -> String,
) {
    if let Some(given) = given {
        keys.insert(key, form(given.trim()));
    }
}

pub(super) fn lines(keys: &Keys) -> String {
    let line = |key: &&str| keys.get(*key).map(|value| format!("{key} = {value}\n"));
    ORDER.iter().filter_map(line).collect()
}

/// The reverse direction, as far as it is not the same.
pub(super) fn differences(down: &Keys, up: &Keys) -> String {
    let mut own = Keys::new();
    for key in ORDER {
        match (down.get(key), up.get(key)) {
            (before, Some(value)) if before != Some(value) => {
                own.insert(key, value.clone());
            }
            (Some(_), None) => {
                own.insert(key, quoted("none"));
            }
            _ => {}
        }
    }
    if own.is_empty() { String::new() } else { format!("[links.reverse]\n{}", lines(&own)) }
}
