//! Mechanisms by name, or as a table of `kind` and knobs.

use super::name_set::NameSet;
use super::reader::{Field, join};
use super::report::Report;
use crate::document::{Item, Standing, Table, Value};
use crate::error::{NameOf, Problem, Wrong};
use crate::overrides::Replaced;
use ackord_units::{AnyChoice, Choice, Contradiction, Knob, KnobKind, KnobValue, Knobs, Quantity};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// What may be chosen under a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family<'a> {
    /// The key, for errors: "queue".
    pub(super) key: &'static str,
    /// Flows by name, for knobs that have a value per flow.
    pub(super) flows: &'a NameSet,
    /// Whether a table without `kind` changes the knobs of what is there.
    pub(super) inherits: bool,
}

/// Reads a choice; nothing where it cannot be made out, which has then been reported. A table without
/// `kind` changes the knobs of what is inherited.
pub fn choice<C: Choice>(
    report: &mut Report,
    field: &Field<'_>,
    (key, flows): (&'static str, &NameSet),
    inherited: Option<&C>,
) -> Option<C> {
    let first = || C::named(C::MECHANISMS.first()?.name);
    let mut chosen = inherited.cloned().or_else(first)?;
    let family = Family { key, flows, inherits: inherited.is_some() };
    fill(report, field, family, &mut chosen, &|chosen, name| chosen.choose(name)).then_some(chosen)
}

/// Reads a choice into its chosen, where `choose` takes a mechanism by its name; whether it could be made
/// out, which has been reported if not.
pub(super) fn fill(
    report: &mut Report,
    field: &Field<'_>,
    family: Family<'_>,
    chosen: &mut dyn AnyChoice,
    choose: &dyn Fn(&mut dyn AnyChoice, &str) -> bool,
) -> bool {
    let toggles = on_off(chosen.mechanisms().iter().map(|mechanism| mechanism.name));
    let mut named = |report: &mut Report, field: &Field<'_>, name: &str| {
        let mut wrong = Vec::new();
        let in_force = read_standing(&mut wrong, field, family, chosen, choose);
        if in_force && chosen.mechanism().name == name {
            report.problems.append(&mut wrong);
            return true;
        }
        let before = if in_force { settings(field, chosen, choose) } else { Vec::new() };
        if !choose(chosen, name) {
            let names = chosen.names().into_iter();
            field.report(report, Wrong::unknown_name(NameOf::Mechanism(family.key), name, names));
            return false;
        }
        report.replaced.extend(replaced(&field.path, &before, chosen));
        true
    };
    let table = match &field.item.value {
        Value::Text(name) => return named(report, field, name),
        Value::Bool(flag) if toggles => return named(report, field, on_or_off(*flag)),
        Value::Table(table) => table,
        _ => {
            let expected =
                format!("the name of a mechanism ({}), or a table with `kind`", family.key);
            field.wrong_type(report, expected);
            return false;
        }
    };
    match table.get("kind") {
        Some(entry) => {
            let kind = Field { item: &entry.item, path: join(&field.path, "kind") };
            let name = match kind.item.value {
                Value::Bool(flag) if toggles => Some(on_or_off(flag)),
                _ => kind.text(report, &format!("the name of a mechanism ({})", family.key)),
            };
            if !name.is_some_and(|name| named(report, &kind, name)) {
                return false;
            }
        }
        None if family.inherits => {}
        None => {
            let first = chosen.mechanisms().first().map_or("", |mechanism| mechanism.name);
            let example = format!("{} = {{ kind = \"{first}\" }}", family.key);
            let doc = "Which mechanism the knobs belong to";
            field.report(report, Wrong::MissingKey { key: "kind", doc, example });
            return false;
        }
    }
    knobs(report, field, table, family, chosen);
    true
}

