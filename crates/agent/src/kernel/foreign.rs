//! Programs of others at the hooks of the agent.

use libbpf_rs::libbpf_sys::{
    BPF_CGROUP_SETSOCKOPT, BPF_CGROUP_SOCK_OPS, BPF_F_QUERY_EFFECTIVE, bpf_attach_type,
    bpf_prog_query,
};
use libbpf_rs::query::{ProgInfoIter, ProgramInfo};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// More programs at a hook than there can be (BPF_CGROUP_MAX_PROGS).
const MOST: usize = 64;

/// The programs, by name or number, that see the sockets of a control group as they change, other than of an agent: attached to
/// it or to one above it.
///
/// # Errors
/// Without CAP_NET_ADMIN, or where there is no such control group.
pub fn foreign(cgroup: &Path) -> io::Result<Vec<String>> {
    let cgroup = File::open(cgroup)?;
    let mut numbers = Vec::new();
    for hook in [BPF_CGROUP_SOCK_OPS, BPF_CGROUP_SETSOCKOPT] {
        numbers.extend(attached(&cgroup, hook)?);
    }
    // Names are told to CAP_SYS_ADMIN only, which an agent has given up by then; numbers are not.
    let known: Vec<ProgramInfo> =
        ProgInfoIter::default().filter(|one| numbers.contains(&one.id)).collect();
    let name = |number: u32| match known.iter().find(|one| one.id == number) {
        Some(one) => one.name.to_string_lossy().into_owned(),
        None => format!("program {number}"),
    };
    let mut names: Vec<String> = numbers.into_iter().map(name).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

#[allow(unsafe_code, reason = "libbpf-rs has no wrapper for this question")]
fn attached(cgroup: &File, hook: bpf_attach_type) -> io::Result<Vec<u32>> {
    let mut numbers = vec![0_u32; MOST];
    let mut count = MOST as u32;
    // SAFETY: the buffer has as many places as `count` says, and the kernel writes no more.
    let failed = unsafe {
        bpf_prog_query(
            cgroup.as_raw_fd(),
            hook,
            BPF_F_QUERY_EFFECTIVE,
            std::ptr::null_mut(),
            numbers.as_mut_ptr(),
            &raw mut count,
        )
    };
    if failed < 0 {
        return Err(io::Error::from_raw_os_error(-failed));
    }
    numbers.truncate(count as usize);
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Programs;
    use std::os::fd::AsFd as _;

    #[test]
    fn programs_at_a_control_group_are_told() {
        let Ok(programs) = Programs::load() else {
            return ackord_testing::skipped("the kernel takes no programs from this process");
        };
        let root = crate::cgroups::mounted().expect("/proc").expect("version 2");
        let path = root.join(format!("ackord-foreign-{}", std::process::id()));
        std::fs::create_dir(&path).expect("root may");
        let attached = programs.attach(File::open(&path).expect("ours").as_fd()).expect("ours");
        let there = foreign(&path);
        drop(attached);
        let gone = foreign(&path);
        std::fs::remove_dir(&path).expect("ours");
        assert_eq!(there.expect("root may"), ["chosen", "told"]);
        assert_eq!(gone.expect("root may"), Vec::<String>::new());
    }
}
