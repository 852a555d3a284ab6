//! Timestamps (RFC 7323) as other stacks count them, and capture clocks that are set.

use super::captures::{Captures, Run};
use super::record::Record;
use ackord_wire::Side;

/// How the clock behind TSval runs. The kernels of the runs count milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampClock {
    /// The client's clock stops while it sends nothing for long: the machine sleeps.
    StopsWhileIdle,
    /// 100 ticks per second.
    Hundred,
    /// So many ticks per millisecond: 1000 for a clock of microseconds, 1,000,000 for nanoseconds.
    PerMillisecond(u32),
    /// No timestamps option.
    Off,
}

/// A host that sends nothing for this long sleeps, ticks of its clock.
const SLEEPS: u32 = 250;
/// It falls asleep, and wakes, so long after and before it sends, ticks.
const AWAKE: u32 = 20;

/// The values that one host has sent, mapped to new ones.
struct Clock {
    kind: TimestampClock,
    first: u32,
    /// Values after which the clock stood, and for how long, ticks.
    stood: Vec<(u32, u32)>,
}

impl Clock {
    fn of(captures: &Captures, run: &Run, side: Side, kind: TimestampClock) -> Clock {
        let of_side = |record: &&Record| run.side_of(record) == Some(side);
        let sent = captures.of_host(side).records.iter().filter(of_side);
        let values: Vec<u32> = sent.filter_map(Record::timestamps).map(|it| it.0).collect();
        let first = values.first().copied().unwrap_or(0);
        let sleeps = kind == TimestampClock::StopsWhileIdle && side == Side::Client;
        let gaps = values.windows(2).map(|pair| (pair[0], pair[1].wrapping_sub(pair[0])));
        let gaps = gaps.filter(|(_, gap)| sleeps && (SLEEPS..i32::MAX as u32).contains(gap));
        let stood = gaps.map(|(after, gap)| (after, gap - 2 * AWAKE)).collect();
        Clock { kind, first, stood }
    }

    fn value(&self, value: u32) -> u32 {
        let ticks = value.wrapping_sub(self.first);
        match self.kind {
            TimestampClock::StopsWhileIdle => {
                let passed = |(after, _): &&(u32, u32)| value.wrapping_sub(*after) as i32 > 0;
                let stood = self.stood.iter().filter(passed).map(|it| it.1);
                stood.fold(value, u32::wrapping_sub)
            }
            TimestampClock::Hundred => self.first.wrapping_add((ticks as i32 / 10) as u32),
            TimestampClock::PerMillisecond(ticks_each) => {
                self.first.wrapping_add(ticks.wrapping_mul(ticks_each))
            }
            TimestampClock::Off => value,
        }
    }
}

/// Rewrites the timestamps of both ends, values and echoes.
pub(super) fn retime(captures: &mut Captures, run: &Run, kind: TimestampClock) {
    let clocks = [Side::Client, Side::Server].map(|side| Clock::of(captures, run, side, kind));
    let of = |side: Side| &clocks[usize::from(side == Side::Server)];
    captures.each(|record| {
        let Some(side) = run.side_of(record) else { return };
        if kind == TimestampClock::Off {
            record.strip_timestamps();
        } else if let Some((value, echo)) = record.timestamps() {
            let echo = if echo == 0 { 0 } else { of(side.other()).value(echo) };
            record.set_timestamps((of(side).value(value), echo));
        }
    });
}

/// Sets the capture clocks forward or back by `by` ns at the time `at` (ns) of the run.
pub(super) fn set_clock(captures: &mut Captures, at: u64, by: i64) {
    captures.each(|record| {
        if record.at >= at {
            record.at = record.at.saturating_add_signed(by);
        }
    });
}
