//! `ackord diagnose`: captures, and where the time of their connections went.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_diagnose::{DiagnoseError, Diagnosis, Options, Reader, diagnose};
use ackord_report::{OutputFile, data, document_files};
use ackord_study::{diagnosis_document, intervals_csv};
use clap::Args;
use std::path::PathBuf;

/// Say of every TCP connection in a capture where its time went, and which packets show it
///
/// Every instant of a connection belongs to one cause; the seconds add up to its duration. The
/// capture may be taken at the sender, at the receiver or on the way; which, is found out first.
/// Reads pcap and pcapng, also compressed with gzip, xz or zstd, from files or from a pipe (`-`).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiagnoseArguments {
    /// Captures; `-` is standard input
    #[arg(required = true, value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// Show this connection in detail, by its number in the list
    #[arg(long, value_name = "N")]
    connection: Option<u32>,
    /// Threads beside the one that reads; as many as there are processors, unless said otherwise
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord diagnose slow.pcapng
  ackord diagnose slow.pcapng --connection 3 --out out/slow
  tcpdump -i eth0 -s 128 -w - tcp | ackord diagnose -
  ackord diagnose slow.pcapng --json - | jq '.connections[].causes[0]'";

pub(crate) fn run(arguments: &DiagnoseArguments, console: &Console) -> Result<(), Failure> {
    arguments.output.check()?;
    let diagnosis = read(arguments)?;
    if let Some(id) = arguments.connection
        && id as usize >= diagnosis.connections.len()
    {
        let known = diagnosis.connections.len();
        let why = format!("--connection {id}: there are {known} connections, counted from 0");
        return Err(Failure::Diagnose(why));
    }
    let document = diagnosis_document(&diagnosis, arguments.connection);
    let json = data::to_json(&diagnosis);
    let results = Results { document: &document, json: &json };
    arguments.output.write(console, &results, || {
        let mut files = document_files(&document);
        files.push(OutputFile::new("diagnosis.json", json.clone().into_bytes()));
        files.push(OutputFile::new("intervals.csv", intervals_csv(&diagnosis).into_bytes()));
        files
    })
}

fn read(arguments: &DiagnoseArguments) -> Result<Diagnosis, Failure> {
    let mut readers = Vec::new();
    for (number, path) in (0..).zip(&arguments.captures) {
        let reader = Reader::open(path, number);
        readers.push(reader.map_err(|error| Failure::Diagnose(error.to_string()))?);
    }
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or_else(processors);
    let options = Options { jobs, ..Options::default() };
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin("reading");
    let found = diagnose(readers, &options, &mut |share| {
        if let Some(share) = share {
            meter.at(share);
        }
        interrupt.check()
    });
    meter.end();
    match found {
        Ok((diagnosis, _)) => Ok(diagnosis),
        Err(DiagnoseError::Interrupted) => Err(Failure::Interrupted),
        Err(error) => Err(Failure::Diagnose(error.to_string())),
    }
}
