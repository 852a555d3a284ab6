//! A run in steps: to a time, read, changed, continued.
//!
//! A stepped run has the outcome of [`execute`](crate::execute) to the byte where nothing is changed. Links handle each
//! packet at its own instant instead of running ahead, so that between two steps every number is exact for that time.
//!
//! Not modelled: captures of stepped runs, and hosts with stock kernels.

use crate::execute::ExecuteError;
use crate::kernels::kernels_of;
use crate::labels::run_labels;
use crate::run::{
    Ending, Progress, RunOutcome, VERSION, count_proxies, queues_at_end, series_options,
};
use crate::sender_taps::{sender_taps, with_sender_taps};
use ackord_events::{EndpointId, LinkId, Sink};
use ackord_measure::{RunIdentity, Series, Summary};
use ackord_path::QueueDiscipline;
use ackord_report::EventLog;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile, Transport, Way};
use ackord_sim::{Change, ChangeError, Simulation, Topology};
use ackord_tcp::Connection;
use ackord_tcp::congestion::Steering;
use ackord_units::{Span, Time};
use ackord_wire::FlowId;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// At most this much simulated time passes between two calls of the progress callback.
const LONGEST_SLICE: Span = Span::from_millis(50);

/// What can be changed while a run continues, as paths of a scenario file.
pub const CHANGEABLE: &str = "`links.*.rate`, `links.*.delay`, `links.*.loss`, the settings of \
     `links.*.queue` (not its kind), each also under `reverse`, `flows.*.tcp.nagle` and \
     `flows.*.tcp.send_buffer`";

/// A change that was made in the course of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunChange {
    /// Simulated time.
    pub at_s: f64,
    /// What was changed, as a path of a scenario file.
    pub key: String,
    /// Its value since then.
    pub value: String,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum RunChangeError {
    /// The scenario with the change is not sound.
    #[error("{0}")]
    Unsound(#[from] Errors),
    /// It cannot be made while a run continues.
    #[error("`{key}`: {error}. While a run continues, {CHANGEABLE} can be changed")]
    Refused {
        /// The path.
        key: String,
        /// Why.
        error: ChangeError,
    },
}

/// The state of one direction of a link, at the present of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkState {
    /// Its present rate.
    pub rate_bit_s: u64,
    /// Its present propagation delay, or the mean where that is drawn.
    pub delay_s: f64,
    /// Packets in the queue, without the one being transmitted.
    pub queue_packets: u32,
    /// Their bytes.
    pub queue_bytes: u64,
    /// Packets whose transmission has begun since the start of the run.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that died on this direction.
    pub dropped_packets: u64,
    /// Packets marked by its queue.
    pub marked_packets: u64,
}

/// A run in steps.
pub struct SteppedRun {
    /// The scenario with all changes.
    file: ScenarioFile,
    scenario: Scenario,
    /// What the run began as.
    started_as: RunIdentity,
    simulation: Simulation,
    summary: Summary,
    series: Option<Series>,
    events: Option<EventLog>,
    changes: Vec<RunChange>,
    /// By flow: whether its windows were set by the caller.
    steered: Vec<bool>,
    /// By [`LinkId`]: whether the rate was changed.
    rate_changed: Vec<bool>,
}

impl SteppedRun {
    /// Builds a run of the scenario in `file`, which was checked to be `scenario`; `series` keeps values against time,
    /// `events` takes what the events file of a run has.
    ///
    /// # Errors
    /// If the scenario cannot be built.
    pub fn new(
        (file, scenario): (ScenarioFile, Scenario),
        seed: u64,
        series: bool,
        events: Option<EventLog>,
    ) -> Result<SteppedRun, ExecuteError> {
        if kernels_of(&scenario)?.is_some() {
            return Err(ExecuteError::KernelInSteps);
        }
        let labels = run_labels(&scenario, seed);
        let tapped = match series {
            true => Cow::Owned(with_sender_taps(&scenario)),
            false => Cow::Borrowed(&scenario),
        };
        let series = series.then(|| {
            let series = Series::new(&labels, series_options(&scenario));
            series.with_sender_taps(sender_taps(&scenario))
        });
        Ok(SteppedRun {
            simulation: Simulation::changeable(&tapped, seed)?,
            summary: Summary::new(&labels),
            series,
            events,
            started_as: RunIdentity {
                scenario_hash: scenario.hash(),
                seed,
                version: VERSION.to_owned(),
            },
            changes: Vec::new(),
            steered: vec![false; scenario.flows.len()],
            rate_changed: vec![false; scenario.links.len() * 2],
            file,
            scenario,
        })
    }

    /// Runs everything that happens up to and including `until`, or the end of the run if that is earlier. `observer`
    /// receives every event in order. `progress` is called at most 50 ms of simulated time apart; if it returns
    /// [`ControlFlow::Break`], the run stops there and can be continued.
    pub fn run_until<S: Sink>(
        &mut self,
        until: Time,
        observer: &mut S,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) {
        let SteppedRun { simulation, summary, series, events, .. } = self;
        let end = Time::ZERO + self.scenario.duration;
        let mut sink = (((summary, series.as_mut()), events.as_mut()), observer);
        let until = until.min(end);
        while !simulation.is_over() {
            let next = (simulation.now() + LONGEST_SLICE).min(until);
            simulation.run_until(next, &mut sink);
            let now = simulation.now();
            if progress(Progress { now, end }).is_break() || now >= until {
                break;
            }
        }
        simulation.settle(&mut sink);
    }

