//! What a report of a live run says beyond that of a simulated one: whether it may be believed, how
//! late the driver was, and what the kernel says of itself.
//!
//! | file | what |
//! | --- | --- |
//! | `live.rs` | [`LiveDetails`]: what there is to say, as the JSON has it |
//! | `live/document.rs` | [`live_document`]: the report, and the marks on one not to be believed |
//! | `live/kernel.rs` | its part about kernels: connections, settings, counters, samples |

mod document;
mod kernel;

pub use document::live_document;
pub use kernel::tcp_info_csv;

use serde::Serialize;
use std::collections::BTreeMap;

/// What a live run says beside its summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveDetails {
    /// Whether delays and rates may be believed.
    pub trust: TrustWord,
    /// How late the driver of a run in real time was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<RealTime>,
    /// What kernels a run in simulated time was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_time: Option<SimulatedTime>,
    /// The hosts, in the scenario's order.
    pub hosts: Vec<LiveHost>,
    /// The kernel's connections, in the order of their flows.
    pub connections: Vec<KernelConnection>,
    /// The programs that ran in place of workloads, in the order of their flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<LiveCommand>,
}

/// Whether a live run may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustWord {
    /// The driver kept up.
    WithinBudget,
    /// More than 1 % of the packets were handed over later than the budget allows.
    Untrustworthy,
    /// Nothing was late: the run was in simulated time.
    SimulatedTime,
}

/// A run in simulated time with stock kernels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedTime {
    /// How long the run was, in its own time, seconds.
    pub took_s: f64,
    /// The kernels, by host.
    pub kernels: Vec<HostKernel>,
    /// Whether the run is the same each time on every machine: programs that were named may look at
    /// what a kernel cannot keep from them, such as the processor's own clock.
    pub exact: bool,
    /// What happened to packets at the kernels' network cards.
    pub device: DeviceCounts,
}

/// The kernel of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostKernel {
    /// The host.
    pub host: String,
    /// What the kernel is asked for by.
    pub kernel: String,
    /// What it says of itself.
    pub release: String,
    /// Its ticks per second.
    pub hz: u32,
    /// What it was built from.
    pub source: String,
    /// SHA-256 of its binary.
    pub sha256: String,
}

/// How late packets were handed to their hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealTime {
    /// How long the run took, seconds.
    pub took_s: f64,
    /// How the driver was scheduled: `real-time` or `ordinary`.
    pub scheduling: &'static str,
    /// Packets handed over.
    pub packets: u64,
    /// Half of them were at most this late, microseconds.
    pub p50_us: f64,
    /// All but 1 % were at most this late.
    pub p99_us: f64,
    /// The latest.
    pub max_us: f64,
    /// What `p99_us` may be.
    pub budget_us: f64,
    /// How many were how late, in order, each up to `up_to_us` and later than the one before.
    pub histogram: Vec<LatenessBucket>,
    /// What happened to packets at the hosts' devices.
    pub device: DeviceCounts,
}

/// Packets that were about as late as each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatenessBucket {
    /// At most this late, microseconds.
    pub up_to_us: f64,
    /// How many.
    pub packets: u64,
}

/// What happened to packets where they enter and leave hosts. All counts are packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceCounts {
    /// Came from kernels and were put on the path.
    pub entered: u64,
    /// Handed to kernels.
    pub delivered: u64,
    /// Came, but were for nobody in the scenario.
    pub ignored: u64,
    /// Came, but were malformed.
    pub malformed: u64,
    /// Were not taken by the kernel they were for.
    pub refused: u64,
    /// Came while more were under way than can be kept.
    pub too_many: u64,
    /// Of those handed over: made anew from their headers, because our own endpoint or a middlebox
    /// had made or changed them.
    pub made: u64,
    /// Not handed over, for a middlebox had made them of data that was no longer kept.
    pub without_bytes: u64,
}

/// A host of a live run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveHost {
    /// Its name.
    pub name: String,
    /// What it was: `kernel` or `ours`.
    pub place: &'static str,
    /// What the scenario asks of its endpoints and what its kernel made of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<LiveSetting>,
    /// What its kernel counted, by the names of nstat; without what is zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
}

/// A setting that was asked of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveSetting {
    /// Whose, where it is not the whole host's: flow and end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The scenario's key.
    pub setting: String,
    /// What the scenario asks for.
    pub asked: String,
    /// What came of it.
    pub outcome: SettingWord,
    /// How it was set, why nothing had to be, or what the kernel does instead.
    pub detail: String,
}

/// What came of asking a kernel for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingWord {
    /// It was set.
    Set,
    /// The kernel does it anyway.
    Already,
    /// The kernel does something else.
    Instead,
}

/// One end of a connection that a kernel had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelConnection {
    /// The flow.
    pub flow: String,
    /// Which end: `client` or `server`.
    pub end: &'static str,
    /// Its host.
    pub host: String,
    /// Whether it sends the workload.
    #[serde(skip)]
    pub sends: bool,
    /// What failed, if anything: the call, and what the kernel said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What TCP_INFO said last; nothing if the connection never stood.
    pub last: Option<KernelView>,
    /// What it said in the course of the run.
    #[serde(skip)]
    pub samples: Vec<KernelView>,
}

/// What a kernel says of a connection (TCP_INFO) at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KernelView {
    /// When, seconds.
    pub at_s: f64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; null while there is none.
    pub ssthresh_bytes: Option<u64>,
    /// Smoothed round-trip time, milliseconds.
    pub srtt_ms: f64,
    /// Shortest round-trip time; null before the first.
    pub min_rtt_ms: Option<f64>,
    /// Retransmission timeout, milliseconds.
    pub rto_ms: f64,
    /// Rate of the latest delivery sample.
    pub delivery_rate_bit_s: f64,
    /// Bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Segments with data sent, again ones among them.
    pub data_segments_out: u64,
    /// Segments retransmitted.
    pub retransmitted_segments: u64,
    /// Timeouts; null where the kernel does not count them (before 6.7).
    pub timeouts: Option<u64>,
    /// Segments the peer reported as received twice.
    pub reported_duplicates: u64,
}

/// A program that ran in place of a flow's workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveCommand {
    /// The flow.
    pub flow: String,
    /// At which end: `client` or `server`.
    pub end: &'static str,
    /// The host it ran on.
    pub host: String,
    /// Its name and arguments.
    pub command: String,
    /// How it ended: `exited with 0`, `ended with the run`.
    pub outcome: String,
    /// The same for programs.
    #[serde(flatten)]
    pub ending: ProgramEnding,
    /// The files of the report with what it wrote, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// How a program ended; in JSON `exit_code`, null where it did not exit by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnding {
    /// With this exit code.
    Exited(i32),
    /// By a signal.
    BySignal,
    /// It was still there at the end of the run, and died with its host.
    WithTheRun,
}

impl Serialize for ProgramEnding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let code = match self {
            ProgramEnding::Exited(code) => Some(*code),
            ProgramEnding::BySignal | ProgramEnding::WithTheRun => None,
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("exit_code", &code)?;
        map.end()
    }
}
