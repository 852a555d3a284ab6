//! The programs, loaded and attached.
//!
//! They live as long as [`Programs`] does: when the process ends, however it ends, the kernel takes them away with
//! its descriptors. Nothing is pinned.

use super::layout::{Counts, Raw, RawBudget, RawClass, RawOrder, RawOwner, RawReport, RawSettings};
use super::{refused, rights};
use crate::names::owners::Owner;
use crate::names::program;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, Link, MapCore, MapFlags, OpenObject, RingBuffer, RingBufferBuilder};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::cell::RefCell;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::time::Duration;

#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::disallowed_methods,
    reason = "written by libbpf-cargo"
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/agent.skel.rs"));
}

use skeleton::{AgentSkel, AgentSkelBuilder};

/// Why the kernel does not do what the agent wants.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The programs could not be loaded.
    #[error(
        "the kernel does not take the agent's programs: {reason}{source}{advice}",
        advice = rights::advice()
    )]
    Load {
        /// Which program, and the verifier's reason, if libbpf has printed one.
        reason: String,
        /// The error.
        source: libbpf_rs::Error,
    },
    /// A program could not be attached.
    #[error("the kernel does not attach `{program}`: {source}{advice}", advice = rights::advice())]
    Attach {
        /// Which.
        program: &'static str,
        /// Why not.
        source: libbpf_rs::Error,
    },
    /// A map could not be read or written.
    #[error("the kernel does not take what is told to the agent's programs: {0}")]
    Map(libbpf_rs::Error),
    /// It cannot be waited for reports.
    #[error("cannot wait for what the agent's programs tell: {0}")]
    Wait(Errno),
    /// A pass over the sockets could not be made.
    #[error("cannot go through the sockets of this network namespace: {0}")]
    Pass(std::io::Error),
}

/// A pass over all TCP sockets of the network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Connections of control groups that were named before are followed from now on.
    Adopt,
    /// Sockets get back what an agent changed.
    Clean,
    /// Sockets of processes that were named before are theirs from now on.
    Own,
    /// Sockets that were named before get back what was done about Nagle's algorithm.
    Back,
    /// Connections lose their settings for a turn of the whole host without any.
    Hold,
    /// That turn is over.
    Give,
    /// Nothing is done: whether it could be.
    Look,
}

/// What a pass came to.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Connections adopted, or levers put back.
    pub count: u64,
    /// The connections that were adopted, or opened during a turn without settings and have got theirs.
    pub adopted: Vec<RawReport>,
}

/// The programs at a control group, as long as this lives. Sockets keep what they have.
#[derive(Debug)]
pub struct Attached {
    _links: Vec<Link>,
    /// The program that observes arriving packets, which is called for each of them.
    arrivals: Option<Link>,
}

/// The programs.
pub struct Programs {
    ring: RingBuffer<'static>,
    /// Says when the programs wake it, and only then: libbpf's own waits for nothing as long as anything is there.
    woken: Epoll,
    heard: Rc<RefCell<Vec<RawReport>>>,
    skeleton: AgentSkel<'static>,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

/// What tells of a descriptor once for each time that it is said to be ready.
fn edge(descriptor: BorrowedFd<'_>) -> Result<Epoll, Errno> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0))?;
    Ok(epoll)
}

impl Programs {
    /// Loads them; nothing is attached yet.
    ///
    /// # Errors
    /// Without CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, or where the kernel is too old or has no BTF.
    pub fn load() -> Result<Programs, KernelError> {
        refused::listen();
        // A process loads them once or, in tests, a few times: so little is never given back.
        let place: &'static mut MaybeUninit<OpenObject> =
            Box::leak(Box::new(MaybeUninit::uninit()));
        let failed = |source| KernelError::Load { reason: refused::reason(), source };
        let mut open = AgentSkelBuilder::default().open(place).map_err(failed)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            rodata.CONFIG_HZ = crate::probe::jiffies_per_second();
        }
        let mut skeleton = open.load().map_err(failed)?;
        if let Some(bss) = skeleton.maps.bss_data.as_mut() {
            for (place, (name, mask)) in bss.interpreters.iter_mut().zip(program::prefixes()) {
                (place.name, place.mask) = (name, mask);
            }
        }
        let heard: Rc<RefCell<Vec<RawReport>>> = Rc::default();
        let mut ring = RingBufferBuilder::new();
        let to = Rc::clone(&heard);
        ring.add(&skeleton.maps.reports, move |bytes: &[u8]| {
            to.borrow_mut().extend(RawReport::read(bytes));
            0
        })
        .map_err(KernelError::Map)?;
        let ring = ring.build().map_err(KernelError::Map)?;
        let woken = edge(skeleton.maps.reports.as_fd()).map_err(KernelError::Wait)?;
        Ok(Programs { ring, woken, heard, skeleton })
    }

