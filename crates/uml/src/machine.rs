//! One kernel at work: its process, its clock, its network card.
//!
//! | file | what |
//! | --- | --- |
//! | `machine.rs` | [`Machine`]: what it is made of, and its turns |
//! | `machine/process.rs` | the process: what it is given of this machine, and its end |
//! | `machine/time_link.rs` | the conversation about time |
//! | `machine/shared_time.rs` | the page of memory for it, of kernels since 6.12 |
//! | `machine/card.rs` | the network card |
//!
//! The kernel is a process of ordinary rights. It computes in no time: its clock stands while it
//! works and jumps when it waits, but for 256 ns at every look at the clock, without which a loop
//! that waits for time to pass would never end.

mod card;
mod process;
mod shared_time;
mod time_link;

use crate::chance;
use card::Card;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use process::Process;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use time_link::{Said, TimeLink};

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct MachineSetup {
    /// The kernel's binary.
    pub kernel: PathBuf,
    /// Its files: an archive made by [`initramfs`](crate::initramfs).
    pub files: Vec<u8>,
    /// Memory, in MiB.
    pub memory_mib: u32,
    /// Bytes of IP packet that its link takes.
    pub mtu: u16,
    /// Its network card's address.
    pub hardware_address: [u8; 6],
}

/// Why a machine does not go on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The kernel could not be started.
    #[error("cannot start the kernel {}", .kernel.display())]
    Start {
        /// Its binary.
        kernel: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel has ended.
    #[error("the kernel ended ({how}); the last it said:\n{console}")]
    Ended {
        /// With which exit code, or by which signal.
        how: String,
        /// The end of its console.
        console: String,
    },
    /// It has used up its memory.
    #[error(
        "the kernel has used up its {memory_mib} MiB of memory, which programs and the files that \
         they write share"
    )]
    OutOfMemory {
        /// What it had, in MiB.
        memory_mib: u32,
    },
    /// It computes and computes, and its time does not go on.
    #[error(
        "the kernel has been computing for {seconds} s and its time does not go on: a program on it \
         that looks at the clock again and again, or waits without sleeping, never gets anywhere \
         in simulated time; the last it said:\n{console}"
    )]
    Stuck {
        /// For how long, in real time.
        seconds: u16,
        /// The end of its console.
        console: String,
    },
    /// It says what nobody understands.
    #[error("the kernel does not keep to the protocol: {0}")]
    Protocol(String),
    /// It has closed a connection.
    #[error("the kernel is gone")]
    Gone,
    /// The system did not let us.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<Errno> for MachineError {
    fn from(errno: Errno) -> MachineError {
        MachineError::System(errno.into())
    }
}

/// A kernel at work.
pub struct Machine {
    process: Process,
    link: TimeLink,
    card: Option<Card>,
    /// Where the kernel connects its card; until it has.
    card_listener: UnixListener,
    hardware_address: [u8; 6],
    mtu: u16,
    /// Frames that are to reach the kernel now.
    arriving: VecDeque<Vec<u8>>,
    /// Up to when it was last free to run: it may be as late there.
    granted: u64,
    /// How often in a row it has said nothing in time.
    silent_for: u32,
    /// Whether it has run since its line was read.
    has_run: bool,
}

/// A kernel that computes so long without a word is given up.
const MOST_SECONDS: u16 = 60;
/// How long to wait before what is rarely there is looked at: a question of the card, the kernel's end.
const LOOK_MS: u8 = 20;
/// How often that may be.
const MOST_LOOKS: u32 = MOST_SECONDS as u32 * 1000 / LOOK_MS as u32;

impl Machine {
    /// Starts the kernel and lets it come to its first wait, at time zero.
    ///
    /// # Errors
    /// If it cannot be started or does not come so far.
    pub(crate) fn start(setup: &MachineSetup) -> Result<Machine, MachineError> {
        let (process, sockets) = Process::start(setup)?;
        let started =
            (|| TimeLink::greet(sockets.accept_time(&process)?, chance::FIRST_NANOSECOND))();
        let link = match started {
            Ok(link) => link,
            Err(error) => return Err(process.why(error)),
        };
        let mut machine = Machine {
            process,
            link,
            card: None,
            card_listener: sockets.card,
            hardware_address: setup.hardware_address,
            mtu: setup.mtu,
            arriving: VecDeque::new(),
            granted: 0,
            silent_for: 0,
            has_run: true,
        };
        machine.turn()?;
        Ok(machine)
    }

    /// When it wants to run; to be asked while it waits.
    pub(crate) fn request(&self) -> u64 {
        self.link.request().unwrap_or(u64::MAX)
    }

    /// What time it has reached.
    pub fn now(&mut self) -> u64 {
        self.link.now()
    }

    /// Lets it run from `now` on, and by itself up to `free_until`, until it waits.
    pub(crate) fn run(&mut self, now: u64, free_until: u64) -> Result<(), MachineError> {
        self.granted = free_until;
        self.link.run(now, free_until).map_err(|error| self.process.why(error))?;
        self.turn()
    }

