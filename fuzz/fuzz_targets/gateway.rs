//! Packets, sockets and time at the gateway of a shell: `crates/live/src/trials/gateway.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ackord_live::trials::gateway(data));
