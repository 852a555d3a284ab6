//! `ackord diagnose`: what would help the connections of a capture, and where their time went.
//!
//! | file | what |
//! | --- | --- |
//! | `diagnose.rs` | the arguments, and what is done in which order |
//! | `diagnose/sources.rs` | captures that can be read again |
//! | `diagnose/advice.rs` | what would help, and whether it did |
//! | `diagnose/fleet.rs` | a diagnosis per capture of many, and tables of the data set |
//! | `diagnose/live.rs`, `diagnose/live/` | an interface followed while it happens, or for days |
//! | `diagnose/exports.rs` | qlog, and the capture with comments |
//! | `diagnose/self_test.rs` | the diagnosis held against what truly happened |

mod advice;
mod exports;
mod fleet;
mod live;
mod self_test;
mod sources;

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_advice::{
    connections_to_trace, diagnosis_document, diagnosis_json, diagnosis_summary, ends_of,
    intervals_csv, page_of_diagnosis, pictures_of,
};
use ackord_diagnose::{DiagnoseError, Diagnosis, Options, Trace, diagnose};
use ackord_report::OutputFile;
use advice::{AdviceArguments, Limit};
use clap::{Args, Subcommand};
use exports::{ExportArguments, Found};
use fleet::{FleetArguments, ShowArguments};
use live::LiveArguments;
use sources::{Passes, Sources};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Report what would help the TCP connections of a capture, where their time went, and which packets show it
///
/// Every instant of a connection belongs to one cause; the seconds add up to its duration. The
/// capture may be taken at the sender, at the receiver or anywhere between; the diagnosis finds out where.
/// Reads pcap and pcapng, also compressed with gzip, xz or zstd, from files or from a pipe (`-`);
/// Ctrl-C ends a pipe, and the packets read so far are diagnosed. `--out` adds plots of the seconds per
/// cause and, with `--connection`, of its packets.
///
/// Several captures are one: captures that continue another or were taken at another place at the same time are joined.
/// With a folder among them, or with --each, every capture gets a diagnosis of its own, on all cores, and --out
/// names one Parquet data set for all of them, which `ackord diagnose show` shows.
#[derive(Args)]
#[command(
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub(crate) struct DiagnoseArguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Captures, or folders of captures; `-` is standard input
    #[arg(required_unless_present_any = ["self_test", "live", "verify"], value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// Show this connection in detail, by its number in the list
    #[arg(long, value_name = "N")]
    connection: Option<u32>,
    /// Threads, or captures at a time if there are many; as many as there are processors by default
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    fleet: FleetArguments,
    #[command(flatten)]
    live: LiveArguments,
    #[command(flatten)]
    advice: AdviceArguments,
    #[command(flatten)]
    trial: self_test::SelfTestArguments,
    #[command(flatten)]
    exports: ExportArguments,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Subcommand)]
enum What {
    Show(ShowArguments),
}

const EXAMPLES: &str = "\
Examples:
  ackord diagnose slow.pcapng
  ackord diagnose slow.pcapng --connection 3 --out out/slow
  ackord diagnose slow.pcapng --annotate out.pcapng      then: wireshark -Y frame.comment out.pcapng
  ackord diagnose slow.pcapng --json - | jq '.connections[].causes[0]'
  sudo tcpdump -i eth0 -s 128 -w - tcp | ackord diagnose -
  sudo ackord diagnose --live eth0 --for '60 s'
  sudo ackord diagnose --live eth0 --metrics 127.0.0.1:9477
  ackord diagnose slow.pcapng --predict-for '1 min'
  ackord diagnose --verify before.pcapng after.pcapng --remedy bbr
  ackord diagnose captures/ --out out/fleet              then: ackord diagnose show out/fleet

A capture named `show` is ./show.

Exit codes: 0 success, also for a capture without TCP, and for many captures of which some cannot be read; 2 not a
capture, or an output that cannot be written; 1 any other error; 130 Ctrl-C.";

