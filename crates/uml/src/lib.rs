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
//! | `processor.rs` | one processor for all that takes turns |
//! | `chance.rs` | nothing of a kernel's by chance |
//! | `initramfs.rs` | [`initramfs`]: the files that a kernel starts with |
//!
//! Not modelled: the time that computing takes, several processors in a kernel, offloads of a network
//! card, its ring buffers filling up.

mod chance;
mod initramfs;
mod kernels;
mod machine;
mod machines;
mod processor;

pub use chance::seed as seed_random_numbers;
pub use initramfs::{Entry, initramfs};
pub use kernels::{
    BuildOrder, Built, DEFAULT_HZ, DEFAULT_KERNEL, HZ_CHOICES, Kept, Kernel, KernelError,
    KernelWish, Kernels, Listing, Phase, Progress, ShellEnd, ShellOrder, Source, State,
    find as find_kernel, fragment as kernel_options, run_inside, shell as kernel_shell,
};
pub use machine::{Machine, MachineError, MachineSetup};
pub use machines::Machines;
