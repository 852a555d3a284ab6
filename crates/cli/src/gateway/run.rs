//! `ackord gateway run`: the daemon, in the foreground.

use super::ConfigArguments;
use crate::console::Console;
use crate::errors::Failure;
use ackord_gateway::config::{GatewayConfig, warnings};
use ackord_gateway::{Daemon, DaemonError, News, Wishes};
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
  ackord gateway run --wan eth0 --lan wlan0 --remedy proxy-tcp
  ackord gateway run --wan eth0 --lan wlan0 --queue selective-drop --rate 20mbit
  ackord gateway run /etc/ackord/gateway.toml
  ackord gateway status                               from another terminal";

pub(crate) fn run(arguments: &RunArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.config.file()?;
    let mut config = file.check()?;
    if let Some(state) = &arguments.state {
        config.state.clone_from(state);
    }
    let machine = super::machine(&config);
    if let Some(warnings) = warnings(&file, &config, &machine) {
        console.complain(&warnings.render_warnings(console.error_style()));
    }
    let wishes = Arc::new(Wishes::default());
    listen(&wishes)?;
    let path = arguments.config.path().map(PathBuf::from);
    let mut daemon = Daemon::open(config, path)?;
    daemon.run(&wishes, |news| tell(news, console))?;
    Ok(())
}

/// Hears signals from now on.
fn listen(wishes: &Arc<Wishes>) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::Signals)?;
    let wishes = Arc::clone(wishes);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGHUP => wishes.reload.store(true, Ordering::Relaxed),
                _ => wishes.stop.store(true, Ordering::Relaxed),
            }
        }
    });
    Ok(())
}

fn tell(news: &News<'_>, console: &Console) {
    match news {
        News::Began(config, how) => {
            let undone = &how.undone;
            for what in &undone.undone {
                console.remark(&format!("undone, left by an earlier process: {what}\n"));
            }
            for what in &undone.left {
                console.remark(&format!("left by an earlier process and still there: {what}\n"));
            }
            console.remark(&began(config));
        }
        News::Reloaded(reload) if reload.changes.is_empty() => {
            console.remark("reloaded: nothing is different\n");
        }
        News::Reloaded(reload) => {
            for change in &reload.changes {
                let line = format!("reloaded: {}: {} -> {}\n", change.path, change.from, change.to);
                console.remark(&line);
            }
        }
        News::NotReloaded(error) => {
            let why = match error {
                DaemonError::Config(errors) => errors.render(console.error_style()),
                error => format!("{error}\n"),
            };
            console.remark(&format!("not reloaded, the configuration of before goes on:\n{why}"));
        }
        News::Interface(name, true) => console.remark(&format!("{name} is back\n")),
        News::Interface(name, false) => {
            console.remark(&format!("{name} is gone; waiting for it\n"));
        }
        News::Second => {}
    }
}

fn began(config: &GatewayConfig) -> String {
    let remedies: Vec<&str> = config
        .rules
        .iter()
        .filter_map(|(_, _, remedy)| remedy.map(|choice| choice.mechanism.name))
        .collect();
    let mut text = format!("between {} (WAN) and {} (LAN)", config.wan, config.lan.join(", "));
    if !remedies.is_empty() {
        text.push_str(&format!("; beside the path: {}", remedies.join(", ")));
    }
    for (interface, queue) in config.queues() {
        text.push_str(&format!("; before {interface}: {queue}"));
    }
    text.push_str("; `ackord gateway status` shows what it does, Ctrl-C ends it\n");
    text
}
