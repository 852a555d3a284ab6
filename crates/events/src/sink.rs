//! Where events go.

use crate::{Event, LinkId};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::FlowId;

/// Takes events. Handlers are generic over it, so an absent sink costs nothing.
pub trait Sink {
    /// False only where every call does nothing: callers may then skip working out an event.
    const ACTIVE: bool = true;

    /// Whether it only adds up what packets have waited, and how long queues were: links that look ahead tell it of a
    /// packet that waits by [`Sink::emit_all_waited`] and [`Sink::emit_waiting`], and no steps of it.
    const ADDS_WAITS_UP: bool = false;

    /// Whether it has to be told of everything in the order in which it happens. One that does not is told of what
    /// happens on each link in that order, but perhaps late.
    fn needs_order(&self) -> bool {
        true
    }

    /// Takes one event that happened at `at`.
    fn emit(&mut self, at: Time, event: Event<'_>);

    /// A packet of `flow` found `link` free: it entered the empty queue at `at`, and left it at once. As most packets
    /// do on most links, so that a sink may take both events in one step.
    #[inline]
    fn emit_passed(&mut self, at: Time, link: LinkId, flow: FlowId, bytes: Bytes) {
        let (queue_packets, queue_bytes) = (1, bytes);
        self.emit(at, Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes });
        let (waited, queue_packets, queue_bytes) = (Span::ZERO, 0, Bytes::ZERO);
        self.emit(
            at,
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes },
        );
    }

    /// The same of several packets, one after the other.
    #[inline]
    fn emit_all_passed(
        &mut self,
        link: LinkId,
        passed: impl DoubleEndedIterator<Item = Passed> + Clone,
    ) {
        passed.for_each(|Passed { at, flow, bytes }| self.emit_passed(at, link, flow, bytes));
    }

    /// Several packets, one after the other, waited in the queue of `link`, and left it. Called only for a
    /// sink that [adds waits up](Sink::ADDS_WAITS_UP), which has to take them: one without this method does
    /// not compile.
    fn emit_all_waited(&mut self, _link: LinkId, _waited: impl Iterator<Item = Waited>) {
        const { assert!(!Self::ADDS_WAITS_UP, "a sink that adds waits up has to take them") }
    }

    /// A packet waits in the queue of `link` still, when all is told. Told once: that it leaves is told as an event, where
    /// the queue is what has been told to wait. Called only for a sink that
    /// [adds waits up](Sink::ADDS_WAITS_UP), which has to take it: one without this method does not compile.
    ///
    /// ```compile_fail
    /// use ackord_events::{Event, LinkId, Sink, Waited};
    /// use ackord_units::Time;
    ///
    /// struct Forgetful;
    ///
    /// impl Sink for Forgetful {
    ///     const ADDS_WAITS_UP: bool = true;
    ///     fn emit(&mut self, _at: Time, _event: Event<'_>) {}
    /// }
    ///
    /// fn tell(sink: &mut Forgetful, waited: Waited) {
    ///     sink.emit_waiting(LinkId(0), waited);
    /// }
    /// # fn main() { let _: fn(&mut Forgetful, Waited) = tell; }
    /// ```
    fn emit_waiting(&mut self, _link: LinkId, _waited: Waited) {
        const { assert!(!Self::ADDS_WAITS_UP, "a sink that adds waits up has to take them") }
    }
}

/// A packet that found its link free.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// When it came.
    pub at: Time,
    /// Whose it is.
    pub flow: FlowId,
    /// Length of the IP packet.
    pub bytes: Bytes,
}

/// A packet that waited.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// When it came.
    pub came: Time,
    /// When it left, or all was told.
    pub until: Time,
    /// Whose it is.
    pub flow: FlowId,
    /// Length of the IP packet.
    pub bytes: Bytes,
    /// Packets that waited when it came, this one included.
    pub queue_packets: u32,
    /// Their bytes.
    pub queue_bytes: Bytes,
}

/// Takes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    const ACTIVE: bool = false;

    fn needs_order(&self) -> bool {
        false
    }

    #[inline(always)]
    fn emit(&mut self, _at: Time, _event: Event<'_>) {}
}

impl<S: Sink> Sink for &mut S {
    const ACTIVE: bool = S::ACTIVE;
    const ADDS_WAITS_UP: bool = S::ADDS_WAITS_UP;

    fn needs_order(&self) -> bool {
        (**self).needs_order()
    }

    #[inline(always)]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        (**self).emit(at, event);
    }

    #[inline]
    fn emit_passed(&mut self, at: Time, link: LinkId, flow: FlowId, bytes: Bytes) {
        (**self).emit_passed(at, link, flow, bytes);
    }

    #[inline]
    fn emit_all_passed(
        &mut self,
        link: LinkId,
        passed: impl DoubleEndedIterator<Item = Passed> + Clone,
    ) {
        (**self).emit_all_passed(link, passed);
    }

    #[inline]
    fn emit_all_waited(&mut self, link: LinkId, waited: impl Iterator<Item = Waited>) {
        (**self).emit_all_waited(link, waited);
    }

    fn emit_waiting(&mut self, link: LinkId, waited: Waited) {
        (**self).emit_waiting(link, waited);
    }
}

/// Both sinks take every event.
impl<A: Sink, B: Sink> Sink for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;

    fn needs_order(&self) -> bool {
        self.0.needs_order() || self.1.needs_order()
    }

    #[inline(always)]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        self.0.emit(at, event);
        self.1.emit(at, event);
    }

    #[inline]
    fn emit_passed(&mut self, at: Time, link: LinkId, flow: FlowId, bytes: Bytes) {
        self.0.emit_passed(at, link, flow, bytes);
        self.1.emit_passed(at, link, flow, bytes);
    }

    #[inline]
    fn emit_all_passed(
        &mut self,
        link: LinkId,
        passed: impl DoubleEndedIterator<Item = Passed> + Clone,
    ) {
        self.0.emit_all_passed(link, passed.clone());
        self.1.emit_all_passed(link, passed);
    }
}

/// Takes events if there is a sink.
impl<S: Sink> Sink for Option<S> {
    const ACTIVE: bool = S::ACTIVE;

    fn needs_order(&self) -> bool {
        self.as_ref().is_some_and(Sink::needs_order)
    }

    #[inline(always)]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Some(sink) = self {
            sink.emit(at, event);
        }
    }

    #[inline]
    fn emit_passed(&mut self, at: Time, link: LinkId, flow: FlowId, bytes: Bytes) {
        if let Some(sink) = self {
            sink.emit_passed(at, link, flow, bytes);
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
