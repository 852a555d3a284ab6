//! Functions in Python that receive the events of a run.

use crate::errors::unknown_name;
use ackord_events::{Event, Sink};
use ackord_report::{EVENT_NAMES, event_fields, event_name};
use ackord_scenario::{Scenario, Way};
use ackord_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The functions by the name of the event, and the names that their events refer to.
#[derive(Default)]
pub(crate) struct Observers {
    functions: BTreeMap<&'static str, Vec<Arc<Py<PyAny>>>>,
    flows: Vec<String>,
    /// By number: the directions of links.
    links: Vec<String>,
    /// By number: those that are there.
    proxies: Vec<String>,
}

impl Observers {
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns a copy with one more function.
    ///
    /// # Errors
    /// If no event has this name.
    pub(crate) fn with(
        &self,
        scenario: &Scenario,
        event: &str,
        function: Py<PyAny>,
    ) -> PyResult<Observers> {
        let known = EVENT_NAMES.iter().find(|name| **name == event);
        let Some(name) = known else {
            return Err(unknown_name("event", event, EVENT_NAMES.into_iter()));
        };
        let mut functions = self.functions.clone();
        functions.entry(name).or_default().push(Arc::new(function));
        let both = [Way::Forward, Way::Reverse];
        let links = scenario.links.iter();
        let proxies = scenario.proxies.iter().filter(|proxy| proxy.choice.is_some());
        Ok(Observers {
            functions,
            flows: scenario.flows.iter().map(|flow| flow.name.clone()).collect(),
            links: links.flat_map(|link| both.map(|way| link.direction_name(way))).collect(),
            proxies: proxies.map(|proxy| proxy.name.clone()).collect(),
        })
    }

    /// Calls the functions of an event.
    fn call(&self, at: Time, event: &Event<'_>) -> PyResult<()> {
        let Some(functions) = self.functions.get(event_name(event)) else { return Ok(()) };
        Python::attach(|py| {
            for function in functions {
                function.call1(py, (self.dict(py, at, event)?,))?;
            }
            Ok(())
        })
    }

    /// Returns an event as a dictionary, with names in place of numbers and times in seconds.
    fn dict<'py>(
        &self,
        py: Python<'py>,
        at: Time,
        event: &Event<'_>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("time_s", at.as_secs_f64())?;
        for (key, value) in event_fields(event) {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let name = |names: &[String]| number.and_then(|number| names.get(number).cloned());
            match (key.as_str(), &value) {
                ("connection", _) => dict.set_item("flow", name(&self.flows))?,
                ("link", _) => dict.set_item("link", name(&self.links))?,
                ("proxy", _) => dict.set_item("proxy", name(&self.proxies))?,
                (key, Value::Number(number)) => match (key.strip_suffix("_ns"), number.as_u64()) {
                    (Some(of), Some(nanos)) => {
                        dict.set_item(format!("{of}_s"), Time::from_nanos(nanos).as_secs_f64())?;
                    }
                    _ => dict.set_item(key, number.as_u64())?,
                },
                (key, Value::String(text)) => dict.set_item(key, text)?,
                (key, _) => dict.set_item(key, py.None())?,
            }
        }
        Ok(dict)
    }
}

/// A sink that calls observers until one of them raises.
pub(crate) struct Observing<'a> {
    observers: &'a Observers,
    raised: Option<PyErr>,
    has_raised: Rc<Cell<bool>>,
}

impl<'a> Observing<'a> {
    pub(crate) fn new(observers: &'a Observers) -> Observing<'a> {
        Observing { observers, raised: None, has_raised: Rc::default() }
    }

    /// Returns a flag that is set once an observer has raised an exception.
    pub(crate) fn flag(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.has_raised)
    }

    /// Returns the exception of an observer as an error.
    pub(crate) fn done(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

impl Sink for Observing<'_> {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if self.raised.is_none()
            && !self.observers.is_empty()
            && let Err(raised) = self.observers.call(at, &event)
        {
            self.raised = Some(raised);
            self.has_raised.set(true);
        }
    }
}
