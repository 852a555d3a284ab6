//! The loop: the same path graph and the same endpoints as in the simulator, in real time.
//!
//! Everything on our side (path elements, our endpoints and their timers) happens at its
//! theoretical instant, in order of time, and is merely executed late: only the hand-over to the
//! kernel is late in fact, and [`crate::Lateness`] says by how much. A packet of the kernel enters
//! at the real instant at which it was read.
//!
//! At equal instants the path comes before our host's timers, as in the simulator.
//! Not modelled: the time a packet spends between the kernel's stack and the read from the device.

use crate::capture::{Capture, SeenAt};
use crate::clock::Clock;
use crate::host::{Arrival, Host, Service, Uplink};
use crate::lateness::LatenessMeter;
use crate::packets::Stored;
use crate::session::Addresses;
use crate::sys::{Ready, Sources, StopHandle, wait_until};
use crate::watch::{EventCounts, Observer, Turn, Watch};
use ackord_path::{Delivery, Graph};
use ackord_units::Time;
use ackord_wire::{
    DecodeError, Ecn, Endpoints, FlowId, NodeId, Packet, Side, decode, decode_ip, set_ecn,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// What happened to packets at the TUN device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Read from the kernel and put on the path.
    pub from_kernel: u64,
    /// Handed to the kernel at the end of the path.
    pub to_kernel: u64,
    /// Read, but not for our host.
    pub ignored: u64,
    /// Read, but malformed or with a wrong checksum.
    pub malformed: u64,
    /// The kernel did not take them.
    pub refused: u64,
    /// Came to their end of the path after a packet that had entered it later: reordered, as
    /// RFC 4737 §4.1 has it.
    pub overtaken: u64,
}

/// The two ends of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) ours: NodeId,
    pub(crate) kernel: NodeId,
}

/// Everything a driver is made of.
pub(crate) struct Parts {
    pub(crate) graph: Graph,
    pub(crate) ends: Ends,
    pub(crate) addresses: Addresses,
    pub(crate) host: Host,
    pub(crate) tun: File,
    pub(crate) clock: Clock,
    pub(crate) capture: Option<Capture>,
    pub(crate) observer: Option<Observer>,
}

/// The real-time driver.
pub(crate) struct Driver {
    graph: Graph,
    ends: Ends,
    addresses: Addresses,
    pub(crate) host: Host,
    uplink: Uplink,
    tun: File,
    clock: Clock,
    capture: Option<Capture>,
    lateness: LatenessMeter,
    counts: DeviceCounts,
    watch: Watch,
    overtaken: Overtaken,
    /// The latest instant worked on; never goes back.
    at: Time,
    buffer: Vec<u8>,
}

/// What is left of a driver when the run is over.
pub(crate) struct Remains {
    pub(crate) graph: Graph,
    pub(crate) host: Host,
    pub(crate) lateness: LatenessMeter,
    pub(crate) counts: DeviceCounts,
    pub(crate) events: EventCounts,
    pub(crate) capture: Option<Capture>,
    pub(crate) ended_at: Time,
}

/// Packets read from the device before the path and the timers get their turn again.
const READS_IN_A_ROW: usize = 64;
/// Longer than any packet of the device.
const BUFFER: usize = 65_536;

impl Driver {
    pub(crate) fn new(parts: Parts) -> Driver {
        Driver {
            graph: parts.graph,
            uplink: Uplink::new(parts.ends.ours, parts.ends.kernel),
            ends: parts.ends,
            addresses: parts.addresses,
            host: parts.host,
            tun: parts.tun,
            clock: parts.clock,
            capture: parts.capture,
            lateness: LatenessMeter::new(),
            counts: DeviceCounts::default(),
            watch: Watch::new(parts.observer),
            overtaken: Overtaken::default(),
            at: Time::ZERO,
            buffer: vec![0; BUFFER],
        }
    }

    /// When the run began, since 1970.
    pub(crate) fn began_at(&self) -> Time {
        self.clock.wall(Time::ZERO)
    }

    /// Since the start of the run.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Opens a connection of our host.
    pub(crate) fn connect(
        &mut self,
        endpoints: Endpoints,
        service: Box<dyn Service>,
    ) -> io::Result<()> {
        self.catch_up();
        self.at = self.at.max(self.now());
        let towards = (&mut self.uplink, &mut self.watch);
        self.host.connect(self.at, endpoints, service, towards)?;
        self.send_queued();
        Ok(())
    }

