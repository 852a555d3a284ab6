//! What a checked scenario file says, as values: every name resolved, every group expanded, every
//! knob filled in.

use crate::exec::Exec;
use ackord_path::Trace;
use ackord_path::registry::{
    CorruptionChoice, DuplicationChoice, JitterChoice, LossChoice, MediumChoice, OutageChoice,
    PolicerChoice, ProcessingChoice, ProxyChoice, QueueChoice, RateChangesChoice, ShaperChoice,
};
use ackord_tcp::registry::Stack;
use ackord_traffic::{Transport, WorkloadChoice};
use ackord_units::{Rate, Span};
use ackord_wire::{NodeId, Side};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

/// A checked scenario. Whoever holds one can build it: names resolve, every flow has a path, every
/// value is in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Version of the file format: 1.
    pub version: u32,
    /// Short name, for reports.
    pub name: String,
    /// Why the scenario exists; empty where the file does not say.
    pub purpose: String,
    /// Paper and table, RFC section, or "this project"; empty where the file does not say.
    pub source: String,
    /// What every random stream of the run derives from.
    pub seed: u64,
    /// How long the run lasts; more than zero.
    pub duration: Span,
    /// Hosts, then routers, each in order of name; a [`NodeId`] is an index into this.
    pub nodes: Vec<Node>,
    /// Links in the order of the file.
    pub links: Vec<Link>,
    /// Middleboxes in the order of the file.
    pub proxies: Vec<Proxy>,
    /// Flows in the order of the file.
    pub flows: Vec<Flow>,
    /// What to keep of the run beside its summary.
    pub record: Record,
}

/// A host or a router.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, unique among hosts and routers.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// How long it takes for what it sends; no time when
    /// absent. Only hosts have it.
    pub processing: Option<ProcessingChoice>,
    /// The stock kernel whose TCP its ends of flows are; our own when absent. Only hosts have it.
    pub kernel: Option<KernelChoice>,
}

/// Which stock kernel a host runs: written `6.12`, or `6.12@1000` with its ticks per second.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelChoice {
    /// A version, or the name that a kernel of one's own was given.
    pub name: String,
    /// Ticks per second (`CONFIG_HZ`); as Debian's when absent.
    pub hz: Option<u32>,
}

impl KernelChoice {
    /// Reads `NAME` or `NAME@HZ`; nothing where it is neither.
    pub fn parse(text: &str) -> Option<KernelChoice> {
        let (name, hz) = match text.split_once('@') {
            Some((name, hz)) => (name, Some(hz.parse().ok().filter(|hz| *hz > 0)?)),
            None => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let sound = !name.is_empty() && name.chars().all(is_name);
        sound.then(|| KernelChoice { name: name.to_owned(), hz })
    }
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hz {
            Some(hz) => write!(f, "{}@{hz}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What a node does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Ends of flows live here; it forwards nothing.
    Host,
    /// Forwards packets.
    Router,
}

/// A duplex link: two directions, independent unless they share a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, unique among links; the reverse direction is called `NAME.reverse`.
    pub name: String,
    /// One end.
    pub from: NodeId,
    /// The other end, never the same.
    pub to: NodeId,
    /// What carries packets from `from` to `to`.
    pub forward: Direction,
    /// What carries packets from `to` to `from`.
    pub reverse: Direction,
    /// The medium both directions share, which then transmits
    /// at their rates; nothing where each has a transmitter of its own.
    pub medium: Option<MediumChoice>,
}

/// Which way along a duplex link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the link's `from` to its `to`.
    Forward,
    /// From the link's `to` to its `from`.
    Reverse,
}

/// One direction of a link: policer, queue, transmitter, wire, in that order. What happens to a packet on
/// the wire: outage, loss, damage, duplication, in that order.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// Transmission rate; more than zero.
    pub rate: Rate,
    /// Propagation delay; the mean where there is jitter.
    pub delay: Span,
    /// How the delay is drawn; constant when absent.
    pub jitter: Option<JitterChoice>,
    /// How the rate changes; never when absent.
    pub rate_changes: Option<RateChangesChoice>,
    /// When packets are delivered, in place of `rate`, which then only says what queues take it to
    /// be; nothing for a transmitter of that rate.
    pub trace: Option<TraceFile>,
    /// What holds the transmitter back; nothing when absent.
    pub shaper: Option<ShaperChoice>,
    /// What drops packets before the queue; nothing when absent.
    pub policer: Option<PolicerChoice>,
    /// The queue before the transmitter.
    pub queue: QueueChoice,
    /// When it is out; never when absent.
    pub outage: Option<OutageChoice>,
    /// What the wire loses; nothing when absent.
    pub loss: Option<LossChoice>,
    /// What it damages; nothing when absent.
    pub corrupt: Option<CorruptionChoice>,
    /// What arrives twice; nothing when absent.
    pub duplicate: Option<DuplicationChoice>,
}

/// A file of delivery opportunities, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    file: String,
    sha256: String,
    trace: Arc<Trace>,
}

