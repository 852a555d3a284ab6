//! What varies: values of paths, written as lists and ranges.

use super::keys::RANGE;
use ackord_scenario::format::{Field, Item, Reader, Report, Table, Value, join};
use ackord_scenario::{Override, Place, Wrong};
use ackord_units::portable::pow;
use ackord_units::{Bytes, Quantity, Rate, Ratio, Span};
use serde::{Deserialize, Serialize};

/// What varies at once: a path, or several that vary together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Axis {
    /// Name of its column; its paths name it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// Names of its values; they are written out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Vec<String>>,
    pub(super) keys: Vec<AxisKey>,
}

/// A path and its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AxisKey {
    pub(super) path: String,
    pub(super) values: Vec<Coordinate>,
    /// Where the path and its values stand in the study file.
    #[serde(skip)]
    pub(super) place: Option<Place>,
    #[serde(skip)]
    pub(super) places: Vec<Place>,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Coordinate {
    Whole(i64),
    Number(f64),
    Words(String),
    /// A switch, a list, a table: as TOML.
    Toml {
        toml: String,
    },
}

impl Axis {
    /// Returns an axis that its paths name.
    pub(super) fn of_paths(keys: Vec<AxisKey>) -> Axis {
        Axis { name: None, labels: None, keys }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.first().map_or(0, |key| key.values.len())
    }

    /// Returns what it is called in tables: its name, or else its paths.
    pub(super) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        self.keys.iter().map(|key| key.path.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// A place on it, in words.
    pub(super) fn label(&self, at: usize) -> String {
        if let Some(labels) = &self.labels {
            return labels[at].clone();
        }
        self.keys.iter().map(|key| key.values[at].label()).collect::<Vec<_>>().join(", ")
    }

    /// Its places as numbers, where they are that and have no names: in the unit in which all are written, or
    /// else the base unit of their kind.
    pub(super) fn numbers(&self) -> Option<(Vec<f64>, String)> {
        if self.labels.is_some() {
            return None;
        }
        let key = self.keys.first()?;
        let plain = || Some((key.as_numbers()?, String::new()));
        let quantity = || {
            let (numbers, of) = key.as_quantity()?;
            Some((numbers, of.unit.to_owned()))
        };
        plain().or_else(|| key.in_one_unit()).or_else(quantity)
    }
}

/// What a text with a unit counts in once it is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuantityOf {
    /// Behind the path, as the name of a column.
    pub(super) suffix: &'static str,
    pub(super) unit: &'static str,
}

impl AxisKey {
    /// Its values, where all are plain numbers.
    pub(super) fn as_numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &Coordinate| match value {
            Coordinate::Whole(number) => Some(*number as f64),
            Coordinate::Number(number) => Some(*number),
            _ => None,
        };
        self.values.iter().map(number).collect()
    }

    /// Its values, where all are quantities and written in one unit.
    fn in_one_unit(&self) -> Option<(Vec<f64>, String)> {
        self.as_quantity()?;
        let each = self.values.iter().map(|value| match value {
            Coordinate::Words(words) => {
                let (number, unit) = split(words);
                Some((number.parse().ok()?, unit.trim()))
            }
            _ => None,
        });
        let each: Vec<(f64, &str)> = each.collect::<Option<_>>()?;
        let unit = each.first()?.1;
        let same = each.iter().all(|(_, other)| *other == unit);
        same.then(|| (each.iter().map(|(number, _)| *number).collect(), unit.to_owned()))
    }

    /// Its values, where all are quantities of one kind.
    pub(super) fn as_quantity(&self) -> Option<(Vec<f64>, QuantityOf)> {
        let each = |of: fn(&str) -> Option<f64>, suffix, unit| {
            let number = |value: &Coordinate| match value {
                Coordinate::Words(words) => of(words),
                _ => None,
            };
            let numbers: Option<Vec<f64>> = self.values.iter().map(number).collect();
            Some((numbers?, QuantityOf { suffix, unit }))
        };
        each(|words| Some(Span::parse(words).ok()?.as_secs_f64()), "_s", "s")
            .or_else(|| {
                each(
                    |words| Some(Rate::parse(words).ok()?.as_bits_per_sec() as f64),
                    "_bit_s",
                    "bit/s",
                )
            })
            .or_else(|| each(|words| Some(Bytes::parse(words).ok()?.get() as f64), "_bytes", "B"))
            .or_else(|| each(|words| Some(Ratio::parse(words).ok()?.get()), "_share", ""))
            .or_else(|| each(packets, "_packets", "packets"))
    }
}

