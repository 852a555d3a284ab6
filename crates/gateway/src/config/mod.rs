//! What a gateway is to do: a strict file in the manner of scenarios, or one line of options.
//!
//! ```text
//! file ──────► ConfigFile ─► GatewayConfig ─► what differs from the one at work (Reload)
//! one line ──►     ▲  └────► Errors, each with its line
//! (ConfigOptions) ─┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`GatewayConfig`] and what it is made of |
//! | `rules.rs` | [`Rules`]: which remedy for which connection |
//! | `conditions.rs` | [`Conditions`]: what a rule asks of a connection |
//! | `keys.rs` | every key of the file, for the checker and the schema |
//! | `file.rs` | [`ConfigFile`], [`ConfigOptions`]: texts on their way to a configuration |
//! | `check.rs` | a document into a [`GatewayConfig`], with every error there is |
//! | `rate.rs` | the rate of a queue, or the limits between which it follows its link |
//! | `read.rs` | networks, ports, DSCPs, marks and interfaces as they are written |
//! | `warnings.rs` | [`warnings()`]: what is sound and cannot help on this machine |
//! | `reload.rs` | [`Reload`]: from one configuration to another while running |
//!
//! Not there: variables, included files, conditions on names or times.

mod check;
mod conditions;
mod file;
mod keys;
mod rate;
mod read;
mod reload;
mod rules;
mod warnings;

use crate::in_path::{Decisions, Follow};
use ackord_daemon::config::per_mille;
use ackord_path::Queue;
use ackord_path::proxy::Proxy;
use ackord_path::registry::{ProxyChoice, QueueChoice, QueuePlace, UnknownFlow};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

pub use ackord_daemon::config::TurnsConfig;
pub use ackord_daemon::logs::{LogConfig, LogLevel, LogTarget};
pub use conditions::{Conditions, MarkMatch, PortRange};
pub use file::{ConfigFile, ConfigOptions};
pub use keys::json_schema as gateway_json_schema;
pub use reload::{CannotReload, Change, Effect, Reload};
pub use rules::{FlowFacts, Rule, RuleIndex, Rules};
pub use warnings::warnings;

/// What a gateway is to do. Whoever holds one can build it: every remedy and queue was built once.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayConfig {
    /// The interface towards the fixed hosts.
    pub wan: String,
    /// The interfaces towards the mobile hosts; one at least.
    pub lan: Vec<String>,
    /// Which remedy for which connection.
    pub rules: Rules,
    /// Queues in the path.
    pub queues: Queues,
    /// The share of connections that are left alone, to be compared with.
    pub control: Ratio,
    /// How much may be known, kept and injected.
    pub limits: LimitsConfig,
    /// Where metrics are served; nowhere when absent.
    pub metrics: Option<SocketAddr>,
    /// What is logged, and where.
    pub log: LogConfig,
    /// Where the journal, the lock and the control socket are.
    pub state: PathBuf,
    /// Turns of the whole link with remedies and without.
    pub turns: TurnsConfig,
    /// When a remedy that harms stands down.
    pub harm: HarmConfig,
}

/// Queues before the transmitters of interfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queues {
    /// Of what leaves towards the mobile hosts; of several interfaces each has one of its own.
    pub lan: Option<QueueConfig>,
    /// Of what leaves towards the fixed hosts.
    pub wan: Option<QueueConfig>,
}

/// A queue before the transmitter of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueConfig {
    /// Which discipline, with its knobs.
    pub discipline: QueueChoice,
    /// How fast it is emptied.
    pub rate: QueueRate,
}

/// How fast a queue is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueRate {
    /// At this rate.
    Fixed(Rate),
    /// At the rate of the link behind it.
    Auto(Follow),
}

impl QueueRate {
    /// The rate at the start.
    pub const fn first(&self) -> Rate {
        match self {
            QueueRate::Fixed(rate) => *rate,
            QueueRate::Auto(follow) => follow.limits.start,
        }
    }

    /// How it follows the link, if it does.
    pub const fn follow(&self) -> Option<Follow> {
        match self {
            QueueRate::Fixed(_) => None,
            QueueRate::Auto(follow) => Some(*follow),
        }
    }
}

impl fmt::Display for QueueRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueRate::Fixed(rate) => write!(f, "{rate}"),
            QueueRate::Auto(Follow { limits, decisions }) => {
                write!(f, "auto ({} to {}, from {}", limits.min, limits.max, limits.start)?;
                f.write_str(match decisions {
                    Decisions::Apply => ")",
                    Decisions::Report => "; decisions are only reported)",
                })
            }
        }
    }
}

