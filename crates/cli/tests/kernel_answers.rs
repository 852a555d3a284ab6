//! What the tests of the endpoint are held to is what a stock kernel in simulated time answers today.
//!
//! The scripts and the answers: `scripts/linux-{receiver,sender,ecn}.py`, `crates/tcp/tests/kernel`. With
//! BLESS=1 they are written anew.

use crate::common::kernel::{kernels, said_by};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Another Python looks at the clock more or less often, and a look takes 256 ns: a rounded time may be
/// another one.
const NEAR_MS: f64 = 0.11;

/// Whether two answers are the same, times to a tenth of a millisecond.
fn alike(kept: &Value, said: &Value) -> bool {
    match (kept, said) {
        (Value::Number(kept), Value::Number(said)) => {
            let (kept, said) = (kept.as_f64().expect("finite"), said.as_f64().expect("finite"));
            (kept - said).abs() <= NEAR_MS
        }
        (Value::Array(kept), Value::Array(said)) => {
            kept.len() == said.len() && kept.iter().zip(said).all(|(kept, said)| alike(kept, said))
        }
        (Value::Object(kept), Value::Object(said)) => {
            let same =
                |(name, kept): (&String, _)| said.get(name).is_some_and(|said| alike(kept, said));
            kept.len() == said.len() && kept.iter().all(same)
        }
        _ => kept == said,
    }
}

/// An answer to a line, as the scripts print them.
fn printed(told: &Value) -> String {
    let answers = told["answers"].as_object().expect("answers");
    let line =
        |(name, answer): (&String, &Value)| format!("{}: {answer}", Value::from(name.as_str()));
    let lines: Vec<String> = answers.iter().map(line).collect();
    format!("{{\"kernel\": {}, \"answers\": {{\n{}\n}}}}\n", told["kernel"], lines.join(",\n"))
}

fn kept_are_said(script: &str) {
    let Some(kernel) = kernels().into_iter().find(|kernel| kernel == "6.12@250") else { return };
    let Some(said) = said_by::<Value>(&kernel, &format!("linux-{script}.py")) else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tcp/tests/kernel");
    let file = folder.join(format!("{script}.json"));
    if std::env::var_os("BLESS").is_some() {
        return fs::write(&file, printed(&said)).expect("writable");
    }
    let kept: Value = serde_json::from_slice(&fs::read(&file).expect("kept")).expect("JSON");
    let all = kept["answers"].as_object().expect("answers");
    let other = all.iter().find(|(name, kept)| !alike(kept, &said["answers"][name.as_str()]));
    let Some((name, kept_answer)) = other else { return };
    let now = &said["answers"][name.as_str()];
    let both = format!("{name}: kept {kept_answer}, said {now}");
    println!("kept of Linux {}, said by Linux {}: {both}", kept["kernel"], said["kernel"]);
    // A newer package may do otherwise: then they are written anew, and the endpoint's tests judge.
    assert!(kept["kernel"] != said["kernel"], "{both}");
}

#[test]
fn of_a_receiver() {
    kept_are_said("receiver");
}

#[test]
fn of_a_sender() {
    kept_are_said("sender");
}

#[test]
fn of_congestion_marks() {
    kept_are_said("ecn");
}
