//! Quantities as people type them who come from netem or mahimahi, in the spelling of a scenario
//! file.
//!
//! What is not recognized is passed on as it was typed: the scenario reader then refuses it and says
//! which units there are. `kbps` and `mbps` in small letters are among that: they are bytes for
//! tc(8) and bits for everybody else.

use ackord_units::{KnobKind, Mechanism};

/// A text as a TOML string.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.extend(format!("\\u{:04X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `2mbit`, `2Mbit/s`: a rate.
pub fn rate(text: &str) -> String {
    let (number, unit) = split(text);
    let prefix = match unit.to_ascii_lowercase().trim_end_matches("/s") {
        "bit" => "bit/s",
        "kbit" => "kbit/s",
        "mbit" => "Mbit/s",
        "gbit" => "Gbit/s",
        _ => return text.to_owned(),
    };
    format!("{number} {prefix}")
}

/// `20ms`, `20msec`: a time span.
pub fn span(text: &str) -> String {
    let (number, unit) = split(text);
    let unit = match unit {
        "sec" | "secs" => "s",
        "msec" | "msecs" => "ms",
        "usec" | "usecs" => "us",
        "ns" | "us" | "µs" | "ms" | "s" | "min" | "h" => unit,
        _ => return text.to_owned(),
    };
    format!("{number} {unit}")
}

/// `1%`, or a share below one as mahimahi has it, `0.01`. A bare 1 may mean either, and is refused.
pub fn share(text: &str) -> String {
    let (number, unit) = split(text);
    match (unit, number.parse::<f64>()) {
        ("%", _) => format!("{number} %"),
        ("", Ok(share)) if share < 1.0 => format!("{number} of 1"),
        _ => text.to_owned(),
    }
}

/// `100`, `100p`, `64kB`: a queue's capacity, in packets where nothing is said.
pub fn capacity(text: &str) -> String {
    let (number, unit) = split(text);
    match unit {
        "" | "p" | "packet" | "packets" => format!("{number} packets"),
        _ => text.to_owned(),
    }
}

/// A mechanism as it is typed: `codel`, or `codel:target=5ms,interval=100ms`. Lists have `+` between
/// their elements.
pub fn mechanism(family: &[Mechanism], text: &str) -> String {
    let (name, knobs) = text.split_once(':').unwrap_or((text, ""));
    let name = name_in(family, name.trim());
    if knobs.trim().is_empty() {
        return quoted(&name);
    }
    let found = family.iter().find(|mechanism| mechanism.name == name);
    let mut table = format!("{{ kind = {}", quoted(&name));
    for knob in knobs.split(',') {
        let (key, value) = knob.split_once('=').unwrap_or((knob, ""));
        let (key, value) = (key.trim().replace('-', "_"), value.trim());
        let kind = found.and_then(|mechanism| mechanism.knob(&key)).map(|knob| knob.kind);
        table.push_str(&format!(", {} = {}", bare_or_quoted(&key), knob_value(kind, value)));
    }
    table + " }"
}

/// What people call a mechanism elsewhere.
fn name_in(family: &[Mechanism], given: &str) -> String {
    let name = given.to_ascii_lowercase().replace('_', "-");
    if family.iter().any(|mechanism| mechanism.name == name) {
        return name;
    }
    let is_queue = family.iter().all(|mechanism| mechanism.family == "queue");
    match name.as_str() {
        "droptail" | "taildrop" | "tail-drop" | "pfifo" | "bfifo" | "fifo" if is_queue => {
            "drop-tail".to_owned()
        }
        "fqcodel" if is_queue => "fq-codel".to_owned(),
        _ => given.to_owned(),
    }
}

fn knob_value(kind: Option<KnobKind>, text: &str) -> String {
    let list = |spell: fn(&str) -> String| {
        let parts: Vec<_> = text.split('+').map(|part| quoted(&spell(part.trim()))).collect();
        format!("[{}]", parts.join(", "))
    };
    match kind {
        Some(KnobKind::Span { .. }) => quoted(&span(text)),
        Some(KnobKind::SpanList { .. }) => list(span),
        Some(KnobKind::Rate { .. }) => quoted(&rate(text)),
        Some(KnobKind::RateList { .. }) => list(rate),
        Some(KnobKind::Ratio) => quoted(&share(text)),
        Some(KnobKind::PacketsOrBytes) => quoted(&capacity(text)),
        Some(KnobKind::BytesList { .. }) => list(str::to_owned),
        Some(KnobKind::Count { .. } | KnobKind::Number { .. })
            if text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            text.to_owned()
        }
        _ => quoted(text),
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

/// The number at the start, and what follows it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_path::registry::{OutageChoice, QueueChoice};
    use ackord_units::Choice;
    use ackord_units::{Quantity, Rate, Ratio, Span};

    #[test]
    fn what_netem_and_mahimahi_take_is_read_as_what_it_means_there() {
        let read = |text: &str| Rate::parse(&rate(text)).expect("a rate");
        for text in ["2mbit", "2Mbit", "2Mbit/s", "2 mbit/s", "2000kbit", "2Mbps"] {
            assert_eq!(read(text), Rate::from_mbits_per_sec(2), "{text}");
        }
        let read = |text: &str| Span::parse(&span(text)).expect("a span");
        for text in ["20ms", "20msec", "20000us", "0.02s", "20 ms"] {
            assert_eq!(read(text), Span::from_millis(20), "{text}");
        }
        let read = |text: &str| Ratio::parse(&share(text)).expect("a share");
        for text in ["1%", "0.01", ".01", "1 %", "10permille"] {
            assert_eq!(Some(read(text)), Ratio::new(0.01), "{text}");
        }
    }

    #[test]
    fn what_means_two_things_is_left_for_the_reader_to_refuse() {
        assert!(Rate::parse(&rate("2mbps")).is_err(), "bytes for tc, bits for others");
        assert!(Span::parse(&span("20")).is_err(), "µs for tc, ms for mahimahi");
        assert!(Ratio::parse(&share("1")).is_err(), "1 % for tc, everything for mahimahi");
    }

    #[test]
    fn a_mechanism_gets_its_knobs_in_the_form_their_kinds_want() {
        let queue = |text| mechanism(QueueChoice::MECHANISMS, text);
        assert_eq!(queue("codel"), "\"codel\"");
        assert_eq!(queue("fq_codel"), "\"fq-codel\"");
        assert_eq!(queue("droptail:limit=64"), "{ kind = \"drop-tail\", limit = \"64 packets\" }");
        assert_eq!(
            queue("codel:target=5msec,limit=30kB"),
            "{ kind = \"codel\", target = \"5 ms\", limit = \"30kB\" }"
        );
        let outage = mechanism(OutageChoice::MECHANISMS, "schedule:from=3s+11s,for=1500ms");
        assert_eq!(
            outage,
            "{ kind = \"schedule\", from = [\"3 s\", \"11 s\"], for = [\"1500 ms\"] }"
        );
        let unknown = queue("cake:\"x=1");
        assert_eq!(unknown, "{ kind = \"cake\", \"\\\"x\" = \"1\" }");
    }
}
