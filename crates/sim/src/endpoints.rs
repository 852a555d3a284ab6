//! The endpoints of a scenario's flows.

use ackord_scenario::{Flow, Start};
use ackord_units::{RandomStream, Seq, Span, Time};
use ackord_wire::Side;

/// The initial sequence number of one end of a flow.
pub fn initial_sequence(seed: u64, flow: &Flow, side: Side) -> Seq {
    let path = format!("flows/{}/{side:?}/iss", flow.name);
    Seq(RandomStream::for_element(seed, &path).next_u64() as u32)
}

/// When a flow's client opens the connection.
pub fn start_time(seed: u64, flow: &Flow) -> Time {
    let span = match flow.start {
        Start::At(at) => at,
        Start::Uniform { from, to } => {
            let path = format!("flows/{}/start", flow.name);
            // One nanosecond more, for a stream draws below its upper end.
            RandomStream::for_element(seed, &path).uniform(from, to + Span::from_nanos(1))
        }
    };
    Time::ZERO + span
}
