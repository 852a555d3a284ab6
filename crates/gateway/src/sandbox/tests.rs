//! Threads that confine themselves and then try what they may and what they may not.

#![allow(unsafe_code, reason = "system calls that nobody else makes")]

use super::*;
use crate::watch::{Shared, listen, serve_metrics, status};
use crate::{Interface, Ring, Wanted};
use ackord_testing::skipped;
use nix::errno::Errno;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// Confines a thread, which then tries what it may do. The others are not touched.
fn confined(needs: &'static [Need], attempt: impl FnOnce(Confined) + Send + 'static) {
    let thread = std::thread::Builder::new().spawn(move || {
        attempt(confine_thread(needs).expect("every process may"));
    });
    thread.expect("a thread").join().expect("no panic");
}

fn call(number: i64, arguments: [i64; 4]) -> Result<i64, Errno> {
    let [one, two, three, four] = arguments;
    // SAFETY: each is called with arguments that let it fail, or with none that point anywhere.
    Errno::result(unsafe { libc::syscall(number, one, two, three, four) })
}

#[test]
fn programs_processes_mounts_modules_and_code_are_out_of_reach() {
    confined(&[], refuses);
}

fn refuses(confined: Confined) {
    assert!(confined.filtered);
    let refused = Err(Errno::EPERM);
    // The same calls fail otherwise where nobody refuses them: with EFAULT, EINVAL, ENOENT and so on.
    assert_eq!(call(libc::SYS_execve, [0; 4]), refused);
    assert_eq!(Command::new("/bin/true").exec().raw_os_error(), Some(libc::EPERM));
    assert_eq!(
        Command::new("/bin/true").status().expect_err("no process").raw_os_error(),
        Some(libc::EPERM)
    );
    assert_eq!(call(libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0]), refused);
    assert_eq!(call(libc::SYS_clone3, [0; 4]), Err(Errno::ENOSYS));
    assert_eq!(call(libc::SYS_bpf, [999, 0, 0, 0]), refused);
    assert_eq!(call(libc::SYS_socket, [i64::from(libc::AF_ALG), 5, 0, 0]), refused);
    let readable_code = i64::from(libc::PROT_READ | libc::PROT_EXEC);
    assert_eq!(call(libc::SYS_mprotect, [0, 4096, readable_code, 0]), refused);
    for number in [libc::SYS_ptrace, libc::SYS_mount, libc::SYS_finit_module, libc::SYS_unshare] {
        assert_eq!(call(number, [-1, 0, 0, 0]), refused, "{number}");
    }
}

#[test]
fn only_the_capabilities_of_a_gateway_are_left() {
    let before = caps::read(None, CapSet::Permitted).expect("Linux");
    confined(&[Need::Programs, Need::RealTime], |confined| keeps_capabilities(before, confined));
}

fn keeps_capabilities(before: CapsHashSet, confined: Confined) {
    use Capability::{CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_NICE};
    use caps::{Capability, has_cap, read};
    let wanted = [CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF, CAP_SYS_NICE];
    let kept: Vec<_> = wanted.into_iter().filter(|one| before.contains(one)).collect();
    let names: Vec<_> = kept.iter().map(ToString::to_string).collect();
    assert_eq!(confined.capabilities, names);
    for set in [CapSet::Effective, CapSet::Permitted] {
        assert_eq!(read(None, set).expect("Linux"), kept.iter().copied().collect());
    }
    for set in [CapSet::Ambient, CapSet::Inheritable] {
        assert!(read(None, set).expect("Linux").is_empty());
    }
    if before.contains(&Capability::CAP_SETPCAP) {
        assert!(!has_cap(None, CapSet::Bounding, Capability::CAP_SYS_ADMIN).expect("Linux"));
    }
    // With its programs at work it may speak with them: this is refused for its nonsense, not its kind.
    assert_eq!(call(libc::SYS_bpf, [999, 0, 0, 0]), Err(Errno::EINVAL));
    // SAFETY: a question without a pointer.
    let no_more = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) };
    assert_eq!(no_more, 1);
}

#[test]
fn what_a_gateway_does_still_works() {
    confined(&[], |_| works());
}

fn works() {
    let folder = tempfile::tempdir().expect("a folder");
    let shared = Arc::new(Shared::default());
    let path = folder.path().join("gateway.sock");
    let _control = listen(&path, Arc::clone(&shared)).expect("a socket");
    assert!(status(&path).is_ok());
    #[allow(clippy::disallowed_types, reason = "a port that is free")]
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = free.local_addr().expect("bound");
    drop(free);
    serve_metrics(address, shared).expect("a server");
    // A journal, as it is written and replaced.
    let (new, old) = (folder.path().join("new"), folder.path().join("old"));
    std::fs::write(&new, "x").expect("a file");
    std::fs::File::open(&new).expect("it").sync_all().expect("kept");
    std::fs::rename(&new, &old).expect("renamed");
    nix::net::if_::if_nameindex().expect("netlink");
    // What glibc does when a gateway panics and unwinds.
    assert!(std::panic::catch_unwind(|| panic!("a mistake")).is_err());
    match Ring::open("lo", Interface::Lan(0), Wanted::HeadersIn) {
        Ok(mut ring) => {
            ring.read(|_, _| {});
            ring.stats().expect("counters");
        }
        Err(error) => skipped(format!("no packet socket: {error}")),
    }
}

#[test]
fn with_other_threads_it_refuses_to_leave_them_unconfined() {
    let other = std::thread::Builder::new();
    let other = other.spawn(std::thread::park).expect("a thread");
    assert!(matches!(confine(&[]), Err(SandboxError::Threads(2..))));
    other.thread().unpark();
    other.join().expect("no panic");
}
