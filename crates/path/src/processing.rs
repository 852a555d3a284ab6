//! The time that a host takes for what it sends.
//!
//! Where every packet takes a bottleneck's slot and hosts answer at once, what arrives there keeps to
//! the beat of what leaves: the same flow finds the queue full every time (Floyd and Jacobson 1992).
//! A random time of a host before each packet takes the beat away.
//!
//! Not modelled: hosts that are busy, so that one packet's time adds to the next one's. Who could
//! notice: studies of slow hosts; here a host holds packets up, but never limits their rate.

use ackord_units::{RandomStream, Span, Time};
use ackord_wire::Packet;
use std::collections::VecDeque;

/// A host's packets on their way to its first link.
#[derive(Clone, Debug)]
pub struct Processing {
    up_to: Span,
    stream: RandomStream,
    /// In the order in which they leave, which is that in which they came.
    held: VecDeque<(Time, Packet)>,
}

impl Processing {
    /// Each packet takes a time from zero up to and including this, drawn from `stream`.
    pub fn new(up_to: Span, stream: RandomStream) -> Processing {
        Processing { up_to, stream, held: VecDeque::new() }
    }

    /// The host's TCP gives out a packet at `now`, which never goes back.
    pub fn handle_packet(&mut self, now: Time, packet: Packet) {
        // One nanosecond more, for a stream draws below its upper end.
        let takes = self.stream.uniform(Span::ZERO, self.up_to + Span::from_nanos(1));
        let last_leaves_at = self.held.back().map_or(Time::ZERO, |(at, _)| *at);
        self.held.push_back(((now + takes).max(last_leaves_at), packet));
    }

    /// The next packet that leaves at or before `now`. To be asked until it answers nothing.
    pub fn poll_packet(&mut self, now: Time) -> Option<Packet> {
        let due = self.deadline().is_some_and(|at| at <= now);
        if due { self.held.pop_front().map(|(_, packet)| packet) } else { None }
    }

    /// When the next packet leaves.
    pub fn deadline(&self) -> Option<Time> {
        self.held.front().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Side};

    fn packet(tag: u64) -> Packet {
        Packet {
            flow: FlowId(0),
            from: Side::Client,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 1_000,
            tag,
            tcp: None,
        }
    }

    fn up_to_a_millisecond() -> Processing {
        Processing::new(Span::from_millis(1), RandomStream::for_element(1, "hosts/a/processing"))
    }

    #[test]
    fn every_time_up_to_the_bound_is_as_likely() {
        let mut host = up_to_a_millisecond();
        let (mut sum, mut below_half) = (Span::ZERO, 0_u32);
        for tag in 0..10_000 {
            let now = Time::from_nanos(tag * 10_000_000);
            host.handle_packet(now, packet(tag));
            let takes = host.deadline().expect("one is held") - now;
            assert!(takes <= Span::from_millis(1), "{takes}");
            assert_eq!(host.poll_packet(now + takes), Some(packet(tag)));
            sum += takes;
            below_half += u32::from(takes < Span::from_micros(500));
        }
        // Uniform: the mean's standard deviation is 289 us / 100; of Binomial(10000, 1/2) it is 50.
        // Five of each.
        let mean_us = sum.as_secs_f64() * 1e6 / 10_000.0;
        assert!((mean_us - 500.0).abs() < 14.5, "{mean_us}");
        assert!(below_half.abs_diff(5_000) < 250, "{below_half}");
    }

    #[test]
    fn packets_leave_in_order_and_none_takes_longer_than_the_bound() {
        let mut host = up_to_a_millisecond();
        (0..100).for_each(|tag| host.handle_packet(Time::from_nanos(tag), packet(tag)));
        let end = Time::from_nanos(99) + Span::from_millis(1);
        let left: Vec<_> =
            std::iter::from_fn(|| host.poll_packet(end)).map(|packet| packet.tag).collect();
        assert_eq!(left, (0..100).collect::<Vec<_>>());
        assert_eq!(host.deadline(), None);
    }
}
