//! Every key of an agent's file, listed once: the checker refuses what is not here, the JSON Schema is written from it.

use crate::names::By;
use ackord_daemon::config::{
    log_keys, metrics_keys, one_or_several, schema, span_or_never_schema, turns_keys,
};
use ackord_scenario::format::{Key, Shape, optional, quantity, required};
use ackord_units::Span;
use serde_json::{Value, json};

/// The version of the format that is read.
pub(super) const VERSION: u64 = 1;

/// Words for levers.
pub(super) const LEVERS: [&str; 3] = ["nodelay", "delayed-ack", "quick-ack"];

/// The file.
pub(super) static FILE: &[Key] = &[
    optional(
        "version",
        Shape::Integer { min: VERSION, max: VERSION },
        "1",
        "Version of the file format",
    ),
    optional(
        "cgroup",
        Shape::Text,
        "the root of the hierarchy",
        "A control group of version 2: connections of its processes, and of those below it, are followed",
    ),
    optional(
        "by",
        Shape::Words(&["service", "cgroup", "unit", "container", "executable", "port"]),
        "service",
        "What tells applications apart; `service`: the unit of systemd or the container, and the executable where there is neither",
    ),
    optional(
        "levers",
        Shape::Own(levers),
        "[\"nodelay\", \"delayed-ack\"]",
        "What may be done for applications for which no rule says something else; `none`: nothing",
    ),
    optional(
        "application",
        Shape::List(APPLICATION),
        "none",
        "Exceptions: the first that matches is the one",
    ),
    optional(
        "control",
        Shape::Ratio,
        super::AgentConfig::CONTROL,
        "The share of connections that are left alone, to be compared with",
    ),
    optional(
        "on_exit",
        Shape::Words(&["restore", "keep"]),
        "restore",
        "Whether connections get back what was changed when the agent ends, or keep it as long as they live, or until the next agent starts",
    ),
    optional("begin", Shape::Table(BEGIN), "the defaults below", "When a lever begins"),
    optional("end", Shape::Table(END), "the defaults below", "When a lever is withdrawn"),
    optional(
        "turns",
        Shape::Table(TURNS),
        "the defaults below",
        "Turns of the whole host with settings and without, which show what they are worth to it",
    ),
    optional("quick", Shape::Table(QUICK), "none", "A table of routes with `quickack`"),
    optional("routes", Shape::Table(ROUTES), "none", "Routes of single hosts"),
    optional(
        "pingpong_thresh",
        Shape::Integer { min: 1, max: 255 },
        "as it is",
        "net.ipv4.tcp_pingpong_thresh of this network namespace: the kernel begins to delay a connection's ACKs after so many replies that carried an ACK; \
         the kernel delays those of a connection",
    ),
    optional("limits", Shape::Table(LIMITS), "the defaults below", "How much may be known"),
    optional(
        "history",
        Shape::Table(HISTORY),
        "none",
        "What applications transfer, for `quick-ack`",
    ),
    optional("pods", Shape::Table(PODS), "none", "Pods of Kubernetes that opt in"),
    optional("metrics", Shape::Table(METRICS), "the defaults below", "Metrics for Prometheus"),
    optional("log", Shape::Table(LOG), "the defaults below", "Messages"),
    optional("state", Shape::Table(STATE), "the defaults below", "What outlives the process"),
];

/// Some applications.
pub(super) static APPLICATION: &[Key] = &[
    required(
        "name",
        Shape::Own(names),
        "The application's name in `status` (nginx.service), or another of its names (nginx), or several; `*` stands for anything",
        "name = \"redis-server\"",
    ),
    required(
        "levers",
        Shape::Own(levers),
        "What may be done for it; `none`: nothing",
        "levers = \"none\"",
    ),
];

/// When a lever begins.
pub(super) static BEGIN: &[Key] = &[
    optional("share", Shape::Ratio, "1 %", "Share of the time of exchanges that is lost, at least"),
    optional("lost", Shape::Span, "100 ms", "Time that is lost, at least"),
    optional(
        "stalls",
        Shape::Integer { min: 1, max: 1_000_000 },
        "5",
        "Number of waits before anything is concluded, at least",
    ),
];

