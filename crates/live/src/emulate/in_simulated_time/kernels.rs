//! The kernels of a run: started, brought to its beginning together, heard, brought to its end.

use super::SimulatedKernels;
use super::files::files_of;
use crate::emulate::hosts::{kernel_nodes, mtu};
use crate::emulate::options::{EmulationOptions, HostNews, HostsRemains};
use crate::error::LiveError;
use crate::guest::{GuestMessage, Order, OutputStream, is_hello, order_frame, output_bytes};
use ackord_uml::{MachineError, MachineSetup, Machines};
use ackord_units::Time;
use ackord_wire::NodeId;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;

/// The kernels of a run.
pub(super) struct Kernels {
    machines: Machines,
    hosts: Vec<GuestHost>,
    /// The kernels' time at the run's beginning, in nanoseconds.
    begins_at: u64,
    failed: Option<MachineError>,
    /// When the hosts are heard next, in their time.
    hears_at: u64,
    /// Where standard output and standard error of each program go.
    streams: Vec<[Option<Arc<File>>; 2]>,
}

/// A kernel and what is known of it.
struct GuestHost {
    node: NodeId,
    name: String,
    mtu: u16,
    hardware_address: [u8; 6],
    /// What it has written on its line and is not read.
    line: Vec<u8>,
    /// By how much its CLOCK_MONOTONIC is behind its time, in nanoseconds; known when it is set up.
    behind: Option<u64>,
    done: bool,
}

/// Bytes before a packet: two hardware addresses and its protocol.
const ETHERNET_HEADER: usize = 14;
/// How long, in their own time, kernels may take to be set up, and to end.
const LONGEST: u64 = 120 * SECOND;
const SECOND: u64 = 1_000_000_000;
/// How often hosts are heard: each time costs a system call for each.
const HEARD_EVERY: u64 = SECOND / 1000;
/// A run begins when the kernels' time is a multiple of this: of 4096 ticks of 100, 250 and 1000 Hz. A
/// timer of the kernel ends with a multiple of 1, 8, 64, 512 or 4096 ticks, by how far off it is; so it
/// does of the run, too, as in the model.
const ROUND: u64 = 81_920_000_000;
/// Memory of a kernel, in MiB. From 768 on its largest buffers of TCP are what they are on any machine of
/// today; what nobody touches is not taken.
pub(crate) const MEMORY_MIB: u32 = 768;

impl Kernels {
    /// Starts the kernels and brings them to the beginning of the run.
    pub(super) fn start(
        options: &EmulationOptions,
        kernels: &SimulatedKernels,
    ) -> Result<Kernels, LiveError> {
        let scenario = &options.scenario;
        let (mut setups, mut hosts) = (Vec::new(), Vec::new());
        for node in kernel_nodes(options) {
            let hardware_address = [2, 0, 0, 0, (node.0 >> 8) as u8, node.0 as u8];
            let (files, mtu) = (files_of(options, node, kernels)?, mtu(scenario, node));
            let memory_mib = MEMORY_MIB;
            let kernel = kernels.kernels[&node].binary.clone();
            setups.push(MachineSetup { kernel, files, memory_mib, mtu, hardware_address });
            hosts.push(GuestHost {
                node,
                name: scenario.node(node).name.clone(),
                mtu,
                hardware_address,
                line: Vec::new(),
                behind: None,
                done: false,
            });
        }
        let machines = Machines::start(&setups).map_err(LiveError::Kernel)?;
        let streams = options.commands.iter();
        let streams = streams.map(|command| [command.stdout.clone(), command.stderr.clone()]);
        let streams = streams.collect();
        let mut kernels =
            Kernels { machines, hosts, begins_at: 0, failed: None, hears_at: 0, streams };
        kernels.set_up()?;
        Ok(kernels)
    }

