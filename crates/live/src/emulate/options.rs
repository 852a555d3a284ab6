//! What an emulation is asked for, and what it came to.

use super::{EmulationCounts, TapObserver};
use crate::apps::{AppNews, EndReport};
use crate::error::LiveError;
use crate::interop::KernelCounters;
use crate::lateness::Lateness;
use crate::meter::MeterFeed;
use crate::options::CommandOutcome;
use crate::settings::SettingTold;
use crate::tcp_info::TcpInfo;
use ackord_events::EndpointId;
use ackord_path::Conservation;
use ackord_scenario::Scenario;
use ackord_sim::Simulation;
use ackord_sys::{CommandEnd, StopHandle};
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// What an emulation is asked for.
pub struct EmulationOptions {
    /// What is emulated: its hosts are stock kernels, its flows their applications. Where it captures,
    /// packets are [tapped](EmulationOptions::taps).
    pub scenario: Scenario,
    /// What every random stream derives from; may differ from the scenario's own.
    pub seed: u64,
    /// Hosts that are not kernels: their ends of flows are our own TCP, as in the simulator.
    pub ours: BTreeSet<NodeId>,
    /// The kernel hosts' devices exist, as [`ackord_sys::Inside::device_exists`] has it.
    pub(crate) device_exists: bool,
    /// A router that is a stock kernel, too; in real time only. Its middleboxes are not at work: programs
    /// there may do what they do.
    pub router: Option<KernelRouter>,
    /// Programs that run on kernel hosts, or on the router.
    pub commands: Vec<HostCommand>,
    /// How late 99 % of the packets may be for the run to be trusted.
    pub lateness_budget: Span,
    /// The driver asks for real-time priority: to come before all ordinary threads (SCHED_FIFO).
    pub realtime_priority: bool,
    /// Ends the run from elsewhere.
    pub stop: StopHandle,
    /// Told of every packet where the scenario captures.
    pub taps: Option<TapObserver>,
    /// How often the kernel is asked about its connections; zero: only when they end.
    pub samples_every: Span,
    /// By how much later than a multiple of that.
    pub(crate) samples_after: Span,
    /// Filled ten times a second, for a meter.
    pub meter: Option<Arc<MeterFeed>>,
    /// Told when everything is there.
    pub notify: Box<dyn FnMut(&EmulationNotice)>,
}

/// A program on a kernel host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostCommand {
    /// Where it runs.
    #[serde(rename = "node", with = "crate::plain")]
    pub host: NodeId,
    /// Its name and arguments.
    pub argv: Vec<String>,
    /// Set besides our own environment.
    pub environment: Vec<(String, String)>,
    /// At which time of the run it starts. Nothing: a server, before the run begins, which waits until
    /// the program listens, or on a router until it looks at both devices (but no longer than three
    /// seconds).
    #[serde(rename = "starts_at_ns", with = "crate::plain")]
    pub starts_at: Option<Time>,
    /// It serves: when the run is over it has a moment to end, is asked to (SIGTERM), and dies. The
    /// ends of flows of one that does not, and with them the run, are over when it has ended.
    pub serves: bool,
    /// The ends of the scenario's flows that it has in place of the scenario's workload.
    #[serde(with = "crate::plain")]
    pub ends: Vec<EndpointId>,
    /// Where its standard output goes; our own where nothing is said.
    #[serde(skip)]
    pub stdout: Option<Arc<File>>,
    /// Where its standard error goes; our own where nothing is said.
    #[serde(skip)]
    pub stderr: Option<Arc<File>>,
}

/// Something a user may want to know while a run goes on.
#[derive(Clone, Debug)]
pub enum EmulationNotice {
    /// The hosts are there and the run begins.
    Began {
        /// When, since 1970 by the system's clock: times of a run count from there.
        began_at: Time,
        /// The command line that enters each kernel host.
        enter: Vec<(NodeId, String)>,
    },
    /// A program has ended.
    CommandEnded {
        /// Its place in [`EmulationOptions::commands`].
        command: usize,
        /// How.
        outcome: CommandOutcome,
    },
}

/// Which router is a stock kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRouter {
    /// The node.
    pub node: NodeId,
    /// Index into [`Scenario::links`]: its link towards the mobile hosts.
    pub lan_link: usize,
}

/// What a kernel router came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterReport {
    /// Towards the mobile hosts.
    pub to_mobile: Forwarded,
    /// Towards the fixed hosts.
    pub to_fixed: Forwarded,
    /// How long what was forwarded was inside: the kernel, the devices and the turns of the loop.
    pub inside: Lateness,
    /// From when the first packet of mobile hosts that had been out of reach for half a second was handed to
    /// the kernel to when the first data that somebody there made came out for them.
    pub replayed: Lateness,
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    /// Handed to the kernel.
    pub handed: u64,
    /// Came out as they had gone in.
    pub forwarded: u64,
    /// Came out and had not gone in: somebody there made them.
    pub made: u64,
    /// Went in and never came out.
    pub missing: u64,
    /// The device did not take them.
    pub refused: u64,
}