/// Reads into `chosen` the choice that an override by name replaces, and returns whether there is one. What is
/// wrong with it goes into `wrong`: it matters only if the choice stays.
fn read_standing(
    wrong: &mut Vec<Problem>,
    field: &Field<'_>,
    family: Family<'_>,
    chosen: &mut dyn AnyChoice,
    choose: &dyn Fn(&mut dyn AnyChoice, &str) -> bool,
) -> bool {
    let item = match &field.item.standing {
        None => return false,
        Some(Standing::Absent) => return family.inherits,
        Some(Standing::Value(item)) => item,
    };
    let mut report = Report::default();
    let before = Field { item, path: field.path.clone() };
    let known = fill(&mut report, &before, family, chosen, choose);
    *wrong = report.into_problems();
    known
}

/// Returns the settings of the choice that `field` replaces: those that are written out, and those that differ from
/// what the name of the mechanism alone stands for. Leaves that mechanism chosen by its name.
fn settings(
    field: &Field<'_>,
    chosen: &mut dyn AnyChoice,
    choose: &dyn Fn(&mut dyn AnyChoice, &str) -> bool,
) -> Vec<(&'static str, KnobValue)> {
    let written = match &field.item.standing {
        Some(Standing::Value(item)) => item.as_table(),
        _ => None,
    };
    let mechanism = chosen.mechanism();
    let values: Vec<_> = mechanism
        .knobs
        .iter()
        .filter_map(|knob| Some((knob.name, chosen.value(knob.name)?)))
        .collect();
    choose(chosen, mechanism.name);
    let is_written = |name: &str| written.is_some_and(|table| table.contains_key(name));
    values
        .into_iter()
        .filter(|(name, value)| is_written(name) || chosen.value(name).as_ref() != Some(value))
        .collect()
}

