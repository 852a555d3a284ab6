//! The thin interoperation matrix: our TCP against this machine's kernel, every case once as client
//! over IPv4 and once as server over IPv6.
//!
//! It needs root or rootless TUN, and python3; elsewhere it says SKIPPED and passes.

use crate::common::*;
use ackord_live::{InteropOptions, Sizes, interop};
use ackord_wire::{IpVersion, Side};

#[test]
fn our_tcp_and_the_kernels_agree_in_every_case_of_the_thin_matrix() {
    let _turn = alone();
    if !installed(&["python3"]) {
        return;
    }
    let mut options = InteropOptions::new(Sizes::QUICK).expect("a file descriptor");
    options.looks_at_packets = installed(&["tshark"]);
    let mut failures = Vec::new();
    for row in options.rows() {
        let (case, side, ip) = row;
        if (side == Side::Client) != (ip == IpVersion::V4) {
            continue;
        }
        let Some(row) = possible(interop(row, &options)) else { return };
        let what = format!("{}, {side:?}, {ip:?}", case.name);
        eprintln!("{what}: {} bytes in {}", row.bytes, row.took);
        failures.extend(row.failures.iter().map(|failure| format!("{what}: {failure}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
