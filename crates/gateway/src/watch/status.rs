//! A running gateway described: the one source of `ackord gateway status`, its JSON and the metrics.
//!
//! Plain data, filled once a second. Units stand in the names; counters count since the start; what the
//! reader of another version does not know is ignored, and what the writer did not know is empty.

use super::RateStatus;
use ackord_daemon::status::{Change, Compared, Group, Process, Standing};
use ackord_daemon::switchback::LinkCompared;
use ackord_daemon::{DelayStatus, Finding, Published};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// How many connections a status tells apart, at most: those with most bytes.
pub const TOP_FLOWS: usize = 20;

/// A running gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Its process.
    #[serde(flatten)]
    pub process: Process,
    /// Reloads that were refused.
    pub reloads_refused: u64,
    /// The connections it knows.
    #[serde(flatten)]
    pub flows: FlowCounts,
    /// TCP payload that passed towards the mobile hosts, bytes. Of connections that are let pass since they are too
    /// fast it is an estimate, here and of each: an eighth of the time is looked at, and counts eight times.
    #[serde(rename = "octets_to_mobile")]
    pub bytes_to_mobile: u64,
    /// TCP payload that came from them, bytes.
    #[serde(rename = "octets_from_mobile")]
    pub bytes_from_mobile: u64,
    /// Segments injected, both ways.
    pub injected_segments: u64,
    /// Of those, data towards the mobile hosts.
    pub injected_to_mobile: u64,
    /// And acknowledgments towards the fixed ones.
    pub injected_to_fixed: u64,
    /// What was to be injected and was not, by reason.
    pub refused_injections: BTreeMap<String, u64>,
    /// Frames that could not be understood: cut off, malformed, fragments, wrong checksums.
    pub unreadable: u64,
    /// Packets that it took out of the path by decision: acknowledgments removed, drops of its queues.
    pub dropped_by_gateway: u64,
    /// Bytes of segments that it keeps, headers included.
    #[serde(rename = "cached_octets")]
    pub cached_bytes: u64,
    /// The most it may keep.
    #[serde(rename = "cached_octets_limit")]
    pub cached_bytes_limit: u64,

    /// What it hears.
    pub rings: Vec<RingStatus>,
    /// From the packet that is the cause to the injection handed to the kernel.
    pub injection_lateness: DelayStatus,
    /// How much later than it asked to be called its loop came round.
    pub loop_lateness: DelayStatus,
    /// By rule, in their order.
    pub classes: Vec<ClassStatus>,
    /// What remedies do to the link as a whole; absent without turns.
    pub link: Option<LinkStatus>,
    /// By interface with a queue.
    pub queues: Vec<QueueStatus>,
    /// Mobile hosts by address, the busiest first; at most as many as `[limits] subscribers` allows.
    pub subscribers: Vec<SubscriberStatus>,
    /// The connections with most bytes, at most [`TOP_FLOWS`].
    pub top_flows: Vec<FlowStatus>,
    /// What is worth knowing, the worst first.
    pub health: Vec<Finding>,
}

impl Status {
    /// What was to be injected and was not, for whatever reason.
    pub fn refused_in_all(&self) -> u64 {
        self.refused_injections.values().sum()
    }
}

impl Published for Status {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// Turns of the whole link with remedies, compared with turns without: changes in percent. Each is absent until there are
/// two complete blocks of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkStatus {
    /// Whether remedies are at work in the present turn.
    pub treated_now: bool,
    /// Complete blocks of turns.
    pub blocks: u64,
    /// Payload that mobile hosts acknowledged in a turn.
    pub delivered_percent: Option<Change>,
    /// Time in which data was under way, per byte acknowledged.
    pub time_per_byte_percent: Option<Change>,
    /// Bytes sent towards the mobile hosts, per byte acknowledged.
    pub air_per_byte_percent: Option<Change>,
    /// Round trips behind the gateway of connections that get no remedy.
    pub others_delay_percent: Option<Change>,
}

impl LinkStatus {
    /// Returns the description of what turns have shown so far.
    pub fn of(compared: &LinkCompared, treated_now: bool) -> LinkStatus {
        let [delivered, time_per_byte, air_per_byte, others_delay] =
            compared.log_ratios.map(|ratio| ratio.map(Change::of));
        LinkStatus {
            treated_now,
            blocks: compared.blocks as u64,
            delivered_percent: delivered,
            time_per_byte_percent: time_per_byte,
            air_per_byte_percent: air_per_byte,
            others_delay_percent: others_delay,
        }
    }

