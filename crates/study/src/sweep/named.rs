//! Axes with names: `[axes.loss]`, with names for their values where these are tables or say little by themselves.

use super::axes::{Axis, AxisKey, Coordinate, in_order, is_range, range, twice};
use super::columns::taken;
use super::keys::AXIS;
use ackord_scenario::format::{Field, Item, Reader, Report, Table, Value, join};
use ackord_scenario::{NameOf, Place, Wrong};

/// What an axis varies: a path, or several that vary together.
struct Paths {
    paths: Vec<(String, Place)>,
    /// Whether a value is a list with an element for each path.
    several: bool,
}

/// Values of an axis: for each its name, the coordinate on every path, and where they stand.
#[derive(Default)]
struct Values {
    names: Option<Vec<String>>,
    each: Vec<Vec<(Coordinate, Place)>>,
}

/// Reads the tables of `[axes]`, in the order of the file.
pub(super) fn named_axes(report: &mut Report, field: &Field<'_>) -> Vec<Axis> {
    let Some(table) = field.item.as_table() else {
        field.wrong_type(report, "a table of axes, like [axes.delay]");
        return Vec::new();
    };
    let mut axes = Vec::new();
    for (name, entry) in table {
        let path = join(&field.path, name);
        check_name(report, name, &entry.key, &path);
        let Some(reader) = Reader::new(report, &entry.item, path, AXIS, "an axis") else {
            continue;
        };
        if let Some(axis) = axis(report, &reader, name) {
            axes.push((entry.key.clone(), axis));
        }
    }
    in_order(&mut axes, |(place, _)| place);
    axes.into_iter().map(|(_, axis)| axis).collect()
}

/// Checks that a name can be a column's, in a query too, without quotation marks.
fn check_name(report: &mut Report, name: &str, place: &Place, path: &str) {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.chars().all(letters) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let why = format!("`{name}` cannot be the name of an axis");
        let allowed =
            "letters, digits and `_`, beginning with a letter: it names a column".to_owned();
        report.add(place, path, Wrong::BadValue { why, allowed });
    } else if taken(name) {
        let why = format!("data sets have a column `{name}` already");
        let allowed = "another name for the axis".to_owned();
        report.add(place, path, Wrong::BadValue { why, allowed });
    }
}

fn axis(report: &mut Report, reader: &Reader<'_>, name: &str) -> Option<Axis> {
    let before = report.len();
    let paths = paths(report, reader);
    let values = reader.get("values").map(|field| values(report, &field, paths.as_ref()));
    let (paths, mut values) = (paths?, values.unwrap_or_default());
    if report.len() > before {
        // An axis without values is unsound; its paths remain, since problems that follow from it are not reported.
        values = Values::default();
    }
    let keys = paths.paths.into_iter().enumerate().map(|(at, (path, place))| {
        let (values, places) = values.each.iter().map(|value| value[at].clone()).unzip();
        AxisKey { path, values, place: Some(place), places }
    });
    Some(Axis { name: Some(name.to_owned()), labels: values.names, keys: keys.collect() })
}

/// Reads `key`, or `keys`.
fn paths(report: &mut Report, reader: &Reader<'_>) -> Option<Paths> {
    const PATH: &str = "a path, like \"links.hop.delay\"";
    let path = |report: &mut Report, field: &Field<'_>| {
        Some((field.text(report, PATH)?.to_owned(), field.item.place.clone()))
    };
    match (reader.get("key"), reader.get("keys")) {
        (Some(field), None) => Some(Paths { paths: vec![path(report, &field)?], several: false }),
        (None, Some(_)) => {
            let fields = reader.list(report, "keys", "a list of paths");
            let paths: Vec<_> = fields.iter().filter_map(|field| path(report, field)).collect();
            if fields.is_empty() {
                let why = "there is no path".to_owned();
                let allowed = "paths that vary together".to_owned();
                report.add(reader.place_of("keys"), &reader.path, Wrong::BadValue { why, allowed });
            }
            (!paths.is_empty() && paths.len() == fields.len())
                .then_some(Paths { paths, several: true })
        }
        (given, _) => {
            let what = match given {
                Some(_) => "both `key` and `keys` say what varies",
                None => "neither `key` nor `keys` says what varies",
            };
            let help = "write `key = \"links.hop.delay\"`, or `keys` for paths that vary together";
            let (what, help) = (what.to_owned(), help.to_owned());
            report.add(reader.place, &reader.path, Wrong::Other { what, help, first: None });
            None
        }
    }
}