/// Returns the settings `before` that differ in `chosen`.
fn replaced(
    path: &str,
    before: &[(&'static str, KnobValue)],
    chosen: &dyn AnyChoice,
) -> Vec<Replaced> {
    let changed = before.iter().filter_map(|(setting, value)| {
        let after = chosen.mechanism().knob(setting).and_then(|_| chosen.value(setting));
        (after.as_ref() != Some(value)).then(|| Replaced {
            path: path.strip_suffix(".kind").unwrap_or(path).to_owned(),
            setting,
            before: value.to_string(),
            after: after.map(|value| value.to_string()),
        })
    });
    changed.collect()
}

/// Reads the knobs beside `kind`.
fn knobs(
    report: &mut Report,
    field: &Field<'_>,
    table: &Table,
    family: Family<'_>,
    chosen: &mut dyn AnyChoice,
) {
    let mechanism = chosen.mechanism();
    for (name, entry) in table.iter().filter(|(name, _)| *name != "kind") {
        let path = join(&field.path, name);
        let Some(knob) = mechanism.knob(name) else {
            let knobs = mechanism.knobs.iter().map(|knob| knob.name);
            let of = format!("{} `{}`", family.key, mechanism.name);
            let allowed = ["kind"].into_iter().chain(knobs);
            report.add(&entry.key, &path, Wrong::unknown_key(name, of, allowed));
            continue;
        };
        if let Some(value) = setting(report, &Field { item: &entry.item, path }, knob, family.flows)
        {
            assert!(chosen.set(knob.name, value), "a knob takes values of its kind");
        }
    }
}

/// Reports values that are each in range but not together; whether there are none.
pub fn agrees(report: &mut Report, field: &Field<'_>, chosen: &dyn Knobs) -> bool {
    let checked = chosen.check();
    let sound = checked.is_ok();
    if let Err(Contradiction { why, allowed }) = checked {
        field.report(report, Wrong::BadValue { why, allowed });
    }
    sound
}

/// Reads a knob's value.
pub(super) fn setting(
    report: &mut Report,
    field: &Field<'_>,
    knob: &'static Knob,
    flows: &NameSet,
) -> Option<KnobValue> {
    let text = match (&field.item.value, knob.kind) {
        (Value::Table(table), KnobKind::PerFlow { min, max }) => {
            let range = Range { min, max };
            return Some(KnobValue::PerFlow(per_flow(report, field, table, flows, range)));
        }
        (Value::Array(items), KnobKind::BytesList { min, max }) => {
            return amounts(report, field, items, min..=max).map(KnobValue::BytesList);
        }
        (Value::Array(items), KnobKind::RateList { min, max }) => {
            return amounts(report, field, items, min..=max).map(KnobValue::RateList);
        }
        (Value::Array(items), KnobKind::SpanList { min, max }) => {
            return amounts(report, field, items, min..=max).map(KnobValue::SpanList);
        }
        (Value::Text(text), _) => text.clone(),
        // For a knob with a unit a bare number fails to parse, with an error that says so.
        (Value::Integer(number), _) => number.to_string(),
        (Value::Float(number), _) => number.to_string(),
        (Value::Bool(flag), KnobKind::Choice(words)) if on_off(words.iter().copied()) => {
            on_or_off(*flag).to_owned()
        }
        _ => {
            field.wrong_type(report, knob.kind.range());
            return None;
        }
    };
    match knob.kind.parse(&text) {
        Ok(value) => Some(value),
        Err(why) => {
            field.report(report, Wrong::BadValue { why, allowed: knob.kind.range() });
            None
        }
    }
}

/// The quantities in a list, each within `range`.
fn amounts<Q: Quantity + PartialOrd + Display>(
    report: &mut Report,
    field: &Field<'_>,
    items: &[Item],
    range: RangeInclusive<Q>,
) -> Option<Vec<Q>> {
    let (min, max) = (range.start(), range.end());
    if items.is_empty() {
        let why = "the list is empty".to_owned();
        let allowed = format!("one or more, each {min} to {max}");
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    let mut values = Some(Vec::new());
    for (index, item) in items.iter().enumerate() {
        let element = Field { item, path: join(&field.path, &index.to_string()) };
        let value: Option<Q> = element.quantity(report);
        if let Some(outside) = value.as_ref().filter(|value| !range.contains(value)) {
            let why = format!("`{outside}` is out of range");
            let allowed = format!("{min} to {max}");
            element.report(report, Wrong::BadValue { why, allowed });
            values = None;
        }
        values = values.zip(value).map(|(mut values, value)| {
            values.push(value);
            values
        });
    }
    values
}

#[derive(Clone, Copy)]
struct Range {
    min: f64,
    max: f64,
}

/// Numbers by flow name. `GROUP-*` sets every member, a member's own name wins over that.
fn per_flow(
    report: &mut Report,
    field: &Field<'_>,
    table: &Table,
    flows: &NameSet,
    range: Range,
) -> BTreeMap<String, f64> {
    let mut of_groups = BTreeMap::new();
    let mut of_members = BTreeMap::new();
    for (name, entry) in table {
        let path = join(&field.path, name);
        let members = flows.members(name);
        if members.is_empty() {
            let wrong = Wrong::unknown_name(NameOf::Flow, name, flows.all());
            report.add(&entry.key, &path, wrong);
        }
        let Some(number) = number(report, &Field { item: &entry.item, path }, range) else {
            continue;
        };
        let values = if name.contains('*') { &mut of_groups } else { &mut of_members };
        values.extend(members.iter().map(|member| (member.clone(), number)));
    }
    of_groups.extend(of_members);
    of_groups
}

fn number(report: &mut Report, field: &Field<'_>, range: Range) -> Option<f64> {
    let number = match field.item {
        Item { value: Value::Integer(number), .. } => *number as f64,
        Item { value: Value::Float(number), .. } => *number,
        _ => {
            field.wrong_type(report, format!("a number from {} to {}", range.min, range.max));
            return None;
        }
    };
    if !(range.min..=range.max).contains(&number) {
        let why = format!("`{number}` is out of range");
        let allowed = format!("{} to {}", range.min, range.max);
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(number)
}

/// Whether `true` and `false` can be said for these words.
fn on_off<'a>(words: impl Iterator<Item = &'a str> + Clone) -> bool {
    words.clone().any(|word| word == "on") && words.clone().any(|word| word == "off")
}

fn on_or_off(flag: bool) -> &'static str {
    if flag { "on" } else { "off" }
}
