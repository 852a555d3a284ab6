//! Turns of a link with a remedy and without ([`Switchback`]), held against runs in which the link is treated all the
//! time, or never.
//!
//! The simulator's middlebox stands where the gateway stands; its packets, queues and senders are the simulator's. Not
//! covered: what the gateway's engine misses because it only observes.

use ackord_daemon::switchback::{LinkCompared, LinkTotals, Outcome, Switchback, Turns};
use ackord_events::{EndpointId, LinkId, NoSink, ProxyId};
use ackord_measure::stats::estimate;
use ackord_measure::welch::Difference;
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Span, Time, portable};
use ackord_wire::{FlowId, Side};

/// The time between two looks at which flows have data under way.
const LOOK_EVERY: Span = Span::from_millis(20);
/// The direction of link `air` towards the phone.
const AIR: LinkId = LinkId(2);
const GATEWAY: ProxyId = ProxyId(0);

/// A wireless link that downloads share, and a remedy for them.
#[derive(Clone, Copy, Debug)]
pub struct SharedLink {
    /// Its rate, Mbit/s.
    pub rate_mbit_s: u32,
    /// The length of its queue, packets.
    pub queue: u32,
    /// Its loss each way, as in a scenario file.
    pub loss: &'static str,
    /// The size of a transfer; bulk transfers without.
    pub transfer: Option<&'static str>,
    /// The middlebox.
    pub remedy: &'static str,
}

/// The links that are judged.
pub const LINKS: [SharedLink; 12] = [
    SharedLink::new(20, 16, "0.3 %", None, "snoop"),
    SharedLink::new(20, 16, "0.3 %", None, "proxy-tcp"),
    SharedLink::new(20, 200, "0 %", None, "proxy-tcp"),
    SharedLink::new(20, 200, "0 %", None, "snoop"),
    SharedLink::new(20, 200, "1 %", None, "proxy-tcp"),
    SharedLink::new(20, 200, "1 %", None, "snoop"),
    SharedLink::new(5, 16, "1 %", None, "proxy-tcp"),
    SharedLink::new(5, 60, "3 %", None, "snoop"),
    SharedLink::new(20, 16, "0.3 %", Some("2 MB"), "snoop"),
    SharedLink::new(20, 200, "1 %", Some("500 kB"), "proxy-tcp"),
    SharedLink::new(10, 60, "1 %", Some("2 MB"), "proxy-tcp"),
    SharedLink::new(5, 60, "0.3 %", Some("100 kB"), "snoop"),
];

impl SharedLink {
    const fn new(
        rate_mbit_s: u32,
        queue: u32,
        loss: &'static str,
        transfer: Option<&'static str>,
        remedy: &'static str,
    ) -> SharedLink {
        SharedLink { rate_mbit_s, queue, loss, transfer, remedy }
    }

    fn scenario(&self, seconds: u64) -> Scenario {
        let SharedLink { rate_mbit_s, queue, loss, remedy, .. } = self;
        let loss = match *loss {
            "0 %" => String::new(),
            share => format!("loss = {{ kind = \"random\", per_packet = \"{share}\" }}\n"),
        };
        let traffic = match self.transfer {
            None => "\"bulk\"".to_owned(),
            Some(size) => format!(
                "{{ kind = \"request\", request = \"300 B\", response = \"{size}\", gap = \"500 ms\", \
                 gap_distribution = \"exponential\", count = 1000000 }}"
            ),
        };
        let mut text = format!(
            "version = 1\nname = \"shared\"\nduration = \"{seconds} s\"\n\
             [hosts.server]\n[hosts.phone]\n[routers.base]\n\
             [[links]]\nname = \"wired\"\nfrom = \"server\"\nto = \"base\"\nrate = \"100 Mbit/s\"\n\
             delay = \"18 ms\"\n\
             [[links]]\nname = \"air\"\nfrom = \"base\"\nto = \"phone\"\nrate = \"{rate_mbit_s} Mbit/s\"\n\
             delay = \"4 ms\"\n{loss}queue = {{ kind = \"drop-tail\", limit = \"{queue} packets\" }}\n\
             [[proxies]]\nname = \"gateway\"\nat = \"base\"\nlink = \"air\"\nproxy = \"{remedy}\"\n\
             [tcp]\nprofile = \"linux\"\n"
        );
        for number in 0..5 {
            text += &format!(
                "[[flows]]\nname = \"d{number}\"\nfrom = \"phone\"\nto = \"server\"\nsends = \"server\"\n\
                 start = \"{}00 ms\"\ntraffic = {traffic}\n",
                2 * number
            );
        }
        ScenarioFile::new("shared.toml", text).check().expect("a sound scenario")
    }

    /// Returns what turns show in a run of so many seconds.
    pub fn by_turns(&self, turns: Turns, seed: u64, seconds: u64) -> LinkCompared {
        let mut run = Run::new(&self.scenario(seconds), seed);
        let mut switchback = Switchback::new(turns, seed, Time::ZERO);
        run.switch(switchback.is_treated());
        while run.step() {
            if switchback.advance(run.simulation.now(), || run.totals()) {
                run.switch(switchback.is_treated());
            }
        }
        switchback.compare()
    }