    /// Returns each change with the name of what changes.
    pub fn changes(&self) -> [(&'static str, Option<Change>); 4] {
        [
            ("delivered", self.delivered_percent),
            ("time per byte", self.time_per_byte_percent),
            ("bytes on the air per byte", self.air_per_byte_percent),
            ("delay of others", self.others_delay_percent),
        ]
    }
}

/// How many connections a gateway knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowCounts {
    /// Connections it knows.
    #[serde(rename = "flows")]
    pub known: u64,
    /// Connections it has known.
    #[serde(rename = "flows_in_all")]
    pub in_all: u64,
    /// Known connections with a remedy at work.
    pub treated: u64,
    /// Known connections left alone, to be compared with.
    pub control: u64,
    /// Connections that had to make room for others.
    #[serde(rename = "forgotten_connections")]
    pub forgotten: u64,
    /// Recent connections opened from the LAN side; the count of both sides is halved at 200.
    pub opened_from_lan: u64,
    /// And from the WAN side.
    pub opened_from_wan: u64,
    /// Known connections whose mobile host is held to be out of reach.
    pub held: u64,
    /// How often one was.
    pub holds: u64,
    /// Of those, how often an acknowledgment showed that nothing had been lost.
    pub false_holds: u64,
}

/// What is heard of an interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RingStatus {
    /// Its name.
    pub interface: String,
    /// On which side it is: `wan` or `lan`.
    pub side: String,
    /// Packets heard or lost. Most of those of connections that are let pass need not be heard.
    pub packets: u64,
    /// Packets for which there was no room: they went on, unobserved.
    pub lost: u64,
    /// Whether they are asked for one by one, since there are few, and not in blocks.
    #[serde(default)]
    pub one_by_one: bool,
}

/// What became of the connections that a rule is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassStatus {
    /// The rule.
    pub name: String,
    /// What it asks for.
    pub remedy: String,
    /// Connections with the remedy at work.
    pub treated: u64,
    /// Connections left alone.
    pub control: u64,
    /// Segments injected for it.
    pub injected_segments: u64,
    /// Whether it is at work.
    pub standing: Standing,
    /// Goodput of a connection, bit/s.
    pub goodput_bit_s: Compared,
    /// Share of its life that a connection with data to deliver stood still, %.
    pub stalled_percent: Compared,
}

/// A queue in the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueStatus {
    /// The interface that it feeds.
    pub interface: String,
    /// Its discipline.
    pub discipline: String,
    /// The rate that it is served with now, bit/s.
    pub rate_bit_s: u64,
    /// Whether packets go through it.
    pub state: QueueState,
    /// Packets that left it.
    pub packets: u64,
    /// Their bytes.
    #[serde(rename = "octets")]
    pub bytes: u64,
    /// Packets in it.
    pub queued_packets: u64,
    /// Their bytes.
    #[serde(rename = "queued_octets")]
    pub queued_bytes: u64,
    /// Packets that it dropped, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Packets that it marked instead (ECN).
    pub marked: u64,
    /// How long packets were in it.
    pub delay: DelayStatus,
    /// How its rate follows the link; absent for a constant rate.
    pub follows: Option<RateStatus>,
}

/// Whether packets go through a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum QueueState {
    /// They do.
    #[default]
    Steering,
    /// The kernel forwards them past it.
    Forwarding {
        /// Why.
        why: String,
    },
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowStatus {
    /// The end behind the LAN interface.
    pub mobile: SocketAddr,
    /// The end behind the WAN interface.
    pub fixed: SocketAddr,
    /// The rule that it falls under.
    pub class: String,
    /// What is done for it.
    pub group: Group,
    /// TCP payload towards the mobile host, bytes.
    #[serde(rename = "octets_to_mobile")]
    pub bytes_to_mobile: u64,
    /// TCP payload from it, bytes.
    #[serde(rename = "octets_from_mobile")]
    pub bytes_from_mobile: u64,
    /// Segments injected, both ways.
    pub injected_segments: u64,
    /// What was to be injected and was not.
    pub refused_injections: u64,
    /// Bytes kept of it.
    #[serde(rename = "cached_octets")]
    pub cached_bytes: u64,
    /// Whether its mobile host is held to be out of reach.
    pub held: bool,
    /// Since its last packet, s.
    pub quiet_s: f64,
}

/// The connections of one address behind a LAN interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubscriberStatus {
    /// The address.
    pub address: IpAddr,
    /// Connections known now.
    pub flows: u64,
    /// Known connections with a remedy at work.
    pub treated: u64,
    /// Known connections whose mobile host is considered unreachable.
    pub held: u64,
    /// Connections since the gateway first observed it.
    pub flows_in_all: u64,
    /// TCP payload towards it, bytes.
    pub bytes_to_mobile: u64,
    /// TCP payload from it, bytes.
    pub bytes_from_mobile: u64,
    /// Segments injected, in both directions.
    pub injected_segments: u64,
    /// Time in which data towards it was unacknowledged, summed over connections, s.
    pub active_s: f64,
    /// Part of that time in stalls of half a second or more, s.
    pub stalled_s: f64,
    /// TCP payload towards it over the last 10 to 20 s, bit/s.
    pub rate_to_mobile_bit_s: f64,
    /// TCP payload from it over the same time, bit/s.
    pub rate_from_mobile_bit_s: f64,
    /// Mean round trip between the gateway and it over the same time, ms; absent without a sample.
    pub rtt_ms: Option<f64>,
    /// Share of that time with data under way that was spent in stalls, %; absent without data.
    pub stalled_percent: Option<f64>,
}