/// Reads a list of values, a range, or a table of values by name. Values of unknown paths are checked for their
/// form alone.
fn values(report: &mut Report, field: &Field<'_>, paths: Option<&Paths>) -> Values {
    match &field.item.value {
        Value::Array(items) if !items.is_empty() => {
            let each = items.iter().map(|item| (None, item));
            let values = Values { names: None, each: coordinates(report, field, each, paths) };
            check_twice(report, field, &values);
            values
        }
        Value::Table(table) if is_range(table) => {
            if paths.is_some_and(|paths| paths.several) {
                let why = "a range is of one path".to_owned();
                let allowed = "a list with an element for each path, as each value".to_owned();
                field.report(report, Wrong::BadValue { why, allowed });
            }
            let each = range(report, field).into_iter().map(|value| vec![value]).collect();
            Values { names: None, each }
        }
        Value::Table(table) if !table.is_empty() => by_name(report, field, table, paths),
        Value::Array(_) | Value::Table(_) => {
            let why = "there is no value".to_owned();
            field.report(report, Wrong::BadValue { why, allowed: "one value at least".to_owned() });
            Values::default()
        }
        _ => {
            let expected = "a list of values, a table of values by name, or a range like \
                            { from = 1, to = 9, step = 2 }";
            field.wrong_type(report, expected);
            Values::default()
        }
    }
}

fn by_name(report: &mut Report, field: &Field<'_>, table: &Table, paths: Option<&Paths>) -> Values {
    let mut entries: Vec<_> = table.iter().collect();
    in_order(&mut entries, |(_, entry)| &entry.key);
    for (name, entry) in &entries {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let wrong = Wrong::BadValue {
                why: "a value has no name".to_owned(),
                allowed: "a text for tables and plots".to_owned(),
            };
            report.add(&entry.key, &field.path, wrong);
        }
    }
    let each = entries.iter().map(|(name, entry)| (Some(name.as_str()), &entry.item));
    let each = coordinates(report, field, each, paths);
    let names = entries.iter().map(|(name, _)| (*name).clone()).collect();
    let values = Values { names: Some(names), each };
    check_twice(report, field, &values);
    values
}

/// Returns the coordinates of each value; fewer if one has not an element for each path.
fn coordinates<'a>(
    report: &mut Report,
    field: &Field<'_>,
    items: impl Iterator<Item = (Option<&'a str>, &'a Item)>,
    paths: Option<&Paths>,
) -> Vec<Vec<(Coordinate, Place)>> {
    let mut each = Vec::new();
    for (at, (name, item)) in items.enumerate() {
        let one = |item: &Item| (Coordinate::of(item), item.place.clone());
        let Some(paths) = paths.filter(|paths| paths.several) else {
            each.push(vec![one(item)]);
            continue;
        };
        let wanted = paths.paths.len();
        match &item.value {
            Value::Array(items) if items.len() == wanted => {
                each.push(items.iter().map(one).collect());
            }
            _ => {
                let last = name.map_or_else(|| at.to_string(), str::to_owned);
                let path = join(&field.path, &last);
                let why = format!("a value of {wanted} paths has an element for each of them");
                let allowed = format!("a list of {wanted}");
                report.add(&item.place, &path, Wrong::BadValue { why, allowed });
            }
        }
    }
    each
}

