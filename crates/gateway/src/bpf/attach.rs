//! A program at an interface. By TCX (Linux 6.6) it goes with the process; by clsact and cls_bpf it would stay
//! after a crash, so the journal knows of it first.

use super::sys::Program;
use crate::journal::{Change, Journal, Made};
use crate::netlink::{Filter, Netlink};
use nix::errno::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// How programs are to be attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttachBy {
    /// By TCX where the kernel has it, otherwise by clsact.
    #[default]
    Best,
    /// By TCX only.
    Tcx,
    /// By a filter of a clsact qdisc.
    Clsact,
}

/// How a program is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// By TCX: it goes with the process, however that ends.
    Tcx,
    /// By a filter of a clsact qdisc, which the journal undoes after a crash.
    Clsact,
}

/// Where a program sees packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// As they come in.
    Ingress,
    /// As they leave.
    Egress,
}

impl Point {
    fn tcx(self) -> u32 {
        match self {
            Point::Ingress => 46,
            Point::Egress => 47,
        }
    }
}

/// A program that is attached, until this is dropped.
#[derive(Debug)]
pub(crate) struct Attachment(How);

#[derive(Debug)]
enum How {
    /// The link is detached with its descriptor.
    Tcx {
        _link: OwnedFd,
    },
    Clsact {
        _filter: Clsact,
    },
}

impl Attachment {
    /// # Errors
    /// Without CAP_NET_ADMIN, without the interface, and where the kernel has neither (or not what was asked
    /// for).
    pub(crate) fn new(
        program: &Program,
        (index, point): (u32, Point),
        by: AttachBy,
        journal: &Arc<Journal>,
    ) -> io::Result<Attachment> {
        let how = match by {
            AttachBy::Clsact => {
                How::Clsact { _filter: Clsact::new(program, (index, point), journal)? }
            }
            AttachBy::Tcx => return Attachment::by_tcx(program, (index, point)),
            AttachBy::Best => match program.attach_by_tcx(index, point.tcx()) {
                Ok(link) => How::Tcx { _link: link },
                // No such command, no such way of attaching.
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => {
                    How::Clsact { _filter: Clsact::new(program, (index, point), journal)? }
                }
                Err(errno) => return Err(errno.into()),
            },
        };
        Ok(Attachment(how))
    }

    /// By TCX, where nothing else is of interest.
    pub(crate) fn by_tcx(
        program: &Program,
        (index, point): (u32, Point),
    ) -> io::Result<Attachment> {
        let link = program.attach_by_tcx(index, point.tcx())?;
        Ok(Attachment(How::Tcx { _link: link }))
    }

    pub(crate) fn attached(&self) -> Attached {
        match self.0 {
            How::Tcx { .. } => Attached::Tcx,
            How::Clsact { .. } => Attached::Clsact,
        }
    }
}

/// A filter of a clsact qdisc.
#[derive(Debug)]
struct Clsact {
    changes: Vec<Made>,
    journal: Arc<Journal>,
}

impl Clsact {
    fn new(
        program: &Program,
        (index, point): (u32, Point),
        journal: &Arc<Journal>,
    ) -> io::Result<Clsact> {
        let mut netlink = Netlink::open()?;
        let mut clsact = Clsact { changes: Vec::new(), journal: Arc::clone(journal) };
        if !netlink.has_clsact(index)? {
            clsact.make(Change::Qdisc { interface: index }, || netlink.add_clsact(index))?;
        }
        let is_egress = point == Point::Egress;
        let filter = Filter {
            interface: index,
            is_egress,
            priority: netlink.free_priority(index, is_egress)?,
            program: program.name().to_owned(),
        };
        let change = Change::Filter(filter.clone());
        clsact.make(change, || netlink.add_filter(&filter, program.descriptor()))?;
        Ok(clsact)
    }

    /// Makes a change of which the journal knows before.
    fn make(&mut self, change: Change, how: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let made = Made::now(change)?;
        self.journal.make(&made, how)?;
        self.changes.push(made);
        Ok(())
    }
}

impl Drop for Clsact {
    fn drop(&mut self) {
        while let Some(made) = self.changes.pop() {
            // What cannot be undone now stays in the journal for the next start.
            if clsact_undo(&made.change).is_ok() {
                let _ = self.journal.undone(&made);
            }
        }
    }
}

/// Undoes a change, if what it made is there and still as it was made.
///
/// # Errors
/// Where the kernel refuses, and it may be there.
pub(crate) fn clsact_undo(change: &Change) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    match change {
        Change::Qdisc { interface } => {
            // Others may have come to use it.
            if !netlink.has_clsact(*interface)? || netlink.has_filters(*interface)? {
                return Ok(());
            }
            gone_is_fine(netlink.remove_clsact(*interface))
        }
        Change::Filter(filter) => match netlink.is_there(filter)? {
            true => gone_is_fine(netlink.remove_filter(filter)),
            false => Ok(()),
        },
    }
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENOENT | libc::EINVAL)) =>
        {
            Ok(())
        }
        other => other,
    }
}
