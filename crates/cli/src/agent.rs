//! `ackord agent`: delayed acknowledgments, quick acknowledgments and Nagle's algorithm on the sockets of this host.
//!
//! | file | what |
//! | --- | --- |
//! | `agent.rs` | the commands there are, and what several of them take |
//! | `agent/run.rs` | `ackord agent run`, `advise` and `rollback` |
//! | `agent/status.rs` | `ackord agent status` and `stop` |
//! | `agent/tables.rs` | a status as tables |
//! | `agent/explain.rs` | `ackord agent explain` and `adopt` |
//! | `agent/probe.rs` | `ackord agent probe`: what this kernel allows |
//! | `agent/plan.rs` | `ackord agent plan` and `check` |
//!
//! What takes the agent's programs for the kernel is there with the feature `agent` only; otherwise it says how to
//! build them.

mod explain;
mod plan;
mod probe;
mod run;
mod status;
mod tables;

use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use ackord_agent::config::{AgentConfig, ConfigFile, ConfigOptions, agent_json_schema};
use clap::{Args, Subcommand};
#[cfg(feature = "agent")]
use std::path::Path;
use std::path::PathBuf;

/// Delayed acknowledgments, quick acknowledgments and Nagle's algorithm on the sockets of this host
///
/// Small programs in the kernel measure, per connection, the time lost to delayed ACKs and Nagle's algorithm. The agent
/// applies the smallest setting that helps to most connections, and leaves a control group alone for comparison; what
/// decides is the code that `ackord run` simulates. No packet waits for it. Everything is taken back when it ends (unless
/// `on_exit` is "keep"); after kill -9 the next start, or `ackord agent rollback`, takes back what is left. It needs Linux
/// 5.15 with BTF and cgroup v2, CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_PTRACE; `ackord agent probe` names what is missing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentArguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  ackord agent probe                                   # what this kernel allows
  ackord agent advise --for 5min                       # only look: what would be gained?
  ackord agent run --all
  ackord agent status --watch                          # from another terminal
  ackord agent run --cgroup /sys/fs/cgroup/system.slice/app.service --for 60s";

#[derive(Subcommand)]
enum What {
    Run(run::RunArguments),
    Advise(run::AdviseArguments),
    Status(status::StatusArguments),
    Stop(status::StopArguments),
    Adopt(explain::AdoptArguments),
    Explain(explain::ExplainArguments),
    Rollback(run::RollbackArguments),
    Probe(probe::ProbeArguments),
    Check(plan::CheckArguments),
    Plan(plan::PlanArguments),
    /// Print the JSON Schema of an agent's configuration, for editors
    ///
    /// Put `#:schema agent.schema.json` into the first line of the file.
    #[command(after_help = "For example:\n  ackord agent schema > agent.schema.json")]
    Schema,
}

pub(crate) fn agent(arguments: &AgentArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Run(arguments) => run::run(arguments, console),
        What::Advise(arguments) => run::advise(arguments, console),
        What::Status(arguments) => status::status(arguments, console),
        What::Stop(arguments) => status::stop(arguments, console),
        What::Adopt(arguments) => explain::adopt(arguments, console),
        What::Explain(arguments) => explain::explain(arguments, console),
        What::Rollback(arguments) => run::rollback(arguments, console),
        What::Probe(arguments) => probe::probe(arguments, console),
        What::Check(arguments) => plan::check(arguments, console),
        What::Plan(arguments) => plan::plan(arguments, console),
        What::Schema => Ok(console.print(&ackord_report::data::to_json(&agent_json_schema()))?),
    }
}

/// A configuration: a file, or a line of options.
#[derive(Args)]
pub(crate) struct ConfigArguments {
    /// The configuration file; without one, options say what is to be done
    config: Option<PathBuf>,
    /// Connections of the processes in this control group (version 2) and below it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "all"])]
    cgroup: Option<String>,
    /// Connections of all processes of this machine
    #[arg(long, conflicts_with = "config")]
    all: bool,
    /// What tells applications apart: service, cgroup, unit, container, executable or port [default: service]
    #[arg(long, value_name = "WHAT", conflicts_with = "config")]
    by: Option<String>,
    /// What may be done: nodelay, delayed-ack, quick-ack or none; may be given several times [default: the first two]
    #[arg(long = "lever", value_name = "NAME", conflicts_with = "config")]
    levers: Vec<String>,
    /// The share of connections that are left alone, to be compared with [default: 5%]
    #[arg(long, value_name = "SHARE", conflicts_with = "config")]
    control: Option<String>,
    /// Add a routing table whose routes acknowledge each segment immediately, for quick-ack; removed at the end
    #[arg(long, conflicts_with = "config")]
    quick: bool,
}

impl ConfigArguments {
    #[cfg(feature = "agent")]
    fn path(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The configuration's text, not yet checked.
    fn file(&self) -> Result<ConfigFile, Failure> {
        if let Some(path) = &self.config {
            return Ok(ConfigFile::open(path)?);
        }
        let options = ConfigOptions {
            cgroup: self.cgroup.clone(),
            by: self.by.clone(),
            levers: self.levers.clone(),
            control: self.control.clone(),
            quick: self.quick,
        };
        Ok(options.file())
    }

    /// The configuration, in which nobody is meant who was not named.
    fn config(&self, need: Named) -> Result<AgentConfig, Failure> {
        let is_named = self.config.is_some() || self.cgroup.is_some() || self.all;
        if need == Named::Explicitly && !is_named {
            return Err(DaemonFailure::NobodyNamed.into());
        }
        Ok(self.file()?.check()?)
    }
}

/// Whether it has to be said whose connections are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// It has to.
    Explicitly,
    /// All are meant where nobody is named: nothing is changed.
    OrAll,
}

/// Which agent is asked.
#[derive(Args)]
pub(crate) struct Whom {
    /// The state directory of the agent
    #[arg(long, value_name = "DIRECTORY", default_value = AgentConfig::STATE)]
    state: PathBuf,
}
