//! `ackord live`: our TCP against the TCP of this machine, through an emulated path.

use crate::accuracy::{self, AccuracyArguments};
use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::history::wall_time;
use crate::input::{JsonTarget, check_folder};
use crate::interop::{self, InteropArguments};
use crate::interrupt::Interrupt;
use crate::live_papers::{self, LivePapersArguments};
use crate::live_run::{self, LiveRunArguments};
use crate::with_history::WithHistory;
use ackord_events::Sink;
use ackord_live::{
    Addresses, CommandOutcome, Direction, FetchOptions, LiveError, LiveOptions, LiveReport, Notice,
    Observer, ServeOptions, Transfer, fetch, serve,
};
use ackord_report::{EventLog, data, to_terminal};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_study::live_transfers::{Compared, document, results};
use ackord_study::{HistoryUse, simulate_transfer};
use ackord_units::{Bytes, Quantity, Span, Time};
use ackord_wire::Side;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Run in real time, with this machine's own TCP, through a scenario's path
///
/// `run` takes a scenario as `ackord run` does and puts stock kernels at its hosts; the others set
/// our TCP against the kernel's. Network namespaces with TUN devices are made for the run and vanish
/// with it; nothing of the machine's own network is touched. Ordinary users can do this where the
/// kernel lets them make user namespaces; elsewhere root is needed.
#[derive(Args)]
pub(crate) struct LiveArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Run(LiveRunArguments),
    Serve(ServeArguments),
    Fetch(FetchArguments),
    Interop(InteropArguments),
    Papers(LivePapersArguments),
    Accuracy(AccuracyArguments),
}

/// Serve a folder by HTTP with our TCP, and take uploads into it
///
/// The command after `--` runs inside, before the stock kernel, and the run ends with it. Without
/// one, the run goes on until Ctrl-C, and the line to enter the namespace is printed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord live serve files -- curl -s -o /tmp/copy http://10.77.0.2/file
  ackord live serve files -- curl -s -T /tmp/copy http://10.77.0.2/uploaded
  ackord live serve files --scenario bufferbloat --pcap captures")]
struct ServeArguments {
    /// The folder whose files are served
    folder: PathBuf,
    /// Port we listen to
    #[arg(long, default_value = "80")]
    port: u16,
    #[command(flatten)]
    common: CommonArguments,
}

/// Fetch a file by HTTP with our TCP from a stock server
///
/// The command after `--` is the server; it runs inside, at 10.77.0.1 and fd77::1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord live fetch http://10.77.0.1:8000/file -o copy -- python3 -m http.server 8000")]
struct FetchArguments {
    /// `http://10.77.0.1:PORT/PATH` or `http://[fd77::1]:PORT/PATH`; port 80 may be left out
    url: String,
    /// Where the file goes; thrown away when absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArguments,
}

