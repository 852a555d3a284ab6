//! `ackord agent run`: the daemon, in the foreground; `advise`: the same, only looking; `rollback`: what one left.

use super::{ConfigArguments, Whom};
use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use ackord_units::{Quantity, Span};
use clap::Args;
use std::path::PathBuf;

/// Pull levers for the connections of this host, until Ctrl-C
///
/// Applications whose connections lose time get the least lever that helps, some of their connections being left alone
/// to be compared with; a lever that does not help, or harms, is withdrawn and said so. SIGHUP reads the file anew and
/// keeps every connection; SIGTERM and Ctrl-C end it and take back what it did.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(super) config: ConfigArguments,
    /// End by itself after this time, and tell what was gained
    #[arg(long = "for", value_name = "SPAN", value_parser = span)]
    pub(super) span: Option<Span>,
    /// Whether connections keep what they have when it ends, in place of the configuration's `on_exit`
    #[arg(long, value_name = "HOW", value_parser = ["restore", "keep"])]
    pub(super) on_exit: Option<String>,
    /// Follow connections that are open already, too
    #[arg(long)]
    pub(super) adopt: bool,
    /// Only observe, as `advise` does, but as a daemon that can be asked
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The directory of the control socket, the lock and the journal, in place of the configuration's
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) state: Option<PathBuf>,
    /// Print the last status as JSON when it ends
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ackord agent run --all
  ackord agent run --cgroup /sys/fs/cgroup/system.slice/app.service --for 60s
  ackord agent run --all --by unit --quick
  ackord agent run /etc/ackord/agent.toml
  ackord agent status                                  from another terminal";

/// Only look, and say what would be gained; nothing is changed
///
/// For each application: how long its small writes were held by Nagle's algorithm, how long its peers waited for
/// delayed acknowledgments of this host, and what a lever would leave of that. Where that is nothing, it says so.
/// Ctrl-C ends it earlier.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord agent advise\n  ackord agent advise --by port --for 30s --json"
)]
pub(crate) struct AdviseArguments {
    #[command(flatten)]
    pub(super) config: ConfigArguments,
    /// For how long
    #[arg(long = "for", value_name = "SPAN", default_value = "1min", value_parser = span)]
    pub(super) span: Span,
    /// Follow connections that are open already, too
    #[arg(long)]
    pub(super) adopt: bool,
    /// Print JSON instead
    #[arg(long)]
    pub(super) json: bool,
}

/// Take back what an agent left behind: after a crash, or one that ended with `--on-exit keep`
///
/// By its journal: options of sockets that still live, routes and rules, settings. What somebody else has changed since
/// is left alone. The next start of an agent does the same.
#[derive(Args)]
pub(crate) struct RollbackArguments {
    #[command(flatten)]
    pub(super) whom: Whom,
}

fn span(text: &str) -> Result<Span, String> {
    let span =
        Span::parse(&ackord_scenario::spelling::span(text)).map_err(|error| error.to_string())?;
    match span {
        Span::ZERO => Err("longer than nothing, like 60s".to_owned()),
        span => Ok(span),
    }
}

#[cfg(not(feature = "agent"))]
pub(super) fn run(_: &RunArguments, _: &Console) -> Result<(), Failure> {
    Err(DaemonFailure::WithoutAgent.into())
}

#[cfg(not(feature = "agent"))]
pub(super) fn advise(_: &AdviseArguments, _: &Console) -> Result<(), Failure> {
    Err(DaemonFailure::WithoutAgent.into())
}

#[cfg(not(feature = "agent"))]
pub(super) fn rollback(_: &RollbackArguments, _: &Console) -> Result<(), Failure> {
    Err(DaemonFailure::WithoutAgent.into())
}

#[cfg(feature = "agent")]
pub(super) use with_programs::{advise, rollback, run};

#[cfg(feature = "agent")]
mod with_programs {
    use super::super::{Named, tables};
    use super::*;
    use crate::daemons::service;
    use ackord_agent::config::{AgentConfig, OnExit};
    use ackord_agent::{Daemon, DaemonError, Journal, News, Source};
    use ackord_daemon::logs::Logs;
    use ackord_daemon::sandbox::{self, Capability, Needs};
    use ackord_daemon::{Undone, monotonic};
    use ackord_report::{data, to_terminal};
    use ackord_units::Time;

    /// What options change in a configuration, however often it is read.
    fn amend(arguments: &RunArguments) -> impl Fn(&mut AgentConfig) + use<> {
        let (state, dry_run) = (arguments.state.clone(), arguments.dry_run);
        let on_exit = arguments.on_exit.as_deref().map(|word| match word {
            "keep" => OnExit::Keep,
            _ => OnExit::Restore,
        });
        move |config| {
            if let Some(state) = &state {
                config.state.clone_from(state);
            }
            config.on_exit = on_exit.unwrap_or(config.on_exit);
            if dry_run {
                // A daemon of whose levers none begins.
                config.levers.clear();
                config.applications.clear();
            }
        }
    }