/// The number a text begins with, and its unit with the space before it.
fn split(text: &str) -> (&str, &str) {
    let is_unit = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    text.split_at(text.find(is_unit).unwrap_or(text.len()))
}

fn packets(words: &str) -> Option<f64> {
    let digits = words.strip_suffix("packets").or_else(|| words.strip_suffix("packet"))?;
    digits.trim().parse().ok()
}

impl Coordinate {
    /// As people read it.
    pub(super) fn label(&self) -> String {
        match self {
            Coordinate::Whole(number) => number.to_string(),
            Coordinate::Number(number) => number.to_string(),
            Coordinate::Words(words) => words.clone(),
            Coordinate::Toml { toml } => toml.clone(),
        }
    }

    /// As an override has it: a text that could be something else in quotation marks.
    pub(super) fn value(&self) -> String {
        match self {
            Coordinate::Words(words) if is_toml(words) => format!("{words:?}"),
            other => other.label(),
        }
    }

    /// A value of the file.
    pub(super) fn of(item: &Item) -> Coordinate {
        match &item.value {
            Value::Text(text) => Coordinate::Words(text.clone()),
            Value::Integer(number) => match i64::try_from(*number) {
                Ok(number) => Coordinate::Whole(number),
                Err(_) => Coordinate::Toml { toml: number.to_string() },
            },
            Value::Float(number) => Coordinate::Number(*number),
            _ => Coordinate::Toml { toml: to_toml(item) },
        }
    }
}

/// Whether an override would not take this for a text.
fn is_toml(words: &str) -> bool {
    words.starts_with(['"', '\'', '[', '{'])
        || matches!(words, "true" | "false" | "inf" | "nan")
        || words.parse::<f64>().is_ok()
}

