//! `ackord run`: one run of a scenario.

use crate::captures::open_folder;
use crate::console::Console;
use crate::cost::CostArguments;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results, ScenarioArguments};
use crate::interrupt::Interrupt;
use crate::live_run::{Telling, complete, conclude, tell};
use crate::progress::Meter;
use crate::with_history::WithHistory;
use ackord_report::EventLog;
use ackord_scenario::Scenario;
use ackord_study::{
    CaptureFiles, LiveRunOptions, ProgramOutput, Progress, RunOptions, RunOutcome, cost, execute,
    kernels_of, live_run, run_report, run_report_files,
};
use clap::Args;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

/// Run a scenario once and say what happened
///
/// The same file and seed give the same numbers and the same bytes in captures, every time.
/// Interrupted with Ctrl-C, a run ends where it stands, and says so in everything it writes.
///
/// With `--kernel HOST` that host's connections are sockets of a stock Linux kernel in simulated time
/// (`ackord kernel build` makes one): as deterministic, and slower. What the scenario asks of its
/// endpoints is set as far as a kernel lets, and the report says where it does not. Flows that name
/// commands (`exec` in the file: iperf3, curl, anything) run these there, in simulated time too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Seed of every random stream, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output: OutputArguments,
    /// Write captures (pcapng) into this folder
    ///
    /// One file per end of every link that the scenario's `record.captures` names, both
    /// directions together as an analyser expects them; where it names none, of the first link at
    /// both ends of every flow.
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Keep the first N bytes of a packet in captures, or `all` of them
    ///
    /// The payload is zeros: 128 bytes hold all headers, and a capture of bulk data is a seventh as long.
    #[arg(long, value_name = "N|all", requires = "pcap", default_value = "128")]
    snaplen: SnapLen,
    /// Write what endpoints do into this file, a line of JSON per event
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    #[command(flatten)]
    history: WithHistory,
    #[command(flatten)]
    cost: CostArguments,
}

/// How much of a packet a capture keeps; all of it if nothing is given here.
#[derive(Clone, Copy)]
struct SnapLen(Option<NonZeroU32>);

impl FromStr for SnapLen {
    type Err = String;

    fn from_str(text: &str) -> Result<SnapLen, String> {
        match text {
            "all" => Ok(SnapLen(None)),
            _ => text.parse().map(|bytes| SnapLen(Some(bytes))).map_err(|_| {
                format!("allowed is a number of bytes from 1 to {}, or `all`", u32::MAX)
            }),
        }
    }
}

/// Says what captures leave out that a reader may look for.
fn remark_on_captures(arguments: &RunArguments, scenario: &Scenario, console: &Console) {
    if let Some(bytes) = arguments.snaplen.0 {
        console.remark(&format!(
            "captures keep the first {bytes} bytes of a packet; --snaplen all keeps whole packets"
        ));
    }
    for missing in scenario.directions_not_captured() {
        console.remark(&missing);
    }
}

const EXAMPLES: &str = "\
Examples:
  ackord run lossy-wifi
  ackord run my.toml --seed 7 --set 'duration=5 s' --set flows.0.tcp.congestion=vegas
  ackord run my.toml --out out/my --pcap out/my/captures
  ackord run lossy-wifi --kernel all                 stock Linux at both ends, in simulated time
  ackord run my.toml --json - | jq '.flows[].goodput_bit_s'";

pub(crate) fn run(arguments: &RunArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.scenario.open()?;
    let mut scenario = file.check()?;
    arguments.output.check()?;
    let history = arguments.history.apply(&mut scenario)?;
    let kernels = kernels_of(&scenario)?;
    if kernels.is_none() {
        remark_on_commands(&scenario, console);
    }
    let seed = arguments.seed.unwrap_or(scenario.seed);
    if kernels.is_none() {
        arguments.cost.agree(cost(&scenario, seed), console)?;
    }
    let interrupt = match kernels {
        Some(_) => Interrupt::listen_and(|| {})?,
        None => Interrupt::listen()?,
    };
    let captures = arguments.pcap.as_deref().map(open_folder).transpose()?;
    if captures.is_some() {
        remark_on_captures(arguments, &scenario, console);
    }
    let mut captures = captures.map(|folder| folder.with_snap_len(arguments.snaplen.0));
    let mut events = arguments.events.as_deref().map(EventLog::create).transpose()?;
    let options = RunOptions {
        seed,
        series: arguments.output.wants_files(),
        captures: captures.as_mut().map(|folder| folder as &mut dyn CaptureFiles),
        events: events.as_mut(),
    };
    let meter = Meter::begin(&scenario.name);
    let mut watch = |progress: Progress| {
        meter.at(progress.share());
        interrupt.check()
    };
    let told = |captures| Telling {
        file: &file,
        scenario: &scenario,
        arguments: &arguments.scenario,
        output: &arguments.output,
        history: &arguments.history,
        used: history.as_deref(),
        captures,
    };
    if let Some(kernels) = kernels {
        let mut options = LiveRunOptions::in_simulated_time(kernels, options);
        if !arguments.output.wants_files() {
            options.programs = ProgramOutput::Shown;
        }
        let outcome = live_run(&scenario, options, &mut watch);
        meter.end();
        let outcome = outcome?;
        events.as_mut().map_or(Ok(()), EventLog::finish)?;
        tell(&outcome, told(captures), console)?;
        return conclude(&outcome, &scenario, console);
    }
    let outcome = execute(&scenario, options, &mut watch);
    meter.end();
    let outcome = outcome?;
    events.as_mut().map_or(Ok(()), EventLog::finish)?;
    tell_simulated(&outcome, told(captures), console)
}

fn tell_simulated(
    outcome: &RunOutcome,
    told: Telling<'_>,
    console: &Console,
) -> Result<(), Failure> {
    let (scenario, changes) = (told.scenario, told.arguments.changes());
    let report = run_report(outcome, told.origin(&changes));
    let files = || run_report_files(outcome, &report);
    told.write(
        Results { document: &report.document, json: &report.json },
        files,
        &outcome.summary,
        console,
    )?;
    complete(outcome.ending, scenario, console)
}

/// Commands run on kernels only; here something else stands for them.
fn remark_on_commands(scenario: &Scenario, console: &Console) {
    let with_commands = scenario.flows.iter().filter(|flow| flow.exec.is_some());
    let names: Vec<_> = with_commands.map(|flow| format!("`{}`", flow.name)).collect();
    if !names.is_empty() {
        let stand = if names.len() == 1 { "its workload stands" } else { "their workloads stand" };
        console.remark(&format!(
            "the commands of {} run in `ackord live run` and on kernels (`--kernel all`); here {stand} \
             for them",
            names.join(", ")
        ));
    }
}
