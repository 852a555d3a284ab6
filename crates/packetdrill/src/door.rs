//! Threads and virtual time.
//!
//! One lock holds the whole world. A call that has to wait leaves itself behind as a value
//! ([`Call`]) and sleeps; whoever changes something tries every call that waits, there and then, so
//! what each returns and at which virtual time follows from the packets and timers alone.
//!
//! Who moves time:
//!
//! - `usleep` and `netdev_receive`, whoever calls them. They step from event to event: the next timer
//!   of a connection or the next limit of a waiting call.
//! - Any other call that waits, while no thread that drives is at work: a thread drives that has
//!   opened the door, injected or taken a packet, or slept. So `poll` of the only thread passes
//!   time, and `accept` of a second thread does not while the first is about to inject something.
//! - If a driving thread sleeps in its own code for [`PATIENCE`] of real time (it waits for the thread
//!   whose call waits here, say), that call moves time by one event, and so on. Nothing hangs
//!   that would end on a real machine; and what would hang there fails with EDEADLK after
//!   [`HOPELESS`].
//! - Reading the clock moves nothing; but whoever does nothing else [`SPIN`] times in a row is waiting
//!   for it, and from then on the clock moves by a microsecond with every tenth reading. packetdrill
//!   waits so for the last 20 us before each event.
//!
//! Before time moves, every other thread that knows the door has to rest: to wait here, or to sleep in
//! its own code. So a thread whose `accept` has returned reads, writes and looks at the clock at the
//! time at which it returned. One that runs on for [`RESTLESS`] of real time is not waited for.

use crate::calls::{Answer, Call};
use crate::setup::Setup;
use crate::threads::{Place, Rest, Role, ThreadName};
use crate::virtual_time::VirtualTime;
use crate::world::{Attempt, World};
use ackord_units::{Span, Time};
use nix::errno::Errno;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Real time for which a driving thread may sleep in its own code before a waiting call moves time.
const PATIENCE: Duration = Duration::from_millis(100);
/// Real time after which a call is given up that waits while every thread of the process sleeps and
/// no timer runs: nobody is left to end it.
const HOPELESS: Duration = Duration::from_secs(2);
/// Real time for which a thread may run on before nobody waits for it.
const RESTLESS: Duration = Duration::from_millis(250);
/// Real time between two looks at whether the others rest.
const GLANCE: Duration = Duration::from_micros(50);
/// Readings of the clock in a row that are a wait.
const SPIN: u32 = 1_000;
/// From then on as many readings move the clock by a microsecond: who has seen it come to where it
/// was waited for reads the same time once more.
const READINGS_IN_MICROSECOND: u32 = 10;
/// Nothing leaves later than this without anybody doing anything: the longest keepalive is shorter.
const SILENCE: Span = Span::from_secs(24 * 3600);

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Not at all.
    Now,
    /// Until then.
    Until(Time),
    /// For ever.
    None,
}

/// What a script talks to.
#[derive(Debug)]
pub(crate) struct Door {
    inner: Mutex<VirtualTime>,
    changed: Condvar,
    /// Threads on their way in.
    arriving: AtomicU32,
}

type Guard<'a> = MutexGuard<'a, VirtualTime>;

impl Door {
    /// Opened by the calling thread, at the beginning of virtual time.
    pub(crate) fn new(setup: Setup) -> Door {
        Door {
            inner: Mutex::new(VirtualTime::new(setup)),
            changed: Condvar::new(),
            arriving: AtomicU32::new(0),
        }
    }

    /// A call that does not wait.
    pub(crate) fn now<T>(&self, role: Role, act: impl FnOnce(&mut World) -> T) -> T {
        let mut inner = self.enter(role, Kind::Other);
        let answer = act(&mut inner.world);
        inner.settle();
        self.leave(inner);
        answer
    }

    /// A call that may wait for as long as `limit` says.
    pub(crate) fn wait(
        &self,
        mut call: Call,
        limit: impl FnOnce(&World) -> Result<Limit, Errno>,
    ) -> Result<Answer, Errno> {
        let (role, kind) = match call {
            Call::Packet { .. } => (Role::Driver, Kind::Packet),
            Call::Sleep => (Role::Driver, Kind::Other),
            _ => (Role::Application, Kind::Other),
        };
        let mut inner = self.enter(role, kind);
        let answer = match limit(&inner.world) {
            Err(error) => Err(error),
            Ok(limit) => match (call.attempt(&mut inner.world), limit) {
                (Attempt::Done(answer), _) => answer,
                (Attempt::Wait, Limit::Now) => call.give_up(),
                (Attempt::Wait, limit) => {
                    let deadline = match limit {
                        Limit::Until(at) => Some(at),
                        Limit::Now | Limit::None => None,
                    };
                    let outcome;
                    (inner, outcome) = self.block(inner, call, deadline);
                    outcome
                }
            },
        };
        inner.settle();
        let answer = if kind == Kind::Packet { inner.or_empty(answer) } else { answer };
        self.leave(inner);
        answer
    }

    /// The next packet that leaves; an empty one if none ever will and this is asked for the second
    /// time with nothing in between. packetdrill asks again after an error, for ever, but ends the
    /// script at a packet it cannot read.
    pub(crate) fn packet(&self, room: usize) -> Result<Answer, Errno> {
        let limit = |world: &World| Ok(Limit::Until(world.now() + SILENCE));
        self.wait(Call::Packet { room }, limit)
    }

