//! A running agent described: the one source of `ackord agent status`, its JSON and the metrics.
//!
//! Plain data, filled once a second. Units stand in the names; counters count since the start; what the reader of
//! another version does not know is ignored, and what the writer did not know is empty.

use ackord_daemon::status::{Change, Compared, Process};
use ackord_daemon::switchback::LinkCompared;
use ackord_daemon::{Finding, Published};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A running agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Its process.
    #[serde(flatten)]
    pub process: Process,
    /// Control groups whose connections it follows.
    pub cgroups: Vec<String>,
    /// What tells applications apart.
    pub by: String,
    /// Whether it pulls levers; otherwise it only observes.
    pub acts: bool,
    /// Why it stands aside, where it does.
    pub stands_aside: Option<String>,
    /// Connections it follows.
    pub connections: u64,
    /// Connections there were since its start.
    pub connections_in_all: u64,
    /// Of these, those that were not followed: there were many, each shorter than any stall, and nothing was at work.
    pub connections_unobserved: u64,
    /// Connections for which there was no room.
    pub unfollowed: u64,
    /// Of those it follows, treated and left alone.
    pub treated: u64,
    /// Left alone, to be compared with.
    pub control: u64,
    /// Reports of its programs that were lost, since the ring was full.
    pub reports_lost: u64,
    /// Levers that the kernel did not take.
    pub refused: u64,
    /// Orders given to single connections.
    pub orders: u64,
    /// What settings do to the host as a whole; absent without turns.
    pub turns: Option<TurnsStatus>,
    /// Applications, those that lose most first.
    pub applications: Vec<ApplicationStatus>,
    /// Hosts to which packets overtake each other.
    pub hosts: Vec<HostStatus>,
    /// What stands in the journal.
    pub journal: Vec<String>,
    /// Whether enough was seen and no application loses anything that a lever would help against.
    pub nothing_to_gain: bool,
    /// What is worth knowing, the worst first.
    pub health: Vec<Finding>,
}

/// Turns of the whole host with settings, compared with turns without: changes in percent. Each is absent until there are
/// two complete blocks of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnsStatus {
    /// Whether settings are at work in the present turn.
    pub treated_now: bool,
    /// Complete blocks of turns.
    pub blocks: u64,
    /// Bytes delivered in a turn, both ways.
    pub delivered_percent: Option<Change>,
    /// Time in exchanges, per byte delivered.
    pub time_per_byte_percent: Option<Change>,
    /// Data segments sent, per byte delivered.
    pub segments_per_byte_percent: Option<Change>,
    /// Time in exchanges of applications without a setting, per byte that they delivered.
    pub others_time_per_byte_percent: Option<Change>,
}

impl TurnsStatus {
    /// Returns the description of what turns have shown so far.
    pub fn of(compared: &LinkCompared, treated_now: bool) -> TurnsStatus {
        let [delivered, time_per_byte, segments_per_byte, others] =
            compared.log_ratios.map(|ratio| ratio.map(Change::of));
        TurnsStatus {
            treated_now,
            blocks: compared.blocks as u64,
            delivered_percent: delivered,
            time_per_byte_percent: time_per_byte,
            segments_per_byte_percent: segments_per_byte,
            others_time_per_byte_percent: others,
        }
    }

    /// Returns each change with the name of what changes.
    pub fn changes(&self) -> [(&'static str, Option<Change>); 4] {
        [
            ("delivered", self.delivered_percent),
            ("time per byte", self.time_per_byte_percent),
            ("segments per byte", self.segments_per_byte_percent),
            ("time per byte of others", self.others_time_per_byte_percent),
        ]
    }
}

/// An application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApplicationStatus {
    /// Its name.
    pub name: String,
    /// Connections that it has, and has had.
    pub connections: u64,
    /// In all.
    pub connections_in_all: u64,
    /// Of all, those that were not followed: there were many, each shorter than any stall, and nothing was at work.
    pub connections_unobserved: u64,
    /// Of those it has, treated.
    pub treated: u64,
    /// And left alone.
    pub control: u64,
    /// Bytes that came and that were acknowledged.
    #[serde(rename = "octets")]
    pub bytes: u64,
    /// Time in exchanges (gaps between packets below 300 ms), s.
    pub active_s: f64,
    /// Time that small writes were held by Nagle's algorithm for 10 ms and longer, s.
    pub nagle_s: f64,
    /// How often.
    pub nagle_stalls: u64,
    /// Time that peers waited for delayed acknowledgments of this host, likewise, s.
    pub delayed_ack_s: f64,
    /// How often.
    pub delayed_ack_stalls: u64,
    /// What its history says, where it has one.
    pub history: Option<HistoryStatus>,
    /// Its levers.
    pub levers: Vec<LeverStatus>,
}

impl ApplicationStatus {
    /// What it loses, s.
    pub fn lost_s(&self) -> f64 {
        self.nagle_s + self.delayed_ack_s
    }
}

/// What an application usually transfers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryStatus {
    /// `short`, `bulk` or `unknown`.
    pub verdict: String,
    /// The most frequent size, bytes.
    #[serde(rename = "most_sent_octets")]
    pub most_sent_bytes: Option<u64>,
    /// Data segments that are to be acknowledged at once.
    pub quick_ack_segments: Option<u64>,
    /// Why.
    pub reason: String,
}

/// A lever of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeverStatus {
    /// Which.
    pub lever: String,
    /// How it stands.
    pub standing: Standing,
    /// Connections that began while it was at work, other than those left alone, and how many of them it has reached.
    pub reached: ReachedStatus,
    /// Bytes a second of exchanges, bit/s.
    pub goodput_bit_s: Compared,
    /// Share of the time of exchanges that is lost, percent.
    pub lost_percent: Compared,
}

/// Connections that began while a lever was at work, other than those left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReachedStatus {
    /// All of them.
    pub connections: u64,
    /// Those that it has reached.
    pub treated: u64,
}

/// Whether a lever is at work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Standing {
    /// The configuration does not want it.
    #[default]
    Off,
    /// It is seen whether it would be of use.
    Watching,
    /// It is at work.
    AtWork,
    /// It is not any more.
    Withdrawn {
        /// Why.
        why: String,
    },
}

impl Standing {
    /// In words.
    pub fn told(&self) -> &str {
        match self {
            Standing::Off => "off",
            Standing::Watching => "watching",
            Standing::AtWork => "at work",
            Standing::Withdrawn { .. } => "withdrawn",
        }
    }
}

/// A host with a route of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Its address.
    pub address: IpAddr,
    /// How far packets overtake each other, segments.
    pub reordering_segments: u32,
}

impl Published for Status {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}
