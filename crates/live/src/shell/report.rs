//! What a shell has seen of its link, in numbers.

use crate::emulate::{EmulationCounts, PacketObserver};
use crate::lateness::Lateness;
use ackord_events::{Event, LinkId, Sink};
use ackord_path::DropCounts;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{NodeId, Packet};
use hdrhistogram::Histogram;
use std::path::PathBuf;

use super::{Block, Outside, OutsideCounts};

/// What happened while a shell ran.
#[derive(Clone, Debug)]
pub struct ShellReport {
    /// The addresses it had.
    pub block: Block,
    /// What its far end was.
    pub outside: Outside,
    /// From the start of the command to the end of the run.
    pub took: Span,
    /// How the command ended.
    pub end: ShellEnd,
    /// How late packets were; look at [`Lateness::is_within_budget`] before believing any delay.
    pub lateness: Lateness,
    /// The emulator had real-time priority.
    pub realtime_priority: bool,
    /// What the shell sent.
    pub up: WayReport,
    /// What the shell got.
    pub down: WayReport,
    /// What happened at both ends of the link together.
    pub counts: EmulationCounts,
    /// What happened at the far end.
    pub outside_counts: OutsideCounts,
    /// Packets that died anywhere on the path, the wired link included.
    pub dropped: DropCounts,
    /// Captures that were written.
    pub captures: Vec<PathBuf>,
}

/// How the command of a shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellEnd {
    /// With this exit code.
    Exited(i32),
    /// Killed by the signal of this number.
    Killed(i32),
}

impl ShellEnd {
    /// The exit code as a shell would have it: 128 and the signal for a command that was killed.
    pub fn exit_code(self) -> u8 {
        match self {
            ShellEnd::Exited(code) => code as u8,
            ShellEnd::Killed(signal) => 128_u8.wrapping_add(signal as u8),
        }
    }
}

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayReport {
    /// IP packets that were put on the path.
    pub sent_packets: u64,
    /// Bytes of these.
    pub sent: Bytes,
    /// IP packets that came out at the other end.
    pub delivered_packets: u64,
    /// Bytes of these.
    pub delivered: Bytes,
    /// Packets that died on the shell's link, by reason.
    pub drops: DropCounts,
    /// What packets that were transmitted had waited for it.
    pub queueing: Queueing,
}

/// How long packets waited in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queueing {
    /// Packets that this is of.
    pub packets: u64,
    /// Half of them waited no longer than this.
    pub p50: Span,
    /// All but 1 % waited no longer than this.
    pub p99: Span,
    /// The longest wait.
    pub max: Span,
}

/// Folds what queues tell.
#[derive(Debug)]
pub(super) struct Waits {
    /// Forward and reverse of the shell's link.
    nanos: [Histogram<u64>; 2],
}

impl Default for Waits {
    fn default() -> Waits {
        let hour = 3_600_000_000_000;
        let mut nanos = Histogram::new_with_bounds(1, hour, 3).expect("constant bounds");
        nanos.auto(true);
        Waits { nanos: [nanos.clone(), nanos] }
    }
}

impl Waits {
    /// What forward, 0, or reverse, 1, came to.
    pub(super) fn of(&self, way: usize) -> Queueing {
        let nanos = &self.nanos[way];
        if nanos.is_empty() {
            return Queueing::default();
        }
        let quantile = |q| Span::from_nanos(nanos.value_at_quantile(q));
        let max = Span::from_nanos(nanos.max());
        Queueing { packets: nanos.len(), p50: quantile(0.5), p99: quantile(0.99), max }
    }
}

impl Sink for Waits {
    #[inline]
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        if let Event::PacketDequeued { link: LinkId(way @ (0 | 1)), waited, .. } = event {
            self.nanos[way as usize].saturating_record(waited.as_nanos());
        }
    }
}

/// Counts what passes at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    inside: NodeId,
    /// What the shell sends, and what it gets.
    pub(super) up: WayReport,
    pub(super) down: WayReport,
}

impl Passing {
    /// `inside`: the shell's node.
    pub(super) fn new(inside: NodeId) -> Passing {
        Passing { inside, up: WayReport::default(), down: WayReport::default() }
    }

    fn way(&mut self, packet: &Packet) -> &mut WayReport {
        if packet.src == self.inside { &mut self.up } else { &mut self.down }
    }
}

impl PacketObserver for Passing {
    #[inline]
    fn entered<S: Sink>(&mut self, _at: Time, packet: &Packet, _sink: &mut S) {
        let way = self.way(packet);
        way.sent_packets += 1;
        way.sent += Bytes(u64::from(packet.ip_len));
    }

    #[inline]
    fn left<S: Sink>(&mut self, _at: Time, packet: &Packet, _sink: &mut S) {
        let way = self.way(packet);
        way.delivered_packets += 1;
        way.delivered += Bytes(u64::from(packet.ip_len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::FlowId;

    #[test]
    fn a_command_that_was_killed_ends_as_a_shell_would_tell_it() {
        assert_eq!(ShellEnd::Exited(7).exit_code(), 7);
        assert_eq!(ShellEnd::Killed(2).exit_code(), 130);
        assert_eq!(ShellEnd::Killed(9).exit_code(), 137);
    }

    #[test]
    fn waits_are_those_of_the_shell_s_own_link_each_way_by_itself() {
        let mut waits = Waits::default();
        let mut dequeued = |link, millis| {
            let event = Event::PacketDequeued {
                link: LinkId(link),
                flow: FlowId(0),
                bytes: Bytes(1_500),
                waited: Span::from_millis(millis),
                queue_packets: 0,
                queue_bytes: Bytes(0),
            };
            waits.emit(Time::ZERO, event);
        };
        (0..99).for_each(|_| dequeued(0, 10));
        dequeued(0, 50);
        dequeued(2, 9_000);
        let down = waits.of(0);
        // Quantiles are exact to three digits.
        let near = |span: Span, millis: u64| {
            span >= Span::from_millis(millis) && span <= Span::from_micros(millis * 1_001)
        };
        assert_eq!((down.packets, waits.of(1)), (100, Queueing::default()));
        assert!(near(down.p50, 10) && near(down.p99, 10) && near(down.max, 50), "{down:?}");
    }
}
