//! A stock Linux kernel in simulated time: User-Mode Linux, its clock and its network card.
//!
//! ```text
//! source of a kernel ─► kernels ─► binary ─► Machine ─┐
//!                                  binary ─► Machine ─┴► Machines ⇄ frames, at instants
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `kernels.rs`, `kernels/` | [`Kernel`]: built from source, kept in the user's cache, found again |
//! | `machines.rs` | [`Machines`]: several kernels in one time |
//! | `machine.rs`, `machine/` | [`Machine`]: one of them |
//! | `initramfs.rs` | [`initramfs`]: the files that a kernel starts with |
//!
//! Not modelled: the time that computing takes, several processors in a kernel, offloads of a network
//! card, its ring buffers filling up.

mod initramfs;
mod kernels;
mod machine;
mod machines;

pub use initramfs::{Entry, initramfs};
pub use machine::{Machine, MachineError, MachineSetup};
pub use machines::Machines;
