//! An override that names the mechanism already in force keeps its settings; one that names another reports which
//! settings it replaces.

use ackord_path::registry::{LossChoice, OutageChoice, QueueChoice};
use ackord_scenario::{Override, Replaced, Scenario, ScenarioFile, library};
use ackord_tcp::registry::CHOICES;
use ackord_units::{Choice, Knobs, Mechanism};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// A place where a mechanism is chosen: where it is in the file, where in the canonical form, and the mechanism.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Chosen {
    in_file: String,
    in_canonical: String,
    kind: String,
}

/// Returns every choice of a canonical form; of a group's members the first one's.
fn choices(file: &Table, canonical: &Table) -> Vec<Chosen> {
    let mut found = Vec::new();
    for list in ["links", "proxies", "flows"] {
        let written: Vec<&Value> = elements(file, list);
        let mut seen = BTreeSet::new();
        for element in elements(canonical, list) {
            let name = element["name"].as_str().expect("the canonical form names everything");
            let index = written.iter().position(|element| matches(&name_of(element), name));
            let index = index.expect("it was written somehow");
            if seen.insert(index) {
                let below = [format!("{list}.{index}"), format!("{list}.{name}")];
                collect(element, &below, &mut found);
            }
        }
    }
    for list in ["hosts", "routers"] {
        let nodes =
            |of: &Table| of.get(list).and_then(Value::as_table).cloned().unwrap_or_default();
        for (name, node) in &nodes(canonical) {
            let is_group =
                |group: &str| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('-'));
            let pattern =
                nodes(file).keys().find(|group| *group == name || is_group(group)).cloned();
            let below = [format!("{list}.{}", pattern.expect("written")), format!("{list}.{name}")];
            collect(node, &below, &mut found);
        }
    }
    found
}

fn elements<'a>(of: &'a Table, list: &str) -> Vec<&'a Value> {
    of.get(list).and_then(Value::as_array).map(|list| list.iter().collect()).unwrap_or_default()
}

fn name_of(element: &Value) -> String {
    let text = |key: &str| element.get(key).and_then(Value::as_str).unwrap_or_default();
    match element.get("name") {
        Some(name) => name.as_str().unwrap_or_default().to_owned(),
        None if element.get("at").is_some() => text("at").to_owned(),
        None => format!("{}-{}", text("from"), text("to")),
    }
}

/// Whether `name` is a member of the group `pattern`, or it is its name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, _)) => name.starts_with(head),
        None => pattern == name,
    }
}

fn collect(of: &Value, below: &[String; 2], found: &mut Vec<Chosen>) {
    for (key, value) in of.as_table().into_iter().flatten() {
        let [in_file, in_canonical] = below.clone().map(|path| format!("{path}.{key}"));
        match value.get("kind").and_then(Value::as_str) {
            Some(kind) => found.push(Chosen { in_file, in_canonical, kind: kind.to_owned() }),
            None if value.is_table() => collect(value, &[in_file, in_canonical], found),
            None => {}
        }
    }
}

