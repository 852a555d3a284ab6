//! What the agent has in the kernel: programs that gather facts and pull levers.
//!
//! ```text
//! application's sockets ── programs ──reports──► engine (Rust decides)
//!                             ▲                     │
//!                             └── classes, orders ◄─┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `agent.bpf.c`, `bpf/` | the programs, and what they are made of |
//! | `agent.h` | what they share with this side |
//! | `layout.rs` | the same structures, from this side |
//! | `programs.rs` | `Programs`: loaded, attached, asked and told |
//! | `rights.rs` | what a process needs for them |
//! | `refused.rs` | why the kernel refuses them |
//! | `foreign.rs` | `foreign()`: programs of others at the same hooks |
//!
//! All but `layout.rs` takes the feature `bpf`.

#[cfg(feature = "bpf")]
mod foreign;
pub mod layout;
#[cfg(feature = "bpf")]
mod programs;
#[cfg(feature = "bpf")]
mod refused;
#[cfg(feature = "bpf")]
pub(crate) mod rights;

#[cfg(feature = "bpf")]
pub use foreign::foreign;
#[cfg(feature = "bpf")]
pub use programs::{Attached, KernelError, Pass, Passed, Programs};