    /// Waits for the next packet, the next deadline or `until`, whichever is first, then does
    /// everything that is due.
    pub(crate) fn turn(
        &mut self,
        until: Time,
        namespace: BorrowedFd<'_>,
        stop: &StopHandle,
    ) -> io::Result<Ready> {
        let next = self.next_due().unwrap_or(until).min(until);
        let timeout = next.saturating_since(self.now());
        let sources = Sources { tun: self.tun.as_fd(), namespace, stop };
        let ready = wait_until(sources, timeout)?;
        self.catch_up();
        if ready.tun {
            self.read_device()?;
        }
        Ok(ready)
    }

    /// Ends the run.
    pub(crate) fn finish(mut self) -> Remains {
        // A run may have been idle for long before it ended.
        let ended_at = self.at.max(self.now());
        self.catch_up();
        Remains {
            graph: self.graph,
            host: self.host,
            lateness: self.lateness,
            counts: self.counts,
            events: self.watch.counts,
            capture: self.capture,
            ended_at,
        }
    }

    fn next_due(&self) -> Option<Time> {
        match (self.graph.deadline(), self.host.deadline()) {
            (Some(path), Some(host)) => Some(path.min(host)),
            (path, host) => path.or(host),
        }
    }

    /// Does everything that is due by now, each thing at its own instant, in order.
    fn catch_up(&mut self) {
        while let Some(due) = self.next_due().filter(|due| *due <= self.now()) {
            self.at = self.at.max(due);
            if self.graph.deadline().is_some_and(|path| path <= due) {
                while let Some(delivery) = self.graph.poll_delivery(self.at, &mut self.watch) {
                    self.deliver(&delivery);
                }
                self.bury();
            } else {
                self.host.handle_deadline(self.at, &mut self.uplink, &mut self.watch);
                self.send_queued();
            }
        }
    }

    fn deliver(&mut self, delivery: &Delivery) {
        // A packet doubled on its way has to be known as such before its first copy is taken.
        self.bury();
        let Some(stored) = self.uplink.store.take(delivery.packet.tag) else { return };
        self.lateness.record(delivery.at, self.clock.now());
        self.counts.overtaken += self.overtaken.at_end(delivery.packet.from, stored.entered);
        let bytes = if delivery.node == self.ends.kernel {
            self.hand_to_kernel(delivery, stored)
        } else {
            self.hand_to_host(delivery, stored)
        };
        self.uplink.store.recycle(bytes);
    }

    fn hand_to_kernel(&mut self, delivery: &Delivery, mut stored: Stored) -> Vec<u8> {
        mark(&mut stored, delivery.packet.ecn);
        match self.tun.write(&stored.bytes) {
            Ok(_) => self.counts.to_kernel += 1,
            Err(_) => self.counts.refused += 1,
        }
        self.see(SeenAt::Kernel, self.clock.now(), &stored.bytes);
        stored.bytes
    }

    fn hand_to_host(&mut self, delivery: &Delivery, mut stored: Stored) -> Vec<u8> {
        mark(&mut stored, delivery.packet.ecn);
        self.see(SeenAt::Ours, delivery.at, &stored.bytes);
        match (&delivery.packet.tcp, stored.endpoints) {
            (Some(segment), Some(endpoints)) => {
                let payload = &stored.bytes[stored.payload.clone()];
                let ecn = delivery.packet.ecn;
                let arrival = Arrival { endpoints, segment, ecn, payload };
                let (uplink, sink) = (&mut self.uplink, &mut self.watch);
                self.host.handle_segment(self.at, arrival, uplink, sink);
            }
            _ => self.host.handle_other(&stored.bytes, &delivery.packet, &mut self.uplink),
        }
        self.send_queued();
        stored.bytes
    }

    /// Puts what our host has queued on the path.
    fn send_queued(&mut self) {
        while let Some(packet) = self.uplink.pop() {
            if let (Some(capture), Some(bytes)) =
                (&mut self.capture, self.uplink.store.bytes(packet.tag))
            {
                capture.record(SeenAt::Ours, self.at, bytes);
            }
            self.graph.handle_packet(self.at, packet, &mut self.watch);
        }
        self.bury();
    }