fn checked(file: &ScenarioFile, changes: &[(&str, &str)]) -> (Scenario, Vec<Replaced>) {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = file.clone().with_overrides(changes);
    file.check_overrides().unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn naming_the_mechanism_in_force_changes_no_library_scenario() {
    for (name, text) in library() {
        let file = ScenarioFile::new(name, text);
        let scenario = file.check().expect("a library scenario is sound");
        let canonical = scenario.canonical();
        // The file's traces are known by their names, but not by those of the canonical form.
        let whole = ScenarioFile::new(name, canonical.as_str());
        let [written, all] = [text, canonical.as_str()].map(|text| text.parse().expect("TOML"));
        let chosen = choices(&written, &all);
        assert!(chosen.len() >= 2, "{name}: {chosen:?}");
        for Chosen { in_file, in_canonical, kind } in &chosen {
            for (file, path) in [(&file, in_file), (&whole, in_canonical)] {
                let (again, replaced) = checked(file, &[(path, kind)]);
                assert_eq!(again.canonical(), canonical, "{name}: {path}={kind}");
                assert_eq!(replaced, [], "{name}: {path}={kind}");
            }
        }
    }
}

/// Values of every kind of setting; one of them differs from any default.
const VALUES: &[&str] = &[
    "1",
    "2",
    "3",
    "0.3",
    "0.7",
    "7 ms",
    "70 ms",
    "3 s",
    "3 packets",
    "40 packets",
    "5 kB",
    "90 kB",
    "1 %",
    "7 %",
    "3 Mbit/s",
    "on",
    "off",
];

#[test]
fn every_mechanism_keeps_every_setting_when_it_is_named_again() {
    let file = ScenarioFile::from_library("dumbbell").expect("in the library");
    let of_links: [(&str, &[Mechanism]); 3] = [
        ("links.bottleneck.queue", QueueChoice::MECHANISMS),
        ("links.bottleneck.loss", LossChoice::MECHANISMS),
        ("links.bottleneck.outage", OutageChoice::MECHANISMS),
    ];
    let of_tcp = CHOICES.iter().map(|choice| (format!("tcp.{}", choice.key), choice.mechanisms));
    let of_links = of_links.into_iter().map(|(key, mechanisms)| (key.to_owned(), mechanisms));
    let mut tried = 0;
    for (path, mechanisms) in of_links.chain(of_tcp) {
        for mechanism in mechanisms {
            let table = |knob: &str, value: &str| {
                format!("{{ kind = \"{}\", {knob} = \"{value}\" }}", mechanism.name)
            };
            let alone = file.clone().with_overrides([Override::new(&path, mechanism.name)]);
            // Some have required settings.
            let alone = alone.check().map(|scenario| scenario.canonical()).unwrap_or_default();
            for knob in mechanism.knobs {
                let differs = VALUES.iter().find_map(|value| {
                    let change = Override::new(&path, table(knob.name, value));
                    let file = file.clone().with_overrides([change]);
                    let canonical = file.check().ok()?.canonical();
                    (canonical != alone).then_some((file, canonical))
                });
                let Some((changed, canonical)) = differs else { continue };
                tried += 1;
                let (again, replaced) = checked(&changed, &[(&path, mechanism.name)]);
                assert_eq!(again.canonical(), canonical, "{path}={} {}", mechanism.name, knob.name);
                assert_eq!(replaced, []);
            }
        }
    }
    assert!(tried > 60, "only {tried} settings were tried");
}

#[test]
fn an_inherited_mechanism_keeps_its_settings_when_it_is_named_at_the_heir() {
    let file = ScenarioFile::from_library("dumbbell").expect("in the library");
    let file = file.with_overrides([
        Override::new("tcp.congestion", "{ kind = \"cubic\", beta = 0.5 }"),
        Override::new("links.bottleneck.loss", "{ kind = \"random\", per_packet = \"3 %\" }"),
    ]);
    let before = file.check().expect("sound").canonical();
    for (path, name) in [
        ("flows.*.tcp.congestion", "cubic"),
        ("flows.*.receiver_tcp.congestion", "cubic"),
        ("links.bottleneck.reverse.loss", "random"),
        ("links.bottleneck.reverse.queue", "drop-tail"),
    ] {
        assert_eq!(checked(&file, &[(path, name)]).0.canonical(), before, "{path}={name}");
    }
    let (reno, replaced) = checked(&file, &[("flows.*.tcp.congestion", "reno")]);
    assert_eq!(reno.flows[0].client_tcp.congestion.mechanism().name, "reno");
    assert_eq!(replaced[0].to_string(), "without beta 0.5");
}

#[test]
fn a_table_with_its_kind_alone_has_default_settings() {
    let file = ScenarioFile::from_library("bufferbloat").expect("in the library");
    let limit = |value| {
        let (scenario, _) = checked(&file, &[("links.uplink.queue", value)]);
        let link = scenario.links.into_iter().find(|link| link.name == "uplink").expect("known");
        ackord_scenario::choice_text(&link.forward.queue)
    };
    assert!(limit("drop-tail").contains("250 kB"), "{}", limit("drop-tail"));
    assert!(limit("{ kind = \"drop-tail\" }").contains("50 packets"));
}

#[test]
fn settings_that_another_mechanism_replaces_are_reported_and_mistakes_of_the_file_stay_mistakes() {
    let file = ScenarioFile::from_library("bufferbloat").expect("in the library");
    let (_, replaced) = checked(&file, &[("links.uplink.queue", "fq-codel")]);
    let lines: Vec<String> = replaced.iter().map(Replaced::to_string).collect();
    assert_eq!(lines, ["limit 10240 packets in place of 250 kB"]);
    assert_eq!(replaced[0].path, "links.uplink.queue");
    let wrong = file.with_overrides([
        Override::new("links.uplink.queue.limit", "many"),
        Override::new("links.uplink.queue", "drop-tail"),
    ]);
    let errors = wrong.check().expect_err("`many` is no limit").to_string();
    assert!(errors.contains("many"), "{errors}");
}

const INHERITS: &str = r#"
version = 1
name = "inherits"
duration = "1 s"

[hosts.a]
[hosts.b]

[[links]]
name = "l"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
loss = { kind = "random", per_packet = "1 %" }
reverse = { loss = { per_packet = "2 %" } }

[tcp]
congestion = { kind = "cubic", c = 0.3 }

[[flows]]
name = "f"
from = "a"
to = "b"
traffic = "bulk"
tcp = { congestion = { fast_convergence = "off" } }
receiver_tcp = { congestion = { c = 0.5 } }
"#;

#[test]
fn a_table_without_kind_keeps_the_mechanism_of_the_file_if_that_of_an_override_lacks_its_keys() {
    let file = ScenarioFile::new("inherits", INHERITS);
    let (before, _) = checked(&file, &[]);
    for loss in ["gilbert", "none", "{ kind = \"gilbert\" }"] {
        let (after, _) = checked(&file, &[("links.l.loss", loss)]);
        assert_eq!(after.links[0].reverse, before.links[0].reverse, "{loss}");
        assert_ne!(after.links[0].forward, before.links[0].forward, "{loss}");
    }
    let (after, _) = checked(&file, &[("tcp.congestion", "reno")]);
    assert_eq!(after.flows[0].client_tcp.congestion, before.flows[0].client_tcp.congestion);
    assert_eq!(after.flows[0].server_tcp.congestion, before.flows[0].server_tcp.congestion);
    let (after, _) = checked(&file, &[("flows.f.tcp.congestion", "reno")]);
    assert_eq!(after.flows[0].client_tcp.congestion.mechanism().name, "reno");
    assert_eq!(after.flows[0].server_tcp.congestion, before.flows[0].server_tcp.congestion);
}

#[test]
fn a_table_without_kind_changes_the_mechanism_of_an_override_if_that_has_its_keys() {
    let file = ScenarioFile::new("inherits", INHERITS);
    let codel = [("links.l.queue", "codel"), ("links.l.reverse.queue.limit", "20 packets")];
    let (after, _) = checked(&file, &codel);
    let reverse = &after.links[0].reverse.queue;
    assert_eq!(reverse.mechanism().name, "codel");
    assert_eq!(
        reverse.value("limit").map(|limit| limit.to_string()).as_deref(),
        Some("20 packets")
    );
    let wrong =
        [Override::new("links.l.queue", "codel"), Override::new("links.l.reverse.queue.limt", "2")];
    let errors = file.with_overrides(wrong).check().expect_err("no mechanism has it").to_string();
    assert!(errors.contains("queue `codel` has no key `limt`"), "{errors}");
}
