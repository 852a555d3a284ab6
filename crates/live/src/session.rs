//! What `serve`, `fetch` and `interop` have in common: an emulation between our host and a namespace.

use crate::addresses::{Addresses, KERNEL, OURS};
use crate::capture::{CaptureFile, CapturedDevice};
use crate::clock::Clock;
use crate::emulate::{
    Device, Devices, Directory, Emulator, LONGEST_RUN, Parts, RealTime, Remains, TunDevice,
};
use crate::error::LiveError;
use crate::host::{ConnectionReport, Host, HostDevice, HostEnd, Listener, Recipe, Service};
use crate::options::{
    CommandOutcome, DeviceCounts, KernelCongestion, LiveOptions, LiveReport, Notice,
};
use crate::watch::Watch;
use ackord_scenario::Start;
use ackord_sys::{
    CommandInside, Inside, Namespace, RouteSettings, TerminalUse, Urgency, sharpen_timers,
};
use ackord_units::{Knobs, Time};
use ackord_wire::{Endpoints, NodeId, Side};
use std::cell::{Ref, RefCell};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::path::Path;
use std::rc::Rc;

/// Bytes of IP packet that fit through the device.
const MTU: u16 = 1500;
/// What the kernel reaches over the device.
const NETWORK_V4: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::new(10, 77, 0, 0)), 24);
const NETWORK_V6: (IpAddr, u8) = (IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 0)), 64);

/// An emulation between our host and a namespace.
pub(crate) struct Session {
    namespace: Namespace,
    emulator: Emulator<RealTime>,
    end: Rc<RefCell<HostEnd>>,
    watch: Watch,
    captures: Vec<SharedFile>,
    /// Numbers of what the emulator waits for beside its devices.
    namespace_number: usize,
    stop_number: usize,
    options: LiveOptions,
    command: Vec<String>,
    outcome: Option<CommandOutcome>,
    connections: Vec<ConnectionReport>,
    urgency: Urgency,
    kernel_congestion: KernelCongestion,
}

/// A capture that a device fills.
type SharedFile = Rc<RefCell<CaptureFile>>;

/// The two ends of the path.
#[derive(Clone, Copy)]
struct PathEnds {
    ours: NodeId,
    kernel: NodeId,
}

impl Session {
    /// Makes the namespace and puts our host, as `side` of the scenario's first flow, behind the
    /// path. The command does not run yet.
    pub(crate) fn open(
        mut options: LiveOptions,
        side: Side,
        listener: Option<Listener>,
        command: Vec<String>,
    ) -> Result<Session, LiveError> {
        let flow = options.flow()?;
        let ends = match side {
            Side::Client => PathEnds { ours: flow.client, kernel: flow.server },
            Side::Server => PathEnds { ours: flow.server, kernel: flow.client },
        };
        let host = Host::new(Recipe::new(flow.tcp(side), side, MTU), listener);
        let congestion = flow.tcp(side.other()).congestion.mechanism().name.to_owned();
        let clock = Clock::start();
        let watch = Watch::new(options.observe.take());
        let end = Rc::new(RefCell::new(HostEnd::new(host, watch.clone())));
        let ours = HostDevice::new(Rc::clone(&end), MTU)?;
        let mut namespace = Namespace::create(&inside(&congestion, &command))?;
        let theirs = TunDevice::new(namespace.take_tun(), MTU);
        let kernel_congestion = congestion_in(&namespace, congestion);
        sharpen_timers();
        let urgency = Urgency::of(true);
        let devices: Devices = vec![(ends.kernel, Box::new(theirs)), (ends.ours, Box::new(ours))];
        let (devices, captures) = match &options.capture {
            Some(folder) => capture(devices, folder, clock)?,
            None => (devices, Vec::new()),
        };
        let timeline = RealTime::new(clock, urgency.is_granted());
        let mut emulator = emulator(&options, ends, devices, timeline)?;
        let enter = namespace.enter_command();
        let began_at = clock.wall(Time::ZERO);
        (options.notify)(&Notice::Ready { addresses: OURS, enter, began_at });
        Ok(Session {
            namespace_number: emulator.watch(namespace.as_fd()),
            stop_number: emulator.watch(options.stop.as_fd()),
            namespace,
            emulator,
            end,
            watch,
            captures,
            options,
            command,
            outcome: None,
            connections: Vec::new(),
            urgency,
            kernel_congestion,
        })
    }

    /// Lets the command start, if there is one.
    pub(crate) fn start_command(&mut self) -> Result<(), LiveError> {
        if !self.command.is_empty() {
            self.namespace.start_command(0)?;
            self.outcome = Some(CommandOutcome::StillRunning);
        }
        Ok(())
    }

    /// Whether a command was started and is still running.
    pub(crate) fn command_runs(&self) -> bool {
        self.outcome == Some(CommandOutcome::StillRunning)
    }

    /// Whether there is a command at all.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// Since the start of the run.
    pub(crate) fn now(&mut self) -> Time {
        self.emulator.now()
    }

