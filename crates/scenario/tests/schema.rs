//! The schema in the repository is the one that the types and registries make now.
//! `BLESS=1 cargo test -p ackord-scenario --test tests schema` writes it anew.

#![expect(
    clippy::disallowed_methods,
    reason = "a test is told by its environment to write files anew"
)]

use ackord_scenario::json_schema;
use ackord_units::Choice;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn the_schema_file_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/scenario.schema.json");
    let text = serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON") + "\n";
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).expect("the folder can be written to");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "schema/scenario.schema.json is not current; write it with BLESS=1");
}

/// Every mechanism and knob of the registries, with its bounds.
#[test]
fn the_schema_knows_every_mechanism_and_knob() {
    let schema = json_schema();
    let link = &schema["properties"]["links"]["items"]["properties"];
    let flow = &schema["properties"]["flows"]["items"]["properties"];
    let host = &schema["properties"]["hosts"]["additionalProperties"]["properties"];
    let tcp = &schema["$defs"]["tcp"]["properties"];
    let families = [
        (&link["queue"], ackord_path::registry::QueueChoice::MECHANISMS),
        (&link["jitter"]["anyOf"][1], ackord_path::registry::JitterChoice::MECHANISMS),
        (&link["medium"]["anyOf"][1], ackord_path::registry::MediumChoice::MECHANISMS),
        (&host["processing"]["anyOf"][1], ackord_path::registry::ProcessingChoice::MECHANISMS),
        (&flow["traffic"], ackord_traffic::WorkloadChoice::MECHANISMS),
        (&tcp["congestion"], ackord_tcp::registry::Congestion::MECHANISMS),
        (&tcp["loss"], ackord_tcp::registry::Loss::MECHANISMS),
        (&tcp["recovery"], ackord_tcp::registry::LossRecovery::MECHANISMS),
        (&tcp["ack"], ackord_tcp::registry::Ack::MECHANISMS),
        (&tcp["nagle"], ackord_tcp::registry::NagleVariant::MECHANISMS),
    ];
    for (choice, mechanisms) in families {
        let forms = choice["anyOf"].as_array().expect("a choice has forms");
        for mechanism in mechanisms {
            assert!(forms.iter().any(|form| form["const"] == mechanism.name), "{choice}");
            let table = forms
                .iter()
                .find(|form| form["properties"]["kind"]["const"] == mechanism.name)
                .unwrap_or_else(|| panic!("{} has a table form", mechanism.name));
            for knob in mechanism.knobs {
                described(&table["properties"][knob.name], knob);
            }
        }
    }
    for knob in ackord_tcp::registry::ENDPOINT.knobs {
        described(&tcp[knob.name], knob);
    }
}

fn described(schema: &Value, knob: &ackord_units::Knob) {
    let description = schema["description"].as_str().unwrap_or_default();
    for part in [knob.doc, knob.default, knob.source, &knob.kind.range()] {
        assert!(description.contains(part), "{}: {description}", knob.name);
    }
}
