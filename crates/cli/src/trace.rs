//! `ackord trace`: delivery traces in mahimahi's format, shown and made.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results};
use ackord_path::Trace;
use ackord_report::{data, document_files, write_one};
use ackord_study::{
    CaptureTraceError, TraceRates, trace_document, trace_facts, trace_of_capture, trace_of_rates,
};
use ackord_units::{Quantity, Rate, Span};
use clap::{Args, Subcommand};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Delivery traces for links whose rate changes (mahimahi's format)
///
/// One whole number per line, in order: at this millisecond 1504 bytes may be delivered. A link of
/// a scenario replays such a file with `trace = "FILE"`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  ackord trace write --rate '12 Mbit/s' --change '10 s=2 Mbit/s' --duration '20 s' step.trace
  ackord trace show step.trace --out out
  ackord trace write --capture out/wifi.pcapng --interface 1 wifi.trace";

#[derive(Subcommand)]
enum What {
    Show(ShowArguments),
    Write(WriteArguments),
}

/// Show what a trace carries: its mean rate, its slowest second, its longest gap
///
/// With --out a plot of its rate goes with it.
#[derive(Args)]
struct ShowArguments {
    /// The trace file
    file: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

/// Write a trace: of a rate and its changes, or of what a capture shows to have been delivered
///
/// A capture tells what a link carried, which is what it could carry only while it was never idle.
#[derive(Args)]
struct WriteArguments {
    /// Rate from the start on
    #[arg(long, value_name = "RATE", value_parser = Rate::parse)]
    #[arg(required_unless_present = "capture", requires = "duration")]
    rate: Option<Rate>,
    /// A rate from a time on; may be given again, times in order
    #[arg(long = "change", value_name = "TIME=RATE", value_parser = change, requires = "rate")]
    changes: Vec<(Span, Rate)>,
    /// How long the trace is
    #[arg(long, value_name = "TIME", value_parser = Span::parse)]
    duration: Option<Span>,
    /// Take it from the packets of a capture
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "duration"])]
    capture: Option<PathBuf>,
    /// Which interface of the capture, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    interface: usize,
    /// The file to write
    file: PathBuf,
}

fn change(text: &str) -> Result<(Span, Rate), String> {
    let (at, rate) = text.split_once('=').ok_or("write it as `10 s=2 Mbit/s`")?;
    let at = Span::parse(at.trim()).map_err(|error| error.to_string())?;
    Ok((at, Rate::parse(rate.trim()).map_err(|error| error.to_string())?))
}

pub(crate) fn trace(arguments: &TraceArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Show(arguments) => show(arguments, console),
        What::Write(arguments) => write(arguments, console),
    }
}

fn show(arguments: &ShowArguments, console: &Console) -> Result<(), Failure> {
    arguments.output.check()?;
    let name = arguments.file.display().to_string();
    let refuse = |why: String| Failure::Trace { path: name.clone(), why };
    let text = fs::read_to_string(&arguments.file).map_err(|error| refuse(error.to_string()))?;
    let trace = Trace::parse(&text).map_err(|error| refuse(error.to_string()))?;
    let document = trace_document(&name, &trace);
    let json = data::to_json(&trace_facts(&trace));
    let results = Results { document: &document, json: &json };
    arguments.output.write(console, &results, || document_files(&document))
}

fn write(arguments: &WriteArguments, console: &Console) -> Result<(), Failure> {
    let trace = match (&arguments.capture, arguments.rate, arguments.duration) {
        (Some(capture), ..) => of_capture(capture, arguments.interface)?,
        (None, Some(at_first), Some(duration)) => {
            let in_order = arguments.changes.is_sorted_by(|first, next| first.0 < next.0);
            let changes = arguments.changes.clone();
            let made = match in_order {
                true => trace_of_rates(&TraceRates { at_first, changes, duration })
                    .map_err(|error| error.to_string()),
                false => Err("the times of --change are not in order".to_owned()),
            };
            made.map_err(|why| Failure::Trace { path: "--rate".to_owned(), why })?
        }
        _ => {
            let why = "say --rate and --duration, or --capture".to_owned();
            return Err(Failure::Trace { path: arguments.file.display().to_string(), why });
        }
    };
    write_one(&arguments.file, trace.to_text().as_bytes())?;
    let facts = trace_facts(&trace);
    console.remark(&format!(
        "wrote {}: {} opportunities, {} s, {:.3} Mbit/s on average",
        arguments.file.display(),
        facts.opportunities,
        facts.duration_s,
        facts.mean_mbit_s
    ));
    Ok(())
}

fn of_capture(path: &Path, interface: usize) -> Result<Trace, Failure> {
    let name = path.display().to_string();
    let capture = |source| Failure::Capture { path: name.clone(), source };
    let file = File::open(path).map_err(|error| capture(error.into()))?;
    trace_of_capture(BufReader::new(file), interface).map_err(|error| match error {
        CaptureTraceError::Read(source) => capture(source),
        error => Failure::Trace { path: name.clone(), why: error.to_string() },
    })
}
