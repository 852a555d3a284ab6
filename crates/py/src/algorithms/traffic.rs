//! Applications in Python.

use super::object::{Class, Object, give_random};
use super::{bytes, time_from};
use crate::errors::bad_input;
use ackord_traffic::{
    Application, DrawBudget, Socket, Step, Transfer, Workload, WorkloadKnobs, Workloads,
};
use ackord_units::{Bytes, RandomStream, Time};
use ackord_wire::Side;
use pyo3::intern;
use pyo3::prelude::*;

/// A step: the application writes so many bytes, at least one and no more than there is room for.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Write {
    /// How many.
    bytes: u64,
}

/// A step: the application is done, and closes its direction.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Close;

/// A step: a transfer begins, of which this end is going to write the first byte.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct TransferBegan {
    /// Its number, from zero.
    index: u64,
    /// What the flow's sending end sends in it, in bytes.
    bytes: u64,
}

/// A step: a transfer is complete, this end has all of it.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct TransferCompleted {
    /// Its number, from zero.
    index: u64,
    /// What the flow's sending end sends in it, in bytes.
    bytes: u64,
}

#[pymethods]
impl Write {
    #[new]
    fn new(bytes: u64) -> Write {
        Write { bytes }
    }

    fn __repr__(&self) -> String {
        format!("Write({})", self.bytes)
    }
}

#[pymethods]
impl Close {
    #[new]
    fn new() -> Close {
        Close
    }

    fn __repr__(&self) -> &'static str {
        "Close()"
    }
}

#[pymethods]
impl TransferBegan {
    #[new]
    fn new(index: u64, bytes: u64) -> TransferBegan {
        TransferBegan { index, bytes }
    }
}

#[pymethods]
impl TransferCompleted {
    #[new]
    fn new(index: u64, bytes: u64) -> TransferCompleted {
        TransferCompleted { index, bytes }
    }
}

impl WorkloadKnobs for Class {
    fn usual_sender(&self) -> Side {
        let name = |class: &Bound<'_, PyAny>| class.getattr("sender")?.extract::<String>();
        match self.declares(name).as_deref() {
            Some("server") => Side::Server,
            _ => Side::Client,
        }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        // Both ends draw the same numbers, so that both know the lengths that are drawn.
        let random = |object: &Bound<'_, PyAny>| give_random(object, stream("own"));
        let sends = End::of(self.object(random));
        let other = self.declares(|class| Ok(class.getattr("other_end")?.unbind()));
        let other = other.filter(|other| Python::attach(|py| !other.is_none(py)));
        let receives = match other {
            None => Workload::Idle,
            Some(class) => {
                let whose = sends.object.whose().to_owned();
                Workload::of(End::of(self.object_of(&class, whose, random)))
            }
        };
        Workloads { sends: Workload::of(sends), receives }
    }
}

/// The application at one end of a flow.
#[derive(Clone, Debug)]
struct End {
    object: Object,
    deadline: Option<Time>,
    size: Option<Bytes>,
    waits_for_acks: bool,
}

impl End {
    fn of(mut object: Object) -> End {
        let declared = object.ask(Time::ZERO, |object| {
            let size = object.getattr(intern!(object.py(), "size"))?;
            let size = match size.is_none() {
                true => None,
                false => Some(bytes("size", 0, &size)?),
            };
            let waits_for_acks = object.getattr(intern!(object.py(), "waits_for_acks"))?;
            Ok((size, waits_for_acks.is_truthy()?))
        });
        let (size, waits_for_acks) = declared.unwrap_or_default();
        End { object, deadline: None, size, waits_for_acks }
    }

    /// Calls the object, and reads off it when it wants to be called again. A deadline that has come is over.
    fn ask<T>(
        &mut self,
        now: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let is_due = self.deadline.is_some_and(|deadline| deadline <= now);
        let asked = self.object.ask(now, |object| {
            let name = intern!(object.py(), "deadline");
            if is_due {
                object.setattr(name, object.py().None())?;
            }
            let answer = call(object)?;
            Ok((answer, time_from("deadline", "no timer", now, &object.getattr(name)?)?))
        });
        let (answer, deadline) = asked.map_or((None, None), |(answer, at)| (Some(answer), at));
        self.deadline = deadline;
        answer
    }
}

impl Application for End {
    fn start(&mut self, now: Time) {
        self.ask(now, |object| {
            let name = intern!(object.py(), "on_established");
            object.call_method1(name, (now.as_secs_f64(),)).map(drop)
        });
    }

    fn handle_data(&mut self, now: Time, bytes: Bytes) {
        self.ask(now, |object| {
            let facts = (now.as_secs_f64(), bytes.get());
            object.call_method1(intern!(object.py(), "on_data"), facts).map(drop)
        });
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let (room, drained) = (socket.writable(), socket.is_drained());
        let step = self.ask(now, |object| {
            let facts = (now.as_secs_f64(), room.get(), drained);
            step(&object.call_method1(intern!(object.py(), "step"), facts)?, room)
        });
        step.unwrap_or(Step::Wait)
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn size(&self, _budget: &mut DrawBudget) -> Option<Bytes> {
        self.size
    }

    fn waits_for_acks(&self) -> bool {
        self.waits_for_acks
    }
}

fn step(answer: &Bound<'_, PyAny>, room: Bytes) -> PyResult<Step> {
    if answer.is_none() {
        return Ok(Step::Wait);
    }
    if let Ok(write) = answer.cast::<Write>() {
        let bytes = Bytes(write.get().bytes);
        return match (Bytes(1)..=room).contains(&bytes) {
            true => Ok(Step::Write(bytes)),
            false => Err(bad_input(format!(
                "`step` answered {}: there is room for {}, and at least 1 byte is written",
                answer.repr()?,
                room
            ))),
        };
    }
    if answer.cast::<Close>().is_ok() {
        return Ok(Step::Close);
    }
    if let Ok(began) = answer.cast::<TransferBegan>() {
        let TransferBegan { index, bytes } = *began.get();
        return Ok(Step::Began(Transfer { index, bytes: Bytes(bytes) }));
    }
    if let Ok(completed) = answer.cast::<TransferCompleted>() {
        let TransferCompleted { index, bytes } = *completed.get();
        return Ok(Step::Completed(Transfer { index, bytes: Bytes(bytes) }));
    }
    Err(bad_input(format!(
        "`step` answered {}: None to wait, or Write, Close, TransferBegan or TransferCompleted, is allowed",
        answer.repr()?
    )))
}
