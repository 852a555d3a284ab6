//! Many captures, each with a diagnosis of its own, in one data set; and what a data set adds up to.

use super::DiagnoseArguments;
use crate::input::OutputArguments;
#[cfg(not(feature = "parquet"))]
use crate::{console::Console, errors::Failure};
use clap::Args;
use std::path::PathBuf;

#[cfg(feature = "parquet")]
pub(super) use with_data_sets::{run, show};

/// Many captures.
#[derive(Args)]
pub(super) struct FleetArguments {
    /// Diagnose every capture by itself, into the data set of --out
    ///
    /// This is so where a folder is named. Captures in the data set are not diagnosed again, unless their
    /// length, time of change, --host or --predict differ: a run that was stopped continues, and a folder may
    /// grow. Captures that cannot be read are rows of the table `files` with the reason.
    #[arg(long)]
    each: bool,
    /// Name of the host at which the captures were taken, for the column `host`
    ///
    /// Without it, the address that is an end of most connections of a capture.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// With many captures, predict remedies for the three connections of each that lost most time
    ///
    /// This takes seconds for each. A single diagnosis predicts unless --no-predict is given.
    #[arg(long, conflicts_with = "no_predict")]
    predict: bool,
}

/// Show what a data set of many captures adds up to
///
/// Hosts by the time they lost, causes by hour, the worst connections, and captures that could not be read.
/// It may be being written: captures that are done count.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord diagnose show out/fleet\n  ackord diagnose show out/fleet --out out/plots\n  \
                  ackord diagnose show out/fleet --json - | jq '.hosts[0]'"
)]
pub(super) struct ShowArguments {
    /// Folder of the data set
    #[arg(value_name = "DATASET")]
    folder: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

/// True if every capture gets a diagnosis of its own.
pub(super) fn wanted(arguments: &DiagnoseArguments) -> bool {
    arguments.fleet.each
        || arguments.fleet.host.is_some()
        || arguments.captures.iter().any(|path| path.is_dir())
}

#[cfg(feature = "parquet")]
mod with_data_sets {
    use super::{DiagnoseArguments, FleetArguments, ShowArguments};
    use crate::console::Console;
    use crate::errors::{Failure, INTERRUPTED};
    use crate::input::Results;
    use crate::interrupt::Interrupt;
    use crate::progress::Meter;
    use ackord_advice::fleet::{
        Fleet, FleetFile, FleetOptions, FleetOutcome, fleet_files, fleet_report_files, show_fleet,
    };
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    /// Time that work under way gets to end after Ctrl-C or SIGTERM. What is written is whole at any time.
    const PATIENCE: Duration = Duration::from_millis(120);
    /// Captures that could not be read and are named.
    const MOST_NAMED: usize = 5;

    pub(crate) fn show(arguments: &ShowArguments, console: &Console) -> Result<(), Failure> {
        arguments.output.check()?;
        let report = show_fleet(&arguments.folder)?;
        let results = Results { document: &report.document, json: &report.json };
        arguments.output.write(console, &results, || fleet_report_files(&report))
    }

    pub(crate) fn run(arguments: &DiagnoseArguments, console: &Console) -> Result<(), Failure> {
        let out = check(arguments)?;
        let files = fleet_files(&arguments.captures)?;
        let FleetArguments { host, predict, .. } = &arguments.fleet;
        let options = FleetOptions { host: host.clone(), predict: *predict };
        let fleet = Fleet::begin(&files, out, &options)?;
        console.remark(&plan(&files, fleet.known()));
        let stopped = format!(
            "interrupted: captures that are done are in {}; the same command continues",
            out.display()
        );
        let interrupt = listen(console, &stopped)?;
        let meter = Meter::begin("diagnosing");
        let outcome = fleet.run(arguments.jobs.and_then(NonZeroUsize::new), &|share| {
            meter.at(share);
            interrupt.check()
        });
        meter.end();
        let outcome = outcome?;
        name_unreadable(&outcome, console);
        if outcome.stopped {
            console.remark(&stopped);
            return Err(Failure::Interrupted);
        }
        let report = show_fleet(out)?;
        arguments.output.write_json(&report.json, console)?;
        arguments.output.print(&report.document, console)?;
        console.remark(&format!("`ackord diagnose show {}` shows this again", out.display()));
        conclude(&outcome, files.len(), console)
    }

