//! An algorithm's object, which belongs to one connection or link.

use super::knobs::in_python;
use super::raised::{note, note_time, take_seat};
use ackord_units::{Knob, KnobValue, RandomStream, Time};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// A class that was registered under a name, with the values of its knobs.
#[derive(Clone)]
pub(super) struct Class {
    family: &'static str,
    name: Arc<str>,
    class: Arc<Py<PyAny>>,
    knobs: Arc<[Knob]>,
    values: Vec<Option<KnobValue>>,
}

/// One object of it. What it raises is noted, and it is not called again: the run ends soon.
#[derive(Debug)]
pub(super) struct Object {
    name: Arc<str>,
    whose: String,
    object: Option<Py<PyAny>>,
}

impl Class {
    /// A class whose knobs have no values yet.
    pub(super) fn new(family: &'static str, name: &str, class: Py<PyAny>, knobs: &[Knob]) -> Class {
        let (name, class, knobs) = (name.into(), class.into(), knobs.into());
        Class { family, name, class, knobs, values: Vec::new() }
    }

    /// The same class with these values of its knobs.
    pub(super) fn with(&self, values: &[Option<KnobValue>]) -> Class {
        Class { values: values.to_vec(), ..self.clone() }
    }

    /// Reads an attribute that `__init_subclass__` has checked.
    pub(super) fn declares<T>(
        &self,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        Python::attach(|py| read(self.class.bind(py))).ok()
    }

    /// Builds an object, which knows the values of its knobs and what `prepare` gives it before its `__init__` is
    /// called.
    pub(super) fn object(&self, prepare: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> Object {
        let whose = take_seat(self.family, &self.name);
        self.object_of(&self.class, whose, prepare)
    }

    /// Builds an object of another class with the same values of knobs.
    pub(super) fn object_of(
        &self,
        class: &Py<PyAny>,
        whose: String,
        prepare: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Object {
        let mut object = Object { name: Arc::clone(&self.name), whose, object: None };
        let made = Python::attach(|py| {
            let class = class.bind(py);
            let made = class.call_method1(intern!(py, "__new__"), (class,))?;
            for (knob, value) in self.knobs.iter().zip(&self.values) {
                if let Some(value) = value {
                    made.setattr(knob.name, in_python(py, &knob.kind, value)?)?;
                }
            }
            prepare(&made)?;
            made.call_method0(intern!(py, "__init__"))?;
            Ok(made.unbind())
        });
        object.object = object.noting(Time::ZERO, made);
        object
    }
}

/// Gives an object its random numbers: the seed of the run decides them, and nothing else.
pub(super) fn give_random(object: &Bound<'_, PyAny>, mut stream: RandomStream) -> PyResult<()> {
    let random = object.py().import("random")?.getattr("Random")?.call1((stream.next_u64(),))?;
    object.setattr("random", random)
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
    /// The place it has in the scenario.
    pub(super) fn whose(&self) -> &str {
        &self.whose
    }

    /// What a call of it answers; nothing once it has raised something.
    pub(super) fn ask<T>(
        &mut self,
        at: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let answer = self.look(at, call);
        if answer.is_none() {
            self.object = None;
        }
        answer
    }

    /// As [`ask`](Object::ask), where the caller may change nothing: it is called again after it has raised something.
    pub(super) fn look<T>(
        &self,
        at: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        note_time(at);
        let answer = Python::attach(|py| call(object.bind(py)));
        self.noting(at, answer)
    }

    fn noting<T>(&self, at: Time, answer: PyResult<T>) -> Option<T> {
        answer.map_err(|error| note(error, at, &self.name, &self.whose)).ok()
    }
}
