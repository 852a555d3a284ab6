//! The kernel hosts of an emulation in real time, with their applications and programs.

use super::Devices;
use super::device::Device;
use super::hosts::{KernelHost, commands_at, host_reports, kernel_ends, make_hosts};
use super::options::{EmulationOptions, HostCommand, HostNews, Hosts, HostsRemains};
use super::router::{Crossing, RouterMade, make_router};
use super::servers::{LOOK_AGAIN, start_servers};
use crate::apps::{Apps, KernelEnd, Sampling, Teller};
use crate::clock::Clock;
use crate::error::LiveError;
use ackord_scenario::Scenario;
use ackord_sys::CommandEnd;
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use nix::sys::signal::Signal;
use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// How often servers are looked at until they have ended.
const LAST_LOOKS: u32 = 20;

/// Hosts on the kernel that this program runs on.
pub(crate) struct KernelHosts {
    hosts: Vec<KernelHost>,
    /// The ends of flows, until their applications start.
    ends: Vec<KernelEnd>,
    apps: Option<Apps>,
    commands: Vec<HostCommand>,
    /// Commands that are still to be started, by their place in the options.
    to_start: Vec<usize>,
    running: Vec<bool>,
    /// What has ended before anybody asked.
    ended: Vec<(usize, CommandEnd)>,
    scenario: Scenario,
    /// What passes the router, where one is a kernel, and its budget of lateness.
    crossing: Option<(Rc<RefCell<Crossing>>, Span)>,
}

impl KernelHosts {
    /// Makes the hosts and starts their servers.
    pub(crate) fn open(options: &EmulationOptions) -> Result<(KernelHosts, Devices), LiveError> {
        let (mut hosts, mut devices) = (Vec::new(), Devices::new());
        for (host, device) in make_hosts(options)? {
            devices.extend(device.map(|device| (host.node, Box::new(device) as Box<dyn Device>)));
            hosts.push(host);
        }
        let mut crossing = None;
        if let Some(router) = options.router {
            let (numbers, inside) = commands_at(options, router.node);
            let made = make_router(options, router, inside)?;
            let RouterMade { namespace, device, crossing: seen } = made;
            crossing = Some((seen, options.lateness_budget));
            devices.push((router.node, Box::new(device)));
            hosts.push(KernelHost::router(router.node, namespace, numbers));
        }
        let ends = kernel_ends(options, &hosts)?;
        let (started, ended) = start_servers(options, &mut hosts)?;
        let commands = options.commands.clone();
        let here = |number: &usize| hosts.iter().any(|host| host.node == commands[*number].host);
        let others = (0..commands.len()).filter(|number| !started.contains(number) && here(number));
        let to_start = others.collect();
        let hosts = KernelHosts {
            hosts,
            ends,
            apps: None,
            to_start,
            running: (0..commands.len()).map(|number| started.contains(&number)).collect(),
            commands,
            ended,
            scenario: options.scenario.clone(),
            crossing,
        };
        Ok((hosts, devices))
    }

    /// The time of the run begins: so do the applications, whose news `teller` hears, if any.
    pub(crate) fn begin(
        &mut self,
        options: &EmulationOptions,
        clock: Clock,
        teller: Option<Teller>,
    ) -> Result<(), LiveError> {
        let ends = std::mem::take(&mut self.ends);
        if !ends.is_empty() {
            let sampling = Sampling { every: options.samples_every, after: options.samples_after };
            self.apps =
                Some(Apps::start(ends, clock, sampling, options.realtime_priority, teller)?);
        }
        Ok(())
    }

    /// The command line that enters each host.
    pub(crate) fn enter_commands(&self) -> Vec<(NodeId, String)> {
        self.hosts.iter().map(|host| (host.node, host.namespace.enter_command())).collect()
    }

