//! `ackord gateway trial`: the gateway on stock kernels, beside its simulation.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results, check_file};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_live::Direction;
use ackord_report::{OutputFile, data, document_files, to_markdown, write_one};
use ackord_validation::gateway_trials::{
    Family, Remedy, RoutedKernel, Sender, TRIALS, Trial, TrialOptions, Wanted, trials_document,
    try_gateway,
};
use ackord_validation::validate::{LiveEnded, Sampling};
use clap::Args;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Try the gateway on stock kernels: sender, router and mobile host, beside the simulator's prediction
///
/// Three network namespaces of this machine, each with the kernel's own TCP and forwarding: the
/// gateway runs on the router in the middle, and the wireless link behind it and the wire before it
/// are emulated. Each scenario is tried with a CUBIC download over IPv4, and with what differs from that in one
/// respect: an upload, IPv6, a Reno or BBR sender (--way, --ip and --sender ask for other combinations); each
/// without a remedy, with Proxy TCP as published, Proxy TCP and Snoop. Two flows share a link behind a queue of
/// the gateway. Beside each live goodput stands the
/// simulator's for the same scenario and the same seeds, with 95 % intervals, and whether it is within 10 %.
///
/// A run takes as long as its scenario. Nothing else should run meanwhile: runs whose packets were handed
/// over late are made again. Root is needed. Everything that a trial makes is gone when it ends.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrialArguments {
    /// Only these scenarios
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Runs of each cell, of each side, each with the next seed; 20, with --quick 2, unless said
    #[arg(long, value_name = "N")]
    runs: Option<NonZeroU32>,
    /// Runs of a cell at most: more than --runs are made as long as the 95 % interval of a goodput is
    /// wider than 3 % to either side; none more unless said
    #[arg(long, value_name = "N")]
    most: Option<NonZeroU32>,
    /// Seed of the first run of each cell
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Runs of 8 s and two seeds: to see that everything works, not what it comes to
    #[arg(long)]
    quick: bool,
    /// Only this remedy: none, proxy-tcp-paper, proxy-tcp, snoop, selective-drop; may be given several times
    #[arg(long = "remedy", value_name = "NAME")]
    remedies: Vec<String>,
    /// Only this sender: cubic, reno, bbr; may be given several times
    #[arg(long = "sender", value_name = "NAME")]
    senders: Vec<String>,
    /// Only this way: download, upload
    #[arg(long = "way", value_name = "NAME")]
    ways: Vec<String>,
    /// Only this protocol, with every sender: ipv4, ipv6; may be given several times
    #[arg(long = "ip", value_name = "NAME")]
    families: Vec<String>,
    /// Live runs in parallel: more finish sooner, and their packets start later
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    /// How often a run that was too late is done again
    #[arg(long, value_name = "N", default_value = "2")]
    repeats: u32,
    /// Another program whose `gateway run FILE` is the gateway
    #[arg(long, value_name = "PROGRAM")]
    gateway: Option<PathBuf>,
    /// Write the report as a Markdown page to this file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway trial --quick outage-1500 --sender cubic --way download --ip ipv4
  ackord gateway trial loss-1 bursts --remedy none --remedy snoop --runs 10
  ackord gateway trial --runs 20 --page docs/gateway-measured.md --json trials.json";

/// Runs of each cell where nothing is said.
const RUNS: NonZeroU32 = NonZeroU32::new(20).expect("more than none");
/// The same with `--quick`.
const QUICK_RUNS: NonZeroU32 = NonZeroU32::new(2).expect("more than none");
/// How long a quick run is.
const QUICK: &str = "8 s";

pub(crate) fn trial(arguments: &TrialArguments, console: &Console) -> Result<(), Failure> {
    let options = options(arguments)?;
    arguments.output.check()?;
    arguments.page.as_deref().map_or(Ok(()), check_file)?;
    let program = match &arguments.gateway {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(Failure::from)?,
    };
    let kernel = RoutedKernel::new(program);
    let (cells, minutes) = (options.cells.len(), options.seconds()? / 60.0);
    let runs = options.sampling.seeds;
    console.remark(&format!("{cells} cells, {runs} live runs of each: {minutes:.0} min at least"));
    let interrupt = Interrupt::listen_and(|| {})?;
    let meter = Meter::begin("trials");
    let outcome = try_gateway(&options, &kernel, &|| kernel.runs(), &|progress| {
        meter.at(progress.share);
        if let Some(ended) = progress.ended {
            tell(&ended, console);
        }
        interrupt.check()
    });
    meter.end();
    let outcome = outcome?;
    if outcome.report.rows.is_empty() {
        console.remark("interrupted before the first cell was finished");
        return Err(Failure::Interrupted);
    }
    let document = trials_document(&outcome.report, &command_line(arguments));
    let json = data::to_json(&outcome.report);
    if let Some(page) = &arguments.page {
        write_one(page, to_markdown(&document, ".").as_bytes())?;
        console.remark(&format!("wrote {}", page.display()));
    }
    let results = Results { document: &document, json: &json };
    arguments.output.write(console, &results, || {
        let mut files = document_files(&document);
        files.push(OutputFile::new("gateway-trials.json", json.clone()));
        files
    })?;
    if interrupt.check() == ControlFlow::Break(()) {
        let (finished, planned) = (outcome.finished_runs, outcome.planned_runs);
        console.remark(&format!("interrupted: {finished} of {planned} runs were finished"));
        return Err(Failure::Interrupted);
    }
    Ok(())
}

