//! Threads that confine themselves and then try what they may and what they may not.

#![allow(unsafe_code, reason = "system calls that nobody else makes")]

use super::*;
use crate::control::{ControlSocket, status};
use crate::metrics::serve_metrics;
use crate::status::Process;
use crate::{Published, Shared};
use caps::{has_cap, read};
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

static IDLER: Words =
    Words { name: "idler", one: "an idler", command: "ackord idler", meanwhile: "nothing happens" };

/// Confines a thread, which then tries what it may do. The others are not touched.
fn confined(needs: Needs, attempt: impl FnOnce(Confined) + Send + 'static) {
    let thread = std::thread::Builder::new().spawn(move || {
        attempt(confine_thread(&IDLER, &needs).expect("every process may"));
    });
    thread.expect("a thread").join().expect("no panic");
}

fn call(number: i64, arguments: [i64; 4]) -> Result<i64, Errno> {
    let [one, two, three, four] = arguments;
    // SAFETY: each is called with arguments that let it fail, or with none that point anywhere.
    Errno::result(unsafe { libc::syscall(number, one, two, three, four) })
}

fn socket(family: i32) -> Result<i64, Errno> {
    call(libc::SYS_socket, [i64::from(family), i64::from(libc::SOCK_DGRAM), 0, 0])
}

#[test]
fn programs_processes_mounts_modules_and_code_are_out_of_reach() {
    let needs = Needs { families: vec![libc::AF_UNIX], ..Needs::default() };
    confined(needs, refuses);
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
    assert_eq!(socket(libc::AF_INET), refused);
    assert!(socket(libc::AF_UNIX).is_ok());
    let readable_code = i64::from(libc::PROT_READ | libc::PROT_EXEC);
    assert_eq!(call(libc::SYS_mprotect, [0, 4096, readable_code, 0]), refused);
    for number in [libc::SYS_ptrace, libc::SYS_mount, libc::SYS_finit_module, libc::SYS_unshare] {
        assert_eq!(call(number, [-1, 0, 0, 0]), refused, "{number}");
    }
}

#[test]
fn who_needs_no_socket_gets_none() {
    confined(Needs::default(), |_| {
        assert_eq!(socket(libc::AF_UNIX), Err(Errno::EPERM));
    });
}

#[test]
fn calls_that_are_needed_are_not_refused_for_their_kind() {
    let needs = Needs {
        capabilities: vec![Capability::CAP_BPF],
        calls: vec![libc::SYS_bpf, libc::SYS_personality, libc::SYS_socket],
        ..Needs::default()
    };
    confined(needs, |_| {
        // Refused for its nonsense.
        assert_eq!(call(libc::SYS_bpf, [999, 0, 0, 0]), Err(Errno::EINVAL));
        // A question.
        assert!(call(libc::SYS_personality, [0xffff_ffff, 0, 0, 0]).is_ok());
        assert_eq!(call(libc::SYS_ptrace, [-1, 0, 0, 0]), Err(Errno::EPERM));
        assert_eq!(socket(libc::AF_UNIX), Err(Errno::EPERM), "families say which");
    });
}

#[test]
fn only_the_capabilities_that_are_needed_are_left() {
    use Capability::{CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_NICE};
    let before = read(None, CapSet::Permitted).expect("Linux");
    let needs =
        Needs { capabilities: vec![CAP_PERFMON, CAP_NET_ADMIN, CAP_SYS_NICE], ..Needs::default() };
    let wanted = needs.capabilities.clone();
    confined(needs, move |confined| {
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
        // SAFETY: a question without a pointer.
        let no_more = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) };
        assert_eq!(no_more, 1);
    });
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Nothing {
    #[serde(flatten)]
    process: Process,
}

impl Published for Nothing {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

#[test]
fn what_a_daemon_does_still_works() {
    let families = vec![libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    confined(Needs { families, ..Needs::default() }, |_| works());
}

fn works() {
    let folder = tempfile::tempdir().expect("a folder");
    let shared = Arc::new(Shared::<Nothing>::default());
    let path = folder.path().join("idler.sock");
    let _control = ControlSocket::open(&IDLER, &path, shared).expect("a socket");
    assert!(status::<Nothing>(&IDLER, &path).is_ok());
    #[allow(clippy::disallowed_types, reason = "a port that is free")]
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = free.local_addr().expect("bound");
    drop(free);
    serve_metrics(address, String::new).expect("a server");
    // A journal, as it is written and replaced.
    let (new, old) = (folder.path().join("new"), folder.path().join("old"));
    std::fs::write(&new, "x").expect("a file");
    std::fs::File::open(&new).expect("it").sync_all().expect("kept");
    std::fs::rename(&new, &old).expect("renamed");
    nix::net::if_::if_nameindex().expect("netlink");
    // What glibc does when a daemon panics and unwinds.
    assert!(std::panic::catch_unwind(|| panic!("a mistake")).is_err());
}

#[test]
fn with_other_threads_it_refuses_to_leave_them_unconfined() {
    let other = std::thread::Builder::new();
    let other = other.spawn(std::thread::park).expect("a thread");
    assert!(matches!(confine(&IDLER, &Needs::default()), Err(SandboxError::Threads(2..))));
    other.thread().unpark();
    other.join().expect("no panic");
}