    /// Attaches them to a control group (version 2), for it and all below it.
    ///
    /// # Errors
    /// Where it is of version 1, or another program does not share the hook.
    pub fn attach(&self, cgroup: BorrowedFd<'_>) -> Result<Attached, KernelError> {
        let fd = cgroup.as_raw_fd();
        let programs = &self.skeleton.progs;
        let mut links = Vec::new();
        for (program, one) in [("chosen", &programs.chosen), ("told", &programs.told)] {
            let link = one.attach_cgroup(fd);
            links.push(link.map_err(|source| KernelError::Attach { program, source })?);
        }
        let mut attached = Attached { _links: links, arrivals: None };
        self.observe_arrivals(&mut attached, cgroup, true)?;
        Ok(attached)
    }

    /// Attaches or detaches the program that observes arriving packets. Others stay.
    ///
    /// # Errors
    /// As for [`Programs::attach`].
    pub fn observe_arrivals(
        &self,
        attached: &mut Attached,
        cgroup: BorrowedFd<'_>,
        is_wanted: bool,
    ) -> Result<(), KernelError> {
        if is_wanted != attached.arrivals.is_some() {
            let attach = || self.skeleton.progs.arrived.attach_cgroup(cgroup.as_raw_fd());
            let link = is_wanted.then(attach).transpose();
            let failed = |source| KernelError::Attach { program: "arrived", source };
            attached.arrivals = link.map_err(failed)?;
        }
        Ok(())
    }

    /// Returns whether a connection older than the shortest stall had a packet since the last call.
    pub fn take_old_seen(&mut self) -> bool {
        let bss = self.skeleton.maps.bss_data.as_mut();
        bss.is_some_and(|bss| std::mem::take(&mut bss.is_old_seen) != 0)
    }

    /// From now on this holds.
    pub fn set(&mut self, settings: RawSettings) {
        let Some(bss) = self.skeleton.maps.bss_data.as_mut() else { return };
        bss.settings.mark = settings.mark;
        bss.settings.report_every_us = settings.report_every_us;
        bss.settings.delack_stock_us = settings.delack_stock_us;
        bss.settings.by = settings.by;
        bss.settings.pass = settings.pass;
        bss.settings.own_pid = settings.own_pid;
        bss.settings.control_per_mille = settings.control_per_mille;
        bss.settings.nodelay_held = settings.nodelay_held;
        bss.settings.untreated = settings.untreated;
    }

    /// What they have counted.
    pub fn counts(&self) -> Counts {
        self.skeleton.maps.bss_data.as_ref().map_or_else(Counts::default, |bss| Counts {
            reports_lost: bss.counts.reports_lost,
            refused: bss.counts.refused,
            followed: bss.counts.followed,
            cleaned: bss.counts.cleaned,
            owned: bss.counts.owned,
        })
    }

    /// The reports that have come, the oldest first, once this time is over, or earlier where the programs cannot wait.
    ///
    /// # Errors
    /// Where the kernel refuses to wait.
    pub fn reports(&self, wait: Duration) -> Result<Vec<RawReport>, KernelError> {
        let wait = EpollTimeout::try_from(wait).unwrap_or(EpollTimeout::ZERO);
        match self.woken.wait(&mut [EpollEvent::empty()], wait) {
            Err(error) if error != Errno::EINTR => return Err(KernelError::Wait(error)),
            _ => {}
        }
        self.ring.consume().map_err(KernelError::Map)?;
        Ok(std::mem::take(&mut *self.heard.borrow_mut()))
    }

    /// What is done for the connections of a class from now on.
    ///
    /// # Errors
    /// Where there is no such class.
    pub fn set_class(&self, class: u16, what: RawClass) -> Result<(), KernelError> {
        self.skeleton
            .maps
            .classes
            .update(&u32::from(class).to_ne_bytes(), what.bytes(), MapFlags::ANY)
            .map_err(KernelError::Map)
    }

    /// Returns how many connections of a class were not followed.
    pub fn passed_over(&self, class: u16) -> u64 {
        let key = u32::from(class).to_ne_bytes();
        let read = self.skeleton.maps.budgets.lookup_percpu(&key, MapFlags::ANY);
        let each = read.ok().flatten().into_iter().flatten();
        each.filter_map(|bytes| RawBudget::read(&bytes)).map(|one| one.passed_over).sum()
    }

