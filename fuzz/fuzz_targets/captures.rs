//! See `crates/fuzz-targets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackord_fuzz_targets::captures(data));
