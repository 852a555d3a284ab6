//! Which threads know the door, and what the operating system says they are doing.
//!
//! Virtual time may pass only while nobody is at work: a thread whose call has just returned has to
//! come to its next wait first. Only the operating system knows when that is.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;

/// A thread, by the number the kernel gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadName(u32);

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Somewhere in its own code.
    Outside,
    /// In a call that does not wait.
    Inside,
    /// Waiting in a call.
    Waiting,
}

/// What a thread is to virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It plays the network or lets time pass: others wait for it.
    Driver,
    /// It only makes socket calls.
    Application,
}

/// Whether threads rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Somebody is at work.
    No,
    /// All wait in calls.
    Here,
    /// All wait in calls or sleep in their own code, or looked like it.
    Elsewhere,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    place: Place,
    role: Role,
    /// It ran on for so long that nobody waits for it, until it calls again.
    unruly: bool,
}

/// Every thread that has called.
#[derive(Debug, Default)]
pub(crate) struct Threads(BTreeMap<ThreadName, Known>);

impl ThreadName {
    /// The calling thread.
    pub(crate) fn own() -> ThreadName {
        thread_local! {
            static NAME: Cell<Option<ThreadName>> = const { Cell::new(None) };
        }
        NAME.with(|name| {
            name.get().unwrap_or_else(|| {
                let asked = ThreadName(nix::unistd::gettid().as_raw().unsigned_abs());
                name.set(Some(asked));
                asked
            })
        })
    }

    /// Whether every other thread of the process sleeps, those included that have never called.
    pub(crate) fn all_others_sleep(self) -> bool {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return false };
        let names = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
        names.map(ThreadName).all(|name| name == self || name.runs() != Runs::Yes)
    }

    /// Whether the kernel says that it runs, or would if there were a processor for it.
    fn runs(self) -> Runs {
        // The third field; the second is a name in parentheses that may contain anything.
        let Ok(stat) = fs::read_to_string(format!("/proc/self/task/{}/stat", self.0)) else {
            return Runs::Gone;
        };
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        match state {
            // D: it waits for a page or a disk, and goes on by itself.
            Some('R' | 'D') => Runs::Yes,
            _ => Runs::No,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Yes,
    No,
    Gone,
}

impl Threads {
    /// A thread calls.
    pub(crate) fn enter(&mut self, name: ThreadName, role: Role) {
        let known =
            self.0.entry(name).or_insert(Known { place: Place::Inside, role, unruly: false });
        known.place = Place::Inside;
        known.unruly = false;
        if role == Role::Driver {
            known.role = Role::Driver;
        }
    }

    /// A thread begins to wait, goes on, or returns to its own code.
    pub(crate) fn put(&mut self, name: ThreadName, place: Place) {
        if let Some(known) = self.0.get_mut(&name) {
            known.place = place;
        }
    }

    /// How far every thread but this one rests; `is_answered` says of a waiting one that it may go on
    /// at any moment.
    pub(crate) fn others_rest(
        &mut self,
        me: ThreadName,
        is_answered: impl Fn(ThreadName) -> bool,
    ) -> Rest {
        self.0.retain(|&name, known| {
            name == me || known.place != Place::Outside || name.runs() != Runs::Gone
        });
        let others = self.0.iter().filter(|(name, known)| **name != me && !known.unruly);
        let mut rest = Rest::Here;
        for (&name, known) in others {
            match known.place {
                Place::Waiting if is_answered(name) => return Rest::No,
                Place::Inside => return Rest::No,
                Place::Outside if name.runs() == Runs::Yes => return Rest::No,
                Place::Outside => rest = Rest::Elsewhere,
                Place::Waiting => {}
            }
        }
        rest
    }

    /// Nobody waits any longer for those that do not come to rest.
    pub(crate) fn give_up_on_others(&mut self, me: ThreadName) {
        for (_, known) in self.0.iter_mut().filter(|(name, _)| **name != me) {
            known.unruly = true;
        }
    }

    /// Whether no other thread that could drive is in its own code.
    pub(crate) fn other_drivers_wait(&self, me: ThreadName) -> bool {
        self.0
            .iter()
            .filter(|(name, known)| **name != me && known.role == Role::Driver)
            .all(|(_, known)| known.place == Place::Waiting)
    }
}