    pub(crate) fn run(arguments: &RunArguments, console: &Console) -> Result<(), Failure> {
        let mut config = arguments.config.config(Named::Explicitly)?;
        let amend = amend(arguments);
        amend(&mut config);
        let logs = Logs::start(config.log).map_err(DaemonFailure::Log)?;
        confine(&config);
        let wishes = service::listen()?;
        let path = arguments.config.path().map(PathBuf::from);
        let file = path.map(|path| Source { path, amend: Box::new(amend) });
        let mut daemon = Daemon::open(config, file, true)?;
        if arguments.adopt {
            tracing::info!(connections = daemon.adopt()?, "adopted");
        }
        let mut repeats = service::Repeats::default();
        daemon.run(&wishes, until(arguments.span), |news| match news {
            News::Trouble(what) if !repeats.is_new(what, monotonic()) => {}
            news => tell(news, &logs, console),
        })?;
        if arguments.span.is_some() || arguments.json {
            show(&daemon, arguments.json, console)?;
        }
        daemon.close()?;
        tracing::info!("ended");
        Ok(())
    }

    pub(crate) fn advise(arguments: &AdviseArguments, console: &Console) -> Result<(), Failure> {
        let config = arguments.config.config(Named::OrAll)?;
        let wishes = service::listen()?;
        let mut daemon = Daemon::open(config, None, false)?;
        console.remark(&format!("looking on for {}; Ctrl-C ends it earlier", arguments.span));
        if arguments.adopt {
            console.remark(&format!("{} connections that are open already", daemon.adopt()?));
        }
        daemon.run(&wishes, until(Some(arguments.span)), |news| {
            if let News::Trouble(what) = news {
                console.remark(what);
            }
        })?;
        let status = daemon.status();
        let text = match arguments.json {
            true => data::to_json(&status),
            false => to_terminal(&tables::advice(&status), console.screen()),
        };
        Ok(console.print(&text)?)
    }

    pub(crate) fn rollback(
        arguments: &RollbackArguments,
        console: &Console,
    ) -> Result<(), Failure> {
        let state = &arguments.whom.state;
        let undone = Journal::clean_up(state)
            .map_err(|source| DaemonError::State { path: state.clone(), source })?;
        let Undone { undone, superseded, left } = undone;
        undone.iter().for_each(|what| console.remark(&format!("undone: {what}")));
        superseded.iter().for_each(|what| {
            console.remark(&format!("changed by somebody else since, left: {what}"))
        });
        left.iter().for_each(|what| console.remark(&format!("still there: {what}")));
        if undone.is_empty() && superseded.is_empty() && left.is_empty() {
            console.remark("there is nothing to take back");
        }
        if left.is_empty() { Ok(()) } else { Err(DaemonFailure::StillThere(left.len()).into()) }
    }

    fn show(daemon: &Daemon, json: bool, console: &Console) -> Result<(), Failure> {
        let status = daemon.status();
        let text = match json {
            true => data::to_json(&status),
            false => to_terminal(&tables::document(&status), console.screen()),
        };
        Ok(console.print(&text)?)
    }

    fn until(span: Option<Span>) -> Option<Time> {
        span.map(|span| monotonic() + span)
    }

    /// Gives up what an agent needs not, as far as this machine lets it: before there is any thread.
    fn confine(config: &AgentConfig) {
        let mut capabilities =
            vec![Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_PERFMON];
        if config.by.looks_at_processes() {
            // Which file a process runs is told to who may trace it.
            capabilities.push(Capability::CAP_SYS_PTRACE);
        }
        let needs = Needs {
            capabilities,
            families: ackord_agent::FAMILIES.to_vec(),
            calls: ackord_agent::CALLS.to_vec(),
        };
        service::tell_confined(sandbox::confine(&ackord_agent::watch::WORDS, &needs));
    }

    fn tell(news: &News<'_>, logs: &Logs, console: &Console) {
        match news {
            News::Began(config, undone) => {
                service::tell_undone(undone);
                let cgroup = config
                    .cgroup
                    .as_ref()
                    .map_or("all processes".into(), |path| path.to_string_lossy());
                tracing::info!(%cgroup, by = config.by.name(), "following connections of {cgroup}; `ackord agent status` shows what it does");
            }
            News::StandsAside(why) => tracing::warn!(why, "only observes: {why}"),
            News::Reloaded(config) => {
                logs.set_level(config.log.level);
                tracing::info!("reloaded");
            }
            News::NotReloaded(error) => {
                let file = match error {
                    DaemonError::Config(errors) => Some(errors),
                    _ => None,
                };
                service::tell_not_reloaded(error, file, console);
            }
            News::Standing(application, lever, standing) => {
                use ackord_agent::lever::Standing;
                let lever = lever.name();
                match standing {
                    Standing::AtWork { .. } => {
                        tracing::info!(application, lever, "{lever} begins for {application}");
                    }
                    Standing::Withdrawn { why, .. } => {
                        let why = why.told();
                        tracing::warn!(
                            application,
                            lever,
                            why,
                            "{lever} is withdrawn for {application}: {why}"
                        );
                    }
                    _ => tracing::info!(
                        application,
                        lever,
                        "{lever} is observed again for {application}"
                    ),
                }
            }
            News::Trouble(what) => tracing::warn!(what, "{what}"),
            News::Second => {}
        }
    }
}
