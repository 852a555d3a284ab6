//! A script's arrivals and calls with what the simulator's endpoint does as what is expected.
//!
//! So that two endpoints can be compared over every script, whatever profile it was written for: one
//! does what it does, and the other is held against that.

use super::endpoint::{Endpoint, Manner};
use super::simulated::Simulated;
use super::{Left, Stage, Went};
use crate::facts::{Assertion, Comparison, Fact, Wanted};
use crate::model::{
    Action, Call, Fields, FlagsWanted, Injection, Len, Number, OptionsWanted, Script, Stamps, Step,
    Want,
};
use crate::notation::{Direction, View, relative};
use crate::quantities::quantity_of;
use ackord_events::TcpState;
use ackord_tcp::{Connection, RecoveryState};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, Segment};

/// What is asserted after every arrival and call.
const ASSERTED: [&str; 5] = ["state", "cwnd", "ssthresh", "recovery", "rto"];
/// A kernel keeps spans of time in ticks.
const TICK: Span = Span::from_millis(4);
/// Bits that are compared, set or not.
const COMPARED: [Flags; 6] =
    [Flags::SYN, Flags::FIN, Flags::RST, Flags::ACK, Flags::ECE, Flags::CWR];

/// The script with other expectations: what the simulator's endpoint of its header does.
///
/// # Errors
/// If the endpoint does not come to rest, or the script cannot be played.
pub fn retold(script: &Script) -> Result<Script, Went> {
    let mut endpoint = Simulated::new(script);
    let mut stage = Stage::new(script, &mut endpoint, Manner::EXACT);
    let mut steps = Vec::new();
    for step in &script.steps {
        match &step.action {
            Action::Call(call) => {
                stage.come_to(step.at, step.line, &mut steps)?;
                let call = stage.retold_call(*call)?;
                steps.push(as_at(step, stage.now, Action::Call(call)));
                stage.tell(step.line, &mut steps)?;
            }
            Action::Inject(injections) => {
                for injection in injections {
                    stage.come_to(step.at + injection.after, step.line, &mut steps)?;
                    let alone = Injection { after: Span::ZERO, ..injection.clone() };
                    let at = stage.now;
                    steps.push(as_at(step, at, Action::Inject(vec![alone.clone()])));
                    stage.inject(&as_at(step, at, step.action.clone()), &alone)?;
                    stage.tell(step.line, &mut steps)?;
                }
            }
            Action::Expect(_) | Action::ExpectNothing(_) | Action::Assert(_) => {
                stage.come_to(step.at, step.line, &mut steps)?;
            }
        }
    }
    Ok(Script { steps, ..script.clone() })
}

fn as_at(step: &Step, at: Time, action: Action) -> Step {
    Step { line: step.line, at, tolerance: Span::ZERO, action }
}

impl Stage<'_, Simulated<'_>> {
    /// Time goes on; what leaves meanwhile is expected.
    fn come_to(&mut self, at: Time, line: usize, steps: &mut Vec<Step>) -> Result<(), Went> {
        self.advance(at, true)?;
        self.expect_left(line, steps);
        Ok(())
    }

    fn expect_left(&mut self, line: usize, steps: &mut Vec<Step>) {
        while let Some(left) = self.left.pop_front() {
            let action = Action::Expect(fields_of(&left, &self.view));
            steps.push(Step { line, at: left.at, tolerance: Span::ZERO, action });
        }
    }

    /// What leaves now is expected, and how the endpoint is.
    fn tell(&mut self, line: usize, steps: &mut Vec<Step>) -> Result<(), Went> {
        // What that makes due at once comes first, as before any assertion.
        self.advance(self.now, true)?;
        self.expect_left(line, steps);
        if !self.endpoint.is_synchronized() {
            return Ok(());
        }
        let mut assertions = Vec::new();
        let recovering = self.endpoint.is_recovering();
        // What the window is during recovery is for each to say: what leaves tells.
        let asserted = ASSERTED.into_iter().filter(|name| *name != "cwnd" || !recovering);
        for name in asserted {
            let Some(quantity) = quantity_of(name) else { continue };
            let Some(fact) = self.endpoint.fact(quantity, self.now)? else { continue };
            let tolerance = match fact {
                Fact::Span(_) => Wanted::Span(TICK),
                _ => Wanted::Count(0),
            };
            assertions.push(Assertion {
                quantity,
                comparison: Comparison::Equal,
                wanted: wanted(fact),
                tolerance,
            });
        }
        let (at, action) = (self.now, Action::Assert(assertions));
        steps.push(Step { line, at, tolerance: Span::ZERO, action });
        Ok(())
    }

