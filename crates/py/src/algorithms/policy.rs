//! ACK policies in Python.

use super::facts::Arrival;
use super::object::{Class, Object};
use super::{registered, time_from};
use ackord_tcp::ack::{self, Ack, AckConfig, AckDecision, AckPolicy, Carrier};
use ackord_units::{Choice, Time};
use pyo3::intern;
use pyo3::prelude::*;

/// Makes a class of ACK policies known by a name, in every scenario that is checked from now on.
#[pyfunction]
pub(crate) fn register_ack(name: &str, class: Py<PyAny>) -> PyResult<()> {
    let made = Box::new(Class::new("ack", name, class));
    registered(Ack::plug_ins().register(Ack::MECHANISMS, name, made))
}

impl AckConfig for Class {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(Policy(self.object(|_| Ok(()))))
    }
}

/// One connection's policy.
#[derive(Clone, Debug)]
struct Policy(Object);

impl AckPolicy for Policy {
    fn on_segment(&mut self, at: Time, arrival: &ack::Arrival<'_>) -> AckDecision {
        let decided = self.0.ask(at, |object| {
            let told = (at.as_secs_f64(), Arrival::of(arrival));
            let by = object.call_method1(intern!(object.py(), "on_segment"), told)?;
            time_from("on_segment", "an acknowledgment now", at, &by)
        });
        match decided.flatten() {
            Some(by) if by > at => AckDecision::NoLaterThan(by),
            _ => AckDecision::Now,
        }
    }

    fn on_ack_sent(&mut self, at: Time, carrier: Carrier) {
        self.0.ask(at, |object| {
            let told = (at.as_secs_f64(), carrier == Carrier::Data);
            object.call_method1(intern!(object.py(), "on_ack_sent"), told).map(drop)
        });
    }
}
