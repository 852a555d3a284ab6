//! Keystrokes, each echoed by the far end: remote terminals.
//!
//! Keystrokes come when they come, whether the one before has been echoed or not, so what a user
//! types during a stall arrives in one go and every one of them was slow. A transfer is a keystroke:
//! it begins when the key is pressed and is complete when the client has read its echo.
//!
//! Not modelled: the output of commands (the far end answers each keystroke with an echo of one
//! length); line mode, in which the echo is local; pauses that depend on what was answered.

use crate::knobs::{COUNT, LEAST, MOST, SET_BY_SCENARIO, pause};
use crate::{
    Application, Distribution, DrawBudget, Offer, Socket, Workload, WorkloadKnobs, Workloads,
};
use crate::{Draw, Step, Transfer};
use ackord_units::{Bytes, Knob, KnobKind, Knobs, RandomStream, Span, Time};

/// Lengths of a keystroke and of its echo, which both ends have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What the client writes for a key.
    pub keystroke: Bytes,
    /// What the far end writes for each.
    pub echo: Bytes,
}

/// The end at which somebody types.
#[derive(Clone, Debug)]
pub struct TelnetClient {
    keys: Keys,
    gap: Draw,
    /// How many keystrokes there are; no end where absent.
    count: Option<u64>,
    typed: u64,
    echoed: u64,
    /// Read, and not yet attributed to a keystroke.
    read: Bytes,
    next_at: Option<Time>,
    /// Of the latest keystroke, not yet written.
    unwritten: Bytes,
}

impl TelnetClient {
    pub(crate) fn new(keys: Keys, gap: Draw, count: Option<u64>) -> TelnetClient {
        TelnetClient {
            keys,
            gap,
            count,
            typed: 0,
            echoed: 0,
            read: Bytes::ZERO,
            next_at: None,
            unwritten: Bytes::ZERO,
        }
    }

    fn press(&mut self, due_at: Time) -> Step {
        let index = self.typed;
        self.typed += 1;
        self.unwritten = self.keys.keystroke;
        let more = self.count != Some(self.typed);
        self.next_at = more.then(|| due_at + Span::from_nanos(self.gap.draw()));
        Step::Began(Transfer { index, bytes: self.keys.keystroke })
    }
}

impl Application for TelnetClient {
    fn start(&mut self, now: Time) {
        self.next_at = Some(now);
    }

    fn handle_data(&mut self, _now: Time, bytes: Bytes) {
        self.read += bytes;
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        if self.read >= self.keys.echo && self.echoed < self.typed {
            self.read -= self.keys.echo;
            let index = self.echoed;
            self.echoed += 1;
            return Step::Completed(Transfer { index, bytes: self.keys.keystroke });
        }
        let bytes = self.unwritten.min(writable);
        if bytes > Bytes::ZERO {
            self.unwritten -= bytes;
            return Step::Write(bytes);
        }
        match self.next_at {
            Some(due_at) if due_at <= now && self.unwritten == Bytes::ZERO => self.press(due_at),
            None if self.count == Some(self.echoed) => Step::Close,
            _ => Step::Wait,
        }
    }

    fn deadline(&self) -> Option<Time> {
        // What is typed and does not fit is written when there is room.
        self.next_at.filter(|_| self.unwritten == Bytes::ZERO)
    }

    fn size(&self, _budget: &mut DrawBudget) -> Option<Bytes> {
        self.count.map(|count| self.keys.keystroke * count)
    }
}

/// The end that echoes. Keystrokes that arrive together are echoed together.
#[derive(Clone, Copy, Debug)]
pub struct Echoer {
    keys: Keys,
    /// Read of a keystroke that has not arrived in full.
    read: Bytes,
    owed: Bytes,
}

impl Echoer {
    pub(crate) fn new(keys: Keys) -> Echoer {
        Echoer { keys, read: Bytes::ZERO, owed: Bytes::ZERO }
    }
}

impl Application for Echoer {
    fn handle_data(&mut self, _now: Time, bytes: Bytes) {
        self.read += bytes;
        let keystrokes = self.read.get() / self.keys.keystroke.get();
        self.read -= self.keys.keystroke * keystrokes;
        self.owed += self.keys.echo * keystrokes;
    }

    fn next(&mut self, _now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        let bytes = self.owed.min(writable);
        if bytes == Bytes::ZERO {
            return Step::Wait;
        }
        self.owed -= bytes;
        Step::Write(bytes)
    }
}

