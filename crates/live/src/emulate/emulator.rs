//! The loop of an emulation: one [`Simulation`], and foreign hosts at its devices.
//!
//! Everything inside happens at its theoretical instant, in order of time, and is merely executed
//! late; only the handover to a foreign host is late in fact, and the lateness meter says by how
//! much. A packet of a foreign host enters at the instant at which it was read.

mod passing;

use super::bytes::Bytes;
use super::classify::FlowTable;
use super::device::Device;
use super::router::Cut;
use super::store::PacketStore;
use super::streams::KeptStreams;
use super::timeline::Timeline;
use super::watching::{CopyChange, TapObserver, Watching};
use super::{Directory, PacketObserver};
use crate::lateness::LatenessMeter;
use ackord_events::Sink;
use ackord_scenario::Scenario;
use ackord_sim::{BuildError, Simulation};
use ackord_sys::PollSet;
use ackord_units::Time;
use ackord_wire::{Endpoints, FlowId, NodeId};
use std::io;
use std::os::fd::BorrowedFd;

/// What happened to packets at the devices of an emulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmulationCounts {
    /// Came from foreign hosts and were put on the path.
    pub entered: u64,
    /// Bytes of these, IP headers included.
    pub entered_bytes: u64,
    /// Handed to foreign hosts.
    pub delivered: u64,
    /// Bytes of these, IP headers included.
    pub delivered_bytes: u64,
    /// Came, but are for nobody here.
    pub ignored: u64,
    /// Came, but are malformed or have a wrong checksum.
    pub malformed: u64,
    /// Foreign hosts' kernels did not take them.
    pub refused: u64,
    /// Came to their end of the path after a packet between the same two hosts that had entered it
    /// later: reordered, as RFC 4737 §4.1 has it.
    pub overtaken: u64,
    /// Were made anew from their headers, because our own endpoint or a middlebox made or changed
    /// them.
    pub made: u64,
    /// Arrived, but a middlebox had made them of data that is no longer kept (or never was): not
    /// handed over.
    pub without_bytes: u64,
    /// Came while more were under way than can be kept.
    pub too_many: u64,
    /// Were handed over with data that is not what their host has sent there; looked for where a router
    /// is a kernel.
    pub altered: u64,
    /// The same with data of which that is not known any more.
    pub unchecked: u64,
}

/// Foreign hosts, each with its device.
pub(crate) type Devices = Vec<(NodeId, Box<dyn Device>)>;

/// Everything an emulator is made of.
pub(crate) struct Parts<'a, T> {
    /// What is emulated. Its captures say where packets are [tapped](Emulator::tap).
    pub(crate) scenario: &'a Scenario,
    /// What its random streams derive from.
    pub(crate) seed: u64,
    /// The hosts that are foreign, and their devices. All others are ours.
    pub(crate) devices: Devices,
    /// Who is where.
    pub(crate) directory: Directory,
    /// Whose time it is.
    pub(crate) timeline: T,
}

/// An emulation at work.
pub(crate) struct Emulator<T, O = ()> {
    simulation: Simulation,
    devices: Vec<AttachedDevice>,
    /// By node: the device there.
    device_at: Vec<Option<usize>>,
    /// The device of the host that lives in the emulation's own time, if there is one.
    local: Option<usize>,
    /// Where packets leave the path on their way and come back; nothing where they do not.
    cut: Option<Cut>,
    directory: Directory,
    flows: FlowTable,
    bytes: Bytes,
    changes: Vec<(u64, CopyChange)>,
    taps: Option<TapObserver>,
    lateness: LatenessMeter,
    counts: EmulationCounts,
    observer: O,
    timeline: T,
    poll: PollSet,
    /// How many descriptors in the set are devices.
    watched_devices: usize,
    /// Some device may have more than was read.
    backlog: bool,
}

/// A device and where it is.
struct AttachedDevice {
    node: NodeId,
    device: Box<dyn Device>,
    /// By device: the latest packet from there that came out here.
    latest: Vec<u64>,
}

