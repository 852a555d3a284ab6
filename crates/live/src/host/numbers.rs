//! Initial sequence numbers (RFC 6528, RFC 9293 §3.4.1): M, a clock of 4 µs, and F, a keyed function
//! of the connection's addresses and ports.
//!
//! They go up from one connection to the next between the same ports, so that a peer in TIME-WAIT can
//! tell a new SYN from an old one, and tell nobody else anything. F is SipHash as the standard
//! library has it, under a key that it takes from the operating system once for each host.
//! The clock of the timestamps option gets an offset of the same kind, the same for all connections
//! between the same ports, for the same reason (RFC 7323 §5.4, RFC 6191 §2).
//! Not modelled: changing the key from time to time.

use ackord_units::{Seq, Time};
use ackord_wire::Endpoints;
use std::hash::{BuildHasher, RandomState};

/// What a host draws its initial sequence numbers from.
#[derive(Debug)]
pub(super) struct InitialNumbers {
    key: RandomState,
}

/// RFC 9293 §3.4.1: the clock ticks about every 4 µs.
const TICK_NANOS: u64 = 4_000;

impl InitialNumbers {
    /// With a key that nobody has seen.
    pub(super) fn new() -> InitialNumbers {
        InitialNumbers { key: RandomState::new() }
    }

    /// The number with which a connection between these ends begins at `now`.
    pub(super) fn initial(&self, now: Time, endpoints: Endpoints) -> Seq {
        let of_the_connection = self.key.hash_one((endpoints.src, endpoints.dst)) as u32;
        Seq(of_the_connection.wrapping_add((now.as_nanos() / TICK_NANOS) as u32))
    }

    /// What the timestamps of every connection between these ends count from.
    pub(super) fn timestamp_offset(&self, endpoints: Endpoints) -> u32 {
        (self.key.hash_one((endpoints.src, endpoints.dst)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn ends(port: u16) -> Endpoints {
        let src = "10.77.0.2:80".parse().expect("an address");
        let dst = std::net::SocketAddr::new([10, 77, 0, 1].into(), port);
        Endpoints { src, dst }
    }

    #[test]
    fn between_the_same_ports_they_follow_the_clock() {
        let numbers = InitialNumbers::new();
        let at = |micros| numbers.initial(Time::ZERO + Span::from_micros(micros), ends(50_000));
        assert_eq!(at(4_000_000).since(at(0)), 1_000_000);
        assert_eq!(at(3), at(0));
        let offset = numbers.timestamp_offset(ends(50_000));
        assert_eq!(numbers.timestamp_offset(ends(50_000)), offset);
        assert_ne!(numbers.timestamp_offset(ends(50_001)), offset);
    }

    #[test]
    fn other_ports_and_other_keys_say_nothing_of_each_other() {
        let (one, other) = (InitialNumbers::new(), InitialNumbers::new());
        let of = |numbers: &InitialNumbers, port| numbers.initial(Time::ZERO, ends(port)).0;
        let mut drawn: Vec<u32> =
            (0..500).flat_map(|port| [of(&one, port), of(&other, port)]).collect();
        drawn.sort_unstable();
        drawn.dedup();
        // A thousand of 2^32: two alike are expected once in ten thousand runs.
        assert!(drawn.len() >= 999, "{}", drawn.len());
        let upper_half = drawn.iter().filter(|number| **number >= 1 << 31).count();
        assert!((350..=650).contains(&upper_half), "{upper_half}");
    }
}