    /// Lets them be set up, each by itself, and says when the run begins.
    fn set_up(&mut self) -> Result<(), LiveError> {
        let mut latest = 0;
        for number in 0..self.hosts.len() {
            while self.hosts[number].behind.is_none() {
                if !self.machines.run_alone(number, LONGEST).map_err(LiveError::Kernel)? {
                    // What it could not do it has said.
                    self.hears_at = 0;
                    self.news()?;
                    return Err(self.silent("to be set up"));
                }
                self.hear_hello(number)?;
            }
            latest = latest.max(self.machines.machine(number).now());
            // It waits for an order now.
            while self.machines.run_alone(number, latest + 1).map_err(LiveError::Kernel)? {
                while self.machines.sent(number).is_some() {}
            }
        }
        let ordered_at = latest + SECOND / 100;
        for number in 0..self.hosts.len() {
            while self.machines.run_alone(number, ordered_at).map_err(LiveError::Kernel)? {
                while self.machines.sent(number).is_some() {}
            }
        }
        self.machines.begin(ordered_at);
        self.begins_at = (ordered_at / ROUND + 1) * ROUND;
        for (number, host) in self.hosts.iter().enumerate() {
            let monotonic = self.begins_at - host.behind.unwrap_or(0);
            let order = order_frame(host.hardware_address, Order::Begin(monotonic));
            self.machines.arrive(number, order);
        }
        while self.machines.run_until(self.begins_at).map_err(LiveError::Kernel)?.is_some() {
            self.drop_sent();
        }
        Ok(())
    }

    /// A kernel that is not set up yet has sent something.
    fn hear_hello(&mut self, number: usize) -> Result<(), LiveError> {
        let now = self.machines.machine(number).now();
        while let Some(frame) = self.machines.sent(number) {
            if !is_hello(&frame) {
                continue;
            }
            for told in self.told(number)? {
                match told {
                    GuestMessage::Ready { monotonic } => {
                        self.hosts[number].behind = Some(now.saturating_sub(monotonic));
                    }
                    other => drop(self.heard(number, other)?),
                }
            }
        }
        Ok(())
    }

    /// The present of the run.
    pub(super) fn now(&self) -> Time {
        Time::from_nanos(self.machines.now().saturating_sub(self.begins_at))
    }

    /// Lets the kernels run until one has sent something or it is `until`.
    pub(super) fn run_until(&mut self, until: Time) -> io::Result<()> {
        let until = self.begins_at.saturating_add(until.as_nanos());
        match self.machines.run_until(until) {
            Ok(_) => Ok(()),
            Err(error) => {
                // It is told with the host's news, in words of its own.
                self.failed = Some(error);
                Ok(())
            }
        }
    }

    pub(super) fn nodes(&self) -> Vec<NodeId> {
        self.hosts.iter().map(|host| host.node).collect()
    }

    pub(super) fn mtu(&self, number: usize) -> u16 {
        self.hosts[number].mtu
    }

    /// Whether a kernel has sent what nobody has taken.
    pub(super) fn has_sent(&self, number: usize) -> bool {
        self.machines.has_sent(number)
    }

    /// The next IP packet that a kernel has sent: its length.
    pub(super) fn sent_packet(&mut self, number: usize, buffer: &mut [u8]) -> Option<usize> {
        while let Some(frame) = self.machines.sent(number) {
            let Some(packet) = frame.get(ETHERNET_HEADER..) else { continue };
            if !is_hello(&frame) && packet.len() <= buffer.len() {
                buffer[..packet.len()].copy_from_slice(packet);
                return Some(packet.len());
            }
        }
        None
    }

