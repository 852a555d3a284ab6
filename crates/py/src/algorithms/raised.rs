//! What an algorithm raises: it ends the run, with the simulated time and whose it was.

use crate::errors::AlgorithmError;
use ackord_scenario::{Scenario, Way};
use ackord_units::{AnyChoice, Time};
use ackord_wire::Side;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The algorithms of the run that this thread is in.
#[derive(Default)]
struct Algorithms {
    /// Whose each object is, in the order in which a simulation makes them.
    order: Vec<Seat>,
    raised: Option<Raised>,
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
const FAMILIES: [&str; 3] = ["congestion", "ack", "loss"];

/// Whether some endpoint of a scenario has an algorithm in Python.
pub(crate) fn uses_python(scenario: &Scenario) -> bool {
    !seats(scenario).is_empty()
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
            let Some(name) = plugged_in(&link.direction(way).queue) else { continue };
            let whose = format!("link `{}`", link.direction_name(way));
            seats.push(Seat { family: "queue", name, whose, taken: false });
        }
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
        let fresh = Algorithms { order: seats(scenario), raised: None };
        ALGORITHMS.with_borrow_mut(|algorithms| *algorithms = fresh);
        Session(())
    }

    /// Raises what an algorithm raised.
    pub(crate) fn end(self, py: Python<'_>) -> PyResult<()> {
        let raised = ALGORITHMS.with_borrow_mut(|algorithms| algorithms.raised.take());
        let Some(Raised { error, at, what, whose }) = raised else { return Ok(()) };
        let text = format!("`{what}` of {whose} at {at} of simulated time: {error}");
        let ended = AlgorithmError::new_err(text);
        let value = ended.value(py);
        value.setattr("time_s", at.as_secs_f64())?;
        value.setattr("whose", whose)?;
        ended.set_cause(py, Some(error));
        Err(ended)
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

/// Whether the run of this thread is to end.
pub(crate) fn has_raised() -> bool {
    ALGORITHMS.with_borrow(|algorithms| algorithms.raised.is_some())
}
