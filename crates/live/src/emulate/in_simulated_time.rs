//! Emulation in simulated time: each kernel host is a kernel of its own, whose clock is the run's.
//!
//! ```text
//! programs ── kernel (User-Mode Linux) ── card ═╗                  ╔═ card ── kernel ── programs
//!                        ▲                      ╠═ one Simulation ═╣             ▲
//!                        └───────── whose turn it is, and when ────╨─────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `in_simulated_time.rs` | [`emulate_in_simulated_time`] |
//! | `in_simulated_time/kernels.rs` | the kernels of a run: started, brought to its beginning, heard |
//! | `in_simulated_time/files.rs` | what is on them: this program, what it is linked with, its job |
//!
//! The loop, the path and what is observed are those of an emulation in real time; only the timeline
//! ([`KernelTime`]), the devices ([`CardDevice`]) and the hosts are others. Nothing depends on how fast
//! the machine is or what else it does.
//!
//! Not modelled: the time that a kernel and its programs compute.

mod files;
mod kernels;

use super::options::{HostNews, Hosts, HostsRemains};
use super::run::Run;
use super::timeline::Timeline;
use super::{Device, EmulationOptions, EmulationReport};
use crate::error::LiveError;
use ackord_events::Sink;
use ackord_sys::PollSet;
use ackord_uml::Kernel;
use ackord_units::Time;
use ackord_wire::{FlowId, NodeId};
pub(crate) use files::archive;
use kernels::Kernels;
pub(crate) use kernels::MEMORY_MIB;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::rc::Rc;

/// What the kernels of a run in simulated time are.
#[derive(Clone, Debug)]
pub struct SimulatedKernels {
    /// The kernel of each host that has one.
    pub kernels: BTreeMap<NodeId, Kernel>,
    /// The program that runs on them: `ackord` itself, of whatever name; nothing for this one.
    pub program: Option<PathBuf>,
}

/// Runs a scenario in simulated time between kernels and our own TCP: every host without a kernel in
/// `kernels` is ours. `progress` is as of [`emulate`](super::emulate()).
///
/// # Errors
/// [`LiveError`]: where a kernel cannot be started or ends, or a program cannot be started.
pub fn emulate_in_simulated_time<S: Sink>(
    mut options: EmulationOptions,
    kernels: &SimulatedKernels,
    sink: &mut S,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<EmulationReport, LiveError> {
    options.ours = super::hosts::host_nodes(&options.scenario)
        .filter(|node| !kernels.kernels.contains_key(node))
        .collect();
    let kernels = Rc::new(RefCell::new(Kernels::start(&options, kernels)?));
    let nodes = kernels.borrow().nodes();
    let devices = nodes.into_iter().enumerate().map(|(number, node)| {
        let device = CardDevice::new(number, kernels.borrow().mtu(number), &kernels)?;
        Ok::<_, io::Error>((node, Box::new(device) as Box<dyn Device>))
    });
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let timeline = KernelTime { kernels: Rc::clone(&kernels) };
    let hosts = KernelsAsHosts(kernels);
    let mut run = Run::open(options, (hosts, devices), timeline)?;
    let stopped = run.drive(sink, progress)?;
    run.finish(stopped, sink)
}

/// The kernels' own time, which goes on when they run.
struct KernelTime {
    kernels: Rc<RefCell<Kernels>>,
}

impl Timeline for KernelTime {
    fn now(&mut self) -> Time {
        self.kernels.borrow().now()
    }

    fn wait(&mut self, until: Time, _poll: &mut PollSet) -> io::Result<()> {
        self.kernels.borrow_mut().run_until(until)
    }
}

/// The network card of a kernel.
struct CardDevice {
    number: usize,
    mtu: u16,
    kernels: Rc<RefCell<Kernels>>,
    /// Never readable: when there is a packet is known without being told.
    nothing: File,
}

impl CardDevice {
    fn new(number: usize, mtu: u16, kernels: &Rc<RefCell<Kernels>>) -> io::Result<CardDevice> {
        let nothing = File::open("/dev/null")?;
        Ok(CardDevice { number, mtu, kernels: Rc::clone(kernels), nothing })
    }
}

impl Device for CardDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.nothing.as_fd()
    }

    fn longest(&self) -> usize {
        usize::from(self.mtu)
    }

    fn read_packet(&mut self, _now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.kernels.borrow_mut().sent_packet(self.number, buffer))
    }

    fn write_packet(&mut self, _now: Time, _flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        self.kernels.borrow_mut().packet_arrives(self.number, bytes);
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        self.kernels.borrow().has_sent(self.number).then_some(Time::ZERO)
    }
}

/// The kernels as hosts of an emulation; their programs start by themselves.
struct KernelsAsHosts(Rc<RefCell<Kernels>>);

impl Hosts for KernelsAsHosts {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn next_start(&self) -> Time {
        Time::NEVER
    }

    fn start_commands(&mut self, _now: Time) -> Result<(), LiveError> {
        Ok(())
    }

    fn news(&mut self, _is_ready: &dyn Fn(usize) -> bool) -> Result<Vec<HostNews>, LiveError> {
        self.0.borrow_mut().news()
    }

    fn finish(&mut self) -> Result<HostsRemains, LiveError> {
        self.0.borrow_mut().finish()
    }
}
