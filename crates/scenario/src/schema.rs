//! The JSON Schema of the format, from the key tables, the registries and the quantities' own
//! schemas, so that an editor knows what the checker knows.
//!
//! Not modelled: what needs more than one key to judge (names that refer, groups, reachability).

use crate::keys::{self, Key, Need, Shape};
use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Rate, Ratio, Span};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";
const NAME_OR_GROUP: &str = "^[A-Za-z0-9*][A-Za-z0-9_*-]*$";

/// The schema of a scenario file (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let mut schema = table(keys::FILE);
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ackord scenario",
        "description": "A question about TCP: topology, flows and their mechanisms. TOML, version 1.",
    });
    for (key, value) in head.as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
    let definitions: Map<String, Value> =
        [("tcp".to_owned(), tcp()), ("rate".to_owned(), quantity::<Rate>())]
            .into_iter()
            .chain([("span".to_owned(), quantity::<Span>())])
            .collect();
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

fn instant() -> Value {
    json!({ "anyOf": [{ "$ref": "#/$defs/span" }, quantity::<Ratio>()] })
}

/// A table of these keys. Quantities refer to `$defs/span` and `$defs/rate`.
pub fn table(keys: &[Key]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| matches!(key.need, Need::Required)).map(|key| key.name).collect();
    let mut table = Map::new();
    table.insert("type".to_owned(), json!("object"));
    table.insert("additionalProperties".to_owned(), json!(false));
    table.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        table.insert("required".to_owned(), json!(required));
    }
    table
}

fn property(key: &Key) -> Value {
    let description = match key.need {
        Need::Required => key.doc.to_owned(),
        Need::Optional(default) => format!("{}. Default: {default}.", key.doc),
    };
    described(shape(&key.shape), description)
}

fn described(schema: Value, description: String) -> Value {
    match schema {
        Value::Object(mut schema) => {
            schema.insert("description".to_owned(), json!(description));
            Value::Object(schema)
        }
        other => other,
    }
}

fn shape(shape: &Shape) -> Value {
    match *shape {
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::Label => json!({ "type": "string", "pattern": NAME }),
        Shape::Name => json!({ "type": "string", "pattern": NAME_OR_GROUP }),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Span => json!({ "$ref": "#/$defs/span" }),
        Shape::Rate => json!({ "$ref": "#/$defs/rate" }),
        Shape::Bytes => quantity::<Bytes>(),
        Shape::Ratio => quantity::<Ratio>(),
        Shape::Own(schema) => schema(),
        Shape::Words(words) => json!({ "enum": words }),
        Shape::Choice { mechanisms, kind } => choice(mechanisms(), kind),
        Shape::ChoiceOrNone { mechanisms, kind } => {
            json!({ "anyOf": [{ "const": "none" }, choice(mechanisms(), kind)] })
        }
        Shape::Tcp => json!({ "$ref": "#/$defs/tcp" }),
        Shape::Trace => json!({
            "anyOf": [{ "type": "string", "minLength": 1 }, Value::Object(table(keys::TRACE))],
        }),
        Shape::Instant => instant(),
        Shape::Start => json!({ "anyOf": [instant(), Value::Object(table(keys::START))] }),
        Shape::Table(keys) => Value::Object(table(keys)),
        Shape::Named(keys) => json!({
            "type": "object",
            "propertyNames": { "pattern": NAME },
            "additionalProperties": Value::Object(table(keys)),
        }),
        Shape::List(keys) => json!({
            "type": "array",
            "minItems": 1,
            "items": Value::Object(table(keys)),
        }),
        Shape::Names => json!({ "type": "array", "items": { "type": "string" } }),
    }
}

