//! Bytes that pass a LAN interface, compared with the packets that its ring shows: an interface can carry traffic that
//! no packet socket sees, because a bridge forwards it from port to port, or because the hardware does.
//!
//! Rule: in ten seconds at least 10 MB pass (for a bridge, enter its ports), and the ring shows so few packets that they
//! cannot account for half of that, even if each is as large as a packet can be. Connections that are let pass are not
//! shown on purpose, so nothing follows while there are any.
//!
//! Limits: hardware that does not count the packets that it forwards by itself stays unnoticed.

use crate::netlink::Netlink;
use crate::watch::RingStatus;
use crate::{Interface, Port};
use ackord_units::{Span, Time};
use std::collections::BTreeMap;

const LOOK_EVERY: Span = Span::from_secs(10);
/// Fewer bytes give no finding.
const ENOUGH: u64 = 10_000_000;
/// The largest packet that offloading makes.
const LARGEST_PACKET: u64 = 1 << 16;

/// What passed an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// Bytes, both ways; for a bridge those that entered its ports.
    pub(super) bytes: u64,
    /// Packets that its ring showed.
    pub(super) packets: u64,
}

impl Passed {
    fn since(&self, before: &Passed) -> Passed {
        Passed {
            bytes: self.bytes.saturating_sub(before.bytes),
            packets: self.packets.saturating_sub(before.packets),
        }
    }

    /// True if much more passed than was seen.
    fn is_unseen(&self) -> bool {
        self.bytes >= ENOUGH && self.packets * LARGEST_PACKET < self.bytes / 2
    }
}

/// A LAN interface over which much passes unseen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unseen {
    pub(super) interface: String,
    /// In the last ten seconds.
    pub(super) passed: Passed,
    /// The ports, if it is a bridge.
    pub(super) ports: Vec<String>,
}

/// The last look.
#[derive(Debug, Default)]
pub(super) struct Carried {
    look_at: Time,
    before: BTreeMap<u32, Passed>,
    unseen: Vec<Unseen>,
    /// Bridges among the LAN interfaces, each with its ports.
    bridges: Vec<(String, Vec<String>)>,
}

impl Carried {
    /// Looks again every ten seconds.
    pub(super) fn look(&mut self, now: Time, ports: &[Port], rings: &[RingStatus]) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + LOOK_EVERY;
        let Ok(mut netlink) = Netlink::open() else { return };
        let before = std::mem::take(&mut self.before);
        self.unseen.clear();
        self.bridges.clear();
        for (port, ring) in ports.iter().zip(rings) {
            let (Interface::Lan(_), Some(index)) = (port.interface(), port.index()) else {
                continue;
            };
            let Ok(carried) = netlink.carried(index) else { continue };
            let passed = Passed { bytes: carried.bytes, packets: ring.packets };
            let interface = port.name().to_owned();
            if let Some(since) = before.get(&index).map(|before| passed.since(before))
                && since.is_unseen()
            {
                let ports = carried.ports.clone();
                self.unseen.push(Unseen { interface: interface.clone(), passed: since, ports });
            }
            if !carried.ports.is_empty() {
                self.bridges.push((interface, carried.ports));
            }
            self.before.insert(index, passed);
        }
    }

    /// Interfaces over which much passed unseen in the last ten seconds.
    pub(super) fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// Returns the bridge among the LAN interfaces that has this port.
    pub(super) fn bridge_of(&self, port: &str) -> Option<&str> {
        let has = |(_, ports): &&(String, Vec<String>)| ports.iter().any(|one| one == port);
        self.bridges.iter().find(has).map(|(bridge, _)| bridge.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(bytes: u64, packets: u64) -> Passed {
        Passed { bytes, packets }
    }

    #[test]
    fn much_that_few_packets_cannot_account_for_is_unseen() {
        assert!(passed(10_000_000, 0).is_unseen());
        assert!(!passed(9_999_999, 0).is_unseen(), "too little");
        // A shell on the machine itself beside what the bridge forwards.
        assert!(passed(100_000_000, 300).is_unseen());
        assert!(!passed(100_000_000, 1_000).is_unseen(), "large packets");
        assert!(!passed(100_000_000, 70_000).is_unseen());
    }

    #[test]
    fn counters_that_begin_anew_are_nothing() {
        assert_eq!(passed(5, 1).since(&passed(100, 10)), passed(0, 0));
    }
}