/// What an emulation came to.
#[derive(Debug)]
pub struct EmulationReport {
    /// How long the run took.
    pub took: Span,
    /// Somebody wanted it to end before its duration had passed or every flow was over.
    pub stopped: bool,
    /// How late the driver was; look at [`Lateness::is_within_budget`] before believing any delay.
    pub lateness: Lateness,
    /// How many packets were how late: classes of 1, 2, 5, 10 ... microseconds, each with the packets
    /// that were at most so late and later than the class before; empty ones at the ends left out.
    pub lateness_histogram: Vec<(Span, u64)>,
    /// The driver had real-time priority, which explains much of its lateness.
    pub realtime_priority: bool,
    /// What happened at the devices of kernel hosts.
    pub counts: EmulationCounts,
    /// Where every packet of the path is; checked to be complete.
    pub conservation: Conservation,
    /// The hosts, in the scenario's order.
    pub hosts: Vec<HostReport>,
    /// The kernel's view of its connections, in order of time.
    pub samples: Vec<TcpSample>,
    /// The ends of flows that the kernel had, with their applications.
    pub ends: Vec<EndReport>,
    /// The router, where one is a kernel.
    pub router: Option<RouterReport>,
    /// What became of the programs, in the order of [`EmulationOptions::commands`].
    pub commands: Vec<CommandOutcome>,
    /// The path and our own hosts where they stand, for their counters.
    pub simulation: Simulation,
}

/// A host and what it was made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostReport {
    /// Which.
    #[serde(skip)]
    pub node: NodeId,
    /// It was our own TCP, as in the simulator, and not a stock kernel in a namespace of its own.
    #[serde(skip)]
    pub ours: bool,
    /// What the scenario asks of a kernel's endpoints, and what came of each wish; nothing for ours,
    /// which does as it is asked.
    pub settings: Vec<SettingTold>,
    /// Settings of the host that its kernel did not take, and what it said.
    #[serde(with = "crate::plain")]
    pub refused: Vec<(String, Errno)>,
    /// What its kernel counted, from zero.
    pub counters: KernelCounters,
}

/// The kernel's view of one of its connections at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSample {
    /// When.
    pub at: Time,
    /// Which end of which flow.
    pub endpoint: EndpointId,
    /// What it said.
    pub info: TcpInfo,
}

/// What stands behind the devices: the kernels of hosts, with their applications and programs.
pub(crate) trait Hosts {
    /// Readable when there is news; as long as the hosts are there.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// When the next program is to start.
    fn next_start(&self) -> Time;

    /// Starts the programs whose time has come.
    ///
    /// # Errors
    /// If one cannot be started.
    fn start_commands(&mut self, now: Time) -> Result<(), LiveError>;

    /// What has happened since the last call; `is_ready` knows of each descriptor whether it is
    /// readable.
    ///
    /// # Errors
    /// If a host is gone.
    fn news(&mut self, is_ready: &dyn Fn(usize) -> bool) -> Result<Vec<HostNews>, LiveError>;

    /// Ends everything on the hosts.
    ///
    /// # Errors
    /// If that fails.
    fn finish(&mut self) -> Result<HostsRemains, LiveError>;
}

/// What happens at hosts.
pub(crate) enum HostNews {
    /// At the end of a flow.
    App(AppNews),
    /// A program has ended.
    CommandEnded {
        /// Its place in [`EmulationOptions::commands`].
        number: usize,
        /// How.
        end: CommandEnd,
    },
}

/// What is left of hosts.
#[derive(Default)]
pub(crate) struct HostsRemains {
    /// What had not been fetched yet.
    pub(crate) news: Vec<HostNews>,
    /// The ends of flows that kernels had.
    pub(crate) ends: Vec<EndReport>,
    /// The hosts.
    pub(crate) hosts: Vec<HostReport>,
    /// The router, where one is a kernel.
    pub(crate) router: Option<RouterReport>,
    /// Packets that were handed to hosts and that they had no room for.
    pub(crate) refused: u64,
}

impl HostCommand {
    /// When it starts, as a time of the run.
    pub(super) fn start(&self) -> Time {
        self.starts_at.unwrap_or(Time::ZERO)
    }
}

impl EmulationOptions {
    /// A run of `scenario` with its seed, every host a kernel with the scenario's workloads.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new(scenario: Scenario) -> std::io::Result<EmulationOptions> {
        Ok(EmulationOptions {
            seed: scenario.seed,
            scenario,
            ours: BTreeSet::new(),
            router: None,
            device_exists: false,
            commands: Vec::new(),
            lateness_budget: Span::from_millis(1),
            realtime_priority: false,
            stop: StopHandle::new()?,
            taps: None,
            samples_every: Span::from_millis(10),
            samples_after: Span::ZERO,
            meter: None,
            notify: Box::new(|_| {}),
        })
    }
}

impl fmt::Debug for EmulationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulationOptions")
            .field("scenario", &self.scenario.name)
            .field("seed", &self.seed)
            .field("ours", &self.ours)
            .field("commands", &self.commands)
            .field("lateness_budget", &self.lateness_budget)
            .finish_non_exhaustive()
    }
}
