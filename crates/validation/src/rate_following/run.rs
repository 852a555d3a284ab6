//! One shaper over one trace.

use super::{Comparison, RateFollowingError, ShapedBy, rate_between};
use ackord_events::{Event, LinkId, Sink, TapPoint};
use ackord_path::Trace;
use ackord_path::follow::{LinkMeter, RateControl, RateDecision};
use ackord_scenario::{Capture, Scenario, ScenarioFile, Way};
use ackord_sim::{Change, Simulation, Topology};
use ackord_units::{Bytes, Rate, Span, Time};
use std::sync::Arc;

/// The links in the order of the scenario.
const SHAPER: usize = 1;
/// The beginning of a run that is left out.
const SETTLES: Span = Span::from_secs(5);

/// The result of a run, without its beginning.
#[derive(Clone, Debug, Default)]
pub struct Shaped {
    /// Payload of the downloads per second, bit/s.
    pub goodput: f64,
    /// One-way delays of the voice flow, in order of length.
    pub delays: Vec<Span>,
    /// Voice datagrams sent and not delivered.
    pub voice_lost: u64,
    /// Every decision.
    pub decisions: Vec<(Time, RateDecision)>,
}

impl Shaped {
    /// The mean delay.
    pub fn mean_delay(&self) -> Span {
        let sum: u64 = self.delays.iter().map(|delay| delay.as_nanos()).sum();
        Span::from_nanos(sum / self.delays.len().max(1) as u64)
    }

    /// The delay below which a share of the datagrams are.
    pub fn delay_at(&self, share: f64) -> Span {
        let last = self.delays.len().saturating_sub(1) as f64;
        self.delays.get((share * last).round() as usize).copied().unwrap_or(Span::ZERO)
    }
}

/// Takes in the events of a run.
struct Observer {
    meter: LinkMeter,
    goodput: Bytes,
    delays: Vec<Span>,
    voice_sent: u64,
    counts_from: Time,
}

impl Sink for Observer {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let departs = Topology::link_id(SHAPER, Way::Forward);
        let arrives: LinkId = Topology::link_id(SHAPER, Way::Reverse);
        match event {
            Event::PacketTapped { tap: TapPoint::LinkOut(link), packet } if link == departs => {
                self.meter.depart(at, packet);
            }
            Event::PacketTapped { tap: TapPoint::LinkOut(link), packet } if link == arrives => {
                self.meter.arrive(at, packet);
            }
            _ if at < self.counts_from => {}
            Event::DataDelivered { bytes, .. } => self.goodput += bytes,
            Event::DatagramSent { .. } => self.voice_sent += 1,
            Event::DatagramDelivered { one_way_delay, .. } => self.delays.push(one_way_delay),
            _ => {}
        }
    }
}

