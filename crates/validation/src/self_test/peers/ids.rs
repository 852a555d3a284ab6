//! Identification fields of IPv4 as other stacks number them.

use super::captures::{Captures, Run};
use super::record::{Key, Record};
use ackord_units::RandomStream;
use ackord_wire::Side;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// How a host numbers the packets it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// One counter for everything it sends; other traffic takes so many numbers a second.
    HostWide(u32),
    /// One counter per destination, of which other connections take a few.
    PerDestination,
    /// Two processors, each with a counter that other traffic uses too.
    PerCpu(u32),
    /// Random numbers.
    Random,
    /// Always zero.
    Zero,
    /// One counter for everything, written in the wrong byte order.
    ByteSwapped(u32),
}

/// Numbers that other connections to one destination take in a second.
const TO_ONE_DESTINATION: u32 = 4;

/// The counters of one host.
struct Host {
    random: RandomStream,
    kind: IdKind,
    counters: [u16; 2],
    cpu: usize,
    last: u64,
}

impl Host {
    fn new(kind: IdKind, seed: u64, ip: Ipv4Addr) -> Host {
        let mut random = RandomStream::for_element(seed, &format!("peers/ids/{ip}"));
        let counters = [random.next_u64() as u16, random.next_u64() as u16];
        Host { random, kind, counters, cpu: 0, last: 0 }
    }

    /// Returns the number of the next packet, sent at this time (ns).
    fn next(&mut self, at: u64) -> u16 {
        let elapsed = at.saturating_sub(self.last) as f64 / 1e9;
        self.last = at;
        match self.kind {
            IdKind::Zero => 0,
            IdKind::Random => self.random.next_u64() as u16,
            IdKind::PerDestination => self.count(0, elapsed, TO_ONE_DESTINATION),
            IdKind::HostWide(rate) => self.count(0, elapsed, rate),
            IdKind::ByteSwapped(rate) => self.count(0, elapsed, rate).swap_bytes(),
            IdKind::PerCpu(rate) => {
                if self.random.below(10) < 3 {
                    self.cpu = 1 - self.cpu;
                }
                self.count(self.cpu, elapsed, rate)
            }
        }
    }

    fn count(&mut self, counter: usize, elapsed: f64, rate: u32) -> u16 {
        let others = elapsed * f64::from(rate) * self.random.standard_exponential();
        let value = &mut self.counters[counter];
        *value = value.wrapping_add(1).wrapping_add(others as u64 as u16);
        *value
    }
}

/// Numbers the packets of both ends' hosts anew; a packet has its number at every place.
pub(super) fn renumber(captures: &mut Captures, run: &Run, kind: IdKind) {
    let mut numbers: BTreeMap<Key, u16> = BTreeMap::new();
    for side in [Side::Client, Side::Server] {
        let of_side = |record: &&Record| run.side_of(record) == Some(side);
        let sent = captures.of_host(side).records.iter().filter(of_side);
        let ip = match if side == Side::Client { run.ends.0 } else { run.ends.1 } {
            std::net::SocketAddr::V4(end) => *end.ip(),
            std::net::SocketAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
        };
        let mut host = Host::new(kind, run.seed, ip);
        for record in sent {
            let number = host.next(record.at);
            numbers.insert(record.key.clone(), number);
        }
    }
    captures.by_key(&numbers, |record, id| record.set_ip_id(*id));
}
