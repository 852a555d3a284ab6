//! What a stock kernel in simulated time answered to the same scripts, as the files in `tests/kernel` keep
//! it. `crates/cli/tests/kernel_answers.rs` asks it again, and writes them anew with BLESS=1.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// A tick after which the kernel may look at its clock some times more, and a look takes 256 ns; what it
/// is sent may be 0.06 ms late, as a script waits in select(2).
const NEAR_MS: f64 = 0.15;

/// The answer of this name to `scripts/linux-SCRIPT.py`.
pub fn answer(script: &str, name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kernel/{script}.json"));
    let text = fs::read_to_string(&file).expect("it is kept");
    let mut told: Value = serde_json::from_str(&text).expect("JSON");
    match told["answers"][name].take() {
        Value::Null => panic!("{} has no {name}", file.display()),
        answer => answer,
    }
}

/// Pairs of a time in ms and a number.
pub fn times(answer: &Value) -> Vec<(f64, u32)> {
    let pairs = answer.as_array().expect("a list").iter();
    pairs.map(|pair| (pair[0].as_f64().expect("ms"), count(&pair[1]))).collect()
}

pub fn count(number: &Value) -> u32 {
    number.as_u64().expect("a count") as u32
}

/// The same numbers at the same times, or a tick of 4 ms away where the time of a timeout is within some
/// microseconds of a whole number of ticks.
pub fn agree_to_a_tick(ours: &[(f64, u32)], kernel: &[(f64, u32)], what: &str) {
    assert_eq!(ours.len(), kernel.len(), "{what}: {ours:?}, the kernel {kernel:?}");
    for (ours, kernel) in ours.iter().zip(kernel) {
        let near = ours.1 == kernel.1 && (ours.0 - kernel.0).abs() <= 4.0 + NEAR_MS;
        assert!(near, "{what}: {ours:?}, the kernel {kernel:?}");
    }
}

/// The same numbers at the same times.
pub fn agree(ours: &[(f64, u32)], kernel: &[(f64, u32)], what: &str) {
    let near = |(ours, kernel): (&(f64, u32), &(f64, u32))| {
        ours.1 == kernel.1 && (ours.0 - kernel.0).abs() <= NEAR_MS
    };
    if let Some(place) = ours.iter().zip(kernel).position(|pair| !near(pair)) {
        let from = |all: &[(f64, u32)]| format!("{:?}", &all[place..all.len().min(place + 12)]);
        panic!("{what}, {place}: {}, the kernel {}", from(ours), from(kernel));
    }
    assert_eq!(ours.len(), kernel.len(), "{what}: {ours:?}, the kernel {kernel:?}");
}
