//! Whose time an emulation lives in: the real one, or one that jumps.

use crate::clock::Clock;
use crate::sys::PollSet;
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealTime {
    clock: Clock,
    /// Waits shorter than this are spent looking, again and again.
    spin: Span,
}

/// Going to sleep and being woken takes about this long, so a shorter wait would end late.
const SPIN: Span = Span::from_micros(20);
/// Nobody waits longer than this without a look around.
const LONGEST: Span = Span::from_secs(3600);

impl RealTime {
    /// Time as this clock has it. `may_spin`: short waits are spent looking; not to be done by a
    /// thread that comes before all others, which would have nothing to wait for.
    pub(crate) fn new(clock: Clock, may_spin: MaySpin) -> RealTime {
        let spin = match may_spin {
            MaySpin::Yes => SPIN,
            MaySpin::No => Span::ZERO,
        };
        RealTime { clock, spin }
    }
}

/// Whether short waits may be spent looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaySpin {
    Yes,
    No,
}

impl Timeline for RealTime {
    #[inline]
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, until: Time, poll: &mut PollSet) -> io::Result<()> {
        loop {
            let left = until.saturating_since(self.clock.now());
            let looks = left <= self.spin;
            poll.wait(if looks { Span::ZERO } else { left.min(LONGEST) })?;
            if !looks || left == Span::ZERO || poll.any_is_ready() {
                return Ok(());
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