    /// Which class an application belongs to.
    ///
    /// # Errors
    /// Where there are too many.
    pub fn set_application(&self, application: u64, class: u16) -> Result<(), KernelError> {
        self.skeleton
            .maps
            .applications
            .update(&application.to_ne_bytes(), &class.to_ne_bytes(), MapFlags::ANY)
            .map_err(KernelError::Map)
    }

    /// What is done for a connection from now on.
    ///
    /// # Errors
    /// None that such a map knows of.
    pub fn order(&self, cookie: u64, order: RawOrder) -> Result<(), KernelError> {
        self.skeleton
            .maps
            .orders
            .update(&cookie.to_ne_bytes(), order.bytes(), MapFlags::ANY)
            .map_err(KernelError::Map)
    }

    /// Control groups whose connections a pass adopts.
    ///
    /// # Errors
    /// Where there are too many.
    pub fn adopt_of(&self, cgroups: &[u64]) -> Result<(), KernelError> {
        self.remember(&self.skeleton.maps.adopted, cgroups)
    }

    /// Sockets, by cookie, of which a journal says that Nagle's algorithm was switched off by an agent.
    ///
    /// # Errors
    /// Where there are too many.
    pub fn nodelay_was_ours(&self, cookies: &[u64]) -> Result<(), KernelError> {
        self.remember(&self.skeleton.maps.journaled, cookies)
    }

    /// Sockets, by cookie, of which a journal says so no more.
    ///
    /// # Errors
    /// None that such a map knows of.
    pub fn forget_nodelay(&self, cookies: &[u64]) -> Result<(), KernelError> {
        let map = &self.skeleton.maps.journaled;
        cookies.iter().try_for_each(|one| map.delete(&one.to_ne_bytes())).map_err(KernelError::Map)
    }

    /// Assigns sockets of this network namespace, by inode, to their processes. Returns to how many.
    ///
    /// # Errors
    /// Without CAP_PERFMON, or where there are too many.
    pub(crate) fn own<'a>(
        &mut self,
        owners: impl Iterator<Item = (&'a u64, &'a Owner)> + Clone,
        settings: RawSettings,
    ) -> Result<u64, KernelError> {
        let map = &self.skeleton.maps.owners;
        for (inode, owner) in owners.clone() {
            let raw = RawOwner { program: owner.program, pid: owner.pid, unused: 0 };
            map.update(&inode.to_ne_bytes(), raw.bytes(), MapFlags::ANY)
                .map_err(KernelError::Map)?;
        }
        let passed = self.pass(Pass::Own, settings)?;
        // Numbers of inodes are used again.
        let map = &self.skeleton.maps.owners;
        for (inode, _) in owners {
            map.delete(&inode.to_ne_bytes()).map_err(KernelError::Map)?;
        }
        Ok(passed.count)
    }

    fn remember(&self, map: &impl MapCore, keys: &[u64]) -> Result<(), KernelError> {
        keys.iter()
            .try_for_each(|key| map.update(&key.to_ne_bytes(), &[1], MapFlags::ANY))
            .map_err(KernelError::Map)
    }

    /// Goes through the sockets of this network namespace.
    ///
    /// # Errors
    /// Without CAP_PERFMON or BTF.
    pub fn pass(&mut self, pass: Pass, settings: RawSettings) -> Result<Passed, KernelError> {
        let number = |counts: Counts| match pass {
            Pass::Adopt => counts.followed,
            Pass::Own => counts.owned,
            Pass::Clean | Pass::Back | Pass::Hold | Pass::Give | Pass::Look => counts.cleaned,
        };
        let before = number(self.counts());
        let raw = match pass {
            Pass::Adopt => 1,
            Pass::Clean => 2,
            Pass::Own => 3,
            Pass::Back => 4,
            Pass::Hold => 5,
            Pass::Give => 6,
            Pass::Look => 0,
        };
        self.set(RawSettings { pass: raw, ..settings });
        let failed = |source| KernelError::Attach { program: "each", source };
        let link = self.skeleton.progs.each.attach().map_err(failed)?;
        let mut iterator = Iter::new(&link).map_err(failed)?;
        // Reading is what drives it.
        let mut said = Vec::new();
        iterator.read_to_end(&mut said).map_err(KernelError::Pass)?;
        self.set(RawSettings { pass: 0, ..settings });
        let adopted =
            said.chunks_exact(size_of::<RawReport>()).filter_map(RawReport::read).collect();
        Ok(Passed { count: number(self.counts()).saturating_sub(before), adopted })
    }

    /// What to wait for.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.reports.as_fd()
    }
}
