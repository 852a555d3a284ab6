//! What a circle or a cross of Tables 1 and 2 means as a number, and this project's claims with it.

/// "Fast retransmission": at least so much of what the errors take is given back.
pub(super) const GIVEN_BACK: f64 = 50.0;
/// "Fading": new data after at most so much of the time that it takes without a box.
pub(super) const FADING: f64 = 50.0;
/// "Buffer problem": none where a box keeps no more than a window that fills the path and its
/// queue: 2 Mbit/s for 80 ms, and 50 packets of 1040 bytes; bytes.
pub(super) const WINDOW_BYTES: f64 = 72_000.0;
/// "Fault tolerance": after the box's death at least so much of what goes through without one.
pub(super) const AFTER_DEATH: f64 = 90.0;
/// "Level": at least so much of Snoop, percent.
pub(super) const LEVEL: f64 = 97.0;
/// Noticed, or delivered of the ideal: at least, percent.
pub(super) const NEARLY_ALL: f64 = 95.0;
/// What a box may cost where nothing is to be won, percent.
pub(super) const HARMLESS: f64 = -1.0;
