//! What the kernel has to do for us: namespaces, TUN devices, commands inside, exact waiting.
//!
//! | file | what |
//! | --- | --- |
//! | `namespace.rs` | [`Namespace`]: the safe face of a namespace |
//! | `inside.rs` | [`Inside`]: what it looks like inside, said before |
//! | `plan.rs` | the same, ready for the keeper |
//! | `keeper.rs` | the first process of the namespace, between clone and exec |
//! | `start.rs` | a command inside, between clone and exec |
//! | `message.rs` | what driver and keeper say to each other |
//! | `device.rs`, `netlink.rs` | TUN device; addresses and routes |
//! | `tun.rs` | [`make_here`]: a TUN device in our own namespace |
//! | `terminal.rs` | the terminal, lent to a command and taken back |
//! | `allowed.rs` | [`NamespaceError`]: what was refused, and what would allow it |
//! | `memory.rs` | [`Allocator`]: what happens when there is no memory left |
//! | `process.rs` | the bare beginning and end of a process |
//! | `priority.rs` | [`Urgency`]: first on the processor, where that is allowed |
//! | `environment.rs` | [`replace_environment`]: the environment of a program of one thread |
//! | `socket.rs` | what sockets tell and take beyond nix: TCP_INFO, any option |
//! | `stamped.rs` | [`Stamped`]: datagrams many at a time, with the kernel's stamps |
//! | `poll.rs` | waiting for any of several descriptors or a deadline, over and over |
//! | `wait.rs` | [`StopHandle`]; timers without slack |
//!
//! All `unsafe` of live runs is here, each with the reason why it is sound; whoever uses this crate
//! needs none.
//!
//! Not modelled: a mount namespace.

mod allowed;
mod device;
mod environment;
mod inside;
mod keeper;
mod memory;
mod message;
mod namespace;
mod netlink;
mod plan;
mod poll;
mod priority;
mod process;
pub mod socket;
mod stamped;
mod start;
mod terminal;
#[cfg(test)]
mod tests;
mod tun;
mod wait;

pub use allowed::{Attempt, NamespaceError, SetupStep};
pub use wait::StopHandle;

pub use environment::replace_environment;
pub use inside::{CommandInside, DEVICE, DeviceBeside, Inside, RouteSettings, TerminalUse};
pub use memory::Allocator;
pub use namespace::{CommandEnd, Namespace};
pub use netlink::replace_default_route;
pub use poll::PollSet;
pub use priority::Urgency;
pub use stamped::Stamped;
pub use terminal::is_in_foreground;
pub use tun::{TunHere, TunMade, make_here};
pub use wait::sharpen_timers;
