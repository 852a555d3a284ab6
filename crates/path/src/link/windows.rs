//! Windows of time, one after the other: those of a list, once or again and again, or drawn.
//!
//! They are worked out as they are asked for, in order of time, and depend on nothing but their
//! own stream: two copies are the same windows, which is how both directions of a link share an
//! outage without sharing a state.

use super::sojourn::Sojourn;
use ackord_units::{RandomStream, Span, Time};

/// A stretch of time; its end is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins.
    pub began: Time,
    /// When it is over.
    pub ends: Time,
}

/// Where windows come from.
#[derive(Clone, Debug)]
pub enum Windows {
    /// A list of them.
    Listed {
        /// From the start of the run (or of the period): when each begins and how long it lasts;
        /// in order, none beginning before the one before is over.
        list: Vec<(Span, Span)>,
        /// After how long the list begins anew, not before its last window is over; never if
        /// absent.
        every: Option<Span>,
    },
    /// Drawn: the run begins between two.
    Drawn {
        /// From one to the next.
        between: Sojourn,
        /// How long one lasts.
        length: Sojourn,
        /// What they are drawn from.
        stream: RandomStream,
    },
}

/// The windows one after the other.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    windows: Windows,
    /// Of a list: which one is next.
    next: usize,
    /// The start of the list's period, or the end of the window drawn last.
    from: Time,
}

impl Window {
    /// After all others.
    const NEVER: Window = Window { began: Time::NEVER, ends: Time::NEVER };
}

impl Sequence {
    pub(super) fn new(windows: Windows) -> Sequence {
        Sequence { windows, next: 0, from: Time::ZERO }
    }

    /// Drawn windows begin with one that is there at the start of the run; of exponential lengths
    /// what is left of it is as long as all of it.
    pub(super) fn begin_inside(&mut self) -> Window {
        if let Windows::Drawn { length, stream, .. } = &mut self.windows {
            self.from = Time::ZERO + length.draw(stream);
        }
        Window { began: Time::ZERO, ends: self.from }
    }

    /// The next window, which lasts longer than nothing.
    pub(super) fn next(&mut self) -> Window {
        loop {
            let window = self.next_or_empty();
            if window.began < window.ends || window == Window::NEVER {
                return window;
            }
        }
    }

    fn next_or_empty(&mut self) -> Window {
        match &mut self.windows {
            Windows::Listed { list, every } => {
                if self.next == list.len() {
                    let Some(every) = every.filter(|_| !list.is_empty()) else {
                        return Window::NEVER;
                    };
                    self.next = 0;
                    self.from += every;
                }
                let (from, lasts) = list[self.next];
                self.next += 1;
                let began = self.from + from;
                Window { began, ends: began + lasts }
            }
            Windows::Drawn { between, length, stream } => {
                let began = self.from + between.draw(stream);
                self.from = began + length.draw(stream);
                Window { began, ends: self.from }
            }
        }
    }
}
