//! What an agent is to do: a strict file in the manner of scenarios, or one line of options.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`AgentConfig`] and what it is made of |
//! | `keys.rs` | every key of the file, for the checker and the schema |
//! | `check.rs` | a document into an [`AgentConfig`], with every error there is |
//! | `file.rs` | [`ConfigFile`], [`ConfigOptions`]: texts on their way to a configuration |
//!
//! Not there: variables, included files, conditions on addresses: a connection gets what its application gets.

mod check;
mod file;
mod keys;
#[cfg(test)]
mod tests;

use crate::application::Allowed;
use crate::cgroups;
use crate::engine::EngineConfig;
use crate::lever::{Lever, Rule};
use crate::names::By;
use crate::routes::Table;
use ackord_daemon::config::{TurnsConfig, per_mille};
use ackord_daemon::logs::LogConfig;
use ackord_units::{Ratio, Span};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

pub use file::{ConfigFile, ConfigOptions};
pub use keys::json_schema as agent_json_schema;

/// What an agent is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentConfig {
    /// The control group whose connections it follows, with all below it; the whole hierarchy when absent.
    pub cgroup: Option<PathBuf>,
    /// What tells applications apart.
    pub by: By,
    /// Levers for applications of which no rule says something else.
    pub levers: Vec<Lever>,
    /// Exceptions, the first that matches is the one.
    pub applications: Vec<ApplicationRule>,
    /// The share of connections that are left alone, to be compared with.
    pub control: Ratio,
    /// What becomes of levers at its end.
    pub on_exit: OnExit,
    /// When levers begin and end.
    pub rule: RuleConfig,
    /// Turns of the whole host with settings and without.
    pub turns: TurnsConfig,
    /// The table of quick routes; none when absent.
    pub quick: Option<Table>,
    /// Routes of single hosts; none when absent.
    pub routes: Option<RoutesConfig>,
    /// `net.ipv4.tcp_pingpong_thresh` of this network namespace; as it is when absent.
    pub pingpong_thresh: Option<u8>,
    /// How much may be known.
    pub limits: LimitsConfig,
    /// The store of histories; none when absent.
    pub history: Option<PathBuf>,
    /// Pods that want it, in Kubernetes; all connections are followed when absent.
    pub pods: Option<PodsConfig>,
    /// Where metrics are served; nowhere when absent.
    pub metrics: Option<SocketAddr>,
    /// What is logged, and where.
    pub log: LogConfig,
    /// Where the journal, the lock and the control socket are.
    pub state: PathBuf,
}

/// What is done for some applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationRule {
    /// Their names; `*` stands for anything.
    pub names: Vec<String>,
    /// Their levers; none leaves them alone.
    pub levers: Vec<Lever>,
}

/// What becomes of levers when the agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExit {
    /// Everything is as it was before.
    Restore,
    /// Connections keep what they have as long as they live.
    Keep,
}

/// When levers begin and end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleConfig {
    /// The share of the time of exchanges that is lost, at least.
    pub least_share: Ratio,
    /// The time that is lost, at least.
    pub least_lost: Span,
    /// In so many waits, at least.
    pub least_stalls: u64,
    /// After so many treated connections a lever is withdrawn unless it helps.
    pub enough: u64,
    /// Connections of either group before anything is concluded.
    pub each: u64,
    /// The probability, at most, of withdrawing for a harm that is none.
    pub significance: Ratio,
    /// After how long a withdrawn lever is tried anew; never when absent.
    pub retry: Option<Span>,
}

/// Routes of single hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutesConfig {
    /// Their table.
    pub table: Table,
    /// Segments that may be sent at first; as the kernel has it when absent.
    pub initcwnd: Option<u32>,
}

/// How much may be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Connections.
    pub connections: u64,
    /// Applications.
    pub applications: u64,
    /// How often a connection is reported at most.
    pub report_every: Span,
}

/// Pods of Kubernetes that want the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodsConfig {
    /// A list of pods as the API has it (`PodList`), written anew by whoever may ask for it.
    pub file: PathBuf,
    /// The annotation by which a pod opts in (`on`).
    pub annotation: String,
}

impl AgentConfig {
    /// Where metrics are served where nothing else is said.
    pub const METRICS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9470);
    /// Where the state is where nothing else is said.
    pub const STATE: &str = "/run/ackord";
    /// The share of connections left alone where nothing else is said.
    pub const CONTROL: &str = "5 %";
    /// The share of turns without settings where nothing else is said: as many as connections are left alone.
    pub const UNTREATED: &str = "5 %";

    /// Which levers an application with these names may have.
    pub fn allowed(&self, names: &[impl AsRef<str>]) -> Allowed {
        let is_meant = |pattern: &String| names.iter().any(|name| matches(pattern, name.as_ref()));
        let rule = self.applications.iter().find(|rule| rule.names.iter().any(is_meant));
        let levers = rule.map_or(&self.levers, |rule| &rule.levers);
        Allowed::of(levers.iter().copied())
    }

    /// Of a thousand connections so many are left alone.
    pub fn control_per_mille(&self) -> u16 {
        per_mille(self.control)
    }

    /// How an engine works by this.
    pub fn engine(&self, acts: bool, delack_least: Span) -> EngineConfig {
        EngineConfig {
            acts,
            control_per_mille: self.control_per_mille(),
            delack_least,
            has_quick_routes: self.quick.is_some(),
            rule: Rule {
                least_share: self.rule.least_share.get(),
                least_lost: self.rule.least_lost,
                least_stalls: self.rule.least_stalls as u32,
                enough: self.rule.enough as usize,
                each: self.rule.each as usize,
                confidence: 1.0 - self.rule.significance.get(),
                retry: self.rule.retry,
            },
            turns: self.turns.turns(),
            connections: self.limits.connections as usize,
            applications: self.limits.applications as usize,
        }
    }
}

/// What of a sound configuration cannot be done on this machine as it is now.
pub fn warnings(config: &AgentConfig) -> Vec<String> {
    let mount = cgroups::mounted().ok().flatten();
    let of = |path: &PathBuf| {
        let path_told = path.display();
        match &mount {
            None => Some("no hierarchy of control groups of version 2 is mounted".to_owned()),
            Some(mount) if !cgroups::may_become_one(mount, path) => Some(format!(
                "`{path_told}` is no control group of version 2 and cannot become one: these are below `{}`",
                mount.display()
            )),
            Some(_) if !path.exists() => Some(format!(
                "there is no control group `{path_told}` at present; the agent waits for it"
            )),
            Some(_) => None,
        }
    };
    config.cgroup.iter().filter_map(of).collect()
}

/// Whether a name is one that a pattern stands for.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = name.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    // What lies between two stars is best found as early as can be.
    parts.all(|part| match rest.split_once(part) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}
