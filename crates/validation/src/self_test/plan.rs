//! A case of the self-test: a path, two stock kernels, a workload and what goes wrong, as a scenario.

use super::peers::Change;
use super::run::Place;
use ackord_diagnose::Cause;
use ackord_live::Direction;
use ackord_path::TokenBucket;
use ackord_scenario::{Errors, Scenario, ScenarioFile};
use ackord_units::{Bytes, Rate};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The kernel at both ends.
pub(super) const KERNEL: &str = "6.12";

/// One run: `server == access == router == air == client`. Data crosses `air` forward; so it does
/// `access`. Every piece of text below is of the scenario format.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it tries; several plans may try the same.
    pub family: &'static str,
    /// What makes it unlike others of its family.
    pub variant: String,
    /// What is injected.
    pub injected: Vec<Cause>,
    /// What the scenario draws from.
    pub seed: u64,
    /// How long at most, in ms.
    pub duration_ms: u64,
    /// The rate of `air`, kbit/s.
    pub rate_kbit: u64,
    /// The round trip without queues, ms.
    pub rtt_ms: u64,
    /// What fits into the queue of `air`, packets.
    pub queue: u64,
    /// More of `air`, both directions.
    pub air: String,
    /// More of `air`, for the direction of acknowledgments.
    pub air_reverse: String,
    /// More of `access`.
    pub access: String,
    /// More of `access`, for the direction of acknowledgments.
    pub access_reverse: String,
    /// Of all endpoints.
    pub tcp: String,
    /// Of the flow.
    pub flow: String,
    /// What the applications do.
    pub traffic: String,
    /// Which way data goes.
    pub direction: Direction,
    /// Other hosts, links and flows.
    pub others: String,
    /// Who reads, where it is not the usual application, which reads at once.
    pub reader: Option<Reader>,
    /// The rate changes of `air`: from when (ms) which rate (kbit/s).
    pub rates: Vec<(u64, u64)>,
    /// A token bucket that holds `air` back.
    pub shaper: Option<Bucket>,
    /// When the flow begins, ms.
    pub start_ms: u64,
    /// What the client is.
    pub client: Client,
    /// Which part of the self-test the case belongs to.
    pub suite: Suite,
    /// Rewritings of the captures after the run, in order.
    pub changes: Vec<Change>,
    /// Places whose captures are scored.
    pub scored: &'static [Place],
}

/// Part of the self-test. Each has its own figures, so that those of one stay comparable when cases are
/// added to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Linux at both ends, whole captures.
    #[default]
    Kernels,
    /// Peers that are not Linux, captures that are not tidy.
    Peers,
}

/// What the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// A stock kernel.
    Kernel,
    /// Our own TCP, where a receiver is wanted that no setting makes of the kernel.
    Ours,
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// kbit/s.
    pub rate_kbit: u64,
    /// Bytes.
    pub burst: u64,
}

/// An application that takes its time: reads so many bytes, then pauses, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Bytes from one pause to the next.
    pub bytes: u64,
    /// How long a pause is, ms.
    pub pause_ms: u64,
}

impl Plan {
    /// A clean download in bulk with a queue of two bandwidth-delay products.
    pub fn new(family: &'static str, path: Path, seed: u64) -> Plan {
        let Path { rate_kbit, rtt_ms, congestion } = path;
        Plan {
            family,
            variant: format!("{}-{rtt_ms}ms-{congestion}", rate_name(rate_kbit)),
            injected: Vec::new(),
            seed,
            duration_ms: if rate_kbit >= 50_000 { 5_000 } else { 8_000 },
            rate_kbit,
            rtt_ms,
            queue: (2 * path.bdp_packets()).max(20),
            air: String::new(),
            air_reverse: String::new(),
            access: String::new(),
            access_reverse: String::new(),
            tcp: format!("congestion = \"{congestion}\"\n"),
            flow: String::new(),
            traffic: "\"bulk\"".to_owned(),
            direction: Direction::Download,
            others: String::new(),
            reader: None,
            rates: Vec::new(),
            shaper: None,
            start_ms: 50,
            client: Client::Kernel,
            suite: Suite::Kernels,
            changes: Vec::new(),
            scored: &Place::ALL,
        }
    }

    /// Its name: of its files, too.
    pub fn name(&self) -> String {
        format!("{}.{}.{}", self.family, self.variant, self.seed)
    }

    /// Whether several causes are injected.
    pub fn is_pair(&self) -> bool {
        self.injected.len() > 1
    }

    /// Whether none is.
    pub fn is_clean(&self) -> bool {
        self.injected.is_empty()
    }

