//! `ackord sweep`: many runs of a scenario at many points.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | running a study, and putting shards together |
//! | `show.rs` | tables and plots of what came out |

mod show;

use crate::console::Console;
use crate::cost::words;
use crate::errors::Failure;
use crate::input::check_folder;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_report::data;
use ackord_study::sweep::{
    FailedRun, Formats, Shard, StudyFile, Sweep, merge_sweeps, study_json_schema,
};
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

/// Run a scenario at every point of a study, on all cores
///
/// A study file names a scenario, what varies (axes of any of its keys, with lists or ranges of values), seeds, and when a point
/// has runs enough. Each finished run is written down at once: Ctrl-C, a crash or a batch system's time limit
/// costs the runs under way, and the same command goes on where it was. Runs that fail are recorded, with the
/// command that makes each again, and do not stop the others; the next start tries them again.
///
/// What comes out does not depend on the number of threads, on interruptions or on shards.
#[derive(Args)]
#[command(
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct SweepArguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    run: RunArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord sweep studies/buffer-size.toml --out out/buffer-size
  ackord sweep show out/buffer-size
  ackord sweep show out/buffer-size --metric queues.bottleneck.p99_delay_ms --out out/plots
  ackord sweep show out/buffer-size --best total_goodput_bit_s

On a batch system, each task a part, then all of them together:
  ackord sweep my-study.toml --out out/part-3 --shard 3/8
  ackord sweep merge out/part-* --out out/whole

A study file:
  version = 1
  name = \"buffer-size\"
  scenario = \"dumbbell\"
  seeds = 10
  [axes.congestion]
  key = \"flows.*.tcp.congestion\"
  values = [\"reno\", \"cubic\", \"bbr\"]
  [axes.limit]
  key = \"links.bottleneck.queue.limit\"
  values = { from = \"50 kB\", to = \"1000 kB\", points = 5, scale = \"log\" }";

#[derive(Subcommand)]
enum What {
    Merge(MergeArguments),
    Show(show::ShowArguments),
    /// Print the JSON Schema of study files, for editors
    ///
    /// With the schema in hand an editor completes keys and marks mistakes while you type; put
    /// `#:schema study.schema.json` into the first line of the file.
    Schema,
}

#[derive(Args)]
struct RunArguments {
    /// Study file
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    /// Folder of the sweep: journal, then the data set. One that was stopped goes on there
    #[arg(long, value_name = "DIR", required = true)]
    out: Option<PathBuf>,
    /// How many runs at a time, instead of one per core
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Only this part of the runs, such as 3/8; `ackord sweep merge` puts the parts together
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    formats: FormatArguments,
}

#[derive(Args)]
struct FormatArguments {
    /// Write each table as CSV, too
    #[arg(long)]
    csv: bool,
}

/// Put the parts of a sweep together
///
/// The result is what one run of the whole would have written, byte for byte. Parts that are missing or not
/// finished are named.
#[derive(Args)]
#[command(after_help = "Example:\n  ackord sweep merge out/part-* --out out/whole")]
struct MergeArguments {
    /// Folders of every part
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Folder of the whole
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    formats: FormatArguments,
}

impl FormatArguments {
    fn formats(&self) -> Formats {
        // A program that was built without Parquet writes the same tables as CSV.
        Formats { parquet: Formats::HAS_PARQUET, csv: self.csv || !Formats::HAS_PARQUET }
    }
}

pub(crate) fn sweep(arguments: &SweepArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        None => run(&arguments.run, console),
        Some(What::Merge(arguments)) => merge(arguments, console),
        Some(What::Show(arguments)) => show::show(arguments, console),
        Some(What::Schema) => Ok(console.print(&data::to_json(&study_json_schema()))?),
    }
}

fn run(arguments: &RunArguments, console: &Console) -> Result<(), Failure> {
    let (Some(file), Some(out)) = (&arguments.file, &arguments.out) else {
        unreachable!("clap asks for both")
    };
    let study = StudyFile::open(file)?.check()?;
    check_folder(out)?;
    let formats = arguments.formats.formats();
    let mut sweep = Sweep::begin(&study, out, arguments.shard, formats)?;
    let jobs = arguments
        .jobs
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let cost = words(study.cost(jobs));
    console.remark(&format!("{}; all of them take up to about {cost}", plan(&sweep, &study.name)));
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin(&study.name);
    let outcome = sweep.run(arguments.jobs, &|share| {
        meter.at(share);
        interrupt.check()
    });
    meter.end();
    let outcome = outcome?;
    tell_failed(&outcome.failed, console);
    if outcome.stopped {
        let finished = outcome.finished_runs;
        console.remark(&format!(
            "interrupted: {finished} runs are finished in {}; the same command goes on",
            out.display()
        ));
        return Err(Failure::Interrupted);
    }
    sweep.write_tables()?;
    let what = match arguments.shard {
        Some(shard) => format!("part {shard}, for `ackord sweep merge`"),
        None => format!("`ackord sweep show {}` shows them", out.display()),
    };
    console.remark(&format!("{} runs in {}: {what}", outcome.finished_runs, out.display()));
    match outcome.failed.len() {
        0 => Ok(()),
        failed => Err(Failure::SweepRuns { failed, of: outcome.finished_runs }),
    }
}

/// What is about to be run, in a line.
fn plan(sweep: &Sweep<'_>, name: &str) -> String {
    let (points, most, known) = (sweep.points(), sweep.most_runs(), sweep.known_runs());
    let upto = if sweep.is_open() { "up to " } else { "" };
    let known = if known > 0 { format!(", {known} of them known") } else { String::new() };
    let plural = if points == 1 { "" } else { "s" };
    format!("{name}: {points} point{plural}, {upto}{most} runs{known}")
}

/// The first few runs that failed; all of them are in the table of runs.
fn tell_failed(failed: &[FailedRun], console: &Console) {
    const MOST: usize = 5;
    for run in failed.iter().take(MOST) {
        let at = if run.point.is_empty() { String::new() } else { format!(" at {}", run.point) };
        console.remark(&format!("failed{at}: {}\n  {}", run.why.trim_end(), run.command));
    }
    if failed.len() > MOST {
        console.remark(&format!("and {} more, in the table `runs`", failed.len() - MOST));
    }
}

fn merge(arguments: &MergeArguments, console: &Console) -> Result<(), Failure> {
    check_folder(&arguments.out)?;
    let merged = merge_sweeps(&arguments.parts, &arguments.out, arguments.formats.formats())?;
    let (parts, out) = (arguments.parts.len(), arguments.out.display());
    console.remark(&format!("{merged} runs of {parts} parts in {out}"));
    Ok(())
}
