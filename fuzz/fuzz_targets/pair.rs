//! Two endpoints of any registered kinds over a path that does its worst, against an independent
//! ledger: `crates/tcp/tests/ordeal`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/tcp/tests/ordeal/mod.rs"]
mod ordeal;

fuzz_target!(|data: &[u8]| {
    let case = ordeal::Case::of(data);
    if let Err(broken) = ordeal::run(&case) {
        panic!("{broken}\nCase::of_hex({:?})\n{}", case.hex(), case.describe());
    }
});
