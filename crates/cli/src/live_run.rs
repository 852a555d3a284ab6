//! `ackord live run`: a scenario between stock kernels.

use crate::captures::open_folder;
use crate::console::Console;
use crate::errors::Failure;
use crate::history::wall_time;
use crate::input::{OutputArguments, Results, ScenarioArguments};
use crate::interrupt::Interrupt;
use crate::meter::MeterArguments;
use crate::progress::Meter;
use crate::with_history::WithHistory;
use ackord_live::{LiveError, StopHandle};
use ackord_measure::RunSummary;
use ackord_report::live::{LiveCommand, LiveDetails, ProgramEnding, TrustWord};
use ackord_report::{EventLog, OutputFile};
use ackord_scenario::{NodeKind, Override, Scenario, ScenarioFile};
use ackord_study::{
    CaptureFiles, CaptureFolder, Ending, HistoryUse, LiveRunOptions, LiveRunOutcome, Origin,
    ProgramOutput, Progress, finished_transfers, live_run, live_run_report, live_run_report_files,
};
use ackord_units::{Quantity, Span};
use ackord_wire::NodeId;
use clap::Args;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Run a scenario in real time, with this machine's kernel at every host
///
/// The same file as for `ackord run`, and the same results: every host becomes a network namespace
/// on the stock kernel, the whole path with its queues, losses, media and middleboxes is emulated
/// in this process, and the scenario's workloads run on the kernel's sockets. Flows that name
/// commands (`exec` in the file: iperf3, curl, anything) run these instead. What the scenario asks
/// of endpoints is set as far as the kernel lets, and the report says where it does not; it also has
/// the kernel's own view (TCP_INFO, the counters of nstat) and how late packets were. A run whose
/// packets were later than the budget, or that stood still, is marked UNTRUSTWORTHY in everything that is written.
///
/// With `--ours HOST` that host is no kernel but our own TCP, exactly as in the simulator.
///
/// Nothing of the machine's own network is touched, and nothing is left behind. Ordinary users can
/// do this where the kernel lets them make user namespaces; elsewhere root is needed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LiveRunArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Seed of the path's random streams, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output: OutputArguments,
    /// Write captures (pcapng) with real bytes into this folder
    ///
    /// One file per end of every link that the scenario's `record.captures` names; where it names
    /// none, of the first link at both ends of every flow.
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write what endpoints do into this file, a line of JSON per event
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// This host is our own TCP, as in the simulator; may be given several times
    #[arg(long, value_name = "HOST")]
    ours: Vec<String>,
    /// How late 99 % of the packets may be for the run to be trusted
    #[arg(long, value_name = "SPAN", value_parser = Span::parse, default_value = "1 ms")]
    lateness_budget: Span,
    /// Ask for real-time scheduling (SCHED_FIFO): packets are later less often, where it is allowed
    #[arg(long)]
    realtime_priority: bool,
    #[command(flatten)]
    meter: MeterArguments,
    #[command(flatten)]
    history: WithHistory,
}

const EXAMPLES: &str = "\
Examples:
  ackord live run lossy-wifi --set 'duration=10 s'
  ackord live run lossy-wifi --ours station             our TCP receives from the kernel
  ackord live run bufferbloat --meter                   see its queue while it runs
  ackord live run real-programs --out out               iperf3 through the scenario's path
  ackord run real-programs --out simulated              and what the simulator says of the same
  ackord live run my.toml --json - | jq '.trust, .flows[].goodput_bit_s'";

pub(crate) fn run(arguments: &LiveRunArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.scenario.open()?;
    let mut scenario = file.check()?;
    arguments.output.check()?;
    let ours = hosts_named(&scenario, &arguments.ours)?;
    let history = arguments.history.apply(&mut scenario)?;
    let stop = StopHandle::new().map_err(LiveError::System)?;
    let at_once = Arc::new(stop.clone());
    let interrupt = Interrupt::listen_and(move || at_once.stop())?;
    let mut captures = arguments.pcap.as_deref().map(open_folder).transpose()?;
    let files = arguments.output.wants_files();
    let meter = arguments.meter.of(&scenario)?;
    let own_terminal = arguments.meter.takes_own_terminal();
    let mut events = arguments.events.as_deref().map(EventLog::create).transpose()?;
    let options = LiveRunOptions {
        seed: arguments.seed.unwrap_or(scenario.seed),
        series: files,
        captures: captures.as_mut().map(|folder| folder as &mut dyn CaptureFiles),
        events: events.as_mut(),
        ours,
        lateness_budget: arguments.lateness_budget,
        realtime_priority: arguments.realtime_priority,
        stop: Some(stop),
        // What programs write would spoil the meter's picture.
        programs: if files || own_terminal { ProgramOutput::Kept } else { ProgramOutput::Shown },
        kernels: None,
        meter: meter.as_ref().map(|meter| meter.feed()),
    };
    let bar = (!own_terminal).then(|| Meter::begin(&scenario.name));
    let mut watch = |progress: Progress| {
        bar.iter().for_each(|bar| bar.at(progress.share()));
        interrupt.check()
    };
    let screen = meter.map(|meter| meter.begin(console)).transpose()?;
    let outcome = live_run(&scenario, options, &mut watch);
    // The terminal is for results again.
    drop(screen);
    if let Some(bar) = bar {
        bar.end();
    }
    let outcome = outcome?;
    events.as_mut().map_or(Ok(()), EventLog::finish)?;
    let kept_back = if own_terminal && !files { &outcome.outputs[..] } else { &[] };
    kept_back.iter().for_each(|output| console.complain(&String::from_utf8_lossy(&output.bytes)));
    let told = Telling {
        file: &file,
        scenario: &scenario,
        arguments: &arguments.scenario,
        output: &arguments.output,
        history: &arguments.history,
        used: history.as_deref(),
        captures,
    };
    tell(&outcome, told, console)?;
    warn(&outcome.live, arguments, console);
    conclude(&outcome, &scenario, console)
}

