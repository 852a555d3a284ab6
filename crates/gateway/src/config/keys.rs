//! Every key of a gateway's file, listed once: the checker refuses what is not here, the JSON Schema is written
//! from it.

use super::read;
use ackord_daemon::config::{
    log_keys, metrics_keys, one_or_several, schema, span_or_never_schema, turns_keys,
};
use ackord_path::registry::{QueueChoice, whole};
use ackord_scenario::format::{Key, Kind, Shape, optional, quantity, required};
use ackord_units::{Choice, Rate, Span};
use serde_json::{Value, json};

/// The version of the format that is read.
pub(super) const VERSION: u64 = 1;
/// More LAN interfaces than any router has radios.
pub(super) const MAX_LAN: usize = 8;

const REMEDY: Shape = Shape::ChoiceOrNone { mechanisms: whole, kind: Kind::Named };

/// The file.
pub(super) static FILE: &[Key] = &[
    optional(
        "version",
        Shape::Integer { min: VERSION, max: VERSION },
        "1",
        "Version of the file format",
    ),
    required(
        "wan",
        Shape::Own(interface),
        "The interface towards the fixed hosts",
        "wan = \"eth0\"",
    ),
    required(
        "lan",
        Shape::Own(interfaces),
        "The interface towards the mobile hosts, or a list of several",
        "lan = \"wlan0\"",
    ),
    optional("remedy", REMEDY, "none", "The remedy of connections for which no rule says another"),
    optional("rule", Shape::List(RULE), "none", "Exceptions: the first that matches is the one"),
    optional("queue", Shape::Table(QUEUES), "none", "Queues in the path"),
    optional(
        "control",
        Shape::Ratio,
        super::GatewayConfig::CONTROL,
        "The share of connections that never get a remedy: what one of them has beside one that gets it",
    ),
    optional("limits", Shape::Table(LIMITS), "the defaults below", "How much it may take"),
    optional("metrics", Shape::Table(METRICS), "the defaults below", "Metrics for Prometheus"),
    optional("log", Shape::Table(LOG), "the defaults below", "Messages"),
    optional("state", Shape::Table(STATE), "the defaults below", "What outlives the process"),
    optional(
        "turns",
        Shape::Table(TURNS),
        "the defaults below",
        "Turns of the whole link with remedies and without, which show what they are worth",
    ),
    optional(
        "harm",
        Shape::Table(HARM),
        "the defaults below",
        "When a remedy that harms the connections of a rule stands down there",
    ),
];

/// Turns.
pub(super) static TURNS: &[Key] = &turns_keys(
    super::TurnsConfig::UNTREATED,
    "The share of turns in which no connection gets a remedy, at most 50 %; 0 % leaves them at work all the \
         time, and what they are worth to the link unknown",
);

/// A rule.
pub(super) static RULE: &[Key] = &[
    required("name", Shape::Label, "What it is called in counters and logs", "name = \"voice\""),
    optional("interface", Shape::Own(interfaces), "any", "LAN interface, or several"),
    optional("mobile", Shape::Own(networks), "any", "Network of the mobile host, or several"),
    optional("fixed", Shape::Own(networks), "any", "Network of the fixed host, or several"),
    optional("port", Shape::Own(ports), "any", "Port of the fixed host, a range, or several"),
    optional("mobile_port", Shape::Own(ports), "any", "Port of the mobile host, likewise"),
    optional(
        "dscp",
        Shape::Own(dscps),
        "any",
        "Differentiated services code point of its first observed packet in either direction: a name (ef, af41, cs1) or 0 to 63, or several",
    ),
    optional(
        "mark",
        Shape::Own(mark),
        "any",
        "Mark that the kernel's filters gave its packets towards the mobile host, or VALUE/MASK; before \
         the first such packet a connection matches only rules without `mark`",
    ),
    required("remedy", REMEDY, "What is done for its connections", "remedy = \"none\""),
];

/// Where queues may be.
pub(super) static QUEUES: &[Key] = &[
    optional(
        "lan",
        Shape::Table(QUEUE_KEYS),
        "none",
        "Of what leaves towards the mobile hosts; each LAN interface has one of its own",
    ),
    optional("wan", Shape::Table(QUEUE_KEYS), "none", "Of what leaves towards the fixed hosts"),
];

