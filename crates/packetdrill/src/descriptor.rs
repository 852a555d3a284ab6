//! Numbers for descriptors, each backed by a descriptor of the kernel that means nothing.
//!
//! So a number of ours is nobody else's, and a program that closes one with `close(2)` instead of
//! asking us, as packetdrill does with sockets that a script leaves open, is not told off by the
//! kernel.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;

/// A number that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Descriptor {
    held: Option<UnixDatagram>,
    number: i32,
    /// What the kernel calls that which stands behind the number.
    identity: u64,
}

impl Descriptor {
    /// The lowest number that is free in this process.
    pub(crate) fn new() -> io::Result<Descriptor> {
        let held = UnixDatagram::unbound()?;
        let number = held.as_raw_fd();
        Ok(Descriptor { held: Some(held), number, identity: identity(number).unwrap_or(0) })
    }

    /// The number.
    pub(crate) fn number(&self) -> i32 {
        self.number
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // Somebody may have closed it behind our back, and the kernel have given the number away.
        let still_ours = identity(self.number) == Some(self.identity);
        if let Some(held) = self.held.take()
            && !still_ours
        {
            let _forgotten = held.into_raw_fd();
        }
    }
}

fn identity(number: i32) -> Option<u64> {
    fs::metadata(format!("/proc/self/fd/{number}")).ok().map(|of| of.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_while_they_are_held_and_nothing_is_left_behind() {
        let one = Descriptor::new().expect("a number");
        let other = Descriptor::new().expect("another");
        assert_ne!(one.number(), other.number());
        let (number, known) = (one.number(), one.identity);
        assert_eq!(identity(number), Some(known));
        drop(one);
        assert_ne!(identity(number), Some(known));
    }
}
