//! Keystrokes, each echoed by the far end: remote terminals.
//!
//! Keystrokes come when they come, whether the one before has been echoed or not, so what a user
//! types during a stall arrives in one go and every one of them was slow. A transfer is a keystroke:
//! it begins when the key is pressed and is complete when the typist has read its echo.
//!
//! Not modelled: the output of commands (the far end answers each keystroke with an echo of one
//! length); line mode, in which the echo is local; pauses that depend on what was answered.

use crate::{Draw, Step, Transfer};
use ackord_units::{Bytes, Span, Time};

/// Lengths of a keystroke and of its echo, which both ends have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What the typist writes for a key.
    pub keystroke: Bytes,
    /// What the far end writes for each.
    pub echo: Bytes,
}

/// The end at which somebody types.
#[derive(Clone, Debug)]
pub struct Typist {
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

impl Typist {
    pub(crate) fn new(keys: Keys, gap: Draw, count: Option<u64>) -> Typist {
        Typist {
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

    pub(crate) fn start(&mut self, now: Time) {
        self.next_at = Some(now);
    }

    pub(crate) fn handle_data(&mut self, bytes: Bytes) {
        self.read += bytes;
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        // What is typed and does not fit is written when there is room.
        self.next_at.filter(|_| self.unwritten == Bytes::ZERO)
    }

    pub(crate) fn size(&self) -> Option<Bytes> {
        self.count.map(|count| self.keys.keystroke * count)
    }

    pub(crate) fn next(&mut self, now: Time, writable: Bytes) -> Step {
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

    fn press(&mut self, due_at: Time) -> Step {
        let index = self.typed;
        self.typed += 1;
        self.unwritten = self.keys.keystroke;
        let more = self.count != Some(self.typed);
        self.next_at = more.then(|| due_at + Span::from_nanos(self.gap.draw()));
        Step::Began(Transfer { index, bytes: self.keys.keystroke })
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

    pub(crate) fn handle_data(&mut self, bytes: Bytes) {
        self.read += bytes;
        let keystrokes = self.read.get() / self.keys.keystroke.get();
        self.read -= self.keys.keystroke * keystrokes;
        self.owed += self.keys.echo * keystrokes;
    }

    pub(crate) fn next(&mut self, writable: Bytes) -> Step {
        let bytes = self.owed.min(writable);
        if bytes == Bytes::ZERO {
            return Step::Wait;
        }
        self.owed -= bytes;
        Step::Write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Law;
    use crate::testing::at;
    use ackord_path::Stream;

    const ROOM: Bytes = Bytes(10_000);
    const KEYS: Keys = Keys { keystroke: Bytes(2), echo: Bytes(3) };

    fn typist(count: u64) -> Typist {
        let gap = Span::from_millis(100).as_nanos();
        let gap = Draw::new(gap, Law::Fixed, Stream::for_element(1, "gaps"));
        Typist::new(KEYS, gap, Some(count))
    }

    #[test]
    fn keys_are_pressed_on_time_whether_echoed_or_not_and_each_echo_completes_its_own() {
        let mut typist = typist(2);
        assert_eq!(typist.next(at(0), ROOM), Step::Wait, "before the connection stands");
        typist.start(at(5));
        let told = |index| Transfer { index, bytes: Bytes(2) };
        assert_eq!(typist.next(at(5), ROOM), Step::Began(told(0)));
        assert_eq!(typist.next(at(5), ROOM), Step::Write(Bytes(2)));
        assert_eq!((typist.next(at(5), ROOM), typist.deadline()), (Step::Wait, Some(at(105))));
        assert_eq!(typist.next(at(105), ROOM), Step::Began(told(1)));
        assert_eq!(typist.next(at(105), ROOM), Step::Write(Bytes(2)));
        assert_eq!((typist.next(at(105), ROOM), typist.deadline()), (Step::Wait, None));
        typist.handle_data(Bytes(5));
        assert_eq!(typist.next(at(150), ROOM), Step::Completed(told(0)));
        assert_eq!(typist.next(at(150), ROOM), Step::Wait);
        typist.handle_data(Bytes(1));
        assert_eq!(typist.next(at(160), ROOM), Step::Completed(told(1)));
        assert_eq!(typist.next(at(160), ROOM), Step::Close);
        assert_eq!(typist.size(), Some(Bytes(4)));
    }

    #[test]
    fn a_full_send_buffer_delays_a_key_and_loses_none() {
        let mut typist = typist(3);
        typist.start(at(0));
        assert!(matches!(typist.next(at(0), Bytes::ZERO), Step::Began(_)));
        assert_eq!((typist.next(at(0), Bytes::ZERO), typist.deadline()), (Step::Wait, None));
        assert_eq!(typist.next(at(350), Bytes(1)), Step::Write(Bytes(1)));
        assert_eq!(typist.next(at(350), ROOM), Step::Write(Bytes(1)));
        assert!(matches!(typist.next(at(350), ROOM), Step::Began(_)), "the second was due");
        assert_eq!(typist.next(at(350), ROOM), Step::Write(Bytes(2)));
        assert!(matches!(typist.next(at(350), ROOM), Step::Began(_)), "and the third");
    }

    #[test]
    fn keystrokes_that_arrive_together_are_echoed_together_and_half_a_one_waits() {
        let mut echoer = Echoer::new(KEYS);
        echoer.handle_data(Bytes(5));
        assert_eq!(echoer.next(ROOM), Step::Write(Bytes(6)));
        assert_eq!(echoer.next(ROOM), Step::Wait);
        echoer.handle_data(Bytes(1));
        assert_eq!(echoer.next(Bytes(2)), Step::Write(Bytes(2)));
        assert_eq!(echoer.next(ROOM), Step::Write(Bytes(1)));
    }
}
