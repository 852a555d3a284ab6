//! The moment and the sink that every step of a connection carries along.

use ackord_events::{EndpointId, Event, Sink};
use ackord_units::Time;

/// Whose step it is, when, and who listens.
pub(crate) struct Trace<'a, S: Sink> {
    pub(crate) now: Time,
    pub(crate) endpoint: EndpointId,
    sink: &'a mut S,
}

impl<'a, S: Sink> Trace<'a, S> {
    pub(crate) fn new(now: Time, endpoint: EndpointId, sink: &'a mut S) -> Trace<'a, S> {
        Trace { now, endpoint, sink }
    }

    /// Tells the sink; `event` is worked out only if somebody listens.
    #[inline(always)]
    pub(crate) fn emit(&mut self, event: impl FnOnce(EndpointId) -> Event<'static>) {
        if S::ACTIVE {
            self.sink.emit(self.now, event(self.endpoint));
        }
    }
}
