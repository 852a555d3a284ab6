//! ACK policies in Python.

use super::facts::Arrival;
use super::object::{Class, Object};
use super::time_from;
use ackord_tcp::ack::{self, AckConfig, AckDecision, AckPolicy, Carrier};
use ackord_units::Time;
use pyo3::intern;
use pyo3::prelude::*;

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
