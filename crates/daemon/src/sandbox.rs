//! What a daemon may do: before it begins it gives up what it will not need, so that a mistake in it is not
//! worth much to anybody.
//!
//! - *Capabilities*: those of its [`Needs`], in no set any others.
//! - *No new privileges*: no program of any kind gives any back.
//! - *System calls*: a filter refuses, with EPERM, what leads from one process to others, to programs, to the
//!   kernel's insides or to other sockets than the daemon's. It refuses what is known to be of use to an
//!   intruder rather than all that is not known to be needed: a C library that asks for something new must
//!   not end a daemon. The unit of the package adds systemd's own list of what services need.
//!
//! Not there: rights on files (the unit's business), the x32 calls of x86-64 (the unit refuses them; hardly
//! any kernel has them), filters on processors that `seccompiler` does not know.

use crate::control::Words;
use caps::{CapSet, CapsHashSet};
use nix::sys::prctl::set_no_new_privs;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;

pub use caps::Capability;

/// What a daemon goes on to need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Capabilities, as far as it has them.
    pub capabilities: Vec<Capability>,
    /// Families of its sockets, like `AF_UNIX`.
    pub families: Vec<i32>,
    /// Calls that are its business though they are refused otherwise, like `SYS_bpf`. What only some arguments of
    /// a call are refused for (processes, sockets, code) stays refused.
    pub calls: Vec<i64>,
}

/// What is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confined {
    /// The capabilities, by name.
    pub capabilities: Vec<String>,
    /// Whether system calls are filtered.
    pub filtered: bool,
}

/// Why a daemon could not confine itself.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// What one thread gives up, another one would keep.
    #[error("{0} threads run already, of which only one would be confined")]
    Threads(usize),
    /// Capabilities could not be given up.
    #[error("cannot give up capabilities: {0}")]
    Capabilities(#[from] caps::errors::CapsError),
    /// The filter could not be made or put in.
    #[error("cannot filter system calls: {0}")]
    Filter(#[from] seccompiler::Error),
    /// The filter could not be made.
    #[error("cannot filter system calls: {0}")]
    Rules(#[from] seccompiler::BackendError),
    /// The system says no.
    #[error("cannot confine the {daemon}: {source}")]
    Io {
        /// The daemon's name.
        daemon: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// Gives up what a daemon does not need. To be called before the first thread is begun: threads inherit what
/// is left.
///
/// # Errors
/// Where there are threads already, or the kernel does not let a process confine itself.
pub fn confine(daemon: &Words, needs: &Needs) -> Result<Confined, SandboxError> {
    let failed = |source| SandboxError::Io { daemon: daemon.name, source };
    let threads = std::fs::read_dir("/proc/self/task").map_err(failed)?.count();
    if threads != 1 {
        return Err(SandboxError::Threads(threads));
    }
    confine_thread(daemon, needs)
}

/// Confines this thread and those that it begins, and no other.
///
/// # Errors
/// Where the kernel does not let it confine itself.
pub fn confine_thread(daemon: &Words, needs: &Needs) -> Result<Confined, SandboxError> {
    let capabilities = keep_capabilities(&needs.capabilities)?;
    set_no_new_privs()
        .map_err(|errno| SandboxError::Io { daemon: daemon.name, source: errno.into() })?;
    // One filter has one answer to what it refuses.
    let filtered = match TargetArch::try_from(std::env::consts::ARCH) {
        Ok(arch) => {
            put_in(refused(needs)?, libc::EPERM, arch)?;
            // Its flags lie in memory, where no filter looks. Told that there is no such call, the C library
            // uses clone(), whose flags are looked at.
            put_in(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS, arch)?;
            true
        }
        Err(_) => false,
    };
    Ok(Confined { capabilities, filtered })
}

fn keep_capabilities(needed: &[Capability]) -> Result<Vec<String>, SandboxError> {
    // Nobody can give up more than there is, nor keep what there is not.
    let permitted = caps::read(None, CapSet::Permitted)?;
    let kept = || needed.iter().filter(|one| permitted.contains(one));
    let names = kept().map(ToString::to_string).collect();
    let kept: CapsHashSet = kept().copied().collect();
    if permitted.contains(&Capability::CAP_SETPCAP) {
        for one in caps::all().difference(&kept) {
            // Of a capability that this kernel does not know there is nothing to give up.
            if caps::has_cap(None, CapSet::Bounding, *one)? {
                caps::drop(None, CapSet::Bounding, *one)?;
            }
        }
    }
    caps::clear(None, CapSet::Ambient)?;
    caps::clear(None, CapSet::Inheritable)?;
    caps::set(None, CapSet::Effective, &kept)?;
    caps::set(None, CapSet::Permitted, &kept)?;
    Ok(names)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn put_in(refused: Rules, errno: i32, arch: TargetArch) -> Result<(), SandboxError> {
    let answer = SeccompAction::Errno(errno as u32);
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, answer, arch)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&program)?)
}

/// Calls that are refused whatever they ask for, unless the daemon needs them.
#[rustfmt::skip]
const REFUSED: &[i64] = &[
    // Programs.
    libc::SYS_execve, libc::SYS_execveat,
    // Other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_kcmp,
    libc::SYS_pidfd_getfd, libc::SYS_pidfd_send_signal, libc::SYS_kill, libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
    // Mounts and namespaces.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_move_mount,
    libc::SYS_open_tree, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
    libc::SYS_mount_setattr, libc::SYS_setns, libc::SYS_unshare, libc::SYS_mknodat,
    // The kernel itself, and the machine.
    libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load,
    libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_acct, libc::SYS_quotactl,
    libc::SYS_syslog, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime,
    libc::SYS_adjtimex, libc::SYS_sethostname, libc::SYS_setdomainname,
    // Parts of the kernel that few have a use for and an intruder might.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register, libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl,
    libc::SYS_open_by_handle_at, libc::SYS_name_to_handle_at, libc::SYS_personality, libc::SYS_vhangup,
    // What only older processors still have.
    #[cfg(target_arch = "x86_64")] libc::SYS_fork,
    #[cfg(target_arch = "x86_64")] libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")] libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")] libc::SYS_kexec_file_load,
];

fn refused(needs: &Needs) -> Result<Rules, SandboxError> {
    use SeccompCmpOp::{MaskedEq, Ne};
    // Refused with any arguments.
    let of_use = |call: &&i64| !needs.calls.contains(*call);
    let mut rules: Rules = REFUSED.iter().filter(of_use).map(|call| (*call, vec![])).collect();
    let thread = libc::CLONE_THREAD as u64;
    rules.insert(libc::SYS_clone, vec![when(&[(0, MaskedEq(thread), 0)])?]);
    let others: Vec<_> = needs.families.iter().map(|family| (0, Ne, *family as u64)).collect();
    // Without a condition any socket is refused.
    let others = if others.is_empty() { vec![] } else { vec![when(&others)?] };
    rules.insert(libc::SYS_socket, others);
    // Nothing that was written becomes a program.
    let exec = libc::PROT_EXEC as u64;
    for call in [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_pkey_mprotect] {
        rules.insert(call, vec![when(&[(2, MaskedEq(exec), exec)])?]);
    }
    Ok(rules)
}

/// Where all of these hold: the number of an argument, how it compares, with what.
fn when(all: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, SandboxError> {
    let conditions = all.iter().map(|(argument, comparison, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)
    });
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

#[cfg(test)]
mod tests;
