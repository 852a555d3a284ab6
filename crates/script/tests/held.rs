//! The scripts that `crates/tcp/specs/profiles.toml` names hold the values they are named for: they
//! pass with the profile's value and, between them, fail with any other.
//!
//! Other values are every other word of a choice, one more and one less of a count, half and twice of
//! an amount, a time, a number or a share; where a profile has no value, some value.
//! Tests that are no scripts are not run here: most of them compare with a kernel or with ns-2.

use ackord_script::{Script, parse, run};
use ackord_tcp::registry::{ENDPOINT, Stack};
use ackord_units::{Knob, KnobKind, KnobType, KnobValue, Knobs, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Profile (or `default`), key, tests.
type Tables = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Other values that make no difference, and why.
const THE_SAME: &[(&str, &str, &str)] =
    &[("nagle", "ari", "off, until somebody's history gives a verdict")];

/// The scripts of a row, as they stand.
fn scripts(tests: &[String]) -> Vec<(String, Script)> {
    let names = tests.iter().filter(|name| name.ends_with(".tcp"));
    let read = |name: &String| {
        let text = std::fs::read_to_string(root().join(name)).expect("the check of the table");
        let script = parse(&text).unwrap_or_else(|_| panic!("{name} cannot be read"));
        (name.clone(), script)
    };
    names.map(read).collect()
}

/// A key's value in a stack, as text, and the values it might have instead.
fn value_and_others(stack: &Stack, key: &str) -> (Option<String>, Vec<String>) {
    if let Some(chosen) = stack.choice(key) {
        let name = chosen.mechanism().name;
        let others = chosen.mechanisms().iter().map(|mechanism| mechanism.name);
        let others = others.filter(|other| *other != name).map(str::to_owned);
        return (Some(name.to_owned()), others.collect());
    }
    let (choice, name): (&dyn Knobs, _) = match key.split_once('.') {
        Some((family, name)) => (stack.choice(family).expect("a family"), name),
        None => (&stack.endpoint, key),
    };
    let knob = choice.mechanism().knob(name).unwrap_or_else(|| panic!("no knob {key}"));
    let value = choice.value(name);
    let others = others(knob, value.as_ref());
    (value.map(|value| value.to_string()), others)
}

/// The stack with the mechanism that a key like `congestion.reno.growth` names beside the profile, and the
/// key of its knob, `congestion.growth`; other keys are as they stand.
fn with_named_mechanism(stack: &Stack, key: &str) -> (Stack, String) {
    let mut stack = stack.clone();
    let key = match key.split('.').collect::<Vec<_>>()[..] {
        [family, mechanism, knob] => {
            assert!(stack.choose(family, mechanism), "no mechanism {family} {mechanism}");
            format!("{family}.{knob}")
        }
        _ => key.to_owned(),
    };
    (stack, key)
}

fn others(knob: &Knob, value: Option<&KnobValue>) -> Vec<String> {
    let halves = |number: f64| [number / 2.0, number * 2.0];
    let texts: Vec<String> = match (knob.kind, value) {
        (KnobKind::Choice(words), value) => {
            let words = words.iter().filter(|word| value != Some(&KnobValue::Choice(word)));
            words.map(|word| (*word).to_owned()).collect()
        }
        (_, Some(KnobValue::Count(count))) => {
            [count.saturating_sub(1), count + 1].map(|count| count.to_string()).to_vec()
        }
        (_, Some(KnobValue::Number(number))) => {
            halves(*number).map(|number| number.to_string()).to_vec()
        }
        (_, Some(KnobValue::Span(span))) => {
            let nanos = span.as_nanos();
            // Twice nothing is still nothing: a millisecond is something.
            [nanos / 2, (nanos * 2).max(1_000_000)].map(|nanos| format!("{nanos} ns")).to_vec()
        }
        (_, Some(KnobValue::Bytes(bytes))) => {
            [bytes.get() / 2, bytes.get() * 2].map(|bytes| format!("{bytes} B")).to_vec()
        }
        (_, Some(KnobValue::Ratio(_))) => vec!["1 %".to_owned(), "20 %".to_owned()],
        (KnobKind::Count { min, .. }, None) => {
            [min, min + 2].map(|count| count.to_string()).to_vec()
        }
        (KnobKind::Number { min, max }, None) => vec![((min + max) / 2.0).to_string()],
        (KnobKind::Span { min, .. }, None) => vec![min.to_string()],
        (kind, value) => panic!("{}: what else than {value:?} of {kind:?}?", knob.name),
    };
    let other = |text: &String| knob.kind.parse(text).is_ok_and(|parsed| Some(&parsed) != value);
    texts.into_iter().filter(other).collect()
}

/// Whether the script comes out as it says with another value of `key`.
fn passes_with(script: &Script, key: &str, value: &str) -> bool {
    let mut changed = script.clone();
    if changed.stack.set(key, value).is_err() || changed.stack.check().is_err() {
        // Two knobs that contradict each other: no such endpoint can be had.
        return false;
    }
    run(&changed).passed()
}

/// Whether a first timeout is below the least one, and so makes no difference.
fn below_the_floor(stack: &Stack, rto_initial: &str) -> bool {
    let knob = ENDPOINT.knob("rto_initial").expect("a knob");
    let value = Span::from_value(knob.kind.parse(rto_initial).ok());
    value.is_some_and(|value| value < stack.config().rto.min)
}

#[test]
fn the_scripts_named_for_a_value_fail_with_any_other() {
    let table = root().join("crates/tcp/specs/profiles.toml");
    let text = std::fs::read_to_string(table).expect("the table is there");
    let tables: Tables = toml::from_str(&text).expect("the check of the table reads it too");
    let (mut complaints, mut held, mut tried) = (Vec::new(), 0, 0);
    for (profile, rows) in &tables {
        let name = if profile == "default" { "rfc" } else { profile };
        let stack = Stack::named(name).expect("the check of the table knows the profiles");
        for (key, tests) in rows {
            let scripts = scripts(tests);
            if scripts.is_empty() {
                continue;
            }
            held += 1;
            let (stack, key) = with_named_mechanism(&stack, key);
            let (value, others) = value_and_others(&stack, &key);
            assert!(!others.is_empty(), "{key} can have no other value");
            for (name, script) in &scripts {
                let (own, _) = value_and_others(&script.stack, &key);
                if own != value {
                    complaints.push(format!("{name} has {key} = {own:?}, {profile} {value:?}"));
                }
                if !run(script).passed() {
                    complaints.push(format!("{name} does not come out as it says"));
                }
            }
            for other in others {
                let same = THE_SAME.iter().any(|(of, word, _)| (*of, *word) == (&*key, &*other));
                if same {
                    continue;
                }
                if key == "rto_initial" && below_the_floor(&stack, &other) {
                    continue;
                }
                tried += 1;
                if scripts.iter().all(|(_, script)| passes_with(script, &key, &other)) {
                    complaints.push(format!("[{profile}] {key}: {other} would do as well"));
                }
            }
        }
    }
    println!("{held} values held by scripts against {tried} others");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