#[derive(Args)]
struct CommonArguments {
    /// Scenario whose path is emulated and whose first flow says what our endpoint is made of
    #[arg(long, value_name = "FILE", default_value = "lossy-wifi", add = ArgValueCompleter::new(completions::scenarios))]
    scenario: PathBuf,
    /// Change a value of the scenario; may be given several times
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", add = ArgValueCompleter::new(completions::settings))]
    changes: Vec<Override>,
    /// Seed of the path's random streams, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write captures (pcapng) of both ends of the path into this folder
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write the results as JSON to this file, or with `-` to standard output instead of the tables
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
    /// Write what happens at our endpoints, and to packets on the path, to this file as it happens:
    /// a line of JSON for each event, times in nanoseconds since the run began
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// End the run after this long, such as `30 s`
    #[arg(long, value_name = "SPAN", value_parser = Span::parse)]
    run_for: Option<Span>,
    /// Simulated runs of the same transfer to compare with; 0 for none
    #[arg(long, value_name = "N", default_value = "10")]
    compare_runs: u32,
    #[command(flatten)]
    history: WithHistory,
    /// What runs inside the namespace, before the stock kernel
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn live(arguments: &LiveArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Run(arguments) => live_run::run(arguments, console),
        What::Serve(arguments) => {
            let (run, options) = Run::prepare(&arguments.common, console)?;
            let mut options = ServeOptions::new(options, arguments.folder.clone());
            options.port = arguments.port;
            options.command.clone_from(&arguments.common.command);
            options.run_for = arguments.common.run_for;
            let report = serve(options)?;
            conclude(&arguments.common, (&run, &report), console)?;
            judge(report.command.as_ref())
        }
        What::Fetch(arguments) => {
            let (run, options) = Run::prepare(&arguments.common, console)?;
            let command = arguments.common.command.clone();
            let mut options = FetchOptions::new(options, arguments.url.clone(), command);
            options.output.clone_from(&arguments.output);
            options.run_for = arguments.common.run_for;
            let report = fetch(options);
            if matches!(report, Err(LiveError::Fetch { .. })) && run.interrupt.check().is_break() {
                console.remark("interrupted; nothing was kept of the file");
                return Err(Failure::Interrupted);
            }
            conclude(&arguments.common, (&run, &report?), console)
        }
        What::Interop(arguments) => interop::run(arguments, console),
        What::Papers(arguments) => live_papers::run(arguments, console),
        What::Accuracy(arguments) => accuracy::run(arguments, console),
    }
}

/// What both commands need before they start.
struct Run {
    scenario: Scenario,
    interrupt: Interrupt,
    /// What our endpoint took from the history.
    history: Option<Vec<HistoryUse>>,
    events: Option<SharedLog>,
    began_at: Time,
}

impl Run {
    fn prepare(
        arguments: &CommonArguments,
        console: &Console,
    ) -> Result<(Run, LiveOptions), Failure> {
        if let Some(folder) = &arguments.pcap {
            check_folder(folder)?;
        }
        let file = ScenarioFile::open(&arguments.scenario)?;
        let mut scenario = file.with_overrides(arguments.changes.iter().cloned()).check()?;
        let history = arguments.history.apply(&mut scenario)?;
        let mut options = LiveOptions::new(scenario.clone()).map_err(LiveError::System)?;
        options.seed = arguments.seed.unwrap_or(scenario.seed);
        options.capture.clone_from(&arguments.pcap);
        let waits = arguments.command.is_empty();
        let console = console.clone();
        let events = arguments.events.as_deref().map(EventLog::create).transpose()?;
        let events: Option<SharedLog> = events.map(|log| Rc::new(log.into()));
        options.observe = events.clone().map(observer);
        let log = events.clone();
        options.notify = Box::new(move |notice| {
            if let (Notice::Ready { began_at, .. }, Some(log)) = (notice, &log) {
                log.borrow_mut().began(began_at.saturating_since(Time::ZERO));
            }
            announce(notice, waits, &console);
        });
        let stop = Arc::new(options.stop.clone());
        let interrupt = Interrupt::listen_and(move || stop.stop())?;
        Ok((Run { scenario, interrupt, history, events, began_at: wall_time() }, options))
    }
}

/// An event log of which a run's beginning, its events and its end are told from different places.
type SharedLog = Rc<RefCell<EventLog>>;

fn observer(log: SharedLog) -> Observer {
    Box::new(move |at, event| log.borrow_mut().emit(at, *event))
}

/// What a user wants to know while the run goes on.
fn announce(notice: &Notice, waits: bool, console: &Console) {
    match notice {
        Notice::Ready { addresses, enter, .. } if waits => {
            let Addresses { v4, v6 } = addresses;
            console
                .remark(&format!("ready at http://{v4}/ and http://[{v6}]/ from inside: {enter}"));
            console.remark("Ctrl-C ends it");
        }
        Notice::ConnectionClosed(connection) if waits => {
            for Transfer { direction, target, bytes, .. } in &connection.transfers {
                console.remark(&format!("{direction:?} of {target}: {bytes}"));
            }
        }
        _ => {}
    }
}