    /// Lets servers end: by themselves, or asked to.
    fn end_servers(&mut self, news: &mut Vec<HostNews>) -> Result<(), LiveError> {
        let serving = |hosts: &KernelHosts| -> Vec<usize> {
            let numbers = (0..hosts.commands.len()).filter(|number| hosts.running[*number]);
            numbers.filter(|number| hosts.commands[*number].serves).collect()
        };
        for asked in [false, true] {
            for number in serving(self).into_iter().filter(|_| asked) {
                let host = self.commands[number].host;
                if let Some(host) = self.hosts.iter().find(|other| other.node == host)
                    && let Some(place) = host.commands.iter().position(|other| *other == number)
                {
                    // One that has just ended cannot be asked any more.
                    let _ = host.namespace.signal_command(place, Signal::SIGTERM);
                }
            }
            for _ in 0..LAST_LOOKS {
                if serving(self).is_empty() {
                    return Ok(());
                }
                std::thread::sleep(LOOK_AGAIN);
                for index in 0..self.hosts.len() {
                    self.hear_commands(index, news);
                }
            }
        }
        Ok(())
    }

    fn hear_commands(&mut self, index: usize, news: &mut Vec<HostNews>) {
        let host = &mut self.hosts[index];
        while let Some((place, end)) = host.namespace.command_end() {
            if let Some(number) = host.commands.get(place).copied() {
                self.running[number] = false;
                news.push(HostNews::CommandEnded { number, end });
            }
        }
    }
}

impl Hosts for KernelHosts {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let hosts = self.hosts.iter().map(|host| host.namespace.as_fd());
        hosts.chain(self.apps.as_ref().map(Apps::as_fd)).collect()
    }

    fn next_start(&self) -> Time {
        let commands = self.to_start.iter().map(|number| self.commands[*number].start());
        commands.min().unwrap_or(Time::NEVER)
    }

    fn start_commands(&mut self, now: Time) -> Result<(), LiveError> {
        let KernelHosts { to_start, commands, hosts, running, .. } = self;
        let mut failed = None;
        to_start.retain(|number| {
            let command = &commands[*number];
            if command.start() > now {
                return true;
            }
            let host = hosts.iter_mut().find(|host| host.node == command.host);
            let inside = host.and_then(|host| {
                let place = host.commands.iter().position(|other| other == number)?;
                Some(host.namespace.start_command(place))
            });
            running[*number] = true;
            failed = failed.or(inside.and_then(Result::err));
            false
        });
        failed.map_or(Ok(()), |errno| Err(errno.into()))
    }

    fn news(&mut self, is_ready: &dyn Fn(usize) -> bool) -> Result<Vec<HostNews>, LiveError> {
        let mut news: Vec<HostNews> = Vec::new();
        for (number, end) in self.ended.drain(..) {
            self.running[number] = false;
            news.push(HostNews::CommandEnded { number, end });
        }
        for index in 0..self.hosts.len() {
            if is_ready(index) {
                self.hear_commands(index, &mut news);
            }
            if self.hosts[index].namespace.is_gone() {
                let host = &self.scenario.node(self.hosts[index].node).name;
                return Err(LiveError::NamespaceGone {
                    whose: format!("the namespace of `{host}`"),
                });
            }
        }
        // Its descriptor is behind those of the hosts.
        if let Some(apps) = &mut self.apps
            && is_ready(self.hosts.len())
        {
            news.extend(apps.news().into_iter().map(HostNews::App));
        }
        Ok(news)
    }

    fn finish(&mut self) -> Result<HostsRemains, LiveError> {
        let mut remains = HostsRemains::default();
        if let Some(apps) = self.apps.take() {
            let left = apps.finish()?;
            remains.news.extend(left.news.into_iter().map(HostNews::App));
            remains.ends = left.reports;
        }
        self.end_servers(&mut remains.news)?;
        remains.hosts = host_reports(&self.scenario, &self.hosts);
        let crossing = self.crossing.as_ref();
        remains.router = crossing.map(|(seen, budget)| seen.borrow().report(*budget));
        Ok(remains)
    }
}
