//! Middleboxes on a real router: the code that the simulator runs, beside the packets that a kernel
//! forwards.
//!
//! ```text
//! wan ══════════════ kernel forwards ══════════════ lan (the mobile hosts)
//!                                            │ copies of what leaves to them and comes from them
//!                        Engine ◄── frame ◄──┘
//!                          │  connections, their bytes, a box of `path`
//!                          └─► injections: frames for either interface
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `frame.rs` | what stands before an IP packet, and where that begins |
//! | `config/` | [`config`]: what it is to do, as a file or as options |
//! | `advise/` | [`advise`]: what remedies would have gained, by looking on |
//! | `plan.rs` | [`Plan`]: what a configuration changes on its machine, as commands |
//! | `machine.rs` | [`Machine`]: what there is of what a configuration needs |
//! | `class.rs` | [`Class`]: connections that get the same remedy |
//! | `pace.rs` | [`Pace`]: who is too fast to be helped |
//! | `progress.rs` | [`Progress`]: how a connection gets on |
//! | `hiding.rs` | [`Hiding`]: duplicate acknowledgments that a program in the kernel removes |
//! | `removal.rs` | [`Removal`]: that program, at each LAN interface |
//! | `connections.rs` | [`Connections`]: who talks to whom, the oldest forgotten first |
//! | `openings.rs` | [`Openings`]: from which side connections are opened |
//! | `ring/` | [`Ring`]: what passes an interface, and sending there |
//! | `store.rs` | [`Store`]: the bytes of segments that a mobile host has not acknowledged |
//! | `budget.rs` | [`Budget`]: how much may be injected |
//! | `recoveries.rs` | [`Recoveries`]: what injections saved, and how much they may waste |
//! | `control.rs` | [`is_control()`]: who is left alone, to be compared with |
//! | `claims.rs` | [`Claims`]: one gateway at a LAN interface |
//! | `port.rs` | [`Port`]: an interface, which may go and come back |
//! | `drive.rs` | [`Drive`]: an engine between interfaces, in real time |
//! | `daemon.rs`, `daemon/` | [`Daemon`]: the process |
//! | `engine.rs`, `engine/` | [`Engine`]: frames in, frames out, and a box between them |
//! | `bpf/` | [`Suppressor`], and what steers packets: small programs in the kernel's path |
//! | `in_path/` | [`InPath`]: a queue in the path, at a rate |
//! | `journal.rs` | [`Journal`]: what would stay after a crash, to be undone; [`Made`]: one such change |
//! | `probe.rs`, `probe/` | [`probe()`]: what kernel, process and interface allow |
//! | `device.rs`, `netlink.rs`, `scheduling.rs` | what they ask of the system |
//! | `sandbox.rs` | [`sandbox::confine()`]: giving up what is not needed any more |
//! | `watch/` | [`watch`]: what a running gateway shows: status, metrics, captures |
//!
//! The engine has no clock and no socket: the drive tells it the time and carries frames. What any daemon has
//! around its engine (the journal's file, the control socket, logs, evidence) is [`ackord_daemon`]'s.
//!
//! Not there: tunnels, fragments (both pass unobserved), IPv6 extension headers.

pub mod advise;
mod bpf;
mod budget;
mod claims;
mod class;
pub mod config;
mod connections;
mod control;
mod daemon;
mod device;
mod drive;
mod engine;
mod frame;
mod hiding;
mod in_path;
mod journal;
mod machine;
mod netlink;
mod openings;
mod pace;
mod plan;
mod port;
mod probe;
mod progress;
mod recoveries;
mod removal;
mod ring;
pub mod sandbox;
mod scheduling;
mod store;
mod subscribers;
pub mod watch;

pub use ackord_daemon::evidence::{ArmFigures, Compared, Evidence, Figure};
pub use ackord_daemon::switchback::Turns;
pub use ackord_daemon::{Supervisor, Undone, Wishes};
pub use bpf::{AttachBy, Attached, Covered, Suppressor};
pub use budget::Budget;
pub use claims::{Claim, Claims};
pub use class::{Class, ClassConfig, StandDown, Standing};
pub use config::FlowFacts;
pub use connections::{Connection, Connections, Counters, Key, Limits};
pub use control::is_control;
pub use daemon::{Daemon, DaemonError, News, SOCKET};
pub use drive::{Drive, DriveCounts, kinds};
pub use engine::{Classify, Engine, EngineConfig, EngineStats, Injection, Order, Refusal};
pub use frame::{Interface, LinkHeader, LinkKind, Sighting, VlanTag, Way};
pub use hiding::{BELIEVED_FOR, Cover, Hiding};
pub use in_path::{
    Decisions, Drops, Follow, FollowStats, InPath, InPathConfig, InPathError, InPathState,
    InPathStats, Quantiles, RateChange,
};
pub use journal::{Journal, Made};
pub use machine::{InterfaceFacts, KernelVersion, Machine};
pub use openings::{OpenedFrom, Openings};
pub use pace::Pace;
pub use plan::{Plan, Step, queue_device};
pub use port::Port;
pub use probe::{Allowed, Finding, probe};
pub use progress::{Progress, STALL};
pub use recoveries::Recoveries;
pub use removal::Removal;
pub use ring::{GoingOut, Ring, RingStats, Wanted};
pub use scheduling::go_before_most;
pub use store::Store;
pub use subscribers::{SubscriberTotals, Subscribers};
