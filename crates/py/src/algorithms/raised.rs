//! What an algorithm raises: it ends the run, with the simulated time and whose it was.

use crate::errors::AlgorithmError;
use ackord_scenario::{Scenario, Way};
use ackord_units::{AnyChoice, Knobs, Span, Time};
use ackord_wire::Side;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The algorithms of the run that this thread is in.
#[derive(Default)]
struct Algorithms {
    /// Whose each object is, in the order in which a simulation makes them.
    order: Vec<Seat>,
    raised: Option<Raised>,
    /// Where the run is at least, for calls that have no time.
    clock: Time,
    duration: Span,
    /// True while a [`Session`] lasts, which raises what was raised.
    in_session: bool,
}

/// A place for an algorithm.
#[derive(Clone)]
struct Seat {
    family: &'static str,
    name: String,
    /// The flow and which end, or the link.
    whose: String,
    taken: bool,
}

struct Raised {
    error: PyErr,
    at: Time,
    what: String,
    whose: String,
}

thread_local! {
    static ALGORITHMS: RefCell<Algorithms> = RefCell::default();
}

/// What an endpoint has.
const FAMILIES: [&str; 4] = ["congestion", "ack", "loss", "recovery"];

/// Whether some endpoint of a scenario has an algorithm in Python.
pub(crate) fn uses_python(scenario: &Scenario) -> bool {
    !seats(scenario).is_empty()
}

/// Returns the flow whose application is in Python, if there is one.
pub(crate) fn python_traffic(scenario: &Scenario) -> Option<&str> {
    let flow = scenario.flows.iter().find(|flow| !flow.traffic.is_listed())?;
    Some(&flow.name)
}

/// The algorithms in Python of a scenario: family and name, each once.
pub(crate) fn python_algorithms(scenario: &Scenario) -> BTreeSet<(&'static str, String)> {
    seats(scenario).into_iter().map(|seat| (seat.family, seat.name)).collect()
}

fn seats(scenario: &Scenario) -> Vec<Seat> {
    let mut seats = Vec::new();
    for flow in &scenario.flows {
        for (side, end) in [(Side::Client, "client"), (Side::Server, "server")] {
            for family in FAMILIES {
                let choice = flow.tcp(side).choice(family);
                let Some(name) = choice.and_then(plugged_in) else { continue };
                let whose = format!("flow `{}` ({end})", flow.name);
                seats.push(Seat { family, name, whose, taken: false });
            }
        }
    }
    for link in &scenario.links {
        for way in [Way::Forward, Way::Reverse] {
            let direction = link.direction(way);
            let queue = plugged_in(&direction.queue).map(|name| ("queue", name));
            let loss = direction.loss.as_ref().and_then(|loss| plugged_in(loss));
            for (family, name) in queue.into_iter().chain(loss.map(|name| ("loss-model", name))) {
                let whose = format!("link `{}`", link.direction_name(way));
                seats.push(Seat { family, name, whose, taken: false });
            }
        }
    }
    // All are built twice: once for their size, once for the run.
    let flows = scenario.flows.iter().chain(&scenario.flows);
    for flow in flows.filter(|flow| !flow.traffic.is_listed()) {
        let (name, whose) = (flow.traffic.mechanism().name, format!("flow `{}`", flow.name));
        seats.push(Seat { family: "traffic", name: name.to_owned(), whose, taken: false });
    }
    for proxy in &scenario.proxies {
        let Some(name) = proxy.choice.as_ref().and_then(|it| plugged_in(it)) else { continue };
        let whose = format!("middlebox `{}`", proxy.name);
        seats.push(Seat { family: "middlebox", name, whose, taken: false });
    }
    seats
}

/// The name of the family's mechanism where it was registered.
fn plugged_in(choice: &dyn AnyChoice) -> Option<String> {
    (!choice.is_listed()).then(|| choice.mechanism().name.to_owned())
}

