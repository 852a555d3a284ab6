//! Middleboxes in Python.

use super::object::{Class, Object};
use super::{extracted, time_from};
use crate::errors::bad_input;
use ackord_events::ProxySending;
use ackord_path::proxy::{Heading, InPath, Middlebox, OnPath, Outbox, Proxy, ProxyStats, Verdict};
use ackord_path::registry::ProxyKnobs;
use ackord_units::{Seq, Time};
use ackord_wire::{Ecn, Flags, Packet, Segment};
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeSet;

/// A packet that passes a middlebox. It does not change: `replace` makes another one.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Datagram {
    /// Which it is: the order of arrival at this middlebox.
    number: u64,
    packet: Packet,
}

impl Datagram {
    fn segment(&self) -> Option<&Segment> {
        self.packet.tcp.as_ref()
    }

    fn has(&self, flag: Flags) -> bool {
        self.segment().is_some_and(|segment| segment.flags.contains(flag))
    }
}

#[pymethods]
impl Datagram {
    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.packet.flow.0
    }

    /// Length of the IP packet, in bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.packet.ip_len
    }

    /// Payload of its TCP segment, in bytes.
    #[getter]
    fn payload(&self) -> u32 {
        self.packet.payload_len()
    }

    /// Whether the end that opened the connection sent it.
    #[getter(from_client)]
    fn is_from_client(&self) -> bool {
        self.packet.from == ackord_wire::Side::Client
    }

    /// Sequence number of the first byte; None for a packet that is not of TCP.
    #[getter]
    fn seq(&self) -> Option<u32> {
        self.segment().map(|segment| segment.seq.0)
    }

    /// The next byte expected; None without the flag ACK.
    #[getter]
    fn ack(&self) -> Option<u32> {
        self.segment().filter(|_| self.has(Flags::ACK)).map(|segment| segment.ack.0)
    }

    /// The window field, before scaling.
    #[getter]
    fn window(&self) -> Option<u16> {
        self.segment().map(|segment| segment.window)
    }

    /// Whether it synchronizes sequence numbers.
    #[getter]
    fn syn(&self) -> bool {
        self.has(Flags::SYN)
    }

    /// Whether it ends its direction.
    #[getter]
    fn fin(&self) -> bool {
        self.has(Flags::FIN)
    }

    /// Whether it resets the connection.
    #[getter]
    fn rst(&self) -> bool {
        self.has(Flags::RST)
    }

    /// The blocks of its SACK option: first byte and the byte after the last.
    #[getter]
    fn sack_blocks(&self) -> Vec<(u32, u32)> {
        let blocks = self.segment().map_or(&[][..], |segment| segment.options.sack.as_slice());
        blocks.iter().map(|block| (block.start.0, block.end.0)).collect()
    }

    /// The ECN field of its IP header: "not-ect", "ect0", "ect1" or "ce".
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.packet.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    /// The same packet with other contents.
    #[pyo3(signature = (*, ack=None, window=None, ecn=None))]
    fn replace(
        &self,
        ack: Option<u32>,
        window: Option<u16>,
        ecn: Option<&str>,
    ) -> PyResult<Datagram> {
        let mut packet = self.packet;
        if (ack.is_some() || window.is_some()) && packet.tcp.is_none() {
            return Err(bad_input(
                "`ack` and `window` are of TCP segments, and this packet is none",
            ));
        }
        if let Some(segment) = &mut packet.tcp {
            segment.ack = ack.map_or(segment.ack, Seq);
            segment.window = window.unwrap_or(segment.window);
        }
        packet.ecn = match ecn {
            None => packet.ecn,
            Some("not-ect") => Ecn::NotEct,
            Some("ect0") => Ecn::Ect0,
            Some("ect1") => Ecn::Ect1,
            Some("ce") => Ecn::Ce,
            Some(other) => {
                return Err(bad_input(format!(
                    "`ecn` is {other:?}: \"not-ect\", \"ect0\", \"ect1\" or \"ce\" is allowed"
                )));
            }
        };
        Ok(Datagram { number: self.number, packet })
    }

    // A copy of a middlebox has the same packets.
    fn __deepcopy__<'py>(
        slf: Bound<'py, Datagram>,
        _memo: &Bound<'py, PyAny>,
    ) -> Bound<'py, Datagram> {
        slf
    }
}

impl ProxyKnobs for Class {
    fn build(&self) -> Proxy {
        let inline = self.declares(|class| class.getattr("_inline")?.extract()).unwrap_or(false);
        let object = self.object(|_| Ok(()));
        let stats = ProxyStats::default();
        let own = Own { object, deadline: None, next: 0, held: BTreeSet::new(), stats };
        match inline {
            true => Proxy::InPath(Box::new(own)),
            false => Proxy::OnPath(Box::new(own)),
        }
    }
}

