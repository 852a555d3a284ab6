//! Real-time driver between real endpoints: the same `tcp` and `path` code as in the simulator,
//! between our own host and a stock kernel.
//!
//! ```text
//! COMMAND ── stock kernel ── TUN device ═══ path graph ═══ our host (ackord-tcp) ── HTTP
//!            10.77.0.1                     from a scenario  10.77.0.2
//!            fd77::1                                        fd77::2
//!            └ a network namespace of its own ┘            └ this process ┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `emulate.rs`, `emulate/` | [`emulate`](emulate()): a scenario in real time between kernels and ours |
//! | `serve.rs` | [`serve`]: files out and in by HTTP, a stock client such as curl before us |
//! | `fetch.rs` | [`fetch`]: one file from a stock server |
//! | `interop.rs`, `interop/` | [`interop`]: the same cases between our TCP and the kernel's |
//! | `shell.rs`, `shell/` | a command, or a shell, behind an emulated link |
//! | `addresses.rs` | the two hosts' addresses |
//! | `options.rs` | what they are given and give back: [`LiveOptions`], [`LiveReport`] |
//! | `session.rs` | what they have in common: an emulation between our host and a namespace |
//! | `host.rs`, `host/` | our host: connections, echo |
//! | `relay.rs`, `relay/` | a gateway to the caller's network over plain sockets |
//! | `guest.rs`, `guest/` | a host on a kernel of its own in simulated time: what runs inside |
//! | `scripted.rs`, `scripted/` | scripts played against a kernel in simulated time |
//! | `http.rs`, `http/` | HTTP/1.1 as far as moving files needs it |
//! | `apps.rs`, `apps/` | the scenario's workloads on the kernel's sockets |
//! | `tcp_info.rs` | what the kernel tells of a connection: [`TcpInfo`] |
//! | `settings.rs`, `settings/` | what a scenario asks of an endpoint, asked of the stock kernel |
//! | `trials.rs`, `trials/` | whatever foreign hosts send: property tests and fuzzing |
//! | `watch.rs` | what the driver learns from events, and who may listen |
//! | `observed.rs`, `observed/` | a stock kernel's end of a connection, told as events |
//! | `lateness.rs` | how late the driver was, and whether the run may be trusted |
//! | `accuracy.rs`, `accuracy/` | [`accuracy`]: how exactly this machine emulates |
//! | `meter.rs`, `meter/` | what a live meter shows of the links, ten times a second |
//! | `capture.rs`, `clock.rs` | captures, time |
//!
//! Both families of IP are there at once; whoever connects chooses by the address. Where the kernel
//! has no IPv6, IPv4 still works.
//!
//! Not modelled: neighbour discovery (a TUN device has no neighbours), several hosts of our own for
//! `serve`, `fetch` and `interop`, offloads (every packet is MTU-sized, so that each can be lost or delayed by itself).

mod accuracy;
mod addresses;
mod apps;
mod capture;
mod clock;
mod emulate;
mod error;
mod fetch;
mod guest;
mod host;
mod http;
mod interop;
mod lateness;
mod meter;
mod observed;
mod options;
mod plain;
mod relay;
mod scripted;
mod serve;
mod session;
mod settings;
mod shell;
mod tcp_info;
#[cfg(any(test, feature = "trials"))]
pub mod trials;
mod watch;

pub use accuracy::{
    AccuracyNotify, AccuracyOptions, AccuracyReport, DelayRow, Most, MostRow, RateRow, Spread,
    Traffic, accuracy,
};
pub use ackord_sys::{Attempt, NamespaceError, SetupStep, StopHandle};
pub use addresses::{Addresses, KERNEL, OURS};
pub use apps::{Call, EndReport};
pub use emulate::{
    EmulationCounts, EmulationNotice, EmulationOptions, EmulationReport, Forwarded, HostCommand,
    HostReport, KernelRouter, LAN_DEVICE, RouterReport, SimulatedKernels, TapObserver, Tapped,
    TcpSample, WAN_DEVICE, emulate, emulate_in_simulated_time,
};
pub use error::LiveError;
pub use fetch::{FetchOptions, fetch};
pub use guest::{be_guest, is_guest};
pub use host::ConnectionReport;
pub use http::{Direction, Transfer};
pub use interop::{CASES, Case, InteropOptions, KernelCounters, Row, Sizes, interop};
pub use lateness::Lateness;
pub use meter::{
    Carried, DirectionSample, METER_INTERVAL, METER_KEPT, MeterFeed, MeterFill, MeterView,
    MeteredLink,
};
pub use observed::ObservedEnd;
pub use options::{
    CommandOutcome, DeviceCounts, KernelCongestion, LiveOptions, LiveReport, Notice,
};
pub use relay::RelayReport;
pub use scripted::{
    Difference, Expected, KernelUnderScripts, SLACK, ScriptVerdict, ScriptsTally, kernel_page,
    play_on_kernel,
};
pub use serve::{ServeOptions, serve};
pub use settings::{SettingOutcome, SettingTold, SettingsConflict};
pub use shell::{
    Block, LinkError, LinkOptions, Outside, OutsideCounts, Queueing, ShellBegins, ShellEnd,
    ShellError, ShellLink, ShellOptions, ShellOrders, ShellReport, WayReport, shell,
};
pub use tcp_info::{CaState, TcpInfo, Timeouts};
pub use watch::{EventCounts, Observer};
