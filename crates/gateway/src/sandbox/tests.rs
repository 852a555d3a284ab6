//! Threads that confine themselves as a gateway does and then try what they may and what they may not.

#![allow(unsafe_code, reason = "system calls that nobody else makes")]

use super::*;
use crate::watch::{Shared, listen, serve_metrics, status};
use crate::{Interface, Ring, Wanted};
use ackord_daemon::sandbox::confine_thread;
use ackord_testing::skipped;
use nix::errno::Errno;
use std::sync::Arc;

const BOTH: Special = Special { programs: true, real_time: true };

/// Confines a thread, which then tries what it may do. The others are not touched.
fn confined(special: Special, attempt: impl FnOnce(Confined) + Send + 'static) {
    let thread = std::thread::Builder::new().spawn(move || {
        attempt(confine_thread(&GATEWAY, &in_all(special)).expect("every process may"));
    });
    thread.expect("a thread").join().expect("no panic");
}

/// A command that no kernel has: refused for its nonsense where bpf() may be called.
fn nonsense_of_bpf() -> Result<i64, Errno> {
    // SAFETY: it fails before it looks at its arguments.
    Errno::result(unsafe { libc::syscall(libc::SYS_bpf, 999, 0, 0) })
}

#[test]
fn only_with_programs_may_it_speak_with_them() {
    confined(Special::default(), |_| assert_eq!(nonsense_of_bpf(), Err(Errno::EPERM)));
    confined(Special { programs: true, real_time: false }, |_| {
        assert_eq!(nonsense_of_bpf(), Err(Errno::EINVAL))
    });
}

#[test]
fn only_the_capabilities_of_a_gateway_are_left() {
    use Capability::{CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_NICE};
    let all = [CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF, CAP_SYS_NICE];
    assert_eq!(in_all(BOTH).capabilities, all);
    assert_eq!(in_all(Special::default()).capabilities, all[..2]);
    confined(BOTH, move |confined| {
        let wanted = all.map(|one| one.to_string());
        assert!(confined.filtered);
        assert!(confined.capabilities.iter().all(|one| wanted.contains(one)), "{confined:?}");
    });
}

#[test]
fn what_a_gateway_does_still_works() {
    confined(Special::default(), |_| works());
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
    match Ring::open("lo", Interface::Lan(0), Wanted::HeadersIn) {
        Ok(mut ring) => {
            ring.read(|_, _| {});
            ring.stats().expect("counters");
        }
        Err(error) => skipped(format!("no packet socket: {error}")),
    }
}
