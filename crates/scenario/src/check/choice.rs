//! Mechanisms by name, or as a table of `kind` and knobs.

use super::reader::{Field, join};
use super::{Report, names::NameSet};
use crate::document::{Item, Table, Value};
use crate::error::{NameOf, Wrong};
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Quantity};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// What may be chosen under a key.
#[derive(Clone, Copy, Debug)]
pub struct Family<'a> {
    /// The key, for errors: "queue".
    pub key: &'static str,
    /// The mechanisms.
    pub mechanisms: &'static [Mechanism],
    /// What a table without `kind` changes the knobs of.
    pub inherited: Option<&'a Choice>,
    /// What naming this mechanism means: with these knobs instead of the registry's defaults.
    pub own: Option<&'a Choice>,
    /// Flows by name, for knobs that have a value per flow.
    pub flows: &'a NameSet,
}

impl Family<'_> {
    /// What naming this mechanism means.
    fn named(self, mechanism: &'static Mechanism) -> Choice {
        let own = self.own.filter(|own| own.mechanism.name == mechanism.name);
        own.cloned().unwrap_or_else(|| with_defaults(mechanism))
    }
}

/// The mechanism with every knob that has a default filled in.
pub(super) fn with_defaults(mechanism: &'static Mechanism) -> Choice {
    let mut choice = Choice::of(mechanism);
    for knob in mechanism.knobs {
        if let Some(value) = knob.default_value() {
            choice.settings.0.insert(knob.name.to_owned(), value);
        }
    }
    choice
}

/// The mechanism called `name`.
///
/// # Panics
/// If there is none: for names written in this crate.
pub(super) fn registered(mechanisms: &'static [Mechanism], name: &str) -> Choice {
    let mechanism = mechanisms.iter().find(|mechanism| mechanism.name == name);
    with_defaults(mechanism.expect("the default of a family is one of its mechanisms"))
}

/// Reads a choice; nothing where it cannot be made out, which has then been reported.
pub fn choice(report: &mut Report, field: &Field<'_>, family: Family<'_>) -> Option<Choice> {
    match &field.item.value {
        Value::Text(name) => {
            mechanism(report, field, family, name).map(|found| family.named(found))
        }
        Value::Bool(flag) if on_off(family.mechanisms.iter().map(|m| m.name)) => {
            mechanism(report, field, family, on_or_off(*flag)).map(|found| family.named(found))
        }
        Value::Table(table) => table_choice(report, field, family, table),
        _ => {
            field.wrong_type(
                report,
                format!("the name of a mechanism ({}), or a table with `kind`", family.key),
            );
            None
        }
    }
}

fn table_choice(
    report: &mut Report,
    field: &Field<'_>,
    family: Family<'_>,
    table: &Table,
) -> Option<Choice> {
    let mut choice = match table.get("kind") {
        Some(entry) => {
            let kind = Field { item: &entry.item, path: join(&field.path, "kind") };
            let name = match kind.item.value {
                Value::Bool(flag) if on_off(family.mechanisms.iter().map(|m| m.name)) => {
                    on_or_off(flag)
                }
                _ => kind.text(report, &format!("the name of a mechanism ({})", family.key))?,
            };
            family.named(mechanism(report, &kind, family, name)?)
        }
        None => match family.inherited {
            Some(inherited) => inherited.clone(),
            None => {
                let example = format!("{} = {{ kind = \"{}\" }}", family.key, first(family));
                let doc = "Which mechanism the knobs belong to";
                field.report(report, Wrong::MissingKey { key: "kind", doc, example });
                return None;
            }
        },
    };
    for (name, entry) in table.iter().filter(|(name, _)| *name != "kind") {
        let path = join(&field.path, name);
        let Some(knob) = choice.mechanism.knob(name) else {
            let knobs = choice.mechanism.knobs.iter().map(|knob| knob.name);
            let of = format!("{} `{}`", family.key, choice.mechanism.name);
            let allowed = ["kind"].into_iter().chain(knobs);
            report.add(&entry.key, &path, Wrong::unknown_key(name, of, allowed));
            continue;
        };
        if let Some(value) = setting(report, &Field { item: &entry.item, path }, knob, family.flows)
        {
            choice.settings.0.insert(name.clone(), value);
        }
    }
    Some(choice)
}

fn first(family: Family<'_>) -> &'static str {
    family.mechanisms.first().map_or("", |mechanism| mechanism.name)
}

fn mechanism(
    report: &mut Report,
    field: &Field<'_>,
    family: Family<'_>,
    name: &str,
) -> Option<&'static Mechanism> {
    let found = family.mechanisms.iter().find(|mechanism| mechanism.name == name);
    if found.is_none() {
        let known = family.mechanisms.iter().map(|mechanism| mechanism.name);
        field.report(report, Wrong::unknown_name(NameOf::Mechanism(family.key), name, known));
    }
    found
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
