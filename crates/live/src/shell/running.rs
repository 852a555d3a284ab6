//! A shell at work: turns of the emulator, and what else there is to do between them.

use super::dns_forwarder::DnsForwarder;
use super::linger::Linger;
use super::report::{Passing, Waits};
use super::{Block, ShellEnd, ShellError, ShellOptions, names, orders};
use crate::emulate::{Emulator, RealTime, Remains};
use crate::meter::MeterFill;
use ackord_sys::{CommandEnd, Namespace};
use ackord_units::{Span, Time};
use std::io;
use std::os::fd::AsFd;

/// The only command of the namespace.
const COMMAND: usize = 0;

/// A shell at work.
pub(super) struct Running {
    emulator: Emulator<RealTime, Passing>,
    sink: (Waits, Option<MeterFill>),
    /// The namespace's number among what is watched.
    news: usize,
    /// That of the orders.
    orders: usize,
    /// Who stands in for a name server, and its number.
    dns_forwarder: Option<(DnsForwarder, usize)>,
    budget: Span,
}

/// How long a turn may last with nothing to do.
const LOOK_AROUND: Span = Span::from_secs(1);
/// How long a command that was asked to end may take.
const GRACE: Span = Span::from_secs(2);

/// What is left when it is over.
pub(super) struct Seen {
    pub(super) remains: Remains<Passing>,
    pub(super) waits: Waits,
}

impl Running {
    /// Everything there, and the command not started yet.
    pub(super) fn new(
        mut emulator: Emulator<RealTime, Passing>,
        options: &ShellOptions,
        namespace: &Namespace,
        block: Block,
    ) -> Running {
        // Without one, names on loopback are not found; everything else works.
        let dns_forwarder =
            DnsForwarder::open(namespace, names::on_loopback(), block.outermost().base());
        let dns_forwarder = dns_forwarder.ok().flatten();
        let questions =
            dns_forwarder.as_ref().map(|dns_forwarder| emulator.watch(dns_forwarder.as_fd()));
        Running {
            dns_forwarder: dns_forwarder.zip(questions),
            news: emulator.watch(namespace.as_fd()),
            orders: emulator.watch(options.orders.as_fd()),
            emulator,
            sink: (Waits::default(), options.meter.as_ref().map(|feed| feed.fill())),
            budget: options.lateness_budget,
        }
    }

    /// Ends the emulation, and tells the meter.
    pub(super) fn finish(self) -> Seen {
        let (waits, _) = self.sink;
        Seen { remains: self.emulator.finish(), waits }
    }

    /// From the start of the command to the end of what it has left behind.
    pub(super) fn run(
        &mut self,
        namespace: &mut Namespace,
        options: &ShellOptions,
    ) -> Result<ShellEnd, ShellError> {
        namespace.start_command(COMMAND).map_err(io::Error::from)?;
        let mut asked_at: Option<(Time, i32)> = None;
        loop {
            let now = self.emulator.now();
            if let Some((at, signal)) = asked_at
                && now.saturating_since(at) >= GRACE
            {
                return Ok(ShellEnd::Killed(signal));
            }
            self.turn(now + if asked_at.is_some() { GRACE } else { LOOK_AROUND })?;
            if let Some((dns_forwarder, number)) = &mut self.dns_forwarder
                && self.emulator.is_ready(*number)
            {
                dns_forwarder.handle_ready(namespace);
            }
            if self.emulator.is_ready(self.orders) {
                for signal in options.orders.take() {
                    // It fails only where the command has just ended, which the news will say.
                    let _ = namespace.signal_command(COMMAND, signal);
                    if orders::ends(signal) {
                        asked_at = asked_at.or(Some((self.emulator.now(), signal as i32)));
                    }
                }
            }
            if self.emulator.is_ready(self.news)
                && let Some((_, end)) = namespace.command_end()
            {
                let end = ended(end, options)?;
                self.linger(namespace, options)?;
                return Ok(end);
            }
        }
    }

    /// Lets what the command has sent arrive, though it has ended.
    fn linger(&mut self, namespace: &Namespace, options: &ShellOptions) -> Result<(), ShellError> {
        let mut linger = Linger::from(self.emulator.now());
        while let Some(until) = linger.goes_on(self.emulator.now(), namespace, self.under_way()) {
            self.turn(until)?;
            if self.emulator.is_ready(self.orders) && !options.orders.take().is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Whether packets are on the path.
    fn under_way(&self) -> bool {
        self.emulator.simulation().graph().conservation().in_flight > 0
    }

    /// One turn of the emulator, and one of the meter when it is due.
    fn turn(&mut self, until: Time) -> Result<(), ShellError> {
        let due = self.sink.1.as_ref().map_or(Time::NEVER, MeterFill::due);
        self.emulator.turn(until.min(due), &mut self.sink)?;
        let now = self.emulator.now();
        if now >= due {
            let lateness = self.emulator.lateness().report(self.budget);
            if let Some(meter) = &mut self.sink.1 {
                meter.tick(now, Some(lateness));
            }
        }
        Ok(())
    }
}

fn ended(end: CommandEnd, options: &ShellOptions) -> Result<ShellEnd, ShellError> {
    match end {
        CommandEnd::Exited(code) => Ok(ShellEnd::Exited(code)),
        CommandEnd::Killed(signal) => Ok(ShellEnd::Killed(signal as i32)),
        CommandEnd::NotStarted(errno) => {
            let command = super::argv(options).swap_remove(0);
            Err(ShellError::NotStarted { command, errno })
        }
    }
}