/// What there is to say the results of a run with kernels by.
pub(crate) struct Telling<'a> {
    pub(crate) file: &'a ScenarioFile,
    pub(crate) scenario: &'a Scenario,
    pub(crate) arguments: &'a ScenarioArguments,
    pub(crate) output: &'a OutputArguments,
    pub(crate) history: &'a WithHistory,
    /// What was taken from the history.
    pub(crate) used: Option<&'a [HistoryUse]>,
    pub(crate) captures: Option<CaptureFolder>,
}

impl Telling<'_> {
    /// What the report says of where the run comes from.
    pub(crate) fn origin<'b>(&'b self, overrides: &'b [Override]) -> Origin<'b> {
        Origin { file: self.file, overrides, scenario: self.scenario, history: self.used }
    }

    /// Ends the captures, writes and prints the results, and counts finished transfers.
    pub(crate) fn write(
        self,
        results: Results<'_>,
        files: impl FnOnce() -> Vec<OutputFile>,
        summary: &RunSummary,
        console: &Console,
    ) -> Result<(), Failure> {
        for path in self.captures.map(CaptureFolder::commit).transpose()?.unwrap_or_default() {
            console.remark(&format!("wrote {}", path.display()));
        }
        self.output.write(console, &results, files)?;
        let finished = finished_transfers(self.scenario, summary, wall_time());
        self.history.count(&finished, console)
    }
}

/// Writes and prints what a run with kernels came to.
pub(crate) fn tell(
    outcome: &LiveRunOutcome,
    told: Telling<'_>,
    console: &Console,
) -> Result<(), Failure> {
    let changes = told.arguments.changes();
    let report = live_run_report(outcome, told.origin(&changes));
    let files = || live_run_report_files(outcome, &report);
    let results = Results { document: &report.document, json: &report.json };
    told.write(results, files, &outcome.run.summary, console)
}

/// What the exit code is to say of a run with kernels.
pub(crate) fn conclude(
    outcome: &LiveRunOutcome,
    scenario: &Scenario,
    console: &Console,
) -> Result<(), Failure> {
    complete(outcome.run.ending, scenario, console)?;
    judge(&outcome.live, console)
}

/// Whether a run came to its end, which is said where it did not.
pub(crate) fn complete(
    ending: Ending,
    scenario: &Scenario,
    console: &Console,
) -> Result<(), Failure> {
    let Ending::Interrupted(at) = ending else { return Ok(()) };
    let planned = scenario.duration;
    console.remark(&format!("interrupted at {at} of {planned}; the results end there"));
    Err(Failure::Interrupted)
}

/// The hosts of these names.
fn hosts_named(scenario: &Scenario, names: &[String]) -> Result<BTreeSet<NodeId>, Failure> {
    let nodes = scenario.nodes.iter().zip(0..);
    let hosts = nodes.filter(|(node, _)| node.kind == NodeKind::Host);
    let hosts: Vec<(&str, NodeId)> =
        hosts.map(|(node, number)| (node.name.as_str(), NodeId(number))).collect();
    let find = |given: &String| {
        let found = hosts.iter().find(|(name, _)| name == given);
        let known = || hosts.iter().map(|(name, _)| (*name).to_owned()).collect();
        found.map(|(_, node)| *node).ok_or_else(|| Failure::unknown_name("host", given, known()))
    };
    names.iter().map(find).collect()
}

/// What nobody may overlook, also when standard output goes into another program.
fn warn(live: &LiveDetails, arguments: &LiveRunArguments, console: &Console) {
    let Some(late) = &live.real_time else { return };
    if live.trust == TrustWord::Untrustworthy {
        console.remark(&format!(
            "UNTRUSTWORTHY: p99 of lateness is {:.0} us, the most {:.0} us, the budget {:.0} us",
            late.p99_us, late.max_us, late.budget_us
        ));
    }
    if arguments.realtime_priority && late.scheduling != "real-time" {
        console.remark("real-time scheduling is not allowed here (CAP_SYS_NICE, or RLIMIT_RTPRIO)");
    }
}

/// A client that failed makes the run a failure. Servers are asked to end, and many call that one.
fn judge(live: &LiveDetails, console: &Console) -> Result<(), Failure> {
    let clients = || live.commands.iter().filter(|command| command.end == "client");
    for command in clients().filter(|command| command.ending == ProgramEnding::WithTheRun) {
        let LiveCommand { flow, command, .. } = command;
        console.remark(&format!("the run was over before `{command}` of flow `{flow}` had ended"));
    }
    let failed = |command: &&LiveCommand| match command.ending {
        ProgramEnding::Exited(code) => code != 0,
        ProgramEnding::BySignal => true,
        ProgramEnding::WithTheRun => false,
    };
    match clients().find(failed) {
        Some(LiveCommand { flow, end, outcome, .. }) => {
            Err(Failure::Program { flow: flow.clone(), end, outcome: outcome.clone() })
        }
        None => Ok(()),
    }
}
