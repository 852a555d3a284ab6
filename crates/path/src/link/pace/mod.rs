//! Transmitters that are not of one rate.
//!
//! | file | what |
//! | --- | --- |
//! | `steps.rs` | [`RateSteps`]: a rate that changes at given times |
//! | `opportunities.rs` | [`Opportunities`]: instants at which so many bytes may go, from a trace |
//! | `../bucket.rs` | [`Shaper`]: a line rate behind a token bucket |
//! | `cellular.rs` | [`Cellular`]: slots, grants and retransmissions of a cellular hop |
//! | `sent.rs` | what each is asked, and what it answers |
//!
//! Each is asked two things, always at instants that do not go back: until when a packet that could
//! go has to wait, and, once it goes, when it is out and when the next may follow. What a packet is
//! told depends on the packets before it alone, so a transmitter may be asked late.

pub(super) mod cellular;
pub(super) mod opportunities;
pub(super) mod sent;
pub(super) mod steps;

use super::bucket::Shaper;
use ackord_units::Time;
use cellular::Cellular;
use opportunities::Opportunities;
use sent::{Asks, Sent};
use steps::RateSteps;

/// When a transmitter sends, where that is not one rate.
#[derive(Clone, Debug)]
pub enum Pace {
    /// A rate that changes at given times.
    Steps(Box<RateSteps>),
    /// Delivery opportunities.
    Opportunities(Box<Opportunities>),
    /// A cellular hop.
    Cellular(Box<Cellular>),
    /// A rate behind a token bucket.
    Shaped(Box<Shaper>),
}

impl Pace {
    /// Whether the transmitter may have to wait although it is free.
    pub(super) fn may_wait(&self) -> bool {
        !matches!(self, Pace::Steps(_) | Pace::Shaped(_))
    }

    /// When a packet that could be sent at `at` may be, if not at once.
    pub(super) fn wait_until(&mut self, at: Time, asks: Asks) -> Option<Time> {
        match self {
            Pace::Steps(_) | Pace::Shaped(_) => None,
            Pace::Opportunities(pace) => pace.wait_until(at, asks),
            Pace::Cellular(pace) => pace.wait_until(at, asks),
        }
    }

    /// Sends a packet at `at`, which is now.
    pub(super) fn send(&mut self, at: Time, ip_len: u32) -> Sent {
        match self {
            Pace::Steps(pace) => pace.send(at, ip_len),
            Pace::Opportunities(pace) => pace.send(at, ip_len),
            Pace::Cellular(pace) => pace.send(at, ip_len),
            Pace::Shaped(pace) => pace.send(at, ip_len),
        }
    }
}
