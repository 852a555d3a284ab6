//! The hosts of a simulation that take a time for what they send.

use ackord_path::{Processing, Schedule};
use ackord_scenario::Scenario;
use ackord_units::{RandomStream, Time};
use ackord_wire::{NodeId, Packet};

/// What the hosts hold, by node.
#[derive(Debug)]
pub(crate) struct Hosts {
    hosts: Vec<Option<Processing>>,
    due: Schedule,
}

impl Hosts {
    /// Nothing where no host takes any time. `foreign` hosts are not simulated and take their own.
    pub(crate) fn new(scenario: &Scenario, seed: u64, foreign: &[NodeId]) -> Option<Box<Hosts>> {
        let hosts = scenario.nodes.iter().enumerate().map(|(index, node)| {
            let simulated = !foreign.iter().any(|node| usize::from(node.0) == index);
            let chosen = node.processing.as_ref().filter(|_| simulated)?;
            let stream =
                RandomStream::for_element(seed, &format!("hosts/{}/processing", node.name));
            Some(chosen.config().build(stream))
        });
        let hosts: Vec<_> = hosts.collect();
        let due = Schedule::new(hosts.len());
        hosts.iter().any(Option::is_some).then(|| Box::new(Hosts { hosts, due }))
    }

    /// A host gives out a packet at `now`; answers it back where the host takes no time.
    pub(crate) fn handle_packet(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let node = packet.src.0;
        let Some(host) = &mut self.hosts[usize::from(node)] else { return Some(packet) };
        host.handle_packet(now, packet);
        self.due.set(node.into(), host.deadline().unwrap_or(Time::NEVER));
        None
    }

    /// When the next packet leaves its host.
    pub(crate) fn next_at(&self) -> Time {
        self.due.next_at()
    }

    /// The packet that leaves its host at `now`, if one does.
    pub(crate) fn poll_packet(&mut self, now: Time) -> Option<Packet> {
        let (_, node) = self.due.peek().filter(|(at, _)| *at <= now)?;
        let host = self.hosts[node as usize].as_mut()?;
        let packet = host.poll_packet(now);
        self.due.set(node, host.deadline().unwrap_or(Time::NEVER));
        packet
    }
}
