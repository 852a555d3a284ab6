//! Queues in Python.

use super::extracted;
use super::object::{Class, Object, give_random};
use crate::errors::bad_input;
use ackord_events::DropReason;
use ackord_path::registry::{QueueKnobs, QueuePlace, UnknownFlow};
use ackord_path::{Dequeued, Queue, QueueContext, QueueDiscipline, QueueLength, Slot};
use ackord_units::{Bytes, Time};
use ackord_wire::{Ecn, Side};
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeMap;

impl QueueKnobs for Class {
    fn build(&self, place: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        let object = self.object(|object| {
            object.setattr("rate", place.rate.as_bits_per_sec())?;
            object.setattr("delay", place.delay.as_secs_f64())?;
            give_random(object, place.stream.clone())
        });
        let length = QueueLength::default();
        Ok(Queue::of(PythonQueue { object, waiting: BTreeMap::new(), next: 0, length }))
    }
}

/// A packet as a queue sees it.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Packet {
    /// Which it is: the order of arrival at this queue.
    number: u64,
    /// Length of the IP packet, in bytes.
    bytes: u32,
    /// Payload of its TCP segment, in bytes.
    payload: u32,
    /// The number of its flow.
    flow: u32,
    /// Whether the end that opened the connection sent it.
    from_client: bool,
    /// Whether it may be marked in place of being dropped (RFC 3168).
    ecn_capable: bool,
    /// When it arrived at this queue, in seconds.
    arrived: f64,
}

#[pymethods]
impl Packet {
    // A copy of a queue has the same packets.
    fn __deepcopy__<'py>(slf: Bound<'py, Packet>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Packet> {
        slf
    }
}

/// One direction's queue: the object decides, here the packets are kept.
#[derive(Clone, Debug)]
struct PythonQueue {
    object: Object,
    /// Packets that were taken, by their numbers, and when.
    waiting: BTreeMap<u64, (Slot, Time)>,
    next: u64,
    length: QueueLength,
}

impl PythonQueue {
    /// Takes a packet out of what waits.
    fn give(&mut self, number: u64, bytes: u32) -> Option<(Slot, Time)> {
        let found = self.waiting.remove(&number)?;
        self.length.packets -= 1;
        self.length.bytes = self.length.bytes.saturating_sub(Bytes(bytes.into()));
        Some(found)
    }

    /// The object failed and the run ends: nothing waits any more, as where a queue gives nothing.
    fn drop_all(&mut self, context: &mut QueueContext<'_>) {
        for (slot, _) in std::mem::take(&mut self.waiting).into_values() {
            context.drop(slot, DropReason::QueueFull);
        }
        self.length = QueueLength::default();
    }

    /// What the object noted beside its answer: packets that it drops and marks.
    fn noted(object: &Bound<'_, PyAny>, list: &str) -> PyResult<Vec<(u64, u32)>> {
        let list = object.getattr(list)?;
        let mut noted = Vec::new();
        for packet in list.try_iter()? {
            let packet: PyRef<'_, Packet> = packet?.extract()?;
            noted.push((packet.number, packet.bytes));
        }
        if !noted.is_empty() {
            list.call_method0("clear")?;
        }
        Ok(noted)
    }

    /// Does what the object noted.
    fn apply(&mut self, noted: Noted, context: &mut QueueContext<'_>) {
        for (number, _) in noted.marked {
            if let Some((slot, _)) = self.waiting.get(&number)
                && context.is_ecn_capable(*slot)
            {
                context.mark(*slot);
            }
        }
        for (number, bytes) in noted.dropped {
            if let Some((slot, _)) = self.give(number, bytes) {
                context.drop(slot, DropReason::EarlyDrop);
            }
        }
    }
}

/// What an object noted beside its answer.
struct Noted {
    dropped: Vec<(u64, u32)>,
    marked: Vec<(u64, u32)>,
}

impl Noted {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Noted> {
        let dropped = PythonQueue::noted(object, "_dropped")?;
        Ok(Noted { dropped, marked: PythonQueue::noted(object, "_marked")? })
    }
}

impl QueueDiscipline for PythonQueue {
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        let packet = &context.packets[slot];
        let (number, bytes) = (self.next, packet.ip_len);
        let told = Packet {
            number,
            bytes,
            payload: packet.payload_len(),
            flow: packet.flow.0,
            from_client: packet.from == Side::Client,
            ecn_capable: packet.ecn != Ecn::NotEct,
            arrived: now.as_secs_f64(),
        };
        self.next += 1;
        let answer = self.object.ask(now, |object| {
            let told = (now.as_secs_f64(), told);
            let answer = object.call_method1(intern!(object.py(), "enqueue"), told)?;
            let Some(taken) = extracted::<bool>(&answer)? else {
                let given = answer.repr()?;
                return Err(bad_input(format!(
                    "`enqueue` answered {given}: True for a packet that is taken, False for one that is dropped, is allowed"
                )));
            };
            Ok((taken, Noted::of(object)?))
        });
        let Some((taken, noted)) = answer else { return Err(DropReason::QueueFull) };
        if taken {
            self.waiting.insert(number, (slot, now));
            self.length.packets += 1;
            self.length.bytes += Bytes(bytes.into());
        }
        self.apply(noted, context);
        if taken { Ok(()) } else { Err(DropReason::QueueFull) }
    }

    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        if self.waiting.is_empty() {
            return None;
        }
        let waiting = &self.waiting;
        let answer = self.object.ask(now, |object| {
            let chosen = object.call_method1(intern!(object.py(), "dequeue"), (now.as_secs_f64(),))?;
            let noted = Noted::of(object)?;
            if chosen.is_none() && noted.dropped.len() >= waiting.len() {
                return Ok((None, noted));
            }
            let packet = chosen.cast::<Packet>().ok().map(|packet| packet.get());
            match packet.filter(|packet| waiting.contains_key(&packet.number)) {
                Some(packet) => Ok((Some((packet.number, packet.bytes)), noted)),
                None => Err(bad_input(format!(
                    "`dequeue` answered {}: a packet that was taken and has not left is allowed ({} wait)",
                    chosen.repr()?,
                    waiting.len()
                ))),
            }
        });
        let Some((chosen, noted)) = answer else {
            self.drop_all(context);
            return None;
        };
        let chosen = match chosen {
            Some((number, bytes)) => {
                let marked = noted.marked.iter().any(|(marked, _)| *marked == number);
                let (slot, since) = self.give(number, bytes)?;
                if marked && context.is_ecn_capable(slot) {
                    context.mark(slot);
                }
                Some(Dequeued { slot, waited: now.saturating_since(since) })
            }
            None => None,
        };
        self.apply(noted, context);
        chosen
    }

    fn length(&self) -> QueueLength {
        self.length
    }
}
