//! What a daemon says of its own process, and the clocks that it says it by.

use ackord_units::Time;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::time::{ClockId, clock_gettime};
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

/// What is asked of a running daemon from outside, as signals ask it.
#[derive(Debug, Default)]
pub struct Wishes {
    /// The configuration is to be read anew.
    pub reload: AtomicBool,
    /// It is to end.
    pub stop: AtomicBool,
}

/// A clock that is never set, ns since some moment before the process began: that of `bpf_ktime_get_ns`, too.
pub fn monotonic_nanos() -> u64 {
    nanos_of(ClockId::CLOCK_MONOTONIC)
}

/// The same as a time.
pub fn monotonic() -> Time {
    Time::from_nanos(monotonic_nanos())
}

/// The wall clock, ns since 1970.
pub fn wall_nanos() -> u64 {
    nanos_of(ClockId::CLOCK_REALTIME)
}

fn nanos_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("every kernel has it");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// The wall clock, s since 1970.
pub fn unix_s() -> f64 {
    wall_nanos() as f64 / 1e9
}

/// Memory in use, bytes (proc_pid_statm(5)); 0 where the system does not say.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0_u64);
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    pages * page.map_or(4_096, |page| page as u64)
}

/// Addresses of this network namespace; none if the system does not list them.
pub fn local_addresses() -> Vec<IpAddr> {
    let entries = getifaddrs().into_iter().flatten();
    let address = |entry: InterfaceAddress| {
        let address = entry.address?;
        let v4 = address.as_sockaddr_in().map(|found| IpAddr::V4(found.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|found| IpAddr::V6(found.ip())))
    };
    entries.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_memory_and_both_clocks_go_on() {
        // More than the code of this test, less than any machine that runs it.
        assert!((100_000..1 << 40).contains(&resident_bytes()), "{}", resident_bytes());
        let (steady, wall) = (monotonic_nanos(), unix_s());
        assert!(monotonic_nanos() >= steady);
        let loopback = local_addresses().iter().any(IpAddr::is_loopback);
        assert!(loopback, "{:?}", local_addresses());
        // It was past 2020 when this was written.
        assert!(wall > 1.577e9 && unix_s() > 1.577e9);
    }
}
