//! `ackord history`: what applications have transferred so far.
//!
//! Which store is meant, and what time it is, is decided here and nowhere else.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results};
use ackord_history::{Counted, Segments, Store, StoreError, Transfer};
use ackord_study::{
    CaptureImport, GroupBy, HistoryContext, Report, default_segments, history_list, history_of,
    import_report,
};
use ackord_units::{Bytes, Quantity, Span, Time};
use ackord_wire::ReadError;
use clap::{Args, Subcommand, ValueEnum};
use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What applications have transferred so far, for the ACK policy `ari`
///
/// Per application a histogram of sizes in which the past fades, in a file that survives a crash.
/// From it follow the most frequent size, how many segments to acknowledge at once, and whether
/// Nagle's algorithm is to be on.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  ackord history import office.pcapng --by port
  ackord history show
  ackord history show port-443 --out out/port-443
  ackord run lossy-wifi --history my.redb --set flows.0.tcp.ack=ari
  ackord history forget port-443

Without --store the history is $XDG_STATE_HOME/ackord/history.redb, or
~/.local/state/ackord/history.redb.";

#[derive(Subcommand)]
enum What {
    Show(ShowArguments),
    Import(ImportArguments),
    Record(RecordArguments),
    Forget(ForgetArguments),
}

/// Which history.
#[derive(Args)]
struct StoreArguments {
    /// The file of the history, instead of the one in your state folder
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Show every application, or one with its histogram
///
/// An application with fewer than five decayed transfers gets the verdict `unknown`: endpoints
/// then behave as without a history.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord history show
  ackord history show port-443 --segment '536 B'
  ackord history show --json - | jq '.applications[] | {application, verdict}'")]
struct ShowArguments {
    /// Only this application, with its histogram
    application: Option<String>,
    /// Segment size that the count of quick ACKs is worked out with
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse)]
    segment: Option<Bytes>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Count the transfers in captures (pcapng or pcap)
///
/// A transfer is what one direction of a TCP connection carries between pauses longer than
/// `--idle`, so a connection that stays open counts as several. What is retransmitted counts once. A
/// capture that is imported twice counts twice. Either everything is counted or, if one of the
/// captures cannot be opened, nothing.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord history import office.pcapng --by port
  ackord history import day-*.pcap --by address --idle '500 ms' --count both")]
