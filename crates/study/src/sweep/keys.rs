//! Every key of a study file, listed once: the checker refuses what is not here, the JSON Schema is
//! written from it.

use ackord_scenario::format::{Key, Shape, optional, required, table};
use serde_json::{Map, Value, json};

/// The version of the format.
pub(super) const VERSION: u64 = 1;
/// The most runs of a point.
pub(super) const MOST_RUNS: u64 = 1_000_000;

/// The file.
pub(super) static FILE: &[Key] = &[
    required(
        "version",
        Shape::Integer { min: VERSION, max: VERSION },
        "Version of the file format",
        "version = 1",
    ),
    required("name", Shape::Label, "Short name, for reports", "name = \"buffer-size\""),
    optional("purpose", Shape::Text, "none", "Which question it answers, for reports"),
    required(
        "scenario",
        Shape::Text,
        "What is run: the name of a library scenario, or the path of a scenario file, from this file's folder",
        "scenario = \"dumbbell\"",
    ),
    optional("set", Shape::Own(any_table), "nothing", "Changes to the scenario at every point"),
    optional(
        "grid",
        Shape::Own(axes),
        "one point",
        "What varies: paths of the scenario as `--set` takes them, each with a list of values or a range. \
         Every combination is a point; the last varies fastest",
    ),
    optional(
        "zip",
        Shape::Own(|| json!({ "type": "array", "minItems": 1, "items": axes() })),
        "none",
        "What varies together: a table of paths with equally many values each is one axis, after those of \
         the grid",
    ),
    optional(
        "axes",
        Shape::Own(named_axes),
        "none",
        "What varies, by names of your own: each a table with `key` (or `keys`) and `values`. They come after those of \
         the grid; every combination is a point, and the last varies fastest",
    ),
    optional(
        "seeds",
        Shape::Own(seeds),
        "1",
        "How many runs of each point, each with the next seed",
    ),
    optional("until", Shape::Table(UNTIL), "none", "When a point has runs enough"),
    optional(
        "metrics",
        Shape::Names,
        "all",
        "Which metrics are kept: `goodput_bit_s`, or of one table `flows.goodput_bit_s` (`ackord list metrics`)",
    ),
    optional(
        "series",
        Shape::Names,
        "none",
        "What is kept against time: `cwnd`, `rtt`, `queue-packets` and so on. Files grow with every run",
    ),
];

/// An axis with a name.
pub(super) static AXIS: &[Key] = &[
    optional(
        "key",
        Shape::Text,
        "none; then `keys`",
        "What varies: a path of the scenario, as `--set` takes it",
    ),
    optional(
        "keys",
        Shape::Names,
        "none; then `key`",
        "Paths that vary together: each value is a list with an element for each",
    ),
    required(
        "values",
        Shape::Own(values),
        "A list of values, a range, or a table of values by name: `{ low = \"1 %\", high = \"5 %\" }`",
        "values = [\"1 %\", \"5 %\"]",
    ),
];

/// How many runs, and from which seed on.
pub(super) static SEEDS: &[Key] = &[
    optional(
        "first",
        Shape::Integer { min: 0, max: u64::MAX },
        "the scenario's",
        "Seed of each point's first run",
    ),
    optional(
        "count",
        Shape::Integer { min: 1, max: MOST_RUNS },
        "1; with `until` what that says",
        "How many runs of each point",
    ),
];

/// When a point has runs enough.
pub(super) static UNTIL: &[Key] = &[
    required(
        "metric",
        Shape::Text,
        "Whose mean is to be known: `total_goodput_bit_s`, `flows.download.goodput_bit_s`, \
         `queues.uplink.p99_delay_ms`",
        "metric = \"total_goodput_bit_s\"",
    ),
    required(
        "within",
        Shape::Ratio,
        "How large the half width of its 95 % interval may be, as a share of the mean",
        "within = \"2 %\"",
    ),
    optional(
        "at_least",
        Shape::Integer { min: 2, max: MOST_RUNS },
        "5",
        "Runs of each point at least",
    ),
    required(
        "at_most",
        Shape::Integer { min: 2, max: MOST_RUNS },
        "Runs of each point at most",
        "at_most = 100",
    ),
    optional(
        "batch",
        Shape::Integer { min: 1, max: MOST_RUNS },
        "5",
        "After how many more runs it is looked at again",
    ),
];

/// An axis from one value to another.
pub(super) static RANGE: &[Key] = &[
    required("from", Shape::Own(quantity), "The first value, with its unit", "from = \"10 ms\""),
    required("to", Shape::Own(quantity), "The last value, in the same unit", "to = \"100 ms\""),
    optional("step", Shape::Own(quantity), "none; then `points`", "From one value to the next"),
    optional(
        "points",
        Shape::Integer { min: 2, max: 10_000 },
        "none; then `step`",
        "How many values",
    ),
    optional(
        "scale",
        Shape::Words(&["linear", "log"]),
        "linear",
        "Whether values are equally far apart, or each the same multiple of the one before",
    ),
];

/// The schema of a study file (JSON Schema 2020-12).
pub fn study_json_schema() -> Value {
    let mut schema = table(FILE);
    let head: [(&str, Value); 3] = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("title", "Ackord study".into()),
        ("description", "Many runs of a scenario at many points. TOML, version 1.".into()),
    ];
    schema.extend(
        head.map(|(key, value)| (key.to_owned(), value)).into_iter().collect::<Map<_, _>>(),
    );
    Value::Object(schema)
}

fn quantity() -> Value {
    json!({ "type": ["string", "number"] })
}

fn any_table() -> Value {
    json!({ "type": "object" })
}

fn named_axes() -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": "^[A-Za-z][A-Za-z0-9_]*$" },
        "additionalProperties": Value::Object(table(AXIS)),
    })
}

/// Values by name are any table that is no range.
fn values() -> Value {
    json!({ "anyOf": [
        { "type": "array", "minItems": 1 },
        Value::Object(table(RANGE)),
        { "type": "object", "minProperties": 1 },
    ]})
}

/// Paths may be tables in tables: `links.hop.delay = [..]`.
fn axes() -> Value {
    json!({ "type": "object", "additionalProperties": { "anyOf": [
        { "type": "array", "minItems": 1 },
        Value::Object(table(RANGE)),
        { "type": "object" },
    ]}})
}

fn seeds() -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": 1, "maximum": MOST_RUNS },
        Value::Object(table(SEEDS)),
    ]})
}
