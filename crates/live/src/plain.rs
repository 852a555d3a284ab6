//! Quantities and names of this project as plain numbers and pairs: as a kernel in simulated time and
//! the run it is part of tell each other of them. For `#[serde(with = "crate::plain")]`.

use ackord_events::EndpointId;
use ackord_sys::CommandEnd;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, NodeId, Side};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is told as something plainer.
pub(crate) trait Plain: Sized {
    /// As what.
    type As: Serialize + DeserializeOwned;
    fn plain(&self) -> Self::As;
    fn of(plain: Self::As) -> Self;
}

pub(crate) fn serialize<T: Plain, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.plain().serialize(serializer)
}

pub(crate) fn deserialize<'de, T: Plain, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::As::deserialize(deserializer).map(T::of)
}

macro_rules! plain {
    ($($told:ty as $plain:ty, $to:expr, $from:expr;)*) => {$(
        impl Plain for $told {
            type As = $plain;
            fn plain(&self) -> $plain {
                ($to)(self)
            }
            fn of(plain: $plain) -> Self {
                ($from)(plain)
            }
        }
    )*};
}

plain! {
    // Nanoseconds.
    Time as u64, |time: &Time| time.as_nanos(), Time::from_nanos;
    Span as u64, |span: &Span| span.as_nanos(), Span::from_nanos;
    Bytes as u64, |bytes: &Bytes| bytes.get(), Bytes;
    Errno as i32, |errno: &Errno| *errno as i32, Errno::from_raw;
    NodeId as u16, |node: &NodeId| node.0, NodeId;
    String as String, String::clone, |text| text;
}

impl<T: Plain> Plain for Option<T> {
    type As = Option<T::As>;
    fn plain(&self) -> Self::As {
        self.as_ref().map(T::plain)
    }
    fn of(plain: Self::As) -> Self {
        plain.map(T::of)
    }
}

impl<T: Plain> Plain for Vec<T> {
    type As = Vec<T::As>;
    fn plain(&self) -> Self::As {
        self.iter().map(T::plain).collect()
    }
    fn of(plain: Self::As) -> Self {
        plain.into_iter().map(T::of).collect()
    }
}

impl<A: Plain, B: Plain> Plain for (A, B) {
    type As = (A::As, B::As);
    fn plain(&self) -> Self::As {
        (self.0.plain(), self.1.plain())
    }
    fn of((a, b): Self::As) -> Self {
        (A::of(a), B::of(b))
    }
}

/// An end of a flow.
#[derive(Serialize, Deserialize)]
pub(crate) struct FlowEnd {
    flow: u32,
    client: bool,
}

impl Plain for EndpointId {
    type As = FlowEnd;
    fn plain(&self) -> FlowEnd {
        FlowEnd { flow: self.flow.0, client: self.side == Side::Client }
    }
    fn of(end: FlowEnd) -> EndpointId {
        let side = if end.client { Side::Client } else { Side::Server };
        EndpointId { flow: FlowId(end.flow), side }
    }
}

/// How a program has ended: one of these.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    exited: Option<i32>,
    killed: Option<i32>,
    not_started: Option<i32>,
}

impl Plain for CommandEnd {
    type As = Ended;
    fn plain(&self) -> Ended {
        let none = Ended::default();
        match *self {
            CommandEnd::Exited(code) => Ended { exited: Some(code), ..none },
            CommandEnd::Killed(signal) => Ended { killed: Some(signal as i32), ..none },
            CommandEnd::NotStarted(errno) => Ended { not_started: Some(errno as i32), ..none },
        }
    }
    fn of(ended: Ended) -> CommandEnd {
        match (ended.exited, ended.not_started) {
            (Some(code), _) => CommandEnd::Exited(code),
            (None, Some(errno)) => CommandEnd::NotStarted(Errno::from_raw(errno)),
            (None, None) => {
                let signal = ended.killed.and_then(|number| Signal::try_from(number).ok());
                CommandEnd::Killed(signal.unwrap_or(Signal::SIGKILL))
            }
        }
    }
}