    /// What time it is.
    pub(crate) fn clock(&self) -> Time {
        let mut inner = self.enter(Role::Application, Kind::Clock);
        inner.clock_readings = inner.clock_readings.saturating_add(1);
        let readings = inner.clock_readings;
        if readings > SPIN && readings.is_multiple_of(READINGS_IN_MICROSECOND) && !inner.moving {
            let next = inner.world.now() + Span::from_micros(1);
            inner.move_to(next);
        }
        let now = inner.world.now();
        self.leave(inner);
        now
    }

    /// Every call that waits returns, and nobody is inside any longer.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closing = true;
        self.changed.notify_all();
        while !inner.waiters.is_empty() {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> Guard<'_> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, role: Role, kind: Kind) -> Guard<'_> {
        self.arriving.fetch_add(1, Ordering::SeqCst);
        let mut inner = self.lock();
        self.arriving.fetch_sub(1, Ordering::SeqCst);
        inner.threads.enter(ThreadName::own(), role);
        inner.calls += 1;
        inner.calm = false;
        if kind != Kind::Clock {
            inner.clock_readings = 0;
        }
        if kind == Kind::Other {
            inner.silent = false;
        }
        inner
    }

    fn leave(&self, mut inner: Guard<'_>) {
        inner.threads.put(ThreadName::own(), Place::Outside);
        let somebody_waits = !inner.waiters.is_empty();
        drop(inner);
        if somebody_waits {
            self.changed.notify_all();
        }
    }

    /// Sleeps until the call has its outcome, moving time where it is this thread's to move.
    fn block<'a>(
        &'a self,
        mut inner: Guard<'a>,
        call: Call,
        deadline: Option<Time>,
    ) -> (Guard<'a>, Result<Answer, Errno>) {
        let me = ThreadName::own();
        let drives = matches!(call, Call::Sleep | Call::Packet { .. });
        // What waits for a packet waits for as long as anything happens, not for the time to pass.
        let (deadline, silence) = match call {
            Call::Packet { .. } => (None, deadline),
            _ => (deadline, None),
        };
        let ticket = inner.register(me, call, deadline);
        inner.threads.put(me, Place::Waiting);
        // Others may be the only ones left to move time.
        self.changed.notify_all();
        let mut hopeless_for = Duration::ZERO;
        loop {
            if let Some(outcome) = inner.outcome_of(ticket) {
                inner.threads.put(me, Place::Inside);
                self.changed.notify_all();
                return (inner, outcome);
            }
            let may_move = drives || inner.threads.other_drivers_wait(me);
            if may_move && !inner.moving {
                inner.moving = true;
                inner = self.await_rest(inner, me);
                let moved = inner.is_unanswered(ticket) && inner.step(silence);
                inner.moving = false;
                self.changed.notify_all();
                if moved || !inner.is_unanswered(ticket) {
                    hopeless_for = Duration::ZERO;
                    continue;
                }
                if drives {
                    inner.answer(ticket, Err(Errno::ETIMEDOUT));
                    continue;
                }
            }
            let hopeless;
            (inner, hopeless) = self.sleep_patiently(inner, me);
            hopeless_for = if hopeless { hopeless_for + PATIENCE } else { Duration::ZERO };
            if hopeless_for >= HOPELESS && inner.is_unanswered(ticket) {
                eprintln!(
                    "ackord_packetdrill: a call waits for what can never happen: no timer runs and \
                     every thread sleeps; it fails with EDEADLK"
                );
                inner.answer(ticket, Err(Errno::EDEADLK));
            }
        }
    }

    /// Waits for others to do something; if the others have slept for long, moves time by
    /// one event. Says whether it was for nothing: everybody slept, and no timer runs.
    fn sleep_patiently<'a>(&'a self, inner: Guard<'a>, me: ThreadName) -> (Guard<'a>, bool) {
        let calls = inner.calls;
        let waited = self.changed.wait_timeout(inner, PATIENCE);
        let (mut inner, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let unchanged = timeout.timed_out() && inner.calls == calls && !inner.moving;
        if !unchanged || inner.others_rest(me) == Rest::No {
            return (inner, false);
        }
        let hopeless = !inner.step(None) && me.all_others_sleep();
        self.changed.notify_all();
        (inner, hopeless)
    }

    /// Waits, in real time, until every other thread rests.
    fn await_rest<'a>(&'a self, mut inner: Guard<'a>, me: ThreadName) -> Guard<'a> {
        let mut waited_for = Duration::ZERO;
        let mut seen_asleep = false;
        while !inner.calm {
            let arriving = self.arriving.load(Ordering::SeqCst) > 0;
            let rest = if arriving { Rest::No } else { inner.others_rest(me) };
            // Who sleeps in its own code may only have stumbled: it is looked at twice.
            inner.calm = rest == Rest::Here || rest == Rest::Elsewhere && seen_asleep;
            seen_asleep = rest == Rest::Elsewhere;
            if waited_for >= RESTLESS && !inner.calm {
                inner.threads.give_up_on_others(me);
                inner.calm = true;
            }
            if !inner.calm {
                let waited = self.changed.wait_timeout(inner, GLANCE);
                inner = waited.unwrap_or_else(PoisonError::into_inner).0;
                waited_for += GLANCE;
            }
        }
        inner
    }
}

/// Which calls have something to do with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Clock,
    Packet,
    Other,
}
