//! Adaptive delayed acknowledgments and ARI on the sockets of a stock kernel: no patch, nothing in the way of a packet.
//!
//! ```text
//!  sockets of a control group
//!     │  ▲ options: TCP_NODELAY, delayed ACK's bound, mark
//!     ▼  │
//!  programs in the kernel ──Report──► Engine ──Do──► Daemon: classes, orders, routes, journal
//!  (gather, obey)                       │
//!                 Acks: tcp::ack of the simulator · Trial: treated against control · history
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `report.rs` | [`Report`](report::Report): what the kernel tells of a connection |
//! | `acks.rs` | [`Acks`](acks::Acks): how long acknowledgments should wait, by the simulator's policy |
//! | `connection.rs` | a connection |
//! | `lever.rs` | [`Lever`], and whether it is at work ([`Trial`](lever::Trial)) |
//! | `application.rs` | [`Application`](application::Application): connections taken together |
//! | `engine.rs` | [`Engine`](engine::Engine): reports in, orders out |
//! | `names.rs`, `cgroups.rs`, `pods.rs` | whom a connection belongs to |
//! | `config/` | [`config`]: what it is to do, as a file or as options |
//! | `kernel/` | [`kernel`]: its programs |
//! | `routes/` | [`routes`]: tables of its own |
//! | `journal.rs`, `sockets.rs` | what would stay after a crash |
//! | `plan.rs` | [`plan()`]: what a configuration changes, as commands |
//! | `probe.rs` | [`probe`]: what this kernel lets it do |
//! | `daemon.rs`, `daemon/` | the process |
//! | `watch/` | [`watch`]: status, metrics, questions |
//!
//! The engine has no clock and no kernel: it is told reports and the time.
//!
//! Not there: UDP and QUIC, MPTCP's subflows, sockets of other network namespaces in what goes through all sockets
//! (adopting, cleaning up).

#![cfg_attr(
    not(feature = "bpf"),
    allow(dead_code, reason = "the process itself takes the feature")
)]

pub mod acks;
pub mod application;
pub mod cgroups;
pub mod config;
pub mod connection;
#[cfg(feature = "bpf")]
mod daemon;
pub mod engine;
mod journal;
pub mod kernel;
pub mod lever;
mod names;
mod plan;
mod pods;
pub mod probe;
pub mod report;
pub mod routes;
mod sockets;
pub mod watch;

#[cfg(feature = "bpf")]
pub use daemon::{Daemon, DaemonError, News, Source};
pub use journal::{Journal, Made};
pub use lever::Lever;
pub use names::By;
pub use plan::{Step, plan};

/// The kernel's own longest delayed acknowledgment (TCP_DELACK_MAX), us.
pub const DELACK_STOCK_US: u32 = 200_000;
/// The sockets of an agent: control and journal, metrics, routes.
pub const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Calls that are its business.
pub const CALLS: [i64; 1] = [libc::SYS_bpf];
/// What a program says that was built without the kernel's part.
pub const WITHOUT_BPF: &str = "this program was built without the agent's programs for the kernel: `make agent` builds one with them, and the package (`make package`) has them";
