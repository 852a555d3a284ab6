//! One kernel that scripts are played against: orders and their answers, packets with their instants.

use crate::emulate::{MEMORY_MIB, archive};
use crate::error::LiveError;
use crate::guest::{Clocks, ScriptOrder, ScriptTold, ScriptsJob, Task, is_hello, script_frame};
use ackord_uml::{MachineError, MachineSetup, Machines};
use std::collections::VecDeque;
use std::path::Path;

/// A script begins at a tick whose number is a multiple of this. A timeout of up to 17 minutes is kept
/// in slots of so many ticks at most.
pub(super) const ALIGNED: u64 = 4096;
/// The kernel's network card.
const CARD: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Bytes of a packet that its card takes: scripts inject larger segments than a link of 1500 bytes has.
/// What the kernel sends is held to 1500 by its device.
const MOST_OCTETS: u16 = 65_535;
/// Bytes before it.
const ETHERNET_HEADER: usize = 14;
const SECOND: u64 = 1_000_000_000;
/// How long, in its own time, a kernel may take to be set up.
const SET_UP: u64 = 60 * SECOND;
/// What an arrival makes it do at once is done by then: its time may be a little ahead of the present.
const AT_ONCE: u64 = 8;
/// How long it may take to do what it is ordered.
const AN_ORDER: u64 = SECOND;

/// A kernel at work.
pub(super) struct Machine {
    machines: Machines,
    /// What it has written on its line and is not read.
    line: Vec<u8>,
    /// What it has sent, and when.
    packets: VecDeque<(u64, Vec<u8>)>,
    /// What it has told.
    told: VecDeque<ScriptTold>,
    clocks: Clocks,
    /// By how much its CLOCK_MONOTONIC is behind its time, in nanoseconds.
    behind: u64,
}

impl Machine {
    /// Starts a kernel with these scripts and lets it wait for its first order.
    pub(super) fn start(
        kernel: &Path,
        program: Option<&Path>,
        job: ScriptsJob,
    ) -> Result<Machine, LiveError> {
        let files = archive(program, &Task::Scripts(job))?;
        let memory_mib = MEMORY_MIB;
        let setup = MachineSetup {
            kernel: kernel.to_owned(),
            files,
            memory_mib,
            mtu: MOST_OCTETS,
            hardware_address: CARD,
        };
        let machines = Machines::start(&[setup]).map_err(LiveError::Kernel)?;
        let clocks = Clocks { monotonic: 0, at: 0, jiffies: 0, tick: 0, hz: 250 };
        let (packets, told) = (VecDeque::new(), VecDeque::new());
        let mut machine = Machine { machines, line: Vec::new(), packets, told, clocks, behind: 0 };
        machine.set_up()?;
        Ok(machine)
    }

    fn set_up(&mut self) -> Result<(), LiveError> {
        let failed = LiveError::Kernel;
        let now = loop {
            if !self.machines.run_alone(0, SET_UP).map_err(failed)? {
                let console = self.machines.machine(0).console();
                return Err(on_kernel(format!("it takes too long to be set up:\n{console}")));
            }
            let now = self.machines.machine(0).now();
            self.take_frames(now)?;
            match self.told.pop_front() {
                None => {}
                Some(ScriptTold::Ready(clocks)) => {
                    self.clocks = clocks;
                    break now;
                }
                Some(other) => return Err(on_kernel(format!("{other:?}"))),
            }
        };
        self.behind = now.saturating_sub(self.clocks.monotonic);
        let begins = now + SECOND / 100;
        while self.machines.run_alone(0, begins).map_err(failed)? {
            self.take_frames(begins)?;
        }
        self.machines.begin(begins);
        self.machines.be_exact();
        self.packets.clear();
        Ok(())
    }

    /// The present, in nanoseconds since the kernel started.
    pub(super) fn now(&self) -> u64 {
        self.machines.now()
    }