    /// The folder of the data set, if all arguments are for many captures.
    fn check(arguments: &DiagnoseArguments) -> Result<&Path, Failure> {
        let DiagnoseArguments { captures, fleet, output, .. } = arguments;
        let folder = captures.iter().find(|path| path.is_dir());
        let refused = |why: String| Err(Failure::Diagnose(why));
        if let (Some(_), None, false) = (&fleet.host, folder, fleet.each) {
            return refused(
                "--host names the host of many captures: add --each, or name a folder".to_owned(),
            );
        }
        let because = match folder {
            Some(folder) => format!("`{}` is a directory", folder.display()),
            None => "with --each".to_owned(),
        };
        if captures.iter().any(|path| path == Path::new("-")) {
            return refused(format!("{because}, and `-` is no file: name files and directories"));
        }
        let of_one = [
            (arguments.connection.is_some(), "--connection"),
            (arguments.exports.wanted(), "--qlog and --annotate"),
            (arguments.trial.wanted(), "--self-test"),
            (arguments.live.interface().is_some(), "--live"),
            (arguments.advice.verifies(), "--verify"),
        ];
        if let Some((_, option)) = of_one.into_iter().find(|(given, _)| *given) {
            return refused(format!(
                "{because}, so every capture gets a diagnosis of its own: {option} cannot be used"
            ));
        }
        match output.folder() {
            Some(out) => Ok(out),
            None => refused(format!(
                "{because}: every capture gets a diagnosis of its own, and `--out DATASET` names the folder for \
                 all of them"
            )),
        }
    }

    /// What is about to be done, in a line.
    fn plan(files: &[FleetFile], known: usize) -> String {
        let bytes: u64 = files.iter().map(|file| file.size).sum();
        let known = if known > 0 { format!(", {known} of them known") } else { String::new() };
        let plural = if files.len() == 1 { "" } else { "s" };
        format!("{} file{plural}, {:.1} MB{known}", files.len(), bytes as f64 / 1e6)
    }

    /// Listens for Ctrl-C and SIGTERM. Work that does not end within [`PATIENCE`] is left where it is.
    fn listen(console: &Console, stopped: &str) -> Result<Interrupt, Failure> {
        let (console, stopped) = (console.clone(), stopped.to_owned());
        Interrupt::listen_and(move || {
            let (console, stopped) = (console.clone(), stopped.clone());
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                console.remark(&stopped);
                std::process::exit(i32::from(INTERRUPTED));
            });
        })
    }

    fn name_unreadable(outcome: &FleetOutcome, console: &Console) {
        for why in outcome.unreadable.iter().take(MOST_NAMED) {
            console.remark(&format!("cannot be read: {why}"));
        }
        if let Some(more @ 1..) = outcome.unreadable.len().checked_sub(MOST_NAMED) {
            console.remark(&format!("and {more} more, in the table `files`"));
        }
    }

    /// The exit code: an error only if no capture could be read.
    fn conclude(outcome: &FleetOutcome, files: usize, console: &Console) -> Result<(), Failure> {
        let unreadable = outcome.unreadable.len();
        match (outcome.read, unreadable) {
            (0, _) => Err(Failure::Diagnose(format!(
                "none of {files} files could be read; the table `files` has the reasons"
            ))),
            (_, 0) => Ok(()),
            _ => {
                console.remark(&format!(
                    "{unreadable} of {files} files could not be read; the table `files` has the reasons"
                ));
                Ok(())
            }
        }
    }
}

#[cfg(not(feature = "parquet"))]
pub(super) fn run(_: &DiagnoseArguments, _: &Console) -> Result<(), Failure> {
    Err(Failure::LeftOut("data sets of many captures"))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn show(_: &ShowArguments, _: &Console) -> Result<(), Failure> {
    Err(Failure::LeftOut("data sets of many captures"))
}
