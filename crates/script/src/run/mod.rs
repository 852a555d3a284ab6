//! A script played against an endpoint in virtual time.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`run`]: step by step, timers in between |
//! | `peer.rs` | what an injected segment says where the script does not |
//! | `compare.rs` | what was expected beside what came |
//! | `codec.rs` | every segment as bytes and back |
//!
//! Timers that are due at a step's time act before the step. What an injected segment or a call
//! makes the endpoint send, leaves at that same time.

mod codec;
mod compare;
mod peer;

pub(crate) use codec::Ends;
pub use compare::Row;
pub(crate) use compare::seconds;

use crate::facts::{Asked, Assertion, state_name};
use crate::model::{Action, Call, Fields, Injection, Quiet, Reads, Script, Step};
use crate::notation::{Direction, View, describe};
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::{Connection, reset_for};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, IpVersion, Segment, Side};
use compare::{Left, When, compare};
use peer::Peer;
use std::collections::VecDeque;

/// A segment that was exchanged.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// When it left, or arrived.
    pub at: Time,
    /// Which way.
    pub direction: Direction,
    /// The segment.
    pub segment: Segment,
    /// The ECN field of its packet.
    pub ecn: Ecn,
    /// As a script would write it.
    pub text: String,
    /// The line that injected it, or that was being played when it left.
    pub line: usize,
    /// The endpoint's congestion window after it.
    pub cwnd: Bytes,
    /// The endpoint's state after it.
    pub state: &'static str,
}

/// What became of a script.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything exchanged, in order of time.
    pub exchanged: Vec<Exchange>,
    /// What went wrong, if anything did.
    pub failure: Option<Failure>,
    /// Which end of the connection the endpoint was.
    pub side: Side,
    /// Which IP carried the segments.
    pub ip: IpVersion,
}

/// Where a script went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The line, counted from one.
    pub line: usize,
    /// When.
    pub at: Time,
    /// How.
    pub what: Went,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Went {
    /// Another segment left than the one expected.
    Otherwise(Vec<Row>),
    /// The segment expected did not leave.
    Missing(Vec<Row>),
    /// A segment left that nothing expects.
    Unexpected {
        /// When it left.
        at: Time,
        /// The segment, as a script would write it.
        segment: String,
    },
    /// Assertions do not hold: each with what is so instead.
    Refuted(Vec<(String, String)>),
    /// A call did something else.
    Call(String),
    /// A segment does not survive being written and read back.
    Codec(String),
    /// The script asks for something that cannot be: it has to be changed.
    Unplayable(String),
    /// The endpoint does not come to rest.
    Restless(String),
}

/// Plays a script.
pub fn run(script: &Script) -> Outcome {
    let opens = |step: &Step| match step.action {
        Action::Call(Call::Connect) => Some(Side::Client),
        Action::Call(Call::Listen) => Some(Side::Server),
        _ => None,
    };
    let side = script.steps.iter().find_map(opens).unwrap_or(Side::Client);
    let mut stage = Stage {
        script,
        side,
        ends: Ends::new(script.ip),
        connection: None,
        peer: Peer::new(script.iss, script.irs),
        view: View {
            iss: script.iss,
            irs: script.irs,
            ts_base: 0,
            own_shift: None,
            peer_shift: None,
        },
        now: Time::ZERO,
        line: 0,
        left: VecDeque::new(),
        exchanged: Vec::new(),
    };
    let mut failure = None;
    for step in &script.steps {
        stage.line = step.line;
        if let Err(what) = stage.play(step) {
            failure = Some(Failure { line: step.line, at: stage.now, what });
            break;
        }
    }
    if failure.is_none()
        && let Err(what) = stage.nothing_left()
    {
        failure = Some(Failure { line: stage.line, at: stage.now, what });
    }
    Outcome { exchanged: stage.exchanged, failure, side, ip: script.ip }
}

struct Stage<'a> {
    script: &'a Script,
    side: Side,
    ends: Ends,
    connection: Option<Connection>,
    peer: Peer,
    view: View,
    now: Time,
    line: usize,
    /// What has left the endpoint and nothing has expected yet.
    left: VecDeque<Left>,
    exchanged: Vec<Exchange>,
}

/// How often a timer may be due again at the same time, and most segments that may leave at one.
const MOST_AT_ONCE: usize = 100_000;