pub(crate) fn run(arguments: &DiagnoseArguments, console: &Console) -> Result<(), Failure> {
    if let Some(What::Show(arguments)) = &arguments.what {
        return fleet::show(arguments, console);
    }
    arguments.output.check()?;
    if fleet::wanted(arguments) {
        return fleet::run(arguments, console);
    }
    if arguments.trial.wanted() {
        return self_test::run(&arguments.trial, arguments.jobs, &arguments.output, console);
    }
    arguments.exports.check(&arguments.captures)?;
    let interrupt = Interrupt::listen()?;
    if arguments.advice.verifies() {
        return advice::check(arguments, &interrupt, console);
    }
    if let Some(served) = arguments.live.serve(&arguments.output, &interrupt, console) {
        return served;
    }
    let again = arguments.output.wants_files() || arguments.exports.wanted();
    let passes = if again { Passes::Again } else { Passes::Once };
    let (sources, mut diagnosis) = match arguments.live.interface() {
        Some(interface) => {
            let seen = live::watch(&arguments.live, interface, passes, &interrupt, console)?;
            (Sources::of_interface(interface, seen.kept), seen.diagnosis)
        }
        None => {
            let sources = Sources::open(&arguments.captures, passes)?;
            let work = Work { arguments, sources: &sources, interrupt: &interrupt };
            let (diagnosis, _) = work.read("reading", Options::default())?;
            refuse_empty(&diagnosis)?;
            (sources, diagnosis)
        }
    };
    let work = Work { arguments, sources: &sources, interrupt: &interrupt };
    refuse_unknown(arguments, &diagnosis)?;
    let limit = arguments.advice.limit(&interrupt);
    let (chosen, traces) = work.traces(&diagnosis, &limit)?;
    let remarks = match arguments.advice.predicts() {
        true => advice::fill(&mut diagnosis, &traces, arguments.connection, &limit),
        false => Vec::new(),
    };
    let document = diagnosis_document(&diagnosis, arguments.connection, &remarks);
    let json = diagnosis_json(&diagnosis);
    let results = Results { document: &document, json: &json };
    let found = Found {
        title: &document.title,
        sources: &sources,
        diagnosis: &diagnosis,
        traces: &traces,
        chosen: &chosen,
    };
    arguments.exports.write(&found, console)?;
    arguments.output.write(console, &results, || {
        let drawn = traces.iter().filter(|trace| chosen.contains(&trace.connection));
        let page = page_of_diagnosis(&document, &diagnosis, drawn.cloned().collect(), &remarks);
        let mut files = vec![
            OutputFile::new("report.html", page),
            OutputFile::new("diagnosis.json", json.clone()),
            OutputFile::new("intervals.csv", intervals_csv(&diagnosis)),
        ];
        files.extend(pictures_of(&diagnosis, &traces, arguments.connection));
        files.extend(arguments.connection.map(|id| found.qlog_file(id)));
        files
    })?;
    if limit.interrupted() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A capture without a single frame is no answer.
fn refuse_empty(diagnosis: &Diagnosis) -> Result<(), Failure> {
    match diagnosis.captures.iter().any(|read| read.frames > 0) {
        true => Ok(()),
        false => Err(Failure::Diagnose(diagnosis_summary(diagnosis))),
    }
}

/// What nothing can be said about.
fn refuse_unknown(arguments: &DiagnoseArguments, diagnosis: &Diagnosis) -> Result<(), Failure> {
    match arguments.connection {
        Some(id) if id as usize >= diagnosis.connections.len() => {
            Err(Failure::Diagnose(no_such_connection(id, diagnosis)))
        }
        _ => Ok(()),
    }
}

fn no_such_connection(id: u32, diagnosis: &Diagnosis) -> String {
    match diagnosis.connections.len() {
        0 => format!("--connection {id}: there is no TCP connection in the capture"),
        1 => format!("--connection {id}: there is one connection, 0"),
        known => format!("--connection {id}: there are {known} connections, 0 to {}", known - 1),
    }
}

/// Connections with a graph of their packets at most.
const MOST_DRAWN: usize = 20;
/// Connections whose retransmissions get comments at most.
const MOST_COMMENTED: usize = 1000;

/// What a pass over the captures needs.
struct Work<'a> {
    arguments: &'a DiagnoseArguments,
    sources: &'a Sources,
    interrupt: &'a Interrupt,
}

impl Work<'_> {
    fn read(&self, what: &str, options: Options) -> Result<(Diagnosis, Vec<Trace>), Failure> {
        // Ctrl-C ends the program at the other end of a pipe, too: what came of it is wanted.
        let others = self.arguments.live.interface().is_some()
            || Sources::waits_for_others(&self.arguments.captures);
        let go_on = || if others { ControlFlow::Continue(()) } else { self.interrupt.check() };
        let found = self.read_while(what, options, &go_on)?;
        found.ok_or(Failure::Interrupted)
    }

    /// Reads as long as `go_on` continues; returns nothing if it did not.
    fn read_while(
        &self,
        what: &str,
        options: Options,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<Option<(Diagnosis, Vec<Trace>)>, Failure> {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.arguments.jobs.unwrap_or_else(processors);
        let options = Options { jobs, ..options };
        let meter = Meter::begin(what);
        let found = diagnose(self.sources.readers()?, &options, &mut |share| {
            if let Some(share) = share {
                meter.at(share);
            }
            go_on()
        });
        meter.end();
        match found {
            Ok(found) => Ok(Some(found)),
            Err(DiagnoseError::Interrupted) => Ok(None),
            Err(error) => Err(Failure::Diagnose(error.to_string())),
        }
    }

    /// Reads packets for predictions, as far as these have time.
    fn read_within(&self, options: Options, limit: &Limit<'_>) -> Result<Vec<Trace>, Failure> {
        let found = self.read_while("reading packets", options, &|| limit.check())?;
        Ok(found.map_or_else(Vec::new, |(_, traces)| traces))
    }

    /// Returns the connections that get a graph, and the packets of these and of all that need them: a second
    /// pass, if there can be one. Packets that only predictions need are limited in number.
    fn traces(
        &self,
        diagnosis: &Diagnosis,
        limit: &Limit<'_>,
    ) -> Result<(Vec<u32>, Vec<Trace>), Failure> {
        let DiagnoseArguments { connection, exports, output, advice, .. } = self.arguments;
        let chosen = connections_to_trace(diagnosis, *connection, MOST_DRAWN);
        let wanted = output.wants_files() || exports.wanted();
        let kept = match (exports.needs_all(), wanted) {
            (true, _) => connections_to_trace(diagnosis, *connection, MOST_COMMENTED),
            (false, true) => chosen.clone(),
            (false, false) if advice.predicts() => {
                let all = connections_to_trace(diagnosis, *connection, advice::MOST_ADVISED);
                advice::keepable(diagnosis, all)
            }
            (false, false) => Vec::new(),
        };
        if kept.is_empty() || !self.sources.can_be_read_again() {
            return Ok((chosen, Vec::new()));
        }
        let options = Options { points_of: ends_of(diagnosis, &kept), ..Options::default() };
        let mut traces = match wanted || exports.needs_all() {
            true => self.read("reading packets", options)?.1,
            false => self.read_within(options, limit)?,
        };
        traces.retain(|trace| kept.contains(&trace.connection));
        Ok((chosen, traces))
    }
}