/// What is left of an emulator when the run is over.
pub(crate) struct Remains<O> {
    pub(crate) simulation: Simulation,
    pub(crate) lateness: LatenessMeter,
    pub(crate) counts: EmulationCounts,
    pub(crate) observer: O,
}

impl<T: Timeline> Emulator<T> {
    /// Builds the path and our hosts.
    ///
    /// # Errors
    /// If the scenario is too large to be built.
    pub(crate) fn new(parts: Parts<'_, T>) -> Result<Emulator<T>, BuildError> {
        Emulator::watched_by(parts, ())
    }
}

impl<T: Timeline, O: PacketObserver> Emulator<T, O> {
    /// The same, with somebody who looks at what passes at the devices.
    ///
    /// # Errors
    /// As [`Emulator::new`].
    pub(crate) fn watched_by(
        parts: Parts<'_, T>,
        observer: O,
    ) -> Result<Emulator<T, O>, BuildError> {
        let Parts { scenario, seed, devices, directory, timeline } = parts;
        let foreign: Vec<NodeId> = devices.iter().map(|(node, _)| *node).collect();
        let simulation = Simulation::with_foreign(scenario, seed, &foreign)?;
        let mut device_at = vec![None; scenario.nodes.len()];
        let mut poll = PollSet::default();
        for (index, (node, device)) in devices.iter().enumerate() {
            device_at[node.0 as usize] = Some(index);
            poll.add(device.descriptor());
        }
        let local = devices.iter().position(|(_, device)| device.is_local());
        let longest = devices.iter().map(|(_, device)| device.longest()).max().unwrap_or(0);
        let count = devices.len();
        let boxes = scenario.proxies.iter().any(|proxy| proxy.choice.is_some());
        let store = PacketStore::new(longest);
        let is_foreign = device_at.iter().map(Option::is_some).collect();
        let place = |(node, device)| AttachedDevice { node, device, latest: vec![0; count] };
        Ok(Emulator {
            simulation,
            devices: devices.into_iter().map(place).collect(),
            device_at,
            local,
            cut: None,
            directory,
            flows: FlowTable::new(scenario),
            bytes: Bytes::new(store, boxes.then(KeptStreams::default), is_foreign),
            changes: Vec::new(),
            taps: None,
            lateness: LatenessMeter::new(),
            counts: EmulationCounts::default(),
            observer,
            timeline,
            watched_devices: count,
            poll,
            backlog: false,
        })
    }

    /// Tells `observer` of every packet that passes where the scenario captures, with its bytes.
    pub(crate) fn tap(&mut self, observer: TapObserver) {
        self.taps = Some(observer);
    }

    /// Lets packets leave by the device of a router on their way, and go on when they come back.
    pub(crate) fn cut_at(&mut self, cut: Cut) {
        self.cut = Some(cut);
        self.bytes.keep_streams();
    }

    /// Takes no flow for one of the scenario's: they are numbered as they come.
    pub(crate) fn forget_flows(&mut self) {
        self.flows = FlowTable::default();
    }

    /// The flow of a connection that the host at these `endpoints` is about to open.
    pub(crate) fn flow_of(&mut self, endpoints: Endpoints) -> FlowId {
        self.flows.of_connection(endpoints)
    }