    /// The next instant, a moment ahead, at which a script may begin: a tick of the right number.
    pub(super) fn next_beginning(&self) -> u64 {
        let tick = SECOND / self.clocks.hz.max(1);
        // The tick that the kernel was at when it told how many it had counted.
        let phase = self.clocks.tick % tick;
        let counted_at = (self.clocks.at.saturating_sub(phase)) / tick;
        let monotonic = self.now().saturating_sub(self.behind) + SECOND / 10;
        let ticks = (monotonic.saturating_sub(phase)) / tick + 1;
        let number = self.clocks.jiffies.wrapping_add(ticks - counted_at);
        let missing = number.wrapping_neg() % ALIGNED;
        (ticks + missing) * tick + phase + self.behind
    }

    /// Milliseconds of the kernel's clock of timestamps between two instants.
    pub(super) fn millis_between(&self, from: u64, to: u64) -> u64 {
        let millis = |at: u64| at.saturating_sub(self.behind) / 1_000_000;
        millis(to).saturating_sub(millis(from))
    }

    /// Lets it run until it has sent a packet, which is then there, or it is `until`; what it does at
    /// that very instant is not done.
    pub(super) fn run_until(&mut self, until: u64) -> Result<(), LiveError> {
        while self.packets.is_empty() && self.machines.now() < until {
            if self.machines.run_until(until).map_err(LiveError::Kernel)?.is_none() {
                return Ok(());
            }
            self.take_frames(self.machines.now())?;
        }
        Ok(())
    }

    /// A packet arrives, and what it makes the kernel do at this instant is done.
    pub(super) fn packet_arrives(&mut self, packet: &[u8]) -> Result<(), LiveError> {
        let version = packet.first().map_or(4, |byte| byte >> 4);
        let mut frame = CARD.to_vec();
        // From whom nobody asks.
        frame.extend([2, 0, 0, 0xff, 0xff, 0xff]);
        frame.extend(if version == 6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        frame.extend(packet);
        self.machines.arrive(0, frame);
        let until = self.machines.now() + AT_ONCE;
        while self.machines.run_until(until).map_err(LiveError::Kernel)?.is_some() {
            self.take_frames(self.machines.now())?;
        }
        Ok(())
    }

    /// The kernel's application does what it is told; its answer.
    pub(super) fn order(&mut self, order: ScriptOrder) -> Result<ScriptTold, LiveError> {
        self.machines.arrive(0, script_frame(CARD, order));
        let until = self.machines.now() + AN_ORDER;
        while self.told.is_empty() {
            if self.machines.run_until(until).map_err(LiveError::Kernel)?.is_none() {
                let console = self.machines.machine(0).console();
                return Err(on_kernel(format!("{order:?} has no answer:\n{console}")));
            }
            self.take_frames(self.machines.now())?;
        }
        match self.told.pop_front() {
            Some(ScriptTold::Failed(what)) => Err(on_kernel(what)),
            Some(told) => Ok(told),
            None => Err(on_kernel("no answer".to_owned())),
        }
    }

    /// The next packet that it has sent, and when.
    pub(super) fn sent(&mut self) -> Option<(u64, Vec<u8>)> {
        self.packets.pop_front()
    }

    fn take_frames(&mut self, now: u64) -> Result<(), LiveError> {
        while let Some(mut frame) = self.machines.sent(0) {
            if is_hello(&frame) {
                self.read_line()?;
            } else if frame.len() > ETHERNET_HEADER {
                self.packets.push_back((now, frame.split_off(ETHERNET_HEADER)));
            }
        }
        Ok(())
    }

    /// Reads what has been told in whole lines.
    fn read_line(&mut self) -> Result<(), LiveError> {
        self.machines.machine(0).read_line(&mut self.line)?;
        let whole = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.line.drain(..whole).collect();
        for text in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let told = serde_json::from_slice(text).map_err(std::io::Error::from)?;
            self.told.push_back(told);
        }
        Ok(())
    }
}

fn on_kernel(what: String) -> LiveError {
    LiveError::OnKernel { host: "endpoint".to_owned(), what }
}

/// What became of a kernel that does not go on, in one line.
pub(super) fn in_short(error: &LiveError) -> String {
    let text = match error {
        LiveError::Kernel(MachineError::Ended { how, .. }) => format!("the kernel ended ({how})"),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}
