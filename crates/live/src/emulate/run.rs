//! One emulation from its first namespace to its report.

use super::kernel_hosts::KernelHosts;
use super::observe::ObservedEnds;
use super::options::{
    EmulationNotice, EmulationOptions, EmulationReport, HostNews, Hosts, TcpSample,
};
use super::router::Cut;
use super::timeline::Timeline;
use super::{Devices, Directory, Emulator, Parts, RealTime, Remains};
use crate::apps::{AppEvent, AppNews, Call};
use crate::clock::Clock;
use crate::error::LiveError;
use crate::meter::MeterFill;
use crate::options::CommandOutcome;
use ackord_events::{EndpointId, Event, Sink};
use ackord_scenario::Transport;
use ackord_sys::{CommandEnd, Urgency, sharpen_timers};
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, NodeId, Side};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// At most this much time passes between two calls of the progress callback.
const SLICE: Span = Span::from_millis(50);
/// How long a server may go on when its client has ended.
const LINGER: Span = Span::from_millis(500);

/// Runs a scenario in real time between kernel hosts and ours. `progress` is called every now and
/// then with the time of the run; when it answers [`ControlFlow::Break`] the run ends there.
///
/// # Errors
/// [`LiveError`]: where the system does not allow namespaces, a program cannot be started, the
/// scenario is too large to be built, or a device is gone.
pub fn emulate<S: Sink>(
    mut options: EmulationOptions,
    sink: &mut S,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<EmulationReport, LiveError> {
    let (mut hosts, devices) = KernelHosts::open(&options)?;
    sharpen_timers();
    let urgency = Urgency::of(options.realtime_priority);
    let clock = Clock::start();
    hosts.begin(&options, clock, None)?;
    let enter = hosts.enter_commands();
    (options.notify)(&EmulationNotice::Began { began_at: clock.wall(Time::ZERO), enter });
    let timeline = RealTime::new(clock, urgency.is_granted());
    let mut run = Run::open(options, (hosts, devices), timeline)?;
    let stopped = run.drive(sink, progress)?;
    let report = run.finish(stopped, sink)?;
    Ok(EmulationReport { realtime_priority: urgency.is_granted(), ..report })
}

/// An emulation under way.
pub(crate) struct Run<T, H> {
    options: EmulationOptions,
    hosts: H,
    emulator: Emulator<T, ObservedEnds>,
    meter: Option<MeterFill>,
    watched: Watched,
    /// Ends of kernel hosts that are not done.
    open: BTreeSet<EndpointId>,
    /// Ends of servers whose client has ended, and until when they may go on.
    lingering: Vec<(Time, EndpointId)>,
    outcomes: Vec<CommandOutcome>,
    samples: Vec<TcpSample>,
}

/// Numbers of what the emulator waits for besides its devices.
struct Watched {
    stop: usize,
    hosts: Vec<usize>,
}

/// Hosts, and their devices.
type HostsAndDevices<H> = (H, Devices);

impl<T: Timeline, H: Hosts> Run<T, H> {
    pub(crate) fn open(
        mut options: EmulationOptions,
        (hosts, devices): HostsAndDevices<H>,
        timeline: T,
    ) -> Result<Run<T, H>, LiveError> {
        let nodes: Vec<NodeId> = devices.iter().map(|(node, _)| *node).collect();
        let open = open_ends(&options, &nodes);
        let router = options.router.filter(|router| nodes.contains(&router.node));
        if let Some(router) = router {
            // What they would do is for the programs of the router.
            let mut boxes = options.scenario.proxies.iter_mut();
            boxes.by_ref().filter(|it| it.at == router.node).for_each(|it| it.choice = None);
        }
        let directory = Directory::of_hosts(&options.scenario);
        let (scenario, seed) = (&options.scenario, options.seed);
        let parts = Parts { scenario, seed, devices, directory, timeline };
        let mut emulator =
            Emulator::watched_by(parts, ObservedEnds::new(options.scenario.flows.len()))?;
        if let Some(router) = router {
            emulator.cut_at(Cut::new(router, scenario));
        }
        if let Some(taps) = options.taps.take() {
            emulator.tap(taps);
        }
        let watched = Watched {
            stop: emulator.watch(options.stop.as_fd()),
            hosts: hosts.descriptors().into_iter().map(|fd| emulator.watch(fd)).collect(),
        };
        Ok(Run {
            meter: options.meter.as_ref().map(|feed| feed.fill()),
            outcomes: vec![CommandOutcome::StillRunning; options.commands.len()],
            options,
            hosts,
            emulator,
            watched,
            open,
            lingering: Vec::new(),
            samples: Vec::new(),
        })
    }

    /// Runs to the end; says whether somebody wanted it earlier.
    pub(crate) fn drive<S: Sink>(
        &mut self,
        sink: &mut S,
        progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<bool, LiveError> {
        let end = Time::ZERO + self.options.scenario.duration;
        let mut told_at = Time::ZERO;
        self.look_around(sink)?;
        self.flows_over();
        while !self.emulator.is_over() {
            self.hosts.start_commands(self.emulator.now())?;
            let until = self.next_look(told_at + SLICE).min(end);
            self.emulator.turn(until, &mut (&mut self.meter, &mut *sink))?;
            self.look_around(sink)?;
            self.end_lingering();
            if self.emulator.is_ready(self.watched.stop) {
                return Ok(true);
            }
            let now = self.emulator.now();
            self.tick(now, sink);
            if now >= told_at + SLICE {
                told_at = now;
                if progress(now).is_break() && !self.emulator.is_over() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// When there is something to do beside the path, at the latest at `until`.
    fn next_look(&self, until: Time) -> Time {
        let meter = self.meter.as_ref().map(MeterFill::due);
        let lingering = self.lingering.iter().map(|(at, _)| *at);
        let others = meter.into_iter().chain(lingering).chain([self.hosts.next_start()]);
        others.fold(until, Time::min)
    }

    /// Hears what the hosts have to say.
    fn look_around<S: Sink>(&mut self, sink: &mut S) -> Result<(), LiveError> {
        let (emulator, watched) = (&self.emulator, &self.watched.hosts);
        let news = self.hosts.news(&|number| emulator.is_ready(watched[number]))?;
        news.into_iter().try_for_each(|news| self.hear_of(news, sink))
    }

    fn hear_of<S: Sink>(&mut self, news: HostNews, sink: &mut S) -> Result<(), LiveError> {
        match news {
            HostNews::App(news) => self.hear(news, sink),
            HostNews::CommandEnded { number, end } => self.command_ended(number, end)?,
        }
        Ok(())
    }

    fn command_ended(&mut self, number: usize, end: CommandEnd) -> Result<(), LiveError> {
        let outcome = CommandOutcome::of(end, &self.options.commands[number].argv)?;
        self.outcomes[number] = outcome.clone();
        (self.options.notify)(&EmulationNotice::CommandEnded { command: number, outcome });
        let command = &self.options.commands[number];
        let (ends, serves) = (command.ends.clone(), command.serves);
        for endpoint in ends {
            let other = EndpointId { side: endpoint.side.other(), ..endpoint };
            if !serves && self.open.contains(&other) {
                // What was sent last is still under way.
                self.lingering.push((self.emulator.now() + LINGER, other));
            }
            self.end_done(endpoint);
        }
        Ok(())
    }

    fn hear<S: Sink>(&mut self, news: AppNews, sink: &mut S) {
        let AppNews { at, endpoint, what } = news;
        match what {
            AppEvent::Began(transfer) => {
                let (index, bytes) = (transfer.index, transfer.bytes);
                sink.emit(at, Event::TransferBegan { endpoint, index, bytes });
            }
            AppEvent::Completed(transfer) => {
                let (index, bytes) = (transfer.index, transfer.bytes);
                sink.emit(at, Event::TransferCompleted { endpoint, index, bytes });
            }
            AppEvent::Sampled(info) => {
                self.emulator.observer_mut().sampled(at, endpoint, &info, sink);
                self.samples.push(TcpSample { at, endpoint, info: *info });
            }
            AppEvent::Closed => self.end_done(endpoint),
            AppEvent::Failed { call, .. } => {
                self.end_done(endpoint);
                if call == Call::Connect {
                    // Nobody will ever come to the other end.
                    self.end_done(EndpointId { side: endpoint.side.other(), ..endpoint });
                }
            }
            // That is told from the wire.
            AppEvent::Established => {}
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

    pub(crate) fn finish<S: Sink>(
        mut self,
        stopped: bool,
        sink: &mut S,
    ) -> Result<EmulationReport, LiveError> {
        let remains = self.hosts.finish()?;
        for news in remains.news {
            self.hear_of(news, sink)?;
        }
        let Remains { mut simulation, lateness, mut counts, .. } = self.emulator.finish();
        counts.refused += remains.refused;
        counts.delivered -= remains.refused;
        let conservation = simulation.finish(&mut (&mut self.meter, sink))?;
        Ok(EmulationReport {
            took: simulation.now().saturating_since(Time::ZERO),
            stopped,
            lateness: lateness.report(self.options.lateness_budget),
            lateness_histogram: lateness.histogram(),
            realtime_priority: false,
            counts,
            conservation,
            hosts: remains.hosts,
            router: remains.router,
            samples: self.samples,
            ends: remains.ends,
            commands: self.outcomes,
            simulation,
        })
    }
}

/// The ends of TCP flows that kernel hosts have and that are waited for.
fn open_ends(options: &EmulationOptions, hosts: &[NodeId]) -> BTreeSet<EndpointId> {
    let mut open = BTreeSet::new();
    for (flow, number) in options.scenario.flows.iter().zip(0..) {
        for (side, node) in [(Side::Client, flow.client), (Side::Server, flow.server)] {
            let endpoint = EndpointId { flow: FlowId(number), side };
            let here = hosts.contains(&node);
            // A server whose client is a command too is waited for a moment when that has ended.
            let serves = |endpoint| {
                let of = options.commands.iter().find(|it| it.ends.contains(&endpoint));
                of.map(|command| command.serves)
            };
            let other = EndpointId { side: side.other(), ..endpoint };
            let only_serves = serves(endpoint) == Some(true) && serves(other) != Some(false);
            if here && !only_serves && flow.transport() == Transport::Tcp {
                open.insert(endpoint);
            }
        }
    }
    open
}