struct ImportArguments {
    /// The captures, in order of time: connections may reach from one into the next
    #[arg(required = true, value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// What an application is: a server's port (`port-443`) or its address (`192.0.2.1`)
    #[arg(long)]
    by: By,
    /// A longer pause ends a transfer
    #[arg(long, value_name = "SPAN", default_value = "2 s", value_parser = Span::parse)]
    idle: Span,
    /// Which direction of a connection counts
    #[arg(long, default_value = "larger")]
    count: Count,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Count transfers of which the size is known from elsewhere, such as a server's log
///
/// With `-`, sizes are read from standard input, one per line. Each is on disk before the next is
/// read; the number of transfers of the application so far is printed after each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord history record photos '400 kB' '380 kB'
  tail -f access.log | awk '{ print $10; fflush() }' | ackord history record web -")]
struct RecordArguments {
    /// The application
    application: String,
    /// Sizes, such as `400 kB` or a number of bytes; `-` for standard input
    #[arg(required = true, value_name = "SIZE|-")]
    sizes: Vec<String>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Forget an application, or all
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord history forget port-443
  ackord history forget --all")]
struct ForgetArguments {
    /// The application
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    application: Option<String>,
    /// Forget every application
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The server's port: `port-443`
    Port,
    /// The server's address: `192.0.2.1`
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Count {
    /// The one that carried more
    Larger,
    /// What servers sent
    FromServer,
    /// What clients sent
    FromClient,
    /// Each for itself
    Both,
}

pub(crate) fn history(arguments: &HistoryArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Show(arguments) => show(arguments, console),
        What::Import(arguments) => import(arguments, console),
        What::Record(arguments) => record(arguments, console),
        What::Forget(arguments) => forget(arguments, console),
    }
}

/// The present, since 1970.
pub(crate) fn wall_time() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

impl StoreArguments {
    /// The file that was named, or the one in the user's state folder.
    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        // The XDG specification has relative folders ignored.
        let state = folder("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || folder("HOME").map(|home| Path::new(&home).join(".local/state"));
        let state = state.or_else(home).ok_or(Failure::NoStateFolder)?;
        Ok(state.join("ackord/history.redb"))
    }
}

fn show(arguments: &ShowArguments, console: &Console) -> Result<(), Failure> {
    arguments.output.check()?;
    let path = arguments.store.path()?;
    let histories = Store::open_existing(&path)?.list()?;
    let default = default_segments();
    let segments = Segments { size: arguments.segment.unwrap_or(default.size), ..default };
    let store = path.display().to_string();
    let context = HistoryContext { store: &store, now: wall_time(), segments };
    let report = match &arguments.application {
        None => history_list(&histories, &context),
        Some(name) => match histories.iter().find(|(known, _)| known == name) {
            Some((_, history)) => history_of(name, history, &context),
            None => return Err(unknown(name, histories.into_iter().map(|(name, _)| name))),
        },
    };
    write(&report, &arguments.output, console)
}

fn unknown(name: &str, known: impl Iterator<Item = String>) -> Failure {
    Failure::unknown_name("application", name, known.collect())
}

fn write(report: &Report, output: &OutputArguments, console: &Console) -> Result<(), Failure> {
    let results = Results { document: &report.document, json: &report.json };
    output.write(console, &results, || ackord_study::compare_report_files(report))
}

fn import(arguments: &ImportArguments, console: &Console) -> Result<(), Failure> {
    arguments.output.check()?;
    let counted = match arguments.count {
        Count::Larger => Counted::Larger,
        Count::FromServer => Counted::FromServer,
        Count::FromClient => Counted::FromClient,
        Count::Both => Counted::Both,
    };
    let now = wall_time();
    let mut import = CaptureImport::new(arguments.idle, counted, now);
    for path in &arguments.captures {
        let unreadable = |source| Failure::Capture { path: path.display().to_string(), source };
        let file = File::open(path).map_err(|error| unreadable(error.into()))?;
        match import.read(BufReader::new(file)) {
            Ok(()) => {}
            Err(error @ ReadError::Damaged { .. }) => {
                console.remark(&format!("{}: {error}; what came before counts", path.display()));
            }
            Err(error) => return Err(unreadable(error)),
        }
    }
    let (found, counts) = import.finish(match arguments.by {
        By::Port => GroupBy::Port,
        By::Address => GroupBy::Address,
    });
    let path = arguments.store.path()?;
    Store::open(&path)?.import(&found, now)?;
    console.remark(&format!("counted in {}", path.display()));
    write(&import_report(&found, counts), &arguments.output, console)
}

fn record(arguments: &RecordArguments, console: &Console) -> Result<(), Failure> {
    let store = Store::open(&arguments.store.path()?)?;
    let count = |size: Bytes| -> Result<(), Failure> {
        let now = wall_time();
        let transfer = Transfer { size, ended_at: now, took: None };
        let history = store.record(&arguments.application, &[transfer], now)?;
        Ok(console.print(&format!("{}\n", history.transfers()))?)
    };
    for text in &arguments.sizes {
        if text != "-" {
            count(size(text)?)?;
            continue;
        }
        for line in io::stdin().lock().lines() {
            let line = line.map_err(Failure::Input)?;
            if !line.trim().is_empty() {
                count(size(line.trim())?)?;
            }
        }
    }
    Ok(())
}

/// A size as people or logs write it.
fn size(text: &str) -> Result<Bytes, Failure> {
    if let Ok(bytes) = text.parse() {
        return Ok(Bytes(bytes));
    }
    Bytes::parse(text)
        .map_err(|error| Failure::Size { given: text.to_owned(), why: error.to_string() })
}

fn forget(arguments: &ForgetArguments, console: &Console) -> Result<(), Failure> {
    let path = arguments.store.path()?;
    let store = Store::open_existing(&path)?;
    let Some(name) = &arguments.application else {
        let count = store.forget_all()?;
        console.remark(&format!("forgot {count} applications of {}", path.display()));
        return Ok(());
    };
    if !store.forget(name)? {
        return Err(unknown(name, store.list()?.into_iter().map(|(name, _)| name)));
    }
    console.remark(&format!("forgot {name}"));
    Ok(())
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::History(Box::new(error))
    }
}