/// A queue.
pub(super) static QUEUE_KEYS: &[Key] = &[
    required(
        "discipline",
        Shape::Choice { mechanisms: || QueueChoice::MECHANISMS, kind: Kind::Named },
        "Which queue",
        "discipline = \"fq-codel\"",
    ),
    required(
        "rate",
        Shape::Own(rate),
        "How fast it is emptied: a little less than what the link behind it can do, so that packets \
         wait here and not there; or `auto` (towards the mobile hosts): the rate follows the link",
        "rate = \"20 Mbit/s\"",
    ),
    optional("rate_min", Shape::Rate, "required with `auto`", "The lowest rate of `auto`"),
    optional("rate_max", Shape::Rate, "required with `auto`", "The highest rate of `auto`"),
    optional(
        "rate_start",
        Shape::Rate,
        "the geometric mean of both limits",
        "The rate of `auto` at the start and after idle times",
    ),
    optional(
        "rate_decisions",
        Shape::Words(&DECISIONS),
        "apply",
        "What becomes of the decisions of `auto`: `report` is a dry run, in which the status and the log show them and \
         the rate stays at `rate_start`",
    ),
];

/// What becomes of decisions.
pub(super) static DECISIONS: [&str; 2] = ["apply", "report"];

/// Limits.
pub(super) static LIMITS: &[Key] = &[
    optional(
        "connections",
        Shape::Integer { min: 1, max: 1_000_000 },
        "20000",
        "Connections that are known; the one that was quiet longest makes room",
    ),
    optional("cache_per_flow", Shape::Bytes, "1 MB", "Data that is kept of one connection"),
    optional("cache", Shape::Bytes, "128 MB", "Data that is kept of all connections"),
    optional(
        "injected",
        Shape::Ratio,
        "100 %",
        "The most that is injected into a connection, as a share of the data that passed in it",
    ),
    optional(
        "injected_rate",
        Shape::Rate,
        "100 Mbit/s",
        "The most that is injected into all connections together",
    ),
    optional(
        "fast",
        Shape::Rate,
        "500 Mbit/s",
        "A connection that is faster is let pass: no wireless link is behind it",
    ),
    optional(
        "copied",
        Shape::Rate,
        "1 Gbit/s",
        "Above this rate of a LAN interface only headers are copied, so that nothing is cached or retransmitted",
    ),
    optional(
        "subscribers",
        Shape::Integer { min: 0, max: 10_000 },
        "100",
        "Mobile hosts listed by address in status and metrics, the busiest first; 0 lists none",
    ),
];

/// Metrics.
pub(super) static METRICS: &[Key] = &metrics_keys("127.0.0.1:9469");

/// Messages.
pub(super) static LOG: &[Key] =
    &log_keys("Where they go; `auto`: to the journal where a service manager started the gateway");

/// State.
pub(super) static STATE: &[Key] = &[optional(
    "directory",
    Shape::Text,
    super::GatewayConfig::STATE,
    "Where the journal of what is to be undone, the lock and the control socket are",
)];

/// Harm.
pub(super) static HARM: &[Key] = &[
    optional(
        "significance",
        Shape::Ratio,
        "1 %",
        "The probability, at most, of standing down though there is no harm",
    ),
    optional(
        "sustained",
        Shape::Span,
        "1 min",
        "How long treated connections have to be worse off than those left alone",
    ),
    optional(
        "flows",
        Shape::Integer { min: 2, max: 1_000_000 },
        "20",
        "Connections of each kind of which enough was seen, before anything is concluded",
    ),
    optional("retry", Shape::Own(span_or_never_schema), "1 h", "After how long it is tried again"),
];

/// The schema of a gateway's file (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let quantities = json!({ "span": quantity::<Span>(), "rate": quantity::<Rate>() });
    let description = "What a gateway does for which connections. TOML, version 1.";
    schema(FILE, "Ackord gateway", description, quantities)
}

fn rate() -> Value {
    json!({ "anyOf": [{ "const": "auto" }, { "$ref": "#/$defs/rate" }] })
}

fn interface() -> Value {
    json!({ "type": "string", "pattern": "^[^/:\\s]{1,15}$" })
}

fn interfaces() -> Value {
    one_or_several(interface())
}

fn networks() -> Value {
    one_or_several(json!({ "type": "string", "pattern": "^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$" }))
}

fn ports() -> Value {
    one_or_several(json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": 65_535 },
        { "type": "string", "pattern": "^[0-9]{1,5}(-[0-9]{1,5})?$" },
    ]}))
}

fn dscps() -> Value {
    let names: Vec<&str> = read::DSCPS.iter().map(|(name, _)| *name).collect();
    one_or_several(json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": 63 },
        { "enum": names },
    ]}))
}

fn mark() -> Value {
    let number = "(0[xX][0-9A-Fa-f]{1,8}|[0-9]{1,10})";
    json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": u32::MAX },
        { "type": "string", "pattern": format!("^{number}(/{number})?$") },
    ]})
}