/// One middlebox.
#[derive(Clone, Debug)]
struct Own {
    object: Object,
    deadline: Option<Time>,
    /// The number of the next packet.
    next: u64,
    /// The numbers of the packets that were absorbed and not released.
    held: BTreeSet<u64>,
    stats: ProxyStats,
}

/// What an object wants to send, in order: a packet, its number, and whether it was absorbed earlier.
type Sent = Vec<(Packet, u64, bool)>;

impl Own {
    /// Calls the object, and reads off it what it sends and when it wants to be called again.
    fn ask<T>(
        &mut self,
        now: Time,
        out: &mut Outbox,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let is_due = self.deadline.is_some_and(|deadline| deadline <= now);
        let held = &self.held;
        let asked = self.object.ask(now, |object| {
            let name = intern!(object.py(), "deadline");
            if is_due {
                object.setattr(name, object.py().None())?;
            }
            let answer = call(object)?;
            let deadline = time_from("deadline", "no timer", now, &object.getattr(name)?)?;
            Ok((answer, deadline, sent(object, held)?))
        });
        let Some((answer, deadline, sent)) = asked else {
            self.deadline = None;
            return None;
        };
        self.deadline = deadline;
        for (packet, number, released) in sent {
            match (released, packet.payload_len()) {
                (true, _) => {
                    self.held.remove(&number);
                    out.release(packet);
                }
                (false, 0) => {
                    self.stats.acks_sent += 1;
                    out.send(packet, ProxySending::Acknowledgment);
                }
                (false, _) => {
                    self.stats.data_sent += 1;
                    out.send(packet, ProxySending::Retransmission);
                }
            }
        }
        Some(answer)
    }

    fn arrived(&mut self, packet: &Packet) -> Datagram {
        self.stats.seen += 1;
        self.next += 1;
        Datagram { number: self.next - 1, packet: *packet }
    }
}

/// Takes what the object put down to be sent.
fn sent(object: &Bound<'_, PyAny>, held: &BTreeSet<u64>) -> PyResult<Sent> {
    let list = object.getattr(intern!(object.py(), "_sent"))?;
    let mut sent = Sent::new();
    for entry in list.try_iter()? {
        let entry = entry?;
        let (packet, released): (Bound<'_, Datagram>, bool) = entry.extract()?;
        let Datagram { number, packet } = *packet.get();
        let twice = || sent.iter().any(|(_, other, released)| *released && *other == number);
        if released && (!held.contains(&number) || twice()) {
            return Err(bad_input(format!(
                "`release` was given packet {number}, which this middlebox does not hold"
            )));
        }
        sent.push((packet, number, released));
    }
    if !sent.is_empty() {
        list.call_method0("clear")?;
    }
    Ok(sent)
}

fn name(heading: Heading) -> &'static str {
    match heading {
        Heading::Mobile => "mobile",
        Heading::Fixed => "fixed",
    }
}

impl Middlebox for Own {
    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        self.ask(now, out, |object| {
            object.call_method1(intern!(object.py(), "on_deadline"), (now.as_secs_f64(),)).map(drop)
        });
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl OnPath for Own {
    fn observe(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox) {
        let arrived = self.arrived(packet);
        self.ask(now, out, |object| {
            let facts = (now.as_secs_f64(), arrived, name(heading));
            object.call_method1(intern!(object.py(), "observe"), facts).map(drop)
        });
    }

    fn boxed_clone(&self) -> Box<dyn OnPath> {
        Box::new(self.clone())
    }
}

impl InPath for Own {
    fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        let arrived = self.arrived(packet);
        let number = arrived.number;
        let verdict = self.ask(now, out, |object| {
            let facts = (now.as_secs_f64(), arrived, name(heading));
            verdict(&object.call_method1(intern!(object.py(), "handle"), facts)?, number)
        });
        match verdict {
            // The object failed and the run ends: packets pass.
            None => return Verdict::Forward,
            Some(Verdict::Absorb) => {
                self.stats.absorbed += 1;
                self.held.insert(number);
            }
            Some(Verdict::Rewrite(_)) => self.stats.rewritten += 1,
            Some(Verdict::Forward) => {}
        }
        verdict.unwrap_or(Verdict::Forward)
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}

fn verdict(answer: &Bound<'_, PyAny>, number: u64) -> PyResult<Verdict> {
    if let Ok(other) = answer.cast::<Datagram>()
        && other.get().number == number
    {
        return Ok(Verdict::Rewrite(other.get().packet));
    }
    match extracted::<bool>(answer)? {
        Some(true) => Ok(Verdict::Forward),
        Some(false) => Ok(Verdict::Absorb),
        None => Err(bad_input(format!(
            "`handle` answered {}: True to forward the packet, False to absorb it, or what its `replace` returned, is \
             allowed",
            answer.repr()?
        ))),
    }
}