/// The five choices and the endpoint's knobs.
fn tcp() -> Value {
    let choices = ackord_tcp::registry::CHOICES.iter().map(|chosen| {
        let description = format!("{}. Default: {}.", chosen.doc, chosen.default);
        let form = choice(chosen.mechanisms, keys::Kind::Inherited);
        (chosen.key.to_owned(), described(form, description))
    });
    let knobs = ackord_tcp::registry::ENDPOINT.knobs.iter();
    let knobs = knobs.map(|each| (each.name.to_owned(), knob(each)));
    let properties: Map<String, Value> =
        [(keys::PROFILE.to_owned(), profile())].into_iter().chain(choices).chain(knobs).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// A whole stack by name.
fn profile() -> Value {
    let each = |profile: &ackord_tcp::registry::Profile| json!({ "const": profile.name, "description": profile.summary });
    let forms: Vec<Value> = ackord_tcp::registry::PROFILES.iter().map(each).collect();
    let description = "A stack whose choices and knobs to begin with; the other keys override it. \
                       Default: what the endpoint has been given so far.";
    json!({ "anyOf": forms, "description": description })
}

/// A mechanism by name, or as a table of `kind` and its knobs; without `kind`, where one is
/// inherited, the knobs of whichever mechanism that is.
fn choice(mechanisms: &[Mechanism], kind: keys::Kind) -> Value {
    let mut forms: Vec<Value> = mechanisms
        .iter()
        .map(|mechanism| json!({ "const": mechanism.name, "description": about(mechanism) }))
        .collect();
    let names: Vec<&str> = mechanisms.iter().map(|mechanism| mechanism.name).collect();
    if names.contains(&"on") && names.contains(&"off") {
        forms.push(json!({ "type": "boolean" }));
    }
    for mechanism in mechanisms {
        let mut properties = knobs(mechanism);
        properties.insert("kind".to_owned(), json!({ "const": mechanism.name }));
        forms.push(described(
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["kind"],
                "properties": properties,
            }),
            about(mechanism),
        ));
        let mut properties = knobs(mechanism);
        if matches!(kind, keys::Kind::Inherited) && !properties.is_empty() {
            properties.remove("kind");
            forms.push(described(
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "minProperties": 1,
                    "properties": properties,
                }),
                format!("Knobs of `{}`, where that is chosen already", mechanism.name),
            ));
        }
    }
    json!({ "anyOf": forms })
}

fn about(mechanism: &Mechanism) -> String {
    format!("{}. Source: {}.", mechanism.summary, mechanism.source)
}

fn knobs(mechanism: &Mechanism) -> Map<String, Value> {
    mechanism.knobs.iter().map(|each| (each.name.to_owned(), knob(each))).collect()
}

fn knob(knob: &Knob) -> Value {
    let default = match knob.default {
        "" => "none".to_owned(),
        default => default.to_owned(),
    };
    let description = format!(
        "{}. Allowed: {}. Default: {default}. Source: {}.",
        knob.doc,
        knob.kind.range(),
        knob.source
    );
    described(knob_kind(&knob.kind), description)
}

fn knob_kind(kind: &KnobKind) -> Value {
    match *kind {
        KnobKind::Count { unit, min, max } => json!({ "anyOf": [
            { "type": "integer", "minimum": min, "maximum": max },
            { "type": "string", "pattern": format!("^[0-9]+ ?({unit})?$") },
        ]}),
        KnobKind::Number { min, max } => json!({ "anyOf": [
            { "type": "number", "minimum": min, "maximum": max },
            { "type": "string", "pattern": "^[0-9.]+$" },
        ]}),
        KnobKind::Span { .. } => quantity::<Span>(),
        KnobKind::Bytes { .. } => quantity::<Bytes>(),
        KnobKind::BytesList { .. } => json!({
            "type": "array",
            "minItems": 1,
            "items": quantity::<Bytes>(),
        }),
        KnobKind::SpanList { .. } => json!({
            "type": "array",
            "minItems": 1,
            "items": quantity::<Span>(),
        }),
        KnobKind::RateList { .. } => json!({
            "type": "array",
            "minItems": 1,
            "items": quantity::<Rate>(),
        }),
        KnobKind::Rate { .. } => quantity::<Rate>(),
        KnobKind::Ratio => quantity::<Ratio>(),
        KnobKind::Choice(words) if words.contains(&"on") && words.contains(&"off") => {
            json!({ "anyOf": [{ "enum": words }, { "type": "boolean" }] })
        }
        KnobKind::Choice(words) => json!({ "enum": words }),
        KnobKind::PerFlow { min, max } => json!({
            "type": "object",
            "propertyNames": { "pattern": NAME_OR_GROUP },
            "additionalProperties": { "type": "number", "minimum": min, "maximum": max },
        }),
        KnobKind::PacketsOrBytes => json!({ "anyOf": [
            { "type": "string", "pattern": "^[0-9]+ ?packets?$", "examples": ["50 packets"] },
            { "type": "integer", "minimum": 1, "maximum": 100_000_000 },
            quantity::<Bytes>(),
        ]}),
    }
}

/// What the quantity says of itself.
pub fn quantity<Q: JsonSchema>() -> Value {
    Q::json_schema(&mut schemars::SchemaGenerator::default()).to_value()
}