impl Comparison {
    fn scenario(&self) -> Result<Scenario, RateFollowingError> {
        let (trace, modem) = (self.trace.display(), self.modem);
        let (duration, congestion) = (self.duration, &self.congestion);
        let text = format!(
            r#"version = 1
name = "rate-following"
purpose = "A shaper before a cellular link"
source = "this project"
seed = 1
duration = "{duration}"
[hosts.server]
[routers.gateway]
[routers.modem]
[hosts.phone]
[[links]]
name = "wired"
from = "server"
to = "gateway"
rate = "1 Gbit/s"
delay = "15 ms"
queue = {{ kind = "drop-tail", limit = "10000 packets" }}
[[links]]
name = "shaper"
from = "gateway"
to = "modem"
rate = "1 Gbit/s"
delay = "0 s"
queue = "fq-codel"
[links.reverse]
queue = {{ kind = "drop-tail", limit = "10000 packets" }}
[[links]]
name = "air"
from = "modem"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ kind = "drop-tail", limit = "{modem} packets" }}
trace = "{trace}"
[links.reverse]
trace = "none"
[tcp]
congestion = "{congestion}"
[[flows]]
name = "voice"
from = "phone"
to = "server"
sends = "server"
start = "0 s"
traffic = {{ kind = "cbr", rate = "64 kbit/s", packet = "160 B" }}
[[flows]]
name = "first"
from = "phone"
to = "server"
sends = "server"
start = "0 s"
traffic = "bulk"
[[flows]]
name = "second"
from = "phone"
to = "server"
sends = "server"
start = "1 s"
traffic = "bulk"
"#
        );
        let mut scenario = ScenarioFile::new("rate-following.toml", text).check()?;
        let both = [Way::Forward, Way::Reverse];
        scenario.record.captures.extend(both.map(|way| Capture { link: SHAPER, way }));
        Ok(scenario)
    }

    /// Returns the trace.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn trace(&self) -> Result<Arc<Trace>, RateFollowingError> {
        let scenario = self.scenario()?;
        let trace = scenario.links[SHAPER + 1].forward.trace.as_ref();
        Ok(Arc::clone(trace.expect("the scenario names one").trace()))
    }

    /// Runs a shaper over the trace.
    ///
    /// # Errors
    /// If the trace cannot be read, or by a defect of this project.
    pub fn run(&self, by: ShapedBy) -> Result<Shaped, RateFollowingError> {
        let mut scenario = self.scenario()?;
        let trace = self.trace()?;
        let mut control = match by {
            ShapedBy::Follow(limits) => Some(RateControl::new(limits)),
            _ => None,
        };
        scenario.links[SHAPER].forward.rate = first_rate(by, &trace);
        let mut simulation = Simulation::changeable(&scenario, 1)?;
        let mut observer = Observer {
            meter: LinkMeter::new(Time::ZERO),
            goodput: Bytes::ZERO,
            delays: Vec::new(),
            voice_sent: 0,
            counts_from: Time::ZERO + SETTLES,
        };
        let mut shaped = Shaped::default();
        while !simulation.is_over() {
            let until = simulation.now() + RateControl::EVERY;
            simulation.run_until(until, &mut observer);
            simulation.settle(&mut observer);
            let (now, applied) = (simulation.now(), scenario.links[SHAPER].forward.rate);
            let facts = observer.meter.facts(now);
            let rate = match (by, &mut control) {
                (ShapedBy::Oracle(ahead, share), _) => {
                    share_of(rate_between(&trace, now, ahead), share)
                }
                (_, Some(control)) => {
                    let decision = control.decide(&facts, applied);
                    shaped.decisions.push((now, decision));
                    decision.rate
                }
                _ => continue,
            };
            if rate != applied {
                scenario.links[SHAPER].forward.rate = rate;
                let change = [Change::Rate(SHAPER, Way::Forward)];
                simulation.change(&change, &scenario, 1, &mut observer)?;
            }
        }
        simulation.finish(&mut observer)?;
        let counted = self.duration.saturating_sub(SETTLES).as_secs_f64();
        shaped.goodput = 8.0 * observer.goodput.get() as f64 / counted;
        observer.delays.sort_unstable();
        shaped.voice_lost = observer.voice_sent.saturating_sub(observer.delays.len() as u64);
        shaped.delays = observer.delays;
        Ok(shaped)
    }
}

fn first_rate(by: ShapedBy, trace: &Trace) -> Rate {
    match by {
        ShapedBy::Fixed(rate) => rate,
        ShapedBy::Oracle(ahead, share) => share_of(rate_between(trace, Time::ZERO, ahead), share),
        ShapedBy::Follow(limits) => limits.start,
        ShapedBy::Nothing => Rate::from_mbits_per_sec(1_000),
    }
}

/// A share of a rate; never zero.
fn share_of(rate: Rate, share: f64) -> Rate {
    Rate::from_bits_per_sec((rate.as_bits_per_sec() as f64 * share).max(20_000.0) as u64)
}
