//! What a driver changes in the course of a run: links, and what applications may set on their sockets.
//!
//! A change is a value that differs between two scenarios. It holds from the present on: everything up to and including
//! the present has happened as before. An endpoint that was changed acts immediately, before the next event.

use super::Simulation;
use super::ends::end_index;
use crate::topology::{BuildError, Topology, link_config};
use ackord_events::{EndpointId, ProxyId, Sink};
use ackord_path::{ChangeRefused, LinkChange};
use ackord_scenario::{Link, Scenario, Way};
use ackord_tcp::congestion::Steering;
use ackord_tcp::registry::Stack;
use ackord_units::{Knobs, RandomStream};
use ackord_wire::{FlowId, Side};

/// What can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The rate of a direction of a link.
    Rate(usize, Way),
    /// Its propagation delay.
    Delay(usize, Way),
    /// Its loss model.
    Loss(usize, Way),
    /// The settings of its queue.
    QueueSettings(usize, Way),
    /// Nagle's algorithm at an end of a flow.
    Nagle(usize, Side),
    /// Its send buffer.
    SendBuffer(usize, Side),
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// It cannot be made while a run continues.
    #[error("it is fixed when the run begins")]
    Fixed,
    /// The link refuses it.
    #[error("link `{link}`: {refused}")]
    Link {
        /// The direction's name.
        link: String,
        /// Why.
        refused: ChangeRefused,
    },
    /// The values do not make sense together.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Change {
    /// Returns the differences between two scenarios, if all of them can be changed.
    ///
    /// # Errors
    /// If anything else differs.
    pub fn between(from: &Scenario, to: &Scenario) -> Result<Vec<Change>, ChangeError> {
        let mut changes = Vec::new();
        let mut rest = to.clone();
        for (index, (before, after)) in from.links.iter().zip(&mut rest.links).enumerate() {
            for way in [Way::Forward, Way::Reverse] {
                link_changes((index, way), before, after, &mut changes);
            }
        }
        for (index, (before, after)) in from.flows.iter().zip(&mut rest.flows).enumerate() {
            let ends =
                [(Side::Client, &mut after.client_tcp), (Side::Server, &mut after.server_tcp)];
            for (side, after) in ends {
                end_changes((index, side), before.tcp(side), after, &mut changes);
            }
        }
        // What is left has to be equal.
        if rest == *from { Ok(changes) } else { Err(ChangeError::Fixed) }
    }
}

/// Moves what differs between `before` and `after` and can be changed into `changes`.
fn link_changes(at: (usize, Way), before: &Link, after: &mut Link, changes: &mut Vec<Change>) {
    let (index, way) = at;
    let before = before.direction(way);
    let after = match way {
        Way::Forward => &mut after.forward,
        Way::Reverse => &mut after.reverse,
    };
    if before.rate != after.rate {
        after.rate = before.rate;
        changes.push(Change::Rate(index, way));
    }
    if before.delay != after.delay {
        after.delay = before.delay;
        changes.push(Change::Delay(index, way));
    }
    if before.loss != after.loss {
        after.loss.clone_from(&before.loss);
        changes.push(Change::Loss(index, way));
    }
    let same_kind = before.queue.mechanism().name == after.queue.mechanism().name;
    if before.queue != after.queue && same_kind {
        after.queue.clone_from(&before.queue);
        changes.push(Change::QueueSettings(index, way));
    }
}

fn end_changes(at: (usize, Side), before: &Stack, after: &mut Stack, changes: &mut Vec<Change>) {
    let (index, side) = at;
    if before.nagle != after.nagle {
        after.nagle.clone_from(&before.nagle);
        changes.push(Change::Nagle(index, side));
    }
    let (was, is) = (before.endpoint.buffers.send, &mut after.endpoint.buffers.send);
    if was != *is {
        *is = was;
        changes.push(Change::SendBuffer(index, side));
    }
}