impl TraceFile {
    pub(crate) fn new(file: String, trace: Trace) -> TraceFile {
        let digest = Sha256::digest(trace.to_text().as_bytes());
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        TraceFile { file, sha256, trace: Arc::new(trace) }
    }

    /// Its name as the scenario has it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What stands for its content: the SHA-256 of its numbers, one per line, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// What is in it.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }
}

/// A place for a middlebox at a wireless link.
#[derive(Clone, Debug, PartialEq)]
pub struct Proxy {
    /// Its name, unique among boxes.
    pub name: String,
    /// The router it stands at: an end of the link.
    pub at: NodeId,
    /// Index into [`Scenario::links`]: the link towards the mobile hosts.
    pub link: usize,
    /// The direction of that link in which packets go to the mobile hosts.
    pub to_mobile: Way,
    /// Which box; nothing where the file says `none`.
    pub choice: Option<ProxyChoice>,
    /// When it dies, from the start of the run.
    pub dies: Option<Span>,
    /// When it begins anew; later than it dies.
    pub restarts: Option<Span>,
}

/// A connection and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, unique among flows.
    pub name: String,
    /// The application whose transfers these are; the flow's name where the file does not say.
    pub application: String,
    /// The end that opens the connection.
    pub client: NodeId,
    /// The end that accepts it.
    pub server: NodeId,
    /// When the client opens it.
    pub start: Start,
    /// The end that sends the workload.
    pub sends: Side,
    /// The workload.
    pub traffic: WorkloadChoice,
    /// The client's endpoint; the registries' defaults, and used by nobody, where the flow is
    /// [not TCP's](Flow::transport).
    pub client_tcp: Stack,
    /// The server's endpoint, likewise.
    pub server_tcp: Stack,
    /// The commands that stand in for the workload in a live run; nothing where the workload
    /// itself runs there too.
    pub exec: Option<Exec>,
}

/// When a flow starts, from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Span),
    /// At a time drawn uniformly, both ends included, from a stream of the run's seed.
    Uniform {
        /// Earliest.
        from: Span,
        /// Latest; not before `from`.
        to: Span,
    },
}

/// What to keep of a run beside its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time from one sample of a plotted series to the next; more than zero.
    pub series: Span,
    /// Where packets are captured.
    pub captures: Vec<Capture>,
}

/// One direction of a link on which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capture {
    /// Index into [`Scenario::links`].
    pub link: usize,
    /// Which direction.
    pub way: Way,
}

impl Scenario {
    /// The seed of a file that names none.
    pub const DEFAULT_SEED: u64 = 1;

    /// The node of this number.
    ///
    /// # Panics
    /// If the number is not one of this scenario's.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id.0)]
    }

    /// Every node with its number.
    pub fn nodes_with_ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0u16..).map(NodeId).zip(&self.nodes)
    }
}

impl Record {
    /// Time between samples where a file does not say.
    pub const DEFAULT_SERIES: Span = Span::from_millis(10);
}

impl Way {
    /// The opposite direction.
    pub const fn other(self) -> Way {
        match self {
            Way::Forward => Way::Reverse,
            Way::Reverse => Way::Forward,
        }
    }
}

impl Link {
    /// The direction of this link that goes `way`.
    pub fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::Forward => &self.forward,
            Way::Reverse => &self.reverse,
        }
    }

    /// What the direction is called in captures, random streams and reports.
    pub fn direction_name(&self, way: Way) -> String {
        match way {
            Way::Forward => self.name.clone(),
            Way::Reverse => format!("{}.reverse", self.name),
        }
    }
}

impl Scenario {
    /// A sentence for each link of which only one direction is captured: data without its
    /// acknowledgments, or the other way round, which is seldom meant.
    pub fn directions_not_captured(&self) -> Vec<String> {
        let is_there = |link, way| self.record.captures.contains(&Capture { link, way });
        let alone = |capture: &&Capture| !is_there(capture.link, capture.way.other());
        let sentence = |capture: &Capture| {
            let link = &self.links[capture.link];
            format!(
                "`record.captures` names `{}` without `{}`: that direction is not captured",
                link.direction_name(capture.way),
                link.direction_name(capture.way.other())
            )
        };
        self.record.captures.iter().filter(alone).map(sentence).collect()
    }
}

impl Flow {
    /// What carries the workload.
    pub fn transport(&self) -> Transport {
        self.traffic.config().transport()
    }

    /// The endpoint of the end that sends the workload.
    pub fn sender_tcp(&self) -> &Stack {
        self.tcp(self.sends)
    }

    /// The endpoint of the end that receives the workload.
    pub fn receiver_tcp(&self) -> &Stack {
        self.tcp(self.sends.other())
    }

    /// The endpoint at `side`.
    pub fn tcp(&self, side: Side) -> &Stack {
        match side {
            Side::Client => &self.client_tcp,
            Side::Server => &self.server_tcp,
        }
    }
}

impl Start {
    /// The latest time at which the flow may start.
    pub const fn latest(self) -> Span {
        match self {
            Start::At(at) => at,
            Start::Uniform { to, .. } => to,
        }
    }
}