/// The sending end types, the other echoes every keystroke; keys are pressed whether the echoes
/// have come or not
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "telnet",
    source = "Danzig and Jamin 1991 (tcplib); Paxson and Floyd 1995 §4"
)]
pub struct TelnetKnobs {
    /// What is written for a key
    #[knob(
        min = LEAST, max = MOST, default = "1 B",
        source = "RFC 896: one byte of payload for a key"
    )]
    keystroke: Bytes,
    /// What the other end writes for each
    #[knob(min = LEAST, max = MOST, default = "1 B", source = SET_BY_SCENARIO)]
    echo: Bytes,
    #[knob(like = COUNT)]
    count: Option<u64>,
    /// Mean time from one key to the next
    #[knob(
        min = Span::from_micros(1), max = Span::from_secs(3600), default = "1 s",
        source = SET_BY_SCENARIO
    )]
    gap: Span,
    #[knob(like = KEY_DISTRIBUTION)]
    gap_distribution: Distribution,
}

impl WorkloadKnobs for TelnetKnobs {
    fn offer(&self) -> Offer {
        Offer::each(self.keystroke, self.gap)
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let keys = Keys { keystroke: self.keystroke, echo: self.echo };
        let gap = pause(self.gap, self.gap_distribution, stream("pauses"));
        Workloads {
            sends: Workload::of(TelnetClient::new(keys, gap, self.count)),
            receives: Workload::of(Echoer::new(keys)),
        }
    }
}

const KEY_DISTRIBUTION: Knob = Knob {
    name: "gap_distribution",
    kind: KnobKind::Choice(&["fixed", "exponential", "telnet"]),
    default: "telnet",
    doc: "How these times are spread about their mean: not at all, exponentially, or as the packets of \
          TELNET connections were found to be (Pareto, index 0.9, cut off at 10 000 times the least)",
    source: "Paxson and Floyd 1995 §4",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fixed, at, room};
    use ackord_units::RandomStream;

    const ROOM: Fixed = room(Bytes(10_000));
    const KEYS: Keys = Keys { keystroke: Bytes(2), echo: Bytes(3) };

    fn typing(count: u64) -> TelnetClient {
        let gap = Span::from_millis(100).as_nanos();
        let gap = Draw::new(gap, Distribution::Fixed, RandomStream::for_element(1, "gaps"));
        TelnetClient::new(KEYS, gap, Some(count))
    }

    #[test]
    fn keys_are_pressed_on_time_whether_echoed_or_not_and_each_echo_completes_its_own() {
        let mut client = typing(2);
        assert_eq!(client.next(at(0), &ROOM), Step::Wait, "before the connection stands");
        client.start(at(5));
        let told = |index| Transfer { index, bytes: Bytes(2) };
        assert_eq!(client.next(at(5), &ROOM), Step::Began(told(0)));
        assert_eq!(client.next(at(5), &ROOM), Step::Write(Bytes(2)));
        assert_eq!((client.next(at(5), &ROOM), client.deadline()), (Step::Wait, Some(at(105))));
        assert_eq!(client.next(at(105), &ROOM), Step::Began(told(1)));
        assert_eq!(client.next(at(105), &ROOM), Step::Write(Bytes(2)));
        assert_eq!((client.next(at(105), &ROOM), client.deadline()), (Step::Wait, None));
        client.handle_data(at(0), Bytes(5));
        assert_eq!(client.next(at(150), &ROOM), Step::Completed(told(0)));
        assert_eq!(client.next(at(150), &ROOM), Step::Wait);
        client.handle_data(at(0), Bytes(1));
        assert_eq!(client.next(at(160), &ROOM), Step::Completed(told(1)));
        assert_eq!(client.next(at(160), &ROOM), Step::Close);
        assert_eq!(client.size(&mut DrawBudget::default()), Some(Bytes(4)));
    }

    #[test]
    fn a_full_send_buffer_delays_a_key_and_loses_none() {
        let mut client = typing(3);
        client.start(at(0));
        assert!(matches!(client.next(at(0), &room(Bytes::ZERO)), Step::Began(_)));
        assert_eq!((client.next(at(0), &room(Bytes::ZERO)), client.deadline()), (Step::Wait, None));
        assert_eq!(client.next(at(350), &room(Bytes(1))), Step::Write(Bytes(1)));
        assert_eq!(client.next(at(350), &ROOM), Step::Write(Bytes(1)));
        assert!(matches!(client.next(at(350), &ROOM), Step::Began(_)), "the second was due");
        assert_eq!(client.next(at(350), &ROOM), Step::Write(Bytes(2)));
        assert!(matches!(client.next(at(350), &ROOM), Step::Began(_)), "and the third");
    }

    #[test]
    fn keystrokes_that_arrive_together_are_echoed_together_and_half_a_one_waits() {
        let mut echoer = Echoer::new(KEYS);
        echoer.handle_data(at(0), Bytes(5));
        assert_eq!(echoer.next(at(0), &ROOM), Step::Write(Bytes(6)));
        assert_eq!(echoer.next(at(0), &ROOM), Step::Wait);
        echoer.handle_data(at(0), Bytes(1));
        assert_eq!(echoer.next(at(0), &room(Bytes(2))), Step::Write(Bytes(2)));
        assert_eq!(echoer.next(at(0), &ROOM), Step::Write(Bytes(1)));
    }
}
