//! `ackord gateway run`: the daemon, in the foreground.

use super::ConfigArguments;
use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::daemons::service;
use crate::errors::Failure;
use ackord_gateway::config::{Change, GatewayConfig, warnings};
use ackord_gateway::sandbox::{self, Special};
use ackord_gateway::watch::Logs;
use ackord_gateway::{Daemon, DaemonError, News, Standing, go_before_most};
use ackord_units::Knobs;
use clap::Args;
use std::path::PathBuf;

/// Do on this router what a configuration says, until Ctrl-C
///
/// Remedies observe by packet rings and add packets of their own; the kernel goes on forwarding, whatever
/// becomes of this process. Queues stand in the path while a heartbeat is fresh. SIGHUP reads the file anew
/// and keeps every connection; SIGTERM and Ctrl-C end it and undo what it did.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// The directory of the control socket, the lock and the journal, in place of the configuration's
    #[arg(long, value_name = "DIRECTORY")]
    state: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway run --wan eth0 --lan wlan0 --remedy proxy-tcp --queue fq-codel --rate 18mbit
  ackord gateway run --wan eth0 --lan wwan0 --queue fq-codel --rate auto --rate-min 500kbit --rate-max 50mbit
  ackord gateway run /etc/ackord/gateway.toml
  ackord gateway status                               # from another terminal";

pub(crate) fn run(arguments: &RunArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.config.file()?;
    let mut config = file.check()?;
    if let Some(state) = &arguments.state {
        config.state.clone_from(state);
    }
    let machine = super::machine(&config);
    let logs = Logs::start(config.log).map_err(DaemonFailure::Log)?;
    if let Some(warnings) = warnings(&file, &config, &machine) {
        service::tell_warnings(&warnings, console);
    }
    let path = arguments.config.path().map(PathBuf::from);
    // Both before there is any thread, and the first while the process still may.
    go_before_most();
    confine(&config, path.is_some());
    let wishes = service::listen()?;
    let mut daemon = Daemon::open(config, path)?;
    daemon.run(&wishes, |news| tell(news, &logs, console))?;
    tracing::info!("ended");
    Ok(())
}

/// Gives up what a gateway needs not, as far as this machine lets it.
fn confine(config: &GatewayConfig, has_file: bool) {
    // A file may ask for a queue later.
    let real_time = has_file || config.queues().next().is_some();
    service::tell_confined(sandbox::confine(Special { programs: true, real_time }));
}

fn tell(news: &News<'_>, logs: &Logs, console: &Console) {
    match news {
        News::Began(config, undone) => {
            service::tell_undone(undone);
            tracing::info!(wan = config.wan, lan = config.lan.join(","), "{}", began(config));
        }
        News::Reloaded(config, reload) => {
            logs.set_level(config.log.level);
            if reload.changes.is_empty() {
                tracing::info!("reloaded: no change");
            }
            for Change { path, from, to, .. } in &reload.changes {
                tracing::info!(key = path, from, to, "reloaded: {path} was {from}, is {to}");
            }
        }
        News::NotReloaded(error) => {
            let file = match error {
                DaemonError::Config(errors) => Some(errors),
                _ => None,
            };
            service::tell_not_reloaded(error, file, console);
        }
        News::Standing(rule, Standing::StoodDown { harm, .. }) => {
            let why = harm.words();
            tracing::warn!(rule, why, "the remedy of rule {rule} stands down: {why}");
        }
        News::Standing(rule, _) => tracing::info!(rule, "the remedy of rule {rule} is tried again"),
        News::Interface(interface, true) => {
            tracing::info!(interface, "interface {interface} is there again")
        }
        News::Interface(interface, false) => {
            tracing::warn!(interface, "interface {interface} is missing; waiting for it");
        }
        News::Second => {}
    }
}

fn began(config: &GatewayConfig) -> String {
    let remedies: Vec<&str> = config
        .rules
        .iter()
        .filter_map(|(_, _, remedy)| remedy.map(|choice| choice.mechanism().name))
        .collect();
    let mut text = format!("between {} (WAN) and {} (LAN)", config.wan, config.lan.join(", "));
    if !remedies.is_empty() {
        text.push_str(&format!("; beside the path: {}", remedies.join(", ")));
    }
    for (interface, queue) in config.queues() {
        text.push_str(&format!("; before {interface}: {queue}"));
    }
    text.push_str("; `ackord gateway status` shows what it does");
    text
}
