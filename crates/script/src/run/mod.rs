//! A script played against an endpoint in virtual time.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`run`]: step by step, timers in between |
//! | `endpoint.rs` | [`Endpoint`]: what a script is played against |
//! | `simulated.rs` | the simulator's own |
//! | `retell.rs` | [`retold`]: a script with what the simulator's does as what is expected |
//! | `peer.rs` | what an injected segment says where the script does not |
//! | `compare.rs` | what was expected beside what came |
//! | `codec.rs` | every segment as bytes and back |
//!
//! Timers that are due at a step's time act before the step. What an injected segment or a call
//! makes the endpoint send, leaves at that same time.

mod codec;
mod compare;
mod endpoint;
mod peer;
mod retell;
mod simulated;

pub(crate) use codec::Ends;
pub use compare::Row;
pub use compare::seconds;
pub use endpoint::{After, Departure, Endpoint, Manner};
pub use retell::retold;

use crate::facts::Assertion;
use crate::model::{Action, Call, Fields, Injection, Quiet, Script, Step};
use crate::notation::{Direction, View, describe};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Ecn, Flags, IpVersion, Segment, Side};
use compare::{Left, When, compare};
use peer::Peer;
use simulated::Simulated;
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
    /// What went wrong after that, where a script goes on.
    pub further: Vec<Failure>,
    /// Assertions that the endpoint cannot be asked.
    pub not_asked: usize,
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
    /// The endpoint does not go on: something is wrong with what it runs on.
    Broken(String),
}

/// Plays a script against the simulator's endpoint.
pub fn run(script: &Script) -> Outcome {
    run_against(script, &mut Simulated::new(script), Manner::EXACT)
}

/// Plays a script against an endpoint.
pub fn run_against<E: Endpoint>(script: &Script, endpoint: &mut E, manner: Manner) -> Outcome {
    let mut stage = Stage::new(script, endpoint, manner);
    let mut failures = Vec::new();
    for (number, step) in script.steps.iter().enumerate() {
        stage.line = step.line;
        if let Err(what) = stage.play(step, &script.steps[number + 1..]) {
            let in_step = what.is_in_step();
            failures.push(Failure { line: step.line, at: stage.now, what });
            if manner.after == After::End || !in_step {
                break;
            }
        }
    }
    let ended =
        failures.last().is_some_and(|last| manner.after == After::End || !last.what.is_in_step());
    if !ended && let Err(what) = stage.nothing_left() {
        failures.push(Failure { line: stage.line, at: stage.now, what });
    }
    let (exchanged, not_asked) = (stage.exchanged, stage.not_asked);
    let mut failures = failures.into_iter();
    let failure = failures.next();
    Outcome {
        exchanged,
        failure,
        further: failures.collect(),
        not_asked,
        side: script.side(),
        ip: script.ip,
    }
}

struct Stage<'a, E> {
    script: &'a Script,
    side: Side,
    ends: Ends,
    endpoint: &'a mut E,
    manner: Manner,
    peer: Peer,
    view: View,
    now: Time,
    line: usize,
    /// What has left the endpoint and nothing has expected yet.
    left: VecDeque<Left>,
    exchanged: Vec<Exchange>,
    not_asked: usize,
}

/// Most segments that may leave at one time.
const MOST_AT_ONCE: usize = 100_000;

