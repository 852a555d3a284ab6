//! What the kernel has to do for us: namespaces, TUN devices, commands inside, exact waiting.
//!
//! | file | what |
//! | --- | --- |
//! | `sys/namespace.rs` | [`Namespace`]: the safe face of a namespace |
//! | `sys/inside.rs` | [`Inside`]: what it looks like inside, said before |
//! | `sys/plan.rs` | the same, ready for the keeper |
//! | `sys/keeper.rs` | the first process of the namespace, between clone and exec |
//! | `sys/start.rs` | a command inside, between clone and exec |
//! | `sys/message.rs` | what driver and keeper say to each other |
//! | `sys/device.rs`, `sys/netlink.rs` | TUN device; addresses and routes |
//! | `sys/tun.rs` | [`make_here`]: a TUN device in our own namespace |
//! | `sys/terminal.rs` | the terminal, lent to a command and taken back |
//! | `sys/allowed.rs` | [`NamespaceError`]: what was refused, and what would allow it |
//! | `sys/priority.rs` | [`Scheduling`]: first on the processor, where that is allowed |
//! | `sys/socket.rs` | what sockets tell and take beyond nix: TCP_INFO, any option |
//! | `sys/stamped.rs` | [`Stamped`]: datagrams many at a time, with the kernel's stamps |
//! | `sys/poll.rs` | waiting for any of several descriptors or a deadline, over and over |
//! | `sys/wait.rs` | waiting for packets or a deadline to the nanosecond; [`StopHandle`] |
//!
//! The only `unsafe` of this crate is in this folder.
//!
//! Not modelled: a mount namespace.

mod allowed;
mod device;
mod inside;
mod keeper;
mod message;
mod namespace;
mod netlink;
mod plan;
mod poll;
mod priority;
pub(crate) mod socket;
mod stamped;
mod start;
mod terminal;
#[cfg(test)]
mod tests;
mod tun;
mod wait;

pub use allowed::{Attempt, NamespaceError, SetupStep};
pub use priority::{Priority, Scheduling};
pub use wait::StopHandle;

pub(crate) use inside::{
    CommandInside, DEVICE, DeviceBeside, DeviceMade, Inside, QuickAck, RouteSettings, TerminalUse,
};
pub(crate) use namespace::{CommandEnd, Namespace};
pub(crate) use netlink::replace_default_route;
pub(crate) use poll::PollSet;
pub(crate) use priority::Urgency;
pub(crate) use stamped::Stamped;
pub(crate) use terminal::is_in_foreground;
pub(crate) use tun::{TunHere, TunMade, make_here};
pub(crate) use wait::sharpen_timers;
