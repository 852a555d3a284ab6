//! An engine between interfaces, in real time.

use crate::watch::Delays;
use crate::{Engine, Interface, Order, Port, Removal};
use ackord_daemon::{monotonic_nanos, wall_nanos};
use ackord_units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;

/// Nothing waits longer than this before somebody is asked whether to go on.
const TURN: Span = Span::from_millis(50);
/// What was to be sent longer ago than this is not sent any more: after a pause (a stopped process, a
/// suspended machine) an engine catches up with what it has missed, and its answers to that are stale.
const STALE: Span = Span::from_millis(100);

/// Frames pass and are not shown yet for as long as a block of a ring stays open, and a turn of the kernel's
/// timer: what an engine awaits is overdue only when none of them can be it.
const NOT_SHOWN_YET: Span = Span::from_millis(2);

/// Who is asked for one by one, and is in no hurry, is so often.
const UNHURRIED: Span = Span::from_millis(1);

/// What a drive did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveCounts {
    /// Frames sent.
    pub sent: u64,
    /// Frames that an interface did not take.
    pub not_taken: u64,
    /// Frames that came too late to be of use.
    pub stale: u64,
}

/// A gateway at work.
#[derive(Debug)]
pub struct Drive {
    /// The WAN interface first: whoever answers has to know what stands before a packet there.
    ports: Vec<Port>,
    engine: Engine,
    removal: Removal,
    began_nanos: u64,
    counts: DriveCounts,
    /// From when a frame was due to when it was sent.
    lateness: Delays,
    /// From when the engine wanted to be called to when it was.
    loop_lateness: Delays,
    /// Nobody but connections that are let pass says anything, and they are counted.
    is_unhurried: bool,
}

impl Drive {
    /// An engine between these interfaces, the WAN first.
    pub fn new(ports: Vec<Port>, engine: Engine, removal: Removal) -> Drive {
        Drive {
            ports,
            engine,
            removal,
            began_nanos: monotonic_nanos(),
            counts: DriveCounts::default(),
            lateness: Delays::default(),
            loop_lateness: Delays::default(),
            is_unhurried: false,
        }
    }

    /// Waits until something passes or is due, for a twentieth of a second at most, and does what there is to
    /// do.
    ///
    /// # Errors
    /// Where the kernel refuses to wait.
    pub fn turn(&mut self) -> io::Result<()> {
        let troubled = self.wait()?;
        // Packets are stamped with the clock on the wall, which may be set: what it shows now is compared
        // with the one that goes on evenly, each time anew.
        let wall_ahead =
            wall_nanos().saturating_sub(monotonic_nanos().saturating_sub(self.began_nanos));
        self.engine.set_wall(wall_ahead);
        if self.engine.may_remove() {
            self.removal.beat();
            self.removal.follow(self.now(), &self.ports);
        }
        let latest = self.now();
        for (at, port) in self.ports.iter_mut().enumerate() {
            let engine = &mut self.engine;
            if port.look(latest, troubled & (1 << at) != 0) {
                engine.set_link_kind(port.interface(), port.kind());
            }
            port.read(|nanos, sighting| {
                let seen_at = Time::from_nanos(nanos.saturating_sub(wall_ahead));
                engine.see(seen_at.min(latest), sighting);
            });
        }
        let now = self.now();
        let shown_up_to = shown_up_to(now);
        if let Some(due) = self.engine.deadline().filter(|due| *due <= shown_up_to) {
            self.loop_lateness.record(shown_up_to.saturating_since(due));
        }
        self.engine.handle_deadlines(shown_up_to);
        let attention = self.engine.attention(shown_up_to);
        self.is_unhurried = attention.is_unhurried();
        self.ports.iter_mut().for_each(|port| port.attend(now, &attention));
        self.carry_out();
        Ok(())
    }