    /// The next frame that it has sent and that nobody has taken.
    pub(crate) fn take_sent(&mut self) -> Option<Vec<u8>> {
        self.card.as_mut()?.sent().pop_front()
    }

    /// Whether there are any.
    pub(crate) fn has_sent(&self) -> bool {
        self.card.as_ref().is_some_and(Card::has_sent)
    }

    /// A frame reaches it now, or as soon as it waits.
    pub(crate) fn arrive(&mut self, frame: Vec<u8>) {
        self.arriving.push_back(frame);
    }

    /// Whether a frame is still to reach it.
    pub(crate) fn is_arriving(&self) -> bool {
        !self.arriving.is_empty()
    }

    /// While it waits: what has arrived reaches it, at `now`, or where it is a little later there
    /// already, then.
    pub(crate) fn take_arrivals(&mut self, now: u64) -> Result<(), MachineError> {
        let there = self.granted.min(self.request());
        let Machine { process, link, card, arriving, .. } = self;
        link.set_now(now.max(there));
        let Some(card) = card else {
            arriving.clear();
            return Ok(());
        };
        let mut interrupt = || -> Result<(), MachineError> {
            let mut wanted = false;
            for frame in arriving.drain(..) {
                wanted |= card.receive_frame(&frame)?;
            }
            if !wanted {
                return Ok(());
            }
            card.interrupt()?;
            // An older kernel asks for the time before it answers.
            while !answered(process, link, card)? {
                link.handle_message()?;
            }
            card.interrupt_answered()
        };
        interrupt().map_err(|error| process.why(error))
    }

    /// Frames that were lost, since it had no room for them.
    pub fn refused(&self) -> u64 {
        self.card.as_ref().map_or(0, Card::refused)
    }

    /// What it has written on its serial line since the last call.
    ///
    /// # Errors
    /// What the system answers.
    pub fn read_line(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        match std::mem::take(&mut self.has_run) {
            true => self.process.read_line(into),
            false => Ok(0),
        }
    }

    /// What it has written on its console.
    pub fn console(&self) -> String {
        self.process.console()
    }

    /// Hears what it says until it waits; what it has sent by then is there.
    fn turn(&mut self) -> Result<(), MachineError> {
        self.has_run = true;
        let mut hear = || {
            while self.hear()? != Some(Said::Waits) {}
            self.card.as_mut().map_or(Ok(()), Card::take_sent)
        };
        hear().map_err(|error| self.process.why(error))
    }

    /// What it says of time next, if that is what it says.
    fn hear(&mut self) -> Result<Option<Said>, MachineError> {
        let Machine { process, link, card, card_listener, .. } = self;
        // What a card that is set up says is nothing that anybody waits for, as a rule: to be woken
        // for it would cost two changes of who runs.
        let patience = match card {
            Some(card) if card.is_set_up() => PollTimeout::from(LOOK_MS),
            _ => PollTimeout::from(MOST_SECONDS * 1000),
        };
        let second = card.as_ref().filter(|card| !card.is_set_up());
        let second = second.map_or(card_listener.as_fd(), Card::as_fd);
        let found = ready([link.as_fd(), second], patience)?;
        if found.is_none() {
            self.silent_for += 1;
        }
        match (found, &mut *card) {
            (Some([true, _]), _) => {
                self.silent_for = 0;
                return Ok(Some(link.handle_message()?));
            }
            (Some([_, true]), None) => {
                let (socket, _) = card_listener.accept()?;
                *card = Some(Card::new(socket, self.hardware_address, self.mtu)?);
                // The last thing that it connects.
                process.forget_folder();
            }
            (_, Some(card)) => card.handle_messages()?,
            (_, None) => {}
        }
        if self.silent_for >= MOST_LOOKS {
            let console = process.console_end();
            return Err(MachineError::Stuck { seconds: MOST_SECONDS, console });
        }
        Ok(None)
    }
}

/// Waits for an answer to an interrupt; false if the kernel has said something about time first.
fn answered(process: &Process, link: &TimeLink, card: &Card) -> Result<bool, MachineError> {
    let Some(interrupts) = card.interrupts() else { return Ok(true) };
    let patience = PollTimeout::from(MOST_SECONDS * 1000);
    match ready([link.as_fd(), interrupts.as_fd()], patience)? {
        Some([_, answer]) => Ok(answer),
        None => Err(MachineError::Stuck { seconds: MOST_SECONDS, console: process.console_end() }),
    }
}

/// Waits until one of two descriptors is readable; nothing if neither is in time.
fn ready(
    descriptors: [BorrowedFd<'_>; 2],
    patience: PollTimeout,
) -> Result<Option<[bool; 2]>, MachineError> {
    let mut both = descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
    match poll(&mut both, patience) {
        Ok(0) => return Ok(None),
        Err(Errno::EINTR) => return Ok(Some([false, false])),
        other => other?,
    };
    Ok(Some(both.map(|one| one.revents().is_some_and(|found| !found.is_empty()))))
}
