//! An engine between two interfaces, in real time.

use crate::{Engine, EngineConfig, Interface, Ring, RingStats};
use ackord_path::Proxy;
use ackord_units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

/// Nothing waits longer than this before somebody is asked whether to go on.
const TURN: Span = Span::from_millis(100);

/// A gateway at work.
#[derive(Debug)]
pub struct Drive {
    wan: Ring,
    lan: Ring,
    engine: Engine,
    began_nanos: u64,
    /// Frames that an interface did not take.
    not_taken: u64,
}

impl Drive {
    /// Between the interfaces of these names.
    ///
    /// # Errors
    /// As of [`Ring::open`].
    pub fn open(
        (wan, lan): (&str, &str),
        mut config: EngineConfig,
        proxy: Proxy,
    ) -> io::Result<Drive> {
        let (wan, lan) = (Ring::open(wan, Interface::Wan)?, Ring::open(lan, Interface::Lan)?);
        (config.wan, config.lan) = (wan.kind(), lan.kind());
        let began_nanos = now_nanos()?;
        Ok(Drive { wan, lan, engine: Engine::new(config, proxy), began_nanos, not_taken: 0 })
    }

    /// Until `go_on` says no, which it is asked ten times a second at least.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn run(&mut self, mut go_on: impl FnMut(&Drive) -> ControlFlow<()>) -> io::Result<()> {
        while go_on(self).is_continue() {
            self.turn()?;
        }
        Ok(())
    }

    fn turn(&mut self) -> io::Result<()> {
        let now = self.now()?;
        let due = self.engine.deadline().unwrap_or(Time::NEVER);
        let wait = due.saturating_since(now).min(TURN);
        let mut polled = [
            PollFd::new(self.wan.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.lan.as_fd(), PollFlags::POLLIN),
        ];
        match ppoll(
            &mut polled,
            Some(TimeSpec::from_duration(std::time::Duration::from_nanos(wait.as_nanos()))),
            None,
        ) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let (engine, began) = (&mut self.engine, self.began_nanos);
        // The WAN side first: whoever answers has to know what stands before a packet there.
        for ring in [&mut self.wan, &mut self.lan] {
            ring.read(|nanos, sighting| engine.see(since(began, nanos), sighting));
        }
        let now = self.now()?;
        self.engine.handle_deadlines(now);
        for injection in self.engine.injections() {
            let ring = match injection.interface {
                Interface::Wan => &self.wan,
                Interface::Lan => &self.lan,
            };
            if ring.send(&injection.frame).is_err() {
                self.not_taken += 1;
            }
        }
        Ok(())
    }

    fn now(&self) -> io::Result<Time> {
        Ok(since(self.began_nanos, now_nanos()?))
    }

    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Frames that an interface did not take.
    pub fn not_taken(&self) -> u64 {
        self.not_taken
    }

    /// What the rings saw and lost: WAN, LAN.
    ///
    /// # Errors
    /// None that a ring knows of.
    pub fn rings(&mut self) -> io::Result<[RingStats; 2]> {
        Ok([self.wan.stats()?, self.lan.stats()?])
    }
}

/// The clock that packets are stamped with.
fn now_nanos() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_REALTIME)?;
    Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

fn since(began: u64, nanos: u64) -> Time {
    Time::from_nanos(nanos.saturating_sub(began))
}
