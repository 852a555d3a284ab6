//! Which process observes a LAN interface: two gateways at one interface would both retransmit what is lost.
//!
//! A claim is a listening abstract Unix socket (unix(7)) whose name contains the interface's index. Abstract names
//! belong to a network namespace, as the index does, and vanish with the process.
//!
//! Not covered: a user of this machine who binds such a name keeps a gateway from observing. The error names the
//! process.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, getsockopt, listen,
    socket, sockopt,
};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The claims of this process, by index of the interface.
#[derive(Debug, Default)]
pub struct Claims(Mutex<BTreeMap<u32, Weak<Claim>>>);

/// An interface that no other gateway observes until this is dropped.
#[derive(Debug)]
pub struct Claim {
    _socket: OwnedFd,
}

impl Claims {
    /// Returns the claim on the interface with this index. Within a process it is shared.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if another process has it.
    pub fn claim(&self, index: u32) -> io::Result<Arc<Claim>> {
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(claim) = claims.get(&index).and_then(Weak::upgrade) {
            return Ok(claim);
        }
        claims.retain(|_, claim| claim.strong_count() > 0);
        let claim = Arc::new(Claim { _socket: bind_name(index)? });
        claims.insert(index, Arc::downgrade(&claim));
        Ok(claim)
    }
}

fn bind_name(index: u32) -> io::Result<OwnedFd> {
    let name = UnixAddr::new_abstract(format!("ackord-gateway/{index}").as_bytes())?;
    let stream = || socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None);
    let own = stream()?;
    match bind(own.as_raw_fd(), &name) {
        Ok(()) => {}
        Err(Errno::EADDRINUSE) => {
            let other = stream()?;
            // A listener's credentials are those of the process that called listen().
            let holder = connect(other.as_raw_fd(), &name)
                .and_then(|()| getsockopt(&other, sockopt::PeerCredentials));
            let process = holder.map_or_else(
                |_| String::new(),
                |holder| format!(" (process {} of user {})", holder.pid(), holder.uid()),
            );
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!(
                    "another gateway{process} observes it already; `ackord gateway stop --state \
                     DIRECTORY` ends that one"
                ),
            ));
        }
        Err(errno) => return Err(errno.into()),
    }
    listen(&own, Backlog::new(1)?)?;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No interface has this index.
    const INDEX: u32 = 0x7fff_fff0;

    #[test]
    fn a_claim_is_shared_within_a_process_and_free_once_dropped() {
        let (here, elsewhere) = (Claims::default(), Claims::default());
        let first = here.claim(INDEX).expect("free");
        let second = here.claim(INDEX).expect("shared");
        assert!(Arc::ptr_eq(&first, &second));
        drop(first);
        let error = elsewhere.claim(INDEX).expect_err("held");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        let process = format!("process {} of user", std::process::id());
        assert!(error.to_string().contains(&process), "{error}");
        elsewhere.claim(INDEX + 1).expect("another interface");
        drop(second);
        elsewhere.claim(INDEX).expect("free again");
    }
}
