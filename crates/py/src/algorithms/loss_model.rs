//! Losses on the wire in Python.

use super::extracted;
use super::object::{Class, Object, give_random};
use crate::errors::bad_input;
use ackord_path::registry::LossKnobs;
use ackord_path::{LossModel, LossProcess};
use ackord_units::{Contradiction, RandomStream, Time};
use pyo3::intern;
use pyo3::prelude::*;

impl LossKnobs for Class {
    fn build(&self, stream: RandomStream) -> Result<LossModel, Contradiction> {
        let object = self.object(|object| give_random(object, stream));
        Ok(LossModel::Other(Box::new(Losses(object))))
    }
}

/// One direction's losses.
#[derive(Clone, Debug)]
struct Losses(Object);

impl LossProcess for Losses {
    fn loses(&mut self, at: Time, ip_len: u32) -> bool {
        let lost = self.0.ask(at, |object| {
            let facts = (at.as_secs_f64(), ip_len);
            let answer = object.call_method1(intern!(object.py(), "loses"), facts)?;
            extracted::<bool>(&answer)?.ok_or_else(|| {
                let given = answer.repr().map_or_else(|_| String::new(), |text| text.to_string());
                bad_input(format!(
                    "`loses` answered {given}: True for a packet that is lost, False for one that arrives, is allowed"
                ))
            })
        });
        lost.unwrap_or(false)
    }

    fn boxed_clone(&self) -> Box<dyn LossProcess> {
        Box::new(self.clone())
    }
}
