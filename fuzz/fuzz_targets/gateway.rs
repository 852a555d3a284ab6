//! See `crates/live/src/trials`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackord_live::trials::gateway(data));
