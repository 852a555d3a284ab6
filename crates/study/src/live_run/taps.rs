//! Captures of a live run: the same files as of a simulated one, with real bytes.

use crate::capture::{CaptureError, CaptureFiles, CaptureSink};
use ackord_live::TapObserver;
use ackord_scenario::Scenario;
use std::cell::RefCell;
use std::rc::Rc;

/// The captures, shared with the emulation that fills them.
pub(super) struct Taps(Rc<RefCell<CaptureSink>>);

impl Taps {
    /// Creates the files for what `scenario` captures.
    pub(super) fn create(
        scenario: &Scenario,
        files: &mut dyn CaptureFiles,
    ) -> Result<Taps, CaptureError> {
        Ok(Taps(Rc::new(RefCell::new(CaptureSink::create(scenario, files)?))))
    }

    /// What the emulation tells of packets.
    pub(super) fn observer(&self) -> TapObserver {
        let sink = Rc::clone(&self.0);
        Box::new(move |packet| {
            let lengths = (packet.bytes, packet.original_len);
            sink.borrow_mut().take(packet.at, packet.tap, lengths);
        })
    }

    /// Whether something could not be written.
    pub(super) fn failed(&self) -> bool {
        self.0.borrow().has_failed()
    }

    /// Completes the files.
    pub(super) fn finish(self) -> Result<(), CaptureError> {
        match Rc::try_unwrap(self.0) {
            Ok(sink) => sink.into_inner().finish(),
            // The emulation is over, and its observer with it.
            Err(shared) => shared.borrow_mut().take_error(),
        }
    }
}
