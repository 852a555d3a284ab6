//! What serving and fetching have in common: options, the namespace around a driver, the report.

use crate::capture::Capture;
use crate::clock::Clock;
use crate::driver::{DeviceCounts, Driver, Ends, Parts, Remains};
use crate::error::LiveError;
use crate::host::{ConnectionReport, Host, Listener, Recipe};
use crate::lateness::Lateness;
use crate::sys::{
    CommandEnd, CommandInside, Inside, Namespace, Ready, RouteSettings, Scheduling, StopHandle,
    TerminalUse, Urgency, sharpen_timers,
};
use crate::watch::{EventCounts, Observer};
use ackord_path::DropCounts;
use ackord_scenario::{Flow, Scenario, Transport};
use ackord_sim::build_topology;
use ackord_units::{Span, Time};
use ackord_wire::{IpVersion, Side};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// The stock kernel's addresses inside the namespace.
pub const KERNEL: Addresses = Addresses::of_host(1);
/// Our host's addresses, at the other end of the emulated path.
pub const OURS: Addresses = Addresses::of_host(2);
/// Octets of IP packet that fit through the device.
const MTU: u16 = 1500;
/// What the kernel reaches over the device.
const NETWORK_V4: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::new(10, 77, 0, 0)), 24);
const NETWORK_V6: (IpAddr, u8) = (IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 0)), 64);

/// Where one of the two hosts is found: it has an address of each family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, a unique local one (RFC 4193).
    pub v6: Ipv6Addr,
}

impl Addresses {
    const fn of_host(number: u8) -> Addresses {
        let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16);
        Addresses { v4: Ipv4Addr::new(10, 77, 0, number), v6 }
    }

    /// The address of this family.
    pub fn of(self, family: IpVersion) -> IpAddr {
        match family {
            IpVersion::V4 => IpAddr::V4(self.v4),
            IpVersion::V6 => IpAddr::V6(self.v6),
        }
    }

    /// Whether this is one of them.
    pub fn has(self, address: IpAddr) -> bool {
        address == IpAddr::V4(self.v4) || address == IpAddr::V6(self.v6)
    }
}

/// What every live run needs to know.
pub struct LiveOptions {
    /// The path: its first flow says where the two ends are and what our endpoint is made of.
    /// What its flows carry, and when, does not count.
    pub scenario: Scenario,
    /// What the path's random streams derive from.
    pub seed: u64,
    /// The folder for captures of both ends of the path, `ours.pcapng` and `kernel.pcapng`; it is
    /// made if it is missing.
    pub capture: Option<PathBuf>,
    /// How late 99 % of the packets may be for the run to be trusted.
    pub lateness_budget: Span,
    /// Ends the run from elsewhere.
    pub stop: StopHandle,
    /// Told what happens while the run goes on.
    pub notify: Box<dyn FnMut(&Notice)>,
    /// Told every event of our endpoints and of the path.
    pub observe: Option<Observer>,
}

/// Something a user may want to read while a run goes on.
#[derive(Clone, Debug)]
pub enum Notice {
    /// The namespace is there and our host answers.
    Ready {
        /// Our host's addresses.
        addresses: Addresses,
        /// The command line that enters the namespace.
        enter: String,
        /// When the run began, since 1970 by the system's clock: captures count from there.
        began_at: Time,
    },
    /// A connection was closed.
    ConnectionClosed(ConnectionReport),
}

/// How the command inside ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// With this exit code.
    Exited(i32),
    /// Killed by the signal of this name.
    Killed(&'static str),
    /// It was still running when the run ended, and was killed then.
    StillRunning,
}

/// Which congestion control the stock kernel's end uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelCongestion {
    /// The one that the scenario names for its end.
    AsAsked(String),
    /// Its own default, since it does not let a namespace choose the one named.
    Default {
        /// What the scenario names.
        asked: String,
        /// What the kernel uses instead.
        uses: String,
    },
}

/// What happened in a live run.
#[derive(Clone, Debug)]
pub struct LiveReport {
    /// How long the run took.
    pub took: Span,
    /// How late the driver was; look at [`Lateness::trust`] before believing any delay.
    pub lateness: Lateness,
    /// How the driver was scheduled, which explains much of its lateness.
    pub scheduling: Scheduling,
    /// How the kernel's end controls congestion.
    pub kernel_congestion: KernelCongestion,
    /// Every connection of our host, in order of their ends, those still open last.
    pub connections: Vec<ConnectionReport>,
    /// What happened at the device.
    pub device: DeviceCounts,
    /// What happened at our endpoints.
    pub events: EventCounts,
    /// Packets that died on the path, by reason.
    pub drops: DropCounts,
    /// The command inside, if there was one.
    pub command: Option<CommandOutcome>,
}

/// A driver with its namespace.
pub(crate) struct Session {
    namespace: Namespace,
    pub(crate) driver: Driver,
    options: LiveOptions,
    command: Vec<String>,
    outcome: Option<CommandOutcome>,
    connections: Vec<ConnectionReport>,
    urgency: Urgency,
    kernel_congestion: KernelCongestion,
}