impl<'a, E: Endpoint> Stage<'a, E> {
    fn new(script: &'a Script, endpoint: &'a mut E, manner: Manner) -> Stage<'a, E> {
        Stage {
            script,
            side: script.side(),
            ends: Ends::new(script.ip),
            endpoint,
            manner,
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
            not_asked: 0,
        }
    }

    fn play(&mut self, step: &Step, later: &[Step]) -> Result<(), Went> {
        match &step.action {
            Action::Expect(fields) => self.expect(step, fields, later),
            Action::ExpectNothing(Quiet::Through) => {
                self.advance(step.at, true)?;
                self.nothing_left()
            }
            Action::ExpectNothing(Quiet::Until) => {
                self.advance(step.at, false)?;
                self.nothing_left()
            }
            Action::Assert(assertions) => {
                self.advance(step.at, true)?;
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
        self.advance(step.at, true)?;
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
    fn advance(&mut self, to: Time, including: bool) -> Result<(), Went> {
        while self.fire_next(to, including)? {}
        self.now = self.now.max(to);
        Ok(())
    }

    /// The endpoint does the next thing by itself, if that is due by `to`.
    fn fire_next(&mut self, to: Time, including: bool) -> Result<bool, Went> {
        let Some(at) = self.endpoint.go_on(self.now, to, including)? else { return Ok(false) };
        self.now = self.now.max(at);
        self.poll()?;
        self.endpoint.at_rest(at)?;
        Ok(true)
    }

    fn poll(&mut self) -> Result<(), Went> {
        for _ in 0..MOST_AT_ONCE {
            let Some(departure) = self.endpoint.poll(self.now) else { return Ok(()) };
            self.leave(departure)?;
        }
        Err(Went::Restless(format!("{MOST_AT_ONCE} segments left at {} s", seconds(self.now))))
    }

    /// A segment leaves the endpoint.
    fn leave(&mut self, departure: Departure) -> Result<(), Went> {
        let Departure { at, segment, ecn } = departure;
        let (segment, ecn) = self.ends.carry(self.side, &segment, ecn).map_err(Went::Codec)?;
        if segment.flags.contains(Flags::SYN) {
            self.view.own_shift = segment.options.window_scale;
        }
        self.peer.hear(&segment);
        self.left.push_back(Left { at, segment, ecn });
        self.note(at, Direction::Out, segment, ecn);
        Ok(())
    }

    fn note(&mut self, at: Time, direction: Direction, segment: Segment, ecn: Ecn) {
        let (cwnd, state) = self.endpoint.glance().unwrap_or((Bytes::ZERO, "-"));
        self.exchanged.push(Exchange {
            at,
            direction,
            segment,
            ecn,
            text: describe(&self.view, direction, &segment, ecn),
            line: self.line,
            cwnd,
            state,
        });
    }

    fn inject(&mut self, step: &Step, injection: &Injection) -> Result<(), Went> {
        self.advance(step.at + injection.after, true)?;
        let (segment, ecn) =
            self.peer.say(&injection.fields, &self.view, self.now).map_err(Went::Unplayable)?;
        if segment.flags.contains(Flags::SYN) {
            self.view.peer_shift = segment.options.window_scale;
        }
        let other = self.side.other();
        let (segment, ecn) = self.ends.carry(other, &segment, ecn).map_err(Went::Codec)?;
        self.endpoint.arrive(self.now, &segment, ecn, self.script.reads)?;
        self.note(self.now, Direction::In, segment, ecn);
        self.poll()
    }

    fn expect(&mut self, step: &Step, fields: &Fields, later: &[Step]) -> Result<(), Went> {
        let slack = self.manner.slack;
        let when = When { at: step.at, tolerance: step.tolerance, slack };
        let latest = step.at + step.tolerance;
        while self.left.is_empty() && self.fire_next(latest + slack, true)? {}
        if self.left.is_empty() {
            self.wait_for_it(latest, later)?;
        }
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

    /// What is due is not there: it may come later, before anything else happens.
    fn wait_for_it(&mut self, latest: Time, later: &[Step]) -> Result<(), Went> {
        let After::GoOn(patience) = self.manner.after else { return Ok(()) };
        let happens = |step: &&Step| matches!(step.action, Action::Inject(_) | Action::Call(_));
        let next = later.iter().find(happens).map_or(Time::NEVER, |step| step.at);
        let until = next.min(latest + patience);
        while self.left.is_empty() && self.fire_next(until, false)? {}
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

    fn check(&mut self, assertions: &[Assertion]) -> Result<(), Went> {
        let mut refuted = Vec::new();
        for assertion in assertions {
            match self.endpoint.fact(assertion.quantity, self.now)? {
                None => self.not_asked += 1,
                Some(fact) if assertion.holds(fact, self.endpoint.smss().get()) => {}
                Some(fact) => refuted.push((assertion.to_string(), fact.to_string())),
            }
        }
        if refuted.is_empty() { Ok(()) } else { Err(Went::Refuted(refuted)) }
    }

    fn call(&mut self, call: Call) -> Result<(), Went> {
        self.endpoint.call(self.now, call)?;
        if matches!(call, Call::Connect | Call::Listen) {
            self.view.ts_base = self.endpoint.stamps_from();
        }
        self.poll()
    }
}

impl Went {
    /// Whether the exchange is still where the script has it.
    fn is_in_step(&self) -> bool {
        const PLACE: [&str; 3] = ["flags", "seq", "len"];
        match self {
            Went::Refuted(_) => true,
            Went::Otherwise(rows) => {
                !rows.iter().any(|row| row.differs && PLACE.contains(&row.field))
            }
            _ => false,
        }
    }
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