    /// Makes changes that hold from the present on: values at paths of the scenario file.
    ///
    /// # Errors
    /// If a value is not sound there, or cannot be changed while a run continues. The changes before it were made.
    pub fn change<S: Sink>(
        &mut self,
        overrides: impl IntoIterator<Item = Override>,
        observer: &mut S,
    ) -> Result<(), RunChangeError> {
        for change in overrides {
            let Override { path, value } = change.clone();
            let file = self.file.clone().with_overrides([change]);
            let scenario = file.check()?;
            self.change_to(&scenario, observer)
                .map_err(|error| RunChangeError::Refused { key: path.clone(), error })?;
            self.changes.push(RunChange { at_s: self.now().as_secs_f64(), key: path, value });
            (self.file, self.scenario) = (file, scenario);
        }
        Ok(())
    }

    fn change_to<S: Sink>(
        &mut self,
        scenario: &Scenario,
        observer: &mut S,
    ) -> Result<(), ChangeError> {
        let changes = Change::between(&self.scenario, scenario)?;
        let SteppedRun { simulation, summary, series, events, started_as, .. } = self;
        let mut sink = (((summary, series.as_mut()), events.as_mut()), observer);
        simulation.change(&changes, scenario, started_as.seed, &mut sink)?;
        for change in changes {
            if let Change::Rate(link, way) = change {
                let LinkId(id) = Topology::link_id(link, way);
                self.rate_changed[id as usize] = true;
            }
        }
        Ok(())
    }

    /// Sets the windows of a flow's sender in place of its congestion control, from the present on.
    ///
    /// # Panics
    /// If there is no such flow, or it is not of TCP.
    pub fn steer<S: Sink>(&mut self, flow: usize, steering: Steering, observer: &mut S) {
        let of = &self.scenario.flows[flow];
        assert_eq!(of.transport(), Transport::Tcp, "only TCP has a congestion window");
        let endpoint = EndpointId { flow: FlowId(flow as u32), side: of.sends };
        let at_s = self.now().as_secs_f64();
        if !std::mem::replace(&mut self.steered[flow], true) {
            let key = format!("flows.{}.tcp.congestion", of.name);
            self.changes.push(RunChange { at_s, key, value: "set by the caller".to_owned() });
        }
        let SteppedRun { simulation, summary, series, events, .. } = self;
        let mut sink = (((summary, series.as_mut()), events.as_mut()), observer);
        simulation.steer(endpoint, steering, &mut sink);
    }

    /// Returns the present of the run.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// True if nothing more can happen.
    pub fn is_over(&self) -> bool {
        self.simulation.is_over()
    }

    /// Returns the scenario with all changes so far.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the changes so far.
    pub fn changes(&self) -> &[RunChange] {
        &self.changes
    }

    /// Returns the sending and the receiving end of a flow.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn ends(&self, flow: usize) -> (&Connection, &Connection) {
        let sends = self.scenario.flows[flow].sends;
        let end = |side| self.simulation.connection(EndpointId { flow: FlowId(flow as u32), side });
        (end(sends), end(sends.other()))
    }

    /// Returns the state of one direction of a link.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn link_state(&self, link: usize, way: Way) -> LinkState {
        let id: LinkId = Topology::link_id(link, way);
        let direction = self.scenario.links[link].direction(way);
        let (graph, length) = (self.simulation.graph(), self.simulation.graph().queue(id).length());
        let stats = graph.link_stats(id);
        LinkState {
            rate_bit_s: direction.rate.as_bits_per_sec(),
            delay_s: direction.delay.as_secs_f64(),
            queue_packets: length.packets,
            queue_bytes: length.bytes.get(),
            sent_packets: stats.packets,
            sent_bytes: stats.bytes,
            dropped_packets: stats.drops.total(),
            marked_packets: stats.marked,
        }
    }

    /// Ends the run where it stands, and returns its outcome and its events file.
    ///
    /// # Errors
    /// If packets have appeared or vanished: a defect of this project.
    pub fn finish<S: Sink>(
        mut self,
        observer: &mut S,
    ) -> Result<(RunOutcome, Option<EventLog>), ExecuteError> {
        let SteppedRun { simulation, summary, series, events, .. } = &mut self;
        let mut sink = (((summary, series.as_mut()), events.as_mut()), observer);
        let conservation = simulation.finish(&mut sink)?;
        let ended_at = self.simulation.now();
        count_proxies(&self.simulation, &mut self.summary);
        let mut summary = self.summary.finish(self.started_as, ended_at);
        for (id, link) in (0..).map(LinkId).zip(&mut summary.links) {
            // A share of a rate that was in force for a part of the run would mean nothing.
            if self.rate_changed[id.0 as usize] && ended_at > Time::ZERO {
                let busy = self.simulation.graph().busy_for(id, ended_at);
                link.utilisation = Some(busy.as_secs_f64() / ended_at.as_secs_f64());
            }
        }
        let ending = match self.simulation.is_over() {
            true => Ending::Complete,
            false => Ending::Interrupted(ended_at),
        };
        let outcome = RunOutcome {
            summary,
            series: self.series.map(|series| series.finish(ended_at)),
            conservation,
            queues: queues_at_end(&self.simulation),
            ending,
            changes: self.changes,
        };
        Ok((outcome, self.events))
    }
}

#[cfg(test)]
mod tests;
