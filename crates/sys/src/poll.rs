//! Waiting for any of several descriptors or a deadline, to the nanosecond, over and over.
//!
//! The set is put together once and used for every wait, since an emulator waits a hundred thousand
//! times a second. Few descriptors are asked one by one; many (a scenario of a hundred pairs of hosts has
//! four hundred) through an epoll descriptor that stands for all of them, since to ask four hundred takes
//! longer than to forward a packet. The wait itself is ppoll's either way: its timeout is in nanoseconds
//! on every kernel.

#![allow(unsafe_code, reason = "nix's poll wants its descriptors borrowed anew for every call")]

use ackord_units::Span;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Descriptors to wait for.
pub struct PollSet {
    entries: Vec<libc::pollfd>,
    /// Has them all too; nothing where one could not be added, or there is none.
    epoll: Option<Epoll>,
    /// Those that the last wait found there.
    found: Vec<usize>,
}

/// More than this are many.
const FEW: usize = 32;
/// As many of many are found by one wait.
const MOST_FOUND: usize = 64;

impl Default for PollSet {
    fn default() -> PollSet {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).ok();
        PollSet { entries: Vec::new(), epoll, found: Vec::new() }
    }
}

impl PollSet {
    /// Adds a descriptor, which has to stay open; the answer is its number in the set.
    pub fn add(&mut self, descriptor: BorrowedFd<'_>) -> usize {
        let number = self.entries.len();
        let event = EpollEvent::new(EpollFlags::EPOLLIN, number as u64);
        self.epoll = self.epoll.take().filter(|epoll| epoll.add(descriptor, event).is_ok());
        self.entries.push(pollfd(descriptor.as_raw_fd()));
        number
    }

    /// Waits until one is ready or `timeout` is over; a timeout of zero only looks.
    pub fn wait(&mut self, timeout: Span) -> Result<(), Errno> {
        match &self.epoll {
            Some(epoll) if self.entries.len() > FEW => {
                for number in self.found.drain(..) {
                    self.entries[number].revents = 0;
                }
                let mut all = [pollfd(epoll.0.as_raw_fd())];
                if ppoll(&mut all, timeout)? == 0 {
                    return Ok(());
                }
                let mut events = [EpollEvent::empty(); MOST_FOUND];
                let found = epoll.wait(&mut events, EpollTimeout::ZERO)?;
                for event in &events[..found] {
                    let number = event.data() as usize;
                    self.entries[number].revents = libc::POLLIN;
                    self.found.push(number);
                }
            }
            _ => {
                if ppoll(&mut self.entries, timeout)? == 0 {
                    self.mark_all(0);
                }
            }
        }
        Ok(())
    }

    /// Whether this one was ready at the last wait.
    pub fn is_ready(&self, number: usize) -> bool {
        self.entries[number].revents != 0
    }

    /// Whether any was.
    pub fn any_is_ready(&self) -> bool {
        self.entries.iter().any(|entry| entry.revents != 0)
    }

    /// Takes every one for ready, as where time does not pass by itself.
    pub fn take_all_for_ready(&mut self) {
        self.mark_all(libc::POLLIN);
    }

    fn mark_all(&mut self, revents: libc::c_short) {
        for entry in &mut self.entries {
            entry.revents = revents;
        }
    }
}

fn pollfd(fd: libc::c_int) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// How many of these are ready, at the latest after `timeout`.
fn ppoll(entries: &mut [libc::pollfd], timeout: Span) -> Result<usize, Errno> {
    let nanos = timeout.as_nanos();
    let timeout = libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    let count = entries.len() as libc::nfds_t;
    // SAFETY: the entries and the timeout live through the call, and no signal mask is given.
    let found =
        unsafe { libc::ppoll(entries.as_mut_ptr(), count, &raw const timeout, std::ptr::null()) };
    match Errno::result(found) {
        Ok(found) => Ok(found as usize),
        // A signal is nobody's deadline: the caller looks at the clock and comes back.
        Err(Errno::EINTR) => Ok(0),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::eventfd::EventFd;
    use std::os::fd::AsFd;

    #[test]
    fn only_what_is_ready_is_ready_and_a_look_does_not_wait_with_few_and_with_many() {
        for others in [0, FEW, 3 * MOST_FOUND] {
            let quiet: Vec<EventFd> =
                (0..=others).map(|_| EventFd::new().expect("an eventfd")).collect();
            let loud = EventFd::new().expect("another");
            let mut set = PollSet::default();
            let quiet: Vec<usize> = quiet.iter().map(|event| set.add(event.as_fd())).collect();
            let number = set.add(loud.as_fd());
            set.wait(Span::ZERO).expect("it looks");
            assert!(!set.any_is_ready(), "{others}");
            loud.write(1).expect("written");
            for _ in 0..2 {
                set.wait(Span::from_secs(60)).expect("it is ready at once");
                assert!(set.is_ready(number) && set.any_is_ready(), "{others}");
                assert!(quiet.iter().all(|number| !set.is_ready(*number)), "{others}");
            }
            loud.read().expect("read");
            set.wait(Span::from_micros(1)).expect("it waits");
            assert!(!set.is_ready(number) && !set.any_is_ready(), "{others}");
            set.take_all_for_ready();
            assert!(set.is_ready(0));
        }
    }

    #[test]
    fn more_than_one_wait_finds_are_found_by_the_next_ones() {
        let events: Vec<EventFd> =
            (0..2 * MOST_FOUND + 5).map(|_| EventFd::from_value(1).expect("an eventfd")).collect();
        let mut set = PollSet::default();
        let numbers: Vec<usize> = events.iter().map(|event| set.add(event.as_fd())).collect();
        let mut seen = vec![false; events.len()];
        for _ in 0..6 {
            set.wait(Span::ZERO).expect("it looks");
            for number in &numbers {
                seen[*number] |= set.is_ready(*number);
            }
        }
        assert!(seen.iter().all(|seen| *seen), "every one had its turn");
    }
}
