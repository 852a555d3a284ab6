//! The simulator's own endpoint under a script.

use super::endpoint::{Departure, Endpoint};
use super::{Went, seconds};
use crate::facts::{Asked, Fact, Quantity};
use crate::model::{Call, Reads, Script};
use crate::quantities::state_name;
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::{Connection, reset_for};
use ackord_units::{Bytes, Time};
use ackord_wire::{Ecn, Flags, FlowId, Segment, Side};
use std::collections::VecDeque;

/// An endpoint made of what a script's header says.
pub(super) struct Simulated<'a> {
    script: &'a Script,
    side: Side,
    pub(super) connection: Option<Connection>,
    /// What a host answers where there is no connection.
    answers: VecDeque<Segment>,
}

impl<'a> Simulated<'a> {
    pub(super) fn new(script: &'a Script) -> Simulated<'a> {
        Simulated { script, side: script.side(), connection: None, answers: VecDeque::new() }
    }

    fn open(&mut self, now: Time, call: Call) -> Result<(), Went> {
        if let Some(connection) = &mut self.connection {
            if call == Call::Connect && connection.state() == TcpState::Listen {
                connection.open(now, &mut NoSink);
                return Ok(());
            }
            let what = "there is a connection already; a script has one".to_owned();
            return Err(Went::Unplayable(what));
        }
        let mut config = self.script.stack.config();
        config.ip = self.script.ip;
        let mechanisms = self.script.stack.mechanisms();
        let id = EndpointId { flow: FlowId(0), side: self.side };
        let iss = self.script.iss;
        self.connection = Some(match call {
            Call::Connect => Connection::connect(config, mechanisms, id, iss, now),
            _ => Connection::listen(config, mechanisms, id, iss),
        });
        Ok(())
    }
}

impl Endpoint for Simulated<'_> {
    fn call(&mut self, now: Time, call: Call) -> Result<(), Went> {
        match call {
            Call::Connect | Call::Listen => self.open(now, call),
            _ => {
                let connection = self.connection.as_mut().ok_or_else(no_connection)?;
                apply(connection, now, call).map_err(Went::Call)
            }
        }
    }

    fn arrive(&mut self, now: Time, segment: &Segment, ecn: Ecn, reads: Reads) -> Result<(), Went> {
        match &mut self.connection {
            Some(connection) if connection.state() != TcpState::Closed => {
                connection.handle_segment(now, segment, ecn, &mut NoSink);
                if reads == Reads::AtOnce {
                    connection.read(connection.readable());
                }
            }
            // RFC 9293 §3.10.7.1: whoever drives connections answers where there is none.
            _ if segment.flags.contains(Flags::RST) => {}
            _ => self.answers.push_back(reset_for(segment)),
        }
        Ok(())
    }

    fn go_on(&mut self, now: Time, to: Time, including: bool) -> Result<Option<Time>, Went> {
        let Some(connection) = &mut self.connection else { return Ok(None) };
        let Some(at) = connection.deadline() else { return Ok(None) };
        if at > to || (at == to && !including) {
            return Ok(None);
        }
        connection.handle_deadline(now.max(at), &mut NoSink);
        Ok(Some(at))
    }

    fn at_rest(&mut self, at: Time) -> Result<(), Went> {
        // A deadline that stays in the past without anything happening would stand for ever.
        let again = self.connection.as_ref().and_then(Connection::deadline);
        if again.is_some_and(|again| again <= at) {
            return Err(Went::Restless(format!(
                "the timer of {} s is due again at once",
                seconds(at)
            )));
        }
        Ok(())
    }

    fn poll(&mut self, now: Time) -> Option<Departure> {
        if let Some(segment) = self.answers.pop_front() {
            return Some(Departure { at: now, segment, ecn: Ecn::NotEct });
        }
        let outbound = self.connection.as_mut()?.poll_segment(now, &mut NoSink)?;
        Some(Departure { at: now, segment: outbound.segment, ecn: outbound.ecn })
    }

    fn stamps_from(&self) -> u32 {
        self.connection.as_ref().map_or(0, |connection| connection.timestamp_value(Time::ZERO))
    }

    fn fact(&mut self, quantity: &'static Quantity, now: Time) -> Result<Option<Fact>, Went> {
        let Some(connection) = &self.connection else { return Err(no_connection()) };
        let asked = Asked { connection, now, iss: self.script.iss, irs: self.script.irs };
        Ok(Some(quantity.of(&asked)))
    }

    fn smss(&self) -> Bytes {
        self.connection.as_ref().map_or(Bytes::ZERO, Connection::smss)
    }

    fn glance(&self) -> Option<(Bytes, &'static str)> {
        let connection = self.connection.as_ref();
        let cwnd = connection.map_or(Bytes::ZERO, Connection::cwnd);
        Some((cwnd, state_name(connection.map_or(TcpState::Closed, Connection::state))))
    }
}

/// What a call other than an opening does.
fn apply(connection: &mut Connection, now: Time, call: Call) -> Result<(), String> {
    match call {
        Call::Write { bytes, takes } => {
            let taken = connection.write(bytes);
            if taken != takes {
                let (wanted, taken) = (takes.get(), taken.get());
                return Err(format!("the endpoint takes {taken} B, not {wanted} B"));
            }
        }
        Call::Read(bytes) => {
            let readable = connection.readable();
            if readable < bytes {
                let (wanted, there) = (bytes.get(), readable.get());
                return Err(format!("{there} B can be read, not {wanted} B"));
            }
            connection.read(bytes);
        }
        Call::ReadAll => connection.read(connection.readable()),
        Call::Close => connection.close(),
        Call::Release => connection.release(now),
        Call::Abort => connection.abort(),
        Call::Connect | Call::Listen => {}
    }
    Ok(())
}

pub(super) fn no_connection() -> Went {
    Went::Unplayable(
        "there is no connection yet: begin with `handshake`, `call connect` or `call listen`"
            .to_owned(),
    )
}
