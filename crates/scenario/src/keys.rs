//! Every key of a scenario file, listed once: the checker refuses what is not here, the JSON
//! Schema is written from it.
//!
//! The keys of choices and of `tcp` tables are the registries' knobs and stand there.

use ackord_path::registry::{
    CorruptionChoice, DuplicationChoice, JitterChoice, LossChoice, MediumChoice, OutageChoice,
    PolicerChoice, ProcessingChoice, ProxyChoice, QueueChoice, RateChangesChoice, ShaperChoice,
};
use ackord_traffic::WorkloadChoice;
use ackord_units::{Choice, Mechanism};

/// A key of some table of the file.
#[derive(Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// Whether it has to be there.
    pub need: Need,
    /// What its value looks like.
    pub shape: Shape,
    /// What it says, for the schema and for the error where it is missing.
    pub doc: &'static str,
    /// A valid line, for the error where it is missing.
    pub example: &'static str,
}

/// Whether a key has to be there.
#[derive(Debug)]
pub enum Need {
    /// It has to.
    Required,
    /// Absent means this, in words or as written.
    Optional(&'static str),
}

/// What a key's value looks like.
#[derive(Debug)]
pub enum Shape {
    /// Any text.
    Text,
    /// A name of one thing: letters, digits, `-` and `_`.
    Label,
    /// A name that may stand for the members of a group, with `*`.
    Name,
    /// A whole number.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A time span.
    Span,
    /// A rate.
    Rate,
    /// An amount of data.
    Bytes,
    /// A share.
    Ratio,
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A mechanism, by name or as a table of `kind` and knobs.
    Choice {
        /// Which there are.
        mechanisms: fn() -> &'static [Mechanism],
        /// Whether one is chosen already.
        kind: Kind,
    },
    /// As `Choice`, or the word `none`.
    ChoiceOrNone {
        /// Which there are.
        mechanisms: fn() -> &'static [Mechanism],
        /// Whether one is chosen already.
        kind: Kind,
    },
    /// The five choices of an endpoint and its own knobs.
    Tcp,
    /// The name of a trace file, or a table with `file` and `sha256`, or `none`.
    Trace,
    /// A time in the run: a span, or a share of the duration.
    Instant,
    /// A time in the run, or a table with `from` and `to`.
    Start,
    /// A table of these keys.
    Table(&'static [Key]),
    /// A table whose keys are names and whose values are such tables.
    Named(&'static [Key]),
    /// `[[...]]`, at least one.
    List(&'static [Key]),
    /// A list of names.
    Names,
    /// What another format knows and this one does not, by its schema.
    Own(fn() -> serde_json::Value),
}

/// Whether the table form of a choice can do without `kind`.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// There is a choice already, whose knobs it changes.
    Inherited,
    /// There is none.
    Named,
}

/// A key that has to be there.
pub const fn required(
    name: &'static str,
    shape: Shape,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { name, need: Need::Required, shape, doc, example }
}

/// A key that may be absent, which then means `default`.
pub const fn optional(
    name: &'static str,
    shape: Shape,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { name, need: Need::Optional(default), shape, doc, example: "" }
}

/// The versions of the format this checker reads.
pub(crate) const VERSION: u64 = 1;
/// The most members a group may have.
pub(crate) const MAX_COUNT: u64 = 10_000;

/// The file.
pub(crate) static FILE: &[Key] = &[
    required(
        "version",
        Shape::Integer { min: VERSION, max: VERSION },
        "Version of the file format",
        "version = 1",
    ),
    required("name", Shape::Label, "Short name, for reports", "name = \"two-reno-flows\""),
    optional("purpose", Shape::Text, "none", "Why this scenario exists, for reports"),
    optional(
        "source",
        Shape::Text,
        "none",
        "Where it comes from, for reports: a paper and table, an RFC section, or `this project`",
    ),
    optional(
        "seed",
        Shape::Integer { min: 0, max: u64::MAX },
        "1",
        "What every random draw of the run derives from",
    ),
    required("duration", Shape::Span, "How long the run lasts", "duration = \"100 s\""),
    required("hosts", Shape::Named(HOST), "Where flows begin and end", "[hosts.client]"),
    optional("routers", Shape::Named(ROUTER), "none", "What forwards packets"),
    required("links", Shape::List(LINK), "Duplex links between hosts and routers", "[[links]]"),
    optional("proxies", Shape::List(PROXY), "none", "Middleboxes at wireless links"),
    optional("tcp", Shape::Tcp, "the registries' defaults", "What every endpoint starts from"),
    required("flows", Shape::List(FLOW), "Connections and what they carry", "[[flows]]"),
    optional("record", Shape::Table(RECORD), "the defaults below", "What to keep of the run"),
];

/// How many of a host or a router.
const COUNT: Key = optional(
    "count",
    Shape::Integer { min: 1, max: MAX_COUNT },
    "one, of the bare name",
    "Makes a group: NAME-1, NAME-2 and so on, referred to together as NAME-*",
);

/// A host.
pub(crate) static HOST: &[Key] = &[
    COUNT,
    optional(
        "processing",
        Shape::ChoiceOrNone { mechanisms: || ProcessingChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "How long it takes for each packet that it sends; of a group each for itself. Hosts answer \
         at once without it",
    ),
    optional(
        "kernel",
        Shape::Text,
        "none",
        "The stock Linux kernel whose TCP its ends of flows are, in simulated time (`ackord kernel`): \
         a version like `6.12`, a name of your own, or either with ticks per second, `6.12@1000`. \
         Without it they are Ackord's own",
    ),
];

/// A router.
pub(crate) static ROUTER: &[Key] = &[COUNT];

/// A link.
pub(crate) static LINK: &[Key] = &[
    optional("name", Shape::Name, "FROM-TO", "Name of the link, unique among links"),
    required("from", Shape::Name, "One end: a host or router, or GROUP-*", "from = \"n1\""),
    required("to", Shape::Name, "The other end: a host or router, or GROUP-*", "to = \"n2\""),
    required("rate", Shape::Rate, "Transmission rate, more than zero", "rate = \"2 Mbit/s\""),
    required(
        "delay",
        Shape::Span,
        "Propagation delay; the mean where there is `jitter`",
        "delay = \"2 ms\"",
    ),
    optional(
        "jitter",
        Shape::ChoiceOrNone { mechanisms: || JitterChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "How the propagation delay is drawn at random, each direction for itself",
    ),
    optional(
        "rate_changes",
        Shape::ChoiceOrNone { mechanisms: || RateChangesChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "How the rate changes in the course of the run",
    ),
    optional(
        "trace",
        Shape::Trace,
        "none",
        "A file of delivery opportunities in mahimahi's format, from this file's folder: it then \
         says when packets leave, and `rate` only what queues take the rate to be",
    ),
    optional(
        "shaper",
        Shape::ChoiceOrNone { mechanisms: || ShaperChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What holds the transmitter back to a lower rate once a burst has left at `rate`",
    ),
    optional(
        "policer",
        Shape::ChoiceOrNone { mechanisms: || PolicerChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What drops packets beyond a rate and a burst, before the queue",
    ),
    optional(
        "queue",
        Shape::Choice { mechanisms: || QueueChoice::MECHANISMS, kind: Kind::Inherited },
        "drop-tail",
        "The queue before the transmitter",
    ),
    optional(
        "outage",
        Shape::ChoiceOrNone { mechanisms: || OutageChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "When the link is out, both directions together unless it says otherwise",
    ),
    optional(
        "loss",
        Shape::ChoiceOrNone { mechanisms: || LossChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What the wire loses",
    ),
    optional(
        "corrupt",
        Shape::ChoiceOrNone { mechanisms: || CorruptionChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What it damages",
    ),
    optional(
        "duplicate",
        Shape::ChoiceOrNone { mechanisms: || DuplicationChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What arrives twice",
    ),
    optional(
        "medium",
        Shape::ChoiceOrNone { mechanisms: || MediumChoice::MECHANISMS, kind: Kind::Named },
        "none",
        "What both directions are on: `wifi`, where they take turns and `rate` is the rate of a \
         transmission without the medium's overheads, or `cellular`, where `rate` is what the \
         scheduler gives",
    ),
    optional(
        "reverse",
        Shape::Table(REVERSE),
        "the same as forward",
        "What differs in the direction from `to` to `from`",
    ),
];

/// What may differ in a link's reverse direction.
pub(crate) static REVERSE: &[Key] = &[
    optional("rate", Shape::Rate, "as forward", "Transmission rate, more than zero"),
    optional("delay", Shape::Span, "as forward", "Propagation delay"),
    optional(
        "jitter",
        Shape::ChoiceOrNone { mechanisms: || JitterChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "How the propagation delay is drawn; `none` where forward has jitter and reverse has not",
    ),
    optional(
        "rate_changes",
        Shape::ChoiceOrNone { mechanisms: || RateChangesChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "How the rate changes; `none` where forward changes and reverse does not",
    ),
    optional(
        "trace",
        Shape::Trace,
        "as forward",
        "A file of delivery opportunities; `none` where only forward has one",
    ),
    optional(
        "shaper",
        Shape::ChoiceOrNone { mechanisms: || ShaperChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "What holds the transmitter back; `none` where forward is shaped and reverse is not",
    ),
    optional(
        "policer",
        Shape::ChoiceOrNone { mechanisms: || PolicerChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "What drops packets beyond a rate; `none` where forward is policed and reverse is not",
    ),
    optional(
        "queue",
        Shape::Choice { mechanisms: || QueueChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "The queue before the transmitter",
    ),
    optional(
        "outage",
        Shape::ChoiceOrNone { mechanisms: || OutageChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "When the link is out; `none` where forward is out at times and reverse is not",
    ),
    optional(
        "loss",
        Shape::ChoiceOrNone { mechanisms: || LossChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "What the wire loses; `none` where forward loses and reverse does not",
    ),
    optional(
        "corrupt",
        Shape::ChoiceOrNone { mechanisms: || CorruptionChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "What it damages; `none` where forward damages and reverse does not",
    ),
    optional(
        "duplicate",
        Shape::ChoiceOrNone { mechanisms: || DuplicationChoice::MECHANISMS, kind: Kind::Inherited },
        "as forward",
        "What arrives twice; `none` where forward duplicates and reverse does not",
    ),
];

/// A middlebox.
pub(crate) static PROXY: &[Key] = &[
    optional("name", Shape::Label, "the name of `at`", "Name of the box, unique among boxes"),
    required("at", Shape::Label, "The router it stands at", "at = \"base\""),
    required(
        "link",
        Shape::Label,
        "The wireless link: from the router towards the mobile hosts",
        "link = \"air\"",
    ),
    required(
        "proxy",
        Shape::ChoiceOrNone { mechanisms: || ProxyChoice::MECHANISMS, kind: Kind::Named },
        "Which box",
        "proxy = \"snoop\"",
    ),
    optional(
        "dies",
        Shape::Span,
        "never",
        "When it dies, with all it knows; packets then pass as if it had never been there",
    ),
    optional(
        "restarts",
        Shape::Span,
        "never",
        "When it begins anew, knowing nothing; after `dies`",
    ),
];

/// A trace, where the file is to be the one meant.
pub(crate) static TRACE: &[Key] = &[
    required("file", Shape::Text, "The file, from the scenario's folder", "file = \"up.trace\""),
    optional("sha256", Shape::Text, "whatever is in the file", "What stands for its content"),
];

/// The commands of a flow in a live run.
pub(crate) static EXEC: &[Key] = &[
    optional(
        "server",
        Shape::Text,
        "no command",
        "On the host `to`, started at the beginning of the run: `iperf3 -s -1`. Words as in a \
         shell, with quotes; `{server}` and `{client}` stand for the addresses of the hosts",
    ),
    optional(
        "client",
        Shape::Text,
        "no command",
        "On the host `from`, at the flow's `start`, and not before the server's command listens: \
         `iperf3 -c {server} -t 10`",
    ),
];

/// A flow.
pub(crate) static FLOW: &[Key] = &[
    required("name", Shape::Name, "Name of the flow, unique among flows", "name = \"download\""),
    required("from", Shape::Name, "The host that opens the connection", "from = \"client\""),
    required("to", Shape::Name, "The host that accepts the connection", "to = \"server\""),
    optional(
        "application",
        Shape::Text,
        "the flow's name",
        "Which application it belongs to: the name under which `--history` knows its transfers",
    ),
    optional(
        "start",
        Shape::Start,
        "0 s",
        "When the connection is opened: a time, or a share of the duration like `25 %`",
    ),
    optional(
        "sends",
        Shape::Name,
        "client; server for `request` and `web`",
        "Which end sends the workload: `client`, the one that opens the connection, or `server`, \
         the other; or `from` or `to` by the name that stands there, unless that is one of these \
         two words. Of a \
         `request` or `web` that is the end that answers; of a `write-write-read` the one that \
         asks; of a `telnet` the one that types",
    ),
    optional(
        "transport",
        Shape::Words(&["tcp", "udp"]),
        "udp for `cbr`, else tcp",
        "What carries the workload; each workload is carried by one of them. A flow over UDP is no \
         connection: it goes one way, and nobody answers",
    ),
    optional(
        "ip",
        Shape::Words(&["v4", "v6"]),
        "v4",
        "Which Internet Protocol carries its TCP. The header of IPv6 is 20 bytes longer: where packets \
         have 1500 bytes at most, as on a kernel's host, `mss` is `1440 B` then",
    ),
    required(
        "traffic",
        Shape::Choice { mechanisms: || WorkloadChoice::MECHANISMS, kind: Kind::Named },
        "The workload",
        "traffic = { kind = \"bulk\", size = \"20 MB\" }",
    ),
    optional(
        "exec",
        Shape::Table(EXEC),
        "the workload, there too",
        "Commands that stand in for the workload when the scenario is run live, between stock \
         kernels; the simulator goes on simulating the workload. At least one of the two",
    ),
    optional("tcp", Shape::Tcp, "as [tcp]", "Both endpoints, where they differ from [tcp]"),
    optional(
        "receiver_tcp",
        Shape::Tcp,
        "as tcp",
        "The endpoint that receives the workload, where it differs from `tcp`",
    ),
];

/// A random start.
pub(crate) static START: &[Key] = &[
    required("from", Shape::Instant, "Earliest start", "from = \"0 s\""),
    required("to", Shape::Instant, "Latest start", "to = \"1 s\""),
];

/// What to record.
pub(crate) static RECORD: &[Key] = &[
    optional("series", Shape::Span, "10 ms", "Time between two samples of a plotted series"),
    optional(
        "captures",
        Shape::Names,
        "none",
        "Links on which packets are captured: NAME, or NAME.reverse for the other direction",
    ),
];

/// The key of a `tcp` table that names a profile ([`ackord_tcp::registry::PROFILES`]).
pub(crate) const PROFILE: &str = "profile";

/// Keys under which a mechanism is chosen, anywhere in the file.
pub(crate) const CHOICES: &[&str] = &[
    "queue",
    "jitter",
    "rate_changes",
    "shaper",
    "policer",
    "outage",
    "loss",
    "corrupt",
    "duplicate",
    "medium",
    "processing",
    "proxy",
    "traffic",
    "congestion",
    "recovery",
    "ack",
    "nagle",
];