    /// Whether packets only pass through this node's device.
    #[inline]
    fn is_router(&self, node: NodeId) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.router == node)
    }

    /// Watches another descriptor, so that a turn ends when it becomes readable; its number for
    /// [`Emulator::is_ready`]. It has to stay open as long as the emulator is used.
    pub(crate) fn watch(&mut self, descriptor: BorrowedFd<'_>) -> usize {
        self.poll.add(descriptor)
    }

    /// Whether this descriptor was readable in the last turn.
    pub(crate) fn is_ready(&self, number: usize) -> bool {
        self.poll.is_ready(number)
    }

    /// The present of the clock.
    pub(crate) fn now(&mut self) -> Time {
        self.timeline.now()
    }

    /// The path and our hosts.
    pub(crate) fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The same, to be told what it cannot know, such as that a flow is over.
    pub(crate) fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Who looks.
    pub(crate) fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// How late packets were so far.
    pub(crate) fn lateness(&self) -> &LatenessMeter {
        &self.lateness
    }

    /// Whether nothing more can happen: the scenario's duration has passed, or all its flows are
    /// over.
    pub(crate) fn is_over(&self) -> bool {
        self.simulation.is_over()
    }

    /// Waits for a packet, for something that is due, for `until` or for a
    /// [watched](Emulator::watch) descriptor, whichever is first; then does everything that is due,
    /// each thing at its own instant, and lets in what has come.
    ///
    /// # Errors
    /// If the wait fails or a device is gone.
    pub(crate) fn turn<S: Sink>(&mut self, until: Time, sink: &mut S) -> io::Result<()> {
        let next = if self.backlog { Time::ZERO } else { self.next_due().min(until) };
        self.timeline.wait(next, &mut self.poll)?;
        self.backlog = false;
        let now = self.timeline.now();
        self.catch_up(now, sink);
        for device in 0..self.watched_devices {
            let due = || self.devices[device].device.deadline().is_some_and(|at| at <= now);
            if Some(device) != self.local && (self.poll.is_ready(device) || due()) {
                self.read_device(device, sink)?;
            }
        }
        Ok(())
    }

    /// Ends the run where the last turn left it: what was not handed over by then never is.
    pub(crate) fn finish(self) -> Remains<O> {
        let Emulator { simulation, lateness, counts, observer, .. } = self;
        Remains { simulation, lateness, counts, observer }
    }

    fn next_due(&self) -> Time {
        let inside = self.simulation.deadline().unwrap_or(Time::NEVER);
        let devices = self.devices.iter().filter_map(|place| place.device.deadline());
        devices.fold(inside, Time::min)
    }

    /// Does everything inside that is due by `now`, and hands over what has arrived. A local host has
    /// its turn at every instant at which something happens, after the path.
    #[inline]
    fn catch_up<S: Sink>(&mut self, now: Time, sink: &mut S) {
        while let Some(local) = self.local {
            let host_due = self.devices[local].device.deadline().unwrap_or(Time::NEVER);
            let due = host_due.min(self.simulation.deadline().unwrap_or(Time::NEVER));
            if due > now {
                break;
            }
            let due = due.max(self.simulation.now());
            self.run_inside(due, sink);
            self.read_local(local, due, sink);
        }
        self.run_inside(now, sink);
    }

    /// Lets in what a local host sends at this instant.
    fn read_local<S: Sink>(&mut self, local: usize, at: Time, sink: &mut S) {
        loop {
            let mut buffer = self.bytes.store.buffer();
            match self.devices[local].device.read_packet(at, &mut buffer) {
                Ok(Some(len)) => self.let_in(local, at, (buffer, len), sink),
                Ok(None) | Err(_) => return self.bytes.store.recycle(buffer),
            }
        }
    }

    #[inline]
    fn run_inside<S: Sink>(&mut self, now: Time, sink: &mut S) {
        let mut watching =
            Watching::new(sink, &mut self.changes, (&mut self.taps, &mut self.bytes, &self.flows));
        self.simulation.run_until(now, &mut watching);
        self.hand_over(sink);
    }

    /// Lets the path tell of everything up to the present, see [`Simulation::settle`].
    pub(crate) fn settle<S: Sink>(&mut self, sink: &mut S) {
        let mut watching =
            Watching::new(sink, &mut self.changes, (&mut self.taps, &mut self.bytes, &self.flows));
        self.simulation.settle(&mut watching);
        self.bury();
    }

    /// Hands over what has arrived, in order of time.
    fn hand_over<S: Sink>(&mut self, sink: &mut S) {
        // A packet doubled on its way has to be known as such before its first copy is gone.
        self.bury();
        while let Some(delivery) = self.simulation.poll_foreign() {
            self.deliver(&delivery, sink);
        }
    }

    /// Forgets the bytes of packets that have died, and keeps those of packets that there are more
    /// of than before.
    #[inline]
    fn bury(&mut self) {
        for (tag, change) in self.changes.drain(..) {
            match change {
                CopyChange::Gone => self.bytes.store.release(tag),
                CopyChange::Again => self.bytes.store.retain(tag),
            }
        }
    }
}
