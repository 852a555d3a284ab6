//! One emulation from its first namespace to its report.

use super::hosts::{KernelHost, host_reports, kernel_ends, make_hosts};
use super::observe::ObservedEnds;
use super::options::{
    CommandLasts, EmulationEnding, EmulationNotice, EmulationOptions, EmulationReport, TcpSample,
};
use super::servers::{LOOK_AGAIN, start_of, start_servers};
use super::{Directory, Door, Emulator, MaySpin, Parts, RealTime, Remains};
use crate::apps::{AppNews, Apps, Call, EndReport};
use crate::clock::Clock;
use crate::error::LiveError;
use crate::meter::MeterFill;
use crate::session::CommandOutcome;
use crate::sys::{CommandEnd, Scheduling, Urgency, sharpen_timers};
use ackord_events::{EndpointId, Event, Sink};
use ackord_scenario::Transport;
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, NodeId, Side};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

/// At most this much time passes between two calls of the progress callback.
const SLICE: Span = Span::from_millis(50);
/// How long a server may go on when its client has ended.
const LINGER: Span = Span::from_millis(500);
/// How often servers are looked at until they have ended.
const LAST_LOOKS: u32 = 20;

/// Runs a scenario in real time between kernel hosts and ours. `progress` is called every now and
/// then with the time of the run; when it answers [`ControlFlow::Break`] the run ends there.
///
/// # Errors
/// [`LiveError`]: where the system does not allow namespaces, a program cannot be started, the
/// scenario is too large to be built, or a device is gone.
pub fn emulate<S: Sink>(
    options: EmulationOptions,
    sink: &mut S,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<EmulationReport, LiveError> {
    let mut run = Run::open(options)?;
    let ending = run.drive(sink, progress)?;
    run.finish(ending, sink)
}

/// An emulation under way.
struct Run {
    options: EmulationOptions,
    hosts: Vec<KernelHost>,
    emulator: Emulator<RealTime, ObservedEnds>,
    apps: Option<Apps>,
    meter: Option<MeterFill>,
    urgency: Urgency,
    watched: Watched,
    /// Ends of kernel hosts that are not done.
    open: BTreeSet<EndpointId>,
    /// Ends of servers whose client has ended, and until when they may go on.
    lingering: Vec<(Time, EndpointId)>,
    /// Commands that are still to be started, by their place in the options.
    to_start: Vec<usize>,
    outcomes: Vec<CommandOutcome>,
    samples: Vec<TcpSample>,
}

/// Numbers of what the emulator waits for besides its doors.
struct Watched {
    stop: usize,
    apps: Option<usize>,
    hosts: Vec<usize>,
}

impl Run {
    fn open(mut options: EmulationOptions) -> Result<Run, LiveError> {
        let (mut hosts, mut doors) = (Vec::new(), Vec::<(NodeId, Box<dyn Door>)>::new());
        for (host, door) in make_hosts(&options)? {
            doors.push((host.node, Box::new(door)));
            hosts.push(host);
        }
        let ends = kernel_ends(&options, &hosts)?;
        let open = open_ends(&options, &hosts);
        sharpen_timers();
        let urgency = Urgency::of(options.priority);
        let spin = match urgency.scheduling() {
            Scheduling::RealTime => MaySpin::No,
            Scheduling::Ordinary => MaySpin::Yes,
        };
        let (started, ended) = start_servers(&options, &mut hosts)?;
        let clock = Clock::start();
        let directory = Directory::of_hosts(&options.scenario);
        let timeline = RealTime::new(clock, spin);
        let (scenario, seed) = (&options.scenario, options.seed);
        let parts = Parts { scenario, seed, doors, directory, timeline };
        let mut emulator =
            Emulator::watched_by(parts, ObservedEnds::new(options.scenario.flows.len()))?;
        if let Some(taps) = options.taps.take() {
            emulator.tap(taps);
        }
        let apps = match ends.is_empty() {
            true => None,
            false => Some(Apps::start(ends, clock, options.samples_every, options.priority)?),
        };
        let watched = Watched {
            stop: emulator.watch(options.stop.as_fd()),
            apps: apps.as_ref().map(|apps| emulator.watch(apps.as_fd())),
            hosts: hosts.iter().map(|host| emulator.watch(host.namespace.as_fd())).collect(),
        };
        let enter = hosts.iter().map(|host| (host.node, host.namespace.enter_command())).collect();
        let began_at = clock.wall(Time::ZERO);
        (options.notify)(&EmulationNotice::Began { began_at, enter });
        let others = (0..options.commands.len()).filter(|number| !started.contains(number));
        let mut run = Run {
            meter: options.meter.as_ref().map(|feed| feed.fill()),
            to_start: others.collect(),
            outcomes: vec![CommandOutcome::StillRunning; options.commands.len()],
            options,
            hosts,
            emulator,
            apps,
            urgency,
            watched,
            open,
            lingering: Vec::new(),
            samples: Vec::new(),
        };
        for (number, end) in ended {
            run.command_ended(number, end)?;
        }
        Ok(run)
    }

    /// Runs to the end.
    fn drive<S: Sink>(
        &mut self,
        sink: &mut S,
        progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<EmulationEnding, LiveError> {
        let end = Time::ZERO + self.options.scenario.duration;
        let mut told_at = Time::ZERO;
        self.flows_over();
        while !self.emulator.is_over() {
            self.start_commands()?;
            let until = self.next_look(told_at + SLICE).min(end);
            self.emulator.turn(until, &mut (&mut self.meter, &mut *sink))?;
            self.look_around(sink)?;
            self.end_lingering();
            if self.emulator.is_ready(self.watched.stop) {
                return Ok(EmulationEnding::Stopped);
            }
            let now = self.emulator.now();
            self.tick(now, sink);
            if now >= told_at + SLICE {
                told_at = now;
                if progress(now).is_break() && !self.emulator.is_over() {
                    return Ok(EmulationEnding::Stopped);
                }
            }
        }
        Ok(EmulationEnding::Complete)
    }

    /// When there is something to do beside the path, at the latest at `until`.
    fn next_look(&self, until: Time) -> Time {
        let command = |number: &usize| start_of(&self.options.commands[*number]);
        let commands = self.to_start.iter().map(command);
        let meter = self.meter.as_ref().map(MeterFill::due);
        let lingering = self.lingering.iter().map(|(at, _)| *at);
        commands.chain(meter).chain(lingering).fold(until, Time::min)
    }

    fn start_commands(&mut self) -> Result<(), LiveError> {
        let now = self.emulator.now();
        let Run { to_start, options, hosts, .. } = self;
        let mut failed = None;
        to_start.retain(|number| {
            let command = &options.commands[*number];
            if start_of(command) > now {
                return true;
            }
            let host = hosts.iter_mut().find(|host| host.node == command.host);
            let inside = host.and_then(|host| {
                let place = host.commands.iter().position(|other| other == number)?;
                Some(host.namespace.start_command(place))
            });
            failed = failed.or(inside.and_then(Result::err));
            false
        });
        failed.map_or(Ok(()), |errno| Err(errno.into()))
    }

    /// Hears what namespaces and applications have to say.
    fn look_around<S: Sink>(&mut self, sink: &mut S) -> Result<(), LiveError> {
        for index in 0..self.hosts.len() {
            if self.emulator.is_ready(self.watched.hosts[index])
                && let Some((place, end)) = self.hosts[index].namespace.command_end()
                && let Some(number) = self.hosts[index].commands.get(place).copied()
            {
                self.command_ended(number, end)?;
            }
            if self.hosts[index].namespace.is_gone() {
                let host = &self.options.scenario.node(self.hosts[index].node).name;
                return Err(LiveError::NamespaceGone {
                    whose: format!("the namespace of `{host}`"),
                });
            }
        }
        let apps_ready = self.watched.apps.is_some_and(|number| self.emulator.is_ready(number));
        if apps_ready && let Some(apps) = &mut self.apps {
            for news in apps.news() {
                self.hear(news, sink);
            }
        }
        Ok(())
    }

    fn command_ended(&mut self, number: usize, end: CommandEnd) -> Result<(), LiveError> {
        let outcome = match end {
            CommandEnd::Exited(code) => CommandOutcome::Exited(code),
            CommandEnd::Killed(signal) => CommandOutcome::Killed(signal.as_str()),
            CommandEnd::NotStarted(errno) => {
                let command = self.options.commands[number].argv.join(" ");
                return Err(LiveError::CommandNotStarted { command, errno });
            }
        };
        self.outcomes[number] = outcome.clone();
        (self.options.notify)(&EmulationNotice::CommandEnded { command: number, outcome });
        let command = &self.options.commands[number];
        let (ends, lasts) = (command.ends.clone(), command.lasts);
        for endpoint in ends {
            let other = EndpointId { side: endpoint.side.other(), ..endpoint };
            if lasts == CommandLasts::UntilItEnds && self.open.contains(&other) {
                // What was sent last is still under way.
                self.lingering.push((self.emulator.now() + LINGER, other));
            }
            self.end_done(endpoint);
        }
        Ok(())
    }

    fn hear<S: Sink>(&mut self, news: AppNews, sink: &mut S) {
        match news {
            AppNews::Began { at, endpoint, transfer } => {
                let (index, bytes) = (transfer.index, transfer.bytes);
                sink.emit(at, Event::TransferBegan { endpoint, index, bytes });
            }
            AppNews::Completed { at, endpoint, transfer } => {
                let (index, bytes) = (transfer.index, transfer.bytes);
                sink.emit(at, Event::TransferCompleted { endpoint, index, bytes });
            }
            AppNews::Sampled { at, endpoint, info } => {
                self.emulator.onlooker_mut().sampled(at, endpoint, &info, sink);
                self.samples.push(TcpSample { at, endpoint, info: *info });
            }
            AppNews::Closed { endpoint, .. } => self.end_done(endpoint),
            AppNews::Failed { endpoint, call, .. } => {
                self.end_done(endpoint);
                if call == Call::Connect {
                    // Nobody will ever come to the other end.
                    self.end_done(EndpointId { side: endpoint.side.other(), ..endpoint });
                }
            }
            // That is told from the wire.
            AppNews::Established { .. } => {}
        }
    }

    /// A kernel host is done with an end.
    fn end_done(&mut self, endpoint: EndpointId) {
        if self.open.remove(&endpoint) {
            let other = EndpointId { side: endpoint.side.other(), ..endpoint };
            if !self.open.contains(&other) {
                self.emulator.simulation_mut().flow_over(endpoint.flow);
            }
        }
    }

    /// Servers whose client has ended have had time enough.
    fn end_lingering(&mut self) {
        let now = self.emulator.now();
        let over: Vec<_> =
            self.lingering.iter().filter(|(until, _)| *until <= now).map(|(_, end)| *end).collect();
        self.lingering.retain(|(until, _)| *until > now);
        over.into_iter().for_each(|endpoint| self.end_done(endpoint));
    }

    /// Flows of which no kernel host has an end that anybody waits for.
    fn flows_over(&mut self) {
        for flow in 0..self.options.scenario.flows.len() as u32 {
            let flow = FlowId(flow);
            let open = |side| self.open.contains(&EndpointId { flow, side });
            if !open(Side::Client) && !open(Side::Server) {
                self.emulator.simulation_mut().flow_over(flow);
            }
        }
    }

    fn tick<S: Sink>(&mut self, now: Time, sink: &mut S) {
        if self.meter.as_ref().is_some_and(|meter| meter.due() <= now) {
            self.emulator.settle(&mut (&mut self.meter, sink));
            let lateness = self.emulator.lateness().report(self.options.lateness_budget);
            if let Some(meter) = &mut self.meter {
                meter.tick(now, Some(lateness));
            }
        }
    }

    /// Lets servers end: by themselves, or asked to.
    fn end_servers(&mut self) -> Result<(), LiveError> {
        let running = |run: &Run| {
            let outcomes = run.outcomes.iter().zip(&run.options.commands).enumerate();
            let serving = outcomes.filter(|(number, (outcome, command))| {
                **outcome == CommandOutcome::StillRunning
                    && command.lasts == CommandLasts::AsLongAsTheRun
                    && !run.to_start.contains(number)
            });
            serving.map(|(number, _)| number).collect::<Vec<_>>()
        };
        for asked in [false, true] {
            for number in running(self).into_iter().filter(|_| asked) {
                let host = self.options.commands[number].host;
                if let Some(host) = self.hosts.iter().find(|other| other.node == host)
                    && let Some(place) = host.commands.iter().position(|other| *other == number)
                {
                    // One that has just ended cannot be asked any more.
                    let _ = host.namespace.signal_command(place, Signal::SIGTERM);
                }
            }
            for _ in 0..LAST_LOOKS {
                if running(self).is_empty() {
                    return Ok(());
                }
                std::thread::sleep(LOOK_AGAIN);
                for index in 0..self.hosts.len() {
                    while let Some((place, end)) = self.hosts[index].namespace.command_end() {
                        let number = self.hosts[index].commands[place];
                        self.command_ended(number, end)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish<S: Sink>(
        mut self,
        ending: EmulationEnding,
        sink: &mut S,
    ) -> Result<EmulationReport, LiveError> {
        let mut ends: Vec<EndReport> = Vec::new();
        if let Some(apps) = self.apps.take() {
            let remains = apps.finish()?;
            for news in remains.news {
                self.hear(news, sink);
            }
            ends = remains.reports;
        }
        self.end_servers()?;
        let hosts = host_reports(&self.options.scenario, &self.hosts);
        let Remains { mut simulation, lateness, counts, .. } = self.emulator.finish();
        drop(self.hosts);
        let conservation = simulation.finish(&mut (&mut self.meter, sink))?;
        Ok(EmulationReport {
            took: simulation.now().saturating_since(Time::ZERO),
            ending,
            lateness: lateness.report(self.options.lateness_budget),
            lateness_histogram: lateness.histogram(),
            scheduling: self.urgency.scheduling(),
            counts,
            conservation,
            hosts,
            samples: self.samples,
            ends,
            commands: self.outcomes,
            simulation,
        })
    }
}

/// The ends of TCP flows that kernel hosts have and that are waited for.
fn open_ends(options: &EmulationOptions, hosts: &[KernelHost]) -> BTreeSet<EndpointId> {
    let mut open = BTreeSet::new();
    for (flow, number) in options.scenario.flows.iter().zip(0..) {
        for (side, node) in [(Side::Client, flow.client), (Side::Server, flow.server)] {
            let endpoint = EndpointId { flow: FlowId(number), side };
            let here = hosts.iter().any(|host| host.node == node);
            // A server whose client is a command too is waited for a moment when that has ended.
            let lasts = |endpoint| {
                let of = options.commands.iter().find(|it| it.ends.contains(&endpoint));
                of.map(|command| command.lasts)
            };
            let other = EndpointId { side: side.other(), ..endpoint };
            let serves = lasts(endpoint) == Some(CommandLasts::AsLongAsTheRun)
                && lasts(other) != Some(CommandLasts::UntilItEnds);
            if here && !serves && flow.transport() == Transport::Tcp {
                open.insert(endpoint);
            }
        }
    }
    open
}