impl LiveOptions {
    /// A run over the path of `scenario`, with its seed and without a capture.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new(scenario: Scenario) -> std::io::Result<LiveOptions> {
        Ok(LiveOptions {
            seed: scenario.seed,
            scenario,
            capture: None,
            lateness_budget: Span::from_millis(1),
            stop: StopHandle::new()?,
            notify: Box::new(|_| {}),
            observe: None,
        })
    }

    fn flow(&self) -> Result<&Flow, LiveError> {
        let datagrams = |flow: &&Flow| flow.transport() == Transport::Udp;
        if let Some(flow) = self.scenario.flows.iter().find(datagrams) {
            let (flow, traffic) = (flow.name.clone(), flow.traffic.mechanism.name);
            return Err(LiveError::Datagrams { flow, traffic });
        }
        if let Some(proxy) = self.scenario.proxies.iter().find(|proxy| proxy.choice.is_some()) {
            return Err(LiveError::MiddleBox { proxy: proxy.name.clone() });
        }
        self.scenario.flows.first().ok_or(LiveError::NoFlow)
    }
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
            Side::Client => Ends { ours: flow.client, kernel: flow.server },
            Side::Server => Ends { ours: flow.server, kernel: flow.client },
        };
        let recipe = Recipe::new(flow.tcp(side), side, MTU);
        let graph = build_topology(&options.scenario, options.seed)?.graph;
        let host = Host::new(recipe, listener);
        let clock = Clock::start();
        let capture = options.capture.as_ref().map(|folder| Capture::create(folder, clock));
        let capture = capture.transpose().map_err(unwritable)?;
        let congestion = flow.tcp(side.other()).congestion.mechanism.name.to_owned();
        let mut inside = Inside::new(vec![(KERNEL.v4.into(), 32), (KERNEL.v6.into(), 128)]);
        // By the route, since the sysctl of a namespace takes few congestion controls.
        let route = RouteSettings { congestion: Some(congestion.clone()), ..Default::default() };
        inside.route = Some(route);
        inside.reach = vec![NETWORK_V4, NETWORK_V6];
        inside.mtu = MTU;
        if !command.is_empty() {
            let mut command = CommandInside::new(command.clone());
            // Ctrl-C ends the command first; the path is up until then.
            command.terminal = TerminalUse::Foreground;
            inside.commands = vec![command];
        }
        let mut namespace = Namespace::create(&inside)?;
        let tun = namespace.take_tun();
        let refused = namespace.refused().iter().any(|(what, _)| *what == route_to(NETWORK_V4));
        let kernel_congestion = if refused {
            KernelCongestion::Default { asked: congestion, uses: inherited_congestion() }
        } else {
            KernelCongestion::AsAsked(congestion)
        };
        sharpen_timers();
        let observer = options.observe.take();
        let parts = Parts { graph, ends, addresses: OURS, host, tun, clock, capture, observer };
        let driver = Driver::new(parts);
        let mut session = Session {
            namespace,
            driver,
            options,
            command,
            outcome: None,
            connections: Vec::new(),
            urgency: Urgency::ask(),
            kernel_congestion,
        };
        session.notify_ready();
        Ok(session)
    }

    fn notify_ready(&mut self) {
        let enter = self.namespace.enter_command();
        let began_at = self.driver.began_at();
        (self.options.notify)(&Notice::Ready { addresses: OURS, enter, began_at });
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

    /// One turn of the driver; says whether somebody wants the run to end.
    pub(crate) fn turn(&mut self, until: Time) -> Result<Ready, LiveError> {
        let namespace = self.namespace.as_fd();
        let ready = self.driver.turn(until, namespace, &self.options.stop)?;
        if ready.namespace
            && let Some((_, end)) = self.namespace.command_end()
        {
            self.outcome = Some(match end {
                CommandEnd::Exited(code) => CommandOutcome::Exited(code),
                CommandEnd::Killed(signal) => CommandOutcome::Killed(signal.as_str()),
                CommandEnd::NotStarted(errno) => {
                    let command = self.command.join(" ");
                    return Err(LiveError::CommandNotStarted { command, errno });
                }
            });
        }
        if ready.namespace && self.namespace.is_gone() && !self.has_command() {
            return Err(LiveError::NamespaceGone { whose: "the namespace".to_owned() });
        }
        for report in self.driver.host.take_closed() {
            let notice = Notice::ConnectionClosed(report);
            (self.options.notify)(&notice);
            let Notice::ConnectionClosed(report) = notice else { continue };
            self.connections.push(report);
        }
        Ok(ready)
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
    pub(crate) fn finish(self) -> Result<LiveReport, LiveError> {
        let Remains { graph, mut host, lateness, counts, events, capture, ended_at } =
            self.driver.finish();
        drop(self.namespace);
        let mut connections = self.connections;
        connections.extend(host.take_closed());
        connections.extend(host.open_connections());
        if let Some(capture) = capture {
            capture.finish().map_err(unwritable)?;
        }
        Ok(LiveReport {
            took: ended_at.saturating_since(Time::ZERO),
            lateness: lateness.report(self.options.lateness_budget),
            scheduling: self.urgency.scheduling(),
            kernel_congestion: self.kernel_congestion,
            connections,
            device: counts,
            events,
            drops: graph.conservation().dropped,
            command: self.outcome,
        })
    }
}

impl fmt::Debug for LiveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveOptions")
            .field("scenario", &self.scenario.name)
            .field("seed", &self.seed)
            .field("capture", &self.capture)
            .field("lateness_budget", &self.lateness_budget)
            .finish_non_exhaustive()
    }
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

fn unwritable((path, source): (PathBuf, std::io::Error)) -> LiveError {
    LiveError::Output { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};

    #[test]
    fn a_middle_box_is_refused_by_name_and_an_empty_place_for_one_is_not() {
        let options = |change: &str| {
            let file = ScenarioFile::from_library("fading-access-point").expect("in the library");
            let change: Override = change.parse().expect("a change");
            let scenario = file.with_overrides(vec![change]).check().expect("sound");
            LiveOptions::new(scenario).expect("a file descriptor")
        };
        let refused = options("proxies.base.proxy=snoop").flow().map(|_| ()).expect_err("a box");
        assert!(matches!(&refused, LiveError::MiddleBox { proxy } if proxy == "base"));
        assert_eq!(refused.exit_code(), 2);
        assert!(options("proxies.base.proxy=none").flow().is_ok());
    }
}
