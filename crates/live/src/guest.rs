//! A host on a kernel of its own, in simulated time: what runs inside, and what is said between
//! inside and outside.
//!
//! ```text
//! Job (a file) ─► guest: settings, sockets, workloads, programs ─► GuestMessage, line by line ─► the run
//!                   ▲                                                                       │
//!                   └────────────── Order (a frame, at its instant) ────────────────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `guest/messages.rs` | [`Job`], [`Order`], [`GuestMessage`] |
//! | `guest/agent.rs` | the first program on the kernel: this one, which does what the job says |
//! | `guest/orders.rs` | orders as frames of a protocol that nobody else has |
//! | `guest/endpoint.rs` | instead: the application on a kernel that scripts are played against |
//! | `guest/script_messages.rs`, `guest/dialogue.rs` | what is said with it, and how |
//! | `guest/surroundings.rs` | what a kernel needs before anything runs on it |
//! | `guest/machine_files.rs` | the machine's own files, for programs: read, and never written |
//! | `guest/outputs.rs` | what programs write, told as it comes |
//!
//! The program on the kernel is this very program: the same settings, workloads and sockets as in an
//! emulation in real time, on a machine that has nothing else. Where a flow names programs, these come
//! from the machine that all of this runs on.

mod agent;
mod dialogue;
mod endpoint;
mod machine_files;
mod messages;
mod orders;
mod outputs;
mod script_messages;
mod surroundings;

pub(crate) use dialogue::script_frame;
pub(crate) use messages::{
    GuestMessage, JOB_PATH, Job, Order, OutputStream, ProgramPlace, output_bytes,
};
pub(crate) use orders::{is_hello, order_frame};
pub(crate) use script_messages::{
    Clocks, Facts, Prepared, ScriptOrder, ScriptTold, ScriptsJob, Task,
};

/// Whether this program is the first one on a kernel that was started for a host.
pub fn is_guest() -> bool {
    std::process::id() == 1 && std::path::Path::new(JOB_PATH).exists()
}

/// Does what the job says, and waits to be switched off.
pub fn be_guest() -> ! {
    agent::run()
}
