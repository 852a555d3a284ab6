//! Which connection gets which remedy.

use std::net::SocketAddr;

/// What rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// Its LAN interface.
    pub interface: usize,
    /// The end behind the LAN interface.
    pub mobile: SocketAddr,
    /// The end behind the WAN interface.
    pub fixed: SocketAddr,
    /// The differentiated services code point of the packet by which it became known.
    pub dscp: u8,
    /// That packet's mark, where somebody could see it.
    pub mark: Option<u32>,
}
