//! Keys that the files of all daemons have, and the schemas of their values.

use super::TurnsConfig;
use ackord_scenario::format::{Key, Shape, optional, table};
use serde_json::{Map, Value, json};

/// Keys of a table `metrics`, served at `listen` where nothing else is said.
pub const fn metrics_keys(listen: &'static str) -> [Key; 2] {
    [
        optional(
            "listen",
            Shape::Text,
            listen,
            "Address and port where they are served over HTTP, or `none`",
        ),
        optional(
            "expose",
            Shape::Words(&["loopback", "network"]),
            "loopback",
            "Who may ask: `network` where `listen` is an address that other machines reach. Nobody is asked for a \
             password",
        ),
    ]
}

/// Keys of a table `log`; `to` is said of where messages go.
pub const fn log_keys(to: &'static str) -> [Key; 2] {
    [
        optional(
            "level",
            Shape::Words(&["error", "warn", "info", "debug", "trace"]),
            "info",
            "The least important messages that are written",
        ),
        optional("to", Shape::Words(&["auto", "stderr", "journald"]), "auto", to),
    ]
}

/// Keys of a table `turns`: `share` is the default of `untreated`, and `untreated` describes it.
pub const fn turns_keys(share: &'static str, untreated: &'static str) -> [Key; 3] {
    [
        optional("untreated", Shape::Ratio, share, untreated),
        optional("length", Shape::Span, TurnsConfig::LENGTH, "How long a turn is"),
        optional(
            "settle",
            Shape::Span,
            TurnsConfig::SETTLE,
            "The beginning of each turn that is not measured, because queues and windows are still those of the turn \
             before; shorter than the turn",
        ),
    ]
}

/// The schema of a file (JSON Schema 2020-12): its title, what it describes, and what its keys refer to.
pub fn schema(keys: &[Key], title: &str, description: &str, quantities: Value) -> Value {
    let mut schema = table(keys);
    let head: [(&str, Value); 4] = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("title", title.into()),
        ("description", description.into()),
        ("$defs", quantities),
    ];
    schema.extend(
        head.map(|(key, value)| (key.to_owned(), value)).into_iter().collect::<Map<_, _>>(),
    );
    Value::Object(schema)
}

/// The schema of one value, or of a list of several.
pub fn one_or_several(one: Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }] })
}

/// The schema of what [`span_or_never`](super::span_or_never) reads.
pub fn span_or_never_schema() -> Value {
    json!({ "anyOf": [{ "const": "never" }, { "$ref": "#/$defs/span" }] })
}
