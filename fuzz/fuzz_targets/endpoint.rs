//! One endpoint of any registered kind against an attacker: `crates/tcp/tests/ordeal/siege.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/tcp/tests/ordeal/mod.rs"]
mod ordeal;

fuzz_target!(|data: &[u8]| {
    if let Err(broken) = ordeal::siege::run(data) {
        panic!("{broken}");
    }
});