/// Compares and writes.
fn conclude(
    arguments: &CommonArguments,
    (run, report): (&Run, &LiveReport),
    console: &Console,
) -> Result<(), Failure> {
    let Run { scenario, interrupt, history, events, began_at } = run;
    events.as_ref().map_or(Ok(()), |log| log.borrow_mut().finish())?;
    let seed = arguments.seed.unwrap_or(scenario.seed);
    let compared = match interrupt.check().is_continue() {
        true => compare(scenario, report, (seed, arguments.compare_runs), interrupt)?,
        false => None,
    };
    if let Some(path) = &arguments.pcap {
        console.remark(&format!("wrote {}: ours.pcapng, kernel.pcapng", path.display()));
    }
    let results = results(scenario, seed, report, (compared.as_ref(), history.as_deref()));
    if let Some(target) = &arguments.json {
        target.write(&data::to_json(&results), console)?;
    }
    if arguments.json != Some(JsonTarget::Stdout) {
        console.print(&to_terminal(&document(&results), console.screen()))?;
    }
    arguments.history.count(&moved(scenario, report, *began_at), console)?;
    if interrupt.check().is_break() && !arguments.command.is_empty() {
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// The transfers that were finished, as the application of the first flow's.
fn moved(
    scenario: &Scenario,
    report: &LiveReport,
    began_at: Time,
) -> Vec<(String, Vec<ackord_history::Transfer>)> {
    let Some(flow) = scenario.flows.first() else { return Vec::new() };
    let all = report.connections.iter().flat_map(|connection| &connection.transfers);
    let finished = all.filter_map(|transfer| {
        let ended_at = began_at + transfer.ended_at?.saturating_since(Time::ZERO);
        let (size, took) = (transfer.bytes, transfer.took());
        Some(ackord_history::Transfer { size, ended_at, took })
    });
    let mut finished: Vec<_> = finished.filter(|transfer| transfer.size > Bytes::ZERO).collect();
    finished.sort_by_key(|transfer| transfer.ended_at);
    vec![(flow.application.clone(), finished)]
}

/// A command that failed makes the run a failure. (A server, for `fetch`, just ends with it.)
fn judge(command: Option<&CommandOutcome>) -> Result<(), Failure> {
    match command {
        Some(CommandOutcome::Exited(code)) if *code != 0 => {
            Err(Failure::Inside(format!("exited with {code}")))
        }
        Some(CommandOutcome::Killed(signal)) => {
            Err(Failure::Inside(format!("was killed by {signal}")))
        }
        _ => Ok(()),
    }
}

/// What the simulator says about the largest transfer that was finished.
fn compare(
    scenario: &Scenario,
    report: &LiveReport,
    seeds_and_runs: (u64, u32),
    interrupt: &Interrupt,
) -> Result<Option<Compared>, Failure> {
    let transfers = report.connections.iter().flat_map(|connection| &connection.transfers);
    let finished = transfers.filter(|transfer| transfer.ended_at.is_some());
    let largest = finished.max_by_key(|transfer| transfer.bytes);
    let Some(largest) = largest.filter(|largest| largest.bytes > Bytes::ZERO) else {
        return Ok(None);
    };
    let sends = match largest.direction {
        Direction::Download => Side::Server,
        Direction::Upload => Side::Client,
    };
    let transfer = ackord_study::Transfer { bytes: largest.bytes, sends };
    let estimate =
        simulate_transfer(scenario, transfer, seeds_and_runs, &mut |_| interrupt.check())?;
    let measured = largest.goodput().map(|rate| rate.as_bits_per_sec() as f64);
    Ok(estimate.zip(measured).map(|(simulated_goodput_bit_s, live_goodput_bit_s)| Compared {
        target: largest.target.clone(),
        live_goodput_bit_s,
        simulated_goodput_bit_s,
    }))
}
