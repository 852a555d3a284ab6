//! A command, or a shell, behind an emulated link, in real time.
//!
//! ```text
//! COMMAND ── stock kernel ── ackord0 ═══ link, queues, middlebox ═══ ackout0 ── the caller's kernel
//! └──── a namespace of its own ────┘     one Simulation               ┌─────────┘
//!        100.64.0.2                      in this process              100.64.0.1, or no device
//!                                                                     └ and the gateway: sockets
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `shell.rs` | [`shell`]: options, the run from its beginning to its end |
//! | `shell/link.rs`, `summary.rs` | [`LinkOptions`]: what people type, as a scenario |
//! | `shell/blocks.rs`, `surroundings.rs` | [`Block`]: addresses, also of shells in shells |
//! | `shell/outside.rs` | the far end: a device here, or the gateway |
//! | `shell/names.rs`, `dns_forwarder.rs` | name servers that listen on the caller's loopback |
//! | `shell/environment.rs` | what the command finds in its environment |
//! | `shell/running.rs` | from the start of the command to its end |
//! | `shell/orders.rs` | signals that are passed on to the command |
//! | `shell/linger.rs` | what is still under way when the command has ended |
//! | `shell/report.rs`, `captures.rs` | what was seen |
//!
//! A shell in a shell has its own link, and its packets also go over those of the shells it is in:
//! the insides forward, so that TCP is end to end between the innermost kernel and the outermost.
//!
//! Not modelled: several links in one shell (that is what shells in shells are for), offloads (each
//! packet is MTU-sized and can be lost or delayed by itself).

mod blocks;
mod captures;
mod dns_forwarder;
mod environment;
mod linger;
mod link;
mod names;
mod orders;
mod outside;
mod report;
mod running;
mod summary;
mod surroundings;

pub use blocks::Block;
pub use link::{LinkError, LinkOptions, ShellLink};
pub use orders::ShellOrders;
pub use outside::{Outside, OutsideCounts};
pub use report::{Queueing, ShellEnd, ShellReport, WayReport};

use crate::clock::Clock;
use crate::emulate::{Directory, Emulator, Parts, RealTime, TunDevice};
use crate::error::LiveError;
use crate::meter::MeterFeed;
use ackord_events::LinkId;
use ackord_scenario::Scenario;
use ackord_sys::{
    CommandInside, Inside, Namespace, NamespaceError, RouteSettings, TerminalUse, Urgency,
    sharpen_timers,
};
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use captures::Captures;
use nix::errno::Errno;
use outside::{MTU, OutsideDevice};
use report::Passing;
use running::{Running, Seen};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use surroundings::Surroundings;

/// What a shell is.
#[derive(Debug)]
pub struct ShellOptions {
    /// Its link, which also says the seed.
    pub link: ShellLink,
    /// The command with its arguments; the caller's own shell (`$SHELL`) where it is empty.
    pub command: Vec<String>,
    /// No device at the far end, even where one may be made: plain sockets for everything.
    pub only_gateway: bool,
    /// The folder for captures of what passes at both ends.
    pub captures: Option<PathBuf>,
    /// The emulator asks for real-time priority; whether it got it is in the report.
    pub realtime_priority: bool,
    /// How late 99 % of the packets may be for the run to be trusted.
    pub lateness_budget: Span,
    /// Filled while the run goes on.
    pub meter: Option<Arc<MeterFeed>>,
    /// Where the command's standard output and standard error go, if not where ours go. It then
    /// reads nothing and has no terminal.
    pub output: Option<Arc<File>>,
    /// Signals for the command, from elsewhere.
    pub orders: ShellOrders,
}

/// A shell that is about to begin.
#[derive(Clone, Debug)]
pub struct ShellBegins {
    /// Its addresses.
    pub block: Block,
    /// Its far end.
    pub outside: Outside,
    /// The emulator has, or is to ask for, real-time priority.
    pub realtime_priority: bool,
}