/// A run's algorithms, while it lasts.
pub(crate) struct Session(());

impl Session {
    /// Begins with those of this scenario.
    pub(crate) fn begin(scenario: &Scenario) -> Session {
        let (order, duration) = (seats(scenario), scenario.duration);
        let fresh = Algorithms { order, duration, in_session: true, ..Algorithms::default() };
        ALGORITHMS.with_borrow_mut(|algorithms| *algorithms = fresh);
        Session(())
    }

    /// Raises what an algorithm raised.
    pub(crate) fn end(self, py: Python<'_>) -> PyResult<()> {
        let raised = ALGORITHMS.with_borrow_mut(|algorithms| algorithms.raised.take());
        raised.map_or(Ok(()), |raised| Err(raised.into_error(py)?))
    }
}

/// Returns what an algorithm raised in this thread outside of a session, where its run is one of many.
pub(crate) fn take_raised(py: Python<'_>) -> Option<PyErr> {
    let raised = ALGORITHMS.with_borrow_mut(|algorithms| match algorithms.in_session {
        true => None,
        false => algorithms.raised.take(),
    });
    raised.map(|raised| raised.into_error(py).unwrap_or_else(|error| error))
}

/// Returns true for an error of an algorithm, and not for what ends a program: KeyboardInterrupt, SystemExit.
pub(crate) fn is_exception(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyException>(py)
}

impl Raised {
    /// Returns what is raised to the caller of the run. What is no `Exception` ends programs and stays as it is.
    fn into_error(self, py: Python<'_>) -> PyResult<PyErr> {
        let Raised { error, at, what, whose } = self;
        if !is_exception(py, &error) {
            return Ok(error);
        }
        let text = format!("`{what}` of {whose} at {at} of simulated time: {error}");
        let ended = AlgorithmError::new_err(text);
        let value = ended.value(py);
        value.setattr("time_s", at.as_secs_f64())?;
        value.setattr("whose", whose)?;
        ended.set_cause(py, Some(error));
        Ok(ended)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        ALGORITHMS.with_borrow_mut(|algorithms| *algorithms = Algorithms::default());
    }
}

/// Whose the object is that is being made now.
pub(super) fn take_seat(family: &str, name: &str) -> String {
    ALGORITHMS.with_borrow_mut(|algorithms| {
        let free = |seat: &&mut Seat| !seat.taken && seat.family == family && seat.name == name;
        match algorithms.order.iter_mut().find(free) {
            Some(seat) => {
                seat.taken = true;
                seat.whose.clone()
            }
            None => "a later connection".to_owned(),
        }
    })
}

/// Notes what an algorithm raised; the first holds.
pub(super) fn note(error: PyErr, at: Time, what: &str, whose: &str) {
    ALGORITHMS.with_borrow_mut(|algorithms| {
        algorithms.raised.get_or_insert(Raised {
            error,
            at,
            what: what.to_owned(),
            whose: whose.to_owned(),
        });
    });
}

/// Records that the run has come to `share` of its duration.
pub(crate) fn note_share(share: f64) {
    ALGORITHMS.with_borrow_mut(|algorithms| {
        let seconds = algorithms.duration.as_secs_f64() * share.clamp(0.0, 1.0);
        algorithms.clock = algorithms.clock.max(Time::ZERO + Span::from_secs_f64(seconds));
    });
}

/// Records the time of a call.
pub(super) fn note_time(at: Time) {
    ALGORITHMS.with_borrow_mut(|algorithms| algorithms.clock = at);
}

/// Returns the time of the latest call, or of the latest part of the run that began.
pub(super) fn clock() -> Time {
    ALGORITHMS.with_borrow(|algorithms| algorithms.clock)
}

/// Whether the run of this thread is to end.
pub(crate) fn has_raised() -> bool {
    ALGORITHMS.with_borrow(|algorithms| algorithms.raised.is_some())
}
