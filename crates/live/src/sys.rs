//! What the kernel has to do for us: namespaces, a TUN device, a command inside, exact waiting.
//!
//! | file | what |
//! | --- | --- |
//! | `sys/namespace.rs` | [`Namespace`]: the safe face; tries what is allowed, says what is missing |
//! | `sys/keeper.rs` | the first process of the namespace, between clone and exec |
//! | `sys/priority.rs` | [`Scheduling`]: first on the processor, where that is allowed |
//! | `sys/socket.rs` | what sockets tell and take beyond nix: TCP_INFO, any option |
//! | `sys/wait.rs` | waiting for packets or a deadline to the nanosecond; [`StopHandle`] |
//!
//! The only `unsafe` of this crate is in this folder.
//!
//! Not modelled: more than one TUN device, more than one address of each family inside.

mod keeper;
mod namespace;
mod priority;
pub(crate) mod socket;
mod wait;

pub use namespace::{Attempt, NamespaceError, SetupStep};
pub use priority::Scheduling;
pub use wait::StopHandle;

pub(crate) use namespace::{CommandEnd, Inside, Namespace};
pub(crate) use priority::Urgency;
pub(crate) use wait::{Ready, Sources, sharpen_timers, wait_until};
