//! Whatever two foreign hosts send on an emulated path: `crates/live/src/trials/foreign.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ackord_live::trials::foreign(data));