    /// Waits until something was seen or is due. Answers which ports had an error, a bit each.
    fn wait(&self) -> io::Result<u64> {
        if self.is_unhurried {
            // Each packet would wake us. As blocks do it, they wait for each other.
            let _ = ppoll(&mut [], Some(time_spec(UNHURRIED)), None);
        }
        let due = self.engine.deadline().unwrap_or(Time::NEVER).min(self.engine.fast_changes_at());
        let turn = if self.engine.may_remove() { Removal::BEAT_EVERY } else { TURN };
        let wait = due.saturating_since(shown_up_to(self.now())).min(turn);
        let there: Vec<usize> =
            (0..self.ports.len()).filter(|at| self.ports[*at].descriptor().is_some()).collect();
        let mut polled: Vec<PollFd<'_>> = there
            .iter()
            .filter_map(|at| Some(PollFd::new(self.ports[*at].descriptor()?, PollFlags::POLLIN)))
            .collect();
        match ppoll(&mut polled, Some(time_spec(wait)), None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(0),
            Err(error) => return Err(error.into()),
        }
        let mut troubled = 0;
        for (at, one) in there.into_iter().zip(&polled) {
            let answer = one.revents().unwrap_or(PollFlags::empty());
            troubled |= u64::from(answer.intersects(PollFlags::POLLERR | PollFlags::POLLHUP)) << at;
        }
        Ok(troubled)
    }

    fn carry_out(&mut self) {
        let now = self.now();
        for order in self.engine.orders() {
            let injection = match order {
                Order::Cover(cover) => {
                    self.removal.tell(now, &cover);
                    continue;
                }
                Order::Inject(injection) => injection,
            };
            let late = now.saturating_since(injection.at);
            if late > STALE {
                self.counts.stale += 1;
                continue;
            }
            let port = self.ports.iter().find(|port| port.interface() == injection.interface);
            match port.map(|port| port.send(&injection)) {
                Some(Ok(())) => {
                    self.counts.sent += 1;
                    self.lateness.record(late);
                }
                _ => self.counts.not_taken += 1,
            }
        }
    }

    /// Since it began.
    pub fn now(&self) -> Time {
        Time::from_nanos(monotonic_nanos().saturating_sub(self.began_nanos))
    }

    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Its engine, to be changed.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Its interfaces.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Goes on between other interfaces, the WAN first.
    pub fn exchange(&mut self, ports: Vec<Port>) {
        self.ports = ports;
    }

    /// Its interfaces, to be asked for what they count.
    pub fn ports_mut(&mut self) -> &mut [Port] {
        &mut self.ports
    }

    /// What it did.
    pub fn counts(&self) -> DriveCounts {
        self.counts
    }

    /// Packets that the kernel's program removed.
    pub fn removed(&self) -> u64 {
        self.removal.removed()
    }

    /// Why something is not removed that should be.
    pub fn removal_trouble(&self) -> Option<&str> {
        self.removal.trouble()
    }

    /// From when a frame was due to when it was sent.
    pub fn lateness(&self) -> &Delays {
        &self.lateness
    }

    /// From when the engine wanted to be called to when it was.
    pub fn loop_lateness(&self) -> &Delays {
        &self.loop_lateness
    }
}

fn time_spec(span: Span) -> TimeSpec {
    TimeSpec::from_duration(std::time::Duration::from_nanos(span.as_nanos()))
}

fn shown_up_to(now: Time) -> Time {
    Time::ZERO + now.saturating_since(Time::ZERO + NOT_SHOWN_YET)
}

/// The kinds of the links of ports, as an engine wants to know them: the WAN's, and those of the LANs in order.
pub fn kinds(ports: &[Port]) -> (crate::LinkKind, Vec<crate::LinkKind>) {
    let wan = ports.iter().find(|port| port.interface() == Interface::Wan);
    let lan = ports.iter().filter(|port| port.interface() != Interface::Wan).map(Port::kind);
    (wan.map_or(crate::LinkKind::Ethernet, Port::kind), lan.collect())
}