/// How much may be known, kept and injected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitsConfig {
    /// Connections that are known; the one that was quiet longest makes room.
    pub connections: usize,
    /// Bytes of one connection that are kept.
    pub cache_per_flow: Bytes,
    /// Bytes of all connections that are kept.
    pub cache: Bytes,
    /// The most bytes that are injected into a connection, as a share of those that passed in it.
    pub injected: Ratio,
    /// The most that is injected into all connections together.
    pub injected_rate: Rate,
    /// A connection that is faster is let pass: no wireless link is behind it.
    pub fast: Rate,
    /// How much data towards the mobile hosts is copied; where more passes an interface only headers are.
    pub copied: Rate,
    /// Mobile hosts listed by address in status and metrics.
    pub subscribers: usize,
}

/// When a remedy stands down for the connections of a rule, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmConfig {
    /// The probability, at most, of standing down though the remedy does no harm.
    pub significance: Ratio,
    /// How long the treated connections have to be worse off without a break.
    pub sustained: Span,
    /// Connections of each kind, treated and control, of which enough was seen before anything is concluded.
    pub flows: u64,
    /// After how long it is tried again; never when absent.
    pub retry: Option<Span>,
}

impl GatewayConfig {
    /// Where metrics are served where nothing else is said.
    pub const METRICS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9469);
    /// Where the state is where nothing else is said: nothing that is undone at the next start outlives the machine's
    /// memory. Not the agent's directory: systemd moves one that units with and without `DynamicUser=` share, from under
    /// whichever runs.
    pub const STATE: &str = "/run/ackord-gateway";
    /// The share of connections left alone where nothing else is said.
    pub const CONTROL: &str = "5 %";

    /// Of a thousand connections so many are left alone.
    pub fn control_per_mille(&self) -> u16 {
        per_mille(self.control)
    }

    /// Each queue with the interface whose packets wait in it.
    pub fn queues(&self) -> impl Iterator<Item = (&str, &QueueConfig)> {
        let lan = self.lan.iter().map(String::as_str);
        let lan = lan.filter_map(|name| Some((name, self.queues.lan.as_ref()?)));
        lan.chain(self.queues.wan.as_ref().map(|queue| (self.wan.as_str(), queue)))
    }

    /// Whether any connection may get a remedy.
    pub fn has_remedies(&self) -> bool {
        self.rules.iter().any(|(_, _, remedy)| remedy.is_some())
    }
}

impl QueueConfig {
    /// What a queue that has to know its link's delay takes it to be before it has learnt better.
    pub(crate) const DELAY: Span = Span::from_millis(10);

    /// The queue, empty. One that draws at random draws by `seed`.
    ///
    /// # Errors
    /// Where it has a weight for a flow: flows have no names on a router.
    pub fn build(&self, seed: u64) -> Result<Queue, UnknownFlow> {
        let flow_named = |_: &str| None;
        let stream = RandomStream::for_element(seed, "queue");
        let context = QueuePlace {
            rate: self.rate.first(),
            delay: Self::DELAY,
            flow_named: &flow_named,
            stream,
        };
        self.discipline.config().build(&context)
    }
}

impl fmt::Display for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", ackord_scenario::choice_text(&self.discipline), self.rate)
    }
}

impl HarmConfig {
    /// As classes follow it.
    pub fn stand_down(&self) -> crate::StandDown {
        crate::StandDown {
            confidence: 1.0 - self.significance.get(),
            sustained: self.sustained,
            connections: self.flows as usize,
            retry: self.retry,
        }
    }
}

impl LimitsConfig {
    /// As connections are counted.
    pub fn limits(&self) -> crate::Limits {
        crate::Limits {
            connections: self.connections,
            bytes_each: self.cache_per_flow,
            bytes_in_all: self.cache,
            idle_for: Self::IDLE_FOR,
            injected_per_mille: (self.injected.get() * 1_000.0).round() as u64,
            injected_rate: self.injected_rate,
            fast: self.fast,
        }
    }

    /// A connection is forgotten this long after its last packet: RFC 5382 §5 has address translators keep
    /// them for two hours and four minutes, but what is forgotten here goes on all the same.
    const IDLE_FOR: Span = Span::from_secs(600);
}

/// The box of a remedy, if it is one that a gateway may have: one that splits connections acknowledges bytes
/// that the mobile host does not have, and they would be lost with it.
pub(crate) fn build_remedy(choice: &ProxyChoice) -> Option<Proxy> {
    let config = choice.config();
    (!config.splits()).then(|| config.build())
}

#[cfg(test)]
mod tests;
