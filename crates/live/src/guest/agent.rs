//! The first program on a host's kernel: does what the job says.

use super::endpoint;
use super::messages::{GuestMessage, JOB_PATH, Job, Order, tell};
use super::orders::Orders;
use super::outputs::Outputs;
use super::script_messages::Task;
use super::{machine_files, surroundings};
use crate::apps::AppNews;
use crate::clock::Clock;
use crate::emulate::{EmulationOptions, Hosts, KernelHosts};
use crate::error::LiveError;
use ackord_scenario::{NodeKind, Scenario};
use ackord_sys::{PollSet, sharpen_timers};
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use nix::net::if_::if_nametoindex;
use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::File;

/// Nobody waits longer than this without looking around.
const LONGEST: Span = Span::from_secs(3600);

pub(super) fn run() -> ! {
    let line = surroundings::prepare();
    if let Err(error) = work(&line) {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        tell(&line, &GuestMessage::Failed(text));
    }
    // The first program must not end: the kernel would panic.
    loop {
        nix::unistd::pause();
    }
}

fn work(line: &File) -> Result<(), Box<dyn Error>> {
    let mut job = match serde_json::from_slice(&std::fs::read(JOB_PATH)?)? {
        Task::Host(job) => job,
        Task::Scripts(job) => return endpoint::work(&job, line),
    };
    ackord_uml::seed_random_numbers(&job.entropy)?;
    let scenario = Scenario::from_toml(&job.scenario, "the job")?;
    let mut options = options_of(&mut job, scenario)?;
    let mut outputs = None;
    if let Some(place) = &job.programs {
        let here = job.node;
        machine_files::enter(place, &options.scenario.node(here).name)?;
        outputs = Some(Outputs::of(&mut options.commands, here, line)?);
    }
    let (mut hosts, _) = KernelHosts::open(&options)?;
    let orders = Orders::listen(if_nametoindex("eth0")? as i32)?;
    tell(line, &GuestMessage::Ready { monotonic: monotonic()? });
    orders.hello()?;
    let begins_at = wait_for_order(&orders)?;
    sharpen_timers();
    let clock = Clock::starting_at(begins_at);
    let at_once = line.try_clone()?;
    let teller = move |news: AppNews| tell(&at_once, &GuestMessage::At(news));
    hosts.begin(&options, clock, Some(Box::new(teller)))?;
    serve((&mut hosts, &orders, clock), line)?;
    let remains = hosts.finish()?;
    if let Some(outputs) = outputs {
        outputs.finish();
    }
    for news in remains.news {
        tell(line, &news.into());
    }
    for report in remains.ends {
        tell(line, &GuestMessage::Left(Box::new(report)));
    }
    if let Some(host) = remains.hosts.into_iter().find(|host| host.node == job.node) {
        tell(line, &GuestMessage::Host(Box::new(host)));
    }
    // What has been told is only seen when the run goes on.
    orders.hello()?;
    Ok(())
}

/// Tells what happens until the run is over.
fn serve(
    (hosts, orders, clock): (&mut KernelHosts, &Orders, Clock),
    line: &File,
) -> Result<(), LiveError> {
    loop {
        let mut poll = PollSet::default();
        let descriptors = hosts.descriptors();
        let count = descriptors.len();
        for descriptor in descriptors {
            poll.add(descriptor);
        }
        let ordered = poll.add(orders.as_fd());
        let mut news = hosts.news(&|_| false)?;
        while news.is_empty() {
            let now = clock.now();
            hosts.start_commands(now)?;
            let next = hosts.next_start().saturating_since(now).min(LONGEST);
            poll.wait(next).map_err(std::io::Error::from)?;
            if poll.is_ready(ordered) && orders.next() == Some(Order::Stop) {
                return Ok(());
            }
            news = hosts.news(&|number| number < count && poll.is_ready(number))?;
        }
        for news in news {
            tell(line, &news.into());
        }
    }
}

fn options_of(job: &mut Job, scenario: Scenario) -> std::io::Result<EmulationOptions> {
    let here = job.node;
    let nodes = scenario.nodes.iter().zip(0..);
    let hosts = nodes.filter(|(node, _)| node.kind == NodeKind::Host);
    let others = hosts.map(|(_, number)| NodeId(number)).filter(|node| *node != here).collect();
    let mut options = EmulationOptions::new(scenario)?;
    options.seed = job.seed;
    options.ours = others;
    options.device_exists = true;
    options.commands = std::mem::take(&mut job.commands);
    options.samples_every = job.samples_every;
    // Kernels that have something to do at one instant take turns for every step of it.
    options.samples_after = Span::from_micros(10) * u64::from(here.0 % 100);
    Ok(options)
}

fn wait_for_order(orders: &Orders) -> Result<u64, LiveError> {
    let mut poll = PollSet::default();
    poll.add(orders.as_fd());
    loop {
        poll.wait(LONGEST).map_err(std::io::Error::from)?;
        if let Some(Order::Begin(at)) = orders.next() {
            return Ok(at);
        }
    }
}

fn monotonic() -> nix::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(Time::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64).as_nanos())
}