/// Returns the change of a link with its value in `to`; nothing for an end of a flow.
fn link_change(
    change: Change,
    to: &Scenario,
    seed: u64,
) -> Result<Option<(usize, Way, LinkChange)>, BuildError> {
    let (Change::Rate(link, way)
    | Change::Delay(link, way)
    | Change::Loss(link, way)
    | Change::QueueSettings(link, way)) = change
    else {
        return Ok(None);
    };
    let config = link_config(to, seed, (link, &to.links[link]), way, None)?;
    let made = match change {
        Change::Rate(..) => LinkChange::Rate(config.rate),
        Change::Delay(..) => LinkChange::Delay(config.delay),
        Change::Loss(..) => LinkChange::Loss(config.loss),
        _ => LinkChange::QueueSettings(config.queue),
    };
    Ok(Some((link, way, made)))
}

impl Simulation {
    /// Makes `changes`, to the values that `to` has; loss models that it brings draw from streams of `seed` and the
    /// present.
    ///
    /// # Errors
    /// If one of them is refused; then none is made.
    ///
    /// # Panics
    /// If this is not a simulation of such a scenario.
    pub fn change<S: Sink>(
        &mut self,
        changes: &[Change],
        to: &Scenario,
        seed: u64,
        sink: &mut S,
    ) -> Result<(), ChangeError> {
        // What is drawn from now on is independent of what was drawn before.
        let seed = RandomStream::for_element(seed, &format!("changes/{}", self.now)).next_u64();
        let mut of_links = Vec::new();
        for change in changes {
            if let Some(of_link) = link_change(*change, to, seed)? {
                let (link, way, change) = &of_link;
                let checked =
                    self.topology.graph.check_change(Topology::link_id(*link, *way), change);
                let name = || to.links[*link].direction_name(*way);
                checked.map_err(|refused| ChangeError::Link { link: name(), refused })?;
                of_links.push(of_link);
            }
        }
        for (link, way, change) in of_links {
            let id = Topology::link_id(link, way);
            let made = self.topology.graph.change_link(self.now, id, change, sink);
            debug_assert_eq!(made, Ok(()), "it was checked");
        }
        for change in changes {
            if let Change::Nagle(flow, side) | Change::SendBuffer(flow, side) = *change {
                self.change_end(*change, (FlowId(flow as u32), side), to, sink);
            }
        }
        Ok(())
    }

    fn change_end<S: Sink>(
        &mut self,
        change: Change,
        (flow, side): (FlowId, Side),
        to: &Scenario,
        sink: &mut S,
    ) {
        let choices = to.flows[flow.0 as usize].tcp(side);
        let connection = &mut self.ends[end_index(flow, side)].connection;
        match change {
            Change::Nagle(..) => connection.set_nagle(choices.mechanisms().nagle),
            _ => connection.set_send_buffer(choices.endpoint.buffers.send),
        }
        self.act_now((flow, side), sink);
    }

    /// Sets the windows of a TCP sender in place of its congestion control, from now on.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn steer<S: Sink>(&mut self, endpoint: EndpointId, steering: Steering, sink: &mut S) {
        let EndpointId { flow, side } = endpoint;
        let connection = &mut self.ends[end_index(flow, side)].connection;
        connection.steer(self.now, steering, sink);
        self.act_now((flow, side), sink);
    }

    /// Takes a middlebox away, or puts one there that knows nothing.
    ///
    /// # Panics
    /// If there is no such box.
    pub fn switch_proxy<S: Sink>(&mut self, proxy: ProxyId, is_there: bool, sink: &mut S) {
        self.topology.graph.switch_proxy(self.now, proxy, is_there, sink);
    }

    /// An end that was changed sends what it may, where its connection has been opened.
    fn act_now<S: Sink>(&mut self, (flow, side): (FlowId, Side), sink: &mut S) {
        if !self.is_over() && self.is_opened(flow) {
            self.after(flow, side, sink);
        }
    }

    /// True for a flow of TCP whose client has opened the connection.
    fn is_opened(&self, flow: FlowId) -> bool {
        self.flows[flow.0 as usize] == super::FlowPhase::Opened
    }
}