    /// A call as the endpoint can do it.
    fn retold_call(&mut self, call: Call) -> Result<Call, Went> {
        let call = match call {
            Call::Write { bytes, .. } => {
                let takes = self.endpoint.would_take(bytes);
                // How much fits is another question, which would hide all that follows.
                Call::Write { bytes: takes, takes }
            }
            Call::Read(bytes) if self.endpoint.readable() < bytes => Call::ReadAll,
            other => other,
        };
        self.call(call)?;
        Ok(call)
    }
}

fn wanted(fact: Fact) -> Wanted {
    match fact {
        Fact::Bytes(bytes) => Wanted::Bytes(bytes),
        Fact::Span(span) => Wanted::Span(span),
        Fact::Count(count) => Wanted::Count(count),
        Fact::Word(word) => Wanted::Word(word),
        Fact::None => Wanted::None,
    }
}

/// A segment as one that is expected: all but PSH and the window, of which endpoints that agree on
/// everything else have their own.
fn fields_of(left: &Left, view: &View) -> Fields {
    let Left { segment, ecn, .. } = left;
    let (set, clear) =
        COMPARED.into_iter().fold((Flags::NONE, Flags::NONE), |(set, clear), bit| {
            match segment.flags.contains(bit) {
                true => (set | bit, clear),
                false => (set, clear | bit),
            }
        });
    let seq_base = view.seq_base(Direction::Out);
    let ack_base = view.ack_base(Direction::Out);
    let ack = segment.flags.contains(Flags::ACK);
    Fields {
        flags: FlagsWanted { set, clear, none: false },
        seq: Some(Number::Relative(relative(segment.seq, seq_base))),
        len: Len::Bytes(segment.payload_len),
        ack: ack.then(|| Number::Relative(relative(segment.ack, ack_base))),
        window: None,
        options: options_of(segment, view),
        ecn: Some(*ecn),
    }
}

fn options_of(segment: &Segment, view: &View) -> OptionsWanted {
    let options = &segment.options;
    let base = view.ack_base(Direction::Out);
    let number = |seq| Number::Relative(relative(seq, base));
    let blocks = options.sack.as_slice().iter();
    let blocks: Vec<_> = blocks.map(|block| (number(block.start), number(block.end))).collect();
    OptionsWanted {
        mss: is_or_absent(options.mss),
        window_scale: if options.window_scale.is_some() { Want::Unsaid } else { Want::Absent },
        sack_permitted: is_or_absent(options.sack_permitted.then_some(())),
        timestamps: is_or_absent(options.timestamps.map(|_| Stamps::default())),
        sack: is_or_absent((!blocks.is_empty()).then_some(blocks)),
        only: false,
    }
}

fn is_or_absent<T>(value: Option<T>) -> Want<T> {
    value.map_or(Want::Absent, Want::Is)
}

impl Simulated<'_> {
    fn would_take(&self, bytes: Bytes) -> Bytes {
        self.connection.as_ref().map_or(bytes, |connection| bytes.min(connection.writable()))
    }

    /// Whether there is a connection with windows and timers (RFC 9293 §3.4: a synchronized state).
    fn is_synchronized(&self) -> bool {
        let state = self.connection.as_ref().map(Connection::state);
        !matches!(
            state,
            None | Some(
                TcpState::Listen | TcpState::SynSent | TcpState::SynReceived | TcpState::Closed
            )
        )
    }

    fn is_recovering(&self) -> bool {
        let recovery = self.connection.as_ref().map(|connection| connection.snapshot().recovery);
        !matches!(recovery, None | Some(RecoveryState::None | RecoveryState::Doubtful))
    }

    fn readable(&self) -> Bytes {
        self.connection.as_ref().map_or(Bytes::ZERO, |connection| connection.readable())
    }
}