    /// An IP packet arrives at a kernel.
    pub(super) fn packet_arrives(&mut self, number: usize, packet: &[u8]) {
        let to = self.hosts[number].hardware_address;
        let mut frame = Vec::with_capacity(ETHERNET_HEADER + packet.len());
        frame.extend(to);
        // From whom nobody asks.
        frame.extend([2, 0, 0, 0xff, 0xff, 0xff]);
        let version = packet.first().map_or(4, |byte| byte >> 4);
        frame.extend(if version == 6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        frame.extend(packet);
        self.machines.arrive(number, frame);
    }

    /// What the hosts have told since the last call.
    pub(super) fn news(&mut self) -> Result<Vec<HostNews>, LiveError> {
        let mut news = Vec::new();
        let now = self.machines.now();
        if now < self.hears_at && self.failed.is_none() {
            return Ok(news);
        }
        self.hears_at = now + HEARD_EVERY;
        for number in 0..self.hosts.len() {
            for told in self.told(number)? {
                if let Heard::News(one) = self.heard(number, told)? {
                    news.push(one);
                }
            }
        }
        match self.failed.take() {
            Some(error) => Err(LiveError::Kernel(error)),
            None => Ok(news),
        }
    }

    /// Ends everything on the hosts.
    pub(super) fn finish(&mut self) -> Result<HostsRemains, LiveError> {
        for number in 0..self.hosts.len() {
            let to = self.hosts[number].hardware_address;
            self.machines.arrive(number, order_frame(to, Order::Stop));
        }
        let until = self.machines.now() + LONGEST;
        let mut remains = HostsRemains::default();
        loop {
            for number in 0..self.hosts.len() {
                for told in self.told(number)? {
                    match self.heard(number, told)? {
                        Heard::News(news) => remains.news.push(news),
                        Heard::End(end) => remains.ends.push(*end),
                        Heard::Host(host) => remains.hosts.push(*host),
                        Heard::Nothing => {}
                    }
                }
            }
            if self.hosts.iter().all(|host| host.done) {
                let numbers = 0..self.hosts.len();
                remains.refused =
                    numbers.map(|number| self.machines.machine(number).refused()).sum();
                return Ok(remains);
            }
            self.drop_sent();
            if self.machines.run_until(until).map_err(LiveError::Kernel)?.is_none() {
                return Err(self.silent("to end"));
            }
        }
    }

    fn drop_sent(&mut self) {
        for number in 0..self.hosts.len() {
            while self.machines.sent(number).is_some() {}
        }
    }

    /// Whole lines that a host has written.
    fn told(&mut self, number: usize) -> Result<Vec<GuestMessage>, LiveError> {
        let host = &mut self.hosts[number];
        if self.machines.machine(number).read_line(&mut host.line)? == 0 {
            return Ok(Vec::new());
        }
        let whole = host.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = host.line.drain(..whole).collect();
        let texts = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let told = texts.map(serde_json::from_slice::<GuestMessage>);
        told.collect::<Result<_, _>>().map_err(|error| LiveError::System(error.into()))
    }

    fn heard(&mut self, number: usize, told: GuestMessage) -> Result<Heard, LiveError> {
        let host = &mut self.hosts[number];
        Ok(match told {
            GuestMessage::Ready { .. } => Heard::Nothing,
            GuestMessage::Output { number, stream, bytes } => {
                self.written(number, stream, &output_bytes(&bytes))?;
                Heard::Nothing
            }
            GuestMessage::Failed(what) => {
                return Err(LiveError::OnKernel { host: host.name.clone(), what });
            }
            GuestMessage::At(news) => Heard::News(HostNews::App(news)),
            GuestMessage::Command { number, end } => {
                Heard::News(HostNews::CommandEnded { number, end })
            }
            GuestMessage::Left(left) => Heard::End(left),
            GuestMessage::Host(mut report) => {
                host.done = true;
                report.node = host.node;
                Heard::Host(report)
            }
        })
    }

    /// A program has written something.
    fn written(&self, number: usize, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        let [stdout, stderr] = self.streams.get(number).map_or([&None, &None], |of| of.each_ref());
        match (stream, stdout, stderr) {
            (OutputStream::Output, Some(file), _) | (OutputStream::Error, _, Some(file)) => {
                file.as_ref().write_all(bytes)
            }
            (OutputStream::Output, None, _) => io::stdout().write_all(bytes),
            (OutputStream::Error, _, None) => io::stderr().write_all(bytes),
        }
    }

    /// A kernel has had time enough.
    fn silent(&mut self, for_what: &str) -> LiveError {
        let number = self.hosts.iter().position(|host| host.behind.is_none() || !host.done);
        let number = number.unwrap_or(0);
        let console = self.machines.machine(number).console();
        let what = format!(
            "takes longer than {} s of its time {for_what}; its console:\n{console}",
            LONGEST / SECOND
        );
        LiveError::OnKernel { host: self.hosts[number].name.clone(), what }
    }
}

/// What something that was told means for a run.
enum Heard {
    Nothing,
    News(HostNews),
    End(Box<crate::apps::EndReport>),
    Host(Box<crate::emulate::HostReport>),
}
