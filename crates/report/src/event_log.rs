//! The events of a run as lines of JSON, while it goes on.
//!
//! A line has the time since the run began (`at_ns`), the event's name, the connection and the side
//! whose event it is, and what the event says. A run in real time has a line before the others that says
//! when it began since 1970: an event's time and that make the time in a capture. Events of
//! endpoints, and the packets that died or were doubled on the path, are written; what a link's
//! queue does is not.

use crate::event_fields::logged_fields;
use crate::files::WriteError;
use ackord_events::{Event, Sink};
use ackord_units::{Span, Time};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An event log that is being written.
pub struct EventLog {
    path: PathBuf,
    out: BufWriter<File>,
    /// The first thing that went wrong; told at the end.
    failure: Option<io::Error>,
    has_begun: bool,
}

impl EventLog {
    /// Begins the file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn create(path: &Path) -> Result<EventLog, WriteError> {
        let file = File::create(path).map_err(|source| unwritable(path, source))?;
        Ok(EventLog {
            path: path.to_owned(),
            out: BufWriter::new(file),
            failure: None,
            has_begun: false,
        })
    }

    /// Says when a run in real time began.
    pub fn began(&mut self, since_1970: Span) {
        self.line(&json!({ "began_unix_ns": since_1970.as_nanos() }));
    }

    /// Writes what is still to be written; the first failure of the disk comes out here.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let flushed = self.out.flush();
        let result = self.failure.take().map_or(flushed, Err);
        result.map_err(|source| unwritable(&self.path, source))
    }

    fn line(&mut self, value: &Value) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{value}").err();
        }
        // A reader at the other end of a pipe sees at once that the run has begun.
        if !std::mem::replace(&mut self.has_begun, true) && self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
    }
}

impl Sink for EventLog {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Some(mut fields) = logged_fields(&event) {
            fields.insert("at_ns".to_owned(), json!(at.saturating_since(Time::ZERO).as_nanos()));
            self.line(&Value::Object(fields));
        }
    }
}

fn unwritable(path: &Path, source: io::Error) -> WriteError {
    WriteError::Io { what: "write", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_events::{EndpointId, RefusalAnswer, RefusalReason};
    use ackord_units::Seq;
    use ackord_wire::{FlowId, Side};

    #[test]
    fn what_an_endpoint_does_is_written() {
        let endpoint = EndpointId { flow: FlowId(3), side: Side::Client };
        let (reason, answer) = (RefusalReason::OutsideWindow, RefusalAnswer::Throttled);
        for (event, expected) in [
            (
                Event::SegmentRefused { endpoint, seq: Seq(7), reason, answer },
                json!({ "event": "SegmentRefused", "connection": 3, "side": "client", "seq": 7,
                        "reason": format!("{reason:?}"), "answer": format!("{answer:?}") }),
            ),
            (
                Event::R1Reached { endpoint, consecutive: 3 },
                json!({ "event": "DeliveryTroubled", "connection": 3, "side": "client", "consecutive": 3 }),
            ),
            (
                Event::AckTimeoutChanged { endpoint, ato: Span::from_millis(40) },
                json!({ "event": "AckTimeoutChanged", "connection": 3, "side": "client", "ato_ns": 40_000_000 }),
            ),
        ] {
            assert_eq!(logged_fields(&event).map(Value::Object), Some(expected));
        }
    }
}
