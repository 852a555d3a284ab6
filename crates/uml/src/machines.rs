//! Several kernels in one time: whose turn it is.
//!
//! One of them runs at a time, up to the earliest of what the others and the world around them want.
//! Whatever reaches a kernel reaches it while it waits, at its instant. So what happens depends on
//! nothing but what the kernels are and what reaches them.

use crate::machine::{Machine, MachineError, MachineSetup, TurnEnd};
use crate::processor::OneProcessor;

/// Kernels that share a time.
pub struct Machines {
    machines: Vec<Machine>,
    now: u64,
    /// Who has sent something and has not gone on since.
    in_turn: Option<usize>,
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
        Ok(Machines { machines: machines?, now: 0, in_turn: None, _processor: processor })
    }

    /// The present, in nanoseconds since the kernels started.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// One of them, in the order of their setups.
    pub fn machine(&mut self, number: usize) -> &mut Machine {
        &mut self.machines[number]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.machines.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// A frame that a machine has sent at the present.
    pub fn sent(&mut self, number: usize) -> Option<Vec<u8>> {
        if self.in_turn != Some(number) {
            return None;
        }
        let sent = self.machines[number].take_sent();
        if sent.is_empty() { None } else { Some(sent.remove(0)) }
    }

    /// Whether a machine has sent what nobody has taken.
    pub fn has_sent(&self, number: usize) -> bool {
        self.in_turn == Some(number) && self.machines[number].has_sent()
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
        loop {
            let end = match self.in_turn.take() {
                Some(_) => machine.go_on(until)?,
                None if machine.request() >= until => return Ok(false),
                None => machine.run(machine.request(), until)?,
            };
            if end == TurnEnd::Sent {
                self.in_turn = Some(number);
                return Ok(true);
            }
        }
    }

    /// All machines have been brought to this time.
    pub fn begin(&mut self, now: u64) {
        self.now = now;
    }

    /// Lets the machines run until one of them has sent something, which is then to be
    /// [taken](Machines::sent), or until it is `until`; what they do at that very instant comes
    /// after it.
    ///
    /// # Errors
    /// If a machine does not go on.
    pub fn run_until(&mut self, until: u64) -> Result<Option<usize>, MachineError> {
        loop {
            let (number, end) = match self.in_turn {
                Some(number) => {
                    let arriving = self.machines.iter().any(Machine::is_arriving);
                    let until = if arriving { self.now } else { until };
                    let free_until = until.min(self.first_request(Some(number)).0);
                    (number, self.machines[number].go_on(free_until)?)
                }
                None => {
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
                    self.now = at;
                    let free_until = until.min(self.first_request(Some(number)).0);
                    (number, self.machines[number].run(at, free_until)?)
                }
            };
            self.now = self.now.max(self.machines[number].now());
            self.in_turn = (end == TurnEnd::Sent).then_some(number);
            if end == TurnEnd::Sent {
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
