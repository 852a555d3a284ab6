//! Several kernels in one time: whose turn it is.
//!
//! One of them runs at a time, up to the earliest of what the others and the world around them want.
//! Whatever reaches a kernel reaches it while it waits, at its instant. So what happens depends on
//! nothing but what the kernels are and what reaches them.

use crate::machine::{Machine, MachineError, MachineSetup};
use crate::processor::OneProcessor;

/// How long a machine may run before what it has sent is looked at, in nanoseconds. What it sends in
/// one turn leaves with the last of it: at most so late.
const ALONE: u64 = 2_000;

/// The same as long as nothing reaches it, when it may be as late as this.
const BY_ITSELF: u64 = 1_000_000;

/// Kernels that share a time.
pub struct Machines {
    machines: Vec<Machine>,
    now: u64,
    /// How long a machine may run before what it has sent is looked at.
    alone: u64,
    /// After the machines: they end on it.
    _processor: OneProcessor,
}

impl Machines {
    /// Starts all of them; it is time zero, in nanoseconds.
    ///
    /// # Errors
    /// If one cannot be started.
    pub fn start(setups: &[MachineSetup]) -> Result<Machines, MachineError> {
        let processor = OneProcessor::take();
        let machines: Result<Vec<_>, _> = setups.iter().map(Machine::start).collect();
        Ok(Machines { machines: machines?, now: 0, alone: ALONE, _processor: processor })
    }

    /// The present, in nanoseconds since the kernels started.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// One of them, in the order of their setups.
    pub fn machine(&mut self, number: usize) -> &mut Machine {
        &mut self.machines[number]
    }

    /// A frame that a machine has sent.
    pub fn sent(&mut self, number: usize) -> Option<Vec<u8>> {
        self.machines[number].take_sent()
    }

    /// Whether a machine has sent what nobody has taken.
    pub fn has_sent(&self, number: usize) -> bool {
        self.machines[number].has_sent()
    }

    /// A frame reaches a machine at the present.
    pub fn arrive(&mut self, number: usize, frame: Vec<u8>) {
        self.machines[number].arrive(frame);
    }

    /// Lets one machine run by itself, as if there were nothing else, until it has sent something
    /// (then true) or it is `until`, in nanoseconds of its own time; the others stand still. For the
    /// time before anything reaches anybody: afterwards all of them are brought to one time by this,
    /// and [`Machines::begin`] says to which.
    ///
    /// # Errors
    /// If the machine does not go on.
    pub fn run_alone(&mut self, number: usize, until: u64) -> Result<bool, MachineError> {
        let machine = &mut self.machines[number];
        while machine.request() < until {
            let at = machine.request();
            machine.run(at, until.min(at + BY_ITSELF))?;
            if machine.has_sent() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All machines have been brought to this time.
    pub fn begin(&mut self, now: u64) {
        self.now = now;
    }

    /// What a machine sends leaves at its very instant from now on, not a little later: for whom exactness
    /// matters more than speed.
    pub fn be_exact(&mut self) {
        self.alone = 1;
    }

    /// Lets the machines run until one of them has sent something, which is then to be
    /// [taken](Machines::sent), or until it is `until`; what they do at that very instant comes
    /// after it.
    ///
    /// # Errors
    /// If a machine does not go on.
    pub fn run_until(&mut self, until: u64) -> Result<Option<usize>, MachineError> {
        loop {
            for machine in &mut self.machines {
                if machine.is_arriving() {
                    machine.take_arrivals(self.now)?;
                }
            }
            let (at, number) = self.first_request(None);
            if until <= at {
                self.now = self.now.max(until);
                return Ok(None);
            }
            self.now = self.now.max(at);
            let others = self.first_request(Some(number)).0;
            let free_until = until.min(others).min(self.now + self.alone);
            let machine = &mut self.machines[number];
            machine.run(self.now, free_until)?;
            if machine.has_sent() {
                self.now = self.now.max(machine.now());
                return Ok(Some(number));
            }
        }
    }

    /// Who wants to run first, and when; but for the one whose turn it is.
    fn first_request(&self, but: Option<usize>) -> (u64, usize) {
        let others = self.machines.iter().zip(0..).filter(|(_, number)| Some(*number) != but);
        let requests = others.map(|(machine, number)| (machine.request(), number));
        requests.min().unwrap_or((u64::MAX, 0))
    }
}
