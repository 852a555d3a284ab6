//! What is removed from the path: duplicate acknowledgments, by a program in the kernel at each LAN interface,
//! and only where a box asks for it.

use crate::bpf::{AttachBy, Covered, Suppressor};
use crate::{Cover, Interface, Journal, Port};
use ackord_units::{Span, Time};
use std::sync::Arc;

/// Connections at once whose acknowledgments a program may be told to remove.
const CAPACITY: u32 = 4_096;
/// After a failure it is tried again in so long.
const RETRY: Span = Span::from_secs(10);

/// The programs that remove.
#[derive(Debug)]
pub struct Removal {
    journal: Arc<Journal>,
    by: AttachBy,
    /// One for each LAN interface by its number, with the number of the interface it was attached to.
    at: Vec<Option<(u32, Suppressor)>>,
    removed_before: u64,
    trouble: Option<String>,
    retry_at: Time,
}

impl Removal {
    /// Nothing is attached yet: see [`Removal::follow`].
    pub fn new(journal: Arc<Journal>, by: AttachBy) -> Removal {
        let (at, retry_at) = (Vec::new(), Time::ZERO);
        Removal { journal, by, at, removed_before: 0, trouble: None, retry_at }
    }

    /// How often [`Removal::beat`] has to be called.
    pub const BEAT_EVERY: Span = Suppressor::BEAT_EVERY;

    /// Sees to it that a program is at each LAN interface that is there.
    pub fn follow(&mut self, now: Time, ports: &[Port]) {
        for port in ports {
            let Interface::Lan(which) = port.interface() else { continue };
            let which = usize::from(which);
            if self.at.len() <= which {
                self.at.resize_with(which + 1, || None);
            }
            let is = self.at[which].as_ref().map(|(index, _)| *index);
            if is == port.index() {
                continue;
            }
            if let Some((_, gone)) = self.at[which].take() {
                self.removed_before += gone.removed();
            }
            let Some(index) = port.index().filter(|_| now >= self.retry_at) else { continue };
            match Suppressor::open((index, port.kind()), CAPACITY, self.by, &self.journal) {
                Ok(new) => {
                    self.at[which] = Some((index, new));
                    self.trouble = None;
                }
                Err(error) => {
                    self.trouble = Some(format!("{}: {error}", port.name()));
                    self.retry_at = now + RETRY;
                }
            }
        }
    }

    /// A sign of life.
    pub fn beat(&self) {
        self.at.iter().flatten().for_each(|(_, program)| program.beat());
    }

    /// Takes word.
    pub fn tell(&self, now: Time, cover: &Cover) {
        for (_, program) in self.at.iter().flatten() {
            // A full table lets the packets pass: the sender is on its own then.
            let _ = match *cover {
                Cover::On { connection, from, to, until } => {
                    let lasting = until.saturating_since(now);
                    program.cover(connection, Covered { from, to, lasting })
                }
                Cover::Off { connection } => program.uncover(connection),
            };
        }
    }

    /// Packets removed so far.
    pub fn removed(&self) -> u64 {
        let now: u64 = self.at.iter().flatten().map(|(_, program)| program.removed()).sum();
        self.removed_before + now
    }

    /// Why something is not removed that should be.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}
