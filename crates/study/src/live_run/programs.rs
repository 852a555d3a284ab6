//! The commands of flows: where and when each starts, and what it writes.

use super::options::{LiveRunError, LiveRunOptions, ProgramOutput};
use ackord_events::EndpointId;
use ackord_live::{CommandOutcome, HostCommand};
use ackord_report::OutputFile;
use ackord_report::live::{LiveCommand, ProgramEnding};
use ackord_scenario::{ExecCommand, Flow, Scenario};
use ackord_sim::start_time;
use ackord_units::Time;
use ackord_wire::{FlowId, Side, host_address};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::sync::Arc;

/// A command of a flow.
pub(super) struct Program {
    flow: FlowId,
    side: Side,
    pub(super) command: HostCommand,
    /// Standard output and standard error, where they are kept.
    kept: Option<[Arc<File>; 2]>,
}

/// Every command of the scenario's flows, servers first.
pub(super) fn of(
    scenario: &Scenario,
    seed: u64,
    options: &LiveRunOptions<'_>,
) -> Result<Vec<Program>, LiveRunError> {
    let mut programs = Vec::new();
    for side in [Side::Server, Side::Client] {
        for (flow, number) in scenario.flows.iter().zip(0..) {
            let Some(exec) = &flow.exec else { continue };
            let command = match side {
                Side::Client => &exec.client,
                Side::Server => &exec.server,
            };
            let host = host_of(flow, side);
            let no_kernel = match &options.kernels {
                Some(kernels) => !kernels.kernels.contains_key(&host),
                None => options.ours.contains(&host),
            };
            if no_kernel {
                let (flow, host) = (flow.name.clone(), scenario.node(host).name.clone());
                return Err(LiveRunError::CommandsNeedKernel { flow, host });
            }
            let Some(command) = command else { continue };
            let starts_at = (side == Side::Client).then(|| start_time(seed, flow));
            let program = program((flow, FlowId(number)), side, (command, starts_at), options);
            programs.push(program.map_err(LiveRunError::Output)?);
        }
    }
    Ok(programs)
}

fn host_of(flow: &Flow, side: Side) -> ackord_wire::NodeId {
    match side {
        Side::Client => flow.client,
        Side::Server => flow.server,
    }
}

fn program(
    (flow, number): (&Flow, FlowId),
    side: Side,
    (command, starts_at): (&ExecCommand, Option<Time>),
    options: &LiveRunOptions<'_>,
) -> io::Result<Program> {
    let ip = flow.tcp(Side::Client).endpoint.ip;
    let [server, client] = [flow.server, flow.client].map(|node| host_address(node, ip));
    let both = [Side::Client, Side::Server].map(|side| EndpointId { flow: number, side });
    let exec = flow.exec.as_ref();
    let alone = exec.is_none_or(|exec| exec.server.is_none() || exec.client.is_none());
    // Where the other end has no command, it has nothing else either.
    let ends = both.into_iter().filter(|end| alone || end.side == side).collect();
    let kept = match options.programs {
        ProgramOutput::Kept => {
            Some([Arc::new(tempfile::tempfile()?), Arc::new(tempfile::tempfile()?)])
        }
        ProgramOutput::Shown => None,
    };
    let (stdout, stderr) = match &kept {
        Some([stdout, stderr]) => (Some(Arc::clone(stdout)), Some(Arc::clone(stderr))),
        None => {
            // Standard output is for results.
            let shown = Arc::new(File::from(io::stderr().as_fd().try_clone_to_owned()?));
            (Some(Arc::clone(&shown)), Some(shown))
        }
    };
    let command = HostCommand {
        host: host_of(flow, side),
        argv: command.words(server, client),
        environment: Vec::new(),
        starts_at,
        ends,
        serves: side == Side::Server,
        stdout,
        stderr,
    };
    Ok(Program { flow: number, side, command, kept })
}

/// What became of the programs, and the files of what they wrote.
pub(super) fn outcomes(
    scenario: &Scenario,
    programs: &[Program],
    outcomes: &[CommandOutcome],
) -> Result<(Vec<LiveCommand>, Vec<OutputFile>), LiveRunError> {
    let (mut commands, mut files) = (Vec::new(), Vec::new());
    for (program, outcome) in programs.iter().zip(outcomes) {
        let flow = &scenario.flows[program.flow.0 as usize].name;
        let end = word(program.side);
        let mut outputs = Vec::new();
        for (kept, what) in program.kept.iter().flatten().zip(["out", "err"]) {
            let bytes = all_of(kept).map_err(LiveRunError::Output)?;
            if !bytes.is_empty() {
                let name = format!("programs/{flow}.{end}.{what}.txt");
                files.push(OutputFile::new(&name, bytes));
                outputs.push(name);
            }
        }
        commands.push(LiveCommand {
            flow: flow.clone(),
            end,
            host: scenario.node(program.command.host).name.clone(),
            command: program.command.argv.join(" "),
            outcome: match outcome {
                CommandOutcome::Exited(code) => format!("exited with {code}"),
                CommandOutcome::Killed(signal) => format!("was ended by {signal}"),
                CommandOutcome::StillRunning => "ended with the run".to_owned(),
            },
            ending: match outcome {
                CommandOutcome::Exited(code) => ProgramEnding::Exited(*code),
                CommandOutcome::Killed(_) => ProgramEnding::BySignal,
                CommandOutcome::StillRunning => ProgramEnding::WithTheRun,
            },
            outputs,
        });
    }
    Ok((commands, files))
}

fn all_of(file: &File) -> io::Result<Vec<u8>> {
    let mut file = file;
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Which end it is, in a word.
pub(super) const fn word(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}