    /// Returns what the link does in turns that are all with the remedy, or all without: the beginning of each is left
    /// out. A middlebox begins anew with each turn if `anew`, as it does where turns alternate; else it stays.
    pub fn throughout(
        &self,
        (is_treated, anew): (bool, bool),
        turns: Turns,
        seed: u64,
        seconds: u64,
    ) -> LinkTotals {
        let mut run = Run::new(&self.scenario(seconds), seed);
        run.switch(is_treated);
        let (mut sum, mut began, mut settled) = (LinkTotals::default(), Time::ZERO, None);
        while run.step() {
            let passed = run.simulation.now().saturating_since(began);
            if settled.is_none() && passed >= turns.settle {
                settled = Some(run.totals());
            }
            if passed >= turns.length {
                sum.add(&run.totals().since(&settled.take().unwrap_or_default()));
                began = run.simulation.now();
                if is_treated && anew {
                    run.switch(true);
                }
            }
        }
        sum
    }
}

/// A run with the time in which its flows had data under way.
struct Run {
    simulation: Simulation,
    flows: u32,
    active_s: f64,
}

impl Run {
    fn new(scenario: &Scenario, seed: u64) -> Run {
        let simulation = Simulation::new(scenario, seed).expect("a checked scenario builds");
        Run { simulation, flows: scenario.flows.len() as u32, active_s: 0.0 }
    }

    fn switch(&mut self, is_treated: bool) {
        self.simulation.switch_proxy(GATEWAY, is_treated, &mut NoSink);
    }

    /// The servers' ends.
    fn senders(&self) -> impl Iterator<Item = EndpointId> + use<> {
        (0..self.flows).map(|flow| EndpointId { flow: FlowId(flow), side: Side::Server })
    }

    /// Runs for a moment; false when the run is over.
    fn step(&mut self) -> bool {
        if self.simulation.is_over() {
            return false;
        }
        self.simulation.run_until(self.simulation.now() + LOOK_EVERY, &mut NoSink);
        let is_active =
            |sender: &EndpointId| self.simulation.connection(*sender).flight_size().get() > 0;
        self.active_s += self.senders().filter(is_active).count() as f64 * LOOK_EVERY.as_secs_f64();
        true
    }

    fn totals(&self) -> LinkTotals {
        let acked = |sender| self.simulation.connection(sender).bytes_acked() as f64;
        let air = self.simulation.graph().link_stats(AIR);
        LinkTotals {
            useful_bytes: self.senders().map(acked).sum(),
            air_bytes: air.bytes as f64,
            active_s: self.active_s,
            ..LinkTotals::default()
        }
    }
}

/// A truth from runs treated all the time and never, beside an interval.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// What is compared.
    pub outcome: Outcome,
    /// The logarithm of treated over untreated: its mean over runs, and the standard error of that mean.
    pub truth: (f64, f64),
    /// The mean of the turns and the ends of its interval: low, mean, high.
    pub by_turns: [f64; 3],
}

impl Judged {
    /// Returns whether the interval, widened by 1.96 standard errors of the truth, holds the truth.
    pub fn holds(&self) -> bool {
        let ((truth, error), [low, _, high]) = (self.truth, self.by_turns);
        low - 1.96 * error <= truth && truth <= high + 1.96 * error
    }
}

impl SharedLink {
    /// Judges turns by `truths` pairs of runs.
    pub fn judge(
        &self,
        turns: Turns,
        seed: u64,
        seconds: u64,
        truths: &[[LinkTotals; 2]],
    ) -> Vec<Judged> {
        let compared = self.by_turns(turns, seed, seconds);
        let outcomes = Outcome::ALL.into_iter().zip(compared.log_ratios);
        let judged = |(outcome, by_turns): (Outcome, Option<Difference>)| {
            let ratios: Vec<f64> = truths
                .iter()
                .filter_map(|[treated, untreated]| {
                    Some(portable::ln(treated.value(outcome)? / untreated.value(outcome)?))
                })
                .collect();
            let truth = estimate(&ratios)?;
            let error = truth.std_dev? / f64::from(truth.runs).sqrt();
            let by_turns = by_turns.map(|it| [it.low, it.mean, it.high])?;
            Some(Judged { outcome, truth: (truth.mean, error), by_turns })
        };
        outcomes.filter_map(judged).collect()
    }
}

impl std::fmt::Display for SharedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SharedLink { rate_mbit_s, queue, loss, remedy, .. } = self;
        let transfer = self.transfer.unwrap_or("bulk");
        write!(f, "{rate_mbit_s} Mbit/s, {queue} packets, {loss}, {transfer}, {remedy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_show_next_to_no_gain_on_a_full_link_and_one_on_a_lossy_link() {
        let turns = Turns { length: Span::from_secs(20), settle: Span::from_secs(5), in_block: 2 };
        let log_ratio = |link: &SharedLink, outcome: Outcome| {
            let found = link.by_turns(turns, 1, 400).log_ratios[outcome as usize];
            found.expect("ten blocks")
        };
        let (short, lossy) = (&LINKS[0], &LINKS[4]);
        // The link is full either way: what one connection gains the others lose.
        let gain = log_ratio(short, Outcome::Goodput);
        assert!(gain.low < 0.02 && gain.high < 0.1, "{gain:?}");
        assert!(log_ratio(short, Outcome::AirPerByte).low > 0.0);
        // At 1 % loss five CUBIC flows do not fill it, and with the remedy they do.
        assert!(log_ratio(lossy, Outcome::Goodput).low > 0.05);
    }
}