fn to_toml(item: &Item) -> String {
    match &item.value {
        Value::Text(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(flag) => flag.to_string(),
        Value::Other(kind) => (*kind).to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let pair = |(key, entry): (&String, &ackord_scenario::format::Entry)| {
                format!("{key} = {}", to_toml(&entry.item))
            };
            format!("{{ {} }}", table.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The changes of `[set]`, each with where it stands, in the order of the file.
pub(super) fn changes(report: &mut Report, field: &Field<'_>) -> Vec<(Override, Place, Place)> {
    let mut changes = Vec::new();
    leaves(report, field, "", &|item| !matches!(item.value, Value::Table(_)), &mut |_, leaf| {
        let value = Coordinate::of(leaf.item).value();
        changes.push((Override::new(leaf.path, value), leaf.key, leaf.item.place.clone()));
    });
    in_order(&mut changes, |(_, key, _)| key);
    changes
}

/// The paths of a table of axes with their values, in the order of the file.
pub(super) fn axis_keys(report: &mut Report, field: &Field<'_>) -> Vec<AxisKey> {
    let mut keys = Vec::new();
    let is_leaf = |item: &Item| match &item.value {
        Value::Table(table) => is_range(table),
        _ => true,
    };
    leaves(report, field, "", &is_leaf, &mut |report, leaf| {
        let at = Field { item: leaf.item, path: join(&field.path, &leaf.path) };
        let values = match &leaf.item.value {
            Value::Array(items) if !items.is_empty() => {
                items.iter().map(|item| (Coordinate::of(item), item.place.clone())).collect()
            }
            Value::Table(_) => range(report, &at),
            Value::Array(_) => {
                let why = "there is no value".to_owned();
                at.report(
                    report,
                    Wrong::BadValue { why, allowed: "one value at least".to_owned() },
                );
                Vec::new()
            }
            _ => {
                at.wrong_type(
                    report,
                    "a list of values, or a range like { from = 1, to = 9, step = 2 }",
                );
                Vec::new()
            }
        };
        twice(report, &at.path, &values);
        let (values, places) = values.into_iter().unzip();
        keys.push(AxisKey { path: leaf.path, values, place: Some(leaf.key), places });
    });
    in_order(&mut keys, |key| key.place.as_ref().expect("it was read from a file"));
    keys
}

/// Returns whether a table is a range, by a key that only ranges have.
pub(super) fn is_range(table: &Table) -> bool {
    ["step", "points", "scale"].iter().any(|key| table.contains_key(*key))
}

/// Reports values that are given twice.
pub(super) fn twice(report: &mut Report, path: &str, values: &[(Coordinate, Place)]) {
    for (at, (value, place)) in values.iter().enumerate() {
        if let Some((_, first)) = values[..at].iter().find(|(other, _)| other == value) {
            let what = format!("`{}` is given twice", value.label());
            let help =
                "each point is run once: with several seeds, where more runs are wanted".to_owned();
            let first = (first != place).then(|| first.clone());
            report.add(place, path, Wrong::Other { what, help, first });
        }
    }
}

/// A path that was written as tables in tables, or in one text with dots.
struct Leaf<'a> {
    path: String,
    key: Place,
    item: &'a Item,
}

fn leaves(
    report: &mut Report,
    field: &Field<'_>,
    path: &str,
    is_leaf: &dyn Fn(&Item) -> bool,
    take: &mut dyn FnMut(&mut Report, Leaf<'_>),
) {
    let Some(table) = field.item.as_table() else {
        field.wrong_type(report, "a table of paths, like \"links.hop.delay\"");
        return;
    };
    for (key, entry) in table {
        let path = join(path, key);
        if is_leaf(&entry.item) {
            take(report, Leaf { path, key: entry.key.clone(), item: &entry.item });
        } else {
            let inner = Field { item: &entry.item, path: field.path.clone() };
            leaves(report, &inner, &path, is_leaf, take);
        }
    }
}

/// Sorts by the place in the file: the parser's tables have no order of their own.
pub(super) fn in_order<T>(items: &mut [T], place: impl Fn(&T) -> &Place) {
    items.sort_by_key(|item| match place(item) {
        Place::Text(range) => range.start,
        _ => 0,
    });
}

/// Returns the values of a range.
pub(super) fn range(report: &mut Report, field: &Field<'_>) -> Vec<(Coordinate, Place)> {
    let before = report.len();
    let Some(reader) = Reader::new(report, field.item, field.path.clone(), RANGE, "a range") else {
        return Vec::new();
    };
    let mut end = |key| reader.get(key).and_then(|field| End::of(report, &field));
    let (from, to, step) = (end("from"), end("to"), end("step"));
    let points = reader.integer(report, "points");
    let words = [("linear", false), ("log", true)];
    let log = reader.get("scale").and_then(|field| field.word(report, &words)).unwrap_or(false);
    let (Some(from), Some(to), true) = (from, to, report.len() == before) else {
        return Vec::new();
    };
    match steps(&from, &to, step.as_ref(), (points, log)) {
        Ok(numbers) => {
            let place = &field.item.place;
            numbers.into_iter().map(|number| (from.with(number), place.clone())).collect()
        }
        Err((why, allowed)) => {
            field.report(report, Wrong::BadValue { why, allowed: allowed.to_owned() });
            Vec::new()
        }
    }
}

/// An end of a range.
struct End {
    number: f64,
    /// Behind the number, with the space before it; absent for plain numbers.
    unit: Option<String>,
    /// Whether values between are whole, too.
    whole: bool,
}

impl End {
    fn of(report: &mut Report, field: &Field<'_>) -> Option<End> {
        match &field.item.value {
            Value::Integer(number) => Some(End { number: *number as f64, unit: None, whole: true }),
            Value::Float(number) => Some(End { number: *number, unit: None, whole: false }),
            Value::Text(text) => {
                let (number, unit) = split(text);
                if let Ok(number) = number.parse() {
                    let whole = matches!(unit.trim(), "packets" | "segments" | "B");
                    return Some(End { number, unit: Some(unit.to_owned()), whole });
                }
                let why = format!("`{text}` does not begin with a number");
                let allowed = "a number, with its unit if it has one".to_owned();
                field.report(report, Wrong::BadValue { why, allowed });
                None
            }
            _ => {
                field.wrong_type(report, "a number, or one with its unit like \"10 ms\"");
                None
            }
        }
    }

    /// A value between, in the same unit.
    fn with(&self, number: f64) -> Coordinate {
        match &self.unit {
            Some(unit) => Coordinate::Words(format!("{number}{unit}")),
            None if self.whole && number.fract() == 0.0 => Coordinate::Whole(number as i64),
            None => Coordinate::Number(number),
        }
    }
}

/// The most values of a range.
const MOST_VALUES: usize = 10_000;
/// Digits of a value that was worked out.
const DIGITS: i32 = 12;
/// Digits of a value on a logarithmic scale: few, since people read them.
const LOG_DIGITS: i32 = 3;

fn steps(
    from: &End,
    to: &End,
    step: Option<&End>,
    (points, log): (Option<u64>, bool),
) -> Result<Vec<f64>, (String, &'static str)> {
    let units = [Some(from), Some(to), step];
    if units.iter().flatten().any(|end| end.unit != from.unit) {
        return Err((
            "`from`, `to` and `step` have different units".to_owned(),
            "one unit for all",
        ));
    }
    let whole = from.whole && to.whole && step.is_none_or(|step| step.whole);
    let (from, to) = (from.number, to.number);
    if to <= from {
        return Err((format!("`to`, {to}, is not above `from`, {from}"), "a range that goes up"));
    }
    let numbers: Vec<f64> = match (step, points) {
        (Some(step), None) if !log && step.number > 0.0 => {
            // Just enough to reach `to` where it is some steps away but for rounding.
            let count = ((to - from) / step.number + 1e-9).floor();
            if count >= MOST_VALUES as f64 {
                return Err((format!("there are {count} steps"), "up to 10000 values"));
            }
            (0..=count as usize).map(|at| rounded(from + at as f64 * step.number, DIGITS)).collect()
        }
        (Some(_), None) if log => {
            return Err(("a logarithmic range has a `step`".to_owned(), "`points`"));
        }
        (Some(_), None) => {
            return Err(("`step` is not above zero".to_owned(), "a step that goes up"));
        }
        (None, Some(points)) => {
            if log && from <= 0.0 {
                return Err((format!("`from`, {from}, has no logarithm"), "a number above zero"));
            }
            let share = |at: u64| at as f64 / (points - 1) as f64;
            let between = |at| match log {
                true => rounded(from * pow(to / from, share(at)), LOG_DIGITS),
                false => rounded(from + (to - from) * share(at), DIGITS),
            };
            let exact = |at| match at {
                0 => from,
                at if at == points - 1 => to,
                at => between(at),
            };
            (0..points)
                .map(exact)
                .map(|number| if whole { number.round() } else { number })
                .collect()
        }
        (Some(_), Some(_)) => {
            return Err(("both `step` and `points` are there".to_owned(), "one of them"));
        }
        (None, None) => {
            return Err(("neither `step` nor `points` is there".to_owned(), "one of them"));
        }
    };
    Ok(numbers)
}

/// To so many digits.
fn rounded(number: f64, digits: i32) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    format!("{number:.*e}", digits as usize - 1).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::format::{parse, whole};

    fn keys(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let document = whole(parse(text).expect("TOML"));
        let mut report = Report::default();
        let field = Field { item: &document, path: "grid".to_owned() };
        let keys = axis_keys(&mut report, &field);
        if !report.is_empty() {
            return Err(ackord_scenario::Errors::new("x", text, report.into_problems()).to_string());
        }
        let told = |key: &AxisKey| {
            (key.path.clone(), key.values.iter().map(Coordinate::label).collect::<Vec<_>>())
        };
        Ok(keys.iter().map(told).collect())
    }

    fn values(text: &str) -> Vec<String> {
        keys(text).expect("sound").remove(0).1
    }

    #[test]
    fn paths_are_in_the_order_of_the_file_however_they_are_written() {
        let found =
            keys("\"b.*.c\" = [1]\na.z = [\"x\", \"6.1\"]\na.y = [{ kind = 'k', n = 1 }, true]\n");
        let expected = [
            ("b.*.c", vec!["1"]),
            ("a.z", vec!["x", "6.1"]),
            ("a.y", vec!["{ kind = \"k\", n = 1 }", "true"]),
        ];
        let expected: Vec<(String, Vec<String>)> = expected
            .map(|(path, values)| {
                (path.to_owned(), values.iter().map(|v| (*v).to_owned()).collect())
            })
            .into();
        assert_eq!(found, Ok(expected));
        assert_eq!(Coordinate::Words("6.1".to_owned()).value(), "\"6.1\"");
    }

    #[test]
    fn ranges_have_their_ends_exactly_and_round_values_between() {
        let tenths = values("x = { from = '0.1 ms', to = '0.5 ms', step = '0.1 ms' }");
        assert_eq!(tenths.join(", "), "0.1 ms, 0.2 ms, 0.3 ms, 0.4 ms, 0.5 ms");
        assert_eq!(values("x = { from = 1, to = 9, points = 3 }"), ["1", "5", "9"]);
        assert_eq!(values("x = { from = 1.0, to = 2.0, points = 3 }"), ["1", "1.5", "2"]);
        let log = "x = { from = '10 packets', to = '1000 packets', points = 5, scale = 'log' }";
        assert_eq!(
            values(log),
            ["10 packets", "32 packets", "100 packets", "316 packets", "1000 packets"]
        );
        let log = "x = { from = '1 ms', to = '10 ms', points = 3, scale = 'log' }";
        assert_eq!(values(log), ["1 ms", "3.16 ms", "10 ms"]);
    }

    #[test]
    fn what_is_no_axis_is_told_with_its_place() {
        for (text, told) in [
            ("a.b = 3", "a list of values"),
            ("a = []", "one value at least"),
            ("a = { from = 1, to = 2, points = 3 }", "`2` is given twice"),
            ("a = [1, 1]", "`1` is given twice"),
            ("a = { from = 1, to = 2, points = 2, stop = 3 }", "a range has no key `stop`"),
            ("a = { from = '1 ms', to = '2 s', points = 2 }", "different units"),
            ("a = { from = 3, to = 2, points = 2 }", "a range that goes up"),
            ("a = { from = 0, to = 2, points = 2, scale = 'log' }", "no logarithm"),
            ("a = { from = 1, to = 2, points = 2, step = 1 }", "both `step` and `points`"),
            ("a = { from = 'x', to = 2, points = 2 }", "does not begin with a number"),
            ("a = { from = 1, to = 1000000, step = 1 }", "up to 10000 values"),
        ] {
            let error = keys(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn texts_of_one_kind_are_numbers_with_a_unit() {
        let key = |values: &[&str]| AxisKey {
            path: "x".to_owned(),
            values: values.iter().map(|value| Coordinate::Words((*value).to_owned())).collect(),
            place: None,
            places: Vec::new(),
        };
        let found =
            |values: &[&str]| key(values).as_quantity().map(|(numbers, of)| (numbers, of.suffix));
        assert_eq!(found(&["10 ms", "2 s"]), Some((vec![0.01, 2.0], "_s")));
        assert_eq!(found(&["2 Mbit/s"]), Some((vec![2e6], "_bit_s")));
        assert_eq!(found(&["1 kB", "10 B"]), Some((vec![1_000.0, 10.0], "_bytes")));
        assert_eq!(found(&["1 %"]), Some((vec![0.01], "_share")));
        assert_eq!(found(&["10 packets", "1 packet"]), Some((vec![10.0, 1.0], "_packets")));
        assert_eq!(found(&["10 packets", "1 kB"]), None);
        assert_eq!(found(&["reno"]), None);
    }
}
