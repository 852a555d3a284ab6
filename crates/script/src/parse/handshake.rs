//! `handshake`: the steps that open a connection, in one line.

use super::segment;
use super::tokens::Cursor;
use super::wrong::Wrong;
use crate::model::{
    Action, Call, Fields, FlagsWanted, Injection, Number, OptionsWanted, Step, Want, Window,
};
use ackord_units::{Span, Time};
use ackord_wire::Flags;

/// What a handshake is like.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    rtt: Span,
    /// What the peer's SYN or SYN-ACK says beside its sequence number.
    peer: Fields,
}

/// Round trip of a handshake that does not say.
const RTT: Span = Span::from_millis(100);
/// Segments of a thousand bytes make scripts easy to read.
const MSS: u16 = 1000;
const WINDOW: u16 = 65_535;

/// `handshake [rtt SPAN] [win N] [<options of the peer>] [flags and marks of the peer]`
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Handshake, Wrong> {
    let mut rtt = RTT;
    if cursor.take_if("rtt") {
        rtt = cursor.span("the round-trip time")?;
        if rtt > Span::from_secs(24 * 3600) {
            return Err(cursor.wrong_before("a round trip of more than a day"));
        }
    }
    let mut peer = Fields::default();
    if !cursor.is_at_end() {
        let segments = segment::segments(cursor)?;
        if segments.count > 1 || segments.fields.seq.is_some() || segments.fields.ack.is_some() {
            return Err(cursor.wrong("a handshake says only `rtt`, `win`, options and flags"));
        }
        peer = segments.fields;
    }
    if peer.options == OptionsWanted::default() {
        peer.options.mss = Want::Is(MSS);
        peer.options.sack_permitted = Want::Is(());
    }
    peer.window.get_or_insert(Window::Field(WINDOW));
    Ok(Handshake { rtt, peer })
}

impl Handshake {
    /// Adds the steps from `at` on; says when they are over.
    pub(super) fn steps(self, line: usize, at: Time, passive: bool, steps: &mut Vec<Step>) -> Time {
        let done = at + self.rtt;
        let mut step = |at, action| {
            steps.push(Step { line, at, tolerance: Span::ZERO, action });
        };
        let flagged = |flags| Fields {
            flags: FlagsWanted { set: flags, ..FlagsWanted::default() },
            ..Fields::default()
        };
        let inject = |fields| Action::Inject(vec![Injection { after: Span::ZERO, fields }]);
        let mut peer = self.peer;
        if passive {
            peer.flags.set = peer.flags.set | Flags::SYN;
            step(at, Action::Call(Call::Listen));
            step(at, inject(peer));
            step(at, Action::Expect(flagged(Flags::SYN | Flags::ACK)));
            step(done, inject(Fields { ack: Some(Number::Relative(1)), ..Fields::default() }));
        } else {
            peer.flags.set = peer.flags.set | Flags::SYN | Flags::ACK;
            step(at, Action::Call(Call::Connect));
            step(at, Action::Expect(flagged(Flags::SYN)));
            step(done, inject(peer));
            let ack = Fields { ack: Some(Number::Relative(1)), ..Fields::default() };
            step(done, Action::Expect(ack));
        }
        done
    }
}