    /// Forgets the bytes of packets that have died, and keeps those of packets doubled.
    fn bury(&mut self) {
        for (tag, turn) in self.watch.turns.drain(..) {
            match turn {
                Turn::Died => self.uplink.store.forget(tag),
                Turn::Doubled => self.uplink.store.double(tag),
            }
        }
    }

    fn read_device(&mut self) -> io::Result<()> {
        for _ in 0..READS_IN_A_ROW {
            let len = match self.tun.read(&mut self.buffer) {
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // What was due before this packet came happens before it enters.
            let arrived_at = self.now();
            self.catch_up();
            self.at = self.at.max(arrived_at);
            self.accept(len);
        }
        Ok(())
    }

    /// Takes a packet of the kernel into the path.
    fn accept(&mut self, len: usize) {
        let mut bytes = self.uplink.store.buffer();
        bytes.extend_from_slice(&self.buffer[..len]);
        let Some((packet, stored)) = self.examine(bytes) else { return };
        self.counts.from_kernel += 1;
        self.see(SeenAt::Kernel, self.at, &stored.bytes);
        let tag = self.uplink.store.insert(stored);
        self.graph.handle_packet(self.at, Packet { tag, ..packet }, &mut self.watch);
        self.bury();
    }

    /// A packet of the kernel as the path wants it; nothing if it is not one for our host.
    fn examine(&mut self, bytes: Vec<u8>) -> Option<(Packet, Stored)> {
        let tcp = match decode(&bytes) {
            Ok(decoded) => Some(decoded),
            Err(DecodeError::NotTcp { .. }) => None,
            Err(DecodeError::Fragment) => return self.turn_away(bytes, Fault::NotForUs),
            Err(_) => return self.turn_away(bytes, Fault::Malformed),
        };
        let ip = match &tcp {
            Some(decoded) => decoded.ip.clone(),
            None => match decode_ip(&bytes) {
                Ok(ip) => ip,
                Err(_) => return self.turn_away(bytes, Fault::Malformed),
            },
        };
        if !self.addresses.has(ip.dst) {
            return self.turn_away(bytes, Fault::NotForUs);
        }
        let endpoints = tcp.as_ref().map(|decoded| decoded.endpoints);
        let packet = Packet {
            flow: endpoints.map_or(FlowId(0), |endpoints| self.host.flow_of(endpoints)),
            from: self.host.side().other(),
            src: self.ends.kernel,
            dst: self.ends.ours,
            ip: ip.version,
            ecn: ip.ecn,
            ip_len: ip.ip_len,
            tag: 0,
            tcp: tcp.as_ref().map(|decoded| decoded.segment),
        };
        let payload = tcp.map_or(0..0, |decoded| decoded.payload);
        Some((packet, Stored { bytes, ecn: ip.ecn, endpoints, payload, entered: 0 }))
    }

    fn turn_away<T>(&mut self, bytes: Vec<u8>, fault: Fault) -> Option<T> {
        match fault {
            Fault::NotForUs => self.counts.ignored += 1,
            Fault::Malformed => self.counts.malformed += 1,
        }
        self.uplink.store.recycle(bytes);
        None
    }

    fn see(&mut self, seen: SeenAt, at: Time, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.record(seen, at, bytes);
        }
    }
}

/// Why a packet of the kernel does not enter the path.
#[derive(Clone, Copy)]
enum Fault {
    NotForUs,
    Malformed,
}

/// Puts the ECN field as the path left it into the packet's bytes.
fn mark(stored: &mut Stored, ecn: Ecn) {
    if stored.ecn != ecn {
        set_ecn(&mut stored.bytes, ecn);
    }
}

/// Counts packets that were overtaken, each direction by itself.
#[derive(Debug, Default)]
struct Overtaken {
    latest: [u64; 2],
}

impl Overtaken {
    /// A packet that was the `entered`th to enter has come to its end: 1 if a later one came before.
    fn at_end(&mut self, from: Side, entered: u64) -> u64 {
        let latest = &mut self.latest[usize::from(from == Side::Server)];
        let overtaken = entered < *latest;
        *latest = entered.max(*latest);
        u64::from(overtaken)
    }
}