/// When it ends.
pub(super) static END: &[Key] = &[
    optional(
        "enough",
        Shape::Integer { min: 2, max: 1_000_000 },
        "200",
        "Treated connections after which a setting that has shown no benefit is withdrawn",
    ),
    optional(
        "each",
        Shape::Integer { min: 2, max: 1_000_000 },
        "8",
        "Connections, treated and left alone, before anything is concluded",
    ),
    optional(
        "significance",
        Shape::Ratio,
        "0.1 %",
        "The probability, at most, of withdrawing a setting that does no harm",
    ),
    optional(
        "retry",
        Shape::Own(span_or_never_schema),
        "1 h",
        "After how long a withdrawn lever is tried anew",
    ),
];

/// Quick routes.
pub(super) static QUICK: &[Key] = &[
    optional(
        "mark",
        Shape::Own(mark),
        "\"0x10000000\"",
        "The bit of SO_MARK that leads to the table; all others stay as they are",
    ),
    optional(
        "table",
        Shape::Integer { min: 256, max: 4_294_967_294 },
        "7411",
        "Number of the table",
    ),
    optional("priority", Shape::Integer { min: 1, max: 32_765 }, "7411", "Place of its rule"),
];

/// Routes of hosts.
pub(super) static ROUTES: &[Key] = &[
    optional(
        "table",
        Shape::Integer { min: 256, max: 4_294_967_294 },
        "7412",
        "Number of the table",
    ),
    optional("priority", Shape::Integer { min: 1, max: 32_765 }, "7412", "Place of its rule"),
    optional(
        "initcwnd",
        Shape::Integer { min: 1, max: 255 },
        "the kernel's",
        "Segments that may be sent at first to hosts where packets overtake each other",
    ),
];

/// Limits.
pub(super) static LIMITS: &[Key] = &[
    optional(
        "connections",
        Shape::Integer { min: 1, max: 10_000_000 },
        "200000",
        "Connections that are followed; others go on without",
    ),
    optional(
        "applications",
        Shape::Integer { min: 1, max: 1_000 },
        "500",
        "Applications that are told apart",
    ),
    optional("report_every", Shape::Span, "250 ms", "How often a connection is looked at, at most"),
];

/// Histories.
pub(super) static HISTORY: &[Key] = &[required(
    "store",
    Shape::Text,
    "A file as `ackord history` has it; made where there is none",
    "store = \"/var/lib/ackord/history.redb\"",
)];

/// Pods.
pub(super) static PODS: &[Key] = &[
    required(
        "file",
        Shape::Text,
        "The pods of this node as the API lists them (JSON), kept up to date by somebody else",
        "file = \"/run/ackord/pods.json\"",
    ),
    optional(
        "annotation",
        Shape::Text,
        "ackord.io/agent",
        "Pods with this annotation, `on`, are followed, and no others",
    ),
];

/// Turns.
pub(super) static TURNS: &[Key] = &turns_keys(
    super::AgentConfig::UNTREATED,
    "The share of turns in which no connection has a setting, at most 50 %; 0 % leaves them at work all the time, and \
         what they are worth to the host unknown",
);

/// Metrics.
pub(super) static METRICS: &[Key] = &metrics_keys("127.0.0.1:9470");

/// Messages.
pub(super) static LOG: &[Key] = &log_keys(
    "Where they go; `auto`: to the journal where a service manager started the agent, else to standard error",
);

/// What outlives the process.
pub(super) static STATE: &[Key] = &[optional(
    "directory",
    Shape::Text,
    "/run/ackord",
    "Where the control socket, the lock and the journal are",
)];

/// The schema of an agent's file (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let quantities = json!({ "span": quantity::<Span>() });
    let description =
        "What an agent does for the connections of which applications. TOML, version 1.";
    schema(FILE, "Ackord agent", description, quantities)
}

fn levers() -> Value {
    let one = json!({ "enum": LEVERS });
    json!({ "anyOf": [{ "const": "none" }, one, { "type": "array", "minItems": 1, "items": one }] })
}

fn names() -> Value {
    one_or_several(json!({ "type": "string", "minLength": 1 }))
}

fn mark() -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": 1, "maximum": u32::MAX },
        { "type": "string", "pattern": "^(0[xX][0-9A-Fa-f]{1,8}|[0-9]{1,10})$" },
    ]})
}

/// The words for `by` and what they mean.
pub(super) const BY: [(&str, By); 6] = By::WORDS;
