//! Addresses and ports of our own: bind, and which are free.

use super::World;
use super::link::Owner;
use super::socket::State;
use nix::errno::Errno;
use std::net::SocketAddr;

/// net.ipv4.ip_local_port_range.
const FIRST_PORT: u16 = 32_768;
const PORTS: u16 = 28_232;

impl World {
    /// Gives a socket its own address; a port of zero is chosen.
    pub(crate) fn bind(&mut self, fd: i32, to: SocketAddr) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        let to = socket.own_family(to)?;
        if socket.bound.is_some() || !matches!(socket.state, State::Fresh) {
            return Err(Errno::EINVAL);
        }
        let to = if to.port() == 0 { SocketAddr::new(to.ip(), self.free_port()) } else { to };
        if self.is_taken(fd, to) {
            return Err(Errno::EADDRINUSE);
        }
        self.socket_mut(fd)?.bound = Some(to);
        Ok(())
    }

    /// A port that nobody has; the same ones in every run.
    pub(super) fn free_port(&mut self) -> u16 {
        for _ in 0..PORTS {
            let port = FIRST_PORT + self.ports;
            self.ports = (self.ports + 1) % PORTS;
            let bound = |fd: &i32| self.socket(*fd).ok().and_then(|socket| socket.bound);
            if !self.files.keys().filter_map(bound).any(|bound| bound.port() == port) {
                return port;
            }
        }
        FIRST_PORT
    }

    /// Whether another socket or connection is in the way of binding.
    fn is_taken(&self, fd: i32, to: SocketAddr) -> bool {
        let reuses = self.socket(fd).is_ok_and(|socket| socket.options.reuses_address());
        let overlaps = |other: SocketAddr| {
            other.port() == to.port()
                && (other.ip() == to.ip()
                    || other.ip().is_unspecified()
                    || to.ip().is_unspecified())
        };
        let by_socket = self.files.keys().filter(|&&other| other != fd).any(|&other| {
            self.socket(other).is_ok_and(|socket| {
                let shares = reuses
                    && socket.options.reuses_address()
                    && !matches!(socket.state, State::Listening(_));
                socket.bound.is_some_and(overlaps) && !shares
            })
        });
        let by_remains = self
            .links
            .values()
            .any(|link| link.owner == Owner::Nobody && overlaps(link.endpoints.src));
        by_socket || by_remains && !reuses
    }
}