/// Checks that no two values are the same: on one path by value, on several by all of them.
fn check_twice(report: &mut Report, field: &Field<'_>, values: &Values) {
    if values.each.iter().all(|value| value.len() == 1) {
        let single: Vec<_> = values.each.iter().map(|value| value[0].clone()).collect();
        return twice(report, &field.path, &single);
    }
    let coordinates = |value: &[(Coordinate, Place)]| -> Vec<Coordinate> {
        value.iter().map(|(coordinate, _)| coordinate.clone()).collect()
    };
    for (at, value) in values.each.iter().enumerate() {
        let same = |other: &&Vec<(Coordinate, Place)>| coordinates(other) == coordinates(value);
        if let (Some(other), Some((_, place))) =
            (values.each[..at].iter().find(same), value.first())
        {
            let first = other.first().map_or(Place::File, |(_, place)| place.clone());
            let (what, name) = (NameOf::Other("value"), field.path.clone());
            report.add(place, &field.path, Wrong::Duplicate { what, name, first });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::format::{parse, whole};

    fn axes(text: &str) -> Result<Vec<Axis>, String> {
        let document = whole(parse(text).expect("TOML"));
        let mut report = Report::default();
        let axes = named_axes(&mut report, &Field { item: &document, path: "axes".to_owned() });
        match report.is_empty() {
            true => Ok(axes),
            false => {
                Err(ackord_scenario::Errors::new("x", text, report.into_problems()).to_string())
            }
        }
    }

    #[test]
    fn axes_and_named_values_are_in_the_order_of_the_file() {
        let found = axes(
            "[buffer]\nkey = 'links.up.queue'\nvalues = { short = { kind = 'drop-tail', limit = 9 }, fair = 'drr' }\n\
             [delay]\nkey = 'links.up.delay'\nvalues = { from = '1 ms', to = '3 ms', step = '1 ms' }\n\
             [line]\nkeys = ['links.up.rate', 'links.up.delay']\nvalues = { slow = ['1 kbit/s', '9 ms'], fast = ['1 Mbit/s', '1 ms'] }\n",
        )
        .expect("sound");
        let names: Vec<_> = found.iter().map(Axis::name).collect();
        assert_eq!(names, ["buffer", "delay", "line"]);
        assert_eq!((found[0].label(0), found[0].label(1)), ("short".to_owned(), "fair".to_owned()));
        assert_eq!((found[1].len(), found[1].label(2)), (3, "3 ms".to_owned()));
        assert_eq!(found[2].keys.len(), 2);
        assert_eq!(
            (found[2].label(1), found[2].keys[0].values[1].label()),
            ("fast".to_owned(), "1 Mbit/s".to_owned())
        );
    }

    #[test]
    fn every_mistake_in_an_axis_is_reported_with_its_place() {
        for (text, wanted) in [
            ("[a-b]\nkey = 'x'\nvalues = [1]", "cannot be the name of an axis"),
            ("[seed]\nkey = 'x'\nvalues = [1]", "have a column `seed` already"),
            ("[goodput_bit_s]\nkey = 'x'\nvalues = [1]", "have a column `goodput_bit_s` already"),
            ("[a]\nvalues = [1]", "neither `key` nor `keys`"),
            ("[a]\nkey = 'x'\nkeys = ['x']\nvalues = [1]", "both `key` and `keys`"),
            ("[a]\nkey = 'x'", "the key `values` is missing"),
            ("[a]\nkey = 'x'\nvalue = [1]", "did you mean `values`?"),
            ("[a]\nkey = 3\nvalues = [1]", "a path, like"),
            ("[a]\nkeys = []\nvalues = [1]", "there is no path"),
            ("[a]\nkey = 'x'\nvalues = []", "one value at least"),
            ("[a]\nkey = 'x'\nvalues = {}", "one value at least"),
            ("[a]\nkey = 'x'\nvalues = 3", "a table of values by name"),
            ("[a]\nkey = 'x'\nvalues = [1, 1]", "`1` is given twice"),
            ("[a]\nkey = 'x'\nvalues = { low = 1, high = 1 }", "`1` is given twice"),
            ("[a]\nkeys = ['x', 'y']\nvalues = [[1, 2], [1]]", "a list of 2"),
            ("[a]\nkeys = ['x', 'y']\nvalues = { b = 1 }", "a list of 2"),
            ("[a]\nkeys = ['x', 'y']\nvalues = [[1, 2], [1, 2]]", "another value"),
            (
                "[a]\nkeys = ['x', 'y']\nvalues = { from = 1, to = 2, points = 2 }",
                "a range is of one path",
            ),
            ("a = 3", "expected a table, an axis"),
        ] {
            let error = axes(text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let two = axes("[a]\nkey = 'x'\nvalues = []\n[seed]\nkey = 'y'\nvalues = []\n");
        assert!(two.expect_err("three mistakes").contains("x: 3 errors"));
    }
}
