//! Virtual time: the calls that wait, tried whenever something has happened, and steps from one event
//! to the next. Who may step, and when, is the door's business.

use crate::calls::{Answer, Call};
use crate::setup::Setup;
use crate::threads::{Place, Rest, Role, ThreadName, Threads};
use crate::world::{Attempt, World};
use ackord_units::Time;
use nix::errno::Errno;
use std::collections::BTreeMap;

/// Steps in a row that may pass without virtual time passing: no timer needs as many.
const STALLED: u32 = 100_000;

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    thread: ThreadName,
    call: Call,
    deadline: Option<Time>,
    outcome: Option<Result<Answer, Errno>>,
}

/// The world, the calls that wait in it, and who moves its time.
#[derive(Debug)]
pub(crate) struct VirtualTime {
    pub(crate) world: World,
    pub(crate) waiters: BTreeMap<u64, Waiter>,
    tickets: u64,
    pub(crate) threads: Threads,
    /// A thread moves time.
    pub(crate) moving: bool,
    /// Nobody has called or been answered since the others were last seen to rest.
    pub(crate) calm: bool,
    /// Calls so far.
    pub(crate) calls: u64,
    /// Readings of the clock since the last other call.
    pub(crate) clock_readings: u32,
    stalled_steps: u32,
    /// The last call asked for a packet, and none will ever come.
    pub(crate) silent: bool,
    pub(crate) closing: bool,
}

impl VirtualTime {
    /// The beginning, in a world that the calling thread opens.
    pub(crate) fn new(setup: Setup) -> VirtualTime {
        let mut threads = Threads::default();
        threads.enter(ThreadName::own(), Role::Driver);
        threads.put(ThreadName::own(), Place::Outside);
        VirtualTime {
            world: World::new(setup),
            waiters: BTreeMap::new(),
            tickets: 0,
            threads,
            moving: false,
            calm: false,
            calls: 0,
            clock_readings: 0,
            stalled_steps: 0,
            silent: false,
            closing: false,
        }
    }

    pub(crate) fn register(
        &mut self,
        thread: ThreadName,
        call: Call,
        deadline: Option<Time>,
    ) -> u64 {
        self.tickets += 1;
        self.waiters.insert(self.tickets, Waiter { thread, call, deadline, outcome: None });
        self.tickets
    }

    /// The outcome of a call that waits, once it has one.
    pub(crate) fn outcome_of(&mut self, ticket: u64) -> Option<Result<Answer, Errno>> {
        if self.closing {
            self.waiters.remove(&ticket);
            return Some(Err(Errno::ECANCELED));
        }
        self.waiters.get(&ticket)?.outcome.as_ref()?;
        self.waiters.remove(&ticket)?.outcome
    }

    pub(crate) fn is_unanswered(&self, ticket: u64) -> bool {
        !self.closing && self.waiters.get(&ticket).is_some_and(|waiter| waiter.outcome.is_none())
    }

    pub(crate) fn answer(&mut self, ticket: u64, outcome: Result<Answer, Errno>) {
        if let Some(waiter) = self.waiters.get_mut(&ticket) {
            waiter.outcome = Some(outcome);
        }
    }

    /// Where no packet will ever come: an error first, then an empty one.
    pub(crate) fn or_empty(&mut self, answer: Result<Answer, Errno>) -> Result<Answer, Errno> {
        let none = answer == Err(Errno::ETIMEDOUT);
        let again = none && self.silent;
        self.silent = none && !again;
        if again { Ok(Answer::Nothing) } else { answer }
    }

    pub(crate) fn others_rest(&mut self, me: ThreadName) -> Rest {
        let VirtualTime { threads, waiters, closing, .. } = self;
        threads.others_rest(me, |name| {
            *closing
                || waiters.values().any(|waiter| waiter.thread == name && waiter.outcome.is_some())
        })
    }

    /// Tries every call that waits, until no more of them can go on.
    pub(crate) fn settle(&mut self) {
        let mut passes_without = 0;
        // One call may make room for another that was tried before it.
        while passes_without < 2 {
            passes_without += 1;
            for waiter in self.waiters.values_mut().filter(|waiter| waiter.outcome.is_none()) {
                if let Attempt::Done(outcome) = waiter.call.attempt(&mut self.world) {
                    waiter.outcome = Some(outcome);
                    self.calm = false;
                    passes_without = 0;
                }
            }
        }
    }

    /// Moves time to the next event; false if there is none, or none before `horizon`.
    pub(crate) fn step(&mut self, horizon: Option<Time>) -> bool {
        let waiting = self.waiters.values().filter(|waiter| waiter.outcome.is_none());
        let limit = waiting.filter_map(|waiter| waiter.deadline).min();
        let Some(next) = [limit, self.world.deadline()].into_iter().flatten().min() else {
            return false;
        };
        if horizon.is_some_and(|horizon| next > horizon) {
            return false;
        }
        if next > self.world.now() {
            self.stalled_steps = 0;
        } else if self.stalled_steps >= STALLED {
            return false;
        }
        self.stalled_steps += 1;
        self.move_to(next);
        true
    }

    pub(crate) fn move_to(&mut self, to: Time) {
        self.world.advance(to);
        self.settle();
        let now = self.world.now();
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.outcome.is_none()) {
            if waiter.deadline.is_some_and(|at| at <= now) {
                waiter.outcome = Some(waiter.call.give_up());
                self.calm = false;
            }
        }
    }
}
