//! `ackord agent explain` and `adopt`: single connections.

use super::{Whom, tables};
use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use ackord_agent::cgroups;
use ackord_agent::watch::{self, Of};
use ackord_report::{data, to_terminal};
use clap::Args;

/// Say what a running agent does with some connections, and why
///
/// What it has seen of each, which levers are at work on it and why not others: which group it is in, what the
/// application has set itself, how the levers of its application stand. The exit code is 2 if no application and no
/// control group has that name, and 0 if the name is known and no connection is open.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord agent explain 4711                  of this process\n  ackord agent explain :5432                 with this port\n  ackord agent explain redis-server          of this application\n  ackord agent explain system.slice/app.service\n  ackord agent explain /sys/fs/cgroup/system.slice/app.service"
)]
pub(crate) struct ExplainArguments {
    /// A process (its number), a port (`:443`), an application as `status` calls it or by its program, or a control group with all below
    /// it: its path, with a slash in it, from the root of the file system or of the hierarchy
    #[arg(value_name = "WHICH")]
    which: String,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whom: Whom,
}

/// Have a running agent follow connections that were open before it
///
/// They get the settings that an open connection takes; whether Nagle's algorithm is on stays as it was when they began.
#[derive(Args)]
pub(crate) struct AdoptArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(super) fn explain(arguments: &ExplainArguments, console: &Console) -> Result<(), Failure> {
    let of = of(&arguments.which);
    let may_be_cgroup = arguments.which.contains('/') && matches!(of, Of::Application(_));
    let is_name = matches!(of, Of::Application(_));
    let answer = watch::explain(&arguments.whom.state, of)?;
    if is_name && answer.applications.is_empty() {
        let name = arguments.which.clone();
        return Err(match may_be_cgroup {
            true => DaemonFailure::NoSuchCgroup(name),
            false => DaemonFailure::NoSuchApplication { name, nearest: answer.nearest },
        }
        .into());
    }
    let text = match arguments.json {
        true => data::to_json(&answer),
        false => to_terminal(&tables::explained(&answer), console.screen()),
    };
    Ok(console.print(&text)?)
}

fn of(which: &str) -> Of {
    if let Some(Ok(port)) = which.strip_prefix(':').map(str::parse) {
        return Of::Port(port);
    }
    let cgroup = if which.contains('/') { cgroups::meant(which) } else { None };
    let of = cgroup.map(Of::Cgroup).or_else(|| which.parse().ok().map(Of::Pid));
    of.unwrap_or_else(|| Of::Application(which.to_owned()))
}

pub(super) fn adopt(arguments: &AdoptArguments, console: &Console) -> Result<(), Failure> {
    let count = watch::adopt(&arguments.whom.state)?;
    console.remark(&format!("{count} connections that were open before are followed from now on"));
    Ok(())
}
