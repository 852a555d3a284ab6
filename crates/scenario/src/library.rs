//! The built-in scenarios, embedded so that they run from anywhere.

/// Embeds `scenarios/NAME.toml` of the repository for each name.
macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../scenarios/", $name, ".toml"
            )),
        )),*]
    };
}

static LIBRARY: &[(&str, &str)] = embedded![
    "ack-path-loss",
    "aqm-aggressive",
    "aqm-capacity",
    "aqm-rtt-fairness",
    "aqm-short-flows",
    "aqm-unresponsive",
    "bufferbloat",
    "burst-loss",
    "cellular-hop",
    "cellular-trace",
    "delayed-ack-stall",
    "dumbbell",
    "dumbbell-100",
    "fades",
    "fading-access-point",
    "lossy-wifi",
    "many-senders",
    "nginx-over-fading",
    "one-flow",
    "phone",
    "real-programs",
    "recovery-compared",
    "reno-against-cubic",
    "reno-against-vegas",
    "request-response",
    "rtt-unequal",
    "selective-drop-weights",
    "short-transfers",
    "telnet-and-web",
    "wifi-acks",
    "write-write-read",
];

/// Every library scenario: its name and its text, in order of name.
pub fn library() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIBRARY.iter().copied()
}

/// Trace files to which library scenarios refer, by the name they use.
static TRACES: &[(&str, &str)] = &[(
    "traces/cellular.trace",
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/cellular.trace")),
)];

/// The text of the trace file of this name.
pub(crate) fn trace(name: &str) -> Option<&'static str> {
    TRACES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The text of the library scenario of this name.
pub(crate) fn text(name: &str) -> Option<&'static str> {
    library().find(|(known, _)| *known == name).map(|(_, text)| text)
}
