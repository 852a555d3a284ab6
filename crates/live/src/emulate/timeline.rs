//! Whose time an emulation lives in: the real one, or one that jumps.

use crate::clock::Clock;
use ackord_sys::PollSet;
use ackord_units::{Span, Time};
use std::io;

/// Tells the time of a run and waits.
pub(crate) trait Timeline {
    /// The present, since the start of the run; never goes back.
    fn now(&mut self) -> Time;

    /// Waits until `until`, or until a descriptor of `poll` is ready.
    ///
    /// # Errors
    /// What the system answers.
    fn wait(&mut self, until: Time, poll: &mut PollSet) -> io::Result<()>;
}

/// Real time.
///
/// Whoever sleeps is woken late, by what the machine takes for it: some tens of microseconds where
/// nobody else wants the processor. A sleep therefore aims at an earlier instant, by about the least
/// that this took lately; what is left is spent looking, if that is allowed, or asleep. Whoever spends
/// his share of a processor looking is made to wait when others want it, just when a packet is due;
/// so nothing is spent looking for a while after the processor was seen to be taken away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealTime {
    clock: Clock,
    may_spin: bool,
    /// By how much sleeps end late at the least.
    least_late: Span,
    /// From when on short waits may be spent looking.
    calm_at: Time,
}

/// Waits shorter than this are spent looking.
const SPIN: Span = Span::from_micros(20);
/// Sleeps aim this much earlier still where the rest may be spent looking.
const MARGIN: Span = Span::from_micros(10);
/// Sleeps aim no earlier than this: a machine that wakes later than that is busy with others.
const MOST_EARLY: Span = Span::from_micros(50);
/// No sleep is shorter: it is for the sake of those who want the processor.
const SHORTEST: Span = Span::from_micros(1);
/// How long a run may last that lasts as long as somebody wants: as long as a scenario can say.
pub(crate) const LONGEST_RUN: Span = Span::from_secs(8_640_000);
/// Nobody waits longer than this without a look around.
const LONGEST: Span = Span::from_secs(3600);
/// Nobody who has a processor to himself is away for so long.
const TAKEN_AWAY: Span = Span::from_micros(300);
/// How long others are taken to want the processor after that.
const BUSY: Span = Span::from_millis(100);
/// How much of a lateness above the least goes into it.
const FORGET: u64 = 32;

impl RealTime {
    /// Time as this clock has it. Short waits are spent looking, but not by a thread that comes before
    /// all others: they would not get their turn.
    pub(crate) fn new(clock: Clock, realtime_priority: bool) -> RealTime {
        let may_spin = !realtime_priority;
        let (least_late, calm_at) = (Span::ZERO, Time::ZERO);
        RealTime { clock, may_spin, least_late, calm_at }
    }

    /// How long to sleep when so much is left.
    fn sleep(&self, left: Span, spins: bool) -> Span {
        let margin = if spins { MARGIN } else { Span::ZERO };
        left.saturating_sub(self.least_late + margin).max(SHORTEST).min(LONGEST)
    }

    /// A sleep has ended late by this.
    fn learn(&mut self, late: Span) {
        let more = late.saturating_sub(self.least_late);
        self.least_late = late.min(self.least_late + more / FORGET).min(MOST_EARLY);
    }
}

impl Timeline for RealTime {
    #[inline]
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, until: Time, poll: &mut PollSet) -> io::Result<()> {
        let mut now = self.clock.now();
        loop {
            let left = until.saturating_since(now);
            let spins = self.may_spin && now >= self.calm_at;
            let looks = left == Span::ZERO || left <= SPIN && spins;
            let sleep = if looks { Span::ZERO } else { self.sleep(left, spins) };
            poll.wait(sleep)?;
            if left == Span::ZERO || poll.any_is_ready() {
                return Ok(());
            }
            let meant = now + sleep;
            now = self.clock.now();
            let late = now.saturating_since(meant);
            if late > TAKEN_AWAY {
                self.calm_at = now + BUSY;
            }
            if !looks {
                self.learn(late);
            }
        }
    }
}

/// Time that jumps to whatever is waited for, and perhaps beyond.
#[cfg(any(test, feature = "trials"))]
pub(crate) struct VirtualTime {
    now: Time,
    /// By how much each wait ends late.
    late: Box<dyn FnMut() -> Span>,
}

#[cfg(any(test, feature = "trials"))]
impl VirtualTime {
    /// Every wait ends when it should.
    pub(crate) fn exact() -> VirtualTime {
        VirtualTime::late(|| Span::ZERO)
    }

    /// Every wait ends late by what `late` says.
    pub(crate) fn late(late: impl FnMut() -> Span + 'static) -> VirtualTime {
        VirtualTime { now: Time::ZERO, late: Box::new(late) }
    }
}

#[cfg(any(test, feature = "trials"))]
impl Timeline for VirtualTime {
    fn now(&mut self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time, poll: &mut PollSet) -> io::Result<()> {
        self.now = self.now.max(until) + (self.late)();
        poll.take_all_for_ready();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::eventfd::EventFd;
    use std::os::fd::AsFd;

    #[test]
    fn a_wait_ends_when_it_should_and_not_before_unless_something_is_ready() {
        let event = EventFd::new().expect("a descriptor");
        let mut poll = PollSet::default();
        poll.add(event.as_fd());
        for realtime_priority in [false, true] {
            let mut time = RealTime::new(Clock::start(), realtime_priority);
            for micros in [0, 5, 30, 300, 3_000, 100, 1] {
                let until = time.now() + Span::from_micros(micros);
                time.wait(until, &mut poll).expect("it waits");
                assert!(time.now() >= until, "{realtime_priority} {micros}");
                assert!(time.least_late <= MOST_EARLY);
            }
            event.write(1).expect("written");
            let until = time.now() + Span::from_secs(60);
            time.wait(until, &mut poll).expect("it is ready");
            assert!(time.now() < until);
            event.read().expect("read");
        }
    }

    #[test]
    fn sleeps_aim_earlier_by_the_least_that_waking_took_lately() {
        let mut time = RealTime::new(Clock::start(), true);
        let aims_early = |time: &RealTime| {
            Span::from_millis(1).saturating_sub(time.sleep(Span::from_millis(1), false))
        };
        for late in [40, 60, 30, 50].repeat(50) {
            time.learn(Span::from_micros(late));
        }
        let early = aims_early(&time);
        let (least, most) = (Span::from_micros(30), Span::from_micros(36));
        assert!(early >= least && early <= most, "{early}");
        time.learn(Span::from_micros(8));
        assert_eq!(aims_early(&time), Span::from_micros(8));
        for _ in 0..1_000 {
            time.learn(Span::from_millis(5));
        }
        assert_eq!(aims_early(&time), MOST_EARLY);
    }
}