fn options(arguments: &TrialArguments) -> Result<TrialOptions, Failure> {
    let wanted = Wanted {
        trials: names(
            "scenario of the trials",
            &arguments.names,
            TRIALS.iter(),
            |one: &&Trial| one.name,
        )?,
        directions: words("way", &arguments.ways, Direction::ALL, Direction::name)?,
        families: words("protocol", &arguments.families, Family::ALL, Family::name)?,
        senders: words("sender", &arguments.senders, Sender::ALL, Sender::name)?,
        remedies: words("remedy of the trials", &arguments.remedies, Remedy::ALL, Remedy::name)?,
    };
    let cells = wanted.cells();
    if cells.is_empty() {
        let known = Remedy::ALL.iter().map(|one| one.name().to_owned()).collect();
        let given = arguments.remedies.join(", ");
        return Err(Failure::unknown_name("remedy of these scenarios", &given, known));
    }
    let seeds = arguments.runs.unwrap_or(if arguments.quick { QUICK_RUNS } else { RUNS });
    Ok(TrialOptions {
        cells,
        duration: arguments.quick.then_some(QUICK),
        sampling: Sampling {
            first_seed: arguments.seed,
            seeds,
            most: arguments.most.unwrap_or(seeds).max(seeds).get(),
            jobs: arguments.jobs,
            repeats: arguments.repeats,
        },
    })
}

fn words<T: Copy>(
    what: &'static str,
    given: &[String],
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, Failure> {
    names(what, given, all.iter().copied(), |one| name(*one))
}

/// Those of these names.
fn names<T>(
    what: &'static str,
    given: &[String],
    all: impl Iterator<Item = T> + Clone,
    name: impl Fn(&T) -> &'static str,
) -> Result<Vec<T>, Failure> {
    let find = |given: &String| {
        let known = || all.clone().map(|one| name(&one).to_owned()).collect();
        let found = all.clone().find(|one| name(one) == given);
        found.ok_or_else(|| Failure::unknown_name(what, given, known()))
    };
    given.iter().map(find).collect()
}

/// A line for a live run that has ended, while others go on.
fn tell(ended: &LiveEnded<'_>, console: &Console) {
    let late = ended.run.lateness;
    let word = if late.within_budget { "" } else { ", too late" };
    let flows = ended.run.summary.flows.iter();
    let goodputs: Vec<_> = flows.map(|flow| format!("{:.2}", flow.goodput_bit_s / 1e6)).collect();
    console.remark(&format!(
        "{}, seed {}, attempt {}: {} Mbit/s, packets {:.0} us late at p99{word}",
        ended.scenario,
        ended.seed,
        ended.attempt,
        goodputs.join(" and "),
        late.p99_us
    ));
}

/// The command that repeats it, for the page.
fn command_line(arguments: &TrialArguments) -> String {
    let mut line = "ackord gateway trial".to_owned();
    for name in &arguments.names {
        line.push_str(&format!(" {name}"));
    }
    if arguments.quick {
        line.push_str(" --quick");
    }
    let numbers = [("runs", arguments.runs), ("most", arguments.most)];
    for (name, number) in numbers {
        line.extend(number.map(|number| format!(" --{name} {number}")));
    }
    if arguments.seed != 1 {
        line.push_str(&format!(" --seed {}", arguments.seed));
    }
    let lists = [
        ("remedy", &arguments.remedies),
        ("sender", &arguments.senders),
        ("way", &arguments.ways),
        ("ip", &arguments.families),
    ];
    for (name, list) in lists {
        line.extend(list.iter().map(|word| format!(" --{name} {word}")));
    }
    if arguments.jobs.get() != 2 {
        line.push_str(&format!(" --jobs {}", arguments.jobs));
    }
    line
}
