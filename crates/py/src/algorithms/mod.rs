//! Mechanisms that are written in Python: objects whose methods are called as the traits of the
//! mechanisms say, with the same facts in and the same decisions out.
//!
//! | file | what |
//! | --- | --- |
//! | `registration.rs` | classes under their names |
//! | `knobs.rs` | their knobs |
//! | `object.rs` | a registered class, and one object of it |
//! | `raised.rs` | what objects raise, and whose they are |
//! | `facts.rs`, `path_model.rs` | what they are told |
//! | `control.rs`, `policy.rs`, `detector.rs`, `recovery.rs` | congestion controls, ACK policies, loss detectors, recoveries |
//! | `queue.rs`, `loss_model.rs`, `middlebox.rs` | queues, losses on the wire, middleboxes |
//! | `traffic.rs` | applications |
//!
//! A run that uses one keeps the interpreter: to release it and take it again for every packet would
//! cost more than the call. Other threads get their turn while the object's own code runs.

mod control;
mod detector;
mod facts;
mod knobs;
mod loss_model;
mod middlebox;
mod object;
mod path_model;
mod policy;
mod queue;
mod raised;
mod recovery;
mod registration;
mod traffic;

pub(crate) use facts::{
    AckSample, Arrival, Delivered, Established, Loss, LossFacts, Mark, Recovered, Restart,
    Spurious, Timeout, Undone,
};
pub(crate) use knobs::knob_default;
pub(crate) use middlebox::Datagram;
pub(crate) use path_model::{LostSegment, RateSample};
pub(crate) use queue::Packet;
pub(crate) use raised::{
    Session, has_raised, is_exception, note_share, python_algorithms, python_traffic, take_raised,
    uses_python,
};
pub(crate) use recovery::{Flight, RecoveryAck, RecoveryEntry};
pub(crate) use registration::{mechanisms, register};
pub(crate) use traffic::{Close, TransferBegan, TransferCompleted, Write};

use crate::errors::bad_input;
use ackord_units::{Bytes, Span, Time};
use pyo3::prelude::*;

/// Returns an answer in the type it has to be of; nothing where it is of another. What ends a program (Ctrl-C while
/// `__float__` runs) is no answer.
fn extracted<'a, 'py, T: FromPyObject<'a, 'py, Error = PyErr>>(
    given: &'a Bound<'py, PyAny>,
) -> PyResult<Option<T>> {
    match given.extract::<T>() {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_exception(given.py(), &error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A number that an algorithm decided.
fn number(what: &str, unit: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    match extracted::<f64>(given)? {
        Some(number) if number >= 0.0 => Ok(number),
        _ => {
            let kind = given.get_type().name()?;
            let given = given.repr()?;
            Err(bad_input(format!(
                "`{what}` is {given} ({kind}): a number of {unit} from 0 on is allowed"
            )))
        }
    }
}

/// More bytes than any window: RFC 7323 §2.3 ends at 1 GiB. Sums of them stay far from the end of the counter.
const MOST_BYTES: f64 = (1_u64 << 40) as f64;

/// Bytes that an algorithm decided, at least so many.
fn bytes(what: &str, least: u64, given: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    match number(what, "bytes", given)? {
        decided if (least as f64..=MOST_BYTES).contains(&decided) => Ok(Bytes(decided as u64)),
        _ => Err(bad_input(format!(
            "`{what}` is {}: {least} to 2^40 bytes is allowed",
            given.repr()?
        ))),
    }
}

/// A span that an algorithm decided, to the nanosecond that was meant. Longer ones are no time of a connection.
fn span(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Span> {
    const MOST_S: f64 = 1e6;
    match number(what, "seconds", given)? {
        seconds if seconds <= MOST_S => Ok(Span::from_nanos((seconds * 1e9).round() as u64)),
        _ => Err(bad_input(format!(
            "`{what}` is {}: 0 to 1000000 seconds is allowed",
            given.repr()?
        ))),
    }
}

/// A time that an algorithm decided, to the nanosecond that was meant: not before `at`.
fn time_from(what: &str, none: &str, at: Time, given: &Bound<'_, PyAny>) -> PyResult<Option<Time>> {
    if given.is_none() {
        return Ok(None);
    }
    match extracted::<f64>(given)? {
        Some(by) if by.is_finite() && by >= at.as_secs_f64() => {
            Ok(Some(Time::from_nanos((by * 1e9).round() as u64).max(at)))
        }
        _ => {
            let (kind, now) = (given.get_type().name()?, at.as_secs_f64());
            let given = given.repr()?;
            Err(bad_input(format!(
                "`{what}` is {given} ({kind}): None for {none}, or a time in seconds from {now} on, is allowed"
            )))
        }
    }
}
