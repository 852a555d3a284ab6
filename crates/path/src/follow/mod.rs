//! The rate of a shaper that follows the link behind it: a meter that observes TCP, and a control law.
//!
//! | file | what |
//! | --- | --- |
//! | `meter.rs` | [`LinkMeter`]: departures and acknowledgments become [`LinkFacts`] |
//! | `flow.rs` | the departures of one connection that are not acknowledged yet |
//! | `baseline.rs` | the delay of the link while nothing queues in it |
//! | `control.rs` | [`RateControl`]: facts in, a [`RateDecision`] out |
//!
//! The meter stands behind the shaper's queue: a departure is a packet that left it, so that no delay of the shaper
//! itself is measured. Neither reads a clock; the gateway and the simulator drive the same two structs.
//!
//! Not modelled: traffic that is not TCP has no acknowledgments that the meter can read. It counts as sent, and alone
//! it gives no delay.

mod baseline;
mod control;
mod flow;
mod meter;
#[cfg(test)]
mod tests;

pub use control::{RateControl, RateDecision, RateLimits, RateReason};
pub use meter::{LinkFacts, LinkMeter};