impl Stage<'_> {
    fn play(&mut self, step: &Step) -> Result<(), Went> {
        match &step.action {
            Action::Expect(fields) => self.expect(step, fields),
            Action::ExpectNothing(Quiet::Through) => {
                self.advance(step.at, Due::Included)?;
                self.nothing_left()
            }
            Action::ExpectNothing(Quiet::Until) => {
                self.advance(step.at, Due::Excluded)?;
                self.nothing_left()
            }
            Action::Assert(assertions) => {
                self.advance(step.at, Due::Included)?;
                if self.left.front().is_some_and(|left| left.at < step.at) {
                    return self.nothing_left();
                }
                self.check(assertions)
            }
            Action::Call(call) => {
                self.arrive_at(step)?;
                self.call(*call)
            }
            Action::Inject(injections) => {
                self.arrive_at(step)?;
                injections.iter().try_for_each(|injection| self.inject(step, injection))
            }
        }
    }

    /// Time goes on to that of the step; everything that left before has been expected.
    fn arrive_at(&mut self, step: &Step) -> Result<(), Went> {
        self.nothing_left()?;
        if step.at < self.now {
            return Err(Went::Unplayable(format!(
                "it is {} s already: what the lines above inject lasts until then",
                seconds(self.now)
            )));
        }
        self.advance(step.at, Due::Included)?;
        self.nothing_left()
    }

    fn nothing_left(&self) -> Result<(), Went> {
        match self.left.front() {
            None => Ok(()),
            Some(Left { at, segment, ecn }) => {
                let segment = describe(&self.view, Direction::Out, segment, *ecn);
                Err(Went::Unexpected { at: *at, segment })
            }
        }
    }

    /// Timers act until `to`.
    fn advance(&mut self, to: Time, due: Due) -> Result<(), Went> {
        while self.fire_next(to, due)? {}
        self.now = self.now.max(to);
        Ok(())
    }

    /// The next timer acts, if it is due by `to`.
    fn fire_next(&mut self, to: Time, due: Due) -> Result<bool, Went> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        let Some(at) = connection.deadline() else { return Ok(false) };
        if at > to || (at == to && due == Due::Excluded) {
            return Ok(false);
        }
        self.now = self.now.max(at);
        connection.handle_deadline(self.now, &mut NoSink);
        self.poll()?;
        // A deadline that stays in the past without anything happening would stand for ever.
        let again = self.connection.as_ref().and_then(Connection::deadline);
        if again.is_some_and(|again| again <= at) {
            return Err(Went::Restless(format!(
                "the timer of {} s is due again at once",
                seconds(at)
            )));
        }
        Ok(true)
    }

    fn poll(&mut self) -> Result<(), Went> {
        for _ in 0..MOST_AT_ONCE {
            let Some(connection) = &mut self.connection else { return Ok(()) };
            let Some(outbound) = connection.poll_segment(self.now, &mut NoSink) else {
                return Ok(());
            };
            self.leave(outbound.segment, outbound.ecn)?;
        }
        Err(Went::Restless(format!("{MOST_AT_ONCE} segments left at {} s", seconds(self.now))))
    }

    /// A segment leaves the endpoint.
    fn leave(&mut self, segment: Segment, ecn: Ecn) -> Result<(), Went> {
        let (segment, ecn) = self.ends.carry(self.side, &segment, ecn).map_err(Went::Codec)?;
        if segment.flags.contains(Flags::SYN) {
            self.view.own_shift = segment.options.window_scale;
        }
        self.peer.hear(&segment);
        self.left.push_back(Left { at: self.now, segment, ecn });
        self.note(Direction::Out, segment, ecn);
        Ok(())
    }

    fn note(&mut self, direction: Direction, segment: Segment, ecn: Ecn) {
        let connection = self.connection.as_ref();
        self.exchanged.push(Exchange {
            at: self.now,
            direction,
            segment,
            ecn,
            text: describe(&self.view, direction, &segment, ecn),
            line: self.line,
            cwnd: connection.map_or(Bytes::ZERO, Connection::cwnd),
            state: state_name(connection.map_or(TcpState::Closed, Connection::state)),
        });
    }

    fn inject(&mut self, step: &Step, injection: &Injection) -> Result<(), Went> {
        self.advance(step.at + injection.after, Due::Included)?;
        let (segment, ecn) =
            self.peer.say(&injection.fields, &self.view, self.now).map_err(Went::Unplayable)?;
        if segment.flags.contains(Flags::SYN) {
            self.view.peer_shift = segment.options.window_scale;
        }
        let other = self.side.other();
        let (segment, ecn) = self.ends.carry(other, &segment, ecn).map_err(Went::Codec)?;
        let position = self.exchanged.len();
        let answer = match &mut self.connection {
            Some(connection) if connection.state() != TcpState::Closed => {
                connection.handle_segment(self.now, &segment, ecn, &mut NoSink);
                if self.script.reads == Reads::AtOnce {
                    connection.read(connection.readable());
                }
                None
            }
            // RFC 9293 §3.10.7.1: whoever drives connections answers where there is none.
            _ if segment.flags.contains(Flags::RST) => None,
            _ => Some(reset_for(&segment)),
        };
        self.note(Direction::In, segment, ecn);
        debug_assert_eq!(self.exchanged.len(), position + 1);
        if let Some(answer) = answer {
            self.leave(answer, Ecn::NotEct)?;
        }
        self.poll()
    }

    fn expect(&mut self, step: &Step, fields: &Fields) -> Result<(), Went> {
        let when = When { at: step.at, tolerance: step.tolerance };
        let latest = step.at + step.tolerance;
        while self.left.is_empty() && self.fire_next(latest, Due::Included)? {}
        let Some(left) = self.left.pop_front() else {
            self.now = self.now.max(latest);
            return Err(Went::Missing(self.only_expected(fields, when)));
        };
        self.now = self.now.max(step.at.min(left.at));
        let rows = compare(fields, when, &left, &self.view);
        if rows.iter().any(|row| row.differs) {
            return Err(Went::Otherwise(rows));
        }
        Ok(())
    }

    /// The rows of a segment that did not come, with what the script says of it.
    fn only_expected(&self, fields: &Fields, when: When) -> Vec<Row> {
        let nothing =
            Left { at: when.at, segment: Segment::default(), ecn: fields.ecn.unwrap_or_default() };
        let rows = compare(fields, when, &nothing, &self.view);
        rows.into_iter()
            .filter(|row| row.expected != "-")
            .map(|row| Row { happened: "nothing".to_owned(), differs: row.field == "time", ..row })
            .collect()
    }

    fn check(&self, assertions: &[Assertion]) -> Result<(), Went> {
        let Some(connection) = &self.connection else { return Err(no_connection()) };
        let (iss, irs) = (self.script.iss, self.script.irs);
        let asked = Asked { connection, now: self.now, iss, irs };
        let refuted: Vec<_> = assertions
            .iter()
            .filter_map(|assertion| {
                let fact = assertion.refuted_by(&asked)?;
                Some((assertion.to_string(), fact.to_string()))
            })
            .collect();
        if refuted.is_empty() { Ok(()) } else { Err(Went::Refuted(refuted)) }
    }

    fn call(&mut self, call: Call) -> Result<(), Went> {
        match call {
            Call::Connect | Call::Listen => self.open(call)?,
            _ => {
                let connection = self.connection.as_mut().ok_or_else(no_connection)?;
                apply(connection, self.now, call).map_err(Went::Call)?;
            }
        }
        self.poll()
    }

    fn open(&mut self, call: Call) -> Result<(), Went> {
        if let Some(connection) = &mut self.connection {
            if call == Call::Connect && connection.state() == TcpState::Listen {
                connection.open(self.now, &mut NoSink);
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
        let connection = match call {
            Call::Connect => Connection::connect(config, mechanisms, id, iss, self.now),
            _ => Connection::listen(config, mechanisms, id, iss),
        };
        self.view.ts_base = connection.timestamp_value(Time::ZERO);
        self.connection = Some(connection);
        Ok(())
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

fn no_connection() -> Went {
    Went::Unplayable(
        "there is no connection yet: begin with `handshake`, `call connect` or `call listen`"
            .to_owned(),
    )
}

/// Whether what is due at the very time acts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Included,
    Excluded,
}

impl Outcome {
    /// Whether everything came as the script says.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }

    /// How long the exchange took.
    pub fn lasted(&self) -> Span {
        self.exchanged.last().map_or(Span::ZERO, |last| last.at.saturating_since(Time::ZERO))
    }
}