    /// The scenario as a file.
    pub fn text(&self) -> String {
        let Plan { rtt_ms, rate_kbit, queue, .. } = self;
        let (data_from, data_to, sends) = match self.direction {
            Direction::Download => ("server", "client", "server"),
            Direction::Upload => ("client", "server", "client"),
        };
        let kernel = format!("kernel = \"{KERNEL}\"\n");
        let client = if self.client == Client::Kernel { &kernel } else { "" };
        let link = |node| if node == "client" { "air" } else { "access" };
        let mut text = format!(
            "version = 1\nname = \"self-test\"\nseed = {}\nduration = \"{} ms\"\n\
             [hosts.client]\n{client}[hosts.server]\n{kernel}\
             [routers.router]\n",
            self.seed, self.duration_ms
        );
        for (name, from, to) in
            [(link(data_from), data_from, "router"), (link(data_to), "router", data_to)]
        {
            let (rate, queue, more, reverse) = match name {
                "air" => (*rate_kbit, *queue, &self.air, &self.air_reverse),
                _ => (400_000, 5_000, &self.access, &self.access_reverse),
            };
            let _ = write!(
                text,
                "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 rate = \"{rate} kbit/s\"\ndelay = \"{} us\"\n\
                 queue = {{ kind = \"drop-tail\", limit = \"{queue} packets\" }}\n{more}",
                rtt_ms * 250,
            );
            if name == "air" {
                text.push_str(&self.rate_changes());
                text.push_str(&self.shaper.map(|it| it.key("shaper")).unwrap_or_default());
            }
            let _ = write!(text, "[links.reverse]\n{reverse}");
            if name == "air" && self.shaper.is_some() {
                text.push_str("shaper = \"none\"\n");
            }
            if name == "air" && !self.rates.is_empty() {
                text.push_str("rate_changes = \"none\"\n");
            }
        }
        let _ = write!(
            text,
            "[tcp]\nprofile = \"linux\"\n{}[[flows]]\nname = \"tried\"\nfrom = \"client\"\n\
             to = \"server\"\nsends = \"{sends}\"\nstart = \"{} ms\"\ntraffic = {}\n{}{}\n\
             [record]\ncaptures = [\"access\", \"access.reverse\", \"air\", \"air.reverse\"]\n",
            self.tcp, self.start_ms, self.traffic, self.flow, self.others,
        );
        text
    }

    fn rate_changes(&self) -> String {
        if self.rates.is_empty() {
            return String::new();
        }
        let list = |of: &dyn Fn(&(u64, u64)) -> String| {
            self.rates.iter().map(of).collect::<Vec<_>>().join(", ")
        };
        let at = list(&|(at, _)| format!("\"{at} ms\""));
        let to = list(&|(_, rate)| format!("\"{rate} kbit/s\""));
        format!("rate_changes = {{ kind = \"schedule\", at = [{at}], to = [{to}] }}\n")
    }

    /// The scenario.
    ///
    /// # Errors
    /// When the text is not sound, which the test of all cases excludes.
    pub fn scenario(&self) -> Result<Scenario, Errors> {
        ScenarioFile::new(format!("{}.toml", self.name()), self.text()).check()
    }

    /// The rate of `air` at this time of the run, bit/s.
    pub fn rate_at(&self, at_s: f64) -> f64 {
        let changed = self.rates.iter().rev().find(|(from, _)| *from as f64 / 1e3 <= at_s);
        changed.map_or(self.rate_kbit, |(_, rate)| *rate) as f64 * 1e3
    }

    /// The least time from a byte's sending to its acknowledgment: propagation, and what a full
    /// packet takes on each link.
    pub fn base_rtt_s(&self) -> f64 {
        self.rtt_ms as f64 / 1e3 + 1500.0 * 8.0 * (1.0 / (self.rate_kbit as f64 * 1e3) + 2.5e-9)
    }
}

impl Bucket {
    /// As a key of a link.
    pub(super) fn key(self, key: &str) -> String {
        let Bucket { rate_kbit, burst } = self;
        format!(
            "{key} = {{ kind = \"token-bucket\", rate = \"{rate_kbit} kbit/s\", burst = \"{burst} B\" }}\n"
        )
    }

    /// Full.
    pub(super) fn tokens(self) -> TokenBucket {
        TokenBucket::new(Rate::from_bits_per_sec(self.rate_kbit * 1000), Bytes(self.burst))
    }
}

/// What a path is like without trouble, and who sends over it.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// kbit/s.
    pub rate_kbit: u64,
    /// ms.
    pub rtt_ms: u64,
    /// The sender's congestion control.
    pub congestion: &'static str,
}

impl Path {
    /// What fits into a round trip.
    pub fn bdp_packets(self) -> u64 {
        self.rate_kbit * self.rtt_ms / 12_000
    }
}

fn rate_name(kbit: u64) -> String {
    if kbit.is_multiple_of(1000) { format!("{}M", kbit / 1000) } else { format!("{kbit}k") }
}
