//! An algorithm's object, which belongs to one connection or link.

use super::raised::{note, take_seat};
use ackord_units::Time;
use pyo3::prelude::*;
use std::sync::Arc;

/// A class that was registered under a name.
pub(super) struct Class {
    family: &'static str,
    name: Arc<str>,
    class: Py<PyAny>,
}

/// One object of it. What it raises is noted, and it is not called again: the run ends soon.
#[derive(Debug)]
pub(super) struct Object {
    name: Arc<str>,
    whose: String,
    object: Option<Py<PyAny>>,
}

impl Class {
    pub(super) fn new(family: &'static str, name: &str, class: Py<PyAny>) -> Class {
        Class { family, name: Arc::from(name), class }
    }

    /// A new object; `prepare` gives it what it is to know from the beginning.
    pub(super) fn object(&self, prepare: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> Object {
        let whose = take_seat(self.family, &self.name);
        let mut object = Object { name: Arc::clone(&self.name), whose, object: None };
        let made = Python::attach(|py| {
            let made = self.class.bind(py).call0()?;
            prepare(&made)?;
            Ok(made.unbind())
        });
        object.object = object.noting(Time::ZERO, made);
        object
    }
}

/// With all it knows, for a copy of its connection or link.
impl Clone for Object {
    fn clone(&self) -> Object {
        let copy = self.object.as_ref().map(|object| {
            Python::attach(|py| {
                let deep_copy = py.import("copy")?.getattr("deepcopy")?;
                Ok(deep_copy.call1((object,))?.unbind())
            })
        });
        let object = copy.and_then(|copy| self.noting(Time::ZERO, copy));
        Object { name: Arc::clone(&self.name), whose: self.whose.clone(), object }
    }
}

impl Object {
    /// What a call of it answers; nothing once it has raised something.
    pub(super) fn ask<T>(
        &mut self,
        at: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        let answer = Python::attach(|py| call(object.bind(py)));
        let answer = self.noting(at, answer);
        if answer.is_none() {
            self.object = None;
        }
        answer
    }

    fn noting<T>(&self, at: Time, answer: PyResult<T>) -> Option<T> {
        answer.map_err(|error| note(error, at, &self.name, &self.whose)).ok()
    }
}