/// Why there could be no shell, or no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// As in other live runs.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The caller's network cannot be looked at.
    #[error("cannot read the addresses of this machine: {}", .0.desc())]
    Surroundings(Errno),
    /// There is no room for another shell in this one.
    #[error(
        "this is a shell in a shell, {depth} deep: that is as deep as it goes; give one of them \
             several options at once, such as --delay and --loss"
    )]
    TooDeep {
        /// How deep.
        depth: u32,
    },
    /// All addresses of shells are in use.
    #[error(
        "no block of addresses is free in {within}: as many shells run here as there are blocks, \
             or an interface or a route has them"
    )]
    NoBlockFree {
        /// Where they were looked for.
        within: Block,
    },
    /// The command cannot be started.
    #[error("cannot start `{command}`: {}", .errno.desc())]
    NotStarted {
        /// Its name.
        command: String,
        /// What the system said.
        errno: Errno,
    },
}

impl ShellError {
    /// What the command line should exit with; a command that cannot be started has the codes that
    /// shells use for that.
    pub fn exit_code(&self) -> u8 {
        match self {
            ShellError::Live(error) => error.exit_code(),
            ShellError::NotStarted { errno: Errno::ENOENT, .. } => 127,
            ShellError::NotStarted { .. } => 126,
            _ => 2,
        }
    }
}

impl From<NamespaceError> for ShellError {
    fn from(error: NamespaceError) -> ShellError {
        ShellError::Live(error.into())
    }
}

impl From<io::Error> for ShellError {
    fn from(error: io::Error) -> ShellError {
        ShellError::Live(error.into())
    }
}

/// Runs a command behind a link, from now until it has ended; `begins` is told once everything is
/// there, before the command starts.
///
/// # Errors
/// Where something is not allowed, with what would allow it; where the command cannot be started.
pub fn shell(
    options: ShellOptions,
    begins: &mut dyn FnMut(&ShellBegins),
) -> Result<ShellReport, ShellError> {
    let surroundings = Surroundings::read().map_err(ShellError::Surroundings)?;
    let claim = surroundings.claim()?;
    let block = claim.block;
    let mut namespace = Namespace::create(&inside(&options, block))?;
    let (far, outside) =
        OutsideDevice::open(block, claim.parent, options.only_gateway, &surroundings)?;
    let (near, far_counts) = (TunDevice::new(namespace.take_tun(), MTU), far.counts());
    let clock = Clock::start();
    let captures = captures(&options, clock)?;
    let urgency = Urgency::of(options.realtime_priority);
    let realtime_priority = urgency.is_granted();
    sharpen_timers();
    let timeline = RealTime::new(clock, realtime_priority);
    let emulator =
        emulator(&options.link.scenario, (near, far), block, timeline, captures.as_ref())?;
    begins(&ShellBegins { block, outside: outside.clone(), realtime_priority });
    let mut running = Running::new(emulator, &options, &namespace, block);
    let end = running.run(&mut namespace, &options)?;
    // Everything inside ends, and the terminal is given back.
    drop(namespace);
    let Seen { remains, waits } = running.finish();
    let graph = remains.simulation.graph();
    let way = |passed: WayReport, link| WayReport {
        drops: graph.link_stats(LinkId(link)).drops,
        queueing: waits.of(link as usize),
        ..passed
    };
    Ok(ShellReport {
        block,
        outside,
        took: clock.now().saturating_since(Time::ZERO),
        end,
        lateness: remains.lateness.report(options.lateness_budget),
        realtime_priority,
        up: way(remains.observer.up, 1),
        down: way(remains.observer.down, 0),
        counts: remains.counts,
        outside_counts: far_counts.get(),
        dropped: graph.conservation().dropped,
        captures: finished(captures)?,
    })
}

