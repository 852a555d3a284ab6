//! The dumbbell on which simulators are compared, untraced.
//!
//! The network is the one that `benches/peers/README.md` describes; the other simulators' programs
//! lie beside that file.

use crate::ExecuteError;
use ackord_events::NoSink;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile, Way};
use ackord_sim::{Simulation, Topology};
use ackord_units::{Span, Time};
use serde::Serialize;

/// N senders, a bottleneck of 10 Mbit/s times N, N receivers.
#[derive(Clone, Copy, Debug)]
pub struct Dumbbell {
    /// How many flows, at least one; half as many as there are node numbers if each has hosts of its own.
    pub flows: u32,
    /// Whether each flow has a pair of hosts of its own, or all share one.
    pub own_hosts: bool,
    /// What the endpoints do.
    pub stack: DumbbellStack,
}

/// Endpoints as the other simulators have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumbbellStack {
    /// NewReno without SACK and timestamps, as in ns-2.
    NewReno,
    /// NewReno's window with SACK and without timestamps, as in ns-3.
    RenoSack,
    /// CUBIC with SACK and timestamps.
    Cubic,
}

impl DumbbellStack {
    /// Congestion control, recovery, SACK and timestamps.
    fn keys(self) -> [&'static str; 4] {
        match self {
            DumbbellStack::NewReno => ["reno", "newreno", "off", "off"],
            DumbbellStack::RenoSack => ["reno", "sack", "on", "off"],
            DumbbellStack::Cubic => ["cubic", "sack", "on", "on"],
        }
    }
}

/// What a run of it came to.
#[derive(Clone, Debug, Serialize)]
pub struct DumbbellRun {
    topology: &'static str,
    flows: u32,
    simulated_s: f64,
    /// Data packets whose transmission over the bottleneck began.
    pub packets: u64,
    drops: u64,
    utilisation: f64,
}

impl Dumbbell {
    /// The network as a scenario.
    ///
    /// # Errors
    ///
    /// More flows than a scenario may have.
    pub fn scenario(self) -> Result<Scenario, Errors> {
        let file = ScenarioFile::new("the dumbbell", self.text());
        // Flows start within the first second; a shorter run builds the network and sends little.
        file.with_overrides([Override::new("duration", LONGEST)]).check()
    }

    /// Runs its `scenario` for `duration` of simulated time, with nobody looking on.
    ///
    /// # Errors
    ///
    /// What [`ExecuteError`] says.
    pub fn run(self, scenario: &Scenario, duration: Span) -> Result<DumbbellRun, ExecuteError> {
        let mut simulation = Simulation::new(scenario, scenario.seed)?;
        simulation.look_ahead();
        simulation.run_until(Time::ZERO + duration, &mut NoSink);
        simulation.finish(&mut NoSink)?;
        let place = scenario.links.iter().position(|link| link.name == BOTTLENECK);
        let place = place.expect("the text below has it");
        let stats = simulation.graph().link_stats(Topology::link_id(place, Way::Forward));
        let capacity = scenario.links[place].forward.rate.bytes_in(duration);
        Ok(DumbbellRun {
            topology: if self.own_hosts { "leaf" } else { "host" },
            flows: self.flows,
            simulated_s: simulation.now().as_secs_f64(),
            packets: stats.packets,
            drops: stats.drops.total(),
            utilisation: stats.bytes as f64 / capacity.get() as f64,
        })
    }

    /// The scenario as a file's text, with the numbers of `benches/peers/README.md`.
    #[must_use]
    pub fn text(self) -> String {
        let flows = u64::from(self.flows);
        let rate_mbit = 10 * flows;
        let bdp_packets = rate_mbit * 1_000_000 * 40 / 1_000 / 8 / 1_500;
        let (hosts, access_mbit) = if self.own_hosts { (flows, 100) } else { (1, 10 * rate_mbit) };
        let link = |name: &str, (from, to): (&str, &str), rate: u64, delay: u64, queue: &str| {
            format!(
                "[[links]]\n{name}from = '{from}'\nto = '{to}'\nrate = '{rate} Mbit/s'\ndelay = '{delay} ms'\n{queue}\n"
            )
        };
        let ample = "{ kind = 'drop-tail', limit = '1000000 packets' }";
        let queue = format!("queue = {ample}");
        let bottleneck = format!(
            "queue = {{ kind = 'drop-tail', limit = '{bdp_packets} packets' }}\nreverse = {{ queue = {ample} }}"
        );
        let name = format!("name = '{BOTTLENECK}'\n");
        let [congestion, recovery, sack, timestamps] = self.stack.keys();
        let chosen = format!(
            "congestion = '{congestion}'\nrecovery = '{recovery}'\nsack = '{sack}'\ntimestamps = '{timestamps}'\n"
        );
        format!(
            "name = 'dumbbell-{flows}'\n{HEAD}[hosts.left]\ncount = {hosts}\n[hosts.right]\ncount = {hosts}\n"
        ) + TCP
            + &chosen
            + &link("", ("left-*", "a"), access_mbit, 1, &queue)
            + &link("", ("b", "right-*"), access_mbit, 1, &queue)
            + &link(&name, ("a", "b"), rate_mbit, 18, &bottleneck)
            + &self.flows()
    }

    fn flows(self) -> String {
        let flow = |name: &str, from: &str, to: &str| {
            format!(
                "[[flows]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\n\
                 start = {{ from = '0 s', to = '1 s' }}\ntraffic = 'bulk'\n"
            )
        };
        match self.own_hosts {
            true => flow("flow-*", "left-*", "right-*"),
            false => (1..=self.flows)
                .map(|number| flow(&format!("flow-{number}"), "left-1", "right-1"))
                .collect(),
        }
    }
}

/// No run is longer than this.
const LONGEST: &str = "3600 s";
const BOTTLENECK: &str = "bottleneck";

const HEAD: &str = "version = 1
purpose = 'what a packet costs'
source = 'benches/peers'
seed = 1
duration = '20 s'
[routers.a]
[routers.b]
";

const TCP: &str = "[tcp]
ack = 'immediate'
nagle = 'off'
mss = '1460 B'
initial_window = 10
rto_min = '200 ms'
send_buffer = '1 MB'
receive_buffer = '1 MB'
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_topologies_carry_as_many_flows_as_were_asked_for() {
        for (flows, own_hosts) in [(1, true), (7, true), (1, false), (7, false)] {
            for stack in [DumbbellStack::NewReno, DumbbellStack::RenoSack, DumbbellStack::Cubic] {
                let scenario = Dumbbell { flows, own_hosts, stack }.scenario().expect("sound");
                assert_eq!(scenario.flows.len(), flows as usize, "{own_hosts}");
            }
        }
    }
}