    /// Our host.
    pub(crate) fn host(&self) -> Ref<'_, Host> {
        Ref::map(self.end.borrow(), |end| &end.host)
    }

    /// Opens a connection of our host.
    pub(crate) fn connect(
        &mut self,
        endpoints: Endpoints,
        service: Box<dyn Service>,
    ) -> Result<(), LiveError> {
        let (now, flow) = (self.emulator.now(), self.emulator.flow_of(endpoints));
        Ok(self.end.borrow_mut().connect(now, (flow, endpoints), service)?)
    }

    /// Waits for the next packet, the next deadline or `until`, whichever is first, and does
    /// everything that is due; says whether somebody wants the run to end.
    pub(crate) fn turn(&mut self, until: Time) -> Result<bool, LiveError> {
        self.emulator.turn(until, &mut self.watch)?;
        if self.emulator.is_ready(self.namespace_number) {
            self.hear_namespace()?;
        }
        let closed = self.end.borrow_mut().host.take_closed();
        for report in closed {
            let notice = Notice::ConnectionClosed(report);
            (self.options.notify)(&notice);
            let Notice::ConnectionClosed(report) = notice else { continue };
            self.connections.push(report);
        }
        Ok(self.emulator.is_ready(self.stop_number))
    }

    fn hear_namespace(&mut self) -> Result<(), LiveError> {
        if let Some((_, end)) = self.namespace.command_end() {
            self.outcome = Some(CommandOutcome::of(end, &self.command)?);
        }
        if self.namespace.is_gone() && !self.has_command() {
            return Err(LiveError::NamespaceGone { whose: "the namespace".to_owned() });
        }
        Ok(())
    }

    /// A table of the kernel's network counters, see [`Namespace::table`].
    pub(crate) fn table(&self, name: &str) -> Option<String> {
        self.namespace.table(name)
    }

    /// The connections closed so far.
    pub(crate) fn connections(&self) -> &[ConnectionReport] {
        &self.connections
    }

    /// Ends the run and everything in the namespace.
    pub(crate) fn finish(mut self) -> Result<LiveReport, LiveError> {
        let took = self.emulator.now().saturating_since(Time::ZERO);
        let Remains { simulation, lateness, counts, .. } = self.emulator.finish();
        drop(self.namespace);
        let mut end = self.end.borrow_mut();
        let mut connections = self.connections;
        connections.extend(end.host.take_closed());
        connections.extend(end.host.open_connections());
        for file in self.captures.into_iter().filter_map(Rc::into_inner) {
            file.into_inner().finish()?;
        }
        Ok(LiveReport {
            took,
            lateness: lateness.report(self.options.lateness_budget),
            realtime_priority: self.urgency.is_granted(),
            kernel_congestion: self.kernel_congestion,
            connections,
            device: DeviceCounts {
                from_kernel: counts.entered - end.sent,
                to_kernel: counts.delivered - end.received,
                ignored: counts.ignored,
                malformed: counts.malformed,
                refused: counts.refused,
                overtaken: counts.overtaken,
            },
            events: self.watch.counts(),
            drops: simulation.graph().conservation().dropped,
            command: self.outcome,
        })
    }
}

/// What is in the namespace.
fn inside(congestion: &str, command: &[String]) -> Inside {
    let mut inside = Inside::new(vec![(KERNEL.v4.into(), 32), (KERNEL.v6.into(), 128)]);
    // By the route, since the sysctl of a namespace takes few congestion controls.
    let congestion = Some(congestion.to_owned());
    inside.route = Some(RouteSettings { congestion, ..Default::default() });
    inside.reach = vec![NETWORK_V4, NETWORK_V6];
    inside.mtu = MTU;
    if !command.is_empty() {
        let mut command = CommandInside::new(command.to_vec());
        // Ctrl-C ends the command first; the path is up until then.
        command.terminal = TerminalUse::Foreground;
        inside.commands = vec![command];
    }
    inside
}

/// What became of the congestion control asked for.
fn congestion_in(namespace: &Namespace, asked: String) -> KernelCongestion {
    let is_refused = namespace.refused().iter().any(|(what, _)| *what == route_to(NETWORK_V4));
    let used = if is_refused { inherited_congestion() } else { asked.clone() };
    KernelCongestion { asked, used }
}

/// Captures what passes at both devices, the kernel's and ours.
fn capture(
    devices: Devices,
    folder: &Path,
    clock: Clock,
) -> Result<(Devices, Vec<SharedFile>), LiveError> {
    let places = [
        ("kernel", "the emulated path's end at the kernel"),
        ("ours", "the emulated path's end at our TCP"),
    ];
    let captured = devices.into_iter().zip(places).map(|((node, device), place)| {
        let file = Rc::new(RefCell::new(CaptureFile::create(folder, place, clock)?));
        let captured = CapturedDevice { device, file: Rc::clone(&file) };
        Ok(((node, Box::new(captured) as Box<dyn Device>), file))
    });
    captured.collect()
}

/// The emulation of the path; its flows do not run, since others open its connections.
fn emulator(
    options: &LiveOptions,
    ends: PathEnds,
    devices: Devices,
    timeline: RealTime,
) -> Result<Emulator<RealTime>, LiveError> {
    let mut scenario = options.scenario.clone();
    scenario.duration = LONGEST_RUN;
    for flow in &mut scenario.flows {
        flow.start = Start::At(LONGEST_RUN + LONGEST_RUN);
    }
    let at =
        |addresses: Addresses, node| [(addresses.v4.into(), node), (addresses.v6.into(), node)];
    let hosts = at(OURS, ends.ours).into_iter().chain(at(KERNEL, ends.kernel)).collect();
    let directory = Directory { hosts, ..Directory::default() };
    let parts = Parts { scenario: &scenario, seed: options.seed, devices, directory, timeline };
    let mut emulator = Emulator::new(parts)?;
    emulator.forget_flows();
    Ok(emulator)
}

/// What a route is called when it is refused.
fn route_to((network, prefix_len): (IpAddr, u8)) -> String {
    format!("route {network}/{prefix_len}")
}

/// What a new namespace starts with: the default of the one it was made from.
fn inherited_congestion() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")
        .map_or_else(|_| "its default".to_owned(), |name| name.trim().to_owned())
}
