//! How a mechanism (a congestion control, a queue) and its knobs are listed for the scenario checker, the
//! schema, the help and the docs, and how a knob's value is read.

use crate::{Bytes, Quantity, Rate, Ratio, Span};
use std::collections::BTreeMap;
use std::fmt;

/// A mechanism a user can name, with its knobs.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism {
    /// What a user writes.
    pub name: &'static str,
    /// Which of the choices it is one of: "congestion", "queue" ...
    pub family: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Paper (authors, year, equation) or RFC section.
    pub source: &'static str,
    /// Its settings; empty for most.
    pub knobs: &'static [Knob],
}

/// One setting of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// The key in a scenario file.
    pub name: &'static str,
    /// Kind of value, with the smallest and largest allowed.
    pub kind: KnobKind,
    /// The value when the key is absent, as a user would write it; empty where there is none
    /// (the mechanism then works it out itself, as `doc` says).
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// What values a knob takes.
#[derive(Clone, Copy, Debug)]
pub enum KnobKind {
    /// A whole number of `unit` ("segments", "packets") from `min` to `max`.
    Count {
        /// What is counted.
        unit: &'static str,
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A plain number without a dimension from `min` to `max`.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A time span.
    Span {
        /// Shortest.
        min: Span,
        /// Longest.
        max: Span,
    },
    /// An amount of data.
    Bytes {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Amounts of data, one or more.
    BytesList {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Time spans, one or more.
    SpanList {
        /// Shortest.
        min: Span,
        /// Longest.
        max: Span,
    },
    /// Rates, one or more.
    RateList {
        /// Slowest.
        min: Rate,
        /// Fastest.
        max: Rate,
    },
    /// A rate.
    Rate {
        /// Slowest.
        min: Rate,
        /// Fastest.
        max: Rate,
    },
    /// A share or probability, 0 % to 100 %.
    Ratio,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Numbers by flow name, e.g. weights, each from `min` to `max`.
    PerFlow {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A queue's capacity: a count of packets ("50 packets") or an amount of data ("64 kB").
    PacketsOrBytes,
}

/// A knob's value.
#[derive(Clone, Debug, PartialEq)]
pub enum KnobValue {
    /// A whole number.
    Count(u64),
    /// A plain number.
    Number(f64),
    /// A time span.
    Span(Span),
    /// An amount of data.
    Bytes(Bytes),
    /// Amounts of data.
    BytesList(Vec<Bytes>),
    /// Time spans.
    SpanList(Vec<Span>),
    /// Rates.
    RateList(Vec<Rate>),
    /// A rate.
    Rate(Rate),
    /// A share.
    Ratio(Ratio),
    /// A word.
    Choice(&'static str),
    /// Numbers by flow name.
    PerFlow(BTreeMap<String, f64>),
    /// A count of packets.
    Packets(u64),
}

impl Mechanism {
    /// The knob of this name.
    pub fn knob(&self, name: &str) -> Option<&'static Knob> {
        self.knobs.iter().find(|knob| knob.name == name)
    }
}

impl Knob {
    /// The default as a value.
    pub fn default_value(&self) -> Option<KnobValue> {
        if self.default.is_empty() {
            return None;
        }
        Some(
            self.kind
                .parse(self.default)
                .expect("a registered default is valid, which a test asserts"),
        )
    }
}

impl KnobKind {
    /// Whether or not.
    pub const ON_OFF: KnobKind = KnobKind::Choice(&["on", "off"]);

    /// Returns true if `value` is of this kind, whatever its size.
    pub fn takes(&self, value: &KnobValue) -> bool {
        match (self, value) {
            (KnobKind::Count { .. }, KnobValue::Count(_))
            | (KnobKind::Number { .. }, KnobValue::Number(_))
            | (KnobKind::Span { .. }, KnobValue::Span(_))
            | (KnobKind::Bytes { .. }, KnobValue::Bytes(_))
            | (KnobKind::BytesList { .. }, KnobValue::BytesList(_))
            | (KnobKind::SpanList { .. }, KnobValue::SpanList(_))
            | (KnobKind::RateList { .. }, KnobValue::RateList(_))
            | (KnobKind::Rate { .. }, KnobValue::Rate(_))
            | (KnobKind::Ratio, KnobValue::Ratio(_))
            | (KnobKind::PerFlow { .. }, KnobValue::PerFlow(_))
            | (KnobKind::PacketsOrBytes, KnobValue::Packets(_) | KnobValue::Bytes(_)) => true,
            (KnobKind::Choice(words), KnobValue::Choice(word)) => words.contains(word),
            _ => false,
        }
    }

    /// Reads a value as a user writes it in one line; the error says what was expected.
    pub fn parse(&self, text: &str) -> Result<KnobValue, String> {
        let not = |what: &str| format!("`{text}` is not {what}");
        match *self {
            KnobKind::Count { unit, min, max } => {
                let number = text.strip_suffix(unit).unwrap_or(text).trim();
                let value: u64 =
                    number.parse().map_err(|_| not(&format!("a whole number of {unit}")))?;
                if value < min || value > max {
                    return Err(format!("`{text}` is out of range: {min} to {max} {unit}"));
                }
                Ok(KnobValue::Count(value))
            }
            KnobKind::Number { min, max } => {
                let value: f64 = text.parse().map_err(|_| not("a number"))?;
                if !(min..=max).contains(&value) {
                    return Err(format!("`{text}` is out of range: {min} to {max}"));
                }
                Ok(KnobValue::Number(value))
            }
            KnobKind::Span { min, max } => quantity(text, min, max).map(KnobValue::Span),
            KnobKind::Bytes { min, max } => quantity(text, min, max).map(KnobValue::Bytes),
            KnobKind::BytesList { min, max } => list(text, min, max).map(KnobValue::BytesList),
            KnobKind::SpanList { min, max } => list(text, min, max).map(KnobValue::SpanList),
            KnobKind::RateList { min, max } => list(text, min, max).map(KnobValue::RateList),
            KnobKind::Rate { min, max } => quantity(text, min, max).map(KnobValue::Rate),
            KnobKind::Ratio => quantity(text, Ratio::ZERO, Ratio::ONE).map(KnobValue::Ratio),
            KnobKind::Choice(words) => match words.iter().find(|word| **word == text) {
                Some(word) => Ok(KnobValue::Choice(word)),
                None => Err(format!("`{text}` is not one of {}", words.join(", "))),
            },
            KnobKind::PerFlow { .. } => Err(not("a table of flow names and numbers")),
            KnobKind::PacketsOrBytes => packets_or_bytes(text),
        }
    }

    /// The allowed values, for errors, schemas and help.
    pub fn range(&self) -> String {
        match self {
            KnobKind::Count { unit, min, max: u64::MAX } => format!("{min} {unit} or more"),
            KnobKind::Count { unit, min, max } => format!("{min} to {max} {unit}"),
            KnobKind::Number { min, max } => format!("{min} to {max}"),
            KnobKind::Span { min, max } => format!("{min} to {max}"),
            KnobKind::Bytes { min, max } => format!("{min} to {max}"),
            KnobKind::BytesList { min, max } => {
                format!("a list of amounts of data, each {min} to {max}")
            }
            KnobKind::SpanList { min, max } => format!("a list of time spans, each {min} to {max}"),
            KnobKind::RateList { min, max } => format!("a list of rates, each {min} to {max}"),
            KnobKind::Rate { min, max } => format!("{min} to {max}"),
            KnobKind::Ratio => "0 % to 100 %".to_owned(),
            KnobKind::Choice(words) => words.join(", "),
            KnobKind::PerFlow { min, max } => {
                format!("a table of flow names and numbers from {min} to {max}")
            }
            KnobKind::PacketsOrBytes => "packets (`50 packets`) or bytes (`64 kB`)".to_owned(),
        }
    }
}

/// A quantity within its bounds.
fn quantity<Q: Quantity + PartialOrd + fmt::Display>(
    text: &str,
    min: Q,
    max: Q,
) -> Result<Q, String> {
    let value = Q::parse(text).map_err(|error| error.to_string())?;
    if value < min || value > max {
        return Err(format!("`{text}` is out of range: {min} to {max}"));
    }
    Ok(value)
}

/// Several, with commas between.
fn list<Q: Quantity + PartialOrd + fmt::Display + Copy>(
    text: &str,
    min: Q,
    max: Q,
) -> Result<Vec<Q>, String> {
    text.split(',').map(|part| quantity(part.trim(), min, max)).collect()
}

/// A queue's capacity. A bare number is one of packets, as of any other knob that counts.
fn packets_or_bytes(text: &str) -> Result<KnobValue, String> {
    let bare = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let count = text.strip_suffix("packets").or(text.strip_suffix("packet")).or(bare);
    let Some(count) = count.filter(|_| !text.is_empty()) else {
        return quantity(text, Bytes(1), Bytes(1_000_000_000_000))
            .map(KnobValue::Bytes)
            .map_err(|error| format!("{error}; or a count like `50 packets`"));
    };
    let count: u64 =
        count.trim().parse().map_err(|_| format!("`{text}` is not a whole number of packets"))?;
    if !(1..=100_000_000).contains(&count) {
        return Err(format!("`{text}` is out of range: 1 packet to 100000000 packets"));
    }
    Ok(KnobValue::Packets(count))
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnobValue::Count(value) => write!(f, "{value}"),
            KnobValue::Number(value) => write!(f, "{value}"),
            KnobValue::Span(value) => write!(f, "{value}"),
            KnobValue::Bytes(value) => write!(f, "{value}"),
            KnobValue::BytesList(values) => listed(f, values),
            KnobValue::SpanList(values) => listed(f, values),
            KnobValue::RateList(values) => listed(f, values),
            KnobValue::Rate(value) => write!(f, "{value}"),
            KnobValue::Ratio(value) => write!(f, "{value}"),
            KnobValue::Choice(value) => f.write_str(value),
            KnobValue::PerFlow(values) => {
                let parts: Vec<_> =
                    values.iter().map(|(flow, value)| format!("{flow} = {value}")).collect();
                write!(f, "{{ {} }}", parts.join(", "))
            }
            KnobValue::Packets(count) => write!(f, "{count} packets"),
        }
    }
}

fn listed<Q: fmt::Display>(f: &mut fmt::Formatter<'_>, values: &[Q]) -> fmt::Result {
    let parts: Vec<_> = values.iter().map(Q::to_string).collect();
    f.write_str(&parts.join(", "))
}

/// The name among `names` nearest to `given`, if one is near enough to have been meant.
pub fn nearest_name<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(given.len()) / 2)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest_name("vegass", ["reno", "vegas", "cubic"]), Some("vegas"));
        assert_eq!(nearest_name("zzzzzzzz", ["reno", "vegas"]), None);
    }

    #[test]
    fn a_queue_capacity_is_packets_or_bytes() {
        assert_eq!(KnobKind::PacketsOrBytes.parse("50 packets"), Ok(KnobValue::Packets(50)));
        assert_eq!(KnobKind::PacketsOrBytes.parse("64 kB"), Ok(KnobValue::Bytes(Bytes(64_000))));
        assert!(KnobKind::PacketsOrBytes.parse("0 packets").is_err());
        assert_eq!(KnobKind::PacketsOrBytes.parse("50"), Ok(KnobValue::Packets(50)));
        for wrong in ["0", "", "1.5", "-3", "50 pakets", "999999999999999999999"] {
            assert!(KnobKind::PacketsOrBytes.parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_of_amounts_reads_as_it_is_printed() {
        let kind = KnobKind::BytesList { min: Bytes(1), max: Bytes(1_000_000) };
        let value = kind.parse("100 kB, 1 MB").expect("two amounts");
        assert_eq!(value, KnobValue::BytesList(vec![Bytes(100_000), Bytes(1_000_000)]));
        assert_eq!(kind.parse(&value.to_string()), Ok(value));
        assert!(kind.parse("100 kB, 2 MB").is_err(), "each has to be in range");
        assert!(kind.parse("").is_err());
    }
}
