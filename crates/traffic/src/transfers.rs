//! One transfer after the other on one connection, with pauses in between.

use crate::knobs::{COUNT, GapKnobs, LEAST, MOST, SET_BY_SCENARIO, SIZE_DISTRIBUTION, lengths};
use crate::lengths::{Lengths, Script};
use crate::{
    Application, Distribution, DrawBudget, Offer, Socket, Workload, WorkloadKnobs, Workloads,
};
use crate::{Draw, Step, Transfer};
use ackord_units::{Bytes, Knobs, RandomStream, Span, Time};

/// Writes transfers, each a pause after the peer has acknowledged all of the one before.
#[derive(Clone, Debug)]
pub struct Transfers {
    script: Script,
    pause: Draw,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the connection is established.
    Before,
    /// Until the next transfer is due.
    Pause {
        until: Time,
    },
    Writing {
        left: Bytes,
    },
    /// Everything is written; the peer has not acknowledged all of it.
    Draining,
}

impl Transfers {
    pub(crate) fn new(script: Script, pause: Draw) -> Transfers {
        Transfers { script, pause, phase: Phase::Before }
    }

    fn begin(&mut self) -> Step {
        match self.script.next() {
            None => Step::Close,
            Some(transfer) => {
                self.phase = Phase::Writing { left: transfer.bytes };
                Step::Began(transfer)
            }
        }
    }
}

impl Application for Transfers {
    fn start(&mut self, now: Time) {
        self.phase = Phase::Pause { until: now };
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        if self.phase == Phase::Draining && socket.is_drained() {
            let pause = Span::from_nanos(self.pause.draw());
            self.phase = Phase::Pause { until: now + pause };
        }
        match self.phase {
            Phase::Pause { until } if until <= now => self.begin(),
            Phase::Before | Phase::Pause { .. } | Phase::Draining => Step::Wait,
            Phase::Writing { left } => {
                let bytes = left.min(socket.writable());
                if bytes == Bytes::ZERO {
                    return Step::Wait;
                }
                self.phase = match left - bytes {
                    // The FIN follows the last byte at once.
                    Bytes::ZERO if self.script.is_over() => Phase::Pause { until: now },
                    Bytes::ZERO => Phase::Draining,
                    left => Phase::Writing { left },
                };
                Step::Write(bytes)
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            Phase::Pause { until } => Some(until),
            Phase::Before | Phase::Writing { .. } | Phase::Draining => None,
        }
    }

    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        self.script.size(budget)
    }

    fn waits_for_acks(&self) -> bool {
        true
    }
}

/// The other end: tells of each transfer when its last byte has been read.
#[derive(Clone, Debug)]
pub struct Collector {
    script: Script,
    /// Read, and not yet attributed to a completed transfer.
    read: Bytes,
    coming: Option<Transfer>,
}

impl Collector {
    pub(crate) fn new(mut script: Script) -> Collector {
        let coming = script.next();
        Collector { script, read: Bytes::ZERO, coming }
    }
}

impl Application for Collector {
    fn handle_data(&mut self, _now: Time, bytes: Bytes) {
        self.read += bytes;
    }

    fn next(&mut self, _now: Time, _socket: &dyn Socket) -> Step {
        match self.coming {
            Some(transfer) if self.read >= transfer.bytes => {
                self.read -= transfer.bytes;
                self.coming = self.script.next();
                Step::Completed(transfer)
            }
            _ => Step::Wait,
        }
    }
}

/// Writes one transfer after the other, each a pause after the peer has acknowledged all of the
/// one before
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "traffic", name = "transfers", source = "Lee et al. 2016 §4.1, four sizes")]
pub struct TransfersKnobs {
    /// Mean length of a transfer
    #[knob(min = LEAST, max = MOST, default = "100 kB", source = SET_BY_SCENARIO)]
    size: Bytes,
    #[knob(
        like = SIZE_DISTRIBUTION,
        source = "Crovella and Bestavros 1997 for heavy tails of Web transfers"
    )]
    size_distribution: Distribution,
    /// Lengths in turn, from the front again after the last, in place of `size`
    #[knob(min = LEAST, max = MOST, source = SET_BY_SCENARIO)]
    sizes: Option<Vec<Bytes>>,
    #[knob(like = COUNT)]
    count: Option<u64>,
    #[knob(flatten)]
    gap: GapKnobs,
}

