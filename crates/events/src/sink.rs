//! Where events go.

use crate::Event;
use ackord_units::Time;

/// Takes events. Handlers are generic over it, so an absent sink costs nothing.
pub trait Sink {
    /// False only where every call does nothing: callers may then skip working out an event.
    const ACTIVE: bool = true;

    /// Takes one event that happened at `at`.
    fn emit(&mut self, at: Time, event: Event<'_>);
}

/// Takes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    const ACTIVE: bool = false;

    #[inline(always)]
    fn emit(&mut self, _at: Time, _event: Event<'_>) {}
}

impl<S: Sink> Sink for &mut S {
    const ACTIVE: bool = S::ACTIVE;

    #[inline]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        (**self).emit(at, event);
    }
}

/// Both sinks take every event.
impl<A: Sink, B: Sink> Sink for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;

    #[inline]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        self.0.emit(at, event);
        self.1.emit(at, event);
    }
}

/// Takes events if there is a sink.
impl<S: Sink> Sink for Option<S> {
    const ACTIVE: bool = S::ACTIVE;

    #[inline]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Some(sink) = self {
            sink.emit(at, event);
        }
    }
}

/// Keeps the events as text, with their times: for tests and for comparing two drivers.
#[derive(Clone, Debug, Default)]
pub struct Recorder(pub Vec<Stamped>);

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// When.
    pub at: Time,
    /// The event in its debug form.
    pub what: String,
}

impl Sink for Recorder {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        self.0.push(Stamped { at, what: format!("{event:?}") });
    }
}
