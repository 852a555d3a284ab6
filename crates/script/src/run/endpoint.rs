//! The endpoint that a script is played against, as the runner sees it.
//!
//! The simulator's own is [`Simulated`](super::simulated::Simulated); a driver may bring another, such
//! as a kernel's. Its numbers are the script's: an endpoint that chooses its own initial sequence
//! number or clock of timestamps translates.

use super::Went;
use crate::facts::{Fact, Quantity};
use crate::model::{Call, Reads, Script};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Ecn, Segment, Side};

/// The endpoint under test.
pub trait Endpoint {
    /// The application does something.
    ///
    /// # Errors
    /// Why it cannot be done, or what it did instead.
    fn call(&mut self, now: Time, call: Call) -> Result<(), Went>;

    /// A segment arrives; an application that `reads` at once reads.
    ///
    /// # Errors
    /// If the endpoint does not go on.
    fn arrive(&mut self, now: Time, segment: &Segment, ecn: Ecn, reads: Reads) -> Result<(), Went>;

    /// Time goes on to the next thing that the endpoint does by itself, if that is due by `to`
    /// (`including` that very time or not), and it does it: when that was. Else to `to`, and nothing.
    ///
    /// # Errors
    /// If the endpoint does not go on, or does not come to rest.
    fn go_on(&mut self, now: Time, to: Time, including: bool) -> Result<Option<Time>, Went>;

    /// Asked after everything that left with what was due at `at`: whether it has come to rest.
    ///
    /// # Errors
    /// If it has not.
    fn at_rest(&mut self, _at: Time) -> Result<(), Went> {
        Ok(())
    }

    /// The next segment that has left it.
    fn poll(&mut self, now: Time) -> Option<Departure>;

    /// What its clock of timestamps says at time zero; asked once a connection has been opened.
    fn stamps_from(&self) -> u32;

    /// A quantity that can be asserted; nothing where it cannot be asked for it.
    ///
    /// # Errors
    /// If there is nobody to be asked yet, or the endpoint does not go on.
    fn fact(&mut self, quantity: &'static Quantity, now: Time) -> Result<Option<Fact>, Went>;

    /// Bytes of a full-sized segment, for amounts in segments.
    fn smss(&self) -> Bytes;

    /// Congestion window and state, for the diagram; nothing where they are not known.
    fn glance(&self) -> Option<(Bytes, &'static str)>;
}

/// A segment that has left the endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub at: Time,
    /// The segment.
    pub segment: Segment,
    /// The ECN field of its packet.
    pub ecn: Ecn,
}

/// How strictly an endpoint is taken at its script's word.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// By how much the instant of any segment may differ, beside what the script allows.
    pub slack: Span,
    /// What happens after a difference.
    pub after: After,
}

/// What happens after a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The script ends.
    End,
    /// It goes on as long as the exchange is in step with it: after an assertion that does not hold,
    /// and after a segment that is another in something else than its place in the stream. A segment
    /// that does not leave is waited for, for so long at most and not beyond what happens next.
    GoOn(Span),
}

impl Manner {
    /// To the nanosecond, and up to the first difference.
    pub const EXACT: Manner = Manner { slack: Span::ZERO, after: After::End };
}

impl Script {
    /// Which end of the connection the endpoint is.
    pub fn side(&self) -> Side {
        let opens = self.steps.iter().find_map(|step| match step.action {
            crate::model::Action::Call(Call::Connect) => Some(Side::Client),
            crate::model::Action::Call(Call::Listen) => Some(Side::Server),
            _ => None,
        });
        opens.unwrap_or(Side::Client)
    }
}