impl WorkloadKnobs for TransfersKnobs {
    fn offer(&self) -> Offer {
        let largest = self.sizes.iter().flatten().max().copied();
        Offer { rate: self.gap.rate_of(largest.unwrap_or(self.size)), write: None }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let lengths = match &self.sizes {
            Some(sizes) => Lengths::listed(sizes.clone()),
            None => lengths(self.size, self.size_distribution, stream("lengths")),
        };
        let script = Script::new(lengths, self.count);
        let pause = self.gap.draw(stream("pauses"));
        Workloads {
            sends: Workload::of(Transfers::new(script.clone(), pause)),
            receives: Workload::of(Collector::new(script)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fixed, at, room};
    use ackord_units::RandomStream;

    fn script(lengths: &[u64], count: Option<u64>) -> Script {
        Script::new(Lengths::listed(lengths.iter().copied().map(Bytes).collect()), count)
    }

    fn transfers(lengths: &[u64], count: Option<u64>) -> Transfers {
        let pause = Span::from_millis(20).as_nanos();
        let pause = Draw::new(pause, Distribution::Fixed, RandomStream::for_element(1, "pause"));
        Transfers::new(script(lengths, count), pause)
    }

    fn socket(writable: u64, drained: bool) -> Fixed {
        Fixed { writable: Bytes(writable), drained }
    }

    fn transfer(index: u64, bytes: u64) -> Transfer {
        Transfer { index, bytes: Bytes(bytes) }
    }

    #[test]
    fn the_pause_begins_when_the_last_byte_is_acknowledged_and_the_last_transfer_closes() {
        let mut writer = transfers(&[1_500, 700], Some(2));
        writer.start(at(5));
        assert_eq!(writer.size(&mut DrawBudget::default()), Some(Bytes(2_200)));
        let free = socket(9_000, false);
        assert_eq!(writer.next(at(5), &free), Step::Began(transfer(0, 1_500)));
        assert_eq!(writer.next(at(5), &socket(1_000, false)), Step::Write(Bytes(1_000)));
        assert_eq!(writer.next(at(5), &socket(0, false)), Step::Wait);
        assert_eq!(writer.next(at(7), &free), Step::Write(Bytes(500)));
        assert_eq!((writer.next(at(7), &free), writer.deadline()), (Step::Wait, None));
        assert_eq!(writer.next(at(10), &socket(9_000, true)), Step::Wait);
        assert_eq!(writer.deadline(), Some(at(30)));
        assert_eq!(writer.next(at(30), &socket(9_000, true)), Step::Began(transfer(1, 700)));
        assert_eq!(writer.next(at(30), &socket(9_000, true)), Step::Write(Bytes(700)));
        assert_eq!(writer.next(at(30), &free), Step::Close);
    }

    #[test]
    fn a_list_starts_again_and_without_a_count_never_ends() {
        let endless = script(&[1, 2], None);
        assert_eq!(endless.size(&mut DrawBudget::default()), None);
        assert_eq!(script(&[1, 2], Some(5)).size(&mut DrawBudget::default()), Some(Bytes(7)));
    }

    #[test]
    fn the_reader_tells_of_each_transfer_when_all_of_it_is_there() {
        let mut reader = Collector::new(script(&[100, 50], Some(3)));
        reader.handle_data(at(0), Bytes(99));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Wait);
        reader.handle_data(at(0), Bytes(51));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Completed(transfer(0, 100)));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Completed(transfer(1, 50)));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Wait);
        reader.handle_data(at(0), Bytes(100));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Completed(transfer(2, 100)));
        assert_eq!(reader.next(at(0), &room(Bytes::ZERO)), Step::Wait);
    }

    #[test]
    fn both_ends_draw_the_same_lengths_from_streams_of_one_name() {
        let lengths = || {
            let stream = RandomStream::for_element(7, "flows/f/traffic/lengths");
            Lengths::Drawn(Draw::new(10_000, Distribution::Exponential, stream))
        };
        let (mut one, mut other) = (lengths(), lengths());
        let first: Vec<_> = (0..50).map(|_| one.next()).collect();
        let second: Vec<_> = (0..50).map(|_| other.next()).collect();
        assert_eq!(first, second);
        assert!(first.iter().all(|length| *length >= Bytes(1)));
    }
}