/// The emulation between the two devices.
fn emulator(
    scenario: &Scenario,
    (near, far): (TunDevice, OutsideDevice),
    block: Block,
    timeline: RealTime,
    captures: Option<&SharedCaptures>,
) -> Result<Emulator<RealTime, Passing>, LiveError> {
    let ends = LinkEnds::of(scenario);
    let mut scenario = scenario.clone();
    if captures.is_some() {
        scenario.record.captures = captures::wanted(&scenario);
    }
    let parts = Parts {
        scenario: &scenario,
        seed: scenario.seed,
        devices: vec![(ends.inside, Box::new(near)), (ends.outside, Box::new(far))],
        directory: ends.directory(block),
        timeline,
    };
    let mut emulator = Emulator::watched_by(parts, Passing::new(ends.inside))?;
    if let Some(captures) = captures {
        let captures = Rc::clone(captures);
        emulator.tap(Box::new(move |tapped| captures.borrow_mut().take(tapped)));
    }
    Ok(emulator)
}

/// The shell's and the caller's node.
#[derive(Clone, Copy, Debug)]
struct LinkEnds {
    inside: NodeId,
    outside: NodeId,
}

impl LinkEnds {
    fn of(scenario: &Scenario) -> LinkEnds {
        let named = |name: &str| {
            let found = scenario.nodes_with_ids().find(|(_, node)| node.name == name);
            found.map(|(id, _)| id).expect("every link of a shell has both")
        };
        LinkEnds { inside: named("inside"), outside: named("outside") }
    }

    /// Everything in the block is inside, but for the base; everything else is outside.
    fn directory(self, block: Block) -> Directory {
        let base: [IpAddr; 2] = [block.base().into(), block.base_v6().into()];
        let networks = block.inside_addresses();
        Directory {
            hosts: base.map(|address| (address, self.outside)).into_iter().collect(),
            networks: networks.into_iter().map(|(net, bits)| (net, bits, self.inside)).collect(),
            elsewhere: Some(self.outside),
        }
    }
}

/// The command, or the caller's own shell; never empty.
fn argv(options: &ShellOptions) -> Vec<String> {
    if options.command.is_empty() {
        vec![std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned())]
    } else {
        options.command.clone()
    }
}

/// What is inside.
fn inside(options: &ShellOptions, block: Block) -> Inside {
    // A shell in this one is reached through it.
    let forwards = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"];
    let environment =
        environment::environment(block, &options.link.summary, |name| std::env::var(name).ok());
    let terminal = match (options.command.is_empty(), &options.output) {
        (true, _) => TerminalUse::Foreground,
        (false, Some(_)) => TerminalUse::Background,
        // In a pipeline others of the same job have the terminal too.
        (false, None) if !io::stdout().is_terminal() => TerminalUse::Shared,
        (false, None) => TerminalUse::Foreground,
    };
    let (stdout, stderr) = (options.output.clone(), options.output.clone());
    Inside {
        mtu: MTU,
        sysctls: forwards.map(|name| (name.to_owned(), "1".to_owned())).to_vec(),
        route: Some(RouteSettings::default()),
        commands: vec![CommandInside {
            environment,
            terminal,
            stdout,
            stderr,
            ..CommandInside::new(argv(options))
        }],
        ..Inside::new(block.inside_addresses())
    }
}

/// Captures, where they are wanted; shared with the tap.
type SharedCaptures = Rc<RefCell<Captures>>;

fn captures(options: &ShellOptions, clock: Clock) -> Result<Option<SharedCaptures>, LiveError> {
    let Some(folder) = &options.captures else { return Ok(None) };
    let captures = Captures::create(folder, &options.link.scenario, clock)?;
    Ok(Some(Rc::new(RefCell::new(captures))))
}

/// Ends the captures, whose tap is gone; the names of the files.
fn finished(captures: Option<SharedCaptures>) -> Result<Vec<PathBuf>, LiveError> {
    let Some(captures) = captures.and_then(Rc::into_inner) else { return Ok(Vec::new()) };
    captures.into_inner().finish()
}
